"""An array of a caller as one value: where its elements are, who keeps them, and how a result becomes its like."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..lazy_dataclasses import NamedTuple
from .addresses import data_address

Array = np.ndarray[tuple[Any, ...], np.dtype[Any]]  # numpy.typing takes half a millisecond to load
Back = Callable[[Array], Any]
Shape = tuple[int, ...]


class Operand(NamedTuple):  # which is made in a third of the time that a frozen dataclass takes
    """An array of a caller.

    view: its shape, strides (bytes), dtype and address, as a NumPy array; library: the package it comes from;
    on_device: its elements lie on a device, and the view's must not be touched; stream: on which its content becomes
    valid there, None = nobody says; locked: why it must not be written to, "" = it may; conjugated: its elements are
    the conjugates of what lies in memory; back: makes an array of the library of a new result in host memory, None =
    the result serves; strided: that array has strides; written: tells the library that the memory is written to; keep:
    what keeps it alive.
    """

    view: Array
    library: str = "numpy"
    on_device: bool = False
    stream: int | None = None
    locked: str = ""
    conjugated: bool = False
    back: Back | None = None
    strided: bool = True
    written: Callable[[], None] | None = None
    keep: Any = None

    @property
    def address(self) -> int:
        """Of its element 0."""
        return data_address(self.view)

    def handed(self, result: Array) -> Any:
        """A new result in host memory as an array of the caller's library."""
        return result if self.back is None else self.back(result)


class _Described:
    """Memory as NumPy's interface describes it. keep: its owner, which lives as long as views of it do."""

    def __init__(self, address: int, shape: Shape, strides: Shape, itemsize: int, keep: Any) -> None:
        self.keep = keep
        self.__array_interface__ = {
            "version": 3, "shape": shape, "strides": strides, "typestr": f"|V{itemsize}", "data": (address, False),
        }  # fmt: skip


def described(address: int, shape: Shape, strides: Shape, dtype: np.dtype[Any], keep: Any = None) -> Array:
    """A view of any memory. strides: in bytes; keep: what the view is to keep alive."""
    if 0 in shape or not address:
        return np.lib.stride_tricks.as_strided(np.empty(0, f"V{dtype.itemsize}"), shape, strides).view(dtype)
    return np.asarray(_Described(address, shape, strides, dtype.itemsize, keep)).view(dtype)


def packed(shape: Shape, itemsize: int) -> Shape:
    """Strides in bytes of a C-contiguous array."""
    steps, step = [], itemsize
    for extent in reversed(shape):
        steps.append(step)
        step *= extent
    return tuple(reversed(steps))


def library_of(x: Any) -> str:
    """The top-level package that an array's type comes from."""
    return type(x).__module__.partition(".")[0]
