"""Scouts: searches try plans of every habit, whatever the cost model thinks of them."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import dataclass, replace

import pytest

from ttc_llvm.lowering.plan import CpuPlan
from ttc_llvm.machine import target as targets
from ttc_llvm.problem.canonical import Canonical, canonicalise
from ttc_llvm.problem.problem import Problem
from ttc_llvm.tuning import candidates
from ttc_llvm.tuning.choices import FREE
from ttc_llvm.tuning.cost import Model
from ttc_llvm.tuning.model import onwards, ranked, scouts
from ttc_llvm.tuning.search import Limits, search

MACHINE = targets.find("znver5")
PROBLEMS = {
    "columns, copy": Problem((2, 1, 0), (384, 355, 384)),
    "columns, update": Problem((3, 2, 1, 0), (96, 75, 75, 96), alpha=2, beta=4),
    "rows, update": Problem((0, 2, 1), (368, 384, 384), alpha=2, beta=4),
    "ragged copy": Problem((1, 0), (7263, 7265)),
}
Habit = tuple[object, ...]


def habit(plan: CpuPlan) -> Habit:
    return (plan.store, plan.fetch if plan.prefetch else None)


def canonical(problem: Problem) -> Canonical:
    return canonicalise(problem).canonical


def sent(count: int, problem: Problem) -> list[CpuPlan]:
    """Scouts of a search that times nothing else."""
    scout, timed = scouts(canonical(problem), MACHINE, 2), dict[CpuPlan, None]()
    while len(timed) < count and (plan := scout(timed)) is not None:
        timed[plan] = None
    return list(timed)


@pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS)
def test_every_habit_of_the_seeds_has_its_turn_before_any_has_a_second(problem: Problem) -> None:
    habits = {habit(plan) for plan in candidates.starts(canonical(problem), MACHINE, FREE)}
    assert len(habits) > 1
    assert {habit(plan) for plan in sent(len(habits), problem)} == habits


@pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS)
def test_the_cheapest_of_its_habit_goes_first(problem: Problem) -> None:
    c = canonical(problem)
    every = sent(10_000, problem)
    assert sorted(map(str, every)) == sorted({str(plan) for plan in candidates.starts(c, MACHINE, FREE)})
    costs = Model(c, MACHINE, 2).costs(every)
    for one in {habit(plan) for plan in every}:
        own = [cost for plan, cost in zip(every, costs, strict=True) if habit(plan) == one]
        assert own == sorted(own)


def test_scouts_come_in_the_same_order_each_time() -> None:
    problem = PROBLEMS["columns, copy"]
    assert sent(200, problem) == sent(200, problem)


def test_one_forced_decision_is_kept_by_scouts() -> None:
    c = canonical(PROBLEMS["columns, copy"])
    scout, timed = scouts(c, MACHINE, 2, replace(FREE, streaming=False, prefetch=(0, 4))), set[CpuPlan]()
    while (plan := scout(timed)) is not None:
        assert not plan.non_temporal
        assert plan.prefetch in (0, 4)
        timed.add(plan)
    assert timed


@pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS)
def test_the_habit_that_was_timed_least_is_sent(problem: Problem) -> None:
    c = canonical(problem)
    timed = set(itertools.islice(ranked(c, MACHINE, 2), 40))
    plan = scouts(c, MACHINE, 2)(timed)
    assert plan is not None
    assert plan not in timed
    count = Counter(habit(one) for one in timed)
    left = {habit(one) for one in candidates.starts(c, MACHINE, FREE) if one not in timed}
    assert count[habit(plan)] == min(count[one] for one in left)


@dataclass
class Stranger:
    """A `Subject` that likes one habit, the more so the larger its tiles, and after it what the model puts first: all
    else is so slow that the ranking is soon given up."""

    favourite: Habit
    first: CpuPlan

    def build(self, plan: CpuPlan) -> CpuPlan:
        return plan

    def seconds(self, kernel: CpuPlan) -> float:
        slow = 1.0 if habit(kernel) == self.favourite else 1.5 if kernel == self.first else 2.5
        return slow * (1 + 0.01 / kernel.tile[0])

    def verify(self, kernel: CpuPlan) -> tuple[int, ...] | None:
        return None


@pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS)
def test_a_search_finds_whatever_habit_an_unknown_machine_likes(problem: Problem) -> None:
    c = canonical(problem)
    offered = list(itertools.islice(ranked(c, MACHINE, 2), 200))
    for favourite in {habit(plan) for plan in candidates.starts(c, MACHINE, FREE)}:
        machine = Stranger(favourite, offered[0])
        outcome = search(offered, onwards(c, MACHINE, 2), machine, Limits(100), scout=scouts(c, MACHINE, 2))
        assert habit(outcome.best.plan) == favourite
        assert len(outcome.timings) == 100
