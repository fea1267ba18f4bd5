"""The compiler: one function that lists the stages in order."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from . import kernel, runtime
from . import plan as plans
from .canonical import Canonical, canonicalise
from .errors import OptionError, PlanError
from .plan import CpuPlan
from .problem import Problem
from .solution import GIB, Measurement, Solution
from .target import Target
from .trial import Mode, Trial, check_runs_here
from .tuning import candidates, cost, peak
from .tuning.candidates import Forced
from .tuning.database import Database, choose_path
from .tuning.records import Answer, Record, Request, Timing
from .tuning.search import Limits, Outcome, Report, search

_log = logging.getLogger(__name__)
MAX_IMPLEMENTATIONS = 200
STORED_TIMINGS = 50


@dataclass(frozen=True, slots=True)
class Options:
    """Everything that steers a compilation, checked.

    max_implementations: plans to consider; 1 = the cost model alone, nothing is timed; -1 = the paper's whole space;
    time_limit: seconds of search; forced: decisions taken by the user; verify: check the finalists.
    """

    target: Target
    threads: int
    max_implementations: int = MAX_IMPLEMENTATIONS
    time_limit: float | None = None
    mode: Mode = Mode.COLD
    verify: bool = True
    forced: Forced = Forced()


def compile(
    problem: Problem,
    max_implementations: int = MAX_IMPLEMENTATIONS,
    threads: int | None = None,
    target: Target | str | None = None,
    time_limit: float | None = None,
    *,
    hot_a: bool = False,
    hot_b: bool = False,
    verify: bool = True,
    forced: Forced = Forced(),
    database: str | Path | None = None,
    ignore_database: bool = False,
    progress: Report | None = None,
) -> Solution:
    """The best solution for a problem: from the database, from the cost model, or by timing candidates.

    max_implementations: candidates to consider, 1 = cost model only, nothing is timed, -1 = the paper's whole space;
    threads: by default `ttc_llvm.set_num_threads`, OMP_NUM_THREADS or the CPUs at hand; target: a CPU or
    architecture name, by default this machine; time_limit: seconds of tuning; hot_a, hot_b: tensors that are in
    the caches when a run starts; verify: check the winner's result, every element; forced: decisions already taken;
    database: path of the solutions database; ignore_database: do not look there (the result is still stored).
    Ctrl-C during tuning keeps the best so far. Raises TtcError subclasses with one sentence.
    """
    from . import backend

    options = Options(
        backend.resolve(target),
        _threads(threads),
        _candidates(max_implementations),
        _time_limit(time_limit),
        Mode.of(hot_a, hot_b),
        verify,
        forced,
    )
    store = open_database(database, ignore_database)
    canonical = canonicalise(problem).canonical
    request = _request(canonical, options)
    answer = store.find(request, max_implementations)
    if answer.sufficient and answer.record is not None:
        known = _known(problem, canonical, options, answer.record)
        if known is not None:
            return known
    if max_implementations == 1 or canonical.elements == 0:
        solution, record = _modelled(problem, canonical, options, request)
    else:
        solution, record = _tuned(problem, canonical, options, request, answer, progress)
    store.store(record)
    return solution


def _threads(threads: int | None) -> int:
    if threads is None:
        return runtime.num_threads()
    if threads < 1:
        raise OptionError(f"number of threads {threads} is less than 1")
    return threads


def _candidates(count: int) -> int:
    if count < 1 and count != -1:
        raise OptionError(f"maxImplementations {count} is neither a count of at least 1 nor -1 (the whole space)")
    return count


def _time_limit(seconds: float | None) -> float | None:
    if seconds is not None and not seconds > 0:
        raise OptionError(f"time limit {seconds} s is not positive")
    return seconds


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


# --- the three sources of a solution ---------------------------------------------------------------------


def _known(problem: Problem, canonical: Canonical, options: Options, record: Record) -> Solution | None:
    """The stored solution, linked from its object code without optimisation; None if the row is unusable."""
    try:
        plan = plans.check(plans.parse(record.plan), canonical)
    except PlanError as error:
        _log.warning("a stored plan is ignored: %s", error)
        return None
    measured = None
    if record.seconds is not None:
        timings = tuple((t.plan, t.seconds) for t in record.timings)
        measured = _measurement(canonical, record.seconds, record.ceiling_gibs, timings, proxy="proxy" in record.note)
    code = dict(record.objects).get(kernel.NAME)
    return Solution(problem, options.target, plan, options.threads, measured, code)


def _modelled(
    problem: Problem, canonical: Canonical, options: Options, request: Request
) -> tuple[Solution, Record]:
    plan = model_plan(canonical, options.target, options.threads, options.forced)
    code = kernel.cache.obtain(canonical, plan, options.target).code if _runs(options.target) else b""
    objects = ((kernel.NAME, code),) if code else ()
    solution = Solution(problem, options.target, plan, options.threads, None, code or None)
    return solution, Record(request, 1, str(plan), objects=objects)


def _runs(target: Target) -> bool:
    from . import backend

    return backend.runs_here(target)


def _tuned(
    problem: Problem, canonical: Canonical, options: Options, request: Request, answer: Answer, progress: Report | None
) -> tuple[Solution, Record]:
    check_runs_here(options.target)
    trial = Trial(canonical, options.target, options.threads, options.mode, problem.alpha, problem.beta)
    if trial.is_proxy:
        _log.warning("the tensors do not fit in memory three times: tuned on a smaller stand-in with the same strides' low bits")
    which = peak.of(canonical)
    ceiling = trial.ceiling(which)
    outcome = search(
        _offered(canonical, options, answer),
        lambda plan: candidates.neighbours(canonical, options.target, options.forced, plan),
        trial,
        Limits(options.max_implementations, options.time_limit, options.verify),
        progress,
    )
    ceiling = max(ceiling, trial.ceiling(which))
    return _finished(problem, canonical, options, request, trial, outcome, ceiling)


def _finished(
    problem: Problem,
    canonical: Canonical,
    options: Options,
    request: Request,
    trial: Trial,
    outcome: Outcome[kernel.Kernel],
    ceiling: float,
) -> tuple[Solution, Record]:
    plan, seconds = outcome.best.plan, outcome.best.best
    timings = tuple((str(timed.plan), timed.seconds) for timed in outcome.timings)
    measured = replace(
        _measurement(trial.canonical, seconds, ceiling or None, timings, trial.is_proxy),
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
        note="proxy" if trial.is_proxy else "",
    )
    return Solution(problem, options.target, plan, options.threads, measured, code), record


def _measurement(
    canonical: Canonical,
    seconds: float,
    ceiling: float | None,
    timings: tuple[tuple[str, tuple[float, ...]], ...],
    proxy: bool = False,
) -> Measurement:
    gibs = canonical.bytes_moved / seconds / GIB
    return Measurement(seconds, gibs, ceiling, peak.of(canonical).value, timings, proxy)


# --- candidates ------------------------------------------------------------------------------------------


def _cost(canonical: Canonical, target: Target, threads: int) -> candidates.Cost:
    return lambda plan: cost.estimate(canonical, plan, target, threads)


def model_plan(canonical: Canonical, target: Target, threads: int, forced: Forced = Forced()) -> CpuPlan:
    """The cost model's first choice; nothing is timed."""
    model = _cost(canonical, target, threads)
    return next(candidates.enumerate_plans(canonical, target, forced, model))


def _offered(canonical: Canonical, options: Options, answer: Answer) -> Iterator[CpuPlan]:
    """Hints of the database first, then the model's ranking, or the paper's whole space."""
    if options.max_implementations == -1:
        return candidates.paper_space(canonical, options.target, options.forced)
    model = _cost(canonical, options.target, options.threads)
    ranked = candidates.enumerate_plans(canonical, options.target, options.forced, model)
    return itertools.chain(_hints(canonical, options, answer), ranked)


def _hints(canonical: Canonical, options: Options, answer: Answer) -> Iterator[CpuPlan]:
    if str(options.forced):
        return
    for text in answer.hints:
        try:
            yield plans.check(plans.parse(text), canonical)
        except PlanError:
            continue
