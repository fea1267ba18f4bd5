"""GPU kernels executed: what the GPU gets, with the harness's intrinsics, against the oracle."""

from __future__ import annotations

import pytest
from case import Case
from device import check
from gpu_strategies import gpu_executions
from hypothesis import given, settings
from hypothesis import strategies as st
from tiers import examples

from ttc_llvm.lowering.gpu import plan as gpu_plan
from ttc_llvm.lowering.gpu.lower import unaligned
from ttc_llvm.lowering.gpu.plan import GpuPlan
from ttc_llvm.machine import gpu_target as gpu_target
from ttc_llvm.machine.gpu_target import GpuTarget
from ttc_llvm.problem.problem import Problem

FLUSH = st.sampled_from(("start", "end"))


@examples(150)
@given(gpu_executions(gpu_target.names()), FLUSH, FLUSH)
def test_random_plans_of_random_problems(
    found: tuple[Case, GpuPlan, GpuTarget], flush_a: str, flush_b: str
) -> None:
    case, plan, target = found
    check(case, plan, target, (flush_a, flush_b))


@pytest.mark.parametrize("panel", ["none", "512,384"])
def test_smaller_tiles_for_unaligned_tensors(panel: str) -> None:
    """A tile of more bytes than the largest block moves one by one, at ragged ends and in panels."""
    case = Case.of(Problem((1, 0), (300, 700), "i8"), 3)
    plan = gpu_plan.parse(
        f"gpu1 tile=256,128 block=16,4 order=1,0 threads=512 vector=4,4 shared=b padding=4 panel={panel}"
    )
    single = unaligned(case.placed.canonical, plan)
    assert single.tile == (128, 128)
    check(case, single, gpu_target.find("sm_90"))


@pytest.mark.full
@settings(max_examples=10_000)
@given(gpu_executions(gpu_target.names()), FLUSH, FLUSH)
def test_many_random_plans(found: tuple[Case, GpuPlan, GpuTarget], flush_a: str, flush_b: str) -> None:
    case, plan, target = found
    check(case, plan, target, (flush_a, flush_b))
