"""Extents of tiles that make runs of memory of a wanted length."""

from __future__ import annotations

from functools import lru_cache
from math import gcd, lcm, prod

from ..machine.target import Target
from ..problem.canonical import Canonical, static
from ..problem.in_place import images
from ..problem.orbits import cycles
from .plan import CpuPlan

TASKS = 64  # that remain for threads to share where tiles get longer
SCRATCH = 96 << 10  # bytes of a tile in place, which is on the stack


def cover(
    canonical: Canonical, which: str, wanted: int, compact: bool = True, axes: int | None = None
) -> dict[int, int]:
    """Extents by axis that make about `wanted` elements along one side, in that side's storage order.

    compact: only axes that continue one memory run; axes: at most so many. Empty where no axis has unit stride
    and `compact` is set.
    """
    strides, order = _by_stride(canonical, which)
    found: dict[int, int] = {}
    length = 1
    for k in order[: axes or len(order)]:
        if compact and strides[k] != length:
            break
        extent = canonical.extents[k]
        found[k] = max(1, min(extent, wanted // length))
        length *= found[k]
        if length * 2 > wanted or found[k] < extent:
            break
    return found


@lru_cache(maxsize=256)
def _by_stride(canonical: Canonical, which: str) -> tuple[list[int], list[int]]:
    """Lengths of a side's strides, and the axes that have any, by them."""
    strides = [abs(static(s)) for s in canonical.strides(which)]
    return strides, [k for k in sorted(range(len(strides)), key=strides.__getitem__) if strides[k] > 0]


def merge(first: dict[int, int], second: dict[int, int]) -> dict[int, int]:
    """Per axis the larger extent."""
    return {k: max(first.get(k, 1), second.get(k, 1)) for k in {*first, *second}}


def fitted(canonical: Canonical, block: tuple[int, ...], wanted: dict[int, int]) -> tuple[int, ...]:
    """A tile of about the wanted extents that its blocks divide; whole axes where nearly all of one is wanted."""
    tile = []
    for k, (extent, unit) in enumerate(zip(canonical.extents, block, strict=True)):
        size = -(-max(wanted.get(k, 1), unit) // unit) * unit
        tile.append(max(extent, 1) if 4 * size >= 3 * extent else size)
    return tuple(tile)


def lengthened(canonical: Canonical, plan: CpuPlan, side: str, size: int, target: Target) -> CpuPlan:
    """The plan with tiles of at least `size` bytes of each row of A or of B; the plan itself where such tiles would
    fill L2 or be too few for the threads."""
    item = (canonical.a if side == "a" else canonical.b).itemsize
    long = cover(canonical, side, max(1, size // item))
    if all(plan.tile[k] >= length for k, length in long.items()):
        return plan
    tile = fitted(canonical, plan.block, merge(dict(enumerate(plan.tile)), long))
    found = plan.changed(tile=tile, panel=())
    shared = found.tasks(canonical.extents) >= min(TASKS, plan.tasks(canonical.extents))
    return found if shared and is_small(canonical, tile, target) else plan


def is_small(canonical: Canonical, tile: tuple[int, ...], target: Target) -> bool:
    """True where a tile of A or of B fits half of L2."""
    elements = prod(map(min, tile, canonical.extents))
    return elements * max(canonical.a.itemsize, canonical.b.itemsize) <= target.l2 // 2


def alike(
    canonical: Canonical, tile: tuple[int, ...], block: tuple[int, ...]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The tile and micro-tile of a form in place: tiles are as long along axes that take each other's places, and short
    enough for the stack, micro-tiles divide them."""
    edges, parts, groups = list(tile), list(block), cycles(images(canonical.axes) or ())
    for cycle in groups:
        longest, unit = max(tile[k] for k in cycle), lcm(*(block[k] for k in cycle))
        for k in cycle:
            edges[k] = longest if longest >= canonical.bounds[k] else -(-longest // unit) * unit
    while prod(map(min, edges, canonical.bounds)) * canonical.a.itemsize > SCRATCH:
        cycle = max(groups, key=lambda cycle: min(edges[cycle[0]], canonical.bounds[cycle[0]]))
        half = min(edges[cycle[0]], canonical.bounds[cycle[0]]) // 2
        unit = lcm(*(parts[k] for k in cycle))
        for k in cycle:
            edges[k] = half // unit * unit or 1 << half.bit_length() - 1
            parts[k] = gcd(parts[k], edges[k])
    return tuple(edges), tuple(parts)
