"""NVIDIA's driver through ctypes: devices, contexts, modules, and launches on any library's stream.

Handles (contexts, modules, functions, streams, events) are integers here, as other libraries hand them over.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ..errors import GpuError
from ..runtime.once import obtain, once

LIBRARIES = {"win32": ("nvcuda.dll",)}
DEFAULT_LIBRARIES = ("libcuda.so.1", "libcuda.so")
NO_DEVICE = 100  # of CUresult
MAJOR, MINOR, L2_BYTES = 75, 76, 38  # of CUdevice_attribute
OWNER, ORDINAL = 1, 9  # of CUpointer_attribute: the context that allocated, the device
LOG_BYTES = 4096
LOG_BUFFER, LOG_SIZE = 5, 6  # of CUjit_option: where the assembler's complaints go
NO_TIMING = 2  # of CUevent_flags

_HANDLE, _OUT, _INT, _UINT, _SIZE = (
    ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p), ctypes.c_int, ctypes.c_uint, ctypes.c_size_t
)  # fmt: skip
_INT_OUT, _SIZE_OUT, _DEVICE_POINTER = ctypes.POINTER(_INT), ctypes.POINTER(_SIZE), ctypes.c_uint64

ENTRIES: dict[str, tuple[Any, ...]] = {
    "cuInit": (_UINT,),
    "cuDriverGetVersion": (_INT_OUT,),
    "cuGetErrorName": (_INT, ctypes.POINTER(ctypes.c_char_p)),
    "cuGetErrorString": (_INT, ctypes.POINTER(ctypes.c_char_p)),
    "cuDeviceGetCount": (_INT_OUT,),
    "cuDeviceGet": (_INT_OUT, _INT),
    "cuDeviceGetName": (ctypes.c_char_p, _INT, _INT),
    "cuDeviceGetAttribute": (_INT_OUT, _INT, _INT),
    "cuDeviceTotalMem_v2": (_SIZE_OUT, _INT),
    "cuDevicePrimaryCtxRetain": (_OUT, _INT),
    "cuCtxGetCurrent": (_OUT,),
    "cuCtxGetDevice": (_INT_OUT,),
    "cuCtxPushCurrent_v2": (_HANDLE,),
    "cuCtxPopCurrent_v2": (_OUT,),
    "cuCtxSynchronize": (),
    "cuPointerGetAttribute": (ctypes.c_void_p, _INT, _DEVICE_POINTER),
    "cuModuleLoadDataEx": (_OUT, _HANDLE, _UINT, ctypes.c_void_p, ctypes.c_void_p),
    "cuModuleGetFunction": (_OUT, _HANDLE, ctypes.c_char_p),
    "cuModuleUnload": (_HANDLE,),
    "cuLaunchKernel": (_HANDLE, *[_UINT] * 7, _HANDLE, ctypes.c_void_p, ctypes.c_void_p),
    "cuEventCreate": (_OUT, _UINT),
    "cuEventRecord": (_HANDLE, _HANDLE),
    "cuEventDestroy_v2": (_HANDLE,),
    "cuStreamWaitEvent": (_HANDLE, _HANDLE, _UINT),
}


class Driver:
    """The driver's entries; each method raises GpuError with the driver's own words. Safe in several threads."""

    def __init__(self, library: Any) -> None:
        self._entries = {}
        for name, types in ENTRIES.items():
            entry = getattr(library, name)
            entry.argtypes, entry.restype = types, ctypes.c_int
            self._entries[name] = entry
        self._primary: dict[int, int] = {}
        self.launch_entry = self._entries["cuLaunchKernel"]

    def call(self, name: str, *arguments: Any) -> None:
        """One entry; GpuError where it does not succeed."""
        status = self._entries[name](*arguments)
        if status:
            raise self.error(name, status)

    def error(self, name: str, status: int) -> GpuError:
        """The error that the driver describes for a status."""
        return GpuError(f"the CUDA driver refuses {name}: {self.words(status)}")

    def words(self, status: int) -> str:
        """A status in the driver's words."""
        parts = []
        for entry in ("cuGetErrorName", "cuGetErrorString"):
            text = ctypes.c_char_p()
            if not self._entries[entry](status, ctypes.byref(text)) and text.value:
                parts.append(text.value.decode(errors="replace"))
        return ", ".join(parts) or f"status {status}"

    # --- devices ---

    @property
    def version(self) -> int:
        """The newest CUDA that the driver knows: 13000 for 13.0."""
        return self._integer("cuDriverGetVersion")

    @property
    def count(self) -> int:
        """Devices that this process sees."""
        return self._integer("cuDeviceGetCount")

    def name(self, ordinal: int) -> str:
        """A device's name, such as `NVIDIA H200`."""
        text = ctypes.create_string_buffer(256)
        self.call("cuDeviceGetName", text, len(text), self._device(ordinal))
        return text.value.decode(errors="replace")

    def attribute(self, ordinal: int, which: int) -> int:
        """One of the numbers that describe a device."""
        return self._integer("cuDeviceGetAttribute", which, self._device(ordinal))

    def memory(self, ordinal: int) -> int:
        """Bytes of a device's memory."""
        size = ctypes.c_size_t()
        self.call("cuDeviceTotalMem_v2", ctypes.byref(size), self._device(ordinal))
        return size.value

    def _device(self, ordinal: int) -> int:
        found = ctypes.c_int()
        self.call("cuDeviceGet", ctypes.byref(found), ordinal)
        return found.value

    def _integer(self, name: str, *arguments: int) -> int:
        found = ctypes.c_int()
        self.call(name, ctypes.byref(found), *arguments)
        return found.value

    def _handle(self, name: str, *arguments: Any) -> int:
        found = ctypes.c_void_p()
        self.call(name, ctypes.byref(found), *arguments)
        return found.value or 0

    # --- contexts ---

    def primary(self, ordinal: int) -> int:
        """A device's primary context, which CUDA's run time, CuPy and PyTorch use; retained until the process ends."""
        return obtain(
            self._primary, ordinal, lambda: self._handle("cuDevicePrimaryCtxRetain", self._device(ordinal))
        )

    def current(self) -> int:
        """The calling thread's context, 0 for none."""
        return self._handle("cuCtxGetCurrent")

    def current_ordinal(self) -> int | None:
        """The device of the calling thread's context."""
        return self._integer("cuCtxGetDevice") if self.current() else None

    @contextmanager
    def using(self, context: int) -> Iterator[None]:
        """The calling thread's context is this one inside; what it was before comes back."""
        if self.current() == context:
            yield
            return
        self.call("cuCtxPushCurrent_v2", context)
        try:
            yield
        finally:
            self._handle("cuCtxPopCurrent_v2")

    def home(self, address: int) -> int:
        """The context in which memory at a device address can be used; GpuError for memory of the host."""
        owner = ctypes.c_void_p()
        if not self._entries["cuPointerGetAttribute"](ctypes.byref(owner), OWNER, address) and owner.value:
            return owner.value
        ordinal = ctypes.c_int()
        if self._entries["cuPointerGetAttribute"](ctypes.byref(ordinal), ORDINAL, address):
            raise GpuError(f"address {address:#x} is no address of a CUDA device's memory")
        return self.primary(ordinal.value)  # a memory pool's: it belongs to the device

    # --- code ---

    def load(self, image: bytes) -> int:
        """A module from PTX text or a cubin, in the calling thread's context."""
        module, log = ctypes.c_void_p(), ctypes.create_string_buffer(LOG_BYTES)
        options = (ctypes.c_int * 2)(LOG_BUFFER, LOG_SIZE)
        values = (ctypes.c_void_p * 2)(ctypes.addressof(log), LOG_BYTES)
        data = ctypes.create_string_buffer(image)  # with the zero that ends PTX
        status = self._entries["cuModuleLoadDataEx"](
            ctypes.byref(module), ctypes.addressof(data), 2, ctypes.addressof(options), ctypes.addressof(values)
        )
        if status:
            told = " ".join(log.value.decode(errors="replace").split())
            raise GpuError(f"the CUDA driver cannot load the kernel: {self.words(status)}{f': {told}' if told else ''}")
        return module.value or 0

    def function(self, module: int, name: str) -> int:
        """A kernel of a module."""
        return self._handle("cuModuleGetFunction", module, name.encode())

    def unload(self, module: int) -> None:
        """Forget a module of the calling thread's context, once nothing of it runs any more."""
        self.call("cuCtxSynchronize")
        self.call("cuModuleUnload", module)

    def launch(self, function: int, grid: int, block: int, stream: int, values: Sequence[Any]) -> None:
        """Enqueue a kernel: grid blocks of `block` threads along x. values: ctypes values of its parameters."""
        pointers = (ctypes.c_void_p * len(values))(*map(ctypes.addressof, values))
        status = self.launch_entry(function, grid, 1, 1, block, 1, 1, 0, stream, pointers, None)
        if status:
            raise self.error("cuLaunchKernel", status)

    def order(self, before: int, after: int) -> None:
        """Make all that is enqueued on stream `after` from now on wait for what is on `before`."""
        if before == after:
            return
        event = self._handle("cuEventCreate", NO_TIMING)
        try:
            self.call("cuEventRecord", event, before)
            self.call("cuStreamWaitEvent", after, event, 0)
        finally:
            self.call("cuEventDestroy_v2", event)


@once
def driver() -> Driver:
    """The driver, started; one for all threads. GpuError where there is none, or no device."""
    library = _library()
    try:
        found = Driver(library)
    except AttributeError as error:
        raise GpuError(f"NVIDIA's driver is too old: {error}") from None
    status = library.cuInit(0)
    if status not in (0, NO_DEVICE):
        raise GpuError(f"NVIDIA's driver cannot be started: {found.words(status)}")
    if status == NO_DEVICE or not found.count:
        raise GpuError("there is no CUDA device: NVIDIA's driver finds none that this process may use")
    return found


def _library() -> Any:
    names = LIBRARIES.get(sys.platform, DEFAULT_LIBRARIES)
    for name in names:
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    raise GpuError(f"there is no NVIDIA driver on this machine: {names[0]} cannot be loaded")
