"""Canonical forms out of their texts, as the database keeps them."""

from __future__ import annotations

from ..errors import ProblemError
from . import dtypes
from .canonical import Axis, Canonical
from .kinds import Alpha, Beta, Kinds
from .terms import Term


def parse(text: str) -> Canonical:
    """The inverse of `str(canonical)` where all sizes are numbers; ProblemError for any other text."""
    try:
        types, kinds, *axes = text.split()
        conjugate = axes[:1] == ["conj"]
        in_place = axes[conjugate : conjugate + 1] == ["in-place"]
        a, b = map(dtypes.dtype, types.split(">"))
        alpha, beta = kinds.split("-")
        terms = tuple(Term.parse(axis) for axis in axes if axis.startswith("+"))
        axes = axes[conjugate + in_place : len(axes) - len(terms)]
        numbers = tuple(Axis(*map(int, axis.split(":"))) for axis in axes)
        if not numbers:
            raise ValueError
        return Canonical(numbers, a, b, Kinds(Alpha(alpha), Beta(beta)), conjugate, in_place, terms)
    except (ValueError, TypeError):
        raise ProblemError(f"{text[:60]!r} is no canonical form: types kinds extent:stride:stride ..") from None
