"""The library of NVIDIA's driver: the functions of it that are called, and their types."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from typing import Any

from ..errors import GpuError

LIBRARIES = {"win32": ("nvcuda.dll",)}
DEFAULT_LIBRARIES = ("libcuda.so.1", "libcuda.so")

_HANDLE, _OUT, _INT, _UINT, _SIZE = (
    ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p), ctypes.c_int, ctypes.c_uint, ctypes.c_size_t
)  # fmt: skip
_INT_OUT, _SIZE_OUT, _DEVICE_POINTER = ctypes.POINTER(_INT), ctypes.POINTER(_SIZE), ctypes.c_uint64

_ENTRIES: dict[str, tuple[Any, ...]] = {
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
    "cuMemAlloc_v2": (ctypes.POINTER(_DEVICE_POINTER), _SIZE),
    "cuMemFree_v2": (_DEVICE_POINTER,),
    "cuMemcpyHtoDAsync_v2": (_DEVICE_POINTER, ctypes.c_void_p, _SIZE, _HANDLE),
    "cuModuleLoadDataEx": (_OUT, _HANDLE, _UINT, ctypes.c_void_p, ctypes.c_void_p),
    "cuModuleGetFunction": (_OUT, _HANDLE, ctypes.c_char_p),
    "cuModuleUnload": (_HANDLE,),
    "cuLaunchKernel": (_HANDLE, *[_UINT] * 7, _HANDLE, ctypes.c_void_p, ctypes.c_void_p),
    "cuEventCreate": (_OUT, _UINT),
    "cuEventRecord": (_HANDLE, _HANDLE),
    "cuEventDestroy_v2": (_HANDLE,),
    "cuStreamWaitEvent": (_HANDLE, _HANDLE, _UINT),
    "cuStreamGetCtx": (_HANDLE, _OUT),
    "cuStreamSynchronize": (_HANDLE,),
}
_OPTIONAL: dict[str, tuple[Any, ...]] = {"cuCtxGetId": (_HANDLE, ctypes.POINTER(ctypes.c_uint64))}  # CUDA 12


def loaded() -> Any:
    """The driver's library on this system; GpuError where there is none."""
    names = LIBRARIES.get(sys.platform, DEFAULT_LIBRARIES)
    for name in names:
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    raise GpuError(f"there is no NVIDIA driver on this machine: {names[0]} cannot be loaded")


def entries(library: Any) -> dict[str, Callable[..., int]]:
    """The functions of a loaded driver by name, each of which returns a CUresult. AttributeError for one that is
    missing and not optional."""
    found = {}
    for name, types in (_ENTRIES | _OPTIONAL).items():
        if name in _ENTRIES or hasattr(library, name):
            found[name] = entry = getattr(library, name)
            entry.argtypes, entry.restype = types, ctypes.c_int
    return found
