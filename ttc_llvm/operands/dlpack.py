"""Arrays described by DLPack, on the host or on a device: read where they are, never consumed."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from ..errors import ArrayError
from .operand import Operand, described, library_of, packed
from .types import named

CPU, CUDA, CUDA_PINNED, CUDA_MANAGED = 1, 2, 3, 13  # of DLDeviceType
LEGACY = 1  # CUDA's handle of its default stream
VERSION = (1, 0)
_READ_ONLY, _IS_COPY = 1, 2  # of the flags
_LOCKED = {_READ_ONLY: "is read-only, as its DLPack export says", _IS_COPY: "is exported by DLPack as a copy"}
_NAMES = {0: "int{}", 1: "uint{}", 2: "float{}", 4: "bfloat{}", 5: "complex{}", 6: "bool"}  # of DLDataTypeCode
_EIGHT_BITS = {
    7: "float8_e3m4", 8: "float8_e4m3", 9: "float8_e4m3b11fnuz", 10: "float8_e4m3fn", 11: "float8_e4m3fnuz",
    12: "float8_e5m2", 13: "float8_e5m2fnuz", 14: "float8_e8m0fnu",
}  # fmt: skip


class _Device(ctypes.Structure):
    _fields_ = (("kind", ctypes.c_int32), ("ordinal", ctypes.c_int32))


class _Type(ctypes.Structure):
    _fields_ = (("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16))


class _Tensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device", _Device),
        ("ndim", ctypes.c_int32),
        ("type", _Type),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


class _Versioned(ctypes.Structure):
    _fields_ = (
        ("version", ctypes.c_uint32 * 2),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", _Tensor),
    )


def kind_of(x: Any) -> int | None:
    """The kind of device that an array says it is on; None where it does not say."""
    where = getattr(x, "__dlpack_device__", None)
    if where is None:
        return None
    try:
        return int(where()[0])
    except Exception:  # whatever it raises that cannot say
        return None


def read(x: Any, name: str, on_device: bool) -> Operand:
    """An array that has `__dlpack__`. Raises ArrayError for types without a name, and whatever the array raises.

    The capsule's own destructor frees it, once the operand is gone.
    """
    capsule = _exported(x, {"stream": LEGACY} if on_device else {})  # the default stream waits for what is under way
    tensor, flags = _opened(capsule)
    dtype = _dtype(tensor.type, name)
    shape = tuple(tensor.shape[k] for k in range(tensor.ndim))
    if tensor.strides:
        steps = tuple(tensor.strides[k] * dtype.itemsize for k in range(tensor.ndim))
    else:
        steps = packed(shape, dtype.itemsize)
    view = described((tensor.data or 0) + tensor.byte_offset, shape, steps, dtype, (x, capsule))
    locked = next((why for flag, why in _LOCKED.items() if flags & flag), "")
    return Operand(view, library_of(x), on_device, LEGACY if on_device else None, locked, keep=(x, capsule))


def _exported(x: Any, options: dict[str, int]) -> Any:
    try:
        return x.__dlpack__(max_version=VERSION, **options)
    except TypeError:  # as before version 1, which says nothing of read-only memory
        return x.__dlpack__(**options)


def _opened(capsule: Any) -> tuple[_Tensor, int]:
    """The description in a capsule, and its flags."""
    named, pointer = ctypes.pythonapi.PyCapsule_IsValid, ctypes.pythonapi.PyCapsule_GetPointer
    named.argtypes = pointer.argtypes = (ctypes.py_object, ctypes.c_char_p)
    pointer.restype = ctypes.c_void_p
    if named(capsule, b"dltensor_versioned"):
        found = _Versioned.from_address(pointer(capsule, b"dltensor_versioned"))
        return found.tensor, found.flags
    return _Tensor.from_address(pointer(capsule, b"dltensor")), 0


def _dtype(given: _Type, name: str) -> np.dtype[Any]:
    spelled = _EIGHT_BITS.get(given.code) if given.bits == 8 else None
    dtype = named(spelled or _NAMES.get(given.code, "").format(given.bits))
    if dtype is None or given.lanes != 1:
        raise ArrayError(f"{name} has a DLPack type that is not supported (code {given.code})")
    return dtype
