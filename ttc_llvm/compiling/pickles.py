"""The state in pickles of solutions, which begins with a mark of its form."""

from __future__ import annotations

from typing import Any

from ..errors import PlanError

PICKLED = "ttc_llvm 2"


def unmarked(given: tuple[Any, ...], count: int, wanted: str = PICKLED) -> tuple[Any, ...]:
    """The state that a pickle holds, without what later versions add to it; PlanError for pickles of other forms."""
    match given:
        case ((str(mark), *state),) if mark == wanted and len(state) >= count:
            return tuple(state[:count])
    raise PlanError("this pickle of a solution was made by another version of ttc_llvm: compile its problem anew")
