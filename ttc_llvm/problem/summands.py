"""The terms of problems that sum permutations: factors and perms, as they are given and as they are kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .. import arguments
from ..errors import ProblemError
from . import dtypes
from .kinds import Alpha, Kinds
from .orbits import shown
from .scalars import scalar

if TYPE_CHECKING:
    import numpy.typing as npt

    from .problem import Problem

Summand = tuple[complex, tuple[int, ...]]
TYPES = ("s", "d", "c", "z")
TYPES_RULE = "sums are of float32, float64, complex64 and complex128"
_PAIRS = "pairs of a factor and a perm"


def settle(p: Problem) -> None:
    """Give a problem its terms as they are kept, and the first one's perm; of a single one, the factor is alpha's.

    ProblemError for what is no list of terms, and where perm is given, too, and another."""
    found: dict[tuple[int, ...], complex] = {}
    for given in arguments.sequence("terms", p.terms, ProblemError, _PAIRS):
        pair = arguments.sequence("a term", given, ProblemError, _PAIRS)
        if len(pair) != 2:
            raise ProblemError(f"terms holds {len(pair)} values where a pair of a factor and a perm belongs")
        perm = arguments.integers("perm", pair[1], ProblemError)
        found[perm] = found.get(perm, 0) + scalar("factor", pair[0], p.compute, p.spelled)
    if not found:
        return
    kept = {perm: factor for perm, factor in found.items() if factor != 0} or dict([next(iter(found.items()))])
    put, first = object.__setattr__, next(iter(kept))
    if p.perm and p.perm != first:
        raise ProblemError(f"perm {shown(p.perm)} is not that of the first term, {shown(first)}")
    put(p, "perm", first)
    put(p, "terms", tuple((factor, perm) for perm, factor in kept.items()) if len(kept) > 1 else ())
    if len(kept) == 1:
        put(p, "alpha", arguments.number("alpha", p.alpha) * kept[first])


def check_terms(p: Problem) -> None:
    """ProblemError where terms do not give one shape, or the problem sums nothing of its kind."""
    if not p.terms:
        return
    for _, perm in p.terms:
        if sorted(perm) != sorted(p.perm):
            raise ProblemError(f"perm {shown(perm)} of a term is not a permutation of 0..{len(p.perm) - 1}")
        size = tuple(p.size[k] for k in perm)
        if size != p.size_b:
            raise ProblemError(f"terms give the sizes {shown(p.size_b)} and {shown(size)}: a sum's are all the same")
    names = p.a.name, p.b.name
    if not {*names} <= {*TYPES}:
        raise ProblemError(f"data type {p.spelled}: {TYPES_RULE}")
    if p.inplace:
        raise ProblemError("a sum of permutations reads A while it writes B: inplace must be False")


def kinds_of(p: Problem) -> Kinds:
    """The kinds of a problem's own scalars; those of a sum multiply, also by 1."""
    found = Kinds.of(p.alpha, p.beta)
    return Kinds(Alpha.ANY, found.beta) if p.terms and found.alpha is Alpha.ONE else found


def scalars(p: Problem) -> npt.NDArray[np.generic] | None:
    """The scalars as code reads them, each term's after beta; None for plain moves."""
    factors = [factor for factor, _ in p.terms] or [1]
    values = dtypes.scalars(p.compute, p.alpha, p.beta, *[p.alpha] * (len(factors) - 1))
    if values is not None and p.terms:
        return np.asarray(np.multiply(values, np.array([factors[0], 1, *factors[1:]], values.dtype)))
    return values


def backwards(terms: Any, rank: int) -> tuple[Summand, ...]:
    """The same terms of tensors whose indices are counted from the last one."""
    return tuple((factor, tuple(rank - 1 - k for k in perm[::-1])) for factor, perm in terms)
