"""Runs of memory inside a tile, and how wide the vector accesses along them may be."""

from __future__ import annotations

from collections.abc import Iterator
from math import gcd, prod

from ...lazy_dataclasses import dataclass
from ...problem.canonical import Canonical, static


@dataclass(frozen=True, slots=True)
class Run:
    """Placement of the vectors of one side. axes: innermost first; one axis, or several that vectors run across;
    vector: elements of one access."""

    axes: tuple[int, ...]
    vector: int


def by_stride(tile: tuple[int, ...], strides: tuple[int, ...]) -> tuple[int, ...]:
    """The axes along which the tile extends, in a tensor's order: shortest stride first, broadcast axes last."""
    found = [k for k, extent in enumerate(tile) if extent > 1]
    return tuple(sorted(found, key=lambda k: (strides[k] == 0, abs(strides[k]), k)))


def memory_order(c: Canonical, side: str) -> tuple[int, ...]:
    """All axes in a tensor's order."""
    return by_stride((2,) * len(c.axes), sides(c, side))


def beyond(c: Canonical, tile: tuple[int, ...], side: str) -> Iterator[int]:
    """The axes along which a tensor is longer than a tile, in its order."""
    return (k for k in memory_order(c, side) if tile[k] < c.extents[k])


def run_axes(c: Canonical, tile: tuple[int, ...], side: str) -> tuple[int, ...]:
    """The axes along which a tile is contiguous in a tensor: all but the last are whole. The axis of the shortest
    stride where none has unit stride; none for a tile of one element."""
    strides, extents = sides(c, side), c.extents
    ordered = by_stride(tile, strides)
    run = list(ordered[:1])
    if run and strides[run[0]] == 1:
        for k in ordered[1:]:
            last = run[-1]
            if tile[last] != extents[last] or strides[k] != strides[last] * extents[last]:
                break
            run.append(k)
    return tuple(run)


def sides(c: Canonical, side: str) -> tuple[int, ...]:
    """Strides of A or B as integers."""
    return tuple(static(stride) for stride in c.strides(side))


def run_of(c: Canonical, tile: tuple[int, ...], side: str, vector: int, remainders: bool = False) -> Run | None:
    """The run along which accesses of so many elements lie in a tile; None where their addresses would not be multiples
    of their size. remainders: shorter tiles at the ends are walked in such vectors, too."""
    axes = run_axes(c, tile, side)
    if vector == 1:
        return Run(axes[:1], 1)
    if not axes or sides(c, side)[axes[0]] != 1:
        return None
    chunks = _chunks(c, tile, remainders)
    if chunks[axes[0]] % vector == 0 and _aligned(c, side, axes[:1], vector):
        return Run(axes[:1], vector)
    if prod(chunks[k] for k in axes) % vector == 0 and _aligned(c, side, axes, vector):
        return Run(axes, vector)
    return None


def _chunks(c: Canonical, tile: tuple[int, ...], remainders: bool) -> tuple[int, ...]:
    return tuple(gcd(t, e % t) if remainders else t for t, e in zip(tile, c.extents, strict=True))


def _aligned(c: Canonical, side: str, run: tuple[int, ...], vector: int) -> bool:
    """True where every step outside the run keeps the alignment."""
    strides = sides(c, side)
    return all(strides[k] % vector == 0 for k, extent in enumerate(c.extents) if k not in run and extent > 1)


def widest(c: Canonical, tile: tuple[int, ...], side: str, limit: int, remainders: bool = False) -> int:
    """The longest vector, at most `limit` elements, with which a tile can be walked in a tensor."""
    vector = limit
    while vector > 1 and run_of(c, tile, side, vector, remainders) is None:
        vector //= 2
    return vector
