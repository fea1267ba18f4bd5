"""The speeds of this machine, by which plans of contractions are compared."""

from __future__ import annotations

import time
from collections.abc import Callable
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
from .merged import merge
from .plan import Products
from .space import plans

LARGE = 384  # extent at which a matrix product is at its best speed
SMALL = 16  # and one at which what an extent costs shows
TINY = 4
ROUNDS = 3


@dataclass(frozen=True, slots=True)
class Rates:
    """Speeds of one data type.

    peak: multiplications a second of a large matrix product; halves: the extents of m, n and k with which a product
    reaches half of that; call: seconds of a product of nothing; copied: bytes read and written a second by copies;
    start: seconds of a copy of nothing.
    """

    peak: float
    halves: tuple[float, float, float]
    call: float
    copied: float
    start: float

    def seconds(self, products: Products) -> float:
        """The predicted time of a plan."""
        share, total = 1.0, products.repeats
        for extent, half in zip(products.sizes, self.halves, strict=True):
            share *= extent / (extent + half) if extent else 1.0
            total *= extent
        copied = [tensor for tensor, order in enumerate(products.plan.copies) if order is not None]
        products_take = products.repeats * self.call + total / (self.peak * share)
        return products_take + sum(self.copy(products, tensor) for tensor in copied)

    def copy(self, products: Products, tensor: int) -> float:
        """The predicted time of one tensor's copy."""
        size = dtypes.dtype(products.merged.dtype).itemsize
        return self.start + 2 * products.merged.elements(tensor) * size / self.copied


@lru_cache(maxsize=8)
def measured(dtype: str, threads: int) -> Rates:
    """The rates of a data type with so many threads of ours; measured on first use, in some 50 ms."""
    tiny = _product(dtype, TINY, TINY, TINY)
    best = LARGE**3 / _product(dtype, LARGE, LARGE, LARGE)
    halves = []
    for position in range(3):
        sizes = [LARGE] * 3
        sizes[position] = SMALL
        reached = SMALL * LARGE**2 / (_product(dtype, *sizes) - min(tiny, 1e-6))
        halves.append(max(0.0, SMALL * (best / reached - 1)))
    copied, start = _copies(dtype)
    full = LARGE / (LARGE + sum(halves) / 3)
    return Rates(best / full**3, (halves[0], halves[1], halves[2]), tiny, copied, start)


def _product(dtype: str, m: int, n: int, k: int) -> float:
    """Seconds of one product of matrices in C order."""
    contraction = Contraction("ik,kj->ij", {"i": m, "k": k, "j": n}, dtype)
    execution = Execution(contraction, next(plans(merge(contraction))))
    arrays = [_filled(contraction, name) for name in "abc"]
    return _least(lambda: execution.run(*arrays))


def _copies(dtype: str) -> tuple[float, float]:
    """Bytes a second of a large copy, and seconds of a small one."""
    kind = dtypes.to_numpy(dtypes.dtype(dtype))
    large, small = (np.ones((n, n), kind) for n in (1024, TINY))
    def copy(x: Any, y: Any) -> float:
        return _least(lambda: assignment.engine().assign(x.T, y, PLAIN, runtime.num_threads(), 1, fresh=True))

    start = copy(small, np.empty_like(small))
    return 2 * large.nbytes / copy(large, np.empty_like(large)), start


def _filled(contraction: Contraction, operand: str) -> Any:
    return np.ones(contraction.shape(operand), dtypes.to_numpy(contraction.element))


def _least(run: Callable[[], None]) -> float:
    run()
    found = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        run()
        found.append(time.perf_counter() - start)
    return max(min(found), 1e-9)
