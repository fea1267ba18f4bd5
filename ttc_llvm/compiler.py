"""The compiler: one function that lists the stages in order."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from . import kernel
from . import plan as plans
from .canonical import Canonical, canonicalise
from .errors import OptionError, PlanError, ProblemError
from .gpu.target import GpuTarget, is_gpu
from .machines import Wanted
from .options import MAX_IMPLEMENTATIONS, Options, checked
from .plan import CpuPlan
from .problem import Problem
from .solution import GIB, Measurement, Solution
from .target import Target
from .trial import Mode, Trial, check_runs_here
from .tuning import candidates, neighbours, peak
from .tuning.choices import FREE, Forced
from .tuning.database import Database, choose_path
from .tuning.gpu_candidates import GpuForced
from .tuning.model import model_plan, ranked
from .tuning.peak import Ceiling
from .tuning.records import Answer, Record, Request, Timing
from .tuning.search import Limits, Outcome, Report, search

_log = logging.getLogger(__name__)
STORED_TIMINGS = 50
PROXY = "proxy"  # a note of the database: timed on a stand-in; the bytes that it moves follow


@dataclass(frozen=True, slots=True)
class Planned:
    """The plan of a canonical form. measurement: None where nothing was timed; code: its object code, if known."""

    plan: CpuPlan
    measurement: Measurement | None = None
    code: bytes | None = None


def compile(
    problem: Problem,
    max_implementations: int = MAX_IMPLEMENTATIONS,
    threads: int | None = None,
    target: Wanted | GpuTarget = None,
    time_limit: float | None = None,
    *,
    hot_a: bool = False,
    hot_b: bool = False,
    verify: bool = True,
    forced: Forced | GpuForced = FREE,
    database: str | Path | None = None,
    ignore_database: bool = False,
    progress: Report | None = None,
) -> Any:
    """The best solution for a problem: from the database, from the cost model, or by timing candidates.

    max_implementations: candidates to consider, 1 = cost model only, nothing is timed, -1 = the paper's whole space;
    threads: by default `ttc_llvm.set_num_threads`, OMP_NUM_THREADS or the CPUs at hand; target: a CPU, an
    architecture or several (see `machines.chosen`), by default this machine, and others of its kind by objects;
    time_limit: seconds of tuning; hot_a, hot_b: tensors that are in the caches when a run starts; verify: check the
    winner's result, every element; forced: decisions already taken; database: path of the solutions database;
    ignore_database: do not look there (the result is still stored).
    Ctrl-C during tuning keeps the best so far. Raises TtcError subclasses with one sentence.
    The result is a Solution; for a GPU ("cuda", "sm_90", "gfx90a", ...) it is a GpuSolution: there, nothing but timing
    needs a device, threads has no meaning, and forced is a GpuForced.
    """
    if not isinstance(problem, Problem):
        raise ProblemError(f"there is a {type(problem).__name__} to compile: it must be a ttc_llvm.Problem")
    if isinstance(target, GpuTarget) or (isinstance(target, str) and is_gpu(target)):
        from .gpu import compiling

        return compiling.compile(
            problem, max_implementations, target, time_limit, Mode.of(hot_a, hot_b), verify=verify, forced=forced,
            database=database, ignore_database=ignore_database, progress=progress,
        )  # fmt: skip
    if isinstance(forced, GpuForced):
        raise OptionError(f"decisions {forced} are a GPU's: the target is a CPU")
    options = checked(
        max_implementations, threads, target, time_limit, Mode.of(hot_a, hot_b), verify=verify, forced=forced
    )
    store = open_database(database, ignore_database)
    canonical = canonicalise(problem).canonical
    found = plan_canonical(canonical, options, (problem.alpha, problem.beta), store, progress)
    return Solution(
        problem, options.target, found.plan, options.threads, found.measurement, found.code, options.others
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
    request = _request(canonical, options)
    answer = store.find(request, options.max_implementations)
    known = _answered(canonical, options, answer)
    if known is not None:
        return known
    if options.max_implementations == 1 or canonical.elements == 0:
        found, record = _modelled(canonical, options, request)
    else:
        found, record = _tuned(canonical, options, scalars, request, answer, progress)
    store.store(record)
    return found


def stored(canonical: Canonical, options: Options, store: Database) -> Planned | None:
    """What the database answers with, None where it knows nothing that suffices; nothing is compiled or timed."""
    answer = store.find(_request(canonical, options), options.max_implementations)
    return _answered(canonical, options, answer)


def _answered(canonical: Canonical, options: Options, answer: Answer) -> Planned | None:
    if not answer.sufficient or answer.record is None:
        return None
    return _known(canonical, options.mode, answer.record)


@lru_cache(maxsize=16)
def _database(path: Path, ignore: bool) -> Database:
    return Database(path, read=not ignore)


def open_database(path: str | Path | None, ignore: bool = False) -> Database:
    """The solutions database at this path (None: TTC_DATABASE, else the user's cache directory)."""
    return _database(choose_path(path), ignore)


def _request(canonical: Canonical, options: Options) -> Request:
    forced = " ".join(filter(None, (str(options.forced), "" if options.verify else "unverified")))
    return Request(
        str(canonical), options.target.key, options.threads, options.mode.value, forced, kernel.versions()
    )


# --- the three sources of a plan ------------------------------------------------------------------------


def _known(canonical: Canonical, mode: Mode, record: Record) -> Planned | None:
    """The stored plan and its object code, to be linked without optimisation; None if the row is unusable."""
    try:
        plan = plans.check(plans.parse(record.plan), canonical)
    except PlanError as error:
        _log.warning("a stored plan is ignored: %s", error)
        return None
    measured = None
    if record.seconds is not None:
        timings = tuple((t.plan, t.seconds) for t in record.timings)
        bytes_moved = _proxy_bytes(record.note)
        measured = _measurement(
            _ceiling(canonical, mode),
            bytes_moved or canonical.bytes_moved,
            record.seconds,
            record.ceiling_gibs,
            timings,
            bool(bytes_moved),
        )
    return Planned(plan, measured, dict(record.objects).get(kernel.NAME))


def _modelled(canonical: Canonical, options: Options, request: Request) -> tuple[Planned, Record]:
    plan = model_plan(canonical, options.target, options.threads, options.forced)
    code = kernel.cache.obtain(canonical, plan, options.target).code if _runs(options.target) else b""
    objects = ((kernel.NAME, code),) if code else ()
    return Planned(plan, None, code or None), Record(request, 1, str(plan), objects=objects)


def _runs(target: Target) -> bool:
    from . import backend

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
    which = _ceiling(canonical, options.mode)
    ceiling = trial.ceiling(which)
    outcome = search(
        _offered(canonical, options, answer),
        lambda plan: neighbours.neighbours(canonical, options.target, options.forced, plan),
        trial,
        Limits(options.max_implementations, options.time_limit, options.verify),
        progress,
        trial.seconds_alone if options.threads > 1 and options.mode is not Mode.HOT else None,
    )
    with suppress(KeyboardInterrupt):  # the search is over, and its result is kept
        ceiling = max(ceiling, trial.ceiling(which))
    return _finished(options, request, trial, outcome, ceiling)


def _finished(
    options: Options, request: Request, trial: Trial, outcome: Outcome[CpuPlan, kernel.Kernel], ceiling: float
) -> tuple[Planned, Record]:
    plan, seconds = outcome.best.plan, outcome.best.best
    which = _ceiling(trial.canonical, options.mode)
    timings = tuple((str(timed.plan), timed.seconds) for timed in outcome.timings)
    measured = replace(
        _measurement(which, trial.canonical.bytes_moved, seconds, ceiling or None, timings, trial.is_proxy),
        interrupted=outcome.interrupted,
    )
    code = None if trial.is_proxy else outcome.kernel.code
    effort = len(timings) if outcome.interrupted else options.max_implementations
    record = Record(
        request,
        max(effort, 1) if effort != -1 else -1,
        str(plan),
        seconds,
        tuple(Timing(*timing) for timing in timings[:STORED_TIMINGS]),
        ((kernel.NAME, code),) if code else (),
        ceiling_gibs=ceiling or None,
        note=f"{PROXY} {trial.canonical.bytes_moved}" if trial.is_proxy else "",
    )
    return Planned(plan, measured, code), record


def _proxy_bytes(note: str) -> int | None:
    """The bytes that a stand-in's timed runs moved, from its record's note."""
    word, _, count = note.partition(" ")
    return int(count) if word == PROXY and count.isdecimal() else None


def _ceiling(canonical: Canonical, mode: Mode) -> Ceiling:
    return peak.of(canonical, hot=mode is Mode.HOT)


def _measurement(
    which: Ceiling,
    bytes_moved: int,
    seconds: float,
    ceiling: float | None,
    timings: tuple[tuple[str, tuple[float, ...]], ...],
    proxy: bool = False,
) -> Measurement:
    gibs = bytes_moved / seconds / GIB
    return Measurement(seconds, gibs, ceiling, which.value, timings, proxy)


# --- candidates ------------------------------------------------------------------------------------------


def _offered(canonical: Canonical, options: Options, answer: Answer) -> Iterator[CpuPlan]:
    """Hints of the database first, then the model's ranking, or the paper's whole space."""
    if options.max_implementations == -1:
        return candidates.paper_space(canonical, options.target, options.forced)
    offered = ranked(canonical, options.target, options.threads, options.forced)
    return itertools.chain(_hints(canonical, options, answer), offered)


def _hints(canonical: Canonical, options: Options, answer: Answer) -> Iterator[CpuPlan]:
    if str(options.forced):
        return
    for text in answer.hints:
        try:
            yield plans.check(plans.parse(text), canonical)
        except PlanError:
            continue
