"""Calls of `transpose` on a device whose like came before: what they ask of the driver, and what they must not miss."""

from __future__ import annotations

import ctypes
import gc
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from fake_gpu import FakeGpu, Interface, forget_driver
from fake_torch import Tensor, Torch
from test_gpu_runtime import count, launches, together

import ttc_llvm
from ttc_llvm.arrays import gpu as on_device
from ttc_llvm.arrays import repeated_calls
from ttc_llvm.errors import ArrayError, ProblemError
from ttc_llvm.gpu import driver

RNG = np.random.default_rng(3)
LEAST = Counter(cuPointerGetAttribute=2, cuCtxGetCurrent=1, cuCtxGetId=1, cuLaunchKernel=1)
AXES = (2, 0, 1)
Make = Callable[[Any], Any]


@pytest.fixture(params=["torch", "interface"])
def make(request: pytest.FixtureRequest, gpu: FakeGpu, monkeypatch: pytest.MonkeyPatch) -> Make:
    """What makes an array on the device, of PyTorch's or of any library's."""
    torch = Torch(gpu, monkeypatch)
    return torch.tensor if request.param == "torch" else lambda array: Interface(gpu, array)


@pytest.fixture
def torch(gpu: FakeGpu, monkeypatch: pytest.MonkeyPatch) -> Torch:
    return Torch(gpu, monkeypatch)


def values(*shape: int) -> np.ndarray[Any, Any]:
    return RNG.random(shape, np.float32)


def repeats_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """From here on calls must be repetitions."""
    monkeypatch.setattr(on_device, "transpose", lambda *_: pytest.fail("the long way is taken"))


def asked(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """What is asked of the driver from here on."""
    found: Counter[str] = Counter()
    entries = driver.driver()._entries

    def counted(name: str, entry: Callable[..., int]) -> Callable[..., int]:
        def called(*arguments: Any) -> int:
            found[name] += 1
            return entry(*arguments)

        return called

    monkeypatch.setattr(driver.driver(), "_entries", {name: counted(name, entry) for name, entry in entries.items()})
    return found


def test_a_repeated_call_asks_five_questions(gpu: FakeGpu, make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whose memory A and B are, which context is current, whether it is still the same, and the launch."""
    x, out = values(4, 5, 6), np.zeros((6, 4, 5), np.float32)
    with driver.driver().using(driver.driver().primary(0)):
        ttc_llvm.transpose(make(x), AXES, out=make(out))
        repeats_only(monkeypatch)
        questions = asked(monkeypatch)
        for _ in range(3):
            x = values(4, 5, 6)
            given, place = make(x), make(out)
            assert ttc_llvm.transpose(given, AXES, out=place) is place
            assert np.array_equal(out, x.transpose(AXES))
            assert questions == LEAST
            questions.clear()


def test_new_results_are_the_library_s(torch: Torch, monkeypatch: pytest.MonkeyPatch) -> None:
    ttc_llvm.transpose(torch.tensor(values(4, 5, 6)), AXES)
    repeats_only(monkeypatch)
    for _ in range(3):
        x = values(4, 5, 6)
        found = ttc_llvm.transpose(torch.tensor(x), list(AXES))
        assert type(found) is Tensor and np.array_equal(found.array, x.transpose(AXES))


def test_scalars_of_a_kind_share_what_is_known(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    x, out = values(4, 5, 6), np.ones((6, 4, 5), np.float32)
    ttc_llvm.transpose(make(x), AXES, out=make(out), alpha=2.0, beta=3.0)
    repeats_only(monkeypatch)
    for alpha, beta in ((5.0, 0.5), (-2.0, 7.0)):
        old = out.copy()
        ttc_llvm.transpose(make(x), AXES, out=make(out), alpha=alpha, beta=beta)
        assert np.allclose(out, alpha * x.transpose(AXES) + beta * old)


def test_what_differs_is_told_apart(make: Make) -> None:
    """In any order, again and again: axes, shapes, strides of A and of B, types, kinds of scalars."""
    whole = values(8, 10, 12)
    cases = []
    for x in (whole, whole[::2], whole[:, ::-1], whole[:, :, 1:-1].astype("f8"), whole[:4, :5, :6].copy("F")):
        for axes in (None, (2, 0, 1), (0, 2, 1), [1, 0, 2], (-1, 0, 1)):
            for order, alpha, beta in (("C", 1, 0), ("F", 1, 0), ("C", 2.0, 0), ("C", 1, 1), ("F", 0, 2.0)):
                cases.append((x, axes, order, alpha, beta))
    for k in RNG.permutation(np.repeat(np.arange(len(cases)), 2))[:90]:
        x, axes, order, alpha, beta = cases[k]
        out = np.array(np.ones(x.transpose(axes).shape, x.dtype), order=order)
        ttc_llvm.transpose(make(x), axes, out=make(out), alpha=alpha, beta=beta)
        assert np.allclose(out, alpha * x.transpose(axes) + beta)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"axes": (2.0, 0.0, 1.0)}, "do not permute"),
        ({"axes": (0, 1, 1)}, "do not permute"),
        ({"order": "F"}, "results on a device are C-contiguous"),
        ({"order": "X"}, "order"),
        ({"effort": 1.5}, "effort"),
        ({"conjugate": "yes"}, "conjugate"),
        ({"alpha": 2j}, "alpha"),
        ({"alpha": "two"}, "alpha"),
        ({"stream": "default"}, "a stream of pycuda"),
        ({"out": None, "beta": 1}, "without out"),
    ],
)
def test_what_is_refused_stays_refused(make: Make, wrong: dict[str, Any], words: str) -> None:
    x, out = make(values(4, 5, 6)), make(np.zeros((6, 4, 5), np.float32))
    for _ in range(2):
        ttc_llvm.transpose(x, AXES, out=out)
        with pytest.raises(ttc_llvm.TtcError, match=words):
            ttc_llvm.transpose(x, **{"axes": AXES, "out": out, **wrong})


def test_memory_is_looked_at_every_time(gpu: FakeGpu, make: Make) -> None:
    """Overlaps, odd addresses, and what is not the device's any more: a kernel there would cost the context."""
    x, room = values(6, 6), np.zeros(6 * 6 + 40, np.float32)
    out = room[: 6 * 6].reshape(6, 6)
    ttc_llvm.transpose(make(x), out=make(out))
    far = room[20:56].reshape(6, 6)
    with pytest.raises(ArrayError, match="out shares memory with the array"):
        ttc_llvm.transpose(make(out), out=make(far))
    storage = np.zeros(4 * 36 + 4, np.uint8)[1:145].view("V4").reshape(6, 6)
    odd = np.ndarray((6, 6), np.float32, storage.data)
    ttc_llvm.transpose(make(x), out=make(odd))
    assert np.array_equal(odd, x.T)
    lost, place = make(values(6, 6)), make(out)
    ttc_llvm.transpose(lost, out=place)
    gpu.release()
    with pytest.raises(ArrayError, match="is no address of a CUDA device's memory"):
        ttc_llvm.transpose(lost, out=place)
    gpu.on_device(lost.array)
    with pytest.raises(ArrayError, match="is no address of a CUDA device's memory"):
        ttc_llvm.transpose(lost, out=place)
    assert not gpu.errors


def test_both_arrays_are_on_one_device_every_time(gpu: FakeGpu) -> None:
    gpu.set(devices=2)
    x, out = values(4, 5), np.zeros((5, 4), np.float32)
    a, b = Interface(gpu, x), Interface(gpu, out)
    ttc_llvm.transpose(a, out=b)
    gpu.release()
    gpu.on_device(x, 1), gpu.on_device(out, 0)
    with pytest.raises(ArrayError, match="A is on CUDA device 1 and B on device 0"):
        ttc_llvm.transpose(a, out=b)
    gpu.release()
    gpu.on_device(x, 1), gpu.on_device(out, 1)
    for _ in range(2):
        out[:] = 0
        ttc_llvm.transpose(a, out=b)
        assert np.array_equal(out, x.T)
    assert count(gpu, "load") == 2, "one for each device"


def test_memory_of_pools_belongs_to_the_device(gpu: FakeGpu, monkeypatch: pytest.MonkeyPatch) -> None:
    x, out = values(4, 5), np.zeros((5, 4), np.float32)
    a, b = Interface(gpu, x), Interface(gpu, out)
    gpu.release()
    gpu.on_device(x, 0, 0), gpu.on_device(out, 0, 0)
    ttc_llvm.transpose(a, out=b)
    repeats_only(monkeypatch)
    out[:] = 0
    ttc_llvm.transpose(a, out=b)
    assert np.array_equal(out, x.T)


def test_tensors_say_more_than_their_layout(torch: Torch) -> None:
    """Gradients, lazy conjugates, versions."""
    x = (values(4, 5) + 1j * values(4, 5)).astype(np.complex64)
    out = torch.tensor(np.zeros((5, 4), np.complex64))
    for turn in range(1, 4):
        ttc_llvm.transpose(torch.tensor(x), out=out)
        assert np.array_equal(out.array, x.T) and out.version == 3 * turn - 2
        ttc_llvm.transpose(torch.tensor(x, conjugated=True), out=out)
        assert np.array_equal(out.array, x.conj().T)
        ttc_llvm.transpose(torch.tensor(x, conjugated=True), out=out, conjugate=True)
        assert np.array_equal(out.array, x.T) and out.version == 3 * turn
        with pytest.raises(ArrayError, match="requires a gradient"):
            ttc_llvm.transpose(torch.tensor(x, requires_grad=True), out=out)
        with pytest.raises(ArrayError, match="out is a lazily conjugated view"):
            ttc_llvm.transpose(torch.tensor(x), out=torch.tensor(out.array, conjugated=True))


def test_descriptions_say_more_than_their_layout(gpu: FakeGpu) -> None:
    x, out = values(4, 5), np.zeros((5, 4), np.float32)
    for _ in range(2):
        ttc_llvm.transpose(Interface(gpu, x), out=Interface(gpu, out))
        with pytest.raises(ArrayError, match="out is read-only"):
            ttc_llvm.transpose(Interface(gpu, x), out=Interface(gpu, out, data=(out.ctypes.data, True)))
        with pytest.raises(ArrayError, match="a is masked"):
            ttc_llvm.transpose(Interface(gpu, x, mask=1), out=Interface(gpu, out))


def test_streams_are_asked_for_every_time(gpu: FakeGpu, torch: Torch) -> None:
    x, out = torch.tensor(values(4, 5)), torch.tensor(np.zeros((5, 4), np.float32))
    ttc_llvm.transpose(x, out=out)
    torch.stream = 0x80
    ttc_llvm.transpose(x, out=out)
    gpu.forget()
    ttc_llvm.transpose(x, out=out, stream=0x90)
    torch.stream = 1
    ttc_llvm.transpose(x, out=out)
    order = [line for line in gpu.journal if line.split()[0] in ("record", "wait", "launch")]
    assert order[:2] == ["record stream 0x80", "wait stream 0x90"]
    assert launches(gpu) == ["0x90", "0"]


def test_a_context_that_is_gone_takes_its_code_along(gpu: FakeGpu) -> None:
    """The next one has its handle; functions of the first one's modules are refused by the fake driver, too."""
    x, out, made = values(4, 5), np.zeros((5, 4), np.float32), ctypes.c_size_t()
    for _ in range(3):
        gpu.lib.cuCtxCreate_v2(ctypes.byref(made), 0, 0)
        gpu.on_device(x, 0, made.value), gpu.on_device(out, 0, made.value)
        gpu.forget()
        for _ in range(2):
            out[:] = 0
            ttc_llvm.transpose(Interface(gpu, x), out=Interface(gpu, out))  # registered already: that stays
            assert np.array_equal(out, x.T)
        assert count(gpu, "load") == 1
        gpu.lib.cuCtxPopCurrent_v2(ctypes.byref(made))
        gpu.release()


def test_what_is_remembered_is_bounded(gpu: FakeGpu, monkeypatch: pytest.MonkeyPatch) -> None:
    """Code of layouts that are forgotten goes; those that come back are right."""
    monkeypatch.setattr(repeated_calls, "known", type(repeated_calls.known)(4))
    monkeypatch.setattr(on_device, "recent", type(on_device.recent)(4))
    for n in (*range(3, 12), *range(3, 12)):
        x, out = values(n, 4), np.zeros((4, n), np.float32)
        for _ in range(2):
            ttc_llvm.transpose(Interface(gpu, x), out=Interface(gpu, out))
        assert np.array_equal(out, x.T)
        assert len(repeated_calls.known) <= 4
    gc.collect()
    assert sum(map(len, driver.driver()._retired.values())) >= 18 - 8


def test_threads_repeat_from_cold(gpu: FakeGpu, make: Make) -> None:
    """Each on arrays of its own, of layouts that they share."""
    forget_driver()

    def work(number: int) -> None:
        rng = np.random.default_rng(number)
        for turn in range(12):
            x = rng.random((3 + turn % 3, 4, 5), np.float32)
            out = np.zeros(x.transpose(AXES).shape, np.float32)
            alpha = 1 + turn % 2 * number
            ttc_llvm.transpose(make(x), AXES, out=make(out), alpha=alpha)
            assert np.array_equal(out, alpha * x.transpose(AXES))

    together(work)
    assert count(gpu, "launch") == 8 * 12 and count(gpu, "load") == 6


def test_alpha_must_be_right_each_time(make: Make) -> None:
    x, out = make(values(4, 5)), make(np.zeros((5, 4), np.float32))
    ttc_llvm.transpose(x, out=out, alpha=2.0)
    with pytest.raises(ProblemError, match="alpha"):
        ttc_llvm.transpose(x, out=out, alpha=1e300)
