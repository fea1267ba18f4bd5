"""Diversity seeds of searches on GPUs: plans of every strategy class, whatever the cost model thinks of them."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from itertools import islice

import pytest
from case import Case
from device import check
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from strategies import cases

from ttc_llvm.lowering.gpu.plan import GpuPlan, Shared
from ttc_llvm.machine import gpu_target as gpu_target
from ttc_llvm.problem.canonical import Canonical, canonicalise
from ttc_llvm.problem.problem import Problem
from ttc_llvm.tuning.gpu import candidates as gpu_candidates
from ttc_llvm.tuning.gpu.diversity import diversity_seeds, fits, strategy
from ttc_llvm.tuning.gpu.forced import FREE, GpuForced
from ttc_llvm.tuning.search.search import Limits, search

H100 = gpu_target.find("sm_90")
PROBLEMS = {
    "columns": Problem((1, 0), (4096, 4096)),
    "columns, update": Problem((2, 1, 0), (384, 355, 384), alpha=2, beta=4),
    "rows": Problem((0, 2, 1), (368, 384, 384)),
    "bytes": Problem((1, 0), (4096, 4096), "i8"),
}


def form(problem: Problem) -> Canonical:
    return canonicalise(problem).canonical


def sent(c: Canonical, forced: GpuForced = FREE, count: int = 1000) -> list[GpuPlan]:
    """Diversity seeds of a search that times nothing else."""
    diverse, timed = diversity_seeds(c, H100, forced), dict[GpuPlan, None]()
    while len(timed) < count and (plan := diverse(timed)) is not None:
        timed[plan] = None
    return list(timed)


@pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS)
def test_every_class_has_its_turn_before_any_has_a_second(problem: Problem) -> None:
    """Around shared memory and through it in both orders, and accesses of two widths at least."""
    c = form(problem)
    every = sent(c)
    classes = {strategy(plan) for plan in every}
    assert {plan.shared for plan in every} == set(Shared)
    assert all(len({plan.vector for plan in every if plan.shared is shared}) > 1 for shared in Shared)
    assert {strategy(plan) for plan in sent(c, count=len(classes))} == classes
    assert all(fits(c, plan, H100) for plan in every)


def test_seeds_offer_what_the_ranking_does_not() -> None:
    c = form(PROBLEMS["columns"])
    ranked = {strategy(plan) for plan in islice(gpu_candidates.plans(c, H100), 12)}
    assert ranked < {strategy(plan) for plan in sent(c)}


def test_forced_decisions_and_other_conditions_are_kept() -> None:
    c = form(PROBLEMS["columns, update"])
    forced = sent(c, GpuForced(128, (1, 0, 2)))
    assert forced and all((plan.threads, plan.order) == (128, (1, 0, 2)) for plan in forced)
    only = diversity_seeds(c, H100, also=lambda plan: plan.shared is Shared.NONE)
    plan = only(())
    assert plan is not None and plan.shared is Shared.NONE
    assert only({one for one in sent(c) if one.shared is Shared.NONE}) is None


@settings(max_examples=40, deadline=None)
@given(cases(20_000), st.sampled_from(gpu_target.names()), st.data())
def test_diversity_seeds_compute_what_they_should(case: Case, name: str, data: st.DataObject) -> None:
    c, target = case.placed.canonical, gpu_target.find(name)
    assume(c.elements > 0)
    diverse, timed = diversity_seeds(c, target), dict[GpuPlan, None]()
    for _ in range(data.draw(st.integers(0, 6))):
        plan = diverse(timed)
        if plan is not None:
            timed[plan] = None
    for plan in list(timed)[-1:]:
        check(case, plan, target)


@dataclass
class Stranger:
    """A `Subject` that likes one strategy class, and after it what the model puts first."""

    favourite: Hashable
    first: GpuPlan

    def build(self, plan: GpuPlan) -> GpuPlan:
        return plan

    def seconds(self, kernel: GpuPlan) -> float:
        return 1.0 if strategy(kernel) == self.favourite else 1.5 if kernel == self.first else 2.5

    def verify(self, kernel: GpuPlan) -> tuple[int, ...] | None:
        return None


@pytest.mark.parametrize("name", ["columns", "rows"])
def test_a_search_finds_whatever_class_an_unknown_gpu_likes(name: str) -> None:
    c = form(PROBLEMS[name])
    offered = list(islice(gpu_candidates.plans(c, H100), 30))
    for favourite in {strategy(plan) for plan in sent(c)}:
        machine = Stranger(favourite, offered[0])
        outcome = search(
            offered, lambda plan: gpu_candidates.neighbours(c, plan, H100, FREE), machine, Limits(90),
            diverse=diversity_seeds(c, H100),
        )  # fmt: skip
        assert strategy(outcome.best.plan) == favourite
