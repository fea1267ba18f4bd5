"""Plans for many threads: task grids of B's outermost axes, even, and with few lines and pages that threads share."""

from __future__ import annotations

from dataclasses import replace

import machine
import pytest
import reference
import strategies
from case import Case, expected, storages
from hypothesis import given
from hypothesis import strategies as st
from interpreter import interpret
from tiers import FULL, examples

from ttc_llvm.bench import suites
from ttc_llvm.bench.cases import Case as BenchCase
from ttc_llvm.lowering import items
from ttc_llvm.lowering.division import Division
from ttc_llvm.lowering.fallback import fallbacks, for_misaligned_b
from ttc_llvm.lowering.grids import grid_of_b, with_grid
from ttc_llvm.lowering.lower import lower
from ttc_llvm.lowering.plan import CpuPlan, Store
from ttc_llvm.lowering.plan_checks import check
from ttc_llvm.lowering.sharing import PAGE, shared, units
from ttc_llvm.lowering.writing import resolve
from ttc_llvm.machine import lookup
from ttc_llvm.machine.target import Target
from ttc_llvm.problem.canonical import Canonical
from ttc_llvm.problem.problem import Problem
from ttc_llvm.tuning.cost import model
from ttc_llvm.tuning.cost.cost import Model
from ttc_llvm.tuning.space import candidates, many_threads
from ttc_llvm.tuning.space.blocks import unit_axes
from ttc_llvm.tuning.space.choices import FREE, Forced

TARGETS = tuple(map(lookup.find, machine.ROWS))
ZEN4 = lookup.find("znver4")
THREADS = (16, 64, 192)
CASES = [c for c in suites.cases(("ttc57", "ragged", "small-dims")) if c.suite != "small-dims" or "bshd" in c.name]
UNCHAINED = [c for c in CASES if c.suite == "ragged" and c.name in ("07+1", "07+7")]  # where 192 threads are busy
SOME = CASES if FULL else [*CASES[::19], *UNCHAINED]
STRETCHES = 20  # of B on a thread: one more or less is little then


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("case", SOME, ids=lambda case: f"{case.suite}-{case.name}")
def test_threads_have_even_shares_and_lines_and_pages_of_their_own(case: BenchCase, threads: int) -> None:
    """Where a thread that reads whole lines of A has to write parts of many rows of B, it shares a page, or a line, at
    both ends of each."""
    canonical = items.placed(case.problem, ZEN4).canonical
    plan = model.model_plan(canonical, ZEN4, threads)
    division = Division(canonical, plan.grid(canonical.extents), threads)
    forced = 2 * rows(canonical, plan, threads) * (threads - 1)
    assert shared(division, 64) <= max(0.001 * units(division, 64), forced)
    if canonical.elements * canonical.b.itemsize >= 128 << 20:
        assert shared(division, PAGE) <= max(0.01 * units(division, PAGE), forced)
    assert division.imbalance <= (1.75 if forced else 1.05 * division.least)


def rows(canonical: Canonical, plan: CpuPlan, threads: int) -> int:
    """Rows of B's outermost axes that a thread writes parts of, because its micro-tiles, or lines of A, span them; 0
    where it can write whole ones."""
    unit, _ = unit_axes(canonical)
    found = stretches = 1
    for k in (k for k in canonical.along("b") if stretches < STRETCHES * threads):
        extent = canonical.extents[k]
        span = min(extent, max(plan.block[k], 64 // canonical.a.itemsize if k == unit else 1))
        found *= span if span == 1 or extent >= 8 * span else extent  # short axes are not cut into uneven blocks
        stretches *= -(-extent // span)
    return found if found > 1 else 0


@st.composite
def divided(draw: st.DrawFn) -> tuple[Case, CpuPlan, Target, int]:
    """A small case, a plan, a target, and a number of threads."""
    case, chosen = draw(strategies.cases(1_500)), draw(st.sampled_from(TARGETS))
    return case, draw(strategies.plans(case.placed.canonical, chosen)), chosen, draw(st.integers(2, 9))


@examples(150)
@given(divided(), st.booleans())
def test_grids_keep_the_rest_of_a_plan(drawn: tuple[Case, CpuPlan, Target, int], tiled: bool) -> None:
    case, plan, target, threads = drawn
    c = case.placed.canonical
    if c.elements == 0:
        return
    (a, b), store = storages(case), resolve(c, plan, target).store
    offered = many_threads.grids(c, target, plan, threads, tiled)
    stores = [resolve(c, check(found, c), target).store for found in offered]
    kept = [store is own or own in (Store.COMBINED, Store.JOINED) for own in stores]
    assert all(kept) or not any(many_threads.keeps_busy(c, f, threads) for f, k in zip(offered, kept, strict=True) if k)
    for found in offered:
        assert (found.block, found.inner, found.prefetch) == (plan.block, plan.inner, plan.prefetch)
        assert not tiled or found.tile == plan.tile
        division = Division(c, found.grid(c.extents), threads)
        whole = [k for k in c.along("b") if c.extents[k] > 1]
        assert [k for k, _ in division.grid] == [k for k in whole if k in dict(division.grid)], "not in B's order"
        for unit in (16, 64, 256):
            assert shared(division, unit) <= many_threads.cuts(division)
            if many_threads._keeps_lines(division, unit):
                assert shared(division, unit) == 0
        got = interpret(case, lower(c, found, target), case.placed, a, b)
        assert reference.same(got, expected(case, a, b), case.b, case.plain), str(found)


MATRIX = items.placed(Problem((1, 0), (8192, 4096)), ZEN4).canonical


@pytest.mark.parametrize("threads", [1, 2, many_threads.MANY - 1])
def test_few_threads_have_the_cost_models_own_grid(threads: int) -> None:
    own = next(candidates.enumerate_plans(MATRIX, ZEN4, FREE, Model(MATRIX, ZEN4, threads).costs))
    assert model.model_plan(MATRIX, ZEN4, threads) == own


def test_decisions_of_the_user_stay() -> None:
    for forced in (Forced(orders=[(0, 1)]), Forced(blockings=[(32, 64)])):
        own = next(candidates.enumerate_plans(MATRIX, ZEN4, forced, Model(MATRIX, ZEN4, 64).costs))
        found = model.model_plan(MATRIX, ZEN4, 64, forced)
        assert (found == own) if forced.orders else (found.tile == own.tile and found.block == own.block)
        assert found.grid(MATRIX.extents)[0][0] == (1 if forced.blockings else own.order[0])


def test_little_work_is_not_divided_by_pages() -> None:
    small = items.placed(Problem((1, 0), (512, 512)), ZEN4).canonical
    assert small.elements * small.b.itemsize < 64 * many_threads.SHARE
    own = next(candidates.enumerate_plans(small, ZEN4, FREE, Model(small, ZEN4, 64).costs))
    assert model.model_plan(small, ZEN4, 64) == own


def test_every_plan_of_a_ranking_is_valid_and_comes_once() -> None:
    found = [plan for plan, _ in zip(model.ranked(MATRIX, ZEN4, 64), range(60), strict=False)]
    assert len({check(plan, MATRIX) for plan in found}) == len(found) == 60
    grids = {plan.grid(MATRIX.extents) for plan in found}
    assert all(Division(MATRIX, grid, 64).imbalance <= 1.05 for grid in grids)
    assert all(shared(Division(MATRIX, grid, 64), PAGE) <= 0.01 * (128 << 20) / PAGE for grid in grids)


@pytest.mark.parametrize("case", CASES[:: 3 if FULL else 40], ids=lambda case: f"{case.suite}-{case.name}")
def test_fallbacks_for_a_misaligned_b_are_as_even(case: BenchCase) -> None:
    """Large arrays of NumPy begin 16 bytes after a line."""
    canonical = items.placed(case.problem, ZEN4).canonical
    plan = model.model_plan(canonical, ZEN4, 64)
    found = for_misaligned_b(canonical, plan, ZEN4).plan
    assert Division(canonical, check(found, canonical).grid(canonical.extents), 64).imbalance <= 1.3


@examples(60)
@given(divided())
def test_a_fallback_with_the_grid_of_its_plan_transposes(drawn: tuple[Case, CpuPlan, Target, int]) -> None:
    case, plan, target, threads = drawn
    c, (a, b) = case.placed.canonical, storages(case)
    plan = replace(plan, store=Store.COMBINED)
    for found in () if c.elements == 0 else many_threads.grids(c, target, plan, threads, False):
        steps = grid_of_b(c, found)
        assert not steps or with_grid(c, found, steps) == found
        for other in fallbacks(c, found, target):
            got = interpret(case, lower(c, check(other.plan, c), target), case.placed, a, b)
            assert reference.same(got, expected(case, a, b), case.b, case.plain), str(other.plan)
