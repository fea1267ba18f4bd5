"""Arrays and buffers in the memory of this process, and what NumPy makes an array of."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np

from ..arguments import reason
from ..errors import ArrayError
from ..locks import imported
from .operand import Array, Back, Operand, library_of

BYTES = ("B", "b", "c")  # formats of buffers that say nothing of their elements
READ_ONLY = "is read-only: the result is written to it"
_IMMUTABLE = {"jax": "JAX", "jaxlib": "JAX", "tensorflow": "TensorFlow"}
_UNREADABLE = {  # words of what arrays of other libraries raise: why, and what to do
    "traced": ("is traced by JAX", "call jax.numpy.transpose"),
}


def ndarray(x: Array) -> Operand:
    """A NumPy array, as it is."""
    return Operand(x) if x.flags.writeable else Operand(x, locked=READ_ONLY)


def interface(x: Any, name: str) -> Operand | None:
    """An array that has NumPy's interface, which of instances may describe a copy."""
    if not hasattr(type(x), "__array_interface__") and not hasattr(x, "__array_interface__"):
        return None
    return _of(x, np.asarray(x))


def buffer(x: Any, name: str, wanted: np.dtype[Any] | None = None) -> Operand | None:
    """A buffer: a ctypes array, memoryview, array.array, bytearray ...; wanted: the type of what it has, where it says
    only that it has bytes."""
    if isinstance(x, ctypes._Pointer):
        raise ArrayError(f"{name} is a ctypes pointer: pass its address as an integer")
    try:
        view = memoryview(x)
    except (TypeError, BufferError):
        return None
    if wanted is None or view.format not in BYTES:
        return _of(x, np.asarray(view))
    return _of(x, np.frombuffer(view, wanted if view.nbytes % wanted.itemsize == 0 else np.uint8))


def exported(x: Any, name: str) -> Operand | None:
    """An array that only DLPack describes."""
    dlpack = imported(".dlpack", __package__)
    if dlpack.kind_of(x) not in (dlpack.CPU, dlpack.CUDA_PINNED):
        return None
    found = dlpack.read(x, name, False)
    return Operand(found.view, found.library, locked=immutable(x) or found.locked, back=_back(x), keep=found.keep)


def array_like(x: Any, name: str) -> Operand:
    """The array that NumPy makes of an object, a copy perhaps; ArrayError, which says why, where it cannot."""
    try:
        array: Array = np.asarray(x)
    except MemoryError:
        raise
    except Exception as error:  # NumPy's, and those of other libraries' arrays
        with suppress(Exception):
            found = exported(x, name)  # what NumPy cannot read, by DLPack
            if found is not None:
                return found
        raise ArrayError(f"{name} is a {type(x).__name__} that {_unreadable(name, reason(error))}") from None
    if array.dtype.hasobject and not array.ndim:
        return exported(x, name) or _of(x, array)
    return _of(x, array)


def _of(x: Any, array: Array) -> Operand:
    strided = not hasattr(x, "__array_namespace__")
    locked = immutable(x) or ("" if array.flags.writeable else READ_ONLY)
    return Operand(array, library_of(x), locked=locked, back=_back(x), strided=strided, keep=(x, array))


def immutable(x: Any) -> str:
    """Why arrays of a library can never be written to; "" for others."""
    name = _IMMUTABLE.get(library_of(x))
    return f"is an array of {name}, which are immutable: take the result" if name else ""


def _unreadable(name: str, said: str) -> str:
    """Why an array cannot be read, and what to do about it."""
    for word, (why, advice) in _UNREADABLE.items():
        if word in said.lower():
            return f"{why}: {advice.format(name=name)}"
    return f"NumPy cannot read: {said}"


# --- results ----------------------------------------------------------------------------------------------


def _back(x: Any) -> Back | None:
    """What makes an array of x's library of a result: by the array API, or JAX's own ways; None where it has none."""
    if library_of(x) in ("jax", "jaxlib"):
        return lambda result: _jax(x, result)
    if isinstance(x, np.generic):
        return None
    namespace: Callable[[], Any] | None = getattr(x, "__array_namespace__", None)
    return None if namespace is None else lambda result: namespace().asarray(result)


def _jax(x: Any, result: Array) -> Any:
    """An array of JAX on x's device, which may be of 64 bits wherever x is."""
    jax = imported("jax")
    devices = x.devices()
    with jax.enable_x64(True):
        return jax.numpy.asarray(result, device=next(iter(devices)) if len(devices) == 1 else None)
