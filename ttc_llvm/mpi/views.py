"""Boxes as arrays: the elements of one in a rank's part of A or of B, strided, with the axes in a common order."""

from __future__ import annotations

from collections.abc import Sequence

from ..operands.addresses import data_address
from ..operands.operand import Array, described
from .messages import Box, Perm


def in_a(a: Array, box: Box, order: Perm) -> Array:
    """The box's elements in a rank's part of A. order: of A's axes; one with several blocks becomes two.

    Like that of `in_b`, the view does not keep its array alive.
    """
    return _view(a, a.strides, box, order, [(piece.first_a, piece.step_a) for piece in box])


def in_b(b: Array, box: Box, order: Perm, perm: Perm) -> Array:
    """The box's elements in a rank's part of B, whose axis j is A's axis perm[j]."""
    strides = [b.strides[perm.index(k)] for k in range(len(perm))]
    return _view(b, strides, box, order, [(piece.first_b, piece.step_b) for piece in box])


def _view(x: Array, strides: Sequence[int], box: Box, order: Perm, places: list[tuple[int, int]]) -> Array:
    start = data_address(x) + sum(first * step for (first, _), step in zip(places, strides, strict=True))
    shape, steps = list[int](), list[int]()
    for k in order:
        if box[k].blocks > 1:
            shape.append(box[k].blocks)
            steps.append(places[k][1] * strides[k])
        shape.append(box[k].extent)
        steps.append(strides[k])
    return described(start, tuple(shape), tuple(steps), x.dtype)
