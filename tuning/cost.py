"""The cost model: estimated seconds of a plan. It ranks plans; its times are only roughly right.

Memory time is the bytes moved at the machine's usual bandwidth, scaled by what the fitted weights say of
the tile's runs, pages, loop order, prefetch and stores, and of rows that crowd one cache set; instruction time comes
from the operations of a micro-tile, remainders counted whole; the longer one counts, and threads share it as evenly as
the task grid allows.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from math import exp, log2, prod

from ttc_llvm.canonical import Alpha, Beta, Canonical, static
from ttc_llvm.layout import side
from ttc_llvm.plan import CpuPlan, Staging
from ttc_llvm.target import Target

from .blocks import same_unit_axis, unit_axes
from .weights import COLUMNS_COPY, COLUMNS_UPDATE, ROWS, Weights, at, near

SECONDS_PER_BYTE = 4.5e-11  # per core, cold, prefetched
CACHED_PER_BYTE = 1.2e-11  # per core, in L2
OPERATION = 0.28e-9  # seconds of one vector instruction
LOOP = 1.5e-9  # seconds of one iteration of a micro-tile loop
CONFLICT = 0.1  # log(time) for every doubling of a set's lines beyond its ways


@dataclass(frozen=True, slots=True)
class Footprint:
    """What one tile touches in one tensor: bytes of consecutive memory per run, and pages."""

    run_bytes: int
    pages: float


class Model:
    """The cost of plans of one canonical form on one target with so many threads: call it with a plan.

    What does not depend on the plan is computed once; footprints and micro-tiles are remembered by shape.
    """

    def __init__(self, canonical: Canonical, target: Target, threads: int) -> None:
        self.canonical, self.target, self.threads = canonical, target, threads
        self.extents = canonical.extents
        self.elements = canonical.elements
        self.sizes = (canonical.a.itemsize, canonical.b.itemsize)
        self.strides = tuple(
            [abs(static(s)) * size for s in canonical.strides(which)]
            for which, size in zip("ab", self.sizes, strict=True)
        )
        self.order = tuple(sorted(range(len(side)), key=side.__getitem__) for side in self.strides)
        self.units = unit_axes(canonical)
        self.weights = _weights(canonical)
        self.cached = self.elements * sum(self.sizes) <= target.l2 * max(1, threads)
        self._footprints: dict[tuple[int, tuple[int, ...]], Footprint] = {}
        self._operations: dict[tuple[int, ...], int] = {}
        self._crowded: dict[tuple[int, ...], float] = {}

    def __call__(self, plan: CpuPlan) -> float:
        """Seconds that the plan is expected to take."""
        blocks = prod(-(-extent // size) for extent, size in zip(self.extents, plan.block, strict=True))
        compute = blocks * self._micro(plan)  # a remainder costs as much as a whole micro-tile
        memory = self._memory(plan)
        return (max(memory, compute) + 0.2 * min(memory, compute)) / self._balance(plan)

    def _memory(self, plan: CpuPlan) -> float:
        moved = self.canonical.bytes_moved
        if self.cached:  # the fitted weights and streaming stores are for tensors in memory
            return moved * CACHED_PER_BYTE * (4.0 if plan.streaming else 1.0)
        return moved * SECONDS_PER_BYTE * exp(self._score(plan))

    def _score(self, plan: CpuPlan) -> float:
        """Sum of the fitted effects, in log(time)."""
        w = self.weights
        tile = tuple(map(min, plan.tile, self.extents))
        unit_a, unit_b = self.units
        innermost = "a" if plan.inner[-1] == unit_a else "b"
        a, b = self._footprint(0, tile), self._footprint(1, tile)
        tile_bytes = prod(tile) * max(self.sizes)
        return (
            near(w.prefetch, plan.prefetch)
            + w.last[self._last(plan)]
            + w.staging[plan.staging.value]
            + (w.streaming if plan.streaming else -w.streaming)
            + at(w.block_a, _log2(plan.block[unit_a] * self.sizes[0]))
            + at(w.block_b, _log2(plan.block[unit_b] * self.sizes[1]))
            + at(w.tile, _log2(tile_bytes))
            + at(w.page_a, _log2(tile_bytes / a.pages))
            + at(w.page_b, _log2(tile_bytes / b.pages))
            + at(w.run_a[innermost], _log2(a.run_bytes))
            + at(w.run_b[innermost], _log2(b.run_bytes))
            + CONFLICT * self._crowding(plan.block)
        )

    def _crowding(self, block: tuple[int, ...]) -> float:
        """By how much (log2) the lines of a micro-tile in one L1 set exceed its ways, on both sides together."""
        if block not in self._crowded:
            self._crowded[block] = sum(self._crowded_side(block, which) for which in (0, 1))
        return self._crowded[block]

    def _crowded_side(self, block: tuple[int, ...], which: int) -> float:
        line, ways = self.target.line, self.target.ways
        sets = max(1, self.target.l1 // (line * ways))
        strides, unit = self.strides[which], self.units[which]
        rows = [0]
        for k, extent in enumerate(block):
            if k != unit:
                rows = [row + i * strides[k] for row in rows for i in range(extent)]
        most = max(Counter(row // line % sets for row in set(rows)).values())
        return max(0.0, log2(most / ways))

    def _last(self, plan: CpuPlan) -> str:
        """Whose unit axis the innermost loop over tiles walks."""
        for k in reversed(plan.order):
            if plan.tile[k] < self.extents[k]:
                return "a" if k == self.units[0] else "b" if k == self.units[1] else "other"
        return "other"

    def _footprint(self, which: int, tile: tuple[int, ...]) -> Footprint:
        key = (which, tile)
        if key not in self._footprints:
            self._footprints[key] = self._new_footprint(which, tile)
        return self._footprints[key]

    def _new_footprint(self, which: int, tile: tuple[int, ...]) -> Footprint:
        strides = self.strides[which]
        run = span = self.sizes[which]
        scattered = 1
        for k in self.order[which]:
            if tile[k] == 1 or strides[k] == 0:
                continue
            reach = (tile[k] - 1) * strides[k]
            run += reach if strides[k] <= run else 0
            if scattered == 1 and strides[k] <= max(span, self.target.page):
                span += reach
            else:
                scattered *= tile[k]
        return Footprint(run, scattered * max(1.0, span / self.target.page))

    def _micro(self, plan: CpuPlan) -> float:
        if plan.block not in self._operations:
            self._operations[plan.block] = operations(self.canonical, plan.block, self.target)
        factor = 1.6 if plan.staging is not Staging.NONE else 1.0
        return LOOP + factor * self._operations[plan.block] * OPERATION

    def _balance(self, plan: CpuPlan) -> float:
        """Threads that really share the work: tasks come in whole tiles."""
        tasks = prod(-(-self.extents[k] // step) for k, step in plan.grid(self.extents))
        return tasks / -(-tasks // min(self.threads, tasks)) if tasks > 1 else 1.0


def _weights(canonical: Canonical) -> Weights:
    if same_unit_axis(canonical):
        return ROWS
    return COLUMNS_UPDATE if canonical.kinds.beta is Beta.ANY else COLUMNS_COPY


def _log2(size: float) -> int:
    return max(0, int(size).bit_length() - 1)


def operations(canonical: Canonical, block: tuple[int, ...], target: Target) -> int:
    """Vector loads, stores and shuffles of one micro-tile."""
    w = target.lanes(max(canonical.a.itemsize, canonical.b.itemsize))
    b = side(block, canonical.strides("b"), w)
    if canonical.kinds.alpha is Alpha.ZERO:
        return 2 * len(b.registers)
    a = side(block, canonical.strides("a"), w)
    same = bool(a.run) and a.run == b.run
    stages = 0 if same else max(1, (max(a.lanes, b.lanes) - 1).bit_length())
    return len(a.registers) + len(b.registers) + stages * max(len(a.registers), len(b.registers))
