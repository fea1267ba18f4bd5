"""The shortest way from `ttc_llvm.transpose(x)` into machine code, for small arrays whose layout is known already.

What such a call needs is looked up by the array's own shape, strides and dtype, before anything is made of it; the
addresses of the elements are read in native code (`ir_builders.ndarray_entry`).
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from .. import locks
from ..ir_builders.result_fields import LEAST
from ..operands import addresses, torch_tensor
from ..operands.addresses import data_address
from ..operands.operand import Back
from ..runtime import backend
from ..runtime.once import Recent, once
from ..runtime.stored_code import native
from .layouts import Known, layouts
from .pairs import Array

NdarrayEntry = Callable[[int, int, int], int]

NAME = "doorway"
ABI = "doorway1"  # of the native entry: another one is another row of the database

CAPACITY = 512  # shortcuts remembered

_empty = np.empty
recent: Recent[Shortcut] = Recent(CAPACITY)
_ARGUMENTS = (ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
_HOLDING, _RELEASING = ctypes.PYFUNCTYPE(*_ARGUMENTS), ctypes.CFUNCTYPE(*_ARGUMENTS)


class Shortcut:
    """A prepared call. run(id(x), id(result), address): 0 where it was made, else an address is odd; axes, types: as
    they were given, and theirs; shape, dtype: of the result; back: as of an operand; left: calls until the layout is
    looked at anew."""

    __slots__ = ("address", "axes", "back", "dtype", "known", "left", "run", "shape", "types")

    def __init__(self, known: Known, axes: Any, result: Array, back: Back | None) -> None:
        self.known = known  # keeps the code and its parameters in memory
        self.address = data_address(known.words)
        self.run: NdarrayEntry = _entries()[known.held]
        self.left = known.left // known.weight
        self.axes, self.types = axes, [*map(type, axes or ())]
        self.shape, self.dtype, self.back = result.shape, result.dtype, back


def taken(key: Hashable, axes: Any, memory: object, dtype: np.dtype[Any] | None) -> Any:
    """`np.transpose(x, axes).copy()` the short way; None where none is known.

    key: of the layout; memory: the array, or what stands in for it; dtype: of the result, None = as when it was new.
    """
    try:
        known: Shortcut | None = recent.find(key)
    except TypeError:  # axes in a list
        return None
    # (1.0, False) equals (1, 0), but is refused.
    if known is None or (axes is not known.axes and [*map(type, axes)] != known.types):
        return None
    known.left -= 1
    if known.left <= 0:
        layouts().renew(known.known.layout, 0)  # so that the long way sees what was moved
        return None
    result: Array = _empty(known.shape, known.dtype if dtype is None else dtype)
    if known.run(id(memory), id(result), known.address):
        return None
    return result if known.back is None else known.back(result)


def taken_tensor(x: Any, axes: Any) -> Any:
    """The same for tensors of PyTorch, as a tensor; None for anything else, too."""
    found = torch_tensor.quick(x, axes)
    return None if found is None else taken(found[0], axes, addresses.stand_in(found[1]), None)


def key_of(x: Any, axes: Any) -> Hashable:
    """The key by which calls of this layout are remembered; None where they are not."""
    if type(x) is np.ndarray:
        return x.shape, x.strides, x.dtype, axes
    found = torch_tensor.quick(x, axes)
    return None if found is None else found[0]


def offer(key: Hashable, axes: Any, known: Known, result: Array, back: Back | None) -> None:
    """Remember what calls of a layout need, if it has returned, one thread serves it, its axes are hashable, and its
    results have NumPy's own memory."""
    returned = known.executable is not None or known.left < layouts().payback
    if key is None or result.nbytes >= LEAST or not returned or not known.is_direct or not addresses.READS_OBJECTS:
        return
    if axes is None or type(axes) is tuple:
        recent.put(key, Shortcut(known, axes, result, back))


@once
def _entries() -> tuple[NdarrayEntry, NdarrayEntry]:
    """The native entry, made on first use: without and with the interpreter lock held."""
    loaded = native(f"arrays with data at {addresses.HEAD}", ABI, (NAME,), _compiled)
    return loaded.function(NAME, _RELEASING), loaded.function(NAME, _HOLDING)


def _compiled() -> bytes:
    with locks.LLVM:
        from ..ir_builders import ndarray_entry
    target = backend.host_target()
    return backend.compile_object(str(ndarray_entry.build(target, addresses.HEAD, NAME)), target)
