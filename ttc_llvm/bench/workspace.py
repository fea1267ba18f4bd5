"""A case's tensors, in the same prepared state for every contender; and memory that cases share."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import numpy.typing as npt

from ..compiling.cold_caches import flush
from ..compiling.trial import HOT_SECONDS
from ..lazy_dataclasses import dataclass, field
from ..lowering import items
from ..machine.target import Target
from ..problem import dtypes, summands
from ..problem.canonical import Canonical
from ..problem.dtypes import DType
from ..problem.formats import Float
from ..runtime import runtime
from ..runtime.kernel import Kernel
from ..runtime.pool import Call
from ..tuning.search import buffers
from ..tuning.search.buffers import Tensor
from .cases import Case
from .contender import Contender

GRAIN = 32 << 20  # buffers grow in steps of this, so that cases of about one size share them
SETTLE_SECONDS = 5e-4  # between flush and run: our workers park meanwhile, and disturb nobody
FOREIGN_SECONDS = 0.02  # after a run of another library: its OpenMP threads go on polling for a while
HOT_SHIFT = 2048  # bytes: hot tensors at equal offsets in their pages make stores collide with loads, memcpy's most
MOST_REPEATS = 1 << 20  # of a hot call, however short


class Memory:
    """Random buffers, reused from case to case: filling them takes longer than a run."""

    def __init__(self) -> None:
        self._blocks: dict[str, tuple[tuple[Any, ...], buffers.Bytes]] = {}

    @property
    def held(self) -> int:
        """Bytes in use."""
        return sum(len(block) for _, block in self._blocks.values())

    def tensor(self, canonical: Canonical, which: str, case: Case, threads: int) -> Tensor:
        """Room for one side of a case, `case.offset` elements behind an aligned start, filled with the type that the
        problem gives it: other libraries would stumble over the random bits of a plain move."""
        problem = case.problem
        t, filled = (canonical.a, problem.a) if which == "a" else (canonical.b, problem.b)
        extent = buffers.span(canonical, which)
        offset = start_elements(case, which) * filled.itemsize // t.itemsize
        size = (extent.elements + offset) * t.itemsize
        coarse = bool(canonical.terms)
        block = self._block(which, filled, coarse, size, threads)
        return Tensor(block[: max(size, 1)], t, extent.origin + offset, coarse)

    def _block(self, which: str, filled: DType, coarse: bool, size: int, threads: int) -> buffers.Bytes:
        known = self._blocks.pop(which, None)
        wanted = coarse, _contents(filled)
        if known is not None and known[0] == wanted and len(known[1]) >= size:
            self._blocks[which] = known
            return known[1]
        del known  # the old block goes before the new one comes
        block = buffers.allocate(-(-size // GRAIN) * GRAIN)
        Tensor(block, filled, 0, coarse).fill(1 if which == "a" else 2, threads)
        self._blocks[which] = wanted, block
        return block


def _contents(t: DType) -> tuple[Any, ...]:
    """What memory is filled with for a type."""
    return t.real_bits, t.format if isinstance(t.format, Float) else None, t.swapped


def _form(case: Case, target: Target) -> Canonical:
    """The case as plans for a target see it; by its own elements where tensors begin inside one of the items."""
    wide = items.placed(case.problem, target).canonical
    starts = zip(("a", "b"), (case.problem.a, case.problem.b), (wide.a, wide.b), strict=True)
    whole = all(start_elements(case, which) * t.itemsize % item.itemsize == 0 for which, t, item in starts)
    return wide if whole else case.canonical


def start_elements(case: Case, which: str) -> int:
    """Elements from a buffer's aligned start to a tensor's."""
    shift = HOT_SHIFT // case.problem.b.itemsize if case.hot and which == "b" else 0
    return case.offset + shift


@dataclass(slots=True)
class Workspace:
    """One case ready to be measured: canonical form, tensors, and how a run is timed, cold or hot."""

    case: Case
    canonical: Canonical
    target: Target
    threads: int
    a: Tensor
    b: Tensor
    _repeats: dict[tuple[str, int], int] = field(default_factory=dict)

    @classmethod
    def of(cls, case: Case, target: Target, threads: int, memory: Memory) -> Workspace:
        """The workspace of a case, on shared memory."""
        canonical = _form(case, target)
        a, b = (memory.tensor(canonical, side, case, threads) for side in ("a", "b"))
        return cls(case, canonical, target, threads, a, b)

    @property
    def source(self) -> Tensor:
        """The tensor that is read: A, or in place B."""
        return self.b if self.canonical.in_place else self.a

    def base(self, which: str) -> int:
        """The address at which a tensor begins."""
        tensor, t = (self.a, self.case.problem.a) if which == "a" else (self.b, self.case.problem.b)
        return int(tensor.memory.ctypes.data) + start_elements(self.case, which) * t.itemsize

    @property
    def scalars(self) -> tuple[complex, complex]:
        """alpha and beta."""
        return self.case.problem.alpha, self.case.problem.beta

    @property
    def values(self) -> npt.NDArray[np.generic] | None:
        """The scalars as the case's kernels read them; None for plain moves."""
        if self.canonical.terms:
            return summands.scalars(self.case.problem)
        return dtypes.scalars(self.canonical.compute, *self.scalars)

    def view(self, which: str) -> npt.NDArray[np.generic]:
        """A tensor as a NumPy view with the canonical axes."""
        return buffers.strided(self.source if which == "a" else self.b, self.canonical, which)

    def seconds(self, contender: Contender) -> float:
        """One run from the case's prepared state; hot: the time of one call out of many."""
        if self.case.hot:
            found = self._hot(contender)
        else:
            for memory in (self.a.memory, self.b.memory, *contender.reads):
                flush(memory, self.target, self.threads)
            time.sleep(SETTLE_SECONDS)
            found = timed(contender, 1)
        if contender.foreign and self.threads > 1:
            time.sleep(FOREIGN_SECONDS)
        return found

    def _hot(self, contender: Contender) -> float:
        key = contender.name, contender.variant
        repeats = self._repeats.get(key) or self._repeats.setdefault(key, enough(contender))
        return timed(contender, repeats) / repeats


def enough(contender: Contender) -> int:
    """Calls that take HOT_SECONDS or more, twice: a first one may have to set things up."""
    repeats = 1
    while repeats < MOST_REPEATS and min(timed(contender, repeats) for _ in range(2)) < HOT_SECONDS:
        repeats *= 2
    return repeats


def timed(contender: Contender, repeats: int) -> float:
    """Seconds of so many calls."""
    start = time.perf_counter()
    contender.run(repeats)
    return time.perf_counter() - start


def native(
    name: str,
    flat: Canonical,
    built: Kernel,
    addresses: tuple[int, int],
    values: tuple[complex, complex],
    threads: int,
    variant: int = 0,
) -> Contender:
    """A kernel of ours as a contender: its calls are repeated in native code."""
    memory = dtypes.scalars(flat.compute, *values)  # kept alive by `run`
    at = 0 if memory is None else int(memory.ctypes.data)
    call = Call(built.address, *addresses, at, 0, built.scratch, built.tasks)

    def run(repeats: int, keep: object = (built, memory)) -> None:
        runtime.run(call, threads, repeats)

    return Contender(name, flat.bytes_moved, run, variant)


def foreign(
    name: str, workspace: Workspace, function: int, arguments: tuple[int, int, int], keep: object
) -> Contender:
    """A C function of up to three pointer-sized arguments as a contender, repeated by the same native loop as ours.

    A kernel's further arguments are passed as well: by the C conventions of x86-64 and AArch64 a function ignores
    what it does not know.
    """
    call = Call(function, *arguments, 0, 0, 1)

    def run(repeats: int, keep: object = keep) -> None:
        runtime.run(call, 1, repeats)

    return Contender(name, workspace.canonical.bytes_moved, run, foreign=True)
