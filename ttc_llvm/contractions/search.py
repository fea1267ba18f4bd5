"""The best plan of a contraction: one that a search has found, the first by the machine's speeds, or a timed one."""

from __future__ import annotations

from ..compiling import solve
from ..compiling.options import checked
from ..compiling.trial import Mode
from ..problem.contraction import Contraction
from ..tuning.database.opened import open_database
from .blocks import Runs
from .task import ContractionTask


def planned(stated: Contraction, threads: int | None, effort: int, known: bool = True) -> Runs:
    """The execution of the best plan. effort: plans that are timed, -1 = all; 1 = none, and nothing is stored. known:
    what a search has found before is taken."""
    store = open_database(None, ignore=not known)
    task = ContractionTask(stated, checked(effort, threads, mode=Mode.HOT))
    found = solve.stored(task, store) if effort == 1 else solve.solve(task, store)
    plan = task.modelled() if found is None else found.plan
    return task.execution(plan, threads)
