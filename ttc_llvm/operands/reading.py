"""The one reader of what callers hand over as an array: every interface's arguments pass through here."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, cast

import numpy as np

from ..arguments import reason
from ..errors import ArrayError, NoArrayError
from ..locks import imported
from . import host
from .operand import Operand

Reader = Callable[[Any, str], "Operand | None"]


@cache
def _own() -> tuple[Reader, ...]:
    """The readers of libraries that NumPy cannot read, or not fully: NumPy's arrays come without them."""
    return tuple(imported(f".{name}", __package__).read for name in ("torch_tensor", "device"))


def has_functions(x: Any) -> bool:
    """True for objects that implement NumPy's functions themselves, where they do not lie on a CUDA device."""
    if isinstance(x, np.ndarray):
        return False
    return hasattr(type(x), "__array_function__") and not imported(".device", __package__).is_on_device(x)


def operand(x: Any, name: str) -> Operand:
    """An array, or whatever NumPy makes one of. Raises ArrayError, which names it and says why it cannot be read."""
    if isinstance(x, np.ndarray):
        return host.ndarray(x)
    return cast(Operand, _first((*_own(), host.array_like), x, name))  # NumPy makes an array of anything


def in_place(x: Any, name: str, wanted: np.dtype[Any] | None = None) -> Operand | None:
    """An array or a buffer whose own memory is used; None for what has none that can be reached. Raises ArrayError.

    wanted: the type of the elements in buffers that say only that they have bytes.
    """
    if isinstance(x, np.ndarray):
        return host.ndarray(x)
    if isinstance(x, np.generic):  # which describes a copy of its value
        return None
    readers = (*_own(), host.interface, lambda x, name: host.buffer(x, name, wanted), host.exported)
    return _first(readers, x, name)


def _first(readers: tuple[Reader, ...], x: Any, name: str) -> Operand | None:
    """What the first reader that knows such objects makes of one."""
    try:
        found = (reader(x, name) for reader in readers)
        return next((operand for operand in found if operand is not None), None)
    except (ArrayError, MemoryError):
        raise
    except Exception as error:  # a library's own, and descriptions that are none
        raise ArrayError(f"{name} is a {type(x).__name__} that cannot be read: {reason(error)}") from None


def result_place(x: Any, name: str) -> Operand:
    """An array or a buffer that a result is written to. Raises ArrayError, which says what to do where it cannot be."""
    if type(x) is np.ndarray and x.flags.writeable:  # what most calls bring
        return Operand(x)
    if has_functions(x):
        raise ArrayError(f"{name} is a {type(x).__name__}, which NumPy's functions make: take the result")
    found = in_place(x, name)
    if found is None:
        raise NoArrayError(f"{name} is a {type(x).__name__}{_instead(x, name)}")
    if found.locked:
        raise ArrayError(f"{name} {found.locked}")
    return found


def _instead(x: Any, name: str) -> str:
    """What to do where an object has no memory that can be reached."""
    if hasattr(x, "__setitem__") and hasattr(x, "shape") and hasattr(x, "dtype"):  # h5py's and zarr's data sets
        return f", whose memory cannot be reached: say {name}[...] = ttc_llvm.transpose(a, axes)"
    return ": it must be an array or a writable buffer"
