"""On a real CUDA device, where there is one: random problems against the oracle, through the driver alone.

The same checks are rehearsed on the fake driver, so that nothing in them meets a device for the first time.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import reference
from case import Case, expected, fill, windows
from fake_gpu import FakeGpu
from gpu_strategies import gpu_executions
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from strategies import problems

import ttc_llvm
from ttc_llvm.errors import GpuError
from ttc_llvm.gpu.devices import Device, device
from ttc_llvm.gpu.driver import Driver, driver
from ttc_llvm.gpu.executable import Executable
from ttc_llvm.lowering.gpu.plan import GpuPlan
from ttc_llvm.machine.gpu_target import GpuTarget
from ttc_llvm.problem.dtypes import Kind
from ttc_llvm.problem.problem import Problem

GUARD = 512  # bytes around a tensor that nobody may write, and by which its alignment is kept
LOOSE = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
Array = npt.NDArray[Any]


class Memory:
    """A tensor's bytes on the device between two guards. shift: bytes by which it misses the usual alignment."""

    def __init__(self, found: Driver, content: Array, shift: int = 0) -> None:
        self._library = ctypes.CDLL("libcuda.so.1")
        self._host = np.full(GUARD + shift + content.nbytes + GUARD, 0x5A, np.uint8)
        self._start = GUARD + shift
        self._host[self._start : self._start + content.nbytes] = content.view(np.uint8).reshape(-1)
        block = ctypes.c_uint64()
        self._call("cuMemAlloc_v2", ctypes.byref(block), ctypes.c_size_t(len(self._host)))
        self._block, self.address = block.value, block.value + self._start
        self._copy("cuMemcpyHtoD_v2", ctypes.c_uint64(self._block), ctypes.c_void_p(self._host.ctypes.data))
        self._found, self._size = found, content.nbytes

    def __enter__(self) -> Memory:
        return self

    def __exit__(self, *error: object) -> None:
        self._library.cuMemFree_v2(ctypes.c_uint64(self._block))

    def read(self, dtype: np.dtype[Any]) -> Array:
        """The tensor as it is now; AssertionError where something beside it was written."""
        before = self._host.copy()
        self._found.call("cuCtxSynchronize")
        self._copy("cuMemcpyDtoH_v2", ctypes.c_void_p(self._host.ctypes.data), ctypes.c_uint64(self._block))
        end = self._start + self._size
        assert np.array_equal(before[: self._start], self._host[: self._start]), "memory before B was written"
        assert np.array_equal(before[end:], self._host[end:]), "memory behind B was written"
        return self._host[self._start : end].view(dtype)

    def _copy(self, name: str, to: Any, of: Any) -> None:
        self._call(name, to, of, ctypes.c_size_t(len(self._host)))

    def _call(self, name: str, *arguments: Any) -> None:
        assert getattr(self._library, name)(*arguments) == 0, name


@contextmanager
def on(here: Device) -> Iterator[Driver]:
    """The device's primary context."""
    found = driver()
    with found.using(found.primary(here.ordinal)):
        yield found


def check_plan(here: Device, case: Case, plan: GpuPlan, target: GpuTarget, shift: int) -> None:
    """One plan of a case, at addresses that are aligned, or those of single elements."""
    placed = case.placed
    window_a, window_b = windows(case)
    a = np.empty(window_a.span, reference.numpy_type(case.a))
    b = np.empty(window_b.span, reference.numpy_type(case.b))
    fill(case, a, b)
    wanted = expected(case, a, b)
    shifts = shift * case.a.itemsize, shift * case.b.itemsize
    with on(here) as found, Memory(found, a, shifts[0]) as held_a, Memory(found, b, shifts[1]) as held_b:
        base_a = held_a.address + window_a.origin * case.a.itemsize
        base_b = held_b.address + window_b.origin * case.b.itemsize
        Executable(placed, plan, target).run(base_a, base_b, case.alpha, case.beta, 0)
        got = held_b.read(b.dtype)
    assert reference.same(got, wanted, case.b, case.plain or case.a.kind is Kind.OPAQUE), f"{case}\n{plan}"


def check_problem(here: Device, problem: Problem) -> None:
    """The cost model's solution of a problem as a user calls it, on device addresses."""
    case = Case.of(problem)
    a = np.empty(problem.storage("a"), reference.numpy_type(problem.a))
    b = np.empty(problem.storage("b"), reference.numpy_type(problem.b))
    fill(case, a, b)
    wanted = expected(case, a, b)
    solution = ttc_llvm.compile(problem, 1, target=here.target)
    with on(here) as found, Memory(found, a) as held_a, Memory(found, b) as held_b:
        solution(held_a.address, held_b.address)
        got = held_b.read(b.dtype)
    assert reference.same(got, wanted, case.b, case.plain or case.a.kind is Kind.OPAQUE), f"{problem}\n{solution}"


@pytest.fixture
def real() -> Device:
    """The device of this machine."""
    try:
        found = device()
    except GpuError as error:
        pytest.skip(str(error))
    return found


@pytest.mark.gpu
@settings(LOOSE, max_examples=400)
@given(st.data(), st.sampled_from((0, 0, 1)))
def test_random_plans_of_random_problems_on_the_device(real: Device, data: st.DataObject, shift: int) -> None:
    case, plan, target = data.draw(gpu_executions((real.target.name,)))
    check_plan(real, case, plan, target, shift)


@pytest.mark.gpu
@settings(LOOSE, max_examples=100)
@given(problems(1_000_000))
def test_random_problems_as_users_state_them_on_the_device(real: Device, problem: Problem) -> None:
    check_problem(real, problem)


@pytest.mark.gpu
@pytest.mark.parametrize("beta", [0.0, 0.5])
def test_tensors_beyond_2_to_the_31_elements_on_the_device(real: Device, beta: float) -> None:
    problem = Problem((1, 0), (46_400, 46_400), "i8" if not beta else "s", alpha=1.0 if not beta else 2.0, beta=beta)
    if real.memory < 3 * problem.elements * problem.b.itemsize:
        pytest.skip(f"{real} has too little memory")
    pytest.importorskip("pycuda")
    found = ttc_llvm.compile(problem, 2, target=real.target, ignore_database=True)  # the search checks the result
    assert found.measurement is not None and found.measurement.seconds > 0


# --- the rehearsal ------------------------------------------------------------------------------------------


@settings(LOOSE, max_examples=20)
@given(st.data(), st.sampled_from((0, 0, 1)))
def test_rehearsal_of_random_plans(gpu: FakeGpu, data: st.DataObject, shift: int) -> None:
    here = replace(device(), capability=(9, 0))
    case, plan, target = data.draw(gpu_executions((here.target.name,)))
    check_plan(here, case, plan, target, shift)


@settings(LOOSE, max_examples=10)
@given(problems(2_000))
def test_rehearsal_of_random_problems(gpu: FakeGpu, problem: Problem) -> None:
    check_problem(device(), problem)


def test_rehearsal_notices_a_wrong_result(gpu: FakeGpu, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Driver, "launch", lambda *arguments: None)
    with pytest.raises(AssertionError):
        check_problem(device(), Problem((1, 0), (8, 9), "s"))
