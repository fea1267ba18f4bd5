"""The speeds of this machine for fused contractions are measured here (`stored_speeds` keeps them)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from ...lowering.micro_kernel import MicroKernel, blocks
from ...problem import dtypes
from ...problem.contraction import Contraction, IndexClass
from ...runtime import backend
from ..copies import LINE
from ..last_cache import square
from ..merged import merge
from ..timing import OFF, TOGETHER, usual
from .execution import FusedExecution, micro_kernel
from .plan import Fused, FusedPlan
from .rates import NEAR, FusedRates

FEW, THIN = 4, 16  # terms of products that only write, and of one whose result is written by elements
SHORT, LONG = 32, 256  # terms of a sum
SWEEPS = 3  # over these, of which the least counts: what most of a time is made of
MORE, MANY = 5, 6  # times as many columns, or rows, as a product in the caches has
CLASSES = IndexClass.M, IndexClass.N, IndexClass.K, IndexClass.BATCH
LEAST = 1e-15  # seconds: differences of times may be negative
ROW, FAR = 1024, 1032  # elements of a row, and from one to the next: no multiple of a page


def measured(dtype: str) -> FusedRates:
    """The rates of a data type, in a fraction of a second."""
    kernel = micro_kernel(dtype)
    m, n = kernel.rows * NEAR, kernel.columns * (NEAR + 1)  # an odd number, whose rows share few sets of a cache
    start, several = _product(dtype, (1, 1, 1)), _product(dtype, (1, 1, 1), batches=LONG)
    least, short, long = (min(_added(dtype, (m, n, k)) for _ in range(SWEEPS)) for k in (FEW, SHORT, LONG))
    term = (long - short) / (LONG - SHORT)
    apart, far = (_added(dtype, (times * m, n, SHORT), turned=True) - term * SHORT for times in (1, MANY))
    narrow = m, kernel.columns, LONG
    packed, transposed, picked = (
        (seconds - start - NEAR * long) / (m * LONG)
        for seconds in (_product(dtype, narrow), _product(dtype, narrow, by_terms=True), _product(dtype, narrow, 3))
    )
    term -= packed * kernel.columns / NEAR  # the columns that `_added` packs
    turned, fetched = (
        ((_apart(dtype, m - ragged, many) - start) / many - NEAR * long) / (m * LONG)
        for ragged, many in ((0, max(NEAR, kernel.group)), (1, NEAR))
    )
    through, parted, past, scattered, read = _beyond(dtype, start, term, packed)
    cut = _added(dtype, (m, n, FEW), run=_run(kernel))
    alone = _product(dtype, (1, 1, 1), times=TOGETHER)  # without the clocks, which all single runs above have counted
    found = FusedRates(
        alone, (several - start) / LONG, term, least, through, past, cut, parted, apart, far, scattered, packed,
        transposed, turned, picked, fetched, read,
    )  # fmt: skip
    return FusedRates(*(max(value, LEAST) for value in found))


def _beyond(dtype: str, start: float, term: float, packed: float) -> tuple[float, ...]:
    """Seconds of a tile beyond all caches that is written through them, so in several runs, past them, and by elements,
    more than its arithmetic; and of a byte that is read there."""
    kernel = micro_kernel(dtype)
    size, wide = kernel.dtype.itemsize, square(kernel.dtype.itemsize)
    side = -(-wide // kernel.rows)
    known, count = start + 2 * wide * FEW * packed, side * -(-wide // kernel.columns)
    through, parted, past = (
        (_product(dtype, (wide, wide, FEW), streams=way, run=run) - known) / count
        for way, run in ((False, 0), (False, _run(kernel)), (True, 0))
    )
    tall = wide * wide // ROW // kernel.rows
    known, count = start + (tall * kernel.rows + ROW) * THIN * packed, tall * -(-ROW // kernel.columns)
    scattered = (_product(dtype, (tall * kernel.rows, ROW, THIN), turned=True) - known) / count - THIN * term
    deep = _product(dtype, (wide, kernel.columns, wide))
    read = (deep - start - side * wide * term - wide * wide * packed) / (wide * wide * size)
    return through, parted, past, scattered, read


def _run(kernel: MicroKernel) -> int:
    """Rows that follow each other where those of no tile all do, but those of its registers."""
    return (kernel.vectors - 1) * kernel.group


def _added(dtype: str, sizes: tuple[int, int, int], turned: bool = False, run: int = 0) -> float:
    """Seconds of a further tile."""
    m, n, k = sizes
    once, often = (_product(dtype, (m, times * n, k), turned=turned, run=run) for times in (1, MORE))
    kernel = micro_kernel(dtype)
    return (often - once) / (m // kernel.rows * (n // kernel.columns) * (MORE - 1))


def _product(
    dtype: str, sizes: tuple[int, int, int], spread_a: int = 1, turned: bool = False, streams: bool = False,
    batches: int = 1, times: int = 1, by_terms: bool = False, run: int = 0,
) -> float:  # fmt: skip
    """Seconds of a product of k x n, columns, by k x m, rows. spread_a: elements from one to the next in A; turned:
    not rows but columns follow each other in C, and rows are as far from each other as in a larger tensor; times: as in
    `usual`; by_terms: terms follow each other in A; run: of the rows that follow each other in C, all of whose columns
    come before the next such rows, which begin as NumPy's large arrays do, 0 = all."""
    (m, n, k), kernel = sizes, micro_kernel(dtype)
    run = run or m
    result, strides_c = ("buij", (m * FAR, run * FAR, FAR, 1)) if turned else ("buji", (n * m, n * run, run, 1))
    extents = {"b": batches, "u": m // run, "i": run, "j": n, "k": k}
    step, term = (k, 1) if by_terms else (spread_a, m * spread_a)
    stated = Contraction(f"bkui,bkj->{result}", extents, dtype, (k * m, term, run * step, step), None, strides_c)
    merged = merge(stated)
    made = blocks(kernel, backend.host_target(), sizes, streams)
    rows, columns, terms, others = (merged.of_class[kind] for kind in CLASSES)
    plan = FusedPlan(rows, columns, terms, others, (made.rows, made.columns, made.terms), streams)
    execution = FusedExecution(stated, Fused(merged, plan), 1)
    begin = OFF if run < m else 0
    a, b, c = (_laid(stated, *place) for place in (("a", 0), ("b", 0), ("c", begin)))
    return usual(lambda: execution.run(a, b, c), times)


def _apart(dtype: str, rows: int, many: int) -> float:
    """Seconds of a narrow product of so many times as many rows, those of which that A has one behind the other are far
    from each other in C: they are turned or, where rows are no multiple of registers, come one by one, from lines that
    leave the caches before their next element is read.
    """
    kernel = micro_kernel(dtype)
    extents = {"u": many, "r": rows, "k": LONG, "j": kernel.columns}
    stated = Contraction("kru,kj->jur", extents, dtype)
    of = {letters: number for number, letters in enumerate(merge(stated).letters)}
    block = kernel.rows * NEAR, kernel.columns, LONG
    plan = FusedPlan((of["u"], of["r"]), (of["j"],), (of["k"],), (), block)
    run = FusedExecution(stated, Fused(merge(stated), plan), 1).run
    a, b, c = (_laid(stated, name) for name in "abc")
    return usual(lambda: run(a, b, c))


def _laid(stated: Contraction, name: str, begin: int = 0) -> Any:
    """Ones that lie as an operand, from so many bytes behind a line's start."""
    kind = dtypes.to_numpy(stated.element)
    shape, strides = stated.shape(name), stated.strides(name)
    size = 1 + sum((n - 1) * step for n, step in zip(shape, strides, strict=True))
    memory = np.ones(size + 2 * LINE // kind.itemsize, kind)
    memory = memory[(-memory.ctypes.data % LINE + begin) // kind.itemsize :]
    return as_strided(memory, shape, [step * kind.itemsize for step in strides])
