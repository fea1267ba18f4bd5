"""Diversity seeds: searches try plans of every strategy class, whatever the cost model thinks of them."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import dataclass, replace

import pytest

from ttc_llvm.lowering.plan import CpuPlan
from ttc_llvm.machine import lookup as targets
from ttc_llvm.problem.canonical import Canonical, canonicalise
from ttc_llvm.problem.problem import Problem
from ttc_llvm.tuning.cost.cost import Model
from ttc_llvm.tuning.cost.model import diversity_seeds, onwards, ranked
from ttc_llvm.tuning.search.search import Limits, search
from ttc_llvm.tuning.space import candidates
from ttc_llvm.tuning.space.choices import FREE

MACHINE = targets.find("znver5")
PROBLEMS = {
    "columns, copy": Problem((2, 1, 0), (384, 355, 384)),
    "columns, update": Problem((3, 2, 1, 0), (96, 75, 75, 96), alpha=2, beta=4),
    "rows, update": Problem((0, 2, 1), (368, 384, 384), alpha=2, beta=4),
    "ragged copy": Problem((1, 0), (7263, 7265)),
}
StrategyClass = tuple[object, ...]


def strategy_class(plan: CpuPlan) -> StrategyClass:
    return (plan.store, plan.fetch if plan.prefetch else None)


def canonical(problem: Problem) -> Canonical:
    return canonicalise(problem).canonical


def sent(count: int, problem: Problem) -> list[CpuPlan]:
    """Diversity seeds of a search that times nothing else."""
    diverse, timed = diversity_seeds(canonical(problem), MACHINE, 2), dict[CpuPlan, None]()
    while len(timed) < count and (plan := diverse(timed)) is not None:
        timed[plan] = None
    return list(timed)


@pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS)
def test_every_class_of_the_seeds_has_its_turn_before_any_has_a_second(problem: Problem) -> None:
    classes = {strategy_class(plan) for plan in candidates.starts(canonical(problem), MACHINE, FREE)}
    assert len(classes) > 1
    assert {strategy_class(plan) for plan in sent(len(classes), problem)} == classes


@pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS)
def test_the_cheapest_of_its_class_goes_first(problem: Problem) -> None:
    c = canonical(problem)
    every = sent(10_000, problem)
    assert sorted(map(str, every)) == sorted({str(plan) for plan in candidates.starts(c, MACHINE, FREE)})
    costs = Model(c, MACHINE, 2).costs(every)
    for one in {strategy_class(plan) for plan in every}:
        own = [cost for plan, cost in zip(every, costs, strict=True) if strategy_class(plan) == one]
        assert own == sorted(own)


def test_diversity_seeds_come_in_the_same_order_each_time() -> None:
    problem = PROBLEMS["columns, copy"]
    assert sent(200, problem) == sent(200, problem)


def test_one_forced_decision_is_kept_by_diversity_seeds() -> None:
    c = canonical(PROBLEMS["columns, copy"])
    diverse, timed = diversity_seeds(c, MACHINE, 2, replace(FREE, streaming=False, prefetch=(0, 4))), set[CpuPlan]()
    while (plan := diverse(timed)) is not None:
        assert not plan.non_temporal
        assert plan.prefetch in (0, 4)
        timed.add(plan)
    assert timed


@pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS)
def test_the_class_that_was_timed_least_is_sent(problem: Problem) -> None:
    c = canonical(problem)
    timed = set(itertools.islice(ranked(c, MACHINE, 2), 40))
    plan = diversity_seeds(c, MACHINE, 2)(timed)
    assert plan is not None
    assert plan not in timed
    count = Counter(strategy_class(one) for one in timed)
    left = {strategy_class(one) for one in candidates.starts(c, MACHINE, FREE) if one not in timed}
    assert count[strategy_class(plan)] == min(count[one] for one in left)


@dataclass
class Stranger:
    """A `Subject` that likes one strategy class, the more so the larger its tiles, and after it what the model puts
    first: all else is so slow that the ranking is soon given up."""

    favourite: StrategyClass
    first: CpuPlan

    def build(self, plan: CpuPlan) -> CpuPlan:
        return plan

    def seconds(self, kernel: CpuPlan) -> float:
        slow = 1.0 if strategy_class(kernel) == self.favourite else 1.5 if kernel == self.first else 2.5
        return slow * (1 + 0.01 / kernel.tile[0])

    def verify(self, kernel: CpuPlan) -> tuple[int, ...] | None:
        return None


@pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS)
def test_a_search_finds_whatever_class_an_unknown_machine_likes(problem: Problem) -> None:
    c = canonical(problem)
    offered = list(itertools.islice(ranked(c, MACHINE, 2), 200))
    for favourite in {strategy_class(plan) for plan in candidates.starts(c, MACHINE, FREE)}:
        machine = Stranger(favourite, offered[0])
        outcome = search(offered, onwards(c, MACHINE, 2), machine, Limits(100), diverse=diversity_seeds(c, MACHINE, 2))
        assert strategy_class(outcome.best.plan) == favourite
        assert len(outcome.timings) == 100
