"""The best plan of a contraction: one that a search has found, the first by the machine's speeds, or a timed one."""

from __future__ import annotations

from .. import locks
from ..errors import PlanError
from ..logs import Log
from ..problem.contraction import Contraction
from ..runtime import backend, runtime
from ..tuning.database.database import Database
from ..tuning.database.opened import open_database
from ..tuning.database.records import Request
from . import measuring
from .blocks import Runs, executed
from .fused.plan import FusedPlan
from .merged import Form, merge
from .plans import VERSION, Applied, Plan, check, parse
from .predicting import Predictions, ranked
from .splitting import NO_GAINS

_log = Log(__name__)
KIND = "contraction"


def planned(
    stated: Contraction, threads: int | None, effort: int, known: bool = True, modelled: Plan | None = None
) -> Runs:
    """The execution of the best plan. effort: plans that are timed, -1 = all; 1 = none, and nothing is stored. known:
    what a search has found before is taken; modelled: the plan that is predicted to be the fastest, if it is known.
    """
    store = open_database(None, ignore=not known)
    if effort != 1:
        return _searched(stated, threads, effort, store)
    form, workers = Form(stated, merge(stated)), _workers(threads)
    plan = _stored(form, workers, store) or modelled or ranked(form, workers)[0][1].plan
    return execution(form, plan, workers, threads)


def predicted(stated: Contraction, threads: int | None) -> tuple[float, Applied]:
    """The plan that is predicted to be the fastest, and its seconds."""
    return ranked(Form(stated, merge(stated)), _workers(threads))[0]


def execution(form: Form, plan: Plan, workers: int, threads: int | None) -> Runs:
    """The execution of a plan. workers: threads whose speeds tell which products are cut; threads: of its copies, None
    = those of `set_num_threads` at each call. PlanError where the plan does not fit."""
    fused = isinstance(plan, FusedPlan)
    gains = NO_GAINS if fused else Predictions(str(form.stated.dtype), workers).gains
    return executed(form.stated, check(plan, form.merged), threads, gains)


def versions() -> str:
    """The version of plans, and which BLAS runs products."""
    return f"{VERSION} {measuring.settings()}"


def _workers(threads: int | None) -> int:
    return runtime.num_threads() if threads is None else runtime.thread_count(threads)


def _stored(form: Form, workers: int, store: Database) -> Plan | None:
    """What a search has found, as `compiling.solve.stored` finds it, which takes longer to load than this."""
    request = Request(str(form), backend.host_target().key, workers, "hot-ab", "", versions(), KIND)
    answer = store.find(request, 1)
    if answer.record is None or not answer.sufficient:
        return None
    try:
        return check(parse(answer.record.plan), form.merged).plan
    except PlanError as error:
        _log.warning("a stored plan is ignored: %s", error)
        return None


def _searched(stated: Contraction, threads: int | None, effort: int, store: Database) -> Runs:
    names = "options", "solve", "trial"
    options, solve, trial = (locks.imported(f"..compiling.{name}", __package__) for name in names)
    asked = options.checked(effort, threads, mode=trial.Mode.HOT)
    task = locks.imported(".task", __package__).ContractionTask(stated, asked)
    made: Runs = task.execution(solve.solve(task, store).plan, threads)
    return made
