"""Scalings of elements of two types."""

from __future__ import annotations

from contextlib import suppress
from functools import lru_cache
from typing import Any

import numpy as np

from ..errors import ArrayError, ProblemError
from ..ir_builders import layout_fields as fields
from ..operands.addresses import data_address
from ..operands.types import spelled
from ..problem import dtypes, type_names
from ..problem.canonical import is_move
from ..problem.dtypes import DType
from ..problem.kinds import COPY, Alpha, Beta, Kinds
from ..problem.problem import Problem
from ..problem.type_names import TypeName
from ..runtime.array_arguments import exactly
from . import cast_kinds
from .scalings import PLAIN, Scaling

ALPHAS = {fields.ALPHA_ZERO: Alpha.ZERO, fields.ALPHA_ONE: Alpha.ONE, fields.ALPHA_ANY: Alpha.ANY}
BETAS = {fields.BETA_ZERO: Beta.ZERO, fields.BETA_ANY: Beta.ANY}
LETTERS = "sdcz"  # of `layout_fields.ARITHMETIC`
NUMBERED = (*LETTERS, *dtypes.PAIRS)


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
