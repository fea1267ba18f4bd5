"""Which plans to try: lazily enumerated, the cost model's best first.

Seeds vary the size and shape of tiles, the orders of loops, prefetch, stores and staging; the best-first
walk goes on from each plan it yields to that plan's neighbours (one decision changed), so that rank 20
does not mean 20! loop orders.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from ttc_llvm.canonical import Canonical
from ttc_llvm.plan import CpuPlan, Staging
from ttc_llvm.target import Target

from .blocks import blocks, cover, merge, unit_axes, width
from .choices import Forced, inner_orders, tile_orders, usual_prefetch, usual_streaming
from .neighbours import neighbours

RUNS = (1, 2, 4, 8, 16, 32)  # tile sides in vectors
SEED_ORDERS = 3
WALK_NEIGHBOURS = 12  # pushed per yielded plan: the walk is wide enough, and stays lazy


Cost = Callable[[CpuPlan], float]


def enumerate_plans(canonical: Canonical, target: Target, forced: Forced, cost: Cost) -> Iterator[CpuPlan]:
    """Every plan worth trying, best first by the cost model; deterministic."""
    heap: list[tuple[float, str, CpuPlan]] = []
    seen: set[CpuPlan] = set()

    def push(plan: CpuPlan) -> None:
        if plan not in seen:
            seen.add(plan)
            heapq.heappush(heap, (cost(plan), str(plan), plan))

    for plan in seeds(canonical, target, forced):
        push(plan)
    while heap:
        plan = heapq.heappop(heap)[2]
        yield plan
        for other in itertools.islice(neighbours(canonical, target, forced, plan), WALK_NEIGHBOURS):
            push(other)


def paper_space(canonical: Canonical, target: Target, forced: Forced) -> Iterator[CpuPlan]:
    """The paper's space on the merged axes: all d! orders of the tile loops x 16 blockings (section 4)."""
    base = next(seeds(canonical, target, forced))
    rank = len(canonical.axes)
    w = width(canonical, target)
    orders: Iterable[tuple[int, ...]] = forced.orders or itertools.permutations(range(rank))
    paper = tuple((i * w, j * w) for i in range(1, 5) for j in range(1, 5))
    sides = forced.blockings or paper
    for order in orders:
        for side in sides:
            block = _block_within(canonical, target, side)
            tile = _paper_tile(canonical, block, *side)
            yield from _prefetched(replace(base, block=block, tile=tile, order=order), forced)


def _prefetched(plan: CpuPlan, forced: Forced) -> Iterator[CpuPlan]:
    for distance in forced.prefetch or (plan.prefetch,):
        yield replace(plan, prefetch=distance)


# --- seeds ----------------------------------------------------------------------------------------------


def seeds(canonical: Canonical, target: Target, forced: Forced) -> Iterator[CpuPlan]:
    """A broad first choice: tile shapes x usual orders; `neighbours` leads on from there."""
    rank = len(canonical.axes)
    orders = forced.orders or tile_orders(canonical)[:SEED_ORDERS]
    streaming = usual_streaming(canonical, target) if forced.streaming is None else forced.streaming
    distance = forced.prefetch[0] if forced.prefetch else usual_prefetch(canonical)
    for block, tile in _shapes(canonical, target, forced):
        for order, inner in itertools.product(orders, inner_orders(canonical)):
            yield CpuPlan(tile, block, order, inner, min(2, rank), distance, streaming, Staging.NONE)


def _shapes(
    canonical: Canonical, target: Target, forced: Forced
) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Micro-tiles and tiles: those asked for, or the first micro-tile with runs of every usual length."""
    if forced.blockings:
        for sides in forced.blockings:
            block = _block_within(canonical, target, sides)
            yield block, _paper_tile(canonical, block, *sides)
        return
    block, w = blocks(canonical, target)[0], width(canonical, target)
    seen = set()
    for run_a, run_b in itertools.product(RUNS, repeat=2):
        wanted = merge(
            cover(canonical, "a", run_a * w, compact=False), cover(canonical, "b", run_b * w, compact=False)
        )
        tile = fitted(canonical, block, wanted)
        if tile not in seen:
            seen.add(tile)
            yield block, tile


def _block_within(canonical: Canonical, target: Target, sides: tuple[int, int]) -> tuple[int, ...]:
    """The first micro-tile that divides these sides of a tile."""
    found = blocks(canonical, target)
    pairs = tuple(zip(unit_axes(canonical), sides, strict=True))
    fits = (b for b in found if all(side % b[k] == 0 or b[k] == canonical.extents[k] for k, side in pairs))
    return next(fits, found[-1])


def fitted(canonical: Canonical, block: tuple[int, ...], wanted: dict[int, int]) -> tuple[int, ...]:
    """A tile of about the wanted extents that its blocks divide; whole axes where nearly all of one is wanted."""
    tile = []
    for k, (extent, unit) in enumerate(zip(canonical.extents, block, strict=True)):
        size = -(-max(wanted.get(k, 1), unit) // unit) * unit
        tile.append(max(extent, 1) if 4 * size >= 3 * extent else size)
    return tuple(tile)


def _paper_tile(canonical: Canonical, block: tuple[int, ...], side_a: int, side_b: int) -> tuple[int, ...]:
    wanted = merge(cover(canonical, "a", side_a, axes=1), cover(canonical, "b", side_b, axes=1))
    return fitted(canonical, block, wanted)
