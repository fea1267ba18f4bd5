"""Which plans to try: lazily enumerated, the cost model's best first.

Seeds vary the size and shape of tiles, the orders of loops, prefetch, stores and staging; the best-first
walk goes on from each plan it yields to that plan's neighbours (one decision changed), so that rank 20
does not mean 20! loop orders.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from math import prod

from ttc_llvm.canonical import Alpha, Beta, Canonical, static
from ttc_llvm.dtypes import compute_type
from ttc_llvm.plan import CpuPlan, Staging, spans
from ttc_llvm.target import Target

from .blocks import blocks, cover, merge, same_unit_axis, unit_axes, width

RUNS = (1, 2, 4, 8, 16, 32)  # tile sides in vectors
PREFETCH = (0, 1, 2, 4, 6, 8, 12)
SEED_ORDERS = 3
WALK_NEIGHBOURS = 12  # pushed per yielded plan: the walk is wide enough, and stays lazy


@dataclass(frozen=True, slots=True)
class Forced:
    """Decisions that the user took; None = free. blockings: (A, B) tile sides in elements along the stride-1 axes."""

    streaming: bool | None = None
    prefetch: tuple[int, ...] | None = None
    blockings: tuple[tuple[int, int], ...] | None = None
    order: tuple[int, ...] | None = None  # tile loops, outermost first, canonical axes

    def __str__(self) -> str:
        fields = {
            "streaming": self.streaming,
            "prefetch": self.prefetch,
            "blockings": self.blockings,
            "order": self.order,
        }
        return " ".join(f"{name}={value}" for name, value in fields.items() if value is not None)


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
    orders = [forced.order] if forced.order else itertools.permutations(range(rank))
    sides = forced.blockings or tuple(itertools.product((w, 2 * w, 3 * w, 4 * w), repeat=2))
    for order in orders:
        for side in sides:
            tile = _paper_tile(canonical, base.block, *side)
            yield from _prefetched(replace(base, tile=tile, order=order, parallel=min(2, rank)), forced)


def _prefetched(plan: CpuPlan, forced: Forced) -> Iterator[CpuPlan]:
    for distance in forced.prefetch or (plan.prefetch,):
        yield replace(plan, prefetch=distance)


# --- seeds ----------------------------------------------------------------------------------------------


def seeds(canonical: Canonical, target: Target, forced: Forced) -> Iterator[CpuPlan]:
    """A broad first choice: tile shapes x usual orders; `neighbours` leads on from there."""
    rank = len(canonical.axes)
    orders = [forced.order] if forced.order else tile_orders(canonical)[:SEED_ORDERS]
    streaming = can_stream(canonical, target) if forced.streaming is None else forced.streaming
    distance = forced.prefetch[0] if forced.prefetch else usual_prefetch(canonical)
    block = blocks(canonical, target)[0]
    for tile in _tiles(canonical, target, block, forced):
        for order, inner in itertools.product(orders, inner_orders(canonical)):
            yield CpuPlan(tile, block, order, inner, min(2, rank), distance, streaming, Staging.NONE)


def usual_prefetch(canonical: Canonical) -> int:
    """Rows that stay rows are left to the hardware; columns are not seen by it."""
    return 0 if same_unit_axis(canonical) else 6


def can_stream(canonical: Canonical, target: Target) -> bool:
    """True where every row of B starts on a vector boundary once its base does."""
    if canonical.kinds.beta is not Beta.ZERO:
        return False
    size = canonical.b.itemsize
    vector = target.vector_bits // 8
    steps = [static(axis.stride_b) for axis in canonical.axes if axis.extent != 1]
    return bool(steps) and steps[0] == 1 and all(step * size % vector == 0 for step in steps[1:])


def tile_orders(canonical: Canonical) -> list[tuple[int, ...]]:
    """Orders of the tile loops, outermost first: as B is stored, the same with A's unit axis innermost, as A is
    stored, by both strides, by the smaller one, and B's with A's unit axis outermost."""
    axes = range(len(canonical.axes))
    a = [abs(static(s)) for s in canonical.strides("a")]
    b = [abs(static(s)) for s in canonical.strides("b")]
    by_b = tuple(sorted(axes, key=lambda k: -b[k]))
    by_a = tuple(sorted(axes, key=lambda k: -a[k]))
    both = tuple(sorted(axes, key=lambda k: -(a[k] + b[k])))
    least = tuple(sorted(axes, key=lambda k: -min(a[k], b[k])))
    unit, _ = unit_axes(canonical)
    outermost = (unit, *(k for k in by_b if k != unit))
    innermost = (*(k for k in by_b if k != unit), unit)
    return list(dict.fromkeys((by_b, innermost, by_a, both, least, outermost)))


def inner_orders(canonical: Canonical) -> list[tuple[int, ...]]:
    """Orders of the loops inside a tile: B's or A's smallest stride innermost."""
    axes = range(len(canonical.axes))
    found = [
        tuple(sorted(axes, key=lambda k: -abs(static(canonical.strides(side)[k])))) for side in ("b", "a")
    ]
    return list(dict.fromkeys(found))


def _tiles(
    canonical: Canonical, target: Target, block: tuple[int, ...], forced: Forced
) -> Iterator[tuple[int, ...]]:
    if forced.blockings:
        yield from (_paper_tile(canonical, block, *side) for side in forced.blockings)
        return
    w = width(canonical, target)
    seen = set()
    for run_a, run_b in itertools.product(RUNS, repeat=2):
        wanted = merge(
            cover(canonical, "a", run_a * w, compact=False), cover(canonical, "b", run_b * w, compact=False)
        )
        tile = fitted(canonical, block, wanted)
        if tile not in seen:
            seen.add(tile)
            yield tile


def fitted(canonical: Canonical, block: tuple[int, ...], wanted: dict[int, int]) -> tuple[int, ...]:
    """A tile of about the wanted extents that its blocks divide; whole axes where nearly all of one is wanted."""
    tile = []
    for k, (extent, unit) in enumerate(zip(canonical.extents, block, strict=True)):
        size = -(-max(wanted.get(k, 1), unit) // unit) * unit
        tile.append(max(extent, 1) if 4 * size >= 3 * extent else size)
    return tuple(tile)


def _paper_tile(canonical: Canonical, block: tuple[int, ...], side_a: int, side_b: int) -> tuple[int, ...]:
    wanted = merge(cover(canonical, "a", side_a, compact=True, axes=1), cover(canonical, "b", side_b, compact=True, axes=1))
    return fitted(canonical, block, wanted)


# --- neighbours -----------------------------------------------------------------------------------------


def neighbours(canonical: Canonical, target: Target, forced: Forced, plan: CpuPlan) -> Iterator[CpuPlan]:
    """Plans that differ from this one in a single decision, the likeliest gains first."""
    changes = (_other_prefetch, _other_tiles, _other_parallel, _other_inner, _other_orders, _other_stores, _other_blocks)
    found = [list(change(canonical, target, forced, plan)) for change in changes]
    for group in itertools.zip_longest(*found):
        yield from (other for other in group if other is not None and other != plan)


def _other_prefetch(c: Canonical, t: Target, forced: Forced, plan: CpuPlan) -> Iterator[CpuPlan]:
    for distance in forced.prefetch or PREFETCH:
        yield replace(plan, prefetch=distance)


def _other_tiles(c: Canonical, t: Target, forced: Forced, plan: CpuPlan) -> Iterator[CpuPlan]:
    if forced.blockings:
        return
    for k, extent in enumerate(c.extents):
        for size in (plan.tile[k] * 2, plan.tile[k] // 2):
            unit = plan.block[k]
            rounded = size // unit * unit
            if rounded >= unit and not (spans(plan.tile[k], extent) and size > plan.tile[k]):
                yield replace(plan, tile=_with(plan.tile, k, min(rounded, extent) if size >= extent else rounded))


def _other_parallel(c: Canonical, t: Target, forced: Forced, plan: CpuPlan) -> Iterator[CpuPlan]:
    for count in (1, 2, 3):
        if count <= len(plan.order):
            yield replace(plan, parallel=count)


def _other_inner(c: Canonical, t: Target, forced: Forced, plan: CpuPlan) -> Iterator[CpuPlan]:
    for inner in inner_orders(c):
        yield replace(plan, inner=inner)


def _other_orders(c: Canonical, t: Target, forced: Forced, plan: CpuPlan) -> Iterator[CpuPlan]:
    if forced.order:
        return
    for order in tile_orders(c):
        yield replace(plan, order=order)
    for i in range(len(plan.order) - 1):
        swapped = list(plan.order)
        swapped[i], swapped[i + 1] = swapped[i + 1], swapped[i]
        yield replace(plan, order=tuple(swapped))


def _other_stores(c: Canonical, t: Target, forced: Forced, plan: CpuPlan) -> Iterator[CpuPlan]:
    if forced.streaming is None and can_stream(c, t):
        yield replace(plan, streaming=not plan.streaming)
    if c.kinds.alpha is not Alpha.ZERO and _scratch_bytes(c, plan) <= t.l2 // 2:
        for staging in Staging:
            yield replace(plan, staging=staging)


def _other_blocks(c: Canonical, t: Target, forced: Forced, plan: CpuPlan) -> Iterator[CpuPlan]:
    for block in blocks(c, t):
        if all(spans(size, e) or size % u == 0 for size, e, u in zip(plan.tile, c.extents, block, strict=True)):
            yield replace(plan, block=block)


def _scratch_bytes(c: Canonical, plan: CpuPlan) -> int:
    elements = prod(min(size, e) for size, e in zip(plan.tile, c.extents, strict=True))
    return elements * c.a.itemsize


def _with(values: tuple[int, ...], k: int, value: int) -> tuple[int, ...]:
    return (*values[:k], value, *values[k + 1 :])


def default_plan(canonical: Canonical, target: Target, cost: Cost) -> CpuPlan:
    """The cost model's choice."""
    return next(enumerate_plans(canonical, target, Forced(), cost))


def element_bytes(canonical: Canonical) -> int:
    """Bytes of the wider element type."""
    return compute_type(canonical.a, canonical.b).itemsize
