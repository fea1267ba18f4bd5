"""Extents of tiles that make runs of memory of a wanted length."""

from __future__ import annotations

from ..problem.canonical import Canonical, static


def cover(
    canonical: Canonical, which: str, wanted: int, compact: bool = True, axes: int | None = None
) -> dict[int, int]:
    """Extents by axis that make about `wanted` elements along one side, in that side's storage order.

    compact: only axes that continue one memory run; axes: at most so many. Empty where no axis has unit stride
    and `compact` is set.
    """
    strides = [abs(static(s)) for s in canonical.strides(which)]
    order = [k for k in sorted(range(len(strides)), key=lambda k: strides[k]) if strides[k] > 0]
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
