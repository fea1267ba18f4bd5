"""A plan's products as calls of BLAS's `gemm`, which stores matrices by columns."""

from __future__ import annotations

from ..lazy_dataclasses import dataclass
from ..problem import dtypes
from .copies import LINE
from .merged import A, B, C
from .plan import Matrix, Products


@dataclass(frozen=True, slots=True)
class Gemm:
    """The arguments of `gemm(left, right)` that do not change from product to product.

    swapped: the transposed product is computed, B is the left operand; transposed, leading: of the left and right
    operand and (leading) of the result; rows, columns, depth: of the result, and what is summed over; on_lines: True
    where the columns of the left operand, the right one and the result are copies that begin on cache lines.
    """

    swapped: bool
    transposed: tuple[str, str]
    leading: tuple[int, int, int]
    rows: int
    columns: int
    depth: int
    on_lines: tuple[bool, bool, bool] = (False, False, False)


def gemm(products: Products) -> Gemm | None:
    """The call for a valid plan; None where it conjugates a matrix that it does not transpose, which BLAS cannot."""
    return _call(products, conjugated(products))


def conjugated(products: Products) -> tuple[bool, bool, bool]:
    """True for what is conjugated: A and B, by their copies or in the products, and what the products make. Where BLAS
    cannot conjugate an operand as it lies, the other one and the result are: conj(A) B = conj(A conj(B))."""
    a, b = products.merged.conjugate
    asked, turned = (a, b, False), (not a, not b, True)
    if not (a or b):
        return asked
    free = a and b and products.plan.copies[C] is not None  # the result's copy conjugates on its way
    order = (turned, asked) if free else (asked, turned)
    return next((flags for flags in order if _call(products, flags) is not None), asked)


def passes(products: Products) -> tuple[int, ...]:
    """The tensors that are gone through before the products, or behind them: to be copied, or conjugated."""
    copies, flags = products.plan.copies, conjugated(products)
    alone = [False, False, flags[C]]
    if any(flags) and gemm(products) is None:  # NumPy multiplies conjugated copies
        alone = [*flags]
    return tuple(tensor for tensor in (A, B, C) if copies[tensor] is not None or alone[tensor])


def _call(products: Products, flags: tuple[bool, bool, bool]) -> Gemm | None:
    m, n, k = products.sizes
    a, b, c = products.matrices
    swapped = not _by_columns(c, m, n)
    if swapped:  # C' = B' A', each seen by columns
        a, b, c = (Matrix(x.columns, x.rows, x.loops) for x in (b, a, c))
        m, n = n, m
    in_place = [products.plan.copies[tensor] is None for tensor in (A, B)]
    conjugate = [is_set and here for is_set, here in zip(flags, in_place, strict=False)]
    sides = [_side(a, m, k, conjugate[swapped]), _side(b, k, n, conjugate[not swapped])]
    if any(side is None for side in sides):
        return None
    (left, leading_a), (right, leading_b) = sides  # type: ignore[misc]
    leading = leading_a, leading_b, max(c.columns, m, 1)
    return Gemm(swapped, (left, right), leading, m, n, k, _on_lines(products, swapped, leading))


def _on_lines(products: Products, swapped: bool, leading: tuple[int, int, int]) -> tuple[bool, bool, bool]:
    itemsize = dtypes.dtype(products.merged.dtype).itemsize
    tensors = (B, A, C) if swapped else (A, B, C)
    left, right, result = (
        products.plan.copies[tensor] is not None and step * itemsize % LINE == 0
        for tensor, step in zip(tensors, leading, strict=True)
    )
    return left, right, result


def _by_columns(x: Matrix, rows: int, columns: int) -> bool:
    return (x.rows == 1 or rows == 1) and (x.columns >= rows or columns == 1)


def _side(x: Matrix, rows: int, columns: int, conjugate: bool) -> tuple[str, int] | None:
    """Whether and how an operand is transposed, and its leading dimension."""
    if not conjugate and _by_columns(x, rows, columns):
        return "N", max(x.columns, rows, 1)
    if (x.columns == 1 or columns == 1) and (x.rows >= columns or rows == 1):
        return "C" if conjugate else "T", max(x.rows, columns, 1)
    return None
