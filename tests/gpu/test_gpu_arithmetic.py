"""Complex factors of 1 and equal scalars on GPUs: kernels and launches, on the driver that runs them on this CPU."""

from __future__ import annotations

import itertools
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from fake_gpu import FakeGpu, Interface
from reference import Array
from test_arithmetic import EQUAL, FACTORS, NUMBERS, TYPES, Scaled, agree, independent, numbers, square

import ttc_llvm
from ttc_llvm.compiling.gpu_solution import GpuSolution
from ttc_llvm.gpu import kernel as gpu_kernel
from ttc_llvm.problem.problem import Problem
from ttc_llvm.runtime import kernel


def solved(problem: Problem) -> GpuSolution:
    return ttc_llvm.compile(problem, 1, target="sm_80")


def called(gpu: FakeGpu, solution: GpuSolution, alpha: Any, beta: Any) -> Array:
    """B's storage after a call of a solution."""
    a, b = (gpu.on_device(x.copy()) for x in numbers(solution.problem))
    solution(a.ctypes.data, b.ctypes.data, alpha, beta)
    return b


def transposed(gpu: FakeGpu, problem: Problem, alpha: Any, beta: Any) -> Array:
    """B's storage, by the way for arrays."""
    shape = (len(NUMBERS),) * 2
    a, b = (gpu.on_device(x.copy()) for x in numbers(problem))
    out = Interface(gpu, b.reshape(shape).T)
    ttc_llvm.transpose(
        Interface(gpu, a.reshape(shape).T), out=out, alpha=alpha, beta=beta, conjugate=problem.conjugate
    )
    return b


@pytest.mark.parametrize("dtype", TYPES)
def test_every_pair_of_factors(gpu: FakeGpu, dtype: str) -> None:
    solution = solved(square(dtype, conjugate=dtype == "c"))
    for alpha, beta in itertools.product(FACTORS, FACTORS):
        agree(solution.problem, alpha, beta, called(gpu, solution, alpha, beta))
    for alpha, beta in itertools.product(FACTORS[2:5], FACTORS[2::2]):
        agree(solution.problem, alpha, beta, transposed(gpu, solution.problem, alpha, beta))


def test_solutions_do_not_remember_equal_scalars(gpu: FakeGpu) -> None:
    def fresh() -> Scaled:
        return partial(called, gpu, solved(square("z")))

    independent(fresh)


def test_arrays_do_not_remember_equal_scalars(gpu: FakeGpu) -> None:
    for alpha, beta in itertools.product(EQUAL, EQUAL):
        agree(square("z"), complex(alpha), complex(beta), transposed(gpu, square("z"), alpha, beta))


def test_stored_kernels_of_another_revision_are_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    problem, path = Problem((1, 0), (8, 8), "c", alpha=2, beta=1), tmp_path / "ttc.db"
    ttc_llvm.compile(problem, 1, target="sm_80", database=path)
    monkeypatch.setattr(gpu_kernel, "build", lambda *_: pytest.fail("compiled"))
    ttc_llvm.compile(problem, 1, target="sm_80", database=path)
    monkeypatch.setattr(kernel, "REVISION", kernel.REVISION + 1)
    with pytest.raises(pytest.fail.Exception, match="compiled"):
        ttc_llvm.compile(problem, 1, target="sm_80", database=path)
