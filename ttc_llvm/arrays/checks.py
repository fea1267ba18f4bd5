"""Requirements on arrays and scalars, on the host or on a device; tests for bytes that arrays have in common."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from ..arguments import flag, is_fraction, number, reason, sequence, shown
from ..errors import ArrayError, ProblemError
from ..operands.addresses import data_address
from ..operands.types import is_real
from .pairs import PLAIN, Array, Scaling, scaling

NUMBERS = frozenset((int, float, complex))
OVERLAP_WORK = 1_000_000  # steps in NumPy's search for a common byte: some milliseconds


def as_dtype(given: npt.DTypeLike) -> np.dtype[Any]:
    """A NumPy dtype of whatever NumPy takes for one. Raises ArrayError."""
    try:
        return np.dtype(given)
    except Exception as error:
        raise ArrayError(f"dtype {shown(given)} is none that NumPy knows: {reason(error)}") from None


def permuted(x: Array, axes: Any) -> Array:
    """The view with permuted axes; ArrayError where `axes` is no permutation of them."""
    try:
        if not (axes is None or type(axes) is tuple or hasattr(axes, "__index__")):
            axes = sequence("axes", axes, ArrayError, "integers")  # NumPy would read beyond the end of a ctypes pointer
        view: Array = x.transpose(axes)
    except ArrayError:
        raise
    except Exception as error:  # whatever the items of axes raise
        raise ArrayError(f"axes {shown(axes)} do not permute the {x.ndim} axes of the array: {reason(error)}") from None
    return view


def check_result(shape: tuple[int, ...], view: Array) -> None:
    """ArrayError where an array of this shape cannot hold a copy of the view."""
    if shape != view.shape:
        raise ArrayError(f"out has shape {shape}: the transposed array has {view.shape}")


def check_beta(beta: Any) -> None:
    """ArrayError where a result of its own, which holds nothing yet, would be scaled."""
    if beta != 0:
        raise ArrayError(f"beta = {shown(beta)} without out: there is nothing to be scaled")


def scaled(
    of: np.dtype[Any],
    to: np.dtype[Any],
    alpha: Any,
    beta: Any,
    conjugate: Any,
    conjugated: bool = False,
    saturate: bool | None = None,
) -> Scaling:
    """The checked scaling of elements of type `of` into elements of type `to`. conjugated: memory has conjugates;
    saturate: as `pairs.scaling` has it."""
    if type(alpha) not in NUMBERS or type(beta) not in NUMBERS:
        alpha, beta = (x if is_fraction(x) else number(n, x) for n, x in (("alpha", alpha), ("beta", beta)))
    conjugate = flag("conjugate", conjugate, ProblemError) != conjugated and not is_real(of)
    if alpha == 1 and beta == 0 and not conjugate and of == to:
        return PLAIN
    return scaling(of, to, alpha, beta, conjugate, saturate)


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


# --- overlaps --------------------------------------------------------------------------------------------


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
