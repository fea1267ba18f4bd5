"""Suites for GPUs: those of CPUs as far as they tell anything there, and the 57 at 1 GiB a tensor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..errors import OptionError
from . import suites
from .cases import KINDS, Case, resized

LARGE, LARGE_BYTES = "ttc57-1g", 1 << 30
NAMES = ("ttc57", LARGE, "small-dims", "pow2", "dtypes", "ragged")  # in the order of what tells most


def cases(names: Sequence[str], kinds: Sequence[str] = KINDS) -> tuple[Case, ...]:
    """The cases of these suites, in this order. OptionError for a suite or kind that does not exist."""
    found: list[Case] = []
    for name in dict.fromkeys(names):
        if name not in NAMES:
            raise OptionError(f"unknown suite {name[:40]!r}: the choices for GPUs are {', '.join(NAMES)}")
        if name == LARGE:
            found += (replace(enlarged(case, LARGE_BYTES), suite=LARGE) for case in suites.cases(("ttc57",), kinds))
        else:
            found += suites.cases((name,), kinds)
    return tuple(found)


def enlarged(case: Case, size: int) -> Case:
    """The same case with one extent longer, so that a tensor takes about `size` bytes: the longest of those along
    which neither tensor is contiguous, where there is one."""
    problem = case.problem
    inner = {0, problem.perm[0]}
    choice = [k for k in range(len(problem.size)) if k not in inner] or list(range(len(problem.size)))
    longest = max(choice, key=lambda k: problem.size[k])
    extents = list(problem.size)
    extents[longest] = max(1, round(extents[longest] * size / (problem.elements * problem.b.itemsize)))
    return replace(case, problem=resized(problem, tuple(extents)))
