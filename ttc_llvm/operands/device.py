"""Arrays on a CUDA device, and new ones of their libraries; their elements are never touched here."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import ArrayError
from ..locks import imported
from . import dlpack, streams
from .host import immutable
from .operand import Operand, Shape, described, library_of, packed

CUDA = (dlpack.CUDA, dlpack.CUDA_MANAGED)


def is_on_device(x: Any) -> bool:
    """True for arrays of other libraries that lie on a CUDA device."""
    kind = dlpack.kind_of(x)
    if kind is not None or hasattr(x, "__dlpack_device__"):
        return kind in CUDA
    try:
        return getattr(x, "__cuda_array_interface__", None) is not None
    except Exception:  # whatever it raises that is none
        return False


def read(x: Any, name: str) -> Operand | None:
    """An array on a device by what it says of itself; None for what is none. Nothing is copied."""
    locked = immutable(x)
    if locked and hasattr(x, "block_until_ready"):
        x.block_until_ready()  # its description does not say on which stream it is computed
    found = getattr(x, "__cuda_array_interface__", None)
    if found is None and not is_on_device(x):
        return None
    given = dlpack.read(x, name, True) if found is None else _from_interface(x, found, name)
    return given._replace(locked=locked) if locked else given


def _from_interface(x: Any, found: dict[str, Any], name: str) -> Operand:
    if found.get("mask") is not None:
        raise ArrayError(f"{name} is masked: transpose data and mask one by one")
    dtype = np.dtype(found["typestr"])
    shape = tuple(map(int, found["shape"]))
    strides = found.get("strides")
    steps = packed(shape, dtype.itemsize) if strides is None else tuple(map(int, strides))
    address, read_only = found["data"]
    stream = found.get("stream")
    known = streams.current(x) if stream is None else int(stream)
    view = described(int(address or 0), shape, steps, dtype, x)
    return Operand(view, library_of(x), True, known, "is read-only" if read_only else "", keep=x)


# --- new arrays -------------------------------------------------------------------------------------------


def empty_like(x: Any, library: str, shape: Shape) -> Any:
    """An uninitialised C-contiguous array of this shape, of the library, dtype and device of x.

    ArrayError for a library whose arrays cannot be made.
    """
    make = _MAKERS.get(library)
    if make is None:
        raise ArrayError(
            f"no result can be made for a {type(x).__module__}.{type(x).__name__}:"
            " pass out=, an array on the same device"
        )
    return make(x, shape)


def _pycuda(x: Any, shape: Shape) -> Any:
    return sys.modules["pycuda.gpuarray"].empty(shape, x.dtype, allocator=x.allocator)


def _cupy(x: Any, shape: Shape) -> Any:
    with x.device:
        return sys.modules["cupy"].empty(shape, x.dtype)


def _torch(x: Any, shape: Shape) -> Any:
    return sys.modules["torch"].empty(shape, dtype=x.dtype, device=x.device)


def _numba(x: Any, shape: Shape) -> Any:
    return sys.modules["numba.cuda"].device_array(shape, x.dtype)


def _jax(x: Any, shape: Shape) -> Any:
    """Memory that JAX has finished with: it takes arrays for immutable, and we write to this one once."""
    jax = imported("jax")
    with jax.enable_x64(True):
        return jax.numpy.empty(shape, x.dtype, device=next(iter(x.devices()))).block_until_ready()


_MAKERS: dict[str, Callable[[Any, Shape], Any]] = {
    "pycuda": _pycuda, "cupy": _cupy, "torch": _torch, "numba": _numba, "jax": _jax, "jaxlib": _jax
}  # fmt: skip
