"""The last cache: how much of a contraction lies beyond it, and how large matrices are that do."""

from __future__ import annotations

from math import isqrt

from ..machine import host
from ..runtime.once import once
from .merged import Merged

KEPT = 1 / 2  # of the cache: it keeps all of A, B and C where they have so many bytes, and nothing where they fill it
LEAST, MOST, TIMES = 56 << 20, 256 << 20, 7 / 4  # bytes of a matrix beyond it, and times as many as it has
AGAIN = 1 / 5  # of what a line beyond all caches takes, one in the last cache does
TILES = 48  # rows or columns: a multiple of most kernels' tiles


def share_beyond(merged: Merged) -> float:
    """The share of what is read and written, beside a core's own caches, that is beyond the last one: 0 to 1, and 1
    where the system does not tell its size."""
    size, cache = sum(merged.bytes), _bytes()
    return min(max((size / cache - KEPT) / (1 - KEPT), 0.0), 1.0) if cache else 1.0


def keeps_none(size: float) -> bool:
    """True where the last cache does not keep so many bytes while as many others are read or written."""
    return size > KEPT * _bytes() / 2


def beyond() -> int:
    """Bytes of a matrix that is beyond the last cache."""
    return min(max(LEAST, int(TIMES * _bytes())), MOST)


def square(itemsize: int) -> int:
    """The extent of a square matrix beyond it: an odd number of tiles, whose rows share few sets of a cache."""
    return (isqrt(beyond() // itemsize) // TILES - 1 | 1) * TILES


@once
def _bytes() -> int:
    return host.last_cache()
