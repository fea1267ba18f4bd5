"""GPU plans to try: lazily enumerated, the cost model's best first."""

from __future__ import annotations

import heapq
import itertools
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from math import prod

from ttc_llvm.errors import PlanError
from ttc_llvm.lazy_dataclasses import replace
from ttc_llvm.lowering.gpu.lower import register_block
from ttc_llvm.lowering.gpu.plan import GpuPlan, Shared
from ttc_llvm.lowering.gpu.runs import beyond, memory_order, run_axes, run_of, sides, widest
from ttc_llvm.machine.gpu_target import GpuTarget
from ttc_llvm.problem.canonical import Canonical
from ttc_llvm.problem.kinds import Alpha

from . import cost as gpu_cost
from .forced import FREE, GpuForced
from .tiles import tiles

MOST_ACCESSES = 32  # of one thread to one tensor: beyond, single bytes may spill
HELD = (256, 128, 64, 32)  # bytes of a tile in the registers of one thread
BLOCK_BYTES = (16, 4)  # of one column of a register block
LEAST, MOST = 64, 512  # threads
SIBLING = 0.02  # by how much of its cost a plan waits for every plan of its tile that has been offered
SHARE = 0.005  # and for every one whose threads have as much to do: how many of them hide latencies best is not known
PANEL = 8  # tiles of a panel along its axes


def plans(c: Canonical, target: GpuTarget, forced: GpuForced = FREE) -> Iterator[GpuPlan]:
    """Every plan worth trying, the one expected to be fastest first; lazy and deterministic.

    PlanError where a forced decision fits no plan.
    """
    walk = _GpuWalk(c, target, forced)
    for plan in seeds(c, target, forced):
        walk.push(plan)
    if not walk.heap:
        decided = f" with {forced}" if str(forced) else ""
        raise PlanError(f"no plan for {target} fits{decided}: {walk.refused}")
    while walk.heap:
        found = walk.pop()
        if found is not None:
            yield found


@lru_cache(maxsize=1024)
def model_plan(c: Canonical, target: GpuTarget, forced: GpuForced = FREE) -> GpuPlan:
    """The cost model's first choice; nothing is timed."""
    return next(plans(c, target, forced))


class _GpuWalk:
    """Plans to be offered, by cost; equal ones as they came. What a plan costs at least is known at once; its accesses
    are looked at when its turn has come, and its neighbours join before it is offered."""

    def __init__(self, c: Canonical, target: GpuTarget, forced: GpuForced) -> None:
        self.canonical, self.target, self.forced = c, target, forced
        self.heap: list[tuple[float, int, GpuPlan]] = []
        self.costs: dict[GpuPlan, float | None] = {}
        self.expanded: set[GpuPlan] = set()
        self.offered: Counter[tuple[int, ...]] = Counter()
        self.shares: Counter[int] = Counter()
        self.count = itertools.count()
        self.refused = ""  # why the last plan that does not fit does not

    def push(self, plan: GpuPlan) -> None:
        """A plan to be offered once, if it fits."""
        if plan in self.costs:
            return
        self.costs[plan] = None
        try:
            price = gpu_cost.at_least(self.canonical, plan, self.target)
        except PlanError as error:
            self.refused = str(error)
            return
        self._wait(price, plan)

    def pop(self) -> GpuPlan | None:
        """The cheapest plan, or None where the one that seemed so has to wait."""
        waited, _, plan = heapq.heappop(self.heap)
        price = self.costs[plan]
        if price is None:
            price = self.costs[plan] = gpu_cost.cost(self.canonical, plan, self.target)
            self._wait(price, plan)
            return None
        if plan not in self.expanded:
            self.expanded.add(plan)
            for other in neighbours(self.canonical, plan, self.target, self.forced):
                self.push(other)
            self._wait(price, plan)
            return None
        share = plan.tile_elements // plan.threads
        price *= 1 + SIBLING * self.offered[plan.tile] + SHARE * self.shares[share]
        if price > waited and self.heap and price > self.heap[0][0]:
            self._wait(price, plan)
            return None
        self.offered[plan.tile] += 1
        self.shares[share] += 1
        return plan

    def _wait(self, price: float, plan: GpuPlan) -> None:
        heapq.heappush(self.heap, (price, next(self.count), plan))


def seeds(c: Canonical, target: GpuTarget, forced: GpuForced) -> Iterator[GpuPlan]:
    """Tiles of all shapes, through shared memory in either order or without it."""
    order = forced.order or block_order(c, "b")
    direct = _same_unit_axis(c) or c.kinds.alpha is Alpha.ZERO
    for tile in itertools.islice(tiles(c, True), None if direct else 1):
        for count in _threads(c, tile, target, forced):
            yield _direct(c, target, GpuPlan(tile, (1,) * len(tile), order, count, (1, 1)))
    if c.kinds.alpha is Alpha.ZERO:
        return
    for tile in tiles(c, False):
        for count in _threads(c, tile, target, forced):
            yield from _through_shared(
                c, GpuPlan(tile, (1,) * len(tile), order, count, _vectors(c, tile, target))
            )


def _threads(c: Canonical, tile: tuple[int, ...], target: GpuTarget, forced: GpuForced) -> tuple[int, ...]:
    """Threads of a block, so that each holds a few vectors of the tile, and has no more than a few accesses."""
    if forced.threads:
        return forced.threads if isinstance(forced.threads, tuple) else (forced.threads,)
    size = prod(tile) * max(c.a.itemsize, c.b.itemsize)
    counts = (1 << max(1, size // held).bit_length() - 1 for held in HELD)
    accesses = prod(tile) // min(_vectors(c, tile, target))
    needed = min(target.max_threads, 1 << (accesses // MOST_ACCESSES).bit_length())
    return tuple(dict.fromkeys(max(needed, min(MOST, max(LEAST, count))) for count in counts))


def block_order(c: Canonical, side: str) -> tuple[int, ...]:
    """Loops over tiles, outermost first, so that neighbouring blocks are neighbours in a tensor."""
    return memory_order(c, side)[::-1]


def _vectors(c: Canonical, tile: tuple[int, ...], target: GpuTarget) -> tuple[int, int]:
    limits = (max(1, target.vector_bytes // t.itemsize) for t in (c.a, c.b))
    a, b = (widest(c, tile, side, limit) for side, limit in zip("ab", limits, strict=True))
    return a, b


def _direct(c: Canonical, target: GpuTarget, plan: GpuPlan) -> GpuPlan:
    """Vectors along B's first axis; those of A too, where it is A's."""
    a, b = _vectors(c, plan.tile, target)
    while b > 1 and len(_run(c, plan.tile, "b", b)) > 1:
        b //= 2
    while a > 1 and len(_run(c, plan.tile, "a", a)) > 1:
        a //= 2
    if run_axes(c, plan.tile, "a")[:1] != run_axes(c, plan.tile, "b")[:1]:
        a = 1
    return replace(plan, vector=(a, b), shared=Shared.NONE, padding=0)


def _run(c: Canonical, tile: tuple[int, ...], side: str, vector: int) -> tuple[int, ...]:
    found = run_of(c, tile, side, vector)
    return () if found is None else found.axes


def _through_shared(c: Canonical, base: GpuPlan) -> Iterator[GpuPlan]:
    """The tile in A's and in B's order; in B's with register blocks, where these fit. Gaps against bank conflicts:
    one vector, or one bank."""
    size = c.a.itemsize
    vector, bank = max(1, 16 // size), max(1, 4 // size)
    blocks = list(_register_blocks(c, base))
    for block in blocks:
        yield replace(base, block=block, shared=Shared.B, padding=vector)
    if blocks:
        return
    for padding in sorted({vector, bank}):
        yield replace(base, shared=Shared.A, padding=padding)
        yield replace(base, shared=Shared.B, padding=padding)


def _register_blocks(c: Canonical, base: GpuPlan) -> Iterator[tuple[int, ...]]:
    axis_a, axis_b = register_block(c, base)
    if axis_a == axis_b or axis_a < 0 or len(_run(c, base.tile, "a", base.vector[0])) != 1:
        return
    for size in BLOCK_BYTES:
        rows = size // c.a.itemsize
        if rows > 1 and base.tile[axis_b] % rows == 0:
            block = list(base.block)
            block[axis_a], block[axis_b] = base.vector[0], rows
            yield tuple(block)


def neighbours(c: Canonical, plan: GpuPlan, target: GpuTarget, forced: GpuForced) -> Iterator[GpuPlan]:
    """Plans that differ in one decision which the cost model does not see well: the order of blocks, how they are
    grouped, and threads."""
    if forced.order is None:
        for side in "ab":
            yield replace(plan, order=block_order(c, side))
    panel = _panel(c, plan)
    if plan.panel:
        yield replace(plan, panel=())
    elif panel != plan.tile:
        yield replace(plan, panel=panel)
    if forced.threads is None:
        for count in (plan.threads // 2, plan.threads * 2):
            if count >= target.warp and plan.tile_elements // min(plan.vector) <= MOST_ACCESSES * count:
                yield replace(plan, threads=count)


def _panel(c: Canonical, plan: GpuPlan) -> tuple[int, ...]:
    """A few tiles along the axes on which runs of A and of B go on."""
    panel = list(plan.tile)
    for side in "ab":
        for k in itertools.islice(beyond(c, plan.tile, side), 1):
            panel[k] = min(PANEL, -(-c.extents[k] // plan.tile[k])) * plan.tile[k]
    return tuple(panel)


def _same_unit_axis(c: Canonical) -> bool:
    return any(a == b == 1 for a, b in zip(sides(c, "a"), sides(c, "b"), strict=True))
