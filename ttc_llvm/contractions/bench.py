"""The bench on which the plans of a contraction are timed and checked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import prod

import numpy as np

from ..arrays import originals
from ..compiling.stored_plans import Circumstances
from ..compiling.trial import repeats_of
from ..lazy_dataclasses import replace
from ..operands.operand import Array
from ..problem import dtypes
from ..problem.contraction import Contraction, IndexClass
from ..runtime.waiting import has_a_cpu_each, rest, waited
from ..tuning.measurement import GIB
from ..tuning.search.search import Limits, Outcome, check_result
from ..tuning.search.speed import Run, Sampler
from .blocks import Runs
from .merged import Form, merge
from .plans import Plan
from .products import products_of
from .space import plans
from .timing import together

SAME = 1.02  # plans within this of the fastest are as fast
MANY = 1 << 19  # terms of a sum, beyond which the values of a check are smaller, so that float32 holds it exactly


class Bench:
    """A `task.Bench` of a contraction: tensors that lie as it says, as the last run has left them in the caches.

    threads: of copies; make: the execution of a plan.
    """

    def __init__(self, form: Form, threads: int, make: Callable[[Plan], Runs]) -> None:
        self.canonical, self._threads, self._make = form, threads, make
        self._memory, self._arrays = zip(*(_tensor(form.stated, name) for name in "abc"), strict=True)
        self._scalars = form.stated.alpha, form.stated.beta

    @property
    def circumstances(self) -> Circumstances:
        """This machine, and what a run moves."""
        return Circumstances("", self.canonical.bytes_moved)

    @property
    def alone(self) -> None:
        """Runs on all threads count: BLAS has its own."""

    def waited(self) -> float:
        """Seconds that our threads have waited for a CPU so far; 0 where they wait for each other."""
        return waited() if has_a_cpu_each(self._threads) else 0.0

    def decided(
        self, outcome: Outcome[Plan, Runs], limits: Limits
    ) -> Outcome[Plan, Runs]:
        """The outcome, whose winner is of all plans that are about as fast the one that copies the least bytes: their
        order is chance."""
        level = [timed for timed in outcome.timings if timed.best <= SAME * outcome.best.best]
        best = min(level, key=lambda timed: self._copied(timed.plan))
        if outcome.interrupted or best.plan == outcome.best.plan:
            return outcome
        built = self.build(best.plan)
        if limits.verify:
            check_result(self, best.plan, built)
        others = (timed for timed in outcome.timings if timed is not best)
        return replace(outcome, best=best, kernel=built, timings=(best, *others))

    def _copied(self, plan: Plan) -> int:
        """Elements that a plan copies."""
        copied = (tensor for tensor, order in enumerate(plan.copies) if order is not None)
        return sum(map(self.canonical.merged.elements, copied))

    def samplers(self) -> Sequence[Sampler]:
        """One product of the same m, n and k, of matrices that need no copy, batch by batch."""
        plain = plain_product(self.canonical.stated)
        shapes = [plain.shape(name) for name in "abc"]
        a, b, c = (_first(x, shape) for x, shape in zip(self._memory, shapes, strict=True))
        run = products_of(next(plans(merge(plain))))
        return [partial(self._sample, partial(run, a, b, c, 1, 0))]

    def _sample(self, run: Callable[[], None]) -> Run:
        seconds = _seconds(run)
        return Run(self.canonical.bytes_moved / seconds / GIB, seconds)

    # --- Subject ---

    def build(self, plan: Plan) -> Runs:
        """The execution of a plan, which has run once: kernels of its copies and scratch are there then."""
        made = self._make(plan)
        self._run(made)
        return made

    def seconds(self, built: Runs) -> float:
        """One run; of short ones the mean of several. Of several threads only its own are awake."""
        if self._threads > 1:
            rest()
            self._run(built)
        return _seconds(partial(self._run, built))

    def _run(self, built: Runs) -> None:
        a, b, c = self._arrays
        built.run(a, b, c, *self._scalars)

    def verify(self, built: Runs) -> tuple[int, ...] | None:
        """Run once on small integers, whose sums are exact, and compare every element of C with NumPy's; C holds NaN
        where it is not read."""
        stated, beta = self.canonical.stated, int(self.canonical.stated.beta != 0)
        draw, largest = np.random.default_rng(3), 3 if _terms(stated) < MANY else 1
        for x in self._arrays:
            x[...] = _integers(draw, x, largest)
        a, b, c = self._arrays
        before = c.copy() if beta else 0
        if not beta:
            c[...] = np.nan
        built.run(a, b, c, 1, beta)
        left, right = (x.conj() if is_set else x for x, is_set in ((a, stated.conjugate_a), (b, stated.conjugate_b)))
        wrong = np.argwhere(c != originals.EINSUM(stated.spec, left, right, optimize=True) + before)
        return tuple(map(int, wrong[0])) if len(wrong) else None


def plain_product(stated: Contraction) -> Contraction:
    """A product of matrices in C order of the same m, n and k, and as many of them as the contraction has batches."""
    extents = {kind: 1 for kind in IndexClass}
    for index, extent in stated.size:
        extents[stated.class_of(index)] *= extent
    letters = {"l": IndexClass.BATCH, "i": IndexClass.M, "j": IndexClass.N, "k": IndexClass.K}
    return Contraction("lik,lkj->lij", {x: extents[kind] for x, kind in letters.items()}, stated.dtype)


def _first(memory: Array, shape: tuple[int, ...]) -> Array:
    """An array in C order in the memory of a tensor; in memory of its own where that is too small (a broadcast's)."""
    size = prod(shape)
    return (memory[:size] if memory.size >= size else np.ones(size, memory.dtype)).reshape(shape)


def _terms(stated: Contraction) -> int:
    return prod(extent for index, extent in stated.size if stated.class_of(index) is IndexClass.K)


def _integers(draw: np.random.Generator, like: Array, largest: int) -> Array:
    """Integers of these types and shapes, of both signs."""
    found = draw.integers(-largest, largest + 1, like.shape)
    return found + 1j * draw.integers(-largest, largest + 1, like.shape) if like.dtype.kind == "c" else found


def _seconds(run: Callable[[], None]) -> float:
    once = together(run, 1)
    repeats = repeats_of(once)
    return once if repeats == 1 else together(run, repeats)


def _tensor(stated: Contraction, operand: str) -> tuple[Array, Array]:
    """Memory of one dimension, and an operand in it that lies as stated."""
    shape, strides, kind = stated.shape(operand), stated.strides(operand), dtypes.to_numpy(stated.element)
    spans = [(extent - 1) * step for extent, step in zip(shape, strides, strict=True)]
    if 0 in shape:
        return np.empty(0, kind), np.empty(shape, kind)
    before = -sum(min(span, 0) for span in spans)
    memory = np.ones(before + sum(max(span, 0) for span in spans) + 1, kind)
    steps = [step * kind.itemsize for step in strides]
    return memory, np.lib.stride_tricks.as_strided(memory[before:], shape, steps)
