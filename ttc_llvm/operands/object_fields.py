"""Offsets in bytes of what CPython and NumPy keep in their objects, for native code: checked before use."""

from __future__ import annotations

import ctypes
import sys
from types import ModuleType
from typing import Any

import numpy as np

from .addresses import HEAD

TYPE = HEAD - 8
HOME_STATE = ModuleType.__basicsize__  # of a class derived from modules, whose only slot lies behind what those have
COUNT = HEAD  # of a tuple's or a list's items
TUPLE_ITEMS = tuple.__basicsize__
LIST_ITEMS = HEAD + 8  # address of the items
REAL, IMAG = HEAD, HEAD + 8  # of floats, too
ARRAY_DATA, ARRAY_RANK, ARRAY_SHAPE, ARRAY_STRIDES = HEAD, HEAD + 8, HEAD + 16, HEAD + 24
ARRAY_DTYPE, ARRAY_FLAGS, ARRAY_HANDLER = HEAD + 40, HEAD + 48, HEAD + 72
C_CONTIGUOUS, F_CONTIGUOUS, OWNS_DATA, ALIGNED, WRITEABLE = 0x1, 0x2, 0x4, 0x100, 0x400  # of an array's flags
REFERENCES = 1  # of a dtype's flags: items hold Python objects
DTYPE_FLAGS, DTYPE_SIZE = (HEAD + 16, HEAD + 24) if int(np.__version__.split(".")[0]) >= 2 else (HEAD + 11, HEAD + 16)
"""One byte, and 32 bits."""


def offsets() -> str:
    """All of these numbers in one text, on which code that uses them depends."""
    return " ".join(str(value) for name, value in globals().items() if name.isupper())


def agree() -> bool:
    """True where objects of this process are as native code expects them."""
    if sys.byteorder != "little" or ctypes.sizeof(ctypes.c_void_p) != 8 or HEAD < 16:
        return False
    return _collections_agree() and all(map(_array_agrees, _arrays())) and all(map(_dtype_agrees, _dtypes()))


class _Home(ModuleType):
    __slots__ = ("state",)

    state: Any


def _word(of: object, at: int) -> int:
    return ctypes.c_int64.from_address(id(of) + at).value


def _words(address: int, count: int) -> tuple[int, ...]:
    """Nothing where no pointer to words was found."""
    if not count or address % 8 or not 1 << 16 <= address < 1 << 57:
        return ()
    return tuple((ctypes.c_int64 * count).from_address(address))


def _collections_agree() -> bool:
    items = (object(), 3, "x", 10**30)
    places = tuple(map(id, items))
    held = [*items]
    pair = 2.5 - 0.75j
    parts = [ctypes.c_double.from_address(id(pair) + at).value for at in (REAL, IMAG)]
    one, home = 1.0e300, _Home("home")
    home.state = items
    return (
        _word(home, HOME_STATE) == id(items)
        and all(_word(x, TYPE) == id(type(x)) for x in (items, held, 5, 2.5, pair, None, "", np.empty(1)))
        and _word(items, COUNT) == _word(held, COUNT) == len(items)
        and _words(id(items) + TUPLE_ITEMS, len(items)) == places
        and _words(_word(held, LIST_ITEMS), len(items)) == places
        and parts == [pair.real, pair.imag]
        and ctypes.c_double.from_address(id(one) + REAL).value == one
    )


def _arrays() -> tuple[Any, ...]:
    whole = np.zeros((3, 4, 5), np.float32)
    locked = np.zeros((2, 3), np.int8)
    locked.flags.writeable = False
    parts = (whole[1:, ::-1], whole.T, whole[2, 1], whole[..., 4])
    return (whole, *parts, np.zeros(()), np.zeros((1,) * 9, "c16"), locked)


def _array_agrees(x: Any) -> bool:
    flags = ctypes.c_int32.from_address(id(x) + ARRAY_FLAGS).value
    found = tuple(bool(flags & bit) for bit in (C_CONTIGUOUS, F_CONTIGUOUS, WRITEABLE))
    return (
        _word(x, ARRAY_DATA) == x.ctypes.data
        and ctypes.c_int32.from_address(id(x) + ARRAY_RANK).value == x.ndim
        and _words(_word(x, ARRAY_SHAPE), x.ndim) == x.shape
        and _words(_word(x, ARRAY_STRIDES), x.ndim) == x.strides
        and _word(x, ARRAY_DTYPE) == id(x.dtype)
        and found == (x.flags.c_contiguous, x.flags.f_contiguous, x.flags.writeable)
    )


def _dtypes() -> tuple[np.dtype[Any], ...]:
    names = ("f4", "f8", "c16", "i1", "?", ">f8", "S7", "U3", "M8[D]", "V37", "V70000", "i8,f4,S5", "O", "i4,O")
    return tuple(np.dtype(name) for name in names)


def _dtype_agrees(t: np.dtype[Any]) -> bool:
    flags = ctypes.c_uint8.from_address(id(t) + DTYPE_FLAGS).value
    size = ctypes.c_int32.from_address(id(t) + DTYPE_SIZE).value
    return (size, bool(flags & REFERENCES)) == (t.itemsize, t.hasobject)
