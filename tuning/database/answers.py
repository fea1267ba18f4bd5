"""Plans that answers hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from ttc_llvm.errors import PlanError
from ttc_llvm.logs import Log
from ttc_llvm.tuning.database.records import Answer

_log = Log(__name__)
T = TypeVar("T")


def planned(answer: Answer, parsed: Callable[[str], T]) -> T | None:
    """The plan of an answer; None where it does not suffice. parsed: raises PlanError where a plan does not fit."""
    if answer.record is None or not answer.sufficient:
        return None
    try:
        return parsed(answer.record.plan)
    except PlanError as error:
        _log.warning("a stored plan is ignored: %s", error)
        return None
