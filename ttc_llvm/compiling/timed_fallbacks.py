"""The choice of a tuned plan's fallback for misaligned B: timed there, as the plan was on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..lazy_dataclasses import replace
from ..lowering.fallback import Fallback, fallbacks, first_that_pays
from ..lowering.plan import CpuPlan
from ..lowering.writing import resolve
from ..runtime.kernel import Kernel
from ..tuning.search.search import Limits, Outcome, check_result, search

if TYPE_CHECKING:
    from .trial import Trial

USUAL = 16  # bytes behind a line: where NumPy's large arrays and malloc's begin
WORTH = 1.05  # times as fast as the fallback by rule, at least: else that one stays


def decided(outcome: Outcome[CpuPlan, Kernel], trial: Trial, limits: Limits) -> Outcome[CpuPlan, Kernel]:
    """The outcome of a search, whose winner decides for a fallback if one is clearly faster than that by rule.

    limits: seconds and verification, as for the search. Nothing is decided on a stand-in, whose rows may have other
    gaps, nor in too little time. Raises VerificationError if its result is wrong.
    """
    plan, by = outcome.best.plan, _displacement(trial, outcome.best.plan)
    found = tuple(fallbacks(trial.canonical, plan, trial.target)) if by else ()
    late = limits.seconds is not None and limits.seconds <= 0
    if len(found) < 2 or outcome.interrupted or trial.is_proxy or late:
        return outcome
    bench = trial.moved(by, found[0].loads)
    off = search((one.plan for one in found), lambda _: (), bench, Limits(len(found), limits.seconds, verify=False))
    best = _fastest(found, off)
    if best is None:
        return outcome
    if limits.verify:
        check_result(bench, best.plan, off.kernel)
    return _renamed(outcome, replace(plan, fallback=best.store))


def _displacement(trial: Trial, plan: CpuPlan) -> int:
    """Bytes to a usual place off the boundary; 0 where no element is off it. All are powers of two."""
    boundary = resolve(trial.canonical, plan, trial.target).alignment
    return min(USUAL, boundary // 2) if boundary > trial.canonical.b.itemsize else 0


def _fastest(found: tuple[Fallback, ...], off: Outcome[CpuPlan, Kernel]) -> Fallback | None:
    """The fallback that won; None if it is the one by rule, or hardly faster, or if not all had their runs."""
    seconds = {timed.plan: timed.score for timed in off.timings}
    if off.interrupted or seconds[first_that_pays(found).plan] < WORTH * off.best.score:
        return None
    return next(one for one in found if one.plan == off.best.plan)


def _renamed(outcome: Outcome[CpuPlan, Kernel], plan: CpuPlan) -> Outcome[CpuPlan, Kernel]:
    """The same outcome, whose winner is this plan."""
    timings = (replace(timed, plan=plan) if timed.plan == outcome.best.plan else timed for timed in outcome.timings)
    return replace(outcome, best=replace(outcome.best, plan=plan), timings=tuple(timings))
