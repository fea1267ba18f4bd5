"""Plans and rows of the solutions database: what is asked for, what a row answers, what is stored of a search."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from ..errors import DatabaseError, PlanError
from ..lowering import plan as plans
from ..lowering.fallback import instead
from ..lowering.plan import CpuPlan
from ..lowering.plan_text import modern
from ..machine.target import Target
from ..problem.canonical import Canonical
from ..runtime import kernel
from ..runtime.once import once
from ..tuning import peak
from ..tuning.code import Objects
from ..tuning.database import Database, choose_path
from ..tuning.measurement import GIB, Measurement
from ..tuning.notices import warn_once
from ..tuning.peak import Ceiling
from ..tuning.records import Answer, Record, Request, Timing
from ..tuning.search import Outcome
from .options import Options
from .trial import Mode, Trial

_log = logging.getLogger(__name__)
STORED_TIMINGS = 50
PROXY = "proxy"  # a note of the database: timed on a stand-in; the bytes that it moves follow


@dataclass(frozen=True, slots=True)
class Planned:
    """The plan of a canonical form. measurement: None where nothing was timed; objects: its object code, if known, and
    that of plans that run instead of it elsewhere."""

    plan: CpuPlan
    measurement: Measurement | None = None
    objects: kernel.Objects = field(default_factory=dict)


@once
def _database(path: Path | None, ignore: bool) -> Database:
    return Database(path, read=not ignore)


def open_database(path: str | Path | None, ignore: bool = False) -> Database:
    """The solutions database at this path (None: TTC_DATABASE, else the user's cache directory).

    Where there is no place for one, it lasts as long as the process, and one line says so.
    """
    try:
        return _database(choose_path(path), ignore)
    except DatabaseError as error:
        warn_once(Path(), "place", f"{error}; new solutions last as long as this process")
        return _database(None, ignore)


def request(canonical: Canonical, options: Options) -> Request:
    """The row that these options ask for: all that a plan depends on, and the versions whose code can be linked."""
    forced = " ".join(filter(None, (str(options.forced), "" if options.verify else "unverified")))
    return Request(
        str(canonical), options.target.key, options.threads, options.mode.value, forced, kernel.versions()
    )


def stored(canonical: Canonical, options: Options, store: Database) -> Planned | None:
    """The database's answer, None where it knows nothing that suffices; nothing is compiled or timed."""
    answer = store.find(request(canonical, options), options.max_implementations)
    return answered(canonical, options, answer)


def answered(canonical: Canonical, options: Options, answer: Answer) -> Planned | None:
    """The plan of an answer; None where it does not suffice."""
    if not answer.sufficient or answer.record is None:
        return None
    return _known(canonical, options.mode, answer.record)


def _known(canonical: Canonical, mode: Mode, record: Record) -> Planned | None:
    """The stored plan and its object code, to be linked without optimisation; None if the row is unusable."""
    try:
        plan = plans.check(plans.parse(record.plan), canonical)
    except PlanError as error:
        _log.warning("a stored plan is ignored: %s", error)
        return None
    proxy = _proxy_bytes(record.note)
    measured = remembered(record, ceiling_of(canonical, mode).value, proxy or canonical.bytes_moved, bool(proxy))
    return Planned(plan, measured, _by_plan(str(plan), record.objects))


def code(canonical: Canonical, plan: CpuPlan, target: Target) -> kernel.Objects:
    """The object code that the user's database has of a plan, whatever asked for it."""
    found = open_database(None).code(str(canonical), target.key, str(plan), kernel.versions())
    return _by_plan(str(plan), found)


def _by_plan(plan: str, objects: Objects) -> dict[str, bytes]:
    return {plan if name == kernel.NAME else name: code for name, code in objects}


def remembered(record: Record, ceiling: str, bytes_moved: int, proxy: bool = False) -> Measurement | None:
    """The measurement of a row; None where nothing was timed. ceiling: the name of what results are compared with."""
    if record.seconds is None:
        return None
    timings = tuple((modern(t.plan), t.seconds) for t in record.timings)
    return measurement(ceiling, bytes_moved, record.seconds, record.ceiling_gibs, timings, proxy)


def hints(canonical: Canonical, options: Options, answer: Answer) -> Iterator[CpuPlan]:
    """Plans that won under other options; none where decisions are forced, which they need not follow."""
    if str(options.forced):
        return
    for text in answer.hints:
        try:
            yield plans.check(plans.parse(text), canonical).by_rule
        except PlanError:
            continue


def finished(
    options: Options, request: Request, trial: Trial, outcome: Outcome[CpuPlan, kernel.Kernel], ceiling: float,
    others: kernel.Objects,
) -> tuple[Planned, Record]:
    """The winner of a search and the row that remembers it. ceiling: GiB/s, 0 where it was not measured; others: code
    of what runs instead elsewhere."""
    plan, seconds = outcome.best.plan, outcome.best.best
    which = ceiling_of(trial.canonical, options.mode).value
    timings = tuple((str(timed.plan), timed.seconds) for timed in outcome.timings)
    measured = replace(
        measurement(which, trial.canonical.bytes_moved, seconds, ceiling or None, timings, trial.is_proxy),
        interrupted=outcome.interrupted,
    )
    objects = {} if trial.is_proxy else {str(plan): outcome.kernel.code, **others}
    effort = len(timings) if outcome.interrupted else options.max_implementations
    record = Record(
        request,
        max(effort, 1) if effort != -1 else -1,
        str(plan),
        seconds,
        tuple(Timing(*timing) for timing in timings[:STORED_TIMINGS]),
        named(plan, objects),
        ceiling_gibs=ceiling or None,
        note=f"{PROXY} {trial.canonical.bytes_moved}" if trial.is_proxy else "",
    )
    return Planned(plan, measured, objects), record


def named(plan: CpuPlan, objects: kernel.Objects) -> Objects:
    """Objects as a row has them: the plan's own under a name for all plans."""
    return tuple((kernel.NAME if name == str(plan) else name, code) for name, code in objects.items())


def elsewhere(outcome: Outcome[CpuPlan, kernel.Kernel], trial: Trial) -> dict[str, bytes]:
    """Object code of what runs instead of the winner where memory begins as NumPy's does: later processes only link it.
    None of a stand-in's, and none where the search was interrupted."""
    if trial.is_proxy or outcome.interrupted:
        return {}
    canonical, target = trial.canonical, trial.target
    return fallback_code(canonical, outcome.best.plan, target)


def fallback_code(canonical: Canonical, plan: CpuPlan, target: Target) -> dict[str, bytes]:
    """Object code of the plan's fallbacks, by name."""
    return {
        kernel.name_of(one.plan, one.loads): kernel.cache.obtain(canonical, one.plan, target, None, one.loads).code
        for one in instead(canonical, plan, target)
    }


def _proxy_bytes(note: str) -> int | None:
    """The bytes that a stand-in's timed runs moved, from its record's note."""
    word, _, count = note.partition(" ")
    return int(count) if word == PROXY and count.isdecimal() else None


def ceiling_of(canonical: Canonical, mode: Mode) -> Ceiling:
    """The ceiling that results are compared with."""
    return peak.of(canonical, hot=mode is Mode.HOT)


def measurement(
    ceiling: str,
    bytes_moved: int,
    seconds: float,
    ceiling_gibs: float | None,
    timings: tuple[tuple[str, tuple[float, ...]], ...],
    proxy: bool = False,
) -> Measurement:
    """A best time with all that were taken, beside a ceiling of that name."""
    return Measurement(seconds, bytes_moved / seconds / GIB, ceiling_gibs, ceiling, timings, proxy)
