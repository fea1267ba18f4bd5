"""Scouts: searches try plans of every habit, whatever the cost model thinks of them."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

import pytest

from ttc_llvm import target as targets
from ttc_llvm.canonical import Canonical, canonicalise
from ttc_llvm.plan import CpuPlan, Fetch
from ttc_llvm.problem import Problem
from ttc_llvm.target import Target
from ttc_llvm.tuning import candidates
from ttc_llvm.tuning.choices import FREE
from ttc_llvm.tuning.model import offered, onwards, ranked
from ttc_llvm.tuning.scouts import EVERY, with_scouts
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
    return (plan.streaming, plan.staging, plan.fetch if plan.prefetch else None)


def canonical(problem: Problem) -> Canonical:
    return canonicalise(problem).canonical


def first(count: int, problem: Problem, target: Target = MACHINE) -> list[CpuPlan]:
    return list(itertools.islice(offered(canonical(problem), target, 2), count))


@pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS)
def test_every_habit_of_the_seeds_is_among_fifty_plans(problem: Problem) -> None:
    seeds = candidates.starts(canonical(problem), MACHINE, FREE)
    assert {habit(plan) for plan in seeds} <= {habit(plan) for plan in first(50, problem)}


@pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS)
def test_the_models_own_order_is_kept_and_its_first_choice_stays_first(problem: Problem) -> None:
    own = list(itertools.islice(ranked(canonical(problem), MACHINE, 2), 40))
    found = first(50, problem)
    assert found[:EVERY] == own[:EVERY]
    sent = set(found) - set(own)
    assert sent  # else scouts bring nothing that the model does not
    place = {plan: number for number, plan in enumerate(own)}
    scouted = set(found[EVERY :: EVERY + 1])
    ranks = [place[plan] for plan in found if plan in place and plan not in scouted]
    assert ranks == sorted(ranks)


def test_plans_are_offered_once_in_the_same_order_each_time() -> None:
    problem = PROBLEMS["columns, copy"]
    found = first(200, problem)
    assert len(set(found)) == len(found)
    assert found == first(200, problem)


def test_one_forced_decision_is_kept_by_scouts() -> None:
    c = canonical(PROBLEMS["columns, copy"])
    found = itertools.islice(offered(c, MACHINE, 2, replace(FREE, streaming=False, prefetch=(0, 4))), 60)
    assert all(not plan.streaming and plan.prefetch in (0, 4) for plan in found)


def flat(plans: Sequence[CpuPlan]) -> list[float]:
    return [1.0] * len(plans)


def test_scouts_end_where_seeds_do() -> None:
    plans = [CpuPlan((64, 64), (16, 16), (0, 1), (0, 1), prefetch=n) for n in range(30)]
    seeds = [CpuPlan((64, 64), (16, 16), (0, 1), (0, 1), prefetch=1, fetch=Fetch.ROWS), plans[7]]
    found = list(with_scouts(plans, seeds, flat))
    assert found == [*plans[:4], seeds[0], *plans[4:]]  # the other one has its turn when it was offered anyway


@dataclass
class Stranger:
    """A `Subject` that likes what no machine of the model's does: only plans that ask for rows are fast, the more so
    the larger their tiles."""

    def build(self, plan: CpuPlan) -> CpuPlan:
        return plan

    def seconds(self, kernel: CpuPlan) -> float:
        asks = kernel.prefetch and kernel.fetch is Fetch.ROWS
        return (1.0 if asks else 2.0) * (1 + 1 / kernel.tile[0])

    def verify(self, kernel: CpuPlan) -> tuple[int, ...] | None:
        return None


def test_a_search_on_an_unknown_machine_finds_what_that_machine_likes() -> None:
    c = canonical(PROBLEMS["columns, copy"])
    outcome = search(offered(c, MACHINE, 2), onwards(c, MACHINE, 2), Stranger(), Limits(40))
    assert outcome.best.plan.fetch is Fetch.ROWS
    assert outcome.best.plan.prefetch
