"""A CUDA device without a GPU: the driver of fake_cuda.c, whose kernels run on this CPU in the harness of fibres."""

from __future__ import annotations

import ctypes
import gc
import inspect
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from device import harness, host_boxes, host_kernel, run
from native_build import compiler

from ttc_llvm.arrays import gpu as arrays
from ttc_llvm.arrays import repeated_calls
from ttc_llvm.gpu import driver, driver_entries, session
from ttc_llvm.gpu import kernel as gpu_kernel
from ttc_llvm.lowering.gpu.launch import GpuImage, Launch, Slot
from ttc_llvm.lowering.gpu.plan import GpuPlan
from ttc_llvm.machine.gpu_target import GpuTarget
from ttc_llvm.problem.canonical import Canonical
from ttc_llvm.runtime import linking

HERE = Path(__file__).parent
REAL_PYCUDA = bool(os.environ.get("TTC_TEST_PYCUDA"))  # the one that is installed, on the fake driver
LAUNCHER = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_uint, ctypes.c_uint,
    ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p),
)  # fmt: skip
NO_DEVICE = (0, 9, 0, 1 << 32, 1 << 16, 0)
Kernel = tuple[Canonical, GpuPlan | int, GpuTarget]  # int: axes of the blocks of a group
Array = npt.NDArray[Any]


def build_driver(folder: Path) -> Path:
    """The fake driver as a shared library of libcuda's name; skips where it cannot be compiled."""
    path = folder / "libcuda.so.1"
    command = [compiler("cc"), "-O1", "-shared", "-fPIC", "-Wl,-soname,libcuda.so.1", str(HERE / "fake_cuda.c")]
    subprocess.run([*command, "-o", str(path), "-ldl"], check=True)
    return path


@lru_cache(maxsize=1)
def library() -> ctypes.CDLL:
    """The fake driver in this process: whoever asks for libcuda.so.1 from now on gets it."""
    folder = Path(tempfile.mkdtemp(prefix="ttc_fake_cuda"))
    found = ctypes.CDLL(str(build_driver(folder)), mode=ctypes.RTLD_GLOBAL)
    shutil.rmtree(folder)
    found.fake_journal.restype = ctypes.c_char_p
    found.fake_reset.argtypes = [ctypes.c_int] * 3 + [ctypes.c_size_t] * 2 + [ctypes.c_int]
    found.fake_register.argtypes = [ctypes.c_size_t, ctypes.c_size_t, ctypes.c_int, ctypes.c_size_t]
    found.fake_unregister.argtypes = [ctypes.c_size_t]
    found.fake_kind.argtypes = [ctypes.c_size_t, ctypes.c_int]
    found.fake_stream.argtypes = [ctypes.c_size_t] * 2
    return found


def forget_driver() -> None:
    """The next call looks for a driver anew."""
    inspect.getclosurevars(driver.driver).nonlocals["made"].clear()


@dataclass(slots=True)
class FakeGpu:
    """The device. kernels: what was built, by code and by entry; errors: of launches."""

    lib: ctypes.CDLL
    kernels: dict[bytes | str, Kernel] = field(default_factory=dict)
    errors: list[BaseException] = field(default_factory=list)
    _hosted: dict[Kernel, tuple[linking.Loaded, Launch]] = field(default_factory=dict)
    _keep: list[Any] = field(default_factory=list)

    def set(
        self,
        devices: int = 1,
        capability: tuple[int, int] = (9, 0),
        memory: int = 1 << 32,
        l2: int = 1 << 16,
        status: int = 0,
    ) -> None:
        """Another machine."""
        self.lib.fake_reset(devices, *capability, memory, l2, status)
        forget_driver()
        arrays.recent = type(arrays.recent)(arrays.CAPACITY)
        repeated_calls.known = type(repeated_calls.known)(repeated_calls.CAPACITY)

    @property
    def journal(self) -> list[str]:
        """What was asked of the driver: loads, launches, allocations, copies, events."""
        return bytes(self.lib.fake_journal()).decode().splitlines()

    def forget(self) -> None:
        """An empty journal."""
        self.lib.fake_forget()

    def on_device(self, array: Array, ordinal: int = 0, owner: int | None = None) -> Array:
        """The array's memory counts as the device's. owner: the context; 0 = a memory pool's."""
        low, high = np.lib.array_utils.byte_bounds(array)
        self.lib.fake_register(low, max(high - low, 1), ordinal, 0x1000 + ordinal if owner is None else owner)
        self._keep.append((array, low))
        return array

    def release(self) -> None:
        """Nothing of this process' memory counts as the device's any more."""
        for _, low in self._keep:
            self.lib.fake_unregister(low)

    def note(self, image: GpuImage, kernel: Kernel) -> None:
        """Remember what some code does."""
        self.kernels[image.code] = kernel
        if image.launch.entry not in ("kernel", "boxes"):
            self.kernels[image.launch.entry] = kernel

    def launched(
        self, image: int, length: int, entry: bytes, grid: int, block: int, stream: int | None, parameters: Any
    ) -> int:
        """A launch: the same kernel, built for this CPU, on the same addresses."""
        try:
            code = ctypes.string_at(image, length)
            known = self.kernels.get(code) or self.kernels[entry.decode()]
            if known not in self._hosted:
                c, plan, target = known
                built = host_boxes(c, plan, target) if isinstance(plan, int) else host_kernel(c, plan, target)
                self._hosted[known] = built
            kernel, launch = self._hosted[known]
            launch = launch if launch.grid else replace(launch, grid=grid)
            assert (grid, block) == (launch.grid, launch.block)
            a, b = (ctypes.c_uint64.from_address(parameters[k]).value for k in range(2))
            types = {Slot.F32: ctypes.c_float, Slot.F64: ctypes.c_double}
            slots = [parameter.slot for parameter in launch.parameters[2:]]
            scalars = [types[slot].from_address(parameters[2 + k]).value for k, slot in enumerate(slots)]
            run(kernel, launch, a, b, scalars)
        except BaseException as error:
            self.errors.append(error)
            return 719
        return 0


@contextmanager
def fake_gpu(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeGpu]:
    """A fake device for one test; afterwards there is none."""
    harness()
    found = FakeGpu(library())
    built, boxed = gpu_kernel.build, gpu_kernel.for_boxes

    def recorded(
        c: Canonical, plan: GpuPlan, target: GpuTarget, entry: str = "kernel", mark: Callable[[str], str] = str
    ) -> GpuImage:
        image = built(c, plan, target, entry, mark)
        found.note(image, (c, plan, target))
        return image

    def recorded_boxes(c: Canonical, axes: int, tasks: int, target: GpuTarget, entry: str = "boxes") -> GpuImage:
        image = boxed(c, axes, tasks, target, entry)
        found.note(image, (c, axes, target))
        return image

    monkeypatch.setattr(gpu_kernel, "build", recorded)
    monkeypatch.setattr(gpu_kernel, "for_boxes", recorded_boxes)
    _choose_pycuda(monkeypatch)
    monkeypatch.setattr(driver_entries, "DEFAULT_LIBRARIES", ("libcuda.so.1",))
    launcher = LAUNCHER(found.launched)
    found.lib.fake_on_launch(launcher)
    found.set()
    try:
        yield found
    finally:
        found.release()
        found.lib.fake_on_launch(LAUNCHER())
        found.lib.fake_reset(*NO_DEVICE)
        forget_driver()
        dropped = _forget_pycuda()
    if found.errors:
        raise found.errors[0]
    assert not dropped, f"contexts {dropped} were dropped: pycuda complains of that on stderr"


def _choose_pycuda(monkeypatch: pytest.MonkeyPatch) -> None:
    if REAL_PYCUDA:
        monkeypatch.setattr(sys, "path", [path for path in sys.path if "fake_pycuda" not in path])
        sys.setdlopenflags(os.RTLD_LAZY)  # it links to more of the driver than it calls
    else:
        monkeypatch.syspath_prepend(str(HERE / "fake_pycuda"))


def _forget_pycuda() -> list[int]:
    """Ours is gone with the test; returns the contexts that were dropped."""
    if REAL_PYCUDA:
        return []
    session._contexts.__dict__.clear()
    gc.collect()
    found = sys.modules.get("pycuda.driver")
    for name in [name for name in sys.modules if name.partition(".")[0] == "pycuda"]:
        del sys.modules[name]
    return [] if found is None else found.Context.dropped


# --- arrays on the device -------------------------------------------------------------------------------------


class Interface:
    """An array with `__cuda_array_interface__` and nothing else. memory: its storage, which the fake device shares."""

    def __init__(self, gpu: FakeGpu, array: Array, stream: int | None = None, **changes: Any) -> None:
        self.array = gpu.on_device(array)
        found = array.__array_interface__
        self.__cuda_array_interface__ = {
            "shape": found["shape"], "strides": array.strides, "typestr": found["typestr"], "version": 3,
            "data": (found["data"][0], False), "stream": stream,
        } | changes  # fmt: skip


class _Tensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p), ("kind", ctypes.c_int32), ("ordinal", ctypes.c_int32), ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )  # fmt: skip


class _Versioned(ctypes.Structure):
    _fields_ = (
        ("version", ctypes.c_uint32 * 2), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64), ("tensor", _Tensor),
    )  # fmt: skip


class DLPack:
    """An array with `__dlpack__` only. offset: bytes of the data pointer that the description adds itself; flags: of
    version 1, -1 = it is older."""

    def __init__(self, gpu: FakeGpu, array: Array, offset: int = 0, kind: int = 2, flags: int = -1) -> None:
        self.array, self.streams = gpu.on_device(array), []  # type: ignore[var-annotated]
        steps = [s // array.itemsize for s in array.strides]
        code = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}[array.dtype.kind]
        self.shape, self.steps = (ctypes.c_int64 * array.ndim)(*array.shape), (ctypes.c_int64 * array.ndim)(*steps)
        self.tensor = _Tensor(
            array.ctypes.data - offset, kind, 0, array.ndim, code, array.itemsize * 8, 1, self.shape, self.steps, offset
        )
        self.kind, self.flags = kind, flags
        self.versioned = _Versioned((1, 0), None, None, max(0, flags), self.tensor)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.kind, 0

    def __dlpack__(self, stream: int | None = None, **options: Any) -> Any:
        if options and self.flags < 0:
            raise TypeError("max_version is unknown")
        self.streams.append(stream)
        make = ctypes.pythonapi.PyCapsule_New
        make.restype, make.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
        if self.flags >= 0:
            return make(ctypes.addressof(self.versioned), b"dltensor_versioned", None)
        return make(ctypes.addressof(self.tensor), b"dltensor", None)
