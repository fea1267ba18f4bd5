"""The speeds of this machine, by which plans of contractions are compared."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from ..arrays import assignment
from ..arrays.pairs import PLAIN
from ..lazy_dataclasses import dataclass
from ..problem import dtypes
from ..problem.contraction import Contraction
from ..runtime import runtime
from .execution import Execution
from .gemm import gemm
from .merged import A, B, C, merge
from .plan import Products
from .space import plans

LARGE = 256  # extent at which a matrix product is near its best speed, with all of it in the caches
SMALL = 16  # and one at which what an extent costs shows
TINY = 4
MOST = 4.0 * SMALL  # of a half: what is beyond is a disturbance
WIDE = 2048  # of a result that is larger than the caches next to a core
CACHE_BYTES = 4 << 20  # results up to this size are in the caches while they are summed up
ROUNDS = 3
REPEATS = 64  # tiny products in one call
LAYOUTS = {("N", "N"): "ik,kj->ij", ("N", "T"): "ki,kj->ij", ("T", "N"): "ik,jk->ij", ("T", "T"): "ki,jk->ij"}
"""Matrices in C order by what BLAS does with its left operand, our B, and its right one, our A."""


@dataclass(frozen=True, slots=True)
class Speed:
    """The speed of products whose operands lie in one way. peak: multiplications a second of a large one; halves: the
    extents of m, n and k with which half of that is reached."""

    peak: float
    halves: tuple[float, float, float]

    def seconds(self, sizes: tuple[int, int, int]) -> float:
        """The predicted time of one product whose matrices are in the caches."""
        total, share = 1.0, 1.0
        for extent, half in zip(sizes, self.halves, strict=True):
            total *= extent
            share *= extent / (extent + half) if extent else 1.0
        return total / (self.peak * share)


@dataclass(frozen=True, slots=True)
class Rates:
    """Speeds of one data type.

    products: by how BLAS takes its operands, transposed or not; call: seconds of a product of nothing; written: seconds
    that each byte of a result takes beside that, where the result is larger than the caches; copied: bytes read and
    written a second by copies, small ones and large ones; start: seconds of a copy of nothing.
    """

    products: Mapping[tuple[str, str], Speed]
    call: float
    written: float
    copied: tuple[float, float]
    start: float

    def seconds(self, products: Products) -> float:
        """The predicted time of a plan."""
        piece = products.piece
        total = products.pieces * (self._products(piece) + self._beyond_caches(piece))
        return total + sum(self._copy(products, tensor) for tensor in (A, B, C))

    def _products(self, products: Products) -> float:
        made = gemm(products)
        kind = ("N", "N") if made is None else tuple("N" if letter == "N" else "T" for letter in made.transposed)
        m, n, k = products.sizes
        sizes = (n, m, k) if made is not None and not made.swapped else (m, n, k)
        return products.repeats * (self.call + self.products[kind].seconds(sizes))  # type: ignore[index]

    def _beyond_caches(self, products: Products) -> float:
        size = _bytes(products, C)
        return size * self.written if size > CACHE_BYTES else 0.0

    def _copy(self, products: Products, tensor: int) -> float:
        """The predicted time of a tensor's copies: those of pieces have one side in the caches."""
        if products.plan.copies[tensor] is None:
            return 0.0
        whole, piece = _bytes(products, tensor), _bytes(products.piece, tensor)
        near, far = self.copied
        ways = (near if piece <= CACHE_BYTES else far, near if whole <= CACHE_BYTES else far)
        return self.start * max(1, whole // max(piece, 1)) + sum(whole / way for way in ways)


def _bytes(products: Products, tensor: int) -> int:
    return products.merged.elements(tensor) * dtypes.dtype(products.merged.dtype).itemsize


@lru_cache(maxsize=8)
def measured(dtype: str, threads: int) -> Rates:
    """The rates of a data type with so many threads of ours; measured on first use, in some 100 ms."""
    tiny = _product(dtype, LAYOUTS["N", "N"], (TINY,) * 3)
    many = _product(dtype, "lik,lkj->lij", (TINY,) * 3)
    speeds = {kind: _speed(dtype, spec, tiny) for kind, spec in LAYOUTS.items()}
    wide = WIDE, WIDE, SMALL
    size = dtypes.dtype(dtype).itemsize * WIDE**2
    beyond = _product(dtype, LAYOUTS["N", "N"], wide) - speeds["N", "N"].seconds(wide)
    start = _copy(dtype, TINY)
    small, large = (2 * dtypes.dtype(dtype).itemsize * n * n / (_copy(dtype, n)) for n in (LARGE, WIDE))
    return Rates(speeds, max(many - tiny, 0.0) / REPEATS, max(0.0, beyond / size), (small, large), start)


def _speed(dtype: str, spec: str, tiny: float) -> Speed:
    best = LARGE**3 / _product(dtype, spec, (LARGE,) * 3)
    halves = []
    for position in range(3):
        sizes = [LARGE] * 3
        sizes[position] = SMALL
        seconds = _product(dtype, spec, (sizes[0], sizes[1], sizes[2]))
        half = SMALL * (best * max(seconds - tiny, 1e-9) / (SMALL * LARGE**2) - 1)
        halves.append(min(max(half, 0.0), MOST))
    share = 1.0
    for half in halves:
        share *= LARGE / (LARGE + half)
    return Speed(best / share, (halves[0], halves[1], halves[2]))


def _product(dtype: str, spec: str, sizes: tuple[int, int, int]) -> float:
    """Seconds of one product of m x k by k x n."""
    extents = dict(zip("ijkl", (*sizes, REPEATS), strict=True))
    contraction = Contraction(spec, {index: extents[index] for index in extents if index in spec}, dtype)
    execution = Execution(contraction, next(plans(merge(contraction))))
    kind = dtypes.to_numpy(contraction.element)
    a, b, c = (np.ones(contraction.shape(name), kind) for name in "abc")
    return _least(lambda: execution.run(a, b, c))


def _copy(dtype: str, extent: int) -> float:
    """Seconds of the transposition of a square matrix."""
    x = np.ones((extent, extent), dtypes.to_numpy(dtypes.dtype(dtype)))
    y = np.ones_like(x)
    threads = runtime.num_threads()
    return _least(lambda: assignment.engine().assign(x.T, y, PLAIN, threads, 1, fresh=True))


def _least(run: Callable[[], Any]) -> float:
    run()
    found = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        run()
        found.append(time.perf_counter() - start)
    return max(min(found), 1e-9)
