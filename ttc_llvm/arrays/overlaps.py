"""Tests for bytes that arrays have in common."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ..errors import ArrayError
from ..operands.addresses import data_address
from ..operands.operand import Array

OVERLAP_WORK = 1_000_000  # steps in NumPy's search for a common byte: some milliseconds


def is_same(x: Array, y: Array) -> bool:
    """True where two arrays of one shape have the same elements of the same type at the same places."""
    if x.dtype != y.dtype or data_address(x) != data_address(y):
        return False
    return all(s == t for n, s, t in zip(x.shape, x.strides, y.strides, strict=True) if n > 1)


def is_permuted(of: Array, to: Array) -> bool:
    """True where two arrays of one shape are one array, seen along its axes in two orders."""
    if of.strides == to.strides or data_address(of) != data_address(to) or of.dtype != to.dtype:
        return False
    return _is_permutation(to.shape, of.strides, to.strides)


@lru_cache(maxsize=256)
def _is_permutation(shape: tuple[int, ...], *steps: tuple[int, ...]) -> bool:
    of, to = (sorted((n, s) for n, s in zip(shape, each, strict=True) if n > 1) for each in steps)
    return of == to


def share(x: Array, y: Array) -> bool:
    """True where two arrays have a byte in common, or it would take too long to know."""
    try:
        return np.shares_memory(x, y, max_work=OVERLAP_WORK)  # type: ignore[arg-type]
    except np.exceptions.TooHardError:
        return True


def meet(of: Array, to: Array) -> bool:
    """True where every element of one is the same one of the other; ArrayError where they share memory otherwise."""
    if not share(of, to):
        return False
    if is_same(of, to):
        return True
    raise ArrayError("out shares memory with the array: in place, out is the whole array, and axes keep its shape")


def check_once(to: Array) -> None:
    """ArrayError where elements of the result share memory."""
    if overlaps_itself(to):
        raise ArrayError(f"elements of out share memory (shape {to.shape}, strides {to.strides}): which value wins?")


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
