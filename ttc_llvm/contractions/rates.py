"""The speeds of this machine, by which plans of contractions are compared."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Mapping
from itertools import product
from math import exp, isfinite, log, prod
from typing import Any

from ..errors import PlanError
from ..lazy_dataclasses import dataclass
from ..locks import cached_property
from ..problem import dtypes
from .gemm import Gemm, gemm, passes
from .plan import Products
from .splitting import SIDES, Gains, Split, kind, split
from .traffic import traffic

MILLION = 1_000_000
CACHE_BYTES = 4 << 20  # results up to this size are in the caches while they are summed up
LAYOUTS = {("N", "N"): "ik,kj->ij", ("N", "T"): "ki,kj->ij", ("T", "N"): "ik,jk->ij", ("T", "T"): "ki,jk->ij"}
"""Matrices in C order by what BLAS does with its left operand, our B, and its right one, our A."""
CUTS = tuple((*kind, side) for kind in LAYOUTS for side in SIDES)


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

    def around(self, extent: int) -> tuple[tuple[int, float], ...]:
        """The two extents next to another, and their weights, which are never 0."""
        above = min(max(bisect_right(self.extents, extent), 1), len(self.extents) - 1)
        low, high = self.extents[above - 1 : above + 1]
        share = min(max(log(extent / low) / log(high / low), EDGE), 1 - EDGE)
        return (low, 1 - share), (high, share)


EDGE = 0.01
SHORT, LONG = Grid((4, 12, 40, 120, 480), 0, MILLION), Grid((16, 144, 480), MILLION, 120 * MILLION)
"""BLAS has other kernels for products of up to a million multiplications."""


@dataclass(frozen=True, slots=True)
class Speed:
    """The speed of products whose operands lie in one way and are in the caches: multiplications a second at the
    corners of `SHORT`, and of `LONG`."""

    short: Mapping[Sizes, float]
    long: Mapping[Sizes, float]

    def seconds(self, sizes: Sizes) -> float:
        """The predicted time of one product: the geometric mean of the corners around it, by the logarithms of extents.
        """
        grid, known = (SHORT, self.short) if prod(sizes) <= MILLION else (LONG, self.long)
        extents = [max(extent, grid.extents[0]) for extent in sizes]
        around_m, around_n, around_k = map(grid.around, extents)
        total = logarithm = 0.0
        for (m, of_m), (n, of_n), (k, of_k) in product(around_m, around_n, around_k):
            if (speed := known.get((m, n, k))) is not None:
                weight = of_m * of_n * of_k
                total, logarithm = total + weight, logarithm + weight * log(speed)
        return prod(extents) / exp(logarithm / total)


@dataclass(frozen=True, slots=True)
class Rates:
    """Speeds of one data type.

    products: by how BLAS takes its operands, transposed or not; call: seconds of a product of nothing; written: seconds
    that each byte of a result beyond the caches takes, of short products and of long ones; strided: what it takes more
    where short products write many pieces with gaps; read: seconds that each byte of an operand takes which is fetched
    from beyond the caches, in few pieces and in many; copied: bytes read and written a second by copies, small ones and
    large ones; start: seconds of a copy of nothing; gains: of cutting long products.
    """

    products: Mapping[tuple[str, str], Speed]
    call: float
    written: tuple[float, float]
    strided: float
    read: tuple[float, float]
    copied: tuple[float, float]
    start: float
    gains: Gains

    def seconds(self, products: Products) -> float:
        """The predicted time of a plan."""
        piece = products.piece
        total = products.pieces * self._products(piece)
        return total + sum(self._pass(products, tensor) for tensor in passes(products))

    def _products(self, products: Products) -> float:
        made = gemm(products)
        if made is None:
            one, cut = self.products["N", "N"].seconds(products.sizes), None
            return products.repeats * (self.call + one) + self._fetched(products, made, cut, products.sizes)
        cut = split(made, self.gains)
        parts, part = 1.0, made
        if cut is not None:
            parts, part = cut.parts + cut.rest / cut.size, cut.part(made, cut.size)
        sizes = part.columns, part.rows, part.depth
        one = self.call + self.products[kind(made)].seconds(sizes)
        return products.repeats * parts * one + self._fetched(products, made, cut, sizes)

    def _fetched(self, products: Products, call: Gemm | None, cut: Split | None, sizes: Sizes) -> float:
        """What the products take more as their matrices are not in the caches; long ones fetch them in whole blocks."""
        a, b, c = traffic(products, call, cut)
        is_long = prod(sizes) > MILLION
        read = sum(moved.bytes * self.read[moved.apart and not is_long] for moved in (a, b))
        return read + c.bytes * (self.written[is_long] + (self.strided if c.apart and not is_long else 0.0))

    def _pass(self, products: Products, tensor: int) -> float:
        """The predicted time of a tensor's copies: those of pieces have one side in the caches."""
        whole, piece = _bytes(products, tensor), _bytes(products.piece, tensor)
        near, far = self.copied
        ways = (near if piece <= CACHE_BYTES else far, near if whole <= CACHE_BYTES else far)
        return self.start * max(1, whole // max(piece, 1)) + sum(whole / way for way in ways)


def _bytes(products: Products, tensor: int) -> int:
    return products.merged.elements(tensor) * dtypes.dtype(products.merged.dtype).itemsize


# --- as text ----------------------------------------------------------------------------------------------


def to_text(rates: Rates) -> str:
    """Rates in JSON, as rows of the database have them."""
    products = {
        "".join(kind): [[*speeds.values()] for speeds in (speed.short, speed.long)]
        for kind, speed in rates.products.items()
    }
    gains = [rates.gains[key] for key in CUTS]
    fetched = *rates.written, rates.strided, *rates.read
    return json.dumps([products, rates.call, *fetched, *rates.copied, rates.start, gains])


def from_text(text: str) -> Rates:
    """The inverse of `to_text`. PlanError for other texts."""
    try:
        products, call, short, long, strided, read, apart, near, far, start, gains = json.loads(text)
        speeds = {kind: _speed(*products["".join(kind)]) for kind in LAYOUTS}
        call, short, long, strided, start = map(_number, (call, short, long, strided, start))
        fetched = _number(read), _number(apart)
        copied, cuts = (_positive(near), _positive(far)), dict(zip(CUTS, map(_positive, gains), strict=True))
        return Rates(speeds, call, (short, long), strided, fetched, copied, start, cuts)
    except (ValueError, TypeError, KeyError):
        raise PlanError(f"{text[:60]!r} does not tell the speeds of a machine") from None


def _speed(short: Any, long: Any) -> Speed:
    both = ((SHORT.corners, short), (LONG.corners, long))
    return Speed(*(dict(zip(corners, map(_positive, speeds), strict=True)) for corners, speeds in both))


def _number(value: Any) -> float:
    if not isinstance(value, float | int) or not isfinite(value) or value < 0:
        raise ValueError
    return float(value)


def _positive(value: Any) -> float:
    if _number(value) <= 0:
        raise ValueError
    return float(value)
