"""Times of matrix products and of copies on this machine, of arrays that lie where they are asked for."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from ..arrays import assignment
from ..arrays.scalings import PLAIN
from ..locks import cached_property
from ..operands.addresses import data_address
from ..operands.operand import Array
from ..problem import dtypes
from ..problem.contraction import OPERANDS, Contraction
from ..runtime import runtime
from ..runtime.waiting import rest, waited
from .copies import LINE
from .execution import Execution
from .merged import merge
from .space import plans
from .splitting import NO_GAINS, Gains

OFF = 16  # bytes beyond a cache line where arrays begin, as NumPy's large ones do
ANYWHERE, LINES = (OFF, OFF, OFF), (OFF, OFF, 0)  # A, B and C; C on lines
ROUNDS, FEWER, ENOUGH = 5, 3, 2e-3  # runs of each: fewer of those that take so many seconds together
TOGETHER = 64  # runs timed as one where they take no longer than reading the clocks
WAITS, GLANCE = 4.0, 0.1  # seconds that threads may wait for CPUs, all of them together, and between two looks at that
COUNTED, ALONE = 0.02, 0.02  # seconds of a thread: systems count those of others every few milliseconds; their share
OTHER = 100.0  # farther than all extents of products that are transposed alike


class Stopwatch:
    """Times of products of one data type. Once threads of this process have waited for CPUs for long, those of a BLAS
    for each other, further times are guessed by what was timed before: all of them might take minutes."""

    def __init__(self, dtype: str) -> None:
        self.dtype, self.itemsize = dtype, dtypes.dtype(dtype).itemsize
        self.is_late = False
        self._before, self._due = waited(), 0.0
        self._known: dict[tuple[str, tuple[int, ...]], float] = {}  # the least seconds, by spec and extents

    def product(
        self, spec: str, sizes: Sequence[int], gains: Gains = NO_GAINS, at: tuple[int, int, int] = ANYWHERE,
        times: int = 1,
    ) -> float:  # fmt: skip
        """The seconds of `product_seconds`, or a guess."""
        key = spec.replace("l", ""), (*sizes[:3], prod(sizes[3:]))
        if self._looks_late() and self._known:
            return self._guess(*key)
        found = product_seconds(self.dtype, spec, sizes, gains, at, times)
        self._known[key] = min(found, self._known.get(key, found))
        return found

    def is_alone(self, spec: str, sizes: Sequence[int]) -> bool:
        """True where only the calling thread works on a product; False, too, where another may have other work."""
        if self._looks_late():
            return False
        run = _product(self.dtype, spec, sizes)
        rest()
        run()  # another's thread polls for some time afterwards
        start, own = (time.process_time(), time.thread_time()), 0.0
        while own < COUNTED:
            run()
            own = time.thread_time() - start[1]
        return time.process_time() - start[0] - own < ALONE * own

    def _looks_late(self) -> bool:
        now = time.monotonic()
        if not self.is_late and now >= self._due:
            self._due = now + GLANCE
            self.is_late = waited() - self._before > WAITS
        return self.is_late

    def _guess(self, spec: str, sizes: tuple[int, ...]) -> float:
        """As many multiplications a second as the product, transposed alike, whose extents are the nearest ones."""
        specs, every, seconds = self._timed
        distances = np.abs(np.log(every / sizes)).sum(axis=1) + OTHER * (specs != spec)
        nearest = int(distances.argmin())
        return float(seconds[nearest] * prod(sizes) / prod(every[nearest]))

    @cached_property
    def _timed(self) -> tuple[Array, Array, Array]:
        """Specs, extents and seconds; once it is late none is added."""
        specs, sizes = zip(*self._known, strict=True)
        return np.array(specs), np.array(sizes, "d"), np.array([*self._known.values()])


def product_seconds(
    dtype: str, spec: str, sizes: Sequence[int], gains: Gains = NO_GAINS, at: tuple[int, int, int] = ANYWHERE,
    times: int = 1,
) -> float:
    """Seconds of the products of a contraction in place. sizes: of its indices i, j, k, l and p; at: bytes beyond a
    cache line where A, B and C begin; times: as in `usual`."""
    return usual(_product(dtype, spec, sizes, gains, at), times)


def _product(
    dtype: str, spec: str, sizes: Sequence[int], gains: Gains = NO_GAINS, at: tuple[int, int, int] = ANYWHERE
) -> Callable[[], Any]:
    extents = dict(zip("ijklp", sizes, strict=False))
    contraction = Contraction(spec, {index: extents[index] for index in extents if index in spec}, dtype)
    execution = Execution(contraction, next(plans(merge(contraction))), 1, gains)
    a, b, c = (_ones(contraction.shape(name), dtype, begin) for name, begin in zip(OPERANDS, at, strict=True))
    return lambda: execution.run(a, b, c)


def many(spec: str) -> str:
    """The same product of many matrices each."""
    a, _, rest = spec.partition(",")
    b, _, c = rest.partition("->")
    return f"l{a},l{b}->l{c}"


def copy_seconds(dtype: str, shape: tuple[int, ...], many: int = 1, times: int = 1, turned: bool = False) -> float:
    """Seconds of a copy with the first two axes exchanged, or all turned around. many: copies in turn, each of another
    array to another place, of which each counts; times: as in `usual`."""
    axes = (*range(len(shape)),)[::-1] if turned else (1, 0, *range(2, len(shape)))
    x, y = (_ones((many, *extents), dtype, OFF) for extents in (shape, [shape[axis] for axis in axes]))
    views, threads = [(of.transpose(axes), to) for of, to in zip(x, y, strict=True)], runtime.num_threads()

    def run() -> None:
        for of, to in views:
            assignment.engine().assign(of, to, PLAIN, threads, 1, fresh=True)

    if threads > 1:
        rest()
    return usual(run, times) / many


def usual(run: Callable[[], Any], times: int = 1) -> float:
    """Seconds of a run, after one that brings memory and code: the least of long ones, and the least but one of short
    ones, which clocks of virtual machines let seem too short now and then. times: runs that are timed together, of
    which each counts."""
    run()
    found: list[float] = []
    while len(found) < FEWER or (len(found) < ROUNDS and len(found) * min(found) < ENOUGH):
        found.append(together(run, times))
    return max(sorted(found)[len(found) > FEWER], 1e-9)


def together(run: Callable[[], Any], times: int) -> float:
    """Seconds of each of so many runs: one thread's are those of its CPU, without what others had of it; several
    threads together take more of that than has passed."""
    start = time.perf_counter(), time.process_time()
    for _ in range(times):
        run()
    return min(time.process_time() - start[1], time.perf_counter() - start[0]) / times


def middle(values: Sequence[float]) -> float:
    """The middle one of some values, or the lower one of two."""
    return sorted(values)[(len(values) - 1) // 2]


def _ones(shape: tuple[int, ...], dtype: str, begin: int) -> Array:
    kind = dtypes.to_numpy(dtypes.dtype(dtype))
    size = prod(shape) * kind.itemsize
    raw = np.empty(size + 2 * LINE, np.uint8)
    first = -data_address(raw) % LINE + begin
    made = raw[first : first + size].view(kind).reshape(shape)
    made[...] = 1
    return made
