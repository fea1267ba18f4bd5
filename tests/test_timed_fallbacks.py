"""Which fallback serves a tuned plan off the boundary, decided on a simulated machine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, cast

import pytest

from ttc_llvm.compiling.timed_fallbacks import USUAL, decided
from ttc_llvm.compiling.trial import Mode, Trial
from ttc_llvm.errors import VerificationError
from ttc_llvm.lowering.fallback import fallbacks, for_misaligned_b
from ttc_llvm.lowering.plan import CpuPlan, Fetch, Store
from ttc_llvm.machine import lookup
from ttc_llvm.machine.target import Target
from ttc_llvm.problem.canonical import Canonical, canonicalise
from ttc_llvm.problem.problem import Problem
from ttc_llvm.runtime import backend
from ttc_llvm.runtime.kernel import Kernel
from ttc_llvm.tuning.search.leaderboard import Timed
from ttc_llvm.tuning.search.search import Limits, Outcome, search

AVX512 = lookup.find("avx512")
FORM = canonicalise(Problem((2, 1, 0), (384, 355, 384))).canonical
PLAN = CpuPlan((16, 1, 16), (16, 1, 16), (0, 1, 2), (0, 1, 2), 2, 1, Store.ALIGNED, fetch=Fetch.ROWS)
LIMITS = Limits(10)


@dataclass
class Bench:
    """A trial that runs nothing. cost: seconds per fallback; by: bytes that B was moved;
    loads: as for `lower`."""

    cost: Mapping[Store, float]
    canonical: Canonical = FORM
    target: Target = AVX512
    wrong: tuple[int, ...] | None = None
    is_proxy: bool = False
    stop_at: int | None = None  # the run that Ctrl-C interrupts
    runs: int = 0
    by: list[int] = field(default_factory=list)
    loads: list[int] = field(default_factory=list)
    built: list[CpuPlan] = field(default_factory=list)
    verified: list[CpuPlan] = field(default_factory=list)

    def moved(self, by: int, loads: int) -> Bench:
        self.by.append(by)
        self.loads.append(loads)
        return self

    def build(self, plan: CpuPlan) -> CpuPlan:
        self.built.append(plan)
        return plan

    def seconds(self, kernel: CpuPlan) -> float:
        self.runs += 1
        if self.runs == self.stop_at:
            raise KeyboardInterrupt
        stores = {one.plan: one.store for one in fallbacks(self.canonical, PLAN, self.target)}
        return self.cost.get(stores[kernel], 1.0)

    def verify(self, kernel: CpuPlan) -> tuple[int, ...] | None:
        self.verified.append(kernel)
        return self.wrong


def chosen(bench: Bench, plan: CpuPlan = PLAN, limits: Limits = LIMITS, interrupted: bool = False) -> CpuPlan:
    best, other = (Timed(one, (seconds,), (seconds,)) for one, seconds in ((plan, 1.0), (plan.ordinary, 2.0)))
    outcome: Outcome[CpuPlan, Any] = Outcome(best, None, (best, other), interrupted)
    found = decided(cast("Outcome[CpuPlan, Kernel]", outcome), cast(Trial, bench), limits)
    assert found.timings == (found.best, other)
    assert found.best.seconds == best.seconds
    return found.best.plan


@pytest.mark.parametrize("machine", ["avx512", "znver4"])
@pytest.mark.parametrize("store", [Store.COMBINED, Store.BUFFERED, Store.CACHED])
def test_the_plan_tells_the_fastest_fallback(store: Store, machine: str) -> None:
    wanted = lookup.find(machine)
    bench = Bench({store: 0.5}, target=wanted)
    plan = chosen(bench)
    assert plan == replace(PLAN, fallback=store)
    found = for_misaligned_b(FORM, plan, wanted)
    assert (bench.by, bench.loads, bench.verified) == ([USUAL], [found.loads], [found.plan])
    assert found.loads == wanted.across_lines


@pytest.mark.parametrize("cost", [{Store.PEELED: 0.5}, {Store.COMBINED: 0.97}, {}])
def test_the_fallback_by_rule_stays_unless_another_is_clearly_faster(cost: Mapping[Store, float]) -> None:
    bench = Bench(cost)
    assert chosen(bench) == PLAN
    assert bench.verified == []
    assert for_misaligned_b(FORM, PLAN, AVX512).plan in bench.built


def test_a_wrong_result_is_refused() -> None:
    bench = Bench({Store.CACHED: 0.5}, wrong=(3, 1, 4))
    with pytest.raises(VerificationError, match=r"wrong element at index \(3, 1, 4\)"):
        chosen(bench)
    assert chosen(bench, limits=replace(LIMITS, verify=False)).fallback is Store.CACHED


def test_nothing_is_timed_where_nothing_can_be_decided() -> None:
    """Ordinary stores, stores that find lines by themselves, A that is not read, a search cut short, no time left, a
    stand-in."""
    bench = Bench({Store.CACHED: 0.5})
    carried = for_misaligned_b(FORM, replace(PLAN, fallback=Store.COMBINED), AVX512).plan
    assert chosen(bench, PLAN.ordinary) == PLAN.ordinary
    assert chosen(bench, carried) == carried
    zero = canonicalise(Problem((2, 1, 0), (64, 35, 64), lda=(65, 35, 64), ldb=(80, 35, 64), alpha=0)).canonical
    assert len(zero.axes) == 2
    flat = CpuPlan((16, 16), (16, 1), (0, 1), (0, 1), store=Store.ALIGNED)
    assert chosen(replace(bench, canonical=zero), flat) == flat
    assert chosen(bench, interrupted=True) == PLAN
    assert chosen(bench, limits=Limits(10, seconds=5.0).after(6.0)) == PLAN
    assert chosen(replace(bench, is_proxy=True)) == PLAN
    assert bench.built == []


@pytest.mark.parametrize("turn", [1, 2, 3])
def test_a_decision_that_is_interrupted_is_none(turn: int) -> None:
    bench = Bench({Store.CACHED: 0.5}, stop_at=turn)
    if turn == 1:
        with pytest.raises(KeyboardInterrupt):
            chosen(bench)
    else:
        assert chosen(bench) == PLAN


PLACES = [("i8", "avx512", 16), ("s", "avx512", 16), ("z", "avx512", 16), ("s", "sse2", 8)]


@pytest.mark.parametrize(("dtype", "machine", "by"), PLACES)
def test_b_begins_whole_items_behind_a_line_and_off_the_boundary(dtype: str, machine: str, by: int) -> None:
    form = canonicalise(Problem((2, 1, 0), (384, 35, 384), dtype)).canonical
    bench = Bench({}, canonical=form, target=lookup.find(machine))
    assert chosen(bench) == PLAN
    assert bench.by == [by]


def test_items_as_large_as_a_vector_are_always_on_the_boundary() -> None:
    form = canonicalise(Problem((2, 1, 0), (384, 35, 384), "z")).canonical
    bench = Bench({}, canonical=form, target=lookup.find("sse2"))
    assert chosen(bench) == PLAN
    assert bench.by == []


def test_every_fallback_runs_and_is_verified_where_b_is_moved() -> None:
    form, host = canonicalise(Problem((2, 1, 0), (96, 33, 160))).canonical, backend.host_target()
    trial = Trial(form, host, 2, Mode.COLD, 1.0, 0.0)
    found = list(fallbacks(form, PLAN, host))
    moved = trial.moved(USUAL, found[0].loads)
    assert moved.b.address == trial.b.address + USUAL
    assert moved.a is trial.a
    assert trial.loads == 0
    for one in found:
        kernel = moved.build(one.plan)
        assert moved.seconds(kernel) > 0
        assert moved.verify(kernel) is None
    outcome = search([PLAN], lambda _: (), trial, Limits(1))
    assert decided(outcome, trial, LIMITS).best.plan.without_fallback == PLAN
    assert trial.verify(outcome.kernel) is None
