"""The native functions of the table of layouts, as functions of Python."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from typing import Any

from .. import locks
from ..ir_builders import canonical_axes, layout_fields, layout_table, native_planner, planner_fields
from ..runtime import backend
from ..runtime.once import once
from ..runtime.stored_code import native, revision

_SOURCES = (layout_fields, planner_fields, canonical_axes, native_planner, layout_table)
_WORD = ctypes.c_int64
_LAYOUT = ctypes.c_char_p  # its bytes, which may hold zeros
_NATIVE: dict[str, tuple[Callable[..., Any], Any]] = {  # what is compiled, and its type; all hold the interpreter lock
    "plan": (native_planner.plan, ctypes.PYFUNCTYPE(_WORD, _WORD, _LAYOUT, _WORD, _WORD, _WORD)),
    "find": (layout_table.find, ctypes.PYFUNCTYPE(_WORD, _WORD, _LAYOUT)),
    "prepare": (layout_table.prepare, ctypes.PYFUNCTYPE(_WORD, _WORD, _LAYOUT)),
    "put": (layout_table.put, ctypes.PYFUNCTYPE(_WORD, _WORD, _LAYOUT, _WORD)),
    "recall": (layout_table.recall, ctypes.PYFUNCTYPE(ctypes.py_object, _WORD, _LAYOUT, _WORD)),
    "renew": (layout_table.renew, ctypes.PYFUNCTYPE(_WORD, _WORD, _LAYOUT, _WORD)),
    "clear": (layout_table.clear, ctypes.PYFUNCTYPE(_WORD, _WORD)),
    "run": (layout_table.run, ctypes.PYFUNCTYPE(_WORD, _WORD, _WORD, _WORD, _WORD)),
}
_RELEASING = ctypes.CFUNCTYPE(_WORD, _WORD, _WORD, _WORD, _WORD)  # `run` without the lock


@once
def functions() -> Mapping[str, Callable[..., Any]]:
    """The native functions by name, and `run` without the interpreter lock as `run_releasing`."""
    loaded = native("layouts of arrays", revision(*_SOURCES), [*_NATIVE], _compiled)
    found = {name: loaded.function(name, prototype) for name, (_, prototype) in _NATIVE.items()}
    return {**found, "run_releasing": loaded.function("run", _RELEASING)}


def _compiled() -> bytes:
    with locks.LLVM:
        from ..ir_builders import integer_code, module
    target = backend.host_target()
    made = module.new_module(target)
    integer_code.add_functions(made, [function for function, _ in _NATIVE.values()])
    return backend.compile_scalar(str(made), target)
