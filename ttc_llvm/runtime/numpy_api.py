"""NumPy's C interface, as extension modules reach it: a table of addresses in a capsule."""

from __future__ import annotations

import ctypes
import sys
from functools import lru_cache
from types import MappingProxyType
from typing import Any

# Places in the table: the same in all versions of NumPy that have the entry.
_PLACES = {
    "Array": 2, "NewFromDescr": 94, "NewLikeArray": 277, "SetHandler": 304, "GetHandler": 305, "DefaultHandler": 306,
}  # fmt: skip
_NO_ENTRIES = MappingProxyType[str, int]({})


@lru_cache(maxsize=1)
def table() -> MappingProxyType[str, int]:
    """The entries of the table that we use, by name; none where the interpreter is not CPython."""
    if sys.implementation.name != "cpython":
        return _NO_ENTRIES
    modules = sys.modules  # the first from NumPy 2 on
    core: Any = modules.get("numpy._core._multiarray_umath") or modules["numpy.core._multiarray_umath"]
    start = capsule_pointer(core._ARRAY_API, None)
    size = ctypes.sizeof(ctypes.c_void_p)
    return MappingProxyType({name: word(start + size * place) for name, place in _PLACES.items()})


def capsule_pointer(capsule: Any, name: bytes | None) -> int:
    """The address in a capsule of this name."""
    prototype = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)
    return prototype(("PyCapsule_GetPointer", ctypes.pythonapi))(capsule, name) or 0


def word(address: int) -> int:
    """The address at an address."""
    return ctypes.c_void_p.from_address(address).value or 0
