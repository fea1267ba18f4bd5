"""Arguments of users: arrays of any library on a device, as views whose memory is never touched; and streams."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..arguments import reason
from ..errors import ArrayError
from ..locks import imported

Array = npt.NDArray[Any]
CUDA, CUDA_MANAGED = 2, 13  # of DLDeviceType
LEGACY = 1  # CUDA's handle of its default stream
_CODES = {0: "i", 1: "u", 2: "f", 4: "V", 5: "c", 6: "b"}  # of DLDataTypeCode; 4 = bfloat
_TORCH = {
    "float32": "f4", "float64": "f8", "complex64": "c8", "complex128": "c16", "float16": "f2", "bfloat16": "u2",
    "int8": "i1", "uint8": "u1", "int16": "i2", "int32": "i4", "int64": "i8", "bool": "b1",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class DeviceArray:
    """An array on a device.

    view: its shape, strides, dtype and address as a NumPy array, whose elements must not be touched: they are on the
    device; library: the package it comes from; stream: on which its content becomes valid, None = nobody says;
    writeable: it may be written to; keep: what keeps the description alive.
    """

    view: Array
    library: str
    stream: int | None
    writeable: bool
    keep: Any

    @property
    def address(self) -> int:
        """Of its element 0."""
        return int(self.view.__array_interface__["data"][0])


class _Ghost:
    """Memory of a device as NumPy's interface describes it."""

    def __init__(self, address: int, shape: tuple[int, ...], strides: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        self.__array_interface__ = {
            "version": 3, "shape": shape, "strides": strides, "typestr": dtype.str, "data": (address, False),
        }  # fmt: skip


def ghost(address: int, shape: tuple[int, ...], strides: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """A view of memory that this process cannot read: for shapes, strides (bytes) and addresses only."""
    if 0 in shape or not address:
        return np.lib.stride_tricks.as_strided(np.empty(0, dtype), shape, strides)
    return np.asarray(_Ghost(address, shape, strides, dtype))


def is_on_device(x: Any) -> bool:
    """True for arrays of other libraries that lie on a CUDA device."""
    where = getattr(x, "__dlpack_device__", None)
    if where is not None:
        try:
            return int(where()[0]) in (CUDA, CUDA_MANAGED)
        except Exception:  # whatever it raises that cannot say
            return False
    try:
        return getattr(x, "__cuda_array_interface__", None) is not None
    except Exception:
        return False


def library_of(x: Any) -> str:
    """The top-level package that an array's type comes from."""
    return type(x).__module__.partition(".")[0]


def device_array(x: Any, name: str) -> DeviceArray:
    """An array on a device; ArrayError, naming it, for anything else. Nothing is copied."""
    try:
        described = _described(x, name)
    except ArrayError:
        raise
    except Exception as error:  # a library's own, and descriptions that are none
        raise ArrayError(f"{name} is a {type(x).__name__} that cannot be read: {reason(error)}") from None
    if described is not None:
        return described
    raise ArrayError(f"{name} is a {type(x).__name__}: an array on a CUDA device is expected")


def _described(x: Any, name: str) -> DeviceArray | None:
    """What an array says of itself; None for what is none."""
    if library_of(x) == "torch":
        return _torch(x, name)
    found = getattr(x, "__cuda_array_interface__", None)
    if found is not None:
        return _from_interface(x, found, name)
    return _from_dlpack(x, name) if is_on_device(x) else None


def _from_interface(x: Any, found: dict[str, Any], name: str) -> DeviceArray:
    if found.get("mask") is not None:
        raise ArrayError(f"{name} is masked: transpose data and mask one by one")
    dtype = np.dtype(found["typestr"])
    shape = tuple(map(int, found["shape"]))
    strides = found.get("strides")
    steps = _packed(shape, dtype.itemsize) if strides is None else tuple(map(int, strides))
    address, read_only = found["data"]
    stream = found.get("stream")
    known = _current_stream(x) if stream is None else int(stream)
    return DeviceArray(ghost(int(address or 0), shape, steps, dtype), library_of(x), known, not read_only, x)


def _packed(shape: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    """Strides in bytes of a C-contiguous array."""
    steps, step = [], itemsize
    for extent in reversed(shape):
        steps.append(step)
        step *= extent
    return tuple(reversed(steps))


# --- PyTorch ----------------------------------------------------------------------------------------------


def _torch(x: Any, name: str) -> DeviceArray:
    """A tensor by its own attributes: its interfaces refuse gradients and bfloat16."""
    letter = _TORCH.get(str(x.dtype).removeprefix("torch."))
    if letter is None:
        raise ArrayError(f"{name} has dtype {x.dtype}, which is not supported")
    if x.device.type != "cuda":
        raise ArrayError(f"{name} is on device {x.device}: an array on a CUDA device is expected")
    for lazy in ("is_conj", "is_neg"):
        if getattr(x, lazy, bool)():
            raise ArrayError(f"{name} is a lazily changed view ({lazy}): resolve_{lazy[3:]}() makes it a plain one")
    dtype = np.dtype(letter)
    steps = tuple(step * dtype.itemsize for step in x.stride())
    view = ghost(x.data_ptr(), tuple(x.shape), steps, dtype)
    return DeviceArray(view, "torch", _current_stream(x), True, x)


# --- DLPack -----------------------------------------------------------------------------------------------


class _DLDevice(ctypes.Structure):
    _fields_ = (("kind", ctypes.c_int32), ("ordinal", ctypes.c_int32))


class _DLType(ctypes.Structure):
    _fields_ = (("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16))


class _DLTensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device", _DLDevice),
        ("ndim", ctypes.c_int32),
        ("type", _DLType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


def _from_dlpack(x: Any, name: str) -> DeviceArray:
    """The capsule is never consumed: its own destructor frees it, after the launch."""
    capsule = x.__dlpack__(stream=LEGACY)  # what is under way is awaited by the default stream
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.argtypes, pointer.restype = (ctypes.py_object, ctypes.c_char_p), ctypes.c_void_p
    tensor = _DLTensor.from_address(pointer(capsule, b"dltensor"))
    code = _CODES.get(tensor.type.code)
    if code is None or tensor.type.bits % 8 or tensor.type.lanes != 1:
        raise ArrayError(f"{name} has a DLPack type that is not supported (code {tensor.type.code})")
    dtype = np.dtype("u2" if code == "V" else f"{code}{tensor.type.bits // 8}")
    shape = tuple(tensor.shape[k] for k in range(tensor.ndim))
    if tensor.strides:
        steps = tuple(tensor.strides[k] * dtype.itemsize for k in range(tensor.ndim))
    else:
        steps = _packed(shape, dtype.itemsize)
    address = (tensor.data or 0) + tensor.byte_offset
    return DeviceArray(ghost(address, shape, steps, dtype), library_of(x), LEGACY, True, (x, capsule))


def stream_for(given: Any, *arrays: DeviceArray) -> tuple[int, tuple[int, ...]]:
    """The stream to launch on, and those that it has to wait for: by default the one on which the arrays' libraries
    work, which need not wait. given: `stream=` of a call, None = that default."""
    known = tuple(x.stream for x in arrays if x.stream is not None)
    chosen = stream_handle(given) if given is not None else known[-1] if known else 0
    return chosen, tuple(dict.fromkeys(stream for stream in known if stream != chosen))


# --- streams ----------------------------------------------------------------------------------------------


def _current_stream(x: Any) -> int | None:
    """The stream on which the library of an array works at the moment."""
    find = _CURRENT.get(library_of(x))
    return None if find is None else find(x)


def _cupy_stream(x: Any) -> int:
    return int(imported("cupy").cuda.get_current_stream().ptr)


def _torch_stream(x: Any) -> int:
    return int(imported("torch").cuda.current_stream(x.device).cuda_stream)


_CURRENT: dict[str, Callable[[Any], int]] = {"cupy": _cupy_stream, "torch": _torch_stream}
_ATTRIBUTES = ("ptr", "cuda_stream", "handle")  # CuPy's, PyTorch's, and pycuda's and Numba's streams


def stream_handle(stream: Any) -> int:
    """The driver's handle of a stream of any library, or an integer as it is (0 and 1 = the legacy default stream,
    2 = that of the thread). ArrayError for anything else."""
    try:
        return _integer(_handle(stream), stream)
    except ArrayError:
        raise
    except Exception as error:  # whatever the stream itself raises
        raise ArrayError(f"stream is a {type(stream).__name__} that cannot be read: {reason(error)}") from None


def _handle(stream: Any) -> Any:
    protocol = getattr(stream, "__cuda_stream__", None)
    if protocol is not None:
        return protocol()[1]
    found = (getattr(stream, name, None) for name in _ATTRIBUTES)
    return next((handle for handle in found if handle is not None), stream)


def _integer(found: Any, stream: Any) -> int:
    value = (found.value or 0) if isinstance(found, ctypes.c_void_p) else found
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 0:
        raise ArrayError(
            f"stream is a {type(stream).__name__}: a stream of pycuda, CuPy, PyTorch or Numba, or a handle is expected"
        )
    return int(value)
