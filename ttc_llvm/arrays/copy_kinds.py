"""Kinds of copies that have plans of their own where a layout gets a kernel, by the canonical form."""

from __future__ import annotations

from ..lowering.shared_run import LONG_ROW, is_mirrored
from ..problem.canonical import Canonical, static

MOST_PLANES = 4  # channels of images
MOST_JOINED = 8 << 10  # bytes of the longest rows whose next ones are prefetched


def are_rows(canonical: Canonical) -> bool:
    """True for rows that stay as they are, of a line and more, and are not long."""
    row = canonical.axes[0]
    return row.stride_a == 1 and LONG_ROW <= static(row.extent) * canonical.b.itemsize <= MOST_JOINED


def moves_pixels(canonical: Canonical) -> bool:
    """True for short rows that stay as they are and lie in another order in B."""
    row, *others = canonical.axes
    size = static(row.extent) * canonical.b.itemsize
    return bool(others) and row.stride_a == 1 and size < LONG_ROW and not is_mirrored(canonical)


def picks(canonical: Canonical) -> bool:
    """True where B has every second, third or fourth item of A's rows, forwards or backwards."""
    row, *others = canonical.axes
    return 1 < abs(static(row.stride_a)) <= MOST_PLANES and all(abs(static(axis.stride_a)) > 1 for axis in others)


def is_turned(canonical: Canonical) -> bool:
    """True for mirrored rows, and for rows that stay as they are and follow each other backwards."""
    row, *others = canonical.axes
    return is_mirrored(canonical) or (row.stride_a == 1 and any(static(axis.stride_a) < 0 for axis in others))


def merges_planes(canonical: Canonical) -> bool:
    """True where B's elements come in turns from a few places, each of which goes on in order."""
    planes, *others = canonical.axes
    return static(planes.extent) <= MOST_PLANES and [axis.stride_a for axis in others] == [1]


def splits_planes(canonical: Canonical) -> bool:
    """True where A's elements go in turns to a few places."""
    _, *planes = canonical.axes
    return [axis.stride_a for axis in planes] == [1] and static(planes[0].extent) <= MOST_PLANES
