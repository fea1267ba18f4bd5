"""The native functions of the table of layouts, as functions of Python."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from typing import Any

from .. import locks
from ..ir_builders.planner_fields import KEPT_QUARTERS, PICKED, PICKED_WIDTHS, ROW_WIDTHS
from ..operands import object_fields
from ..runtime.mapping import Loaded
from ..runtime.once import once
from ..runtime.stored_code import Native, compiled_functions, revision

# Modules of `ir_builders`, which are loaded only where their functions are compiled.
_TABLE, _PLANNER, _ENTRY, _LAYOUTS, _COPY, _SOLUTIONS, _ROWS, _PICKED = (
    "layout_table", "native_planner", "array_entry", "array_layouts", "contiguous_copy", "solution_call",
    "short_rows", "picked_rows",
)  # fmt: skip
_SOURCES = (
    "words", "layout_fields", "layout_kinds", "planner_fields", "canonical_axes", "prepared_calls", "row_planner",
    _COPY, _ROWS, _PICKED, _PLANNER, _TABLE, "array_entry_fields",
    "array_arguments", "pool_layout", "result_fields", "shared_calls", "layout_calls", _LAYOUTS, _ENTRY, _SOLUTIONS,
)  # fmt: skip
MOST_BYTES = 16 << 20  # of a result that waits for no compilation: a larger one has a kernel of its own at once
_WORD = ctypes.c_int64
_LAYOUT = ctypes.c_char_p  # its bytes, which may hold zeros
_NATIVE: dict[str, tuple[str, Any]] = {  # functions by name: where they are, and their type
    "plan": (_PLANNER, ctypes.PYFUNCTYPE(_WORD, _WORD, _LAYOUT, _WORD, _WORD, _WORD)),
    "find": (_TABLE, ctypes.PYFUNCTYPE(_WORD, _WORD, _LAYOUT)),
    "prepare": (_TABLE, ctypes.PYFUNCTYPE(_WORD, _WORD, _LAYOUT)),
    "put": (_TABLE, ctypes.PYFUNCTYPE(_WORD, _WORD, _LAYOUT, _WORD)),
    "recall": (_TABLE, ctypes.PYFUNCTYPE(ctypes.py_object, _WORD, _LAYOUT, _WORD)),
    "renew": (_TABLE, ctypes.PYFUNCTYPE(_WORD, _WORD, _LAYOUT, _WORD)),
    "clear": (_TABLE, ctypes.PYFUNCTYPE(_WORD, _WORD)),
}
_ENTRIES = {
    "transpose": _ENTRY, "ascontiguousarray": _ENTRY, "asfortranarray": _ENTRY, "arrays_moved": _LAYOUTS,
    "memory_moved": _LAYOUTS, "solution_moved": _SOLUTIONS, "copy_bytes": _COPY, "copy_bytes_past": _COPY,
}  # fmt: skip
ROWS = (*(f"rows_of_{width}" for width in ROW_WIDTHS), "long_rows", "copied_rows")
SINGLE = tuple(f"{kind}_{width}" for kind in ("single", "gathered") for width in PICKED_WIDTHS)
_ENTRIES |= dict.fromkeys((*ROWS, *SINGLE), _ROWS) | dict.fromkeys(PICKED, _PICKED)
_asked_for = list[Native]()  # one at most
_HOMES = {name: home for name, (home, _) in _NATIVE.items()} | _ENTRIES


@once
def functions() -> Mapping[str, Callable[..., Any]]:
    """The native functions by name."""
    loaded = _loaded()
    return {name: loaded.function(name, prototype) for name, (_, prototype) in _NATIVE.items()}


def entries() -> Mapping[str, int]:
    """The addresses of the entries of arrays, and of kernels of contiguous copies, by name: code that stays as long as
    `functions` do."""
    return {name: _loaded().address(name) for name in _ENTRIES}


def facts() -> tuple[int, ...]:
    """The facts of this machine in a table: bytes of the longest row that is moved as one item, or 0; bytes that are
    moved at least by copies that are written past the caches, 0 = none is; bytes that copies move beyond one core's."""
    return _loaded().facts


def is_ready() -> bool:
    """False while another thread compiles the functions, as it does from the first time on where nobody has."""
    return _code().is_ready()


def is_awaited(size: int) -> bool:
    """True while another thread compiles them, for a result of so many bytes that does not wait."""
    return size < MOST_BYTES and not all(code.is_over for code in _asked_for)


@once
def _loaded() -> Loaded:
    return _code().loaded()


@once
def _code() -> Native:
    how = f"{revision(*_SOURCES)} {object_fields.offsets()}"
    _asked_for.append(Native("layouts of arrays", how, [*_HOMES], lambda: compiled_functions(_HOMES), _facts, _prepare))
    return _asked_for[0]


def _prepare() -> None:
    """What the calls lacked that came before."""
    locks.imported(".first_moves", __package__).prepare()


def _facts() -> tuple[int, ...]:
    target = locks.imported("..runtime.backend", __package__).host_target()
    past = target.streams and target.line == locks.imported("..ir_builders.contiguous_copy", __package__).LINE
    own, kept = target.l2 * 5 // 4, target.kept * KEPT_QUARTERS // 4
    return 0 if target.natural else target.vector_bits // 8, max(own, kept) if past else 0, own
