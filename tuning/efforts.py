"""Efforts of a search: how many plans it considers, as a count or by name."""

from __future__ import annotations

from typing import Any

from ttc_llvm.arguments import COUNT, Error, integer, shown
from ttc_llvm.errors import OptionError

EFFORTS = {"estimate": 1, "measure": 20, "patient": 200, "exhaustive": -1}
"""Efforts by name: plans to consider. 1 = the cost model's choice, nothing is timed; -1 = the whole space."""


def effort(name: str, value: Any, error: Error = OptionError) -> int:
    """A number of plans to consider: a count, -1 for the whole space, or a name of EFFORTS."""
    if isinstance(value, str):
        if value in EFFORTS:
            return EFFORTS[value]
        raise error(f"{name} {shown(value)} is unknown: the choices are {', '.join(EFFORTS)}, or a count")
    count = integer(name, value, error)
    if count > COUNT:
        raise error(f"{name} {count} is more than {COUNT}")
    if count < 1 and count != -1:
        raise error(f"{name} {count} is neither a count of at least 1 nor -1 (the whole space)")
    return count
