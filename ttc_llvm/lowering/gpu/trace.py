"""A nest followed thread by thread, without LLVM: the elements that a thread moves, and their places in shared memory.

The cost model counts bank conflicts with it; the tests prove lowering with it.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from .nest import GpuNest, Phase

Index = tuple[int, ...]
Round = tuple[int, ...]


def rounds(phase: Phase) -> Iterator[Round]:
    """Every item of one thread: which round of each digit, the first digit's fastest."""
    return (turn[::-1] for turn in product(*(range(digit.rounds) for digit in reversed(phase.digits))))


def item(phase: Phase, tile: Index, lengths: Index, thread: int, turn: Round) -> Index | None:
    """The index, inside a tile of these lengths, of an item's first element; None where the thread has none."""
    index = [0] * len(tile)
    if thread >= phase.threads:
        return None
    for digit, number in zip(phase.digits, turn, strict=True):
        thread, own = divmod(thread, digit.threads)
        position = own + number * digit.threads
        length = lengths[digit.axes[-1]]
        for k in digit.axes[:-1]:
            length *= tile[k]
        if position >= length // digit.step:
            return None
        for k, i in zip(digit.axes, split(position * digit.step, digit.axes, tile), strict=True):
            index[k] = i
    return tuple(index)


def split(flat: int, axes: Index, tile: Index) -> Index:
    """Indices along the axes of a run of an element number on it."""
    if not axes:
        return ()
    found = []
    for k in axes[:-1]:
        flat, i = divmod(flat, tile[k])
        found.append(i)
    return (*found, flat)


def vector(phase: Phase, tile: Index, first: Index) -> tuple[Index, ...]:
    """The indices of a vector's elements, from its first one on."""
    axes, start = phase.run.axes, 0
    for k in reversed(axes):
        start = start * tile[k] + first[k]
    found = []
    for j in range(phase.run.vector):
        index = list(first)
        for k, i in zip(axes, split(start + j, axes, tile), strict=True):
            index[k] = i
        found.append(tuple(index))
    return tuple(found)


def rows(phase: Phase, first: Index) -> tuple[Index, ...]:
    """The first elements of an item's vectors."""
    if phase.rows == 1:
        return (first,)
    k = phase.row_axis
    return tuple((*first[:k], first[k] + r, *first[k + 1 :]) for r in range(phase.rows))


def addresses(nest: GpuNest, phase: Phase, strides: Index, thread: int, turn: Round) -> list[int]:
    """Offsets at which the vectors of a thread's item start in a tensor of these strides, in elements; none where it
    has none."""
    first = item(phase, nest.tile, nest.tile, thread, turn)
    if first is None:
        return []
    return [sum(i * s for i, s in zip(row, strides, strict=True)) for row in rows(phase, first)]


def accesses(nest: GpuNest, phase: Phase, thread: int, turn: Round) -> list[tuple[int, int]]:
    """Accesses of a thread's item to shared memory, one access after the other: the first element's
    offset and how many follow each other."""
    assert nest.shared is not None
    first = item(phase, nest.tile, nest.tile, thread, turn)
    if first is None:
        return []
    grid = [vector(phase, nest.tile, row) for row in rows(phase, first)]
    columns = [[nest.shared.offset(index) for index in column] for column in zip(*grid, strict=True)]
    if phase.rows > 1:
        return [(column[0], len(column)) for column in columns]
    offsets = [column[0] for column in columns]
    if nest.shared.holds(phase.run, nest.tile):
        return [(offsets[0], len(offsets))]
    return [(offset, 1) for offset in offsets]
