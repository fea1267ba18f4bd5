"""Random plans: any decisions, and those that chance hardly finds; and how long their loads are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from math import prod
from random import Random

from fuzz_draw import LINE

from ttc_llvm.lowering.chain_plans import chained_plan, joined_plan
from ttc_llvm.lowering.fallback import fallbacks
from ttc_llvm.lowering.plan import DECISIONS, FALLBACKS, CpuPlan, Fetch, Store
from ttc_llvm.lowering.writing import overwrites
from ttc_llvm.machine.target import Target
from ttc_llvm.problem.canonical import Canonical
from ttc_llvm.tuning.space.blocks import blocks
from ttc_llvm.tuning.space.candidates import starts
from ttc_llvm.tuning.space.choices import FREE

Maker = Callable[[Random, Canonical, Target], CpuPlan]
LOADS = (0, 16, 32)  # bytes of a load of A at most, 0 = a register's


def plan(rng: Random, c: Canonical, target: Target, goal: str = "") -> CpuPlan:
    """Any plan: random decisions, one whose runs go on, a fallback of one, or a seed of tuning."""
    if goal in HARD and c.elements and (overwrites(c) or goal.startswith("edges")):
        return HARD[goal](rng, c, target)
    if not (c.elements and overwrites(c)):
        return rng.choice((free_plan, _seed))(rng, c, target) if c.elements else free_plan(rng, c, target)
    makers: tuple[Maker, ...] = (free_plan, free_plan, _carrying, _joined, _peeled, _fallback, _seed)
    return rng.choice(makers)(rng, c, target)


def free_plan(rng: Random, c: Canonical, target: Target, parametric: bool = False, room: int = 256) -> CpuPlan:
    """Random decisions that fit the canonical form; blocks of at most `room` elements."""
    rank, block = len(c.axes), _block(rng, c, target, room)
    pairs = list(zip(block, c.extents, strict=True))
    tile = tuple(rng.choice((n, 2 * n, 3 * n, n if parametric else max(extent, 1) + 5)) for n, extent in pairs)
    panel = tuple(rng.choice((n, 2 * n, 4 * n)) for n in tile) if rng.random() < 0.4 else ()
    return CpuPlan(
        tile,
        block,
        tuple(rng.sample(range(rank), rank)),
        tuple(rng.sample(range(rank), rank)),
        rng.randint(0, rank),
        rng.choice((0, 0, 1, 2, 5)),
        rng.choice((Store.CACHED, Store.ALIGNED) if parametric else (Store.CACHED, *DECISIONS)),
        rng.choice(tuple(Fetch)),
        panel,
        rng.choice((None, *FALLBACKS)),
    )


def _block(rng: Random, c: Canonical, target: Target, room: int) -> tuple[int, ...]:
    """Vector widths along the axes of unit stride, anything along the others, until the room is used up."""
    if rng.random() < 0.2 and c.elements:
        return rng.choice(blocks(c, target))
    width = target.lanes(max(c.a.itemsize, c.b.itemsize))
    block = [1] * len(c.axes)
    unit = [k for k, axis in enumerate(c.axes) if axis.stride_b == 1 or axis.stride_a in (1, -1)]
    for k in sorted(range(len(block)), key=lambda k: k not in unit):
        bound = min(max(c.extents[k], 1), room // prod(block))
        if k in unit or rng.random() < 0.25:
            block[k] = min(rng.choice((width, width, width, 2, 3, 4, 8, 12)), bound)
    return tuple(block)


def _carrying(rng: Random, c: Canonical, target: Target) -> CpuPlan:
    sizes = rng.choice((64, 128, 512)), rng.choice((64, 256, 512)), rng.choice((8, 64, 512))
    return chained_plan(c, _block(rng, c, target, 256), sizes, rng.choice(tuple(Fetch)), rng.choice((0, 1, 3)))


def _joined(rng: Random, c: Canonical, target: Target) -> CpuPlan:
    found = joined_plan(c, target, rng.choice((8, 64, 256)), rng.choice(tuple(Fetch)), rng.choice((0, 1, 4)))
    return found if rng.random() < 0.7 else replace(found, panel=(), parallel=0)


def _peeled(rng: Random, c: Canonical, target: Target) -> CpuPlan:
    """Micro-tiles of whole lines of B, across rows of A."""
    block, by_a = [1] * len(c.axes), c.along("a")[-1]
    block[by_a] = min(rng.choice((1, 4, 8, 16)), c.extents[by_a])
    block[0] = max(1, LINE // c.b.itemsize) * rng.choice((1, 1, 2))
    tile = tuple(n * rng.choice((1, 2, 4)) for n in block)
    decided = free_plan(rng, c, target)
    return replace(decided, tile=tile, block=tuple(block), panel=(), store=Store.PEELED)


def _aligned(rng: Random, c: Canonical, target: Target) -> CpuPlan:
    """Micro-tiles with non-temporal stores, where rows are on boundaries: elsewhere a fallback must serve."""
    return replace(free_plan(rng, c, target), store=Store.ALIGNED)


def _buffered(rng: Random, c: Canonical, target: Target) -> CpuPlan:
    """Tiles in scratch that have whole runs of B, or that threads share along them: nothing goes on."""
    decided = replace(free_plan(rng, c, target), panel=(), store=Store.COMBINED)
    if rng.random() < 0.5:
        return replace(decided, parallel=len(c.axes))
    return replace(decided, tile=(c.extents[0] + decided.block[0], *decided.tile[1:]))


def _edgy(rng: Random, c: Canonical, target: Target) -> CpuPlan:
    """Micro-tiles over many axes, of which most leave a remainder."""
    edges = [min(max(1, extent - 1), rng.choice((2, 3, 4, 5))) for extent in c.extents[:4]]
    block = (*edges, *(1,) * (len(c.axes) - len(edges)))
    decided = free_plan(rng, c, target)
    tile = tuple(n * rng.choice((1, 2, 8)) for n in block)
    return replace(decided, tile=tile, block=block, panel=(), store=Store.CACHED)


def _fallback(rng: Random, c: Canonical, target: Target) -> CpuPlan:
    return rng.choice(list(fallbacks(c, _aligned(rng, c, target), target))).plan


def _seed(rng: Random, c: Canonical, target: Target) -> CpuPlan:
    found = list(islice(starts(c, target, FREE), 24))
    return rng.choice(found) if found else free_plan(rng, c, target)


# What chance hardly reaches.
HARD: dict[str, Maker] = {
    **dict.fromkeys(("stores=peeled", "stores=peeled-on"), _peeled),
    **dict.fromkeys(("stores=buffered", "stores=buffered-tiles"), _buffered),
    **dict.fromkeys(("stores=combined", "prefetch=row-next", "prefetch=row-ahead"), _carrying),
    **dict.fromkeys(("edges=mask2", "edges=mask3"), _edgy),
    **dict.fromkeys((f"fallback={store.value}" for store in FALLBACKS), _aligned),
    **dict.fromkeys(("loads=off-lines", "stores=off-boundary"), _aligned),
    "stores=joined": _joined,
}
