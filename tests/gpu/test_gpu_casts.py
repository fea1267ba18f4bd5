"""Conversions on GPUs, in the harness: every value as the rule says."""

from __future__ import annotations

import device
import pytest
from case import Case

from ttc_llvm.machine import gpu_target
from ttc_llvm.problem.canonical import canonicalise
from ttc_llvm.problem.problem import Problem
from ttc_llvm.tuning.gpu import candidates

PAIRS = [
    ("uint8", "float32"), ("float16", "float32"), ("float32", "bfloat16"), ("int32", "float64"), ("float32", "uint8"),
    ("float32", "float8_e4m3fn"), (">f4", "float32"), ("float32", "complex64"),
]  # fmt: skip


@pytest.mark.parametrize("scalars", [(1, 0), (2, 3)])
@pytest.mark.parametrize("pair", PAIRS)
def test_kernels_convert(pair: tuple[str, str], scalars: tuple[int, int]) -> None:
    problem = Problem((1, 0), (70, 45), pair, alpha=scalars[0], beta=scalars[1])
    target = gpu_target.find("gfx90a" if pair[0] == "uint8" else "sm_90")
    device.check(Case.of(problem, 7), candidates.model_plan(canonicalise(problem).canonical, target), target)
