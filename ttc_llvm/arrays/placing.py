"""Two arrays of one shape and any strides as a problem in canonical form: loaded by the first layout that the native
planner does not serve."""

from __future__ import annotations

from math import gcd
from typing import TYPE_CHECKING

from ..errors import ArrayError, ProblemError
from ..lowering.items import as_items
from ..operands.operand import Array
from ..problem import dtypes
from ..problem.canonical import Axis, Placed, from_axes
from ..problem.dtypes import DType
from ..problem.in_place import in_place
from ..problem.kinds import COPY
from ..runtime import backend
from .scalings import PLAIN, Scaling

if TYPE_CHECKING:
    from .strided import Wanted

ALIGNED = 8  # bytes to whose multiples kernels expect elements to be aligned, at most


def placed(of: Array, to: Array, scale: Scaling, wanted: Wanted) -> Placed:
    """The problem of a layout with this service."""
    if scale is not PLAIN:
        return elements(of, to, scale, wanted.permuted)
    return as_items(moves(of, to, unit_of(of, to, wanted.odd), wanted.permuted), backend.host_target())


def odd_bits(of: Array, to: Array, scale: Scaling, wanted: Wanted) -> tuple[int, int]:
    """Bits of both addresses that must be clear."""
    unit = unit_of(of, to, wanted.odd)
    units = (unit, unit) if scale is PLAIN else (of.dtype.itemsize, to.dtype.itemsize)
    return min(units[0], ALIGNED) - 1, min(units[1], ALIGNED) - 1


def reaches(of: Array, to: Array) -> tuple[tuple[int, int], tuple[int, int]]:
    """Lowest byte and end of each side, from element 0."""
    return _reach(of), _reach(to)


def _reach(x: Array) -> tuple[int, int]:
    spans = [(extent - 1) * stride for extent, stride in zip(x.shape, x.strides, strict=True)]
    return sum(s for s in spans if s < 0), sum(s for s in spans if s > 0) + x.dtype.itemsize


def _steps(x: Array) -> list[int]:
    """The strides that are ever taken, in bytes."""
    return [stride for extent, stride in zip(x.shape, x.strides, strict=True) if extent > 1]


def is_regular(x: Array) -> bool:
    """True where every element lies a whole number of elements from the first."""
    return all(step % x.dtype.itemsize == 0 for step in _steps(x))


def unit_of(of: Array, to: Array, odd: int = 0) -> int:
    """Bytes that are moved at a time: whole items, or the largest power of two that divides all distances.

    odd: address bits that are set and should not be."""
    size = of.dtype.itemsize
    if size in dtypes.NATIVE and not odd and is_regular(of) and is_regular(to):
        return size
    return gcd(ALIGNED, odd, size, *_steps(of), *_steps(to))


def moves(of: Array, to: Array, unit: int, permuted: bool = False) -> Placed:
    """A bit-exact copy in units: items of several units get an axis of their own. permuted: as for `elements`."""
    item = dtypes.carrier(unit)
    strides = zip(of.shape, of.strides, to.strides, strict=True)
    axes = [Axis(extent, s // unit, t // unit) for extent, s, t in strides]
    axes = [Axis(of.dtype.itemsize // unit, 1, 1), *axes]
    return _permuted(axes, item, PLAIN) if permuted else from_axes(axes, item, item, COPY)


def elements(of: Array, to: Array, scale: Scaling, permuted: bool = False) -> Placed:
    """A transposition with arithmetic, element by element. permuted: both are one array, whose axes take each other's
    places. Raises ArrayError where they cannot."""
    assert scale.types is not None
    a, b = scale.types
    strides = zip(of.shape, of.strides, to.strides, strict=True)
    axes = [Axis(extent, s // a.itemsize, t // b.itemsize) for extent, s, t in strides]
    return _permuted(axes, a, scale) if permuted else from_axes(axes, a, b, scale.kinds, scale.conjugate)


def _permuted(axes: list[Axis], item: DType, scale: Scaling) -> Placed:
    try:
        return in_place(axes, item, scale.kinds, scale.conjugate)
    except ProblemError as error:
        raise ArrayError(str(error)) from None
