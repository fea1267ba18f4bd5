"""New arrays on a device, of the library that the argument came from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..errors import ArrayError
from ..locks import imported
from .array_arguments import DeviceArray

Shape = tuple[int, ...]


def empty_like(x: Any, given: DeviceArray, shape: Shape) -> Any:
    """An uninitialised C-contiguous array of this shape, of x's type, dtype and device.

    ArrayError for a library whose arrays cannot be made, or not be written to.
    """
    make = _MAKERS.get(given.library)
    if make is None:
        raise ArrayError(
            f"no result can be made for a {type(x).__module__}.{type(x).__name__}:"
            " pass out=, an array on the same device"
        )
    return make(x, shape)


def _pycuda(x: Any, shape: Shape) -> Any:
    return imported("pycuda.gpuarray").empty(shape, x.dtype, allocator=x.allocator)


def _cupy(x: Any, shape: Shape) -> Any:
    with x.device:
        return imported("cupy").empty(shape, x.dtype)


def _torch(x: Any, shape: Shape) -> Any:
    return imported("torch").empty(shape, dtype=x.dtype, device=x.device)


def _numba(x: Any, shape: Shape) -> Any:
    return imported("numba.cuda").device_array(shape, x.dtype)


_MAKERS: dict[str, Callable[[Any, Shape], Any]] = {
    "pycuda": _pycuda, "cupy": _cupy, "torch": _torch, "numba": _numba
}  # fmt: skip
