"""`tensordot`: its axes as labels of `einsum`."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from ..arguments import count, integer, integers, reason, sequence, shown
from ..arrays import originals
from ..errors import ArrayError, ProblemError, TtcError
from ..operands.operand import Array
from ..operands.reading import has_functions, operand, result_place
from . import einsum
from .calls import Call
from .expression import FIRST_OF_ELLIPSIS

TIMES = "mM"  # kinds of types: dates and spans of time


def in_all_steps(a: Any, b: Any, axes: Any, out: Any, lasting: tuple[Hashable, Array, Array] | None) -> Any:
    """The result in all steps. lasting: as for `einsum.in_all_steps`."""
    views = [_view(a, "a"), _view(b, "b")]
    shapes = [tuple(x.shape) for x in views]
    ranks = [len(shape) for shape in shapes]
    summed = [_axes(given, rank, name) for given, rank, name in zip(_pairs(axes, ranks[0]), ranks, "ab", strict=True)]
    if len(summed[0]) != len(summed[1]):
        named = count(len(summed[0]), "axis", "axes")
        raise ProblemError(f"axes {shown(axes)} name {named} of a, but {len(summed[1])} of b")
    _agree(shapes, summed)
    if any(isinstance(x, np.ndarray) and x.dtype.kind in TIMES for x in views):
        return _by_numpy(views, summed, out)
    labels_a, labels_b = [*range(ranks[0])], [*range(ranks[0], sum(ranks))]
    for k, (first, second) in enumerate(zip(*summed, strict=True)):
        labels_a[first] = labels_b[second] = sum(ranks) + k
    renamed = {label: k for k, label in enumerate(dict.fromkeys((*labels_a, *labels_b)))}
    if len(renamed) > FIRST_OF_ELLIPSIS:
        raise ProblemError(f"a and b of {ranks} axes have more than {FIRST_OF_ELLIPSIS} indices together")
    output = [renamed[x] for x in (*labels_a, *labels_b) if x < sum(ranks)]
    given = (a, [renamed[x] for x in labels_a], b, [renamed[x] for x in labels_b], output)
    return einsum.in_all_steps(given, Call(out), lasting)


def _view(x: Any, name: str) -> Any:
    """What has the shape of an operand."""
    return x if isinstance(x, np.ndarray) or has_functions(x) else operand(x, name).view


def _by_numpy(operands: Sequence[Any], axes: Any, out: Any) -> Any:
    """NumPy's result, of what its `einsum` does not take."""
    place = None if out is None else result_place(out, "out").view
    try:
        result = originals.TENSORDOT(operands[0], operands[1], axes)
        if place is None:
            return result
        if place.shape != result.shape:
            raise ArrayError(f"out has shape {place.shape}: the result has {result.shape}")
        np.copyto(place, result, "same_kind")
        return out
    except (MemoryError, TtcError):
        raise
    except Exception as error:
        raise ArrayError(f"numpy.tensordot says: {reason(error)}") from error


def _agree(shapes: Sequence[Sequence[int]], summed: Sequence[Sequence[int]]) -> None:
    """ProblemError where axes that are summed over together differ; they do not broadcast."""
    for first, second in zip(*summed, strict=True):
        extents = shapes[0][first], shapes[1][second]
        if extents[0] != extents[1]:
            both = f"axis {first} of a has extent {extents[0]}, axis {second} of b {extents[1]}"
            raise ProblemError(f"{both}: axes that are summed over together have one extent")


def _pairs(axes: Any, rank: int) -> tuple[Any, Any]:
    """The axes of a and of b, as they are given."""
    if _is_one(axes):
        count = integer("axes", axes, ProblemError)
        if not 0 <= count <= rank:
            raise ProblemError(f"axes {count} is not in 0..{rank}, the axes of a")
        return [*range(rank - count, rank)], [*range(count)]
    pair = sequence("axes", axes, ProblemError, "two lists of axes")
    if len(pair) != 2:
        raise ProblemError(f"axes {shown(axes)} is neither a number nor a list of a's axes and a list of b's")
    return pair[0], pair[1]


def _is_one(given: Any) -> bool:
    """True for a number, which arrays of them may look like."""
    return hasattr(given, "__index__") and getattr(given, "ndim", 0) == 0


def _axes(given: Any, rank: int, name: str) -> list[int]:
    """Axes of an operand, none twice, counted from 0."""
    found = []
    for axis in [given] if _is_one(given) else integers(f"the axes of {name}", given, ProblemError):
        number = integer(f"an axis of {name}", axis, ProblemError)
        if not -rank <= number < rank:
            raise ProblemError(f"axis {number} of {name} is not in -{rank}..{rank - 1}")
        found.append(number % rank)
    if len(set(found)) != len(found):
        raise ProblemError(f"axes {shown(given)} name an axis of {name} twice")
    return found
