"""Random plans: any decisions, and those that chance hardly finds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from math import prod
from random import Random

from fuzz_draw import LINE

from ttc_llvm.canonical import Canonical
from ttc_llvm.carry_plans import carrying, joined_rows
from ttc_llvm.plan import LOADS, CpuPlan, Fetch, Staging
from ttc_llvm.staging import overwrites
from ttc_llvm.target import Target
from ttc_llvm.tuning.blocks import blocks
from ttc_llvm.tuning.candidates import starts
from ttc_llvm.tuning.choices import FREE
from ttc_llvm.unaligned import ways

Maker = Callable[[Random, Canonical, Target], CpuPlan]


def plan(rng: Random, c: Canonical, target: Target, goal: str = "") -> CpuPlan:
    """Any plan: random decisions, one whose runs go on, what runs instead of a streaming one, or a seed of tuning."""
    if goal in HARD and c.elements and (overwrites(c) or goal.startswith("edges")):
        return HARD[goal](rng, c, target)
    if not (c.elements and overwrites(c)):
        return rng.choice((free_plan, _seed))(rng, c, target) if c.elements else free_plan(rng, c, target)
    makers: tuple[Maker, ...] = (free_plan, free_plan, _carrying, _joined, _shifting, _way, _seed)
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
        rng.random() < 0.5,
        Staging.NONE if parametric else rng.choice((Staging.NONE, *Staging)),
        rng.choice(tuple(Fetch)),
        panel,
        rng.choice((None, Staging.NONE, Staging.B, Staging.CARRY, Staging.SHIFT)),
        rng.choice(LOADS),
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
    return carrying(c, _block(rng, c, target, 256), sizes, rng.choice(tuple(Fetch)), rng.choice((0, 1, 3)))


def _joined(rng: Random, c: Canonical, target: Target) -> CpuPlan:
    found = joined_rows(c, target, rng.choice((8, 64, 256)), rng.choice(tuple(Fetch)), rng.choice((0, 1, 4)))
    return found if rng.random() < 0.7 else replace(found, panel=(), parallel=0)


def _shifting(rng: Random, c: Canonical, target: Target) -> CpuPlan:
    """Micro-tiles of whole lines of B, across rows of A."""
    block, by_a = [1] * len(c.axes), c.along("a")[-1]
    block[by_a] = min(rng.choice((1, 4, 8, 16)), c.extents[by_a])
    block[0] = max(1, LINE // c.b.itemsize) * rng.choice((1, 1, 2))
    tile = tuple(n * rng.choice((1, 2, 4)) for n in block)
    decided = free_plan(rng, c, target)
    return replace(decided, tile=tile, block=tuple(block), panel=(), streaming=True, staging=Staging.SHIFT)


def _streaming(rng: Random, c: Canonical, target: Target) -> CpuPlan:
    """Micro-tiles that store past the caches, where rows are on boundaries: elsewhere something else must serve."""
    return replace(free_plan(rng, c, target), streaming=True, staging=Staging.NONE)


def _edgy(rng: Random, c: Canonical, target: Target) -> CpuPlan:
    """Micro-tiles over many axes, of which most leave a remainder."""
    edges = [min(max(1, extent - 1), rng.choice((2, 3, 4, 5))) for extent in c.extents[:4]]
    block = (*edges, *(1,) * (len(c.axes) - len(edges)))
    decided = free_plan(rng, c, target)
    tile = tuple(n * rng.choice((1, 2, 8)) for n in block)
    return replace(decided, tile=tile, block=block, panel=(), streaming=False, staging=Staging.NONE)


def _way(rng: Random, c: Canonical, target: Target) -> CpuPlan:
    streaming = replace(free_plan(rng, c, target), streaming=True)
    return rng.choice(list(ways(c, streaming, target))).plan


def _seed(rng: Random, c: Canonical, target: Target) -> CpuPlan:
    found = list(islice(starts(c, target, FREE), 24))
    return rng.choice(found) if found else free_plan(rng, c, target)


# What chance hardly reaches.
HARD: dict[str, Maker] = {
    **dict.fromkeys(("stores=shifted", "stores=shifted-on"), _shifting),
    **dict.fromkeys(("stores=carried", "prefetch=row-next", "prefetch=row-ahead"), _carrying),
    **dict.fromkeys(("edges=mask2", "edges=mask3"), _edgy),
    **dict.fromkeys((f"instead={how}" for how in ("shift", "carry", "b", "none")), _streaming),
    **dict.fromkeys(("loads=off-lines", "stores=off-boundary"), _streaming),
    "stores=joined": _joined,
}
