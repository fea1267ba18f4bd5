"""Which GPU plans are offered, and in which order."""

from __future__ import annotations

from itertools import islice
from math import prod

import pytest
from case import Case
from device import check
from gpu_matrix import matrix
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import cases
from tiers import examples

from ttc_llvm.bench import suites, ttc57
from ttc_llvm.errors import PlanError
from ttc_llvm.lowering.gpu import plan as gpu_plan
from ttc_llvm.lowering.gpu.lower import lower
from ttc_llvm.lowering.gpu.nest import GpuNest
from ttc_llvm.lowering.gpu.plan import Shared
from ttc_llvm.lowering.gpu.residency import resident
from ttc_llvm.machine import gpu_target as gpu_target
from ttc_llvm.problem.canonical import Canonical, canonicalise
from ttc_llvm.problem.problem import Problem
from ttc_llvm.tuning.gpu import candidates as gpu_candidates
from ttc_llvm.tuning.gpu import cost as gpu_cost
from ttc_llvm.tuning.gpu.forced import GpuForced

H100 = gpu_target.find("sm_90")


def form(perm: tuple[int, ...], size: tuple[int, ...], dtype: str = "s") -> Canonical:
    """The canonical form of a plain copy."""
    return canonicalise(Problem(perm, size, dtype)).canonical


@examples(20)
@given(cases(20_000), st.sampled_from(gpu_target.names()))
def test_offered_plans_compute_what_they_should(case: Case, name: str) -> None:
    c, target = case.placed.canonical, gpu_target.find(name)
    assume(c.elements > 0)
    for plan in islice(gpu_candidates.plans(c, target), 2):
        check(case, plan, target)


def _of_57(name: str, kind: str) -> list[GpuNest]:
    """The model's choices for the 57 transpositions."""
    target = gpu_target.find(name)
    forms = [case.canonical for case in suites.cases(("ttc57",), (kind,), gpu=True)]
    return [lower(c, gpu_candidates.model_plan(c, target), target) for c in forms]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["copy", "update"])
@pytest.mark.parametrize("name", ["sm_80", "sm_90", "sm_100"])
def test_multiprocessors_load_while_they_store(name: str, kind: str) -> None:
    """By another block: a single one was 26 % slower than the best on an H200, in geometric mean."""
    found = [resident(nest, gpu_target.find(name)) for nest in _of_57(name, kind)]
    assert sum(blocks == 1 for blocks in found) <= 2, found


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["copy", "update"])
@pytest.mark.parametrize("name", ["gfx90a", "gfx942", "gfx1100"])
def test_amd_compute_units_have_room_for_two_tiles(name: str, kind: str) -> None:
    room = gpu_target.find(name).shared_total
    tiles = [nest.shared.elements * nest.canonical.a.itemsize for nest in _of_57(name, kind) if nest.shared is not None]
    assert len(tiles) > 30 and sum(2 * size > room for size in tiles) <= 5, tiles


SHARE = [
    pytest.param(*found, marks=[pytest.mark.full] if number % 2 else [])
    for number, found in enumerate(matrix()[::11])
]


@pytest.mark.parametrize(("name", "c"), SHARE)
def test_plans_differ_and_fit_and_start_near_the_cheapest(name: str, c: Canonical) -> None:
    found = list(islice(gpu_candidates.plans(c, H100), 30))
    assert len(set(found)) == len(found), name
    costs = [gpu_cost.cost(c, plan, H100) for plan in found]
    assert costs[0] <= min(costs) * 1.1, name
    for plan, price in zip(found, costs, strict=True):
        assert gpu_cost.at_least(c, plan, H100) <= price * 1.0001
        lower(c, plan, H100)


@pytest.mark.parametrize(("perm", "size"), ttc57.SHAPES)
def test_the_57_cases_get_long_runs_and_wide_accesses(perm: tuple[int, ...], size: tuple[int, ...]) -> None:
    """The model's first choice for the paper's cases: 16 bytes an access, tiles large enough, near the copy."""
    c = form(perm, size)
    plan = gpu_candidates.model_plan(c, H100)
    assert plan.vector == (4, 4)
    assert prod(plan.tile) * 4 >= 4 << 10
    estimate = gpu_cost.estimate(c, plan, H100)
    ideal = c.bytes_moved / (H100.bandwidth * 1e9 * gpu_cost.REACH)
    assert ideal / estimate.seconds > 0.75


def test_forced_threads_and_order_are_kept() -> None:
    c = form((2, 1, 0), (384, 355, 384))
    forced = GpuForced(128, (1, 0, 2))
    for plan in islice(gpu_candidates.plans(c, H100, forced), 20):
        assert plan.threads == 128
        assert plan.order == (1, 0, 2)


def test_impossible_wishes_are_refused() -> None:
    with pytest.raises(PlanError, match=r"no plan for .* fits with threads=4096"):
        next(gpu_candidates.plans(form((1, 0), (64, 64)), H100, GpuForced(threads=4096)))


def test_same_unit_axis_goes_without_shared_memory() -> None:
    assert gpu_candidates.model_plan(form((0, 2, 1), (368, 384, 384)), H100).shared is Shared.NONE


def test_uncoalesced_loads_are_dear() -> None:
    for dtype in ("i8", "bf16", "s", "d", "z"):
        for name in ("sm_50", "sm_80", "sm_90", "gfx942"):
            plan = gpu_candidates.model_plan(form((1, 0), (4096, 4096), dtype), gpu_target.find(name))
            assert plan.shared is not Shared.NONE, (dtype, name)


def test_bank_conflicts_are_counted() -> None:

    c = form((1, 0), (4096, 4096))
    text = "gpu1 tile=64,64 block=4,4 order=1,0 threads=256 vector=4,4 shared=b padding={} panel=none"
    with_gap, without = (
        gpu_cost.estimate(c, gpu_plan.parse(text.format(padding)), H100).access for padding in (4, 0)
    )
    assert without > 1.5 * with_gap


def test_nothing_to_do_has_a_plan() -> None:
    c = form((1, 0), (0, 7))
    assert lower(c, gpu_candidates.model_plan(c, H100), H100).grid == 0
