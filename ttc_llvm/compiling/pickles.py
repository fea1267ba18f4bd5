"""The state in pickles of solutions, which begins with a mark of its form, and the code that it lacks."""

from __future__ import annotations

from typing import Any

from .. import locks
from ..errors import PlanError, TargetError
from ..lowering.plan import CpuPlan
from ..runtime import kernel, stored_code
from ..runtime.here import VERSIONS
from ..runtime.kept_kernels import UNPICKLED, Kept, request_for

PICKLED = "ttc_llvm 2"


def unmarked(given: tuple[Any, ...], count: int, wanted: str = PICKLED) -> tuple[Any, ...]:
    """The state that a pickle holds, without what later versions add to it; PlanError for pickles of other forms."""
    match given:
        case ((str(mark), *state),) if mark == wanted and len(state) >= count:
            return tuple(state[:count])
    raise PlanError("this pickle of a solution was made by another version of ttc_llvm: compile its problem anew")


def kept_code(canonical: str, plan: CpuPlan, target: str) -> kernel.Objects:
    """The code of a plan that this user's database has for this machine, which need not be described; what is compiled
    or worked out besides is kept for later processes."""
    try:
        options = f"{kernel.revision()} {stored_code.machine()}"
    except TargetError:  # nothing runs here
        return {}
    kept = Kept(request_for(UNPICKLED, canonical, target, VERSIONS, options=options))
    if str(plan) in kept:
        return kept
    plans = locks.imported(".stored_plans", __package__)
    return plans.with_code(kept, canonical, plan, target, kernel.versions())  # type: ignore[no-any-return]
