"""Other shapes of arrays: a view where one will do, else one copy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, SupportsIndex

import numpy as np

from ..arguments import integer, integers, reason, shown
from ..errors import ArrayError, states_memory
from ..operands.reading import has_functions, operand
from . import patterns
from .public import transpose

_COPIES = tuple(map(int, np.__version__.split(".")[:2])) < (2, 1)  # np.reshape cannot be told not to copy


@states_memory
def reshape(x: Any, shape: SupportsIndex | Sequence[SupportsIndex]) -> Any:
    """`np.reshape(x, shape)`: a view where NumPy would give one, else one copy by our kernels.

    x: as in `transpose`; the result is of the same library. shape: in C order; one extent may be -1. Raises ArrayError.
    """
    x = _read(x)
    wanted = _shape(shape, x)
    view = _view(x, wanted)
    return transpose(x, range(len(x.shape))).reshape(wanted) if view is None else view


@states_memory
def permute_reshape(
    x: Any, axes: Sequence[SupportsIndex] | None, shape: SupportsIndex | Sequence[SupportsIndex]
) -> Any:
    """`np.reshape(np.transpose(x, axes), shape)`: a view where NumPy would give one, else one copy.

    x, axes: as in `transpose`; shape: as in `reshape`. Raises ArrayError.
    """
    x = _read(x)
    wanted = _shape(shape, x)
    view = _view(_permuted(x, axes), wanted)
    return transpose(x, axes).reshape(wanted) if view is None else view


@states_memory
def rearrange(x: Any, pattern: str, **lengths: SupportsIndex) -> Any:
    """The array as a pattern of einops has it: axes are split, permuted and merged, in one copy at most.

    x: as in `transpose`, or a list of arrays of one shape, which is stacked. pattern:
    "b (h p) (w q) c -> b (h w) (p q c)": a name for each axis, or names in parentheses for one that is split; 1 and ()
    for an axis of one element; ... for any number of axes. lengths: of names that the array's shape leaves open. A view
    where NumPy would give one. Raises ArrayError.
    """
    if isinstance(x, (list, tuple)) and x and all(hasattr(one, "shape") for one in x):
        x = np.stack(x)
    x = _read(x)
    found = patterns.arrangement(pattern, x.shape, lengths)
    return permute_reshape(reshape(x, found.split), found.axes, found.merged)


def _read(x: Any) -> Any:
    """An array with a shape, of whatever library."""
    if hasattr(x, "shape") and hasattr(x, "reshape"):
        return x
    return operand(x, "x").view


def _shape(given: Any, x: Any) -> tuple[int, ...]:
    """The checked shape: with one -1 at most, which is put in."""
    single = hasattr(given, "__index__") and not getattr(given, "shape", ())  # NumPy's arrays are sequences, too
    shape = [integer("shape", given, ArrayError)] if single else [*integers("shape", given, ArrayError)]
    total = 1
    for extent in x.shape:
        total *= int(extent)
    product = 1
    for extent in shape:
        product *= extent if extent != -1 else 1
    if shape.count(-1) == 1 and product > 0 and total % product == 0:
        shape[shape.index(-1)] = total // product
        product = total
    if min(shape, default=0) < 0 or product != total:
        raise ArrayError(f"shape {shown(given)} does not fit an array of shape {tuple(x.shape)}, {total} elements")
    return tuple(shape)


def _permuted(x: Any, axes: Any) -> Any:
    try:
        if hasattr(x, "permute"):  # PyTorch's tensors
            return x.permute(*(range(len(x.shape))[::-1] if axes is None else axes))
        return np.transpose(x, axes)
    except Exception as error:
        rank = len(x.shape)
        raise ArrayError(f"axes {shown(axes)} do not permute the {rank} axes of the array: {reason(error)}") from None


def _view(x: Any, shape: Sequence[int]) -> Any:
    """The array in another shape, without a copy; None where there is no such view."""
    try:
        if hasattr(x, "permute"):
            return x.view(shape)
        if has_functions(x):
            return np.reshape(x, shape)
        if not _COPIES:
            return np.reshape(x, shape, copy=False)
        view = x.view()
        view.shape = shape
    except (ValueError, AttributeError, RuntimeError):
        return None
    return view
