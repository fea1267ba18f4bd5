"""One loop for CPUs and GPUs: look a plan up, take the cost model's, or search; verify; store.

What differs between them is a `Task`, and while plans are timed, its `Bench`.
"""

from __future__ import annotations

import itertools
import logging
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, replace
from typing import Generic, Protocol

from ..errors import PlanError
from ..lowering.plan_text import modern
from ..problem.canonical import Canonical
from ..runtime.kernel import Objects
from ..tuning.database.database import Database
from ..tuning.database.records import Answer, Record, Request, Timing
from ..tuning.measurement import Measurement
from ..tuning.search.leaderboard import K, P, Subject
from ..tuning.search.search import Diverse, Limits, Outcome, Phase, Progress, Report, search
from .options import Asked
from .stored_plans import Circumstances, Planned, by_plan, named
from .trial import Mode

_log = logging.getLogger(__name__)
STORED_TIMINGS = 50
UNVERIFIED = "unverified"  # of a request's options: the winner was not checked


class Bench(Subject[P, K], Protocol[P, K]):
    """The subject of a search, with its tensors. canonical: the form that is timed."""

    canonical: Canonical

    @property
    def circumstances(self) -> Circumstances:
        """The device, what a run moves, and whether it is a smaller stand-in's."""

    @property
    def alone(self) -> Callable[[K], float] | None:
        """The function that times a run on one thread; None where only runs on all threads count."""

    def ceiling(self) -> float:
        """GiB/s of the same bytes without a permutation, 0 where that cannot be measured."""

    def decided(self, outcome: Outcome[P, K], limits: Limits) -> Outcome[P, K]:
        """The outcome, whose winner has what a search does not decide."""


@dataclass(frozen=True, slots=True)
class Candidates(Generic[P]):
    """The plans of a search: offered in this order, what to try after a fast one, and diversity seeds."""

    offered: Iterable[P]
    more: Callable[[P], Iterable[P]]
    diverse: Diverse[P]


class Task(Protocol[P, K]):
    """A canonical form to be planned for a machine."""

    @property
    def canonical(self) -> Canonical:
        """The form."""

    @property
    def asked(self) -> Asked:
        """The options of the search."""

    @property
    def versions(self) -> str:
        """The versions that its code depends on."""

    @property
    def extra(self) -> str:
        """Further facts of a row of the database: a JSON object."""

    def ceiling(self, place: str) -> str:
        """The name of what results are compared with. place: of the bench."""

    def parsed(self, text: str) -> P:
        """The plan of this text; PlanError where it does not fit."""

    def modelled(self) -> P:
        """The cost model's first choice."""

    def candidates(self, timed: Canonical, hints: Iterator[P]) -> Candidates[P]:
        """The plans that a search tries, hints first. timed: the form that is, which plans have to fit, too."""

    def bench(self) -> AbstractContextManager[Bench[P, K]]:
        """The place where plans are timed; TtcError, in a sentence, where they cannot be."""

    def code(self, plan: P, built: K | None = None) -> Objects:
        """The code of a plan, compiled unless it is built; none where this machine neither runs nor keeps it."""

    def fallback_code(self, plan: P) -> Objects:
        """The code of the fallback plans for the usual addresses of arrays."""


def solve(task: Task[P, K], store: Database, progress: Report | None = None) -> Planned[P]:
    """The best plan: from the database, from the cost model, or by timing candidates. What is found is stored."""
    asked, request = task.asked, request_of(task)
    _log.info("merged problem: %s", task.canonical)
    _log.info("target %s, threads %d, caches %s", asked.target, asked.threads, asked.mode.value)
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
    _tell(progress, task, Phase.WRITING, found.measurement)
    store.store(record)
    return found


def _tell(progress: Report | None, task: Task[P, K], phase: Phase, measured: Measurement | None = None) -> None:
    """Say what comes next. measured: of a search that is over."""
    if progress is not None:
        done, best = (0, None) if measured is None else (len(measured.timings), measured.seconds)
        progress(Progress(done, task.asked.max_implementations, best, phase))


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


# --- the two sources of a new plan ----------------------------------------------------------------------


def _modelled(
    task: Task[P, K], store: Database, request: Request, answer: Answer, progress: Report | None
) -> tuple[Planned[P], Record]:
    """A plan that has won a search in like circumstances, or the cost model's first."""
    may_exist = answer.sufficient or answer.hints or store.has_unwritten  # else no row of this problem is there
    proven = _proven(store, request) if may_exist else ()
    _tell(progress, task, Phase.PLANNING)
    plan = next(_plans(task, proven), None) or task.modelled()
    _log.info("nothing is timed; a proven plan, or the cost model's: %s", plan)
    _tell(progress, task, Phase.COMPILING)
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
    _tell(progress, task, Phase.PLANNING)
    with task.bench() as bench:
        here = bench.circumstances
        if here.proxy:
            room = f"the memory of {here.place}" if here.place else "memory three times"
            _log.warning(
                "the tensors do not fit in %s: tuned on a smaller stand-in with the same strides' low bits", room
            )
        ceiling = bench.ceiling()
        began, limits = time.monotonic(), Limits(asked.max_implementations, asked.time_limit, asked.verify)
        found = task.candidates(bench.canonical, _plans(task, answer.hints))
        outcome = search(found.offered, found.more, bench, limits, progress, bench.alone, found.diverse)
        fallbacks: Objects = {}
        with suppress(KeyboardInterrupt):  # the search is over, and its result is kept
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
