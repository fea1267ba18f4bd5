"""One loop for CPUs and GPUs: look a plan up, take the cost model's, or search; verify; store.

What differs between them is a `Task`, and while plans are timed, its `Bench` (`task.py`).
"""

from __future__ import annotations

import itertools
import logging
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace

from ..errors import PlanError
from ..lowering.plan_text import modern
from ..problem.canonical import Canonical
from ..runtime.kernel import Objects
from ..tuning.database.database import Database
from ..tuning.database.records import Answer, Record, Request, Timing
from ..tuning.measurement import Measurement
from ..tuning.search.leaderboard import K, P
from ..tuning.search.progress import COMPILING, PLANNING, WRITING, Progress, Report
from ..tuning.search.search import Limits, Outcome, search
from .stored_plans import Circumstances, Planned, by_plan, named
from .task import Candidates, Task
from .trial import Mode

_log = logging.getLogger(__name__)
STORED_TIMINGS = 50
UNVERIFIED = "unverified"  # of a request's options: the winner was not checked


def solve(task: Task[P, K], store: Database, progress: Report | None = None) -> Planned[P]:
    """The best plan: from the database, from the cost model, or by timing candidates. What is found is stored."""
    asked, request = task.asked, request_of(task)
    _log.info("merged problem: %s", task.canonical)
    _log.info("target %s, threads %d, caches %s", asked.target, asked.threads, asked.mode.value)
    if asked.plan is not None:
        return _given(task, request, asked.plan, progress)
    answer = store.find(request, asked.max_implementations)
    known = _answered(task, answer)
    if known is not None and answer.record is not None:
        _log.info("stored solution %s, of effort %d, answers: %s", request.id[:10], answer.record.effort, known.plan)
        return _completed(task, store, answer.record, known)
    if answer.sufficient and answer.record is not None:
        store.refuse(answer.record)
    if asked.max_implementations == 1 or task.canonical.elements == 0:
        found, record = _modelled(task, store, request, answer, progress)
    else:
        found, record = _tuned(task, request, answer, progress)
    _tell(progress, task, WRITING, found.measurement)
    store.store(record)
    return found


def _tell(progress: Report | None, task: Task[P, K], phase: str, measured: Measurement | None = None) -> None:
    """Say what comes next. measured: of a search that is over."""
    if progress is not None:
        done, best = (0, None) if measured is None else (len(measured.timings), measured.seconds)
        progress(Progress(done, _total(task), best, phase))


def _total(task: Task[P, K]) -> int:
    """The plans to be considered, -1 = all that there are."""
    return task.asked.max_implementations if task.asked.plan is None else 1


def stored(task: Task[P, K], store: Database) -> Planned[P] | None:
    """The database's answer, None where it knows nothing that suffices; nothing is compiled or timed."""
    return _answered(task, store.find(request_of(task), task.asked.max_implementations))


def request_of(task: Task[P, K]) -> Request:
    """The row that a task asks for: all that a plan depends on, and the versions whose code can be linked."""
    asked = task.asked
    forced = " ".join(filter(None, (str(asked.forced), "" if asked.verify else UNVERIFIED)))
    return Request(str(task.canonical), asked.target.key, asked.threads, asked.mode.value, forced, task.versions)


# --- what the database knows -----------------------------------------------------------------------------


def _answered(task: Task[P, K], answer: Answer) -> Planned[P] | None:
    """The stored plan and its code, to be linked without optimisation; None where it does not suffice or fit."""
    record = answer.record
    if not answer.sufficient or record is None:
        return None
    try:
        plan = task.parsed(record.plan)
    except PlanError as error:
        _log.warning("a stored plan is ignored: %s", error)
        return None
    objects = by_plan(plan, record.objects)
    if record.seconds is None:
        return Planned(plan, None, objects)
    here, timings = Circumstances.of(record.note, task.canonical.bytes_moved), record.timings
    ceiling = task.ceiling(here.place), record.ceiling_gibs
    measured = here.measured(record.seconds, ceiling, tuple((modern(one.plan), one.seconds) for one in timings))
    return Planned(plan, measured, objects)


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
        _tell(progress, task, COMPILING)
        return Planned(plan, None, task.code(plan))
    found, _ = _tuned(task, request, Answer(), progress)
    return found


def _offered(task: Task[P, K], timed: Canonical, hints: Iterator[P]) -> Candidates[P]:
    """What a search tries: the plan that was given, or the task's candidates."""
    if task.asked.plan is None:
        return task.candidates(timed, hints)
    return Candidates((task.parsed(task.asked.plan),), lambda _: (), lambda _: None)


# --- the two sources of a new plan ----------------------------------------------------------------------


def _modelled(
    task: Task[P, K], store: Database, request: Request, answer: Answer, progress: Report | None
) -> tuple[Planned[P], Record]:
    """A plan that has won a search in like circumstances, or the cost model's first."""
    may_exist = answer.sufficient or answer.hints or store.has_unwritten  # else no row of this problem is there
    proven = _proven(store, request) if may_exist else ()
    _tell(progress, task, PLANNING)
    plan = next(_plans(task, proven), None) or task.modelled()
    _log.info("nothing is timed; a proven plan, or the cost model's: %s", plan)
    _tell(progress, task, COMPILING)
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


def _tuned(
    task: Task[P, K], request: Request, answer: Answer, progress: Report | None
) -> tuple[Planned[P], Record]:
    """The fastest plan of a search, verified."""
    asked = task.asked
    _tell(progress, task, PLANNING)
    with task.bench() as bench:
        here = bench.circumstances
        if here.proxy:
            room = f"the memory of {here.place}" if here.place else "memory three times"
            _log.warning(
                "the tensors do not fit in %s: tuned on a smaller stand-in with the same strides' low bits", room
            )
        ceiling = bench.ceiling()
        began, limits = time.monotonic(), Limits(_total(task), asked.time_limit, asked.verify)
        found = _offered(task, bench.canonical, _plans(task, answer.hints))
        outcome = search(found.offered, found.more, bench, limits, progress, bench.alone, found.diverse)
        fallbacks: Objects = {}
        with suppress(KeyboardInterrupt):  # the search is over, and its result is kept
            if asked.plan is None:
                outcome = bench.decided(outcome, limits.after(time.monotonic() - began))
            ceiling = max(ceiling, bench.ceiling())
            fallbacks = {} if here.proxy or outcome.interrupted else task.fallback_code(outcome.best.plan)
    _log.info("ceiling %.4g GiB/s; winner of %d: %s", ceiling, len(outcome.timings), outcome.best.plan)
    objects = {} if here.proxy else {**task.code(outcome.best.plan, outcome.kernel), **fallbacks}
    return _finished(task, request, outcome, here, ceiling or None, objects)


def _finished(
    task: Task[P, K],
    request: Request,
    outcome: Outcome[P, K],
    here: Circumstances,
    ceiling: float | None,
    objects: Objects,
) -> tuple[Planned[P], Record]:
    """The winner of a search and the row that remembers it. ceiling: GiB/s."""
    plan, seconds, wanted = outcome.best.plan, outcome.best.best, task.asked.max_implementations
    timings = tuple((str(timed.plan), timed.seconds) for timed in outcome.timings)
    measured = replace(
        here.measured(seconds, (task.ceiling(here.place), ceiling), timings), interrupted=outcome.interrupted
    )
    effort = max(len(timings), 1) if outcome.interrupted else wanted
    kept = tuple(Timing(*timing) for timing in timings[:STORED_TIMINGS])
    row = Record(
        request, effort, str(plan), seconds, kept, named(plan, objects),
        ceiling_gibs=ceiling, note=here.note, extra=task.extra,
    )  # fmt: skip
    return Planned(plan, measured, objects), row
