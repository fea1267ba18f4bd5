"""The speed of matrix products whose operands are in the caches, predicted from those of measured sizes."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from itertools import product
from math import exp, log, prod

from ..lazy_dataclasses import dataclass
from ..locks import cached_property

MILLION = 1_000_000
EDGE = 0.01  # the least weight of a corner
TURNS = 3  # vectors of rows or columns, of which all extents are measured
Sizes = tuple[int, int, int]  # m, n and k


@dataclass(frozen=True)
class Grid:
    """Products whose speeds are measured: of more than `least` and up to `most` multiplications, m, n and k being any
    of the extents."""

    extents: tuple[int, ...]
    least: int
    most: int

    @cached_property
    def corners(self) -> tuple[Sizes, ...]:
        """m, n and k of each."""
        every = product(self.extents, self.extents, self.extents)
        return tuple(sizes for sizes in every if self.least < prod(sizes) <= self.most)

    def shorter(self, sizes: Sizes) -> Sizes:
        """Those of a product that is as fast, the longest extent of which is the next shorter one of the grid."""
        longest = max(sizes)
        m, n, k = (max(x for x in self.extents if x < longest) if extent == longest else extent for extent in sizes)
        return m, n, k


SHORT, LONG = Grid((4, 16, 48, 128, 480), 0, MILLION), Grid((16, 144, 480, 1440, 5760), MILLION, 119 * MILLION)
"""BLAS has other kernels for products of up to a million multiplications."""


@dataclass(frozen=True)
class Speed:
    """The speed of products whose operands lie in one way, by m, n and k: multiplications a second at the corners of
    `SHORT`, and of `LONG`.

    ragged: of m and of n, of short products and then of long ones: how many rows of a large matrix take as long as 0,
    1, 2 .. of them, up to `TURNS` vectors: BLAS takes what is left over more slowly, and has other code for few.
    """

    short: Mapping[Sizes, float]
    long: Mapping[Sizes, float]
    ragged: tuple[tuple[float, ...], ...]

    def seconds(self, sizes: Sizes) -> float:
        """The predicted time of one product: the geometric mean of the corners around it, by the logarithms of extents.
        """
        if prod(sizes) > MILLION:
            return self._between(LONG, self.long, (*self.ragged[2:], ()), sizes)
        return self._between(SHORT, self.short, (*self.ragged[:2], ()), sizes)

    def _between(
        self, grid: Grid, known: Mapping[Sizes, float], ragged: tuple[tuple[float, ...], ...], sizes: Sizes
    ) -> float:
        total = logarithm = 0.0
        least = (1, 1, grid.extents[0]) if grid is SHORT else (grid.extents[0],) * 3
        extents = [*map(max, sizes, least)]
        sides = [_around(grid.extents, *side) for side in zip(ragged, extents, strict=True)]
        for (m, of_m, as_m), (n, of_n, as_n), (k, of_k, as_k) in product(*sides):
            if (speed := known.get((m, n, k))) is not None:
                weight = of_m * of_n * of_k
                total += weight
                logarithm += weight * log(speed * as_m * as_n * as_k)
        if not total:
            shorter = grid.shorter(sizes)
            return prod(sizes) / prod(shorter) * self._between(grid, known, ragged, shorter)
        return prod(extents) / exp(logarithm / total)


@lru_cache(maxsize=1024)  # the plans of a contraction have few extents
def _around(extents: tuple[int, ...], ragged: tuple[float, ...], extent: int) -> tuple[tuple[int, float, float], ...]:
    """The two extents of a grid next to another, their weights, which are never 0, and how many times as fast as its
    own each of them makes that one, for what is left over of either."""
    whole, asked = [_whole(x, ragged) for x in extents], _whole(extent, ragged)
    above = min(max(sum(x <= extent for x in extents), 1), len(extents) - 1)
    share = min(max(log(extent / extents[above - 1]) / log(extents[above] / extents[above - 1]), EDGE), 1 - EDGE)
    slower = extent / asked
    sides = (above - 1, 1 - share), (above, share)
    low, high = ((extents[at], weight, slower * whole[at] / extents[at]) for at, weight in sides)
    return low, high


def _whole(extent: int, ragged: tuple[float, ...]) -> float:
    """The extent that takes as long and leaves nothing over."""
    if extent < len(ragged) or not ragged:
        return ragged[extent] if ragged else float(extent)
    vector = len(ragged) // TURNS
    times = (extent - len(ragged)) // vector + 1
    return times * vector + ragged[extent - times * vector]
