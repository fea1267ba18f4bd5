"""What `transpose` knows of layouts, seen from outside, and forgotten between tests."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from ttc_llvm.arrays import builtin_functions, call
from ttc_llvm.arrays.layout_code import functions
from ttc_llvm.arrays.layout_keys import layout_of
from ttc_llvm.arrays.layouts import CAPACITY, PAYBACK_BYTES, layouts
from ttc_llvm.arrays.scalings import PLAIN
from ttc_llvm.ir_builders import layout_fields as fields
from ttc_llvm.ir_builders import planner_fields
from ttc_llvm.operands import object_fields
from ttc_llvm.operands.operand import Array

NATIVE = pytest.mark.skipif(
    not builtin_functions.supported() or not object_fields.agree(), reason="no native code for this Python"
)


def forget(payback: int = PAYBACK_BYTES, capacity: int = CAPACITY) -> None:
    """Nothing is known of any layout. payback: bytes that a layout moves before it gets a kernel of its own."""
    layouts().reset(capacity=capacity, payback=payback)


@contextmanager
def forgotten(payback: int = PAYBACK_BYTES) -> Iterator[None]:
    """Nothing is known at the beginning, nor left at the end."""
    forget(payback)
    try:
        yield
    finally:
        forget()


def served_by(x: Array, axes: Any = None, threads: int | None = None, effort: int = 1, odd: int = 0) -> str:
    """What serves plain transpositions of this layout: "family", "own", or "" where nothing is known of it."""
    view = np.transpose(x, axes)
    to = np.empty(view.shape, view.dtype)
    return layout_served_by(layout_of(view, to, PLAIN, call.threads_for(threads, view), effort, odd))


def layout_served_by(layout: bytes) -> str:
    """The same of a layout; "detour" where nothing does, as it is."""
    found = functions()["find"](layouts().address, layout)
    return _serving(found) if found else ""


def everything() -> Iterator[tuple[str, bool, Any]]:
    """Of each layout that is known: what serves it, whether at odd addresses, and its executable or None."""
    table = layouts().address
    ring, count = _word(table + planner_fields.RING), _word(table + planner_fields.COUNT)
    for place in range(count):
        entry = _word(ring + 8 * place)
        owner = _word(entry + planner_fields.PREPARED + fields.OWNER)
        found = ctypes.cast(owner, ctypes.py_object).value if owner else None
        kind = _word(entry + planner_fields.LAYOUT + fields.KIND)
        yield _serving(entry + planner_fields.PREPARED), kind >> planner_fields.ODD_BITS & 7 > 0, found


def _serving(prepared: int) -> str:
    if _word(prepared + fields.OWNER):
        return "own"
    return "family" if _word(prepared + fields.KERNEL) else "detour"


def _word(address: int) -> int:
    return ctypes.c_int64.from_address(address).value
