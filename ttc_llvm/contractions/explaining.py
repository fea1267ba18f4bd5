"""A contraction in words: its indices by class, the plan, its work and speed, and the plans beside it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from math import inf

from ..compiling.options import checked
from ..compiling.trial import Mode
from ..lazy_dataclasses import dataclass
from ..problem import type_names
from ..problem.contraction import OPERANDS, Contraction, IndexClass
from ..problem.dtypes import Kind
from ..problem.tables import aligned, labelled, wrapped
from ..problem.wording import count
from ..tuning.measurement import Measurement
from . import blas
from .blocks import Runs, executed
from .fused import shares, stored_speeds
from .fused.execution import micro_kernel
from .fused.plan import Fused
from .fused.run import FusedRun
from .merged import Form, merge
from .plan import Products
from .plans import Applied, Plan, check
from .predicting import Predictions
from .task import CEILING, ContractionTask

_CLASSES = {
    IndexClass.BATCH: "batch, of A, B and C", IndexClass.M: "m, of A and C", IndexClass.N: "n, of B and C",
    IndexClass.K: "k, of A and B, summed over",
}  # fmt: skip


@dataclass(frozen=True, slots=True, repr=False)
class ContractionExplanation:
    """A contraction and its plan in lines of text; str() and a notebook show them."""

    lines: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join(self.lines)

    def __repr__(self) -> str:
        return str(self)


def explained(
    stated: Contraction, plan: Plan, threads: int, measured: Measurement | None, most: int
) -> ContractionExplanation:
    """The explanation. most: plans of the ranking that are listed; with none, nothing is predicted."""
    products = check(plan, merge(stated))
    form = Form(stated, products.merged)
    rows = [
        ("contraction", [f"{stated.spec} {type_names.read(stated.dtype).spelled}"]),
        ("indices", list(_indices(stated))),
        ("plan", [str(plan)]),
        ("", list(_tensors(products))),
        ("products", list(_fused_product(products)) if isinstance(products, Fused) else [_product(products)]),
        ("scratch", [_scratch(executed(stated, products, threads))]),
        ("work", [_work(form)]),
        *([("predicted", list(_predicted(form, products, threads)))] if most else []),
        ("measured", [_speed(form, measured)]),
    ]
    width = max(len(label) for label, _ in rows) + 2
    lines = [x for label, text in labelled(rows) for x in wrapped(text, f"{label:{width}}", " " * width)]
    return ContractionExplanation((*lines, *(["", *_ranking(stated, threads, measured, most)] if most else [])))


def _scratch(made: Runs) -> str:
    packed = f", {made.packed:,} bytes of packed blocks a thread" if isinstance(made, FusedRun) else ""
    return f"{made.scratch:,} bytes of copies{packed}"


def _indices(stated: Contraction) -> Iterator[str]:
    for kind, words in _CLASSES.items():
        having = [f"{index}:{extent}" for index, extent in stated.size if stated.class_of(index) is kind]
        if having:
            yield f"{' '.join(having)} ({words})"


def _tensors(products: Applied) -> Iterator[str]:
    """What becomes of each tensor."""
    if isinstance(products, Fused):
        yield from _packed(products)
        return
    for tensor, name in enumerate(OPERANDS):
        order = products.plan.copies[tensor]
        if order is None:
            yield f"{name.upper()} in place"
        else:
            letters = ",".join(products.merged.letters[number] for number in order)
            yield f"{name.upper()} {'computed in' if name == 'c' else 'copied to'} scratch, by {letters or 'nothing'}"


def _product(products: Products) -> str:
    """The matrix products, and what multiplies."""
    m, n, k = products.piece.sizes
    pieces = f", in {count(products.pieces, 'piece')}" if products.plan.blocks else ""
    runs = "SciPy's BLAS" if blas.scipy_blas() is not None else "numpy.matmul"
    return f"{products.piece.repeats * products.pieces:,} of m x n x k = {m} x {n} x {k}{pieces}, by {runs}"


def _packed(fused: Fused) -> Iterator[str]:
    """What becomes of each tensor in a fused plan."""
    for tensor, how in shares.ways(fused):
        copied = "" if fused.plan.copies[tensor] is None else "copied to scratch, and "
        yield f"{OPERANDS[tensor].upper()} {copied}packed {how}"
    yield f"C in place, {'past the caches' if fused.plan.streams else 'through the caches'}"


def _fused_product(fused: Fused) -> Iterator[str]:
    """The product, the tile of C that is computed in registers, and the blocks around it."""
    (m, n, k), kernel = fused.sizes, micro_kernel(fused.merged.dtype)
    registers = kernel.vectors * kernel.width
    yield f"{fused.batches:,} of m x n x k = {m} x {n} x {k}, in tiles of {kernel.rows} x {kernel.columns}"
    yield f"a tile is {count(registers, 'register')} of {kernel.lanes} numbers"
    yield from shares.caches(fused)


def flops(stated: Contraction) -> int:
    """Floating-point operations of a run: a multiplication and an addition each, of complex numbers four times so
    many."""
    return stated.multiplications * (8 if stated.element.kind is Kind.COMPLEX else 2)


def _work(form: Form) -> str:
    done, size = flops(form.stated), form.bytes_moved
    tensors = "A, B and C" if form.stated.beta == 0 else "A, B and twice C"
    return f"{done / 1e6:,.4g} MFlop, {size / 1e6:,.4g} MB of {tensors}: {done / max(size, 1):.3g} Flop a byte"


def _predicted(form: Form, products: Applied, threads: int) -> Iterator[str]:
    """The time by this machine's speeds; of fused plans, the parts that it is made of."""
    predictions = Predictions(str(form.stated.dtype), threads)
    yield _rates(form, predictions.seconds(products))
    if not isinstance(products, Fused) or 0 in (*products.sizes, products.batches):
        return
    rates = stored_speeds.measured(products.merged.dtype)
    parts = shares.shares(rates, products, threads)
    total, (first, *_) = sum(parts.values()), parts
    yield ", ".join(f"{seconds / total:.0%} {part}" for part, seconds in parts.items()) + f": limited by {first}"
    each = flops(form.stated) / max(form.stated.multiplications, 1) / 1e9
    size = form.stated.element.itemsize
    yield f"the micro-kernel reaches {shares.arithmetic(rates, products) * each:.4g} GFlop/s in the caches, a thread"
    yield f"{shares.packed(products) * size / 1e6:,.4g} MB of A and B are packed, edges filled up"


def _rates(form: Form, seconds: float) -> str:
    """A time, and the speeds that it means."""
    speeds = f"{flops(form.stated) / seconds / 1e9:.4g} GFlop/s, {form.bytes_moved / seconds / 1e9:.4g} GB/s"
    return f"{seconds * 1e3:.4g} ms, {speeds}"


def _speed(form: Form, measured: Measurement | None) -> str:
    if measured is None:
        return "nothing: this plan was not timed"
    speed = _rates(form, measured.seconds)
    ratio = "" if measured.ratio is None else f", {measured.ratio:.2f} of {CEILING} of the same m, n and k"
    return f"{speed}{ratio}, the fastest of {measured.count} timed{measured.remark(now=False)}"


def _ranking(stated: Contraction, threads: int, measured: Measurement | None, most: int) -> Sequence[str]:
    """The first plans by what is predicted, with what was timed."""
    ranked = ContractionTask(stated, checked(1, threads, mode=Mode.HOT)).ranked()
    timed = {} if measured is None else {text: min(runs, default=inf) for text, runs in measured.timings}
    rows = [("predicted ms", "timed ms", "plan")]
    for seconds, products in islice(ranked, most):
        best = timed.get(str(products.plan))
        rows.append((f"{seconds * 1e3:.4g}", "-" if best is None else f"{best * 1e3:.4g}", str(products.plan)))
    head = f"the first {len(rows) - 1} of {count(len(ranked), 'plan')}, by what the machine's speeds predict:"
    return [head, *aligned([(row[2], *row[:2]) for row in rows], 1)]
