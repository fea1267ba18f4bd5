"""The products of a plan, run by SciPy's BLAS from native loops, or by `numpy.matmul`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.lib.stride_tricks import as_strided

from ..operands.addresses import data_address
from ..problem import dtypes
from ..problem.contraction import IndexClass
from . import blas
from .gemm import Gemm, gemm
from .merged import A, B, C
from .plan import Products

Array = npt.NDArray[Any]
LETTERS, NUMBERS = 2, 6  # words of a job behind its loops: how operands are transposed; sizes and leading dimensions
KEPT_JOBS = 16  # of one plan, by alpha and beta
Run = Callable[[Array, Array, Array, complex, complex], None]
"""Of A, B, C, alpha and beta. An array begins at its tensor's element 0, and the plan says how the rest lies."""


class BlasLoops:
    """All products of a plan in one native call. Safe in several threads."""

    __slots__ = ("_code", "_jobs", "_scalars", "_swapped", "_words")

    def __init__(self, products: Products, gemm: Gemm, found: blas.Blas) -> None:
        self._swapped, self._code = gemm.swapped, blas.loops()
        element = dtypes.dtype(products.merged.dtype)
        self._scalars = dtypes.to_numpy(element)
        self._words = _words(products, gemm, found.addresses[products.merged.dtype], element.itemsize)
        self._jobs: dict[tuple[complex, complex], tuple[int, Array, Array]] = {}

    def __call__(self, a: Array, b: Array, c: Array, alpha: complex, beta: complex) -> None:
        """Run them."""
        found = self._jobs.get((alpha, beta)) or self._job(alpha, beta)
        left, right = (b, a) if self._swapped else (a, b)
        self._code(found[0], data_address(left), data_address(right), data_address(c))

    def _job(self, alpha: complex, beta: complex) -> tuple[int, Array, Array]:
        """The address of a job with these scalars, which native code only reads, and what keeps it."""
        scalars, words = np.array([alpha, beta, 1], self._scalars), self._words.copy()
        size, start, base = self._scalars.itemsize, data_address(scalars), data_address(words)
        letters = base + words.nbytes - 8 * (LETTERS + NUMBERS)
        numbers = letters + 8 * LETTERS
        words[1:12] = (
            letters, letters + 8, *(numbers + 8 * k for k in range(3)), start, numbers + 24, numbers + 32,
            start + size, start + 2 * size, numbers + 40,
        )  # fmt: skip
        if len(self._jobs) >= KEPT_JOBS:
            self._jobs = {}
        self._jobs[alpha, beta] = made = base, words, scalars
        return made


def _words(products: Products, gemm: Gemm, address: int, itemsize: int) -> npt.NDArray[np.int64]:
    """The job, with gemm's own arguments behind the loops; their addresses are put in by each call."""
    merged, plan = products.merged, products.plan
    left, right = (B, A) if gemm.swapped else (A, B)
    axes = [
        (merged.indices[number].extent, *(products.matrices[t].loops[k] * itemsize for t in (left, right, C)))
        for k, number in enumerate(plan.loops)
    ]
    summed = sum(merged.indices[number].kind is IndexClass.K for number in plan.loops)
    flags = [ord(letter) for letter in gemm.transposed]
    numbers = [gemm.rows, gemm.columns, gemm.depth, *gemm.leading]
    return np.array([address, *[0] * 11, len(axes), summed, *sum(axes, ()), *flags, *numbers], np.int64)


class NumpyProducts:
    """The same by `numpy.matmul`, which takes the BLAS that NumPy was built with; sums and scalars are added."""

    __slots__ = ("_dtype", "_products", "_summed")

    def __init__(self, products: Products) -> None:
        self._products = products
        self._dtype = dtypes.to_numpy(dtypes.dtype(products.merged.dtype))
        merged = products.merged
        self._summed = sum(merged.indices[number].kind is IndexClass.K for number in products.plan.loops)

    def __call__(self, a: Array, b: Array, c: Array, alpha: complex, beta: complex) -> None:
        """Run them."""
        m, n, k = self._products.sizes
        left, right, result = (
            self._view(x, tensor, rows, columns)
            for x, tensor, rows, columns in ((a, A, m, k), (b, B, k, n), (c, C, m, n))
        )
        conjugate = [
            is_set and copy is None
            for is_set, copy in zip(self._products.merged.conjugate, self._products.plan.copies, strict=False)
        ]
        left, right = (x.conj() if flag else x for x, flag in zip((left, right), conjugate, strict=True))
        outer = result.ndim - 2 - self._summed
        extents = left.shape[outer : outer + self._summed]
        result = result[(slice(None),) * outer + (0,) * self._summed]
        for number, position in enumerate(np.ndindex(extents)):
            at = (slice(None),) * outer + position
            _add(left[at], right[at], result, alpha, beta if number == 0 else 1)

    def _view(self, x: Array, tensor: int, rows: int, columns: int) -> Array:
        matrix, merged = self._products.matrices[tensor], self._products.merged
        extents = [merged.indices[number].extent for number in self._products.plan.loops]
        strides = [step * x.itemsize for step in (*matrix.loops, matrix.rows, matrix.columns)]
        return as_strided(x, (*extents, rows, columns), strides)


def _add(left: Array, right: Array, result: Array, alpha: complex, beta: complex) -> None:
    if alpha == 1 and beta == 0:
        np.matmul(left, right, out=result)
        return
    product = np.matmul(left, right)
    if alpha != 1:
        product *= alpha
    if beta == 0:
        result[...] = product
    else:
        if beta != 1:
            result *= beta
        result += product


def products_of(products: Products) -> Run:
    """The faster of both that can run a plan here."""
    found, call = blas.scipy_blas(), gemm(products)
    if found is not None and call is not None and found.admits(*products.sizes, *call.leading):
        return BlasLoops(products, call, found)
    return NumpyProducts(products)
