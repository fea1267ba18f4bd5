"""The interface of the cost model: ranked plans, its first choice, neighbours by cost, diversity seeds."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from functools import lru_cache
from math import inf
from operator import itemgetter

from ttc_llvm.lazy_dataclasses import replace
from ttc_llvm.locks import uncollected
from ttc_llvm.lowering.plan import PLAIN, CpuPlan
from ttc_llvm.machine.target import Target
from ttc_llvm.problem.canonical import Canonical

from ..space import candidates, in_place, many_threads, sums
from ..space.choices import FREE, Forced, settled
from ..space.diversity import DiversitySeeds
from ..space.neighbours import neighbours, twins
from .cost import Model
from .narrow import narrow


def ranked(canonical: Canonical, target: Target, threads: int, forced: Forced = FREE) -> Iterator[CpuPlan]:
    """Every plan worth trying, the one expected to be fastest first; lazy and deterministic."""
    if canonical.in_place or canonical.terms:
        listed = sums.plans if canonical.terms else in_place.plans
        return listed(canonical, target, threads, forced)
    model, forced = Model(canonical, target, threads), settled(forced, target)
    plans = candidates.enumerate_plans(canonical, target, forced, model.costs)
    if forced.orders or not many_threads.divides(canonical, threads):
        return plans
    return _unique(_divided(model, plan, bool(forced.blockings)) for plan in plans)


def _divided(model: Model, plan: CpuPlan, tiled: bool) -> CpuPlan:
    """The plan with the grid that is best for so many threads. tiled: its tiles stay as they are."""
    canonical, threads, line = model.canonical, model.threads, model.target.line
    found = list(dict.fromkeys(many_threads.grids(canonical, model.target, plan, threads, tiled)))
    alone = [cost * model.balance(one) for cost, one in zip(model.costs(found), found, strict=True)]
    best = (True, inf, plan)
    for cost, one in sorted(zip(alone, found, strict=True), key=itemgetter(0)):
        if (False, cost) >= best[:2]:  # no grid makes a plan faster than its even share
            break
        bad, slowdown = many_threads.rating(canonical, one, threads, line)
        best = min(best, (bad, cost * slowdown, one), key=itemgetter(0, 1))
    return best[2]


def diversity_seeds(
    canonical: Canonical, target: Target, threads: int, forced: Forced = FREE
) -> DiversitySeeds[CpuPlan]:
    """Seeds of every strategy class, for a search on a machine that the model may not know."""
    model, forced = Model(canonical, target, threads), settled(forced, target)
    seeds = () if canonical.in_place or canonical.terms else candidates.starts(canonical, target, forced)
    return DiversitySeeds(seeds, model.costs, strategy)


def strategy(plan: CpuPlan) -> Hashable:
    """A plan's strategy class: how it stores, and what it prefetches."""
    return plan.store, plan.fetch if plan.prefetch else None


def onwards(
    canonical: Canonical, target: Target, threads: int, forced: Forced = FREE
) -> Callable[[CpuPlan], tuple[CpuPlan, ...]]:
    """Plans to try after one that proved fast: its neighbours, the one expected to be fastest first; remembered."""
    model, forced = Model(canonical, target, threads), settled(forced, target)

    @lru_cache(maxsize=64)
    def found(plan: CpuPlan) -> tuple[CpuPlan, ...]:
        if canonical.in_place or canonical.terms:
            return ()
        offered = (*neighbours(canonical, target, forced, plan), *twins(target, plan))
        others = list(dict.fromkeys(offered))
        costs = dict(zip(others, model.costs(others), strict=True))
        return tuple(sorted(others, key=lambda other: (threads == 1 and _shared_otherwise(plan, other), costs[other])))

    return found


def _shared_otherwise(plan: CpuPlan, other: CpuPlan) -> bool:
    """True where plans differ only in what threads share: a single thread runs them alike."""
    return replace(other, parallel=plan.parallel) == plan


@lru_cache(maxsize=1024)
def model_plan(canonical: Canonical, target: Target, threads: int, forced: Forced = FREE) -> CpuPlan:
    """The cost model's first choice; nothing is timed. Remembered: it takes milliseconds."""
    if canonical.elements == 0:
        return PLAIN
    with uncollected():
        plan = next(ranked(canonical, target, threads, forced))
    return narrow(canonical, plan, target) if forced == FREE else plan


def _unique(plans: Iterator[CpuPlan]) -> Iterator[CpuPlan]:
    """Each plan once."""
    seen: set[CpuPlan] = set()
    for plan in plans:
        if plan not in seen:
            seen.add(plan)
            yield plan
