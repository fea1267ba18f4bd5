"""The best plan of a contraction: one that a search has found, the first by the machine's speeds, or a timed one."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, Any

from .. import locks
from ..problem.contraction import Contraction
from ..runtime import backend, runtime
from ..tuning.database import answers
from ..tuning.database.database import Database
from ..tuning.database.opened import open_database
from . import blas, choices, kept
from .fused.plan import Fused
from .merged import Form, merge
from .plans import VERSION, Plan, check, parse
from .splitting import NO_GAINS, is_cut_or_shared

if TYPE_CHECKING:
    from .blocks import Runs

GAIN = 0.9  # a result in another order than C must take so much less of the time


def planned(
    stated: Contraction, threads: int | None, effort: int, known: bool = True, modelled: Plan | None = None
) -> Runs:
    """The execution of the best plan. effort: plans that are timed, -1 = all; 1 = none. known: what a search has found
    before, or an earlier process has chosen, is taken; modelled: the plan that is predicted to be the fastest, if it is
    known."""
    store = open_database(None, ignore=not known)
    if effort != 1:
        return _searched(stated, threads, effort, store)
    form, workers = Form(stated, merge(stated)), _workers(threads)
    plan = _stored(form, workers, store) or modelled or _chosen([form], workers, store).plan
    return execution(form, plan, workers, threads, waits=False)


def chosen(every: Sequence[Contraction], threads: int | None) -> choices.Choice:
    """The first of these contractions, or the one that is predicted to take the least time, if that is much less, and
    the plan that is predicted to be the fastest."""
    return _chosen([Form(stated, merge(stated)) for stated in every], _workers(threads), open_database(None))


def _chosen(forms: Sequence[Form], workers: int, store: Database) -> choices.Choice:
    def make() -> choices.Choice:
        number, best = 0, _planner().first(forms[0], workers)
        limit = GAIN * best.seconds
        for other, form in enumerate(forms[1:], 1):
            found = _planner().first(form, workers, limit)
            if found.applied is not None:
                number, best, limit = other, found, found.seconds
        return choices.Choice(number, best.applied.plan)

    def is_kept() -> bool:
        return bool(_planner().is_settled(str(forms[0].stated.dtype), workers))

    return choices.made(forms, workers, versions(), store, make, is_kept)


def chosen_by(products: Fused, workers: int) -> tuple[str, str, str] | None:
    """The text of a plan, and the contraction and machine for which a search may find another one; None while the
    speeds that it was chosen by are to be measured again."""
    merged = products.merged
    is_settled = _planner().is_settled(merged.dtype, workers)
    return (str(products.plan), str(merged), backend.host_target().key) if is_settled else None


def execution(form: Form, plan: Plan, workers: int, threads: int | None, waits: bool = True) -> Runs:
    """The execution of a plan. workers: threads whose speeds tell which products are cut; threads: of its copies, None
    = those of `set_num_threads` at each call; waits: for code, as `FusedRun` does. PlanError where the plan does not
    fit."""
    applied, gains = check(plan, form.merged), NO_GAINS
    if isinstance(applied, Fused):
        fused = locks.imported(".fused.execution", __package__)
        made: Runs = fused.FusedExecution(form.stated, applied, threads, waits)
        return made
    if is_cut_or_shared(prod(applied.sizes), workers):
        gains = _planner().Predictions(str(form.stated.dtype), workers).gains
    made = locks.imported(".blocks", __package__).executed(form.stated, applied, threads, gains)
    return made


def versions() -> str:
    """The version of plans, and which BLAS runs products."""
    return f"{VERSION} {blas.settings()}"


def _planner() -> Any:
    """What processes do without that find their plans in the database."""
    return locks.imported(".predicting", __package__)


def _workers(threads: int | None) -> int:
    return runtime.num_threads() if threads is None else runtime.thread_count(threads)


def _stored(form: Form, workers: int, store: Database) -> Plan | None:
    """What a search has found."""
    request = kept.searched(str(form), backend.host_target().key, workers, versions())
    return answers.planned(store.known(request, 1), lambda text: check(parse(text), form.merged).plan)


def _searched(stated: Contraction, threads: int | None, effort: int, store: Database) -> Runs:
    names = "options", "solve", "trial"
    options, solve, trial = (locks.imported(f"..compiling.{name}", __package__) for name in names)
    asked = options.checked(effort, threads, mode=trial.Mode.HOT)
    task = locks.imported(".task", __package__).ContractionTask(stated, asked)
    made: Runs = task.execution(solve.solve(task, store).plan, threads)
    return made
