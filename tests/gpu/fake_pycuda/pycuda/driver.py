"""pycuda.driver: its names, arguments and exceptions."""

from __future__ import annotations

import builtins
import ctypes
from typing import Any, ClassVar

import numpy as np

_HANDLE = ctypes.c_void_p


class Error(Exception):
    """pycuda's root of errors."""


class MemoryError(Error, builtins.MemoryError):
    """Too little memory on the device."""


class LogicError(Error):
    """Everything else that the driver refuses."""


def _call(name: str, *arguments: Any) -> None:
    status = getattr(ctypes.CDLL("libcuda.so.1"), name)(*arguments)
    if status:
        raise (MemoryError if status == 2 else LogicError)(f"{name} failed: status {status}")


def _new(name: str, *arguments: Any) -> int:
    found = _HANDLE()
    _call(name, ctypes.byref(found), *arguments)
    return found.value or 0


def init() -> None:
    """cuInit."""
    _call("cuInit", 0)


class Context:
    """A context; popping is a static method, as pycuda has it. dropped: handles of those that were given up without
    `detach`, of which pycuda complains on stderr."""

    dropped: ClassVar[list[int]] = []

    def __init__(self, handle: int, ordinal: int) -> None:
        self.handle, self._ordinal, self._valid = handle, ordinal, True

    def detach(self) -> None:
        """Give it up."""
        self._valid = False
        _call("cuDevicePrimaryCtxRelease_v2", self._ordinal)

    def __del__(self) -> None:
        if self._valid:
            self.dropped.append(self.handle)

    def push(self) -> None:
        """Make it the thread's."""
        _call("cuCtxPushCurrent_v2", _HANDLE(self.handle))

    @staticmethod
    def pop() -> None:
        """Forget the thread's."""
        _call("cuCtxPopCurrent_v2", ctypes.byref(_HANDLE()))


class Device:
    """A device by its number."""

    def __init__(self, ordinal: int) -> None:
        self.ordinal = ordinal

    def retain_primary_context(self) -> Context:
        """The context that CUDA's run time uses."""
        return Context(_new("cuDevicePrimaryCtxRetain", self.ordinal), self.ordinal)


class Stream:
    """A stream of the thread's context."""

    def __init__(self) -> None:
        self.handle = _new("cuStreamCreate", 0)

    def synchronize(self) -> None:
        """Wait for it."""
        _call("cuStreamSynchronize", _HANDLE(self.handle))


class Event:
    """An event of the thread's context."""

    def __init__(self) -> None:
        self._handle = _new("cuEventCreate", 0)

    def record(self, stream: Stream | None = None) -> Event:
        """Mark this moment of a stream."""
        _call("cuEventRecord", _HANDLE(self._handle), _HANDLE(stream.handle if stream else 0))
        return self

    def time_till(self, end: Event) -> float:
        """Milliseconds."""
        found = ctypes.c_float()
        _call("cuEventElapsedTime", ctypes.byref(found), _HANDLE(self._handle), _HANDLE(end._handle))
        return found.value

    def __del__(self) -> None:
        _call("cuEventDestroy_v2", _HANDLE(self._handle))


class DeviceAllocation:
    """Memory that is freed with the object."""

    def __init__(self, address: int) -> None:
        self._address = address

    def __int__(self) -> int:
        return self._address

    def __index__(self) -> int:
        return self._address

    def __del__(self) -> None:
        _call("cuMemFree_v2", ctypes.c_uint64(self._address))


def mem_get_info() -> tuple[int, int]:
    """Bytes that are free, and all."""
    free, total = ctypes.c_size_t(), ctypes.c_size_t()
    _call("cuMemGetInfo_v2", ctypes.byref(free), ctypes.byref(total))
    return free.value, total.value


def mem_alloc(size: int) -> DeviceAllocation:
    """Memory in the thread's context."""
    return DeviceAllocation(_new("cuMemAlloc_v2", ctypes.c_size_t(size)))


def memcpy_htod(to: Any, content: np.ndarray[Any, Any]) -> None:
    """From the host, blocking."""
    _call("cuMemcpyHtoD_v2", ctypes.c_uint64(int(to)), _HANDLE(content.ctypes.data), ctypes.c_size_t(content.nbytes))


def memcpy_dtoh(content: np.ndarray[Any, Any], of: Any) -> None:
    """To the host, blocking."""
    _call("cuMemcpyDtoH_v2", _HANDLE(content.ctypes.data), ctypes.c_uint64(int(of)), ctypes.c_size_t(content.nbytes))


def memcpy_dtod_async(to: Any, of: Any, size: int, stream: Stream | None = None) -> None:
    """On the device."""
    handle = _HANDLE(stream.handle if stream else 0)
    _call("cuMemcpyDtoDAsync_v2", ctypes.c_uint64(int(to)), ctypes.c_uint64(int(of)), ctypes.c_size_t(size), handle)


def memset_d8(address: Any, value: int, size: int) -> None:
    """Set bytes."""
    _call("cuMemsetD8_v2", ctypes.c_uint64(int(address)), ctypes.c_ubyte(value), ctypes.c_size_t(size))


def memset_d8_async(to: Any, value: int, count: int, stream: Stream) -> None:
    """Every byte, when the stream has come so far."""
    _call(
        "cuMemsetD8Async", ctypes.c_uint64(int(to)), ctypes.c_ubyte(value), ctypes.c_size_t(count),
        _HANDLE(stream.handle),
    )  # fmt: skip
