"""Native entries (`ir_builders/array_entry.py`) in the place of Python functions that do the same.

They are bound when the table of layouts is first used. Where objects of the process are not laid out as native code
expects, and on free-threaded Python, Python serves every call, with the same results.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import locks
from ..ir_builders.array_entry_fields import GIVEN_WORDS, STATE_BYTES, STATE_WORDS, UNKNOWN, State
from ..ir_builders.array_entry_fields import MOVED as MOVED
from ..ir_builders.layout_fields import ARITHMETIC
from ..lazy_dataclasses import NamedTuple
from ..operands import object_fields
from ..runtime import numpy_api, shared_words
from ..runtime.once import once
from . import builtin_functions, layout_code, public
from .layouts import layouts

NUMPY_API = {"NDARRAY": "Array", "NEW_ARRAY": "NewFromDescr"}
PYTHON_API = {
    "AS_INTEGER": "PyLong_AsLongLong", "NEW_INTEGER": "PyLong_FromLongLong", "AS_FLOAT": "PyNumber_Float",
    "TUPLE_LENGTH": "PyTuple_Size", "ERROR": "PyErr_Occurred", "CLEAR": "PyErr_Clear", "TAKE": "Py_IncRef",
    "RELEASE": "Py_DecRef", "UNLOCK": "PyEval_SaveThread", "LOCK": "PyEval_RestoreThread",
}  # fmt: skip
_OBJECTS: dict[str, object] = {  # of each there is one in the process
    "TUPLE": tuple, "LIST": list, "INT": int, "FLOAT": float, "COMPLEX": complex, "NONE": None, "TRUE": True,
    "FALSE": False, "ZERO": 0, "ONE": 1, "C_ORDER": "C", "F_ORDER": "F", "SMALL_C": "c", "SMALL_F": "f",
}  # fmt: skip


class Moves(NamedTuple):
    """`arrays_moved` and `memory_moved` of `ir_builders/array_layouts.py`: MOVED, or else nothing has moved, and Python
    has to see to it. state: the address of native code's state, 0 where there is no such code."""

    arrays: Callable[..., int]
    memory: Callable[..., int]
    state: int = 0


NO_MOVES = Moves(arrays=lambda *_: UNKNOWN, memory=lambda *_: UNKNOWN)
"""What leaves every call to Python."""


def is_bound() -> bool:
    """True where the public functions are native; errors as `native_moves`."""
    return native_moves() is not NO_MOVES


def is_ready() -> bool:
    """False while another thread compiles native code: whoever asks for it waits."""
    return not _is_served() or layout_code.is_ready()


@once
def _is_served() -> bool:
    return builtin_functions.supported() and object_fields.agree()


@once
def native_moves() -> Moves:
    """Native code for Python to call. The public functions are native from the first time on."""
    if not _is_served():
        return NO_MOVES
    state, addresses = _state(), layout_code.entries()
    for name in public.PYTHON:
        builtin_functions.bind(name, addresses[name], state)
    arrays, memory = (builtin_functions.native(x, addresses[x], state) for x in ("arrays_moved", "memory_moved"))
    return Moves(arrays, memory, ctypes.addressof(state))


def _use_memory(functions: tuple[int, int, int]) -> None:
    """From now on native code makes large results, too: by functions and the state of `ir_builders/result_handler.py`,
    which stay for ever."""
    state = native_moves().state
    for word, value in zip((State.NEW_LARGE, State.POPULATE, State.RESULTS), functions, strict=True):
        ctypes.c_int64.from_address(state + word).value = value


def _state() -> Any:
    """The state of native code, which lives for ever, as everything does that it refers to."""
    values = {name.upper(): id(function) for name, function in public.PYTHON.items()} | _functions()
    values |= {name: id(thing) for name, thing in _OBJECTS.items()}
    values |= {"DTYPE_FLAGS": object_fields.DTYPE_FLAGS, "DTYPE_SIZE": object_fields.DTYPE_SIZE}
    table = layouts()

    def provide(family: int) -> None:
        table.families.provide(family)

    def count_threads(_: int) -> None:
        locks.imported("..runtime.runtime", __package__).num_threads()

    def make_results(_: int) -> None:
        memory = locks.imported(".result_memory", __package__).ready()
        if memory is not None:
            _use_memory(memory.for_native_code())

    values |= dict.fromkeys(("RESULTS", "NEW_LARGE", "POPULATE"), 0)
    called = (provide, count_threads, make_results)
    values |= {function.__name__.upper(): id(function) for function in called}
    values |= {"TABLE": table.address, "SHARED": shared_words.address()}
    others = (*map(np.dtype, ARITHMETIC), *(sys.intern(name.lower()) for name in GIVEN_WORDS))
    state = (ctypes.c_int64 * (STATE_BYTES // 8))(*(values[name] for name in STATE_WORDS), *map(id, others))
    builtin_functions.keep((state, others, table, called, public.PYTHON, layout_code.functions()))
    return state


def _functions() -> dict[str, int]:
    """Functions of CPython and NumPy."""
    found = {name: builtin_functions.address(symbol) for name, symbol in PYTHON_API.items()}
    found |= {name: numpy_api.table()[entry] for name, entry in NUMPY_API.items()}
    return found | {"VECTORCALL": builtin_functions.vectorcall()}
