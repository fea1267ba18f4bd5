"""The last cache: how much of a contraction lies beyond it, and how large matrices are that do."""

from __future__ import annotations

from math import isqrt

from ..machine import host
from ..problem import dtypes
from ..runtime.once import once
from .merged import Merged

READ, WRITTEN = (1 / 2, 1), (3 / 4, 5 / 4)
"""Of the cache: of A, B and C it keeps all where they have so many bytes together, and nothing where they have as many
as that; what is written stays longer."""
LEAST, MOST, TIMES = 56 << 20, 256 << 20, 7 / 4  # bytes of a matrix beyond it, and times as many as it has
TILES = 48  # rows or columns: a multiple of most kernels' tiles


def shares_beyond(merged: Merged) -> tuple[float, float]:
    """The share of what is read, and of what is written, beside a core's own caches, that is beyond the last one: 0 to
    1, and 1 where the system does not tell its size."""
    size = sum(map(merged.elements, range(3))) * dtypes.dtype(merged.dtype).itemsize
    read, written = (_share(size, *bounds) for bounds in (READ, WRITTEN))
    return read, written


def _share(size: int, kept: float, gone: float) -> float:
    cache = _bytes()
    return min(max((size / cache - kept) / (gone - kept), 0.0), 1.0) if cache else 1.0


def beyond() -> int:
    """Bytes of a matrix that is beyond the last cache."""
    return min(max(LEAST, int(TIMES * _bytes())), MOST)


def square(itemsize: int) -> int:
    """The extent of a square matrix beyond it: an odd number of tiles, whose rows share few sets of a cache."""
    return (isqrt(beyond() // itemsize) // TILES - 1 | 1) * TILES


@once
def _bytes() -> int:
    return host.last_cache()
