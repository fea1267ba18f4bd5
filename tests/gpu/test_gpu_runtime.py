"""Solutions called on arrays of a device: whose memory, which stream, which context, and what is refused."""

from __future__ import annotations

import ctypes
import gc
import pickle
import sys
import threading
import time
import types
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import replace
from functools import wraps
from typing import Any

import numpy as np
import pytest
import reference
from case import Case, expected, fill, windows
from fake_gpu import DLPack, FakeGpu, Interface, forget_driver
from gpu_strategies import gpu_executions
from hypothesis import given
from tiers import examples

import ttc_llvm
from ttc_llvm.compiling import gpu_compiling as compiling
from ttc_llvm.errors import ArrayError, GpuError, ProblemError, TargetError
from ttc_llvm.gpu import driver, driver_entries
from ttc_llvm.gpu import kernel as gpu_kernel
from ttc_llvm.gpu.driver import Driver
from ttc_llvm.gpu.executable import Executable, Loaded
from ttc_llvm.lowering.gpu.plan import GpuPlan
from ttc_llvm.machine import gpu_target as gpu_target
from ttc_llvm.machine.gpu_target import GpuTarget
from ttc_llvm.operands.device import is_on_device
from ttc_llvm.operands.reading import operand
from ttc_llvm.operands.streams import stream_handle
from ttc_llvm.problem.kinds import Kinds
from ttc_llvm.problem.problem import Problem

PROBLEM = Problem((2, 0, 1), (7, 5, 9), "s", alpha=2.0, beta=3.0)
NVIDIA = tuple(name for name in gpu_target.names() if gpu_target.find(name).is_nvidia)


def solved(problem: Problem = PROBLEM, **options: Any) -> Any:
    """The cost model's solution."""
    return ttc_llvm.compile(problem, 1, target="sm_80", **options)


def tensors(problem: Problem = PROBLEM) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """A and B in flat storage, and what B must become."""
    case = Case.of(problem)
    a = np.empty(problem.storage("a"), reference.numpy_type(problem.a))
    b = np.empty(problem.storage("b"), reference.numpy_type(problem.b))
    fill(case, a, b)
    return a, b, expected(case, a, b)


@pytest.mark.parametrize("make", [Interface, DLPack])
def test_arrays_of_any_library_are_used_in_place(gpu: FakeGpu, make: Any) -> None:
    a, b, wanted = tensors()
    given_b = make(gpu, b)
    assert solved()(make(gpu, a), given_b) is given_b
    assert reference.same(b, wanted, PROBLEM.b, False)


@pytest.mark.parametrize("make", [Interface, DLPack])
def test_arrays_are_read_by_their_shapes_and_strides_as_on_the_host(gpu: FakeGpu, make: Any) -> None:
    x = np.random.default_rng(0).random((7, 5, 9), dtype=np.float32)
    for order_a, order_b, beta in (("C", "C", 0), ("C", "F", 3), ("F", "C", 3), ("F", "F", 0)):
        a, b = np.array(x, order=order_a), np.ones((9, 7, 5), np.float32, order=order_b)  # type: ignore[call-overload]
        solved()(make(gpu, a), make(gpu, b), beta=beta)
        assert np.array_equal(b, 2 * x.transpose(2, 0, 1) + np.float32(beta))
    whole = np.zeros((9, 7, 5), np.float32, order="F")
    solved()(make(gpu, x), gpu.on_device(whole).ctypes.data, alpha=1, beta=0)  # an address is storage
    assert np.array_equal(whole, x.transpose(2, 0, 1))
    cube, out = np.random.default_rng(1).random((4, 4, 4), dtype=np.float32), np.zeros((4, 4, 4), np.float32)
    solved(Problem.from_arrays(make(gpu, cube), (2, 0, 1)))(make(gpu, cube), make(gpu, out))
    assert np.array_equal(out, cube.transpose(2, 0, 1))
    with pytest.raises(ArrayError, match=r"B has shape \(7, 5, 9\) in C order: the problem's has \(9, 7, 5\)"):
        solved()(make(gpu, x), make(gpu, x.copy()))


def test_addresses_and_values_of_the_call(gpu: FakeGpu) -> None:
    a, b, _ = tensors()
    wanted = expected(Case.of(Problem((2, 0, 1), (7, 5, 9), "s", alpha=5.0, beta=0.0)), a, b)
    gpu.on_device(a), gpu.on_device(b)
    solution = solved()
    solution(a.ctypes.data, b.ctypes.data, alpha=5, beta=0)
    assert reference.same(b, wanted, PROBLEM.b, False)
    again = pickle.loads(pickle.dumps(solution))
    again(a.ctypes.data, b.ctypes.data, alpha=1, beta=0)
    assert b.tobytes() == expected(Case.of(Problem((2, 0, 1), (7, 5, 9), "s")), a, b).tobytes()


def test_pickled_solutions_take_their_code_from_the_database(gpu: FakeGpu, monkeypatch: pytest.MonkeyPatch) -> None:
    a, b, wanted = tensors()
    pickled = pickle.dumps(solved())
    with monkeypatch.context() as patch:
        patch.setattr(gpu_kernel, "build", lambda *_: pytest.fail("compiled"))
        again = pickle.loads(pickled)
        again(Interface(gpu, a), Interface(gpu, b))
    assert b.tobytes() == wanted.tobytes()


@examples(30)
@given(gpu_executions(NVIDIA))
def test_random_plans_through_the_driver(gpu: FakeGpu, found: tuple[Case, GpuPlan, GpuTarget]) -> None:
    case, plan, target = found
    gpu.set(capability=(12, 0))
    window_a, window_b = windows(case)
    a = gpu.on_device(np.empty(max(1, window_a.span), reference.numpy_type(case.a)))
    b = gpu.on_device(np.empty(max(1, window_b.span), reference.numpy_type(case.b)))
    fill(case, a, b)
    wanted = expected(case, a, b)
    address_a = a.ctypes.data + window_a.origin * a.itemsize
    address_b = b.ctypes.data + window_b.origin * b.itemsize
    Executable(case.placed, plan, target).run(address_a, address_b, complex(case.alpha), complex(case.beta), 0)
    assert reference.same(b, wanted, case.b, case.plain), str(case)


def test_tensors_off_the_vectors_take_the_kernel_of_single_elements(gpu: FakeGpu) -> None:
    problem = Problem((1, 0), (64, 64))
    a, b, wanted = (np.concatenate((np.zeros(1, np.float32), x)) for x in tensors(problem))
    gpu.on_device(a), gpu.on_device(b)
    solution = solved(problem)
    assert solution.launch.align_a > 4
    solution(a[1:].ctypes.data, b[1:].ctypes.data)
    assert b.tobytes() == wanted.tobytes()


# --- streams and contexts -----------------------------------------------------------------------------------


def launches(gpu: FakeGpu) -> list[str]:
    return [line.partition("stream ")[2] for line in gpu.journal if line.startswith("launch")]


@pytest.mark.parametrize(
    ("stream", "handle"),
    [
        (0x77, 0x77),
        (type("CuPyStream", (), {"ptr": 0x88})(), 0x88),
        (type("TorchStream", (), {"cuda_stream": 0x99})(), 0x99),
        (type("PycudaStream", (), {"handle": 0xAA})(), 0xAA),
        (type("NumbaStream", (), {"handle": ctypes.c_void_p(0xBB)})(), 0xBB),
        (type("NumbaDefault", (), {"handle": ctypes.c_void_p()})(), 0),
        (type("CudaCore", (), {"__cuda_stream__": lambda self: (0, 0xCC)})(), 0xCC),
    ],
)
def test_streams_of_all_libraries(gpu: FakeGpu, stream: Any, handle: int) -> None:
    assert stream_handle(stream) == handle
    a, b, wanted = tensors()
    solved()(Interface(gpu, a), Interface(gpu, b), stream=stream)
    assert launches(gpu) == [f"{handle:#x}" if handle else "0"]
    assert reference.same(b, wanted, PROBLEM.b, False)


def test_a_launch_waits_for_the_streams_that_arrays_come_from(gpu: FakeGpu) -> None:
    a, b, _ = tensors()
    solved()(Interface(gpu, a, stream=0x30), Interface(gpu, b, stream=0x40), stream=0x50)
    order = [line for line in gpu.journal if line.split()[0] in ("record", "wait", "launch")]
    assert order[:4] == ["record stream 0x30", "wait stream 0x50", "record stream 0x40", "wait stream 0x50"]
    assert order[4].endswith("stream 0x50")


def test_by_default_the_stream_of_the_result_is_taken_and_nothing_is_awaited_by_the_host(gpu: FakeGpu) -> None:
    a, b, _ = tensors()
    solved()(Interface(gpu, a, stream=0x30), Interface(gpu, b, stream=0x40))
    assert launches(gpu) == ["0x40"]
    assert not [line for line in gpu.journal if line.startswith("sync")]


@pytest.mark.parametrize("stream", ["default", 1.5, -3, True])
def test_what_is_no_stream(gpu: FakeGpu, stream: Any) -> None:
    a, b, _ = tensors()
    with pytest.raises(ArrayError, match="a stream of pycuda, CuPy, PyTorch or Numba"):
        solved()(Interface(gpu, a), Interface(gpu, b), stream=stream)


def test_kernels_go_where_the_memory_is(gpu: FakeGpu) -> None:
    """The second device, a context of the caller's own, and a memory pool, which has none."""
    gpu.set(devices=2)
    solution = solved()
    for ordinal, owner, context in ((1, 0x1001, 0x1001), (0, 0x2000, 0x2000), (1, 0, 0x1001)):
        a, b, wanted = tensors()
        for x in (a, b):
            gpu.on_device(x, ordinal, owner)
        gpu.forget()
        solution(a.ctypes.data, b.ctypes.data)
        assert reference.same(b, wanted, PROBLEM.b, False)
        loads = [line for line in gpu.journal if line.startswith("load")]
        assert loads in ([f"load {context}"], [])
    assert driver.driver().current() == 0, "the caller's thread has no context, as before"


@pytest.mark.parametrize("hosts", ["a", "b", "ab"])
def test_memory_of_the_host_is_refused(gpu: FakeGpu, hosts: str) -> None:
    """A kernel that reads there would cost the context, and all that is in it."""
    a, b, _ = tensors()
    for name, x in (("a", a), ("b", b)):
        if name not in hosts:
            gpu.on_device(x)
    address = (b if "b" in hosts else a).ctypes.data
    with pytest.raises(ArrayError, match=f"address {address:#x} is no address of a CUDA device's memory"):
        solved()(a.ctypes.data, b.ctypes.data)
    assert not launches(gpu)


def test_both_tensors_are_on_one_device(gpu: FakeGpu) -> None:
    """Or in memory that all devices reach: pinned, or managed."""
    gpu.set(devices=2)
    a, b, wanted = tensors()
    gpu.on_device(a, 1), gpu.on_device(b, 0)
    with pytest.raises(ArrayError, match="A is on CUDA device 1 and B on device 0: both have to be on the same"):
        solved()(a.ctypes.data, b.ctypes.data)
    assert not launches(gpu)
    for kind in (1, 3):
        gpu.lib.fake_kind(a.ctypes.data, kind)
        old = b.copy()
        solved()(a.ctypes.data, b.ctypes.data)
        assert reference.same(b, wanted, PROBLEM.b, False)
        b[:] = old


def retired() -> int:
    """Modules that nobody launches any more."""
    return sum(map(len, driver.driver()._retired.values()))


def test_modules_go_with_their_solution(gpu: FakeGpu, monkeypatch: pytest.MonkeyPatch) -> None:
    """When others are loaded, and many: nobody waits for the device before."""
    monkeypatch.setattr(driver, "RETIRED", 3)
    a, b, _ = tensors()
    for number in range(1, 5):
        solution = solved()
        solution(Interface(gpu, a), Interface(gpu, b))
        del solution
        gc.collect()
        assert retired() == (number if number < 4 else 1)
        assert count(gpu, "wait for the context") == (number == 4)
    assert count(gpu, "unload") == 3


def test_a_context_of_the_same_handle_is_another(gpu: FakeGpu) -> None:
    """Code of one that is gone would be launched in it."""
    a, b, _ = tensors()
    solution, made = solved(), ctypes.c_size_t()
    for _ in range(2):
        gpu.lib.cuCtxCreate_v2(ctypes.byref(made), 0, 0)
        gpu.on_device(a, 0, made.value), gpu.on_device(b, 0, made.value)
        gpu.forget()
        solution(a.ctypes.data, b.ctypes.data)
        assert count(gpu, "load 8192") == 1
        gpu.lib.cuCtxPopCurrent_v2(ctypes.byref(made))
        gpu.release()


def test_streams_of_another_context_are_awaited_by_an_event_of_theirs(gpu: FakeGpu) -> None:
    gpu.set(devices=2)
    a, b, wanted = tensors()
    gpu.lib.fake_stream(0x30, 0x1001)
    gpu.lib.fake_kind(gpu.on_device(a, 1).ctypes.data, 3)
    x = Interface(gpu, a, stream=0x30)
    solved()(x, Interface(gpu, b), stream=0x50)
    assert [line for line in gpu.journal if "stream 0x30" in line or "wait" in line] == [
        "record stream 0x30", "wait stream 0x50"
    ]  # fmt: skip
    assert reference.same(b, wanted, PROBLEM.b, False)


def test_the_default_stream_has_two_handles(gpu: FakeGpu) -> None:
    a, b, _ = tensors()
    for how in ({"stream": 0}, {"stream": 1}, {}):
        gpu.forget()
        solved()(Interface(gpu, a, stream=1), Interface(gpu, b, stream=1), **how)
        assert launches(gpu) == ["0"] and count(gpu, "wait") == 0


def test_of_two_errors_the_first_is_told(gpu: FakeGpu) -> None:
    found = driver.driver()
    with pytest.raises(ZeroDivisionError), found.using(found.primary(0)):
        found._handle("cuCtxPopCurrent_v2")  # so that it cannot be popped once more
        raise ZeroDivisionError


def test_facts_of_a_device_are_asked_for_once(gpu: FakeGpu, monkeypatch: pytest.MonkeyPatch) -> None:
    names: list[int] = []
    found = Driver.name

    def name(self: Driver, ordinal: int) -> str:
        names.append(ordinal)
        return found(self, ordinal)

    monkeypatch.setattr(Driver, "name", name)
    for _ in range(3):
        ttc_llvm.transpose(Interface(gpu, np.ones((3, 4), np.float32)), out=Interface(gpu, np.ones((4, 3), np.float32)))
    assert names == [0]


# --- what does not fit ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"typestr": "<f8"}, "A has dtype float64: the problem's type is s"),
        ({"shape": (3,), "strides": None}, "A holds 3 elements: the problem needs 315"),
        ({"strides": (8,)}, r"A has shape \(315,\) and strides \(8,\)"),
        ({"mask": 1}, "A is masked"),
    ],
)
def test_arrays_that_do_not_fit(gpu: FakeGpu, change: dict[str, Any], words: str) -> None:
    a, b, _ = tensors()
    with pytest.raises(ArrayError, match=words):
        solved()(Interface(gpu, a, **change), Interface(gpu, b))


def test_more_that_is_refused(gpu: FakeGpu) -> None:
    a, b, _ = tensors()
    x, y = Interface(gpu, a), Interface(gpu, b)
    read_only = Interface(gpu, b, data=(b.ctypes.data, True))
    for first, second, words in (
        (a, y, "A is a ndarray: an array on a CUDA device is expected"),
        (x, read_only, "B is read-only"),
        (x, DLPack(gpu, b, flags=1), "B is read-only, as its DLPack export says"),
        (x, DLPack(gpu, b, flags=2), "B is exported by DLPack as a copy"),
        (x, x, "overlap"),
        (0, y, "A is the integer 0"),
        (DLPack(gpu, a, kind=1), y, "A is a DLPack: an array on a CUDA device is expected"),
    ):
        with pytest.raises(ArrayError, match=words):
            solved()(first, second)
    with pytest.raises(ArrayError, match="out is read-only, as its DLPack export says"):
        ttc_llvm.transpose(x, out=DLPack(gpu, b, flags=1))
    with pytest.raises(ProblemError, match="alpha"):
        solved()(x, y, alpha="two")


def test_results_of_a_library_whose_arrays_are_immutable(gpu: FakeGpu, monkeypatch: pytest.MonkeyPatch) -> None:
    """JAX's: its own new array, which is whole when the call returns, since nobody would wait; never `out`."""
    made: list[Any] = []

    class Array(Interface):
        __module__ = "jaxlib"
        dtype = np.dtype(np.float32)

        def devices(self) -> set[int]:
            return {7}

        def block_until_ready(self) -> Array:
            return self

    def empty(shape: tuple[int, ...], dtype: Any, device: int) -> Array:
        made.append((shape, dtype, device))
        return Array(gpu, np.full(shape, np.nan, dtype))

    jax = types.SimpleNamespace(enable_x64=lambda on: nullcontext(), numpy=types.SimpleNamespace(empty=empty))
    monkeypatch.setitem(sys.modules, "jax", jax)
    x = np.random.default_rng(0).random((3, 4, 5), np.float32)
    found = ttc_llvm.transpose(Array(gpu, x), (2, 0, 1))
    assert made == [((5, 3, 4), np.float32, 7)] and np.array_equal(found.array, x.transpose(2, 0, 1))
    assert gpu.journal[-1] == "sync 0"
    with pytest.raises(ArrayError, match="out is an array of JAX, which are immutable: take the result"):
        ttc_llvm.transpose(Array(gpu, x), (2, 0, 1), out=found)


def test_a_dlpack_type_without_a_dtype(gpu: FakeGpu) -> None:
    found = DLPack(gpu, np.zeros(4, np.float32))
    found.tensor.lanes = 4
    with pytest.raises(ArrayError, match="DLPack type that is not supported"):
        operand(found, "x")


def test_offsets_of_dlpack_count(gpu: FakeGpu) -> None:
    array = np.zeros((4, 6), np.float32)[:, ::2]
    found = operand(DLPack(gpu, array, offset=64), "x")
    assert found.address == array.ctypes.data
    assert (found.view.shape, found.view.strides) == (array.shape, array.strides)


def test_arrays_of_the_host_are_told_apart(gpu: FakeGpu) -> None:
    assert not is_on_device(np.zeros(3))
    assert not is_on_device([1, 2])
    assert not is_on_device(DLPack(gpu, np.zeros(3), kind=1))
    assert is_on_device(DLPack(gpu, np.zeros(3)))
    assert is_on_device(Interface(gpu, np.zeros(3)))


# --- machines -------------------------------------------------------------------------------------------------


def test_a_device_older_than_the_code(gpu: FakeGpu) -> None:
    gpu.set(capability=(7, 5))
    a, b, _ = tensors()
    with pytest.raises(TargetError, match=r"code for sm_80 cannot run here: the device is Fake GPU 0 \(sm_75\)"):
        solved()(Interface(gpu, a), Interface(gpu, b))


def test_amd_code_does_not_run(gpu: FakeGpu) -> None:
    a, b, _ = tensors()
    solution = ttc_llvm.compile(PROBLEM, 1, target="gfx90a")
    with pytest.raises(TargetError, match="code for gfx90a cannot run here"):
        solution(Interface(gpu, a), Interface(gpu, b))


@pytest.mark.parametrize(
    ("machine", "words"),
    [
        ({"devices": 0}, "there is no CUDA device"),
        ({"status": 803}, "cannot be started: CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"),
        ({"status": 34}, "cannot be started: the CUDA toolkit's stub of it is found first"),
    ],
)
def test_machines_without_a_device(gpu: FakeGpu, machine: dict[str, Any], words: str) -> None:
    solution = solved()
    gpu.set(**machine)
    with pytest.raises(GpuError, match=words):
        solution(1 << 20, 1 << 21)
    with pytest.raises(GpuError, match=words):
        ttc_llvm.compile(PROBLEM, 10, target="sm_80")


def test_machines_without_a_driver(gpu: FakeGpu, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver_entries, "DEFAULT_LIBRARIES", ("libnothing.so",))
    forget_driver()
    with pytest.raises(GpuError, match=r"there is no NVIDIA driver on this machine: libnothing\.so"):
        solved()(1 << 20, 1 << 21)
    assert solved().target.name == "sm_80"
    assert ttc_llvm.compile(PROBLEM, 1, target="cuda").target.name == gpu_target.DEFAULT


def test_the_device_present_is_the_default(gpu: FakeGpu) -> None:
    gpu.set(capability=(8, 9))
    assert ttc_llvm.compile(PROBLEM, 1, target="cuda").target.name == "sm_89"
    gpu.set(capability=(12, 1))
    assert ttc_llvm.compile(PROBLEM, 1, target="cuda").target.name == "sm_120"
    gpu.set(capability=(3, 0))
    with pytest.raises(TargetError, match=r"compute capability 3\.0 is not supported"):
        ttc_llvm.compile(PROBLEM, 1, target="cuda")


def test_what_the_driver_refuses_is_told(gpu: FakeGpu) -> None:
    with (
        pytest.raises(GpuError, match=r"cannot load the kernel: CUDA_ERROR_INVALID_PTX.*Missing .version directive"),
        driver.driver().using(driver.driver().primary(0)),
    ):
        driver.driver().load(b"nonsense")


def test_errors_are_exported() -> None:
    assert issubclass(ttc_llvm.GpuError, ttc_llvm.TtcError)


# --- threads --------------------------------------------------------------------------------------------------


def together(work: Callable[[int], Any], count: int = 8) -> list[Any]:
    """The results of threads that begin at the same time."""
    barrier = threading.Barrier(count)

    def begun(number: int) -> Any:
        barrier.wait()
        return work(number)

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(begun, range(count)))


@pytest.fixture
def slow(gpu: FakeGpu, monkeypatch: pytest.MonkeyPatch) -> FakeGpu:
    """A device on which all that is made takes so long that every thread comes meanwhile."""
    for home, name in ((gpu_kernel, "build"), (Driver, "load"), (Driver, "__init__"), (compiling, "plan")):
        monkeypatch.setattr(home, name, slowed(getattr(home, name)))
    return gpu


def slowed(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, after a while."""

    @wraps(function)
    def found(*arguments: Any, **options: Any) -> Any:
        time.sleep(0.02)
        return function(*arguments, **options)

    return found


def count(gpu: FakeGpu, word: str) -> int:
    return sum(line.startswith(word) for line in gpu.journal)


def test_cold_threads_share_one_driver(slow: FakeGpu) -> None:
    assert len({id(one) for one in together(lambda _: driver.driver())}) == 1


def test_cold_threads_load_a_solution_s_code_once(slow: FakeGpu) -> None:
    """Kinds of scalars alternate; every thread has scalars of its own, which share the kinds' code."""
    given = [tensors() for _ in range(8)]
    arrays = [(Interface(slow, a), Interface(slow, b)) for a, b, _ in given]
    kept = [solved()]
    forget_driver()
    together(lambda k: kept[0](*arrays[k], alpha=2.0 + k, beta=3.0 * (k % 2)))
    assert count(slow, "load") == 2 and count(slow, "launch") == 8
    for k, (a, _, _) in enumerate(given):
        problem = Problem((2, 0, 1), (7, 5, 9), "s", alpha=2.0 + k, beta=3.0 * (k % 2))
        assert reference.same(arrays[k][1].array, expected(Case.of(problem), a, tensors()[1]), PROBLEM.b, False)
    kept.clear()
    gc.collect()
    assert retired() == 2


def test_cold_threads_load_a_layout_s_code_once(slow: FakeGpu) -> None:
    sources = [np.random.default_rng(k).random((6, 7, 8), np.float32) for k in range(8)]
    results = [np.zeros((8, 6, 7), np.float32) for _ in sources]
    arrays = [(Interface(slow, x), Interface(slow, y)) for x, y in zip(sources, results, strict=True)]
    forget_driver()
    together(lambda k: ttc_llvm.transpose(arrays[k][0], (2, 0, 1), out=arrays[k][1]))
    assert all(np.array_equal(y, x.transpose(2, 0, 1)) for x, y in zip(sources, results, strict=True))
    assert count(slow, "load") == 1 and retired() == 0


def test_code_stays_while_any_thread_launches_it(slow: FakeGpu, monkeypatch: pytest.MonkeyPatch) -> None:
    """Solutions go while others are made; the fake driver refuses functions whose module is unloaded."""
    monkeypatch.setattr(driver, "RETIRED", 2)
    given = [tensors() for _ in range(8)]
    arrays = [(Interface(slow, a), Interface(slow, b)) for a, b, _ in given]

    def made_and_dropped(k: int) -> None:
        for _ in range(4):
            solved()(*arrays[k], beta=0.0)
            ttc_llvm.transpose(arrays[k][0], out=Interface(slow, np.zeros(315, np.float32)))

    together(made_and_dropped)
    gc.collect()
    assert count(slow, "unload") + retired() == 8 * 4 and count(slow, "unload") > 8


def test_a_module_without_the_kernel_is_unloaded(gpu: FakeGpu) -> None:
    image = solved().executable(Kinds.of(2.0, 3.0)).image(True)
    found = driver.driver()
    with pytest.raises(GpuError, match="NOT_FOUND"):
        Loaded(found, found.primary(0), replace(image, launch=replace(image.launch, entry="nothing")))
    gc.collect()
    assert retired() == 1
