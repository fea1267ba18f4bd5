"""The order of a plan's tiles: whose memory they walk, and how often pages are translated."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ttc_llvm.lowering.plan import Loops

from .footprint import Footprint

TLB_PAGES = 1536  # translations that processors of the last ten years hold, or a few less

Footprints = Callable[[tuple[int, ...]], tuple[Footprint, Footprint]]  # of a box in A and in B


def path(
    tile: tuple[int, ...], order: Sequence[int], extents: Sequence[int], orders: Sequence[Sequence[int]]
) -> str:
    """Whose memory the two innermost loops over tiles walk: on from where the last tile ended in A, in B, in both or in
    neither. order: of the loops; orders: of the axes in A and in B, those of small strides first."""
    done = {k for k, extent in enumerate(extents) if tile[k] >= extent}
    found = []
    for k in [k for k in reversed(order) if k not in done][:2]:
        a, b = (_first(axes, done) == k for axes in orders)
        found.append("both" if a and b else "a" if a else "b" if b else "other")
        done.add(k)
    return " ".join(found)


def _first(axes: Sequence[int], done: set[int]) -> int:
    """The first of these axes that is not among those."""
    for axis in axes:
        if axis not in done:
            return axis
    return -1


def misses(tile: tuple[int, ...], loops: Loops, extents: tuple[int, ...], of: Footprints) -> tuple[float, float]:
    """The number of times that pages of A and of B are translated.

    A step of a loop finds the pages again that the step before has touched, if all of these were at hand together; else
    it misses as many as the first step did.
    """
    box, outer, ends = list(tile), list(extents), []
    for k, step in loops:
        ends.append((k, min(outer[k], extents[k])))
        outer[k] = step
    a, b = of(tile)
    missed = a.pages, b.pages
    for k, whole in reversed(ends):
        steps, box[k] = -(-whole // box[k]), whole
        if a.pages + b.pages <= TLB_PAGES:
            a, b = of(tuple(box))
            missed = a.pages, b.pages
        else:
            missed = (steps * missed[0], steps * missed[1])
    return missed
