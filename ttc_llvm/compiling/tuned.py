"""A search on a task's bench, while the machine's speed is watched, and the row that remembers its winner."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from ..lazy_dataclasses import replace
from ..logs import Log
from ..runtime.kernel import Objects
from ..tuning.database.records import TIMED, Record, Request, Timing
from ..tuning.measurement import GIB, Measurement
from ..tuning.search.leaderboard import K, P
from ..tuning.search.progress import PLANNING, Progress, Report
from ..tuning.search.search import Limits, Outcome, search
from ..tuning.search.speed import SpeedLog
from .stored_plans import Circumstances, Planned, named
from .task import Candidates, Task

_log = Log(__name__)
STORED_TIMINGS = 50


def tell(progress: Report | None, task: Task[P, K], phase: str, measured: Measurement | None = None) -> None:
    """Say what comes next. measured: of a search that is over."""
    if progress is not None:
        done, best = (0, None) if measured is None else (len(measured.timings), measured.seconds)
        progress(Progress(done, total(task), best, phase))


def total(task: Task[P, K]) -> int:
    """The plans to be considered, -1 = all that there are."""
    return task.asked.max_implementations if task.asked.plan is None else 1


def _offered(task: Task[P, K], timed: Any, hints: Iterator[P]) -> Candidates[P]:
    """What a search tries: the plan that was given, or the task's candidates."""
    if task.asked.plan is None:
        return task.candidates(timed, hints)
    return Candidates((task.parsed(task.asked.plan),), lambda _: (), lambda _: None)


def tuned(
    task: Task[P, K], request: Request, hints: Iterator[P], progress: Report | None
) -> tuple[Planned[P], Record]:
    """The fastest plan of a search, verified, and the row that remembers it. hints: plans that are tried first."""
    asked = task.asked
    tell(progress, task, PLANNING)
    with task.bench() as bench:
        here = bench.circumstances
        if here.proxy:
            room = f"the memory of {here.place}" if here.place else "memory three times"
            _log.warning(
                "the tensors do not fit in %s: tuned on a smaller stand-in with the same strides' low bits", room
            )
        speed = SpeedLog(bench.samplers(), bench.waited)
        speed.measure()
        began, limits = time.monotonic(), Limits(total(task), asked.time_limit, asked.verify)
        found = _offered(task, bench.canonical, hints)
        report = _watching(speed, progress)
        outcome = search(found.offered, found.more, bench, limits, report, bench.alone, found.diverse)
        fallbacks: Objects = {}
        with suppress(KeyboardInterrupt):  # the search is over, and its result is kept
            if asked.plan is None:
                outcome = bench.decided(outcome, limits.after(time.monotonic() - began))
            speed.measure()
            fallbacks = {} if here.proxy or outcome.interrupted else task.fallback_code(outcome.best.plan)
    _log.info("ceiling %.4g GiB/s; winner of %d: %s", speed.ceiling or 0.0, len(outcome.timings), outcome.best.plan)
    objects = {} if here.proxy else {**task.code(outcome.best.plan, outcome.kernel), **fallbacks}
    return _finished(task, request, outcome, here, speed, objects)


def _watching(speed: SpeedLog, progress: Report | None) -> Report:
    """What a search calls between batches: it looks at the machine's speed."""

    def report(found: Progress) -> None:
        speed.glance()
        if progress is not None:
            progress(found)

    return report


def _finished(
    task: Task[P, K],
    request: Request,
    outcome: Outcome[P, K],
    here: Circumstances,
    speed: SpeedLog,
    objects: Objects,
) -> tuple[Planned[P], Record]:
    plan, seconds = outcome.best.plan, outcome.best.best
    timings = tuple((str(timed.plan), timed.seconds) for timed in outcome.timings)
    effort = max(len(timings), 1) if outcome.interrupted else task.asked.max_implementations
    row = Record(
        request, effort, str(plan), seconds, tuple(Timing(*timing) for timing in timings[:STORED_TIMINGS]),
        named(plan, objects), ceiling_gibs=speed.ceiling, note=here.note,
        provisional=int(speed.is_busy(here.bytes_moved / seconds / GIB)),
        extra=json.dumps(json.loads(task.extra) | {TIMED: len(timings)}),
    )  # fmt: skip
    measured = here.measured(row, seconds, task.ceiling(here.place))
    return Planned(plan, replace(measured, timings=timings, interrupted=outcome.interrupted), objects), row
