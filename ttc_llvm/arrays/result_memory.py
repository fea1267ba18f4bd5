"""New arrays for results: laid out, typed and subclassed as NumPy's copies are, and owners of their memory.

Large ones get it from a data handler of our own (`ir_builders.result_handler`), which NumPy calls also when it resizes
and frees them: they start on a cache line, so that whole ones can be stored, and freed blocks serve the next ones.
"""

from __future__ import annotations

import atexit
import ctypes
import math
import os
import platform
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arguments import between
from ..errors import CompileError, OptionError, TargetError
from ..ir_builders import result_fields as fields
from ..ir_builders import result_handler
from ..operands import addresses, object_fields
from ..runtime import heap, numpy_api, runtime
from ..runtime.mapping import Loaded
from ..runtime.once import once
from ..runtime.pool import Call
from ..runtime.stored_code import compiled_functions, native, revision
from ..tuning.search.available import total_memory
from . import layout_code

if TYPE_CHECKING:
    from ..operands.operand import Array

MOST_KEPT, SHARE = 256 << 20, 16  # bytes of freed results that are kept, or this part of all memory, by default
ORDERS = {"C": 0, "F": 1, "A": -1, "K": 2}  # NumPy's numbers
HEAD = 16  # bytes of an object's head in usual builds of Python: those without the interpreter lock have larger ones
FUTEX = {"x86_64": 202, "aarch64": 98}  # the system call's number, by processor
SOURCES = ("result_fields", "result_blocks", "result_pool", "result_handler")

_BYTES = between(0, 1 << 62)
_WORD, _OBJECT = ctypes.c_int64, ctypes.py_object
_chosen = list[int]()
_made = list[Any]()


def set_result_pool(bytes: int) -> None:
    """Set how many bytes of freed results this process keeps for the next ones, 0 = none.

    By default 256 MiB, or a sixteenth of the memory of the machine or of the control group where that is less. What
    nobody needs goes back to the system within five seconds. OptionError if it is no integer or less than 0.
    """
    _chosen[:] = [int(_BYTES("bytes", bytes, OptionError))]
    for memory in _made:
        memory.call("bound", _chosen[0])


def result_pool() -> int:
    """The most bytes of freed results that this process keeps."""
    return _chosen[0] if _chosen else _default()


def new_like(view: Array, order: str, threads: int) -> Array:
    """An array as `view.copy(order)` returns it, without its elements. threads: of the transposition into it."""
    memory = ready() if view.nbytes >= fields.ON_LINES and not layout_code.is_awaited(view.nbytes) else None
    if memory is not None:
        return memory.new_like(view, order, threads)
    if type(view) is np.ndarray or not numpy_api.table():
        return np.empty_like(view, order=order)  # type: ignore[call-overload, no-any-return]
    return _plain()(view, ORDERS[order], None, 1)  # type: ignore[no-any-return]


def empty(shape: tuple[int, ...], dtype: np.dtype[Any], order: str = "C", threads: int | None = None) -> Array:
    """`np.empty(shape, dtype, order)` for a result that is written by so many threads, by default by all."""
    if math.prod(shape) * dtype.itemsize < fields.LEAST:
        return np.empty(shape, dtype, order)  # type: ignore[call-overload, no-any-return]
    return new_like(np.broadcast_to(np.empty((), dtype), shape), order, threads or runtime.num_threads())


@once
def _plain() -> Any:
    """NumPy's function behind `empty_like`, which asks no subclass."""
    prototype = ctypes.PYFUNCTYPE(_OBJECT, _OBJECT, ctypes.c_int, ctypes.c_void_p, ctypes.c_int)
    return prototype(numpy_api.table()["NewLikeArray"])


@once
def _default() -> int:
    limit = total_memory()
    return MOST_KEPT if limit is None else min(MOST_KEPT, limit // SHARE)


def ready() -> Memory | None:
    """The handler; None where NumPy's own has to do."""
    try:
        return _memory()
    except MemoryError:  # of LLVM: the next large result tries again
        return None


@once
def _memory() -> Memory | None:
    known = sys.platform == "linux" and platform.machine() in FUTEX and addresses.HEAD == HEAD
    if not known or not numpy_api.table() or not _arrays_agree():
        return None
    try:
        homes = dict.fromkeys(result_handler.NAMES, "result_handler")
        how = f"{revision(*SOURCES)} {object_fields.offsets()}"
        code = native("memory of results", how, [*homes], lambda: compiled_functions(homes))
    except (CompileError, TargetError):
        return None
    memory = Memory(code)
    _made.append(memory)
    memory.call("bound", result_pool())
    heap.reserves.append(lambda: memory.call("release", fields.EVER))
    os.register_at_fork(before=lambda: memory.call("stop"), after_in_child=lambda: memory.call("forget"))
    atexit.register(memory.close)
    return memory


def _arrays_agree() -> bool:
    """True where arrays have their flags, and the handler of memory that they own, where native code expects them."""
    handler = ctypes.PYFUNCTYPE(_OBJECT)(numpy_api.table()["GetHandler"])()
    whole = np.empty(3)
    found = [_WORD.from_address(id(x) + object_fields.ARRAY_HANDLER).value for x in (whole, whole[1:])]
    flags = [ctypes.c_int32.from_address(id(x) + object_fields.ARRAY_FLAGS).value for x in (whole, whole[1:])]
    usual = ("C_CONTIGUOUS", "F_CONTIGUOUS", "ALIGNED", "WRITEABLE")
    both = sum(getattr(object_fields, name) for name in usual)
    return found == [id(handler), 0] and flags == [both | object_fields.OWNS_DATA, both]


class Memory:
    """The handler's entries, and its state: both stay for ever, as arrays may be freed after all else is gone."""

    __slots__ = ("_code", "_new_like", "_populate", "_state")

    def __init__(self, code: Loaded) -> None:
        words, capsule = _state(code)
        for kept in (code, words, capsule):
            ctypes.pythonapi.Py_IncRef(_OBJECT(kept))
        self._code, self._state = code, ctypes.addressof(words)
        self._new_like = ctypes.PYFUNCTYPE(_OBJECT, _WORD, _OBJECT, *[_WORD] * 3)(code.address("new_like"))
        self._populate = code.address("populate")

    def call(self, name: str, *arguments: int) -> int:
        """A function of the state and of integers, with the interpreter lock held."""
        prototype = ctypes.PYFUNCTYPE(_WORD, *[_WORD] * (1 + len(arguments)))
        return int(prototype(self._code.address(name))(self._state, *arguments))

    def new_like(self, view: Array, order: str, threads: int) -> Array:
        """An array of `fields.ON_LINES` bytes or more, whose pages are there."""
        fresh = _WORD()
        unfilled = view.nbytes if type(view) is np.ndarray else 0
        made: Array = self._new_like(self._state, view, ORDERS[order], ctypes.addressof(fresh), unfilled)
        if fresh.value:
            start, tasks = addresses.data_address(made), -(-made.nbytes // fields.CHUNK)
            runtime.run(Call(self._populate, start, made.nbytes, self._state, 0, 0, tasks), threads)
        return made

    def for_native_code(self) -> tuple[int, int, int]:
        """The addresses by which native entries make large results: of both functions, and of the state."""
        return self._code.address("new_array"), self._populate, self._state

    def close(self) -> None:
        """At exit: keep nothing that is freed from here on."""
        self.call("bound", 0)
        self.call("stop")


def _state(code: Loaded) -> tuple[Any, object]:
    """The state as `fields` describes it, and NumPy's object for the handler, whose structure lies in it."""
    words = (_WORD * (fields.STATE_BYTES // 8))()
    start = ctypes.addressof(words)
    system, python = ctypes.CDLL(None), ctypes.pythonapi
    addresses = {fields.LIBC[name]: _address(system, name) for name in fields.LIBC}
    addresses |= {fields.PYTHON[name]: _address(python, name) for name in fields.PYTHON}
    addresses |= {fields.NUMPY[name]: numpy_api.table()[name] for name in fields.NUMPY}
    handler = (start, *(code.address(name) for name in result_handler.HANDLER_FUNCTIONS))
    addresses |= {fields.HANDLER + fields.ALLOCATOR + 8 * k: value for k, value in enumerate(handler)}
    addresses |= {fields.ENTRY: code.address("watch"), fields.FUTEX: FUTEX[platform.machine()]}
    for place, value in addresses.items():
        words[place // 8] = value
    for place, text in ((fields.HANDLER, b"ttc_llvm"), (fields.CAPSULE_NAME, b"mem_handler")):
        ctypes.memmove(start + place, text, len(text))
    ctypes.memset(start + fields.HANDLER + fields.ALLOCATOR - 1, 1, 1)  # the structure's version
    make = ctypes.PYFUNCTYPE(_OBJECT, _WORD, _WORD, ctypes.c_void_p)(("PyCapsule_New", python))
    capsule: object = make(start + fields.HANDLER, start + fields.CAPSULE_NAME, None)
    words[fields.CAPSULE // 8] = id(capsule)
    return words, capsule


def _address(library: ctypes.CDLL, name: str) -> int:
    return ctypes.cast(getattr(library, name), ctypes.c_void_p).value or 0
