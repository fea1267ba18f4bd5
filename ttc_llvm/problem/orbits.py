"""Permutations that lead back to the start: cycles of axes, and what they ask of a problem in place."""

from __future__ import annotations

from collections.abc import Sequence
from math import lcm
from typing import TYPE_CHECKING

from ..arguments import cut
from ..errors import ProblemError

if TYPE_CHECKING:
    from .problem import Problem

LONGEST = 12  # permutations that lead back to the start, one after the other: each step has code of its own


def cycles(image: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """The axes in groups that take each other's places, each axis followed by its image."""
    left, found = list(range(len(image))), []
    while left:
        cycle = [left[0]]
        while image[cycle[-1]] != cycle[0]:
            cycle.append(image[cycle[-1]])
        left = [k for k in left if k not in cycle]
        found.append(tuple(cycle))
    return tuple(found)


def order(image: Sequence[int]) -> int:
    """The number of permutations, one after the other, that lead back to the start."""
    return lcm(*map(len, cycles(image)))


def check_order(image: Sequence[int], extents: Sequence[int]) -> None:
    """ProblemError where too many permutations lead back to the start. extents: 1 where an axis does not count."""
    count = lcm(*(len(cycle) for cycle in cycles(image) if extents[cycle[0]] != 1))
    if count > LONGEST:
        raise ProblemError(f"in place, {count} permutations lead back to the start: at most {LONGEST} are served")


def share_outer(p: Problem) -> None:
    """Give A and B of a problem in place the outer sizes that one of them has."""
    lda, ldb = p.lda, p.ldb
    object.__setattr__(p, "lda", ldb if lda is None else lda)
    object.__setattr__(p, "ldb", lda if ldb is None else ldb)


def check_kept(p: Problem) -> None:
    """ProblemError where A and B of a problem cannot be one tensor."""
    if p.a != p.b:
        raise ProblemError(f"in place, A and B have one data type, not {p.spelled}")
    for name, own, other, permuted in (
        ("size", p.size, "permuted size", p.size_b),
        ("lda", p.outer_a, "ldb", p.outer_b),
    ):
        if own[: None if name == "size" else -1] != permuted[: None if name == "size" else -1]:
            raise ProblemError(f"in place, {name} {shown(own)} and {other} {shown(permuted)} must be equal")
    check_order(p.perm, p.size)


def shown(values: Sequence[int]) -> str:
    """Numbers as messages have them."""
    return cut(",".join(map(str, values))) or "()"
