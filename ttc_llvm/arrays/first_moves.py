"""Moves until native code is there, which another thread compiles: NumPy makes them, if they are plain and small.

The same thread then makes the kernels that they would have run, as nobody else may: later calls, and later processes,
find them.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from ..errors import TtcError
from ..ir_builders.result_fields import ON_LINES
from ..operands.operand import Array
from . import assignment, result_memory, without_kernels
from .layout_code import MOST_BYTES
from .layout_keys import layout_of
from .layouts import layouts
from .scalings import PLAIN, Scaling

MOST_LAYOUTS = 256  # whose kernels are made ahead

_moved: dict[bytes, int] = {}  # layouts, and bytes of their new results


def assign(of: Array, to: Array, scale: Scaling, threads: int, effort: int, *, fresh: bool = False) -> None:
    """As an engine's. What is large or no plain move waits for native code."""
    if scale is not PLAIN or effort != 1 or to.nbytes >= MOST_BYTES:
        assignment.engine().assign(of, to, scale, threads, effort, fresh=fresh)
        return
    if len(_moved) < MOST_LAYOUTS and to.nbytes:
        _moved[layout_of(of, to, scale, threads, effort, 0)] = to.nbytes if fresh else 0
    without_kernels.assign(of, to, scale, threads, effort, fresh=fresh)


def memory_moved(*_: Any) -> bool:
    """False: nothing moves at once."""
    return False


def prepare() -> None:
    """Plan the layouts that were moved, and make their kernels, and the memory of large results: called when native
    code is there."""
    with suppress(TtcError, MemoryError):  # which is said where a call needs them
        for layout in (*_moved,):
            layouts().planned(layout, checked=True)
        if max((*_moved.values(),), default=0) >= ON_LINES:
            result_memory.ready()
