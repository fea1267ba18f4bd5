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
from ..runtime.stored_code import FIRST_CALLS
from . import assignment, result_memory, without_kernels
from .layout_code import MOST_BYTES
from .layout_keys import layout_of
from .layouts import layouts
from .scalings import PLAIN, Scaling

MOST_LAYOUTS = 256  # whose kernels are made ahead

_moved: dict[bytes, list[int]] = {}  # layouts, and bytes of the results of each call, 0 where they are not new


def assign(of: Array, to: Array, scale: Scaling, threads: int, effort: int, *, fresh: bool = False) -> None:
    """As an engine's. What is large, no plain move, or called again and again waits for native code."""
    is_plain = scale is PLAIN and effort == 1 and to.nbytes < MOST_BYTES
    calls = _calls(layout_of(of, to, scale, threads, effort, 0)) if is_plain and to.nbytes else []
    if not is_plain or len(calls) == FIRST_CALLS:
        assignment.engine().assign(of, to, scale, threads, effort, fresh=fresh)
        return
    calls.append(to.nbytes if fresh else 0)
    without_kernels.assign(of, to, scale, threads, effort, fresh=fresh)


def _calls(layout: bytes) -> list[int]:
    """What is known of a layout's calls; nothing is kept where there are too many layouts."""
    return _moved.setdefault(layout, []) if len(_moved) < MOST_LAYOUTS else _moved.get(layout, [])


def memory_moved(*_: Any) -> bool:
    """False: nothing moves at once."""
    return False


def prepare() -> None:
    """Plan the layouts that were moved, and make their kernels, and the memory of large results: called when native
    code is there."""
    with suppress(TtcError, MemoryError):  # which is said where a call needs them
        for layout in (*_moved,):
            layouts().planned(layout, checked=True)
        if any(max(calls, default=0) >= ON_LINES for calls in (*_moved.values(),)):
            result_memory.ready()
