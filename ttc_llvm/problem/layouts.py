"""Arrays of any axis order as a problem states tensors: indices by ascending stride, with outer sizes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from ..lazy_dataclasses import dataclass

Extents = Sequence[int]


@dataclass(frozen=True, slots=True)
class Layout:
    """A tensor as a problem states it. axes: axes[k] = the array's axis that is index k; size, outer: by index."""

    axes: tuple[int, ...]
    size: tuple[int, ...]
    outer: tuple[int, ...]


def layout(shape: Extents, strides: Extents, itemsize: int) -> Layout | None:
    """The layout of an array, strides in bytes; None where no outer sizes lead to its strides.

    Where several orders of indices fit, C order (the array's last axis is index 0) goes before F order.
    """
    if 0 in shape:
        return Layout(row_major(len(shape)), tuple(shape[::-1]), tuple(shape[::-1]))
    if any(stride % itemsize for stride, extent in zip(strides, shape, strict=True) if extent > 1):
        return None
    steps = [stride // itemsize for stride in strides]
    for axes in _orders(shape, steps):
        size = tuple(shape[k] for k in axes)
        outer = _outer(size, [steps[k] for k in axes])
        if outer is not None:
            return Layout(axes, size, outer)
    return None


def column_major(outer: tuple[int, ...]) -> tuple[int, ...]:
    """Strides in elements of a column-major tensor with these outer sizes."""
    strides, step = [], 1
    for extent in outer:
        strides.append(step)
        step *= extent
    return tuple(strides)


def row_major(rank: int) -> tuple[int, ...]:
    """The axes of a C-ordered array by ascending stride."""
    return tuple(range(rank - 1, -1, -1))


def _orders(shape: Extents, steps: Extents) -> Iterator[tuple[int, ...]]:
    backwards = row_major(len(steps))
    yield backwards
    yield backwards[::-1]
    yield tuple(sorted(backwards, key=lambda k: steps[k]))
    yield tuple(sorted(backwards, key=lambda k: (shape[k] != 1, steps[k])))  # 1 x n: where n has gaps


def _outer(size: Extents, steps: Extents) -> tuple[int, ...] | None:
    """Outer sizes that lead to these strides, which mean nothing along an extent of 1."""
    for strides in (steps, _filled(size, steps)):
        found = [far // near if near > 0 and far % near == 0 else 0 for near, far in pairwise(strides)]
        outer = (*found, *size[-1:])
        if strides[:1] in ([1], []) and all(got >= least for got, least in zip(outer, size, strict=True)):
            return outer
    return None


def _filled(size: Extents, steps: Extents) -> list[int]:
    """The strides, those of extent 1 replaced: they are as dense as their neighbours allow."""
    found = list(steps)
    first = next((k for k, extent in enumerate(size) if extent != 1), len(size))
    found[:first] = [1] * first
    for k in range(first, len(size)):
        if size[k] == 1:
            following = next((steps[j] for j in range(k, len(size)) if size[j] != 1), found[k - 1] * size[k - 1])
            found[k] = following
    return found
