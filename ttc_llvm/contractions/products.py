"""The products of a plan, run by SciPy's BLAS from native loops, or by `numpy.matmul`."""

from __future__ import annotations

from collections.abc import Callable
from math import prod

import numpy as np
from numpy.lib.stride_tricks import as_strided

from ..operands.addresses import data_address
from ..operands.operand import Array
from ..problem import dtypes
from ..problem.contraction import IndexClass
from ..runtime import runtime
from ..runtime.pool import Call
from . import blas
from .gemm import Gemm, conjugated, gemm
from .merged import A, B, C
from .plan import Products
from .splitting import COLUMNS, DEPTH, NO_GAINS, ROWS, Gains, Split, split

LETTERS, NUMBERS = 2, 6  # words of a job behind its loops: how operands are transposed; sizes and leading dimensions
KEPT_JOBS = 16  # of one plan, by alpha and beta
LEAST = 1 << 17  # multiplications of all products that threads share
PRODUCTS_OF_AN_ITEM = 4  # multiplications that take as long as moving one: so much, at most, is worth waking threads
Run = Callable[[Array, Array, Array, complex, complex], None]
"""Of A, B, C, alpha and beta. An array begins at its tensor's element 0, and the plan says how the rest lies."""


class BlasLoops:
    """All products of a plan in one native call, or in two where they are cut. Safe in several threads.

    threads: that share them, None = those of `set_num_threads` at each call."""

    __slots__ = ("_jobs", "_loops", "_moved", "_rest", "_scalars", "_swapped", "_tasks", "_threads", "_words")

    def __init__(
        self, products: Products, gemm: Gemm, found: blas.Blas, cut: Split | None = None, threads: int | None = 1
    ) -> None:
        self._swapped, self._threads, self._loops = gemm.swapped, threads, blas.loops()
        element = dtypes.dtype(products.merged.dtype)
        self._scalars = dtypes.to_numpy(element)
        axes, outer = _axes(products, gemm, element.itemsize), _outer(products)
        self._rest: tuple[BlasLoops, tuple[int, ...], bool] | None = None
        if cut is not None:
            steps = _steps(gemm, cut, element.itemsize)
            if cut.rest:
                rest = BlasLoops(products, cut.part(gemm, cut.rest), found, None, threads)
                self._rest = rest, tuple(step * cut.parts for step in steps), cut.side == DEPTH
            axes.insert(len(axes) if cut.side == DEPTH else outer, (cut.parts, *steps))
            outer += cut.side != DEPTH
            gemm = cut.part(gemm, cut.size)
        self._tasks = prod(axis[0] for axis in axes[:outer])
        self._moved = prod(products.sizes) * products.repeats * element.itemsize // PRODUCTS_OF_AN_ITEM
        self._words = _words(axes, len(axes) - outer, gemm, found.addresses[products.merged.dtype])
        self._jobs: dict[tuple[complex, complex], tuple[int, Array, Array]] = {}

    def __call__(self, a: Array, b: Array, c: Array, alpha: complex, beta: complex) -> None:
        """Run them."""
        left, right = (b, a) if self._swapped else (a, b)
        self._run(data_address(left), data_address(right), data_address(c), alpha, beta)

    def _run(self, left: int, right: int, result: int, alpha: complex, beta: complex) -> None:
        job, *_ = self._jobs.get((alpha, beta)) or self._job(alpha, beta)
        code, address = self._loops
        if self._threads == 1:
            code(left, right, result, job, 0, 0, self._tasks)
        else:
            threads = runtime.num_threads() if self._threads is None else self._threads
            runtime.run(Call(address, left, right, result, job, 0, self._tasks), threads, moved=self._moved)
        if self._rest is not None:
            rest, steps, is_added = self._rest
            rest._run(left + steps[0], right + steps[1], result + steps[2], alpha, 1 if is_added else beta)

    def _job(self, alpha: complex, beta: complex) -> tuple[int, Array, Array]:
        """The address of a job with these scalars, which native code only reads, and what keeps it."""
        given = beta if beta == beta else beta * beta  # all of it is NaN then: OpenBLAS takes 0 + NaN i for 0
        scalars, words = np.array([alpha, given, 1], self._scalars), self._words.copy()
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


def _axes(products: Products, gemm: Gemm, itemsize: int) -> list[tuple[int, ...]]:
    """Extent and strides, of the left operand, the right one and the result in bytes, of each loop."""
    left, right = (B, A) if gemm.swapped else (A, B)
    return [
        (products.merged.indices[number].extent, *(products.matrices[t].loops[k] * itemsize for t in (left, right, C)))
        for k, number in enumerate(products.plan.loops)
    ]


def _outer(products: Products) -> int:
    """The number of loops that are not summed over; they come first."""
    return sum(products.merged.indices[number].kind is not IndexClass.K for number in products.plan.loops)


def outer_products(products: Products) -> int:
    """The number of products, or sums of such, that are written to different places."""
    return products.merged.extent(products.plan.loops[: _outer(products)])


def shared_tasks(products: Products, call: Gemm, cut: Split | None, gains: Gains) -> int:
    """`Gains.shared` of a plan; 1 also where one thread is done by the time that another is awake."""
    if prod(products.sizes) * products.repeats < LEAST or not blas.is_published():
        return 1
    return gains.shared(call, cut, outer_products(products))


def _steps(gemm: Gemm, cut: Split, itemsize: int) -> tuple[int, ...]:
    """Bytes from one part to the next, in the left operand, the right one and the result."""
    step, (left, right, result) = cut.size * itemsize, gemm.leading
    rows, depth = (1, left) if gemm.transposed[0] == "N" else (left, 1)  # elements from one to the next
    terms, columns = (1, right) if gemm.transposed[1] == "N" else (right, 1)
    by_side = {ROWS: (rows, 0, 1), COLUMNS: (0, columns, result), DEPTH: (depth, terms, 0)}
    return tuple(step * of for of in by_side[cut.side])


def _words(axes: list[tuple[int, ...]], summed: int, gemm: Gemm, address: int) -> Array:
    """The job, with gemm's own arguments behind the loops; their addresses are put in by each call."""
    flags = [ord(letter) for letter in gemm.transposed]
    numbers = [gemm.rows, gemm.columns, gemm.depth, *gemm.leading]
    return np.array([address, *[0] * 11, len(axes), summed, *sum(axes, ()), *flags, *numbers], np.int64)


class NumpyProducts:
    """The same by `numpy.matmul`, which takes the BLAS that NumPy was built with; sums and scalars are added."""

    __slots__ = ("_dtype", "_products", "_summed")

    def __init__(self, products: Products) -> None:
        self._products = products
        self._dtype = dtypes.to_numpy(dtypes.dtype(products.merged.dtype))
        self._summed = len(products.plan.loops) - _outer(products)

    def __call__(self, a: Array, b: Array, c: Array, alpha: complex, beta: complex) -> None:
        """Run them."""
        m, n, k = self._products.sizes
        left, right, result = (
            self._view(x, tensor, rows, columns)
            for x, tensor, rows, columns in ((a, A, m, k), (b, B, k, n), (c, C, m, n))
        )
        conjugate = [
            is_set and copy is None
            for is_set, copy in zip(conjugated(self._products), self._products.plan.copies, strict=True)
        ]
        left, right = (x.conj() if flag else x for x, flag in zip((left, right), conjugate, strict=False))
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


def products_of(products: Products, gains: Gains = NO_GAINS, threads: int | None = 1) -> Run:
    """The faster of both that can run a plan here. gains: of long products that are cut; threads: that share short
    ones, None = those of `set_num_threads` at each call."""
    found, call = blas.scipy_blas(), gemm(products)
    if found is not None and call is not None and found.admits(*products.sizes, *call.leading):
        most = runtime.num_threads() if threads is None else threads
        cut = split(call, gains, outer_products(products), most)
        is_shared = shared_tasks(products, call, cut, gains) > 1
        return BlasLoops(products, call, found, cut, threads if is_shared else 1)
    return NumpyProducts(products)
