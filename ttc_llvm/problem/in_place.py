"""Permutations in place: A and B are one tensor, whose axes take each other's places.

A tile moves to its *image*, the tile that moves to the image's place, and so on around a cycle: an *orbit* of tiles.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..errors import ProblemError
from .canonical import Axis, Placed, from_axes
from .dtypes import DType
from .kinds import Alpha, Kinds
from .orbits import check_order


def images(axes: Sequence[Axis]) -> tuple[int, ...] | None:
    """For every axis the one whose place it takes: of its extent, with the stride in A that it has in B. None where
    an axis takes no axis' place."""
    places = {(axis.extent, axis.stride_a): k for k, axis in enumerate(axes)}
    found = tuple(places.get((axis.extent, axis.stride_b), -1) for axis in axes)
    return None if -1 in found else found


def in_place(axes: Iterable[Axis], item: DType, kinds: Kinds, conjugate: bool = False) -> Placed:
    """The canonical form of a permutation of the axes of one tensor.

    Raises ProblemError where they do not keep its shape, or a stride is not positive.
    """
    kept = [axis for axis in axes if axis.extent != 1]
    if any(isinstance(axis.extent, int) and axis.extent == 0 for axis in kept):
        return from_axes(kept, item, item, kinds, conjugate)
    found = images(kept)
    if found is None:
        raise ProblemError("in place, axes that take each other's places have equal extents: the shape must be kept")
    if any(axis.stride_a < 0 for axis in kept if isinstance(axis.stride_a, int)):
        raise ProblemError("in place, strides must be positive: an axis is walked backwards")
    check_order(found, [2] * len(found))
    return from_axes(kept, item, item, kinds, conjugate, in_place=kinds.alpha is not Alpha.ZERO)
