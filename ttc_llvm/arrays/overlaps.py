"""Tests for bytes that arrays, or the elements of one, have in common."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
OVERLAP_WORK = 1_000_000  # steps in NumPy's search for a common byte: some milliseconds


def share(x: Array, y: Array) -> bool:
    """True where two arrays have a byte in common, or it would take too long to know."""
    try:
        return np.shares_memory(x, y, max_work=OVERLAP_WORK)  # type: ignore[arg-type]
    except np.exceptions.TooHardError:
        return True


def overlaps_itself(x: Array) -> bool:
    """True where two elements have a byte in common, or it would take too long to know."""
    reach = x.dtype.itemsize
    for step, extent in sorted((abs(s), n) for s, n in zip(x.strides, x.shape, strict=True) if n > 1):
        if step < reach:
            return _interleaves_badly(x)
        reach += (extent - 1) * step
    return False


def _interleaves_badly(x: Array) -> bool:
    """The exact test: two indices first differ along some axis, where one of them may be taken as 0."""
    at = [slice(None)] * x.ndim
    for k, extent in enumerate(x.shape):
        others = at.copy()
        at[k], others[k] = slice(0, 1), slice(1, None)
        if extent > 1 and share(x[tuple(at)], x[tuple(others)]):
            return True
    return False
