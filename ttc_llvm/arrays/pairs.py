"""Two arrays of one shape and any strides as a problem: the scaling from one to the other, and their canonical form."""

from __future__ import annotations

from contextlib import suppress
from functools import lru_cache
from math import gcd
from typing import Any

import numpy as np

from ..errors import ArrayError, ProblemError
from ..ir_builders import layout_fields as fields
from ..lazy_dataclasses import dataclass
from ..operands.addresses import data_address
from ..operands.operand import Array
from ..operands.types import spelled
from ..problem import dtypes, type_names
from ..problem.canonical import Axis, Placed, from_axes, is_move
from ..problem.dtypes import DType
from ..problem.in_place import in_place
from ..problem.kinds import COPY, Alpha, Beta, Kinds
from ..problem.problem import Problem
from ..problem.type_names import TypeName
from ..runtime.array_arguments import exactly
from . import cast_kinds

ALPHAS = {fields.ALPHA_ZERO: Alpha.ZERO, fields.ALPHA_ONE: Alpha.ONE, fields.ALPHA_ANY: Alpha.ANY}
BETAS = {fields.BETA_ZERO: Beta.ZERO, fields.BETA_ANY: Beta.ANY}
LETTERS = "sdcz"  # of `layout_fields.ARITHMETIC`
NUMBERED = (*LETTERS, *dtypes.PAIRS)
ALIGNED = 8  # bytes to whose multiples kernels expect elements to be aligned, at most


@dataclass(frozen=True, slots=True)
class Scaling:
    """alpha, beta and conjugation as kernels take them. number: of types and kinds in layouts (`scaled_kind`,
    `cast_kind`), 0 where items are moved as they are; address: that of the values; types: A's and B's."""

    number: int
    kinds: Kinds
    values: Array | None = None
    alpha: complex = 1.0
    beta: complex = 0.0
    conjugate: bool = False
    address: int = 0
    types: tuple[DType, DType] | None = None


PLAIN = Scaling(0, COPY)
"""Items are moved as they are."""


def scaling(
    of: np.dtype[Any], to: np.dtype[Any], alpha: complex, beta: complex, conjugate: bool, saturate: bool | None = None
) -> Scaling:
    """The scaling of elements of type `of` into elements of type `to`. saturate: as in a `Problem`, where numbers are
    to be converted; None = only between types of one kind.

    Raises ArrayError where the types do not go together, ProblemError where they do not admit the arithmetic.
    """
    return _scaling(of, to, alpha, beta, conjugate, saturate, (exactly("alpha", alpha), exactly("beta", beta)))


@lru_cache(maxsize=256)
def _scaling(
    of: np.dtype[Any],
    to: np.dtype[Any],
    alpha: complex,
    beta: complex,
    conjugate: bool,
    saturate: bool | None,
    _: tuple[Any, Any],
) -> Scaling:
    """_: what distinguishes scalars that are equal."""
    if of == to and Kinds.of(alpha, beta) == COPY and not conjugate:
        return PLAIN  # of any type
    pair = pair_of(of, to) if saturate is None else type_names.read((of, to))
    return of_problem(
        Problem((), (), pair, alpha=alpha, beta=beta, conjugate=conjugate, saturate=bool(saturate))
    )


def of_problem(checked: Problem) -> Scaling:
    """The scaling of a problem's elements."""
    kinds, conjugate = Kinds.of(checked.alpha, checked.beta), checked.conjugate
    if is_move(kinds, checked.a, checked.b, conjugate):
        return PLAIN
    values = np.array([checked.alpha, checked.beta], dtypes.to_numpy(checked.compute))
    number = _number(checked.a, checked.b, kinds, conjugate)
    scalars = (checked.alpha, checked.beta, conjugate)
    return Scaling(number, kinds, values, *scalars, data_address(values), (checked.a, checked.b))


def _number(of: DType, to: DType, kinds: Kinds, conjugate: bool) -> int:
    if dtypes.pair_name(of, to) not in NUMBERED:
        return cast_kinds.number(cast_kinds.CastKind(of, to, kinds, conjugate))
    a, b = map(LETTERS.index, (of.name, to.name))
    alpha = next(number for number, kind in ALPHAS.items() if kind is kinds.alpha)
    beta = next(number for number, kind in BETAS.items() if kind is kinds.beta)
    return fields.scaled_kind(a, b, alpha, beta, conjugate)


def pair_of(of: np.dtype[Any], to: np.dtype[Any]) -> TypeName:
    """The data type of a problem between these; only for arithmetic are different ones admitted."""
    if of == to:
        return type_names.read(of)
    with suppress(ProblemError):
        pair = type_names.read((of, to))
        if pair in dtypes.PAIRS:
            return pair
    raise ArrayError(
        f"out has dtype {spelled(to)} for an array of {spelled(of)}: it must be equal, or float32 for float64,"
        f" complex64 for complex128, or the other way round; dtype={spelled(to)!r} converts to any"
    )


def _steps(x: Array) -> list[int]:
    """The strides that are ever taken, in bytes."""
    return [stride for extent, stride in zip(x.shape, x.strides, strict=True) if extent > 1]


def is_regular(x: Array) -> bool:
    """True where every element lies a whole number of elements from the first."""
    return all(step % x.dtype.itemsize == 0 for step in _steps(x))


def unit_of(of: Array, to: Array, odd: int = 0) -> int:
    """Bytes that are moved at a time: whole items, or the largest power of two that divides all distances.

    odd: address bits that are set and should not be."""
    size = of.dtype.itemsize
    if size in dtypes.NATIVE and not odd and is_regular(of) and is_regular(to):
        return size
    return gcd(ALIGNED, odd, size, *_steps(of), *_steps(to))


def moves(of: Array, to: Array, unit: int, permuted: bool = False) -> Placed:
    """A bit-exact copy in units: items of several units get an axis of their own. permuted: as for `elements`."""
    item = dtypes.carrier(unit)
    strides = zip(of.shape, of.strides, to.strides, strict=True)
    axes = [Axis(extent, s // unit, t // unit) for extent, s, t in strides]
    axes = [Axis(of.dtype.itemsize // unit, 1, 1), *axes]
    return _permuted(axes, item, PLAIN) if permuted else from_axes(axes, item, item, COPY)


def elements(of: Array, to: Array, scale: Scaling, permuted: bool = False) -> Placed:
    """A transposition with arithmetic, element by element. permuted: both are one array, whose axes take each other's
    places. Raises ArrayError where they cannot."""
    assert scale.types is not None
    a, b = scale.types
    strides = zip(of.shape, of.strides, to.strides, strict=True)
    axes = [Axis(extent, s // a.itemsize, t // b.itemsize) for extent, s, t in strides]
    return _permuted(axes, a, scale) if permuted else from_axes(axes, a, b, scale.kinds, scale.conjugate)


def _permuted(axes: list[Axis], item: DType, scale: Scaling) -> Placed:
    try:
        return in_place(axes, item, scale.kinds, scale.conjugate)
    except ProblemError as error:
        raise ArrayError(str(error)) from None
