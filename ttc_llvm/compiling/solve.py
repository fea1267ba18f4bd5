"""One loop for CPUs and GPUs: look a plan up, take the cost model's, or search; verify; store.

What differs between them is a `Task`, and while plans are timed, its `Bench` (`task.py`).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from contextlib import suppress

from ..errors import GpuError, PlanError, TargetError
from ..lazy_dataclasses import replace
from ..logs import Log
from ..tuning.database import answers
from ..tuning.database.database import Database
from ..tuning.database.records import Answer, Record, Request, covers
from ..tuning.search.leaderboard import K, P
from ..tuning.search.progress import COMPILING, PLANNING, WRITING, Report
from .stored_plans import Circumstances, Planned, by_plan, named
from .task import Task
from .trial import Mode
from .tuned import tell, tuned

_log = Log(__name__)
UNVERIFIED = "unverified"  # of a request's options: the winner was not checked


def solve(task: Task[P, K], store: Database, progress: Report | None = None) -> Planned[P]:
    """The best plan: from the database, from the cost model, or by timing candidates. What is found is stored. What was
    found while the machine was busy is timed again, a few times."""
    asked, request = task.asked, request_of(task)
    _log.info("merged problem: %s", task.canonical)
    _log.info("target %s, threads %d, caches %s", asked.target, asked.threads, asked.mode.value)
    if asked.plan is not None:
        return _given(task, request, asked.plan, progress)
    answer = store.find(request, asked.max_implementations)
    known = _answered(task, answer)
    if known is not None and answer.record is not None:
        _log.info("stored solution %s, of effort %d, answers: %s", request.id[:10], answer.record.effort, known.plan)
        return _retimed(task, store, answer.record, progress) or _completed(task, store, answer.record, known)
    if answer.sufficient and answer.record is not None:
        store.refuse(answer.record)
    if asked.max_implementations == 1 or task.canonical.elements == 0:
        found, record = _modelled(task, store, request, answer, progress)
    else:
        found, record = tuned(task, request, _plans(task, answer.hints), progress)
    tell(progress, task, WRITING, found.measurement)
    store.store(record, soon=record.seconds is None)
    return found


def stored(task: Task[P, K], store: Database) -> Planned[P] | None:
    """The database's answer, None where it knows nothing that suffices; nothing is compiled or timed."""
    return _answered(task, store.find(request_of(task), task.asked.max_implementations))


def request_of(task: Task[P, K]) -> Request:
    """The row that a task asks for: all that a plan depends on, and the versions whose code can be linked."""
    asked = task.asked
    forced = " ".join(filter(None, (str(asked.forced), "" if asked.verify else UNVERIFIED)))
    key = str(task.canonical), asked.target.key, asked.threads, asked.mode.value, forced
    return Request(*key, task.versions, task.kind)


# --- what the database knows -----------------------------------------------------------------------------


def _answered(task: Task[P, K], answer: Answer) -> Planned[P] | None:
    """The stored plan and its code, to be linked without optimisation; None where it does not suffice or fit."""
    plan, record = answers.planned(answer, task.parsed), answer.record
    if plan is None or record is None:
        return None
    objects = by_plan(plan, record.objects)
    if record.seconds is None:
        return Planned(plan, None, objects)
    here = Circumstances.of(record.note, task.canonical.bytes_moved)
    return Planned(plan, here.measured(record, record.seconds, task.ceiling(here.place)), objects)


def _completed(task: Task[P, K], store: Database, record: Record, known: Planned[P]) -> Planned[P]:
    """A known plan with its code. What the database has no code of for this program, or none that may be linked, is
    built anew if later processes will find it; where they will not, calls compile what they need."""
    if known.objects or not store.keeps_code:
        return known
    objects = task.code(known.plan)
    if not objects:
        return known
    if known.measurement is not None:
        objects = {**objects, **task.fallback_code(known.plan)}
    store.keep(replace(record, objects=named(known.plan, objects)))
    return replace(known, objects=objects)


def _plans(task: Task[P, K], texts: Iterable[str]) -> Iterator[P]:
    """Plans that were found under other options; none where decisions are forced, which they need not follow."""
    for text in () if str(task.asked.forced) else texts:
        with suppress(PlanError):
            yield task.parsed(text)


def _given(task: Task[P, K], request: Request, text: str, progress: Report | None) -> Planned[P]:
    """The plan of this text, timed unless one candidate was asked for. The database is neither asked nor told: what a
    search has found is better founded than whatever somebody tries. PlanError where the plan does not fit."""
    plan = task.parsed(text)
    if task.asked.max_implementations == 1 or task.canonical.elements == 0:
        tell(progress, task, COMPILING)
        return Planned(plan, None, task.code(plan))
    found, _ = tuned(task, request, iter(()), progress)
    return found


# --- the two sources of a new plan ----------------------------------------------------------------------


def _modelled(
    task: Task[P, K], store: Database, request: Request, answer: Answer, progress: Report | None
) -> tuple[Planned[P], Record]:
    """A plan that has won a search in like circumstances, or the cost model's first."""
    may_exist = answer.sufficient or answer.hints or store.has_unwritten  # else no row of this problem is there
    proven = _proven(store, request) if may_exist else ()
    tell(progress, task, PLANNING)
    plan = next(_plans(task, proven), None) or task.modelled()
    _log.info("nothing is timed; a proven plan, or the cost model's: %s", plan)
    tell(progress, task, COMPILING)
    objects = task.code(plan)
    return Planned(plan, None, objects), Record(request, 1, str(plan), objects=named(plan, objects), extra=task.extra)


def _proven(store: Database, request: Request) -> Iterator[str]:
    """Winners of searches whose decisions were free, on as many threads, in this mode or with cold caches, of which
    alone the cost model knows."""
    modes = dict.fromkeys((request.mode, Mode.COLD.value))
    for mode, options in itertools.product(modes, ("", UNVERIFIED)):
        record = store.find(replace(request, mode=mode, options=options), 1).record
        if record is not None and record.seconds is not None:
            yield record.plan


# --- what was found on a busy machine -------------------------------------------------------------------


def _retimed(task: Task[P, K], store: Database, known: Record, progress: Report | None) -> Planned[P] | None:
    """A provisional solution timed again: its candidates first, then others up to what is asked for. None where it is
    well founded, was timed often enough, or nothing is timed here."""
    if not known.is_due or task.asked.max_implementations == 1:
        return None
    try:
        found, record = tuned(task, request_of(task), _known(task, known), progress)
    except (TargetError, GpuError) as error:
        _log.info("a provisional solution answers: %s", error)
        return None
    measured = found.measurement
    if measured is not None and not measured.interrupted:
        effort = known.effort if covers(known.effort, record.effort) else record.effort
        again = known.provisional + 1 if record.provisional else 0
        record = replace(record, effort=effort, provisional=again)
        found = replace(found, measurement=replace(measured, provisional=again))
    tell(progress, task, WRITING, found.measurement)
    store.store(record)
    return found


def _known(task: Task[P, K], record: Record) -> Iterator[P]:
    """The plans that a row has timings of, the winner first."""
    for text in dict.fromkeys((record.plan, *(timing.plan for timing in record.timings))):
        with suppress(PlanError):
            yield task.parsed(text)
