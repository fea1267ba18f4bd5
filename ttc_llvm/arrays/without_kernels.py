"""`to <- alpha * of + beta * to` by NumPy, where no kernel runs: the same results and errors, slower."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..operands.operand import Array
from ..problem import dtypes
from ..problem.conversion import converted
from ..problem.kinds import COPY
from .overlaps import check_once, is_permuted, meet
from .scalings import PLAIN, Scaling


def assign(of: Array, to: Array, scale: Scaling, threads: int, effort: int, *, fresh: bool = False) -> None:
    """As `strided.assign`, whose threads and effort mean nothing here; nothing is remembered."""
    if not to.nbytes:
        return
    check_once(to)
    if not fresh and not is_permuted(of, to):
        meet(of, to)
    if scale is PLAIN:
        _move(of, to)
        return
    with np.errstate(all="ignore"):
        _scale(of, to, scale)


def memory_moved(*_: Any) -> bool:
    """False: nothing moves at once."""
    return False


def _move(of: Array, to: Array) -> None:
    """Bit for bit: of records, NumPy would leave out what lies between their fields."""
    if of.dtype.names is not None:
        items = np.dtype((np.void, of.dtype.itemsize))
        of, to = of.view(items), to.view(items)
    to[...] = of


def _scale(of: Array, to: Array, scale: Scaling) -> None:
    """In the wider type of both, rounded once. A factor of 0 reads nothing."""
    assert scale.values is not None and scale.types is not None
    a, b = scale.types
    numbers, result = (x.view(dtypes.to_numpy(t)) for x, t in ((of, a), (to, b)))
    if scale.kinds == COPY and not scale.conjugate:
        result[...] = converted(numbers, a, b)
        return
    alpha, beta = scale.values
    compute, terms = dtypes.compute_type(a, b), list[Array]()
    if alpha != 0:
        wide = converted(numbers, a, compute)
        terms.append(_product(np.conjugate(wide) if scale.conjugate else wide, alpha))
    if beta != 0:
        terms.append(_product(converted(result, b, compute), beta))
    result[...] = converted(sum(terms[1:], start=terms[0]), compute, b) if terms else 0


def _product(wide: Array, factor: Any) -> Array:
    """Every product and sum rounded by itself, as kernels do; a complex 1 does not multiply."""
    if factor == 1:
        return wide
    if factor.dtype.kind != "c":
        return np.asarray(wide * factor)
    product = np.empty_like(wide)
    product.real = wide.real * factor.real - wide.imag * factor.imag
    product.imag = wide.imag * factor.real + wide.real * factor.imag
    return product
