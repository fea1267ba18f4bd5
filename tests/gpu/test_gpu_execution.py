"""GPU kernels executed: what the GPU gets, with the harness's intrinsics, against the oracle."""

from __future__ import annotations

import pytest
from case import Case
from device import check
from gpu_strategies import gpu_executions
from hypothesis import given, settings
from hypothesis import strategies as st

from ttc_llvm.gpu import target as gpu_target
from ttc_llvm.gpu.plan import GpuPlan
from ttc_llvm.gpu.target import GpuTarget

FLUSH = st.sampled_from(("start", "end"))


@settings(max_examples=300)
@given(gpu_executions(gpu_target.names()), FLUSH, FLUSH)
def test_random_plans_of_random_problems(
    found: tuple[Case, GpuPlan, GpuTarget], flush_a: str, flush_b: str
) -> None:
    case, plan, target = found
    check(case, plan, target, (flush_a, flush_b))


@pytest.mark.full
@settings(max_examples=10_000)
@given(gpu_executions(gpu_target.names()), FLUSH, FLUSH)
def test_many_random_plans(found: tuple[Case, GpuPlan, GpuTarget], flush_a: str, flush_b: str) -> None:
    case, plan, target = found
    check(case, plan, target, (flush_a, flush_b))
