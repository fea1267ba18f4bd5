"""pycuda.gpuarray: arrays on the device that describe themselves by `__cuda_array_interface__`."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import driver as drv


class GPUArray:
    """C-contiguous, or Fortran-contiguous with order F."""

    def __init__(self, shape: tuple[int, ...], dtype: Any, allocator: Any = drv.mem_alloc, order: str = "C") -> None:
        self.shape, self.dtype, self.allocator = shape, np.dtype(dtype), allocator
        self.strides = np.empty(shape, dtype, order=order).strides  # type: ignore[call-overload]
        self.nbytes = int(np.prod(shape)) * self.dtype.itemsize
        self.gpudata = allocator(max(self.nbytes, 1))

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {
            "shape": self.shape, "strides": self.strides, "data": (int(self.gpudata), False),
            "typestr": self.dtype.str, "stream": None, "version": 3,
        }  # fmt: skip

    def get(self) -> np.ndarray[Any, Any]:
        """A copy on the host."""
        memory = bytearray(max(self.nbytes, 1))
        host: np.ndarray[Any, Any] = np.ndarray(self.shape, self.dtype, memory, strides=self.strides)
        drv.memcpy_dtoh(host, self.gpudata)
        return host


def empty(shape: tuple[int, ...], dtype: Any, allocator: Any = drv.mem_alloc, order: str = "C") -> GPUArray:
    """An uninitialised array."""
    return GPUArray(shape, dtype, allocator, order)


def to_gpu(host: np.ndarray[Any, Any]) -> GPUArray:
    """A copy on the device, in the host's order."""
    made = GPUArray(host.shape, host.dtype, order="F" if host.flags.fnc else "C")
    drv.memcpy_htod(made.gpudata, host)
    return made
