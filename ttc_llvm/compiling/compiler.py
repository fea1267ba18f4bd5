"""The compiler: one function that lists the stages in order."""

from __future__ import annotations

import itertools
import logging
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from ..lowering import items
from ..lowering.plan import CpuPlan
from ..machine.target import Target
from ..problem.canonical import Canonical
from ..problem.problem import Problem
from ..runtime import backend, kernel
from ..tuning import candidates
from ..tuning.database import Database
from ..tuning.model import model_plan, onwards, ranked, scouts
from ..tuning.records import Answer, Record, Request
from ..tuning.search import Limits, Report, search
from . import stored_plans
from .options import Options
from .solution import Solution
from .stored_plans import Planned
from .timed_fallbacks import decided
from .trial import Mode, Trial, check_runs_here

_log = logging.getLogger(__name__)


def solve(
    problem: Problem, options: Options, database: str | Path | None, ignored: bool, progress: Report | None
) -> Solution:
    """`ttc_llvm.compile` for CPUs, its options checked. ignored: nothing is looked up in the database."""
    store = stored_plans.open_database(database, ignored)
    canonical = items.placed(problem, options.target).canonical
    found = plan_canonical(canonical, options, (problem.alpha, problem.beta), store, progress)
    return Solution(
        problem, options.target, found.plan, options.threads, found.measurement, found.objects, options.others
    )


def plan_canonical(
    canonical: Canonical,
    options: Options,
    scalars: tuple[complex, complex],
    store: Database,
    progress: Report | None = None,
) -> Planned:
    """The best plan of a canonical form: from the database, from the cost model, or by timing candidates.

    scalars: alpha and beta of the timed runs. What is found is stored.
    """
    request = stored_plans.request(canonical, options)
    answer = store.find(request, options.max_implementations)
    known = stored_plans.answered(canonical, options, answer)
    if known is not None and answer.record is not None:
        return _completed(canonical, options, store, answer.record, known)
    if answer.sufficient and answer.record is not None:
        store.refuse(answer.record)
    if options.max_implementations == 1 or canonical.elements == 0:
        found, record = _modelled(canonical, options, request)
    else:
        found, record = _tuned(canonical, options, scalars, request, answer, progress)
    store.store(record)
    return found


def _completed(canonical: Canonical, options: Options, store: Database, record: Record, known: Planned) -> Planned:
    """A known plan with its code. What the database has no code of for this program, or none that may be linked, is
    built anew if later processes will find it; where they will not, calls compile what they need."""
    if known.objects or not _runs(options.target) or not store.keeps_code:
        return known
    objects = {str(known.plan): kernel.cache.obtain(canonical, known.plan, options.target).code}
    if known.measurement is not None:
        objects |= stored_plans.fallback_code(canonical, known.plan, options.target)
    store.keep(replace(record, objects=stored_plans.named(known.plan, objects)))
    return replace(known, objects=objects)


# --- the two sources of a new plan ----------------------------------------------------------------------


def _modelled(canonical: Canonical, options: Options, request: Request) -> tuple[Planned, Record]:
    plan = model_plan(canonical, options.target, options.threads, options.forced)
    code = kernel.cache.obtain(canonical, plan, options.target).code if _runs(options.target) else b""
    objects = ((kernel.NAME, code),) if code else ()
    return Planned(plan, None, {str(plan): code} if code else {}), Record(request, 1, str(plan), objects=objects)


def _runs(target: Target) -> bool:
    return backend.runs_here(target)


def _tuned(
    canonical: Canonical,
    options: Options,
    scalars: tuple[complex, complex],
    request: Request,
    answer: Answer,
    progress: Report | None,
) -> tuple[Planned, Record]:
    check_runs_here(options.target)
    trial = Trial(canonical, options.target, options.threads, options.mode, *scalars)
    if trial.is_proxy:
        _log.warning(
            "the tensors do not fit in memory three times: tuned on a smaller stand-in with the same strides' low bits"
        )
    which = stored_plans.ceiling_of(canonical, options.mode)
    ceiling = trial.ceiling(which)
    began, limits = time.monotonic(), Limits(options.max_implementations, options.time_limit, options.verify)
    outcome = search(
        _offered(canonical, options, answer),
        onwards(canonical, options.target, options.threads, options.forced),
        trial,
        limits,
        progress,
        trial.seconds_alone if options.threads > 1 and options.mode is not Mode.HOT else None,
        scouts(canonical, options.target, options.threads, options.forced),
    )
    others: kernel.Objects = {}
    with suppress(KeyboardInterrupt):  # the search is over, and its result is kept
        outcome = decided(outcome, trial, limits.after(time.monotonic() - began))
        ceiling = max(ceiling, trial.ceiling(which))
        others = stored_plans.elsewhere(outcome, trial)
    return stored_plans.finished(options, request, trial, outcome, ceiling, others)


# --- candidates ------------------------------------------------------------------------------------------


def _offered(canonical: Canonical, options: Options, answer: Answer) -> Iterator[CpuPlan]:
    """Hints of the database first, then the model's ranking, or the paper's whole space."""
    if options.max_implementations == -1:
        return candidates.paper_space(canonical, options.target, options.forced)
    offered = ranked(canonical, options.target, options.threads, options.forced)
    return itertools.chain(stored_plans.hints(canonical, options, answer), offered)
