"""Contractions as tasks of the one search loop: plans are ranked by the machine's speeds, or timed beside a product."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cached_property, partial
from itertools import chain
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from ..arrays import originals
from ..compiling.options import Options
from ..compiling.stored_plans import Circumstances
from ..compiling.task import Candidates
from ..lazy_dataclasses import dataclass
from ..problem import dtypes, wording
from ..problem.contraction import Contraction, IndexClass
from ..runtime.kernel import Objects
from ..runtime.waiting import has_a_cpu_each, waited
from ..tuning.measurement import GIB
from ..tuning.search.search import Limits, Outcome
from ..tuning.search.speed import Run, Sampler
from . import measuring
from .blocks import Pieces, blocked, executed
from .execution import Execution
from .merged import A, B, C, Merged, merge
from .plan import VERSION, ContractionPlan, Products, check, parse
from .products import products_of
from .rates import Rates
from .space import plans

Array = npt.NDArray[Any]
Runs = Execution | Pieces
KIND = "contraction"
CEILING = "a plain product"
SECONDS = 2e-4  # of what is timed as one: shorter runs are repeated
MANY = 1 << 19  # terms of a sum, beyond which the values of a check are smaller, so that float32 holds it exactly


@dataclass(frozen=True)
class Form:
    """A contraction as its plans see it (`task.Form`)."""

    stated: Contraction
    merged: Merged

    @property
    def elements(self) -> int:
        """Elements of C."""
        return self.merged.elements(C)

    @property
    def bytes_moved(self) -> int:
        """Bytes of A, B and C, those of C twice where it is read."""
        tensors = (A, B, C, C) if self.stated.beta != 0 else (A, B, C)
        return sum(map(self.merged.elements, tensors)) * self.stated.element.itemsize

    def __str__(self) -> str:
        return str(self.merged)


@dataclass(frozen=True)
class ContractionTask:
    """A contraction to be planned for this machine (`task.Task`)."""

    stated: Contraction
    asked: Options

    @cached_property
    def canonical(self) -> Form:
        """Its form."""
        return Form(self.stated, merge(self.stated))

    @property
    def kind(self) -> str:
        """Contractions."""
        return KIND

    @property
    def versions(self) -> str:
        """The version of plans, and which BLAS runs products."""
        return f"{VERSION} {measuring.settings()}"

    @property
    def extra(self) -> str:
        """The contraction as it was asked for."""
        return json.dumps({wording.ASKED: wording.contraction_fields(self.stated)})

    def ceiling(self, place: str) -> str:
        """The name of what results are compared with."""
        return CEILING

    def parsed(self, text: str) -> ContractionPlan:
        """The plan of this text; PlanError where it does not fit."""
        return check(parse(text), self.canonical.merged).plan

    def ranked(self) -> list[tuple[float, Products]]:
        """All plans, those with blocks too, by the seconds that this machine's speeds predict."""
        speeds = self._speeds
        return sorted(((speeds.seconds(x), x) for x in self._every()), key=lambda pair: pair[0])

    @property
    def _speeds(self) -> Rates:
        return measuring.measured(str(self.stated.dtype), self.asked.threads)

    def execution(self, plan: ContractionPlan, threads: int | None) -> Runs:
        """The execution of a plan. threads: of its copies, None = those of `set_num_threads` at each call. PlanError
        where the plan does not fit."""
        return executed(self.stated, check(plan, self.canonical.merged), threads, self._speeds.gains)

    def _every(self) -> Iterator[Products]:
        for products in plans(self.canonical.merged):
            yield products
            pieces = blocked(self.stated, products)
            if pieces is not None:
                yield pieces

    def modelled(self) -> ContractionPlan:
        """The plan that is predicted to be the fastest."""
        return self.ranked()[0][1].plan

    def candidates(self, timed: Form, hints: Iterator[ContractionPlan]) -> Candidates[ContractionPlan]:
        """Hints, then all plans by what is predicted."""
        return Candidates(chain(hints, (x.plan for _, x in self.ranked())), lambda _: (), lambda _: None)

    def bench(self) -> AbstractContextManager[Bench]:
        """This machine."""
        return nullcontext(Bench(self))

    def code(self, plan: ContractionPlan, built: Runs | None = None) -> Objects:
        """No code: BLAS has it, and copies are kernels for arrays of any extents, which are stored as such."""
        return {}

    def fallback_code(self, plan: ContractionPlan) -> Objects:
        """No code."""
        return {}


class Bench:
    """A `task.Bench` of a contraction: tensors that lie as it says, as the last run has left
    them in the caches."""

    def __init__(self, task: ContractionTask) -> None:
        self.canonical, self._task, form = task.canonical, task, task.canonical
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
        return waited() if has_a_cpu_each(self._task.asked.threads) else 0.0

    def decided(
        self, outcome: Outcome[ContractionPlan, Runs], limits: Limits
    ) -> Outcome[ContractionPlan, Runs]:
        """The outcome: a search decides everything."""
        return outcome

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

    def build(self, plan: ContractionPlan) -> Runs:
        """The execution of a plan, which has run once: kernels of its copies and scratch are there then."""
        made = self._task.execution(plan, self._task.asked.threads)
        self._run(made)
        return made

    def seconds(self, built: Runs) -> float:
        """One run; of short ones the mean of several."""
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
    start = time.perf_counter()
    run()
    once = time.perf_counter() - start
    repeats = round(SECONDS / max(once, 1e-7))
    if repeats <= 1:
        return once
    start = time.perf_counter()
    for _ in range(repeats):
        run()
    return (time.perf_counter() - start) / repeats


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
