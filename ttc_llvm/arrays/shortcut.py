"""The shortest way from `ttc_llvm.transpose(x)` into machine code, for small arrays whose layout is known already.

What such a call needs is looked up by the array's own shape, strides and dtype, before anything is made of it; the
addresses of the elements are read in native code (`ir_builders.ndarray_entry`).
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import locks
from ..machine.target import Target
from ..runtime import addresses, backend, linking
from ..runtime.addresses import data_address
from ..runtime.executable import Direct, Executable
from ..runtime.once import once
from . import objects, strided
from .general import General
from .pairs import Array
from .strided import Ready

NdarrayEntry = Callable[[int, int, int], int]

NAME = "doorway"
ABI = "doorway1"  # of the native entry: another one is another row of the database

_empty = np.empty
_ARGUMENTS = (ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
_HOLDING, _RELEASING = ctypes.PYFUNCTYPE(*_ARGUMENTS), ctypes.CFUNCTYPE(*_ARGUMENTS)


class Shortcut:
    """A prepared call. run(id(x), id(result), address): 0 where it was made, else an address is odd; axes, types: as
    they were given, and theirs; shape: of the result; left: calls until the layout is looked at anew."""

    __slots__ = ("_kernel", "_numbers", "address", "axes", "left", "owner", "run", "shape", "types")

    def __init__(
        self, direct: Direct, ready: Ready, owner: Executable | General, axes: Any, shape: tuple[int, ...]
    ) -> None:
        numbers = (direct.kernel.address, direct.offset_a, direct.offset_b, direct.params, direct.tasks)
        self._numbers = np.array([*numbers, ready.odd_of, ready.odd_to], np.int64)
        self.address = data_address(self._numbers)
        self.run: NdarrayEntry = _entries()[direct.held]
        self._kernel, self.owner = direct.kernel, owner  # keep the code and its parameters in memory
        self.left = owner.left // owner.weight
        self.axes, self.types, self.shape = axes, [*map(type, axes or ())], shape


def taken(x: Array, axes: Any) -> Array | None:
    """`np.transpose(x, axes).copy()` the short way; None where none is known."""
    try:
        known: Shortcut | None = strided.recent.find((x.shape, x.strides, x.dtype, axes))
    except TypeError:  # axes in a list
        return None
    # (1.0, False) equals (1, 0), but is refused.
    if known is None or (axes is not known.axes and [*map(type, axes)] != known.types):
        return None
    known.left -= 1
    if known.left <= 0:
        known.owner.left = min(known.owner.left, known.left)  # so that the long way sees what was moved
        return None
    result: Array = _empty(known.shape, x.dtype)
    return None if known.run(id(x), id(result), known.address) else result


def offer(x: Array, axes: Any, ready: Ready, shape: tuple[int, ...]) -> None:
    """Remember what calls of x's layout need, if it has returned, one thread serves it, and its axes are hashable."""
    owner = ready.executable
    if owner is None or not owner.returned or not addresses.READS_OBJECTS:
        return
    direct = owner.direct()
    if direct is not None and (axes is None or type(axes) is tuple):
        strided.recent.put((x.shape, x.strides, x.dtype, axes), Shortcut(direct, ready, owner, axes, shape))


@once
def _entries() -> tuple[NdarrayEntry, NdarrayEntry]:
    """The native entry, made on first use: without and with the interpreter lock held."""
    target = backend.host_target()
    what = f"arrays with data at {addresses.HEAD}"
    loaded = objects.linked(
        what, ABI, target, lambda: _compiled(target), lambda code: linking.load(code, (NAME,))
    )
    return loaded.function(NAME, _RELEASING), loaded.function(NAME, _HOLDING)


def _compiled(target: Target) -> bytes:
    with locks.LLVM:
        from ..ir_builders import ndarray_entry
    return backend.compile_object(str(ndarray_entry.build(target, addresses.HEAD, NAME)), target)
