"""Which way a plan goes where B begins off the boundary: decided by time, as the plan was on it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from .kernel import Kernel
from .lower import alignment
from .plan import CpuPlan
from .trial import Trial
from .tuning.search import Limits, Outcome, search, verify
from .unaligned import off_boundary, ways

USUAL = 16  # bytes behind a line: where NumPy's large arrays and malloc's begin
WORTH = 1.05  # times as fast as the way by rule, at least: else that one stays


def settled(outcome: Outcome[CpuPlan, Kernel], trial: Trial, limits: Limits) -> Outcome[CpuPlan, Kernel]:
    """The outcome of a search, whose winner tells its way off the boundary if one is clearly faster than that by rule.

    limits: seconds and verification, as for the search. Raises VerificationError if the result of that way is wrong.
    """
    canonical, plan = trial.canonical, outcome.best.plan
    boundary, item = alignment(canonical, plan, trial.target), canonical.b.itemsize
    if boundary <= item or boundary % item or outcome.interrupted:
        return outcome
    rule = off_boundary(canonical, plan, trial.target)
    found = {way.plan: way.how for way in ways(canonical, plan, trial.target)}
    offered = sorted(found, key=rule.__ne__)
    bench = trial.moved(max(item, min(USUAL, boundary // 2)))
    off = search(offered, _nothing, bench, Limits(len(offered), limits.seconds, verify=False))
    best = off.best.plan
    if min(timed.best for timed in off.timings if timed.plan == rule) < WORTH * off.best.best:
        return outcome
    if limits.verify:
        verify(bench, best, off.kernel)
    return _renamed(outcome, replace(plan, unaligned=found[best]))


def _renamed(outcome: Outcome[CpuPlan, Kernel], plan: CpuPlan) -> Outcome[CpuPlan, Kernel]:
    """The same outcome, whose winner is this plan."""
    timings = (replace(timed, plan=plan) if timed.plan == outcome.best.plan else timed for timed in outcome.timings)
    return replace(outcome, best=replace(outcome.best, plan=plan), timings=tuple(timings))


def _nothing(_: CpuPlan) -> Iterator[CpuPlan]:
    return iter(())
