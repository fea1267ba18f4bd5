"""Shapes of tiles: long runs in A and in B, whole axes where they are short, no odd remainders."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from math import gcd, log, prod

from ttc_llvm.lowering.gpu.runs import memory_order
from ttc_llvm.problem.canonical import Canonical

RUNS = (128, 256, 512, 64)  # bytes of a tile along A and along B
BYTES = (16 << 10, 8 << 10, 32 << 10, 4 << 10)  # of a tile
WASTE = 6.0  # how much more a remainder counts than the distance from the wanted size, both in log
GRAIN = 0.7  # what a length that vectors do not divide counts, where they divide the axis
MOST_SINGLE, MOST_THREADS = 8, 1024  # elements of a thread that are moved one by one; threads of a block
VECTOR = 16  # bytes of an access


def tiles(c: Canonical, direct: bool) -> Iterator[tuple[int, ...]]:
    """Tiles worth trying, each once. direct: without shared memory only B's runs need to be long."""
    seen: set[tuple[int, ...]] = set()
    for size in BYTES:
        for run_a in (0,) if direct else RUNS:
            for run_b in RUNS if not direct else (256, 1024):
                tile = _tile(c, run_a, run_b, size)
                if tile not in seen and not _crowded(c, tile):
                    seen.add(tile)
                    yield tile


def _crowded(c: Canonical, tile: tuple[int, ...]) -> bool:
    """True where even in the largest block, if it does not divide a tile of small elements, each thread has many single
    ones: with addresses of their own, they would not fit into its registers."""
    small = min(c.a.itemsize, c.b.itemsize) < 4
    return small and prod(tile) > MOST_SINGLE * MOST_THREADS and prod(tile) % MOST_THREADS != 0


def _tile(c: Canonical, run_a: int, run_b: int, size: int) -> tuple[int, ...]:
    """Runs of these bytes, then axes in B's and A's order until the tile has its size."""
    tile = [1] * len(c.axes)
    for side, wanted, item in (("b", run_b, c.b.itemsize), ("a", run_a, c.a.itemsize)):
        grow(c, tile, memory_order(c, side), max(1, wanted // item), max(1, VECTOR // item))
    room = size // max(c.a.itemsize, c.b.itemsize)
    both = [k for pair in zip(memory_order(c, "a"), memory_order(c, "b"), strict=True) for k in pair]
    for k in both:
        spare = room // prod(tile)
        if spare >= 2 and tile[k] < c.extents[k]:
            tile[k] = cut(c.extents[k], tile[k] * spare, tile[k])
    return tuple(tile)


def grow(c: Canonical, tile: list[int], order: tuple[int, ...], wanted: int, grain: int) -> None:
    """Extend a tile along a tensor's axes until its run there has so many elements."""
    length = 1
    for k in order:
        needed = -(-wanted // length)
        if needed <= 1:
            return
        if tile[k] < min(needed, c.extents[k]):
            tile[k] = max(tile[k], cut(c.extents[k], needed, grain))
        length *= tile[k]


@lru_cache(maxsize=4096)
def cut(extent: int, wanted: int, grain: int) -> int:
    """A length near the wanted one that leaves little over at the end of an axis and, if possible, is a multiple of
    the grain; the whole axis where that is not much longer."""
    if extent <= wanted * 3 // 2:
        return extent

    def price(length: int) -> float:
        waste = log(-(-extent // length) * length / extent)
        odd = GRAIN if length % gcd(extent, grain) else 0.0
        return WASTE * waste + abs(log(length / wanted)) + odd

    return min(range(max(1, wanted // 2), wanted * 2 + 1), key=price)
