"""Which way a tuned plan takes off the boundary, decided on a simulated machine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, cast

import pytest

from ttc_llvm import target
from ttc_llvm.canonical import Canonical, canonicalise
from ttc_llvm.errors import VerificationError
from ttc_llvm.kernel import Kernel
from ttc_llvm.plan import CpuPlan, Fetch, Staging
from ttc_llvm.problem import Problem
from ttc_llvm.settled import USUAL, settled
from ttc_llvm.target import Target
from ttc_llvm.trial import Trial
from ttc_llvm.tuning.search import Limits, Outcome
from ttc_llvm.tuning.standings import Timed
from ttc_llvm.unaligned import off_boundary

AVX512 = target.find("avx512")
FORM = canonicalise(Problem((2, 1, 0), (384, 355, 384))).canonical
PLAN = CpuPlan((16, 1, 16), (16, 1, 16), (0, 1, 2), (0, 1, 2), 2, 1, True, fetch=Fetch.ROWS)
LIMITS = Limits(10)


@dataclass
class Bench:
    """A trial that runs nothing. cost: seconds per way; by: bytes that B was moved."""

    cost: Mapping[Staging, float]
    canonical: Canonical = FORM
    target: Target = AVX512
    wrong: tuple[int, ...] | None = None
    by: list[int] = field(default_factory=list)
    built: list[CpuPlan] = field(default_factory=list)
    verified: list[CpuPlan] = field(default_factory=list)

    def moved(self, by: int) -> Bench:
        self.by.append(by)
        return self

    def build(self, plan: CpuPlan) -> CpuPlan:
        self.built.append(plan)
        return plan

    def seconds(self, kernel: CpuPlan) -> float:
        return self.cost.get(kernel.staging if kernel.streaming else Staging.NONE, 1.0)

    def verify(self, kernel: CpuPlan) -> tuple[int, ...] | None:
        self.verified.append(kernel)
        return self.wrong


def decided(bench: Bench, plan: CpuPlan = PLAN, limits: Limits = LIMITS, interrupted: bool = False) -> CpuPlan:
    best, other = (Timed(one, (seconds,), (seconds,)) for one, seconds in ((plan, 1.0), (plan.ordinary, 2.0)))
    outcome: Outcome[CpuPlan, Any] = Outcome(best, None, (best, other), interrupted)
    found = settled(cast("Outcome[CpuPlan, Kernel]", outcome), cast(Trial, bench), limits)
    assert found.timings == (found.best, other)
    assert found.best.seconds == best.seconds
    return found.best.plan


@pytest.mark.parametrize("how", [Staging.CARRY, Staging.B, Staging.NONE])
def test_the_plan_tells_the_fastest_way(how: Staging) -> None:
    bench = Bench({how: 0.5})
    plan = decided(bench)
    assert plan == replace(PLAN, unaligned=how)
    assert bench.by == [USUAL]
    assert bench.verified == [off_boundary(FORM, plan, AVX512)]


@pytest.mark.parametrize("cost", [{Staging.SHIFT: 0.5}, {Staging.CARRY: 0.97}, {}])
def test_the_way_by_rule_stays_unless_another_is_clearly_faster(cost: Mapping[Staging, float]) -> None:
    bench = Bench(cost)
    assert decided(bench) == PLAN
    assert bench.verified == []
    assert bench.built[0] == off_boundary(FORM, PLAN, AVX512)


def test_a_wrong_result_is_refused() -> None:
    bench = Bench({Staging.NONE: 0.5}, wrong=(3, 1, 4))
    with pytest.raises(VerificationError, match=r"wrong element at index \(3, 1, 4\)"):
        decided(bench)
    assert decided(bench, limits=replace(LIMITS, verify=False)).unaligned is Staging.NONE


def test_nothing_is_timed_where_there_is_nothing_to_decide() -> None:
    """Ordinary stores, stores that find lines by themselves, items that no line is a multiple of, one cut short."""
    bench = Bench({Staging.NONE: 0.5})
    carried = off_boundary(FORM, replace(PLAN, unaligned=Staging.CARRY), AVX512)
    assert decided(bench, PLAN.ordinary) == PLAN.ordinary
    assert decided(bench, carried) == carried
    assert decided(bench, interrupted=True) == PLAN
    odd = canonicalise(Problem((2, 1, 0), (64, 35, 64), "v24")).canonical
    assert decided(replace(bench, canonical=odd)) == PLAN
    assert bench.built == []


def test_time_that_is_spent_leaves_the_rule() -> None:
    bench = Bench({Staging.NONE: 0.5})
    assert decided(bench, limits=Limits(10, seconds=5.0).after(6.0)) == PLAN
    assert len(bench.built) == 1


@pytest.mark.parametrize(("dtype", "by"), [("i8", 16), ("s", 16), ("z", 16)])
def test_b_begins_a_whole_number_of_items_further(dtype: str, by: int) -> None:
    form = canonicalise(Problem((2, 1, 0), (384, 35, 384), dtype)).canonical
    bench = Bench({}, canonical=form)
    assert decided(bench) == PLAN
    assert bench.by == [by]
