"""Native code of groups: planner, walk, check of addresses, reader of lists, and kernels of indexed runs."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping

from .. import locks
from ..ir_builders.group_fields import UNITS
from ..operands import object_fields
from ..runtime.mapping import Loaded
from ..runtime.once import once
from ..runtime.stored_code import compiled_functions, native, revision

# Modules of `ir_builders`, which are loaded only where their functions are compiled.
_HOMES = {
    "plan_blocks": "group_planner", "check_blocks": "group_walk", "walk_blocks": "group_walk",
    "read_arrays": "group_arrays",
}  # fmt: skip
_SOURCES = (
    "words", "layout_fields", "layout_kinds", "planner_fields", "canonical_axes", "contiguous_copy", "short_rows",
    "prepared_calls", "picked_rows", "row_planner", "native_planner", "layout_table",
    "group_fields", *dict.fromkeys(_HOMES.values()),
)  # fmt: skip
_RUNS = "indexed_runs"
_FUNCTION = ctypes.PYFUNCTYPE(ctypes.c_int64, ctypes.c_int64)


@once
def functions() -> Mapping[str, Callable[[int], int]]:
    """The functions of one block of words, by name."""
    return {name: _loaded().function(name, _FUNCTION) for name in ("plan_blocks", "check_blocks", "read_arrays")}


def walk() -> int:
    """The address of the walk over blocks, which is called as a kernel is."""
    return _loaded().address("walk_blocks")


@once
def kernels() -> tuple[int, ...]:
    """The addresses of kernels of indexed runs, by UNITS."""
    return tuple(map(_runs().address, UNITS.values()))


@once
def _loaded() -> Loaded:
    how = f"{revision(*_SOURCES)} {object_fields.offsets()}"
    return native("groups of blocks", how, list(_HOMES), lambda: compiled_functions(_HOMES))


@once
def _runs() -> Loaded:
    return native("indexed runs", revision("group_fields", "memory", _RUNS), list(UNITS.values()), _compiled_runs)


def _compiled_runs() -> bytes:
    backend, runs = (locks.imported(name, __package__) for name in ("..runtime.backend", f"..ir_builders.{_RUNS}"))
    target = backend.host_target()
    return bytes(backend.compile_object(str(runs.build(target)), target))
