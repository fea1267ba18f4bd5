"""Blocks as one launch on a device moves them: in boxes, told in a table (`lowering.gpu.boxes`).

Everything is computed for all blocks at a time. Moves are told in units: as many bytes as all runs, strides and
addresses of the group are multiples of.
"""

from __future__ import annotations

import numpy as np

from ..arrays.scalings import PLAIN, Scaling
from ..errors import ArrayError
from ..lazy_dataclasses import NamedTuple
from ..lowering.gpu.boxes import ENTRY_BYTES, SIDE, TASK_BYTES, VOLUME
from ..problem import dtypes
from ..problem.canonical import Canonical, from_axes
from ..problem.kinds import COPY
from .blocks import Blocks, Ranked
from .ragged import Words

MOST_UNIT = 16  # bytes that a thread moves at a time
MOST_TASKS = (1 << 31) - 1  # blocks of threads of a launch
_BEHIND = (1 << 62) - 1  # what axes of extent 1 are sorted by


class Axes(NamedTuple):
    """The axes of blocks, a row for each. extents: in elements, or units; a, b: strides in bytes."""

    extents: Words
    a: Words
    b: Words

    def ordered(self, order: Words) -> Axes:
        """Each block's axes in an order of its own."""
        return Axes(*(np.take_along_axis(words, order, 1) for words in self))

    def along(self, strides: Words) -> Words:
        """The order of axes by the size of these strides, those of extent 1 behind all others."""
        return np.argsort(np.where(self.extents > 1, np.abs(strides), _BEHIND), axis=1, kind="stable")


class Boxes(NamedTuple):
    """The table of a launch. tasks: blocks of threads; axes: of a block, at most; unit: bytes that are moved at a time,
    0 = elements, with arithmetic; layouts: how many the blocks have."""

    table: Words
    tasks: int
    axes: int
    unit: int
    layouts: int


def boxes_of(blocks: Blocks, moves: bool, odd: int) -> Boxes:
    """The boxes of a group. odd: all bits of addresses that are set."""
    numbers = np.concatenate([np.zeros(0, np.int64), *(ranked.numbers for ranked in blocks.ranked)])
    every, unit = _joined([_fused(_axes(ranked, blocks, moves)) for ranked in blocks.ranked]), 0
    filled = every.extents.all(axis=1)
    axes = Axes(*(words[filled] for words in every))
    if moves:
        unit = _unit(axes, odd)
        axes = _in_units(axes, unit)
    else:
        _check_whole(axes, blocks)
    first, which = _distinct(np.concatenate(axes, axis=1))
    entries, counts = _entries(Axes(*(words[first] for words in axes)))
    table, tasks = _table(entries, counts, numbers[filled], which)
    return Boxes(table, tasks, entries.shape[2], unit, len(first))


def _check_whole(axes: Axes, blocks: Blocks) -> None:
    for name, strides, dtype in (("A", axes.a, blocks.of), ("B", axes.b, blocks.to)):
        if (strides[axes.extents > 1] % dtype.itemsize).any():
            needs = f"arithmetic needs multiples of {dtype.itemsize}"
            raise ArrayError(f"blocks of {name} have elements at odd distances: {needs}")


def _axes(ranked: Ranked, blocks: Blocks, moves: bool) -> Axes:
    """Those of one rank; of moves, the bytes of an element are an axis."""
    found = Axes(ranked.extents, ranked.sources, ranked.steps)
    if not moves:
        return found
    own = (np.full((len(ranked.numbers), 1), value) for value in (blocks.of.itemsize, 1, 1))
    return Axes(*(np.concatenate(pair, axis=1) for pair in zip(own, found, strict=True)))


def _fused(axes: Axes) -> Axes:
    """Axes by ascending stride in B, those joined that are one in A and in B."""
    extents, a, b = axes.ordered(axes.along(axes.b))
    found = Axes(np.ones_like(extents), np.zeros_like(a), np.zeros_like(b))
    rows, last = np.arange(len(extents)), np.full(len(extents), -1)
    for k in range(extents.shape[1]):
        there, counts = last >= 0, extents[:, k] != 1
        ends = [strides[rows, last] * found.extents[rows, last] for strides in (found.a, found.b)]
        joins = there & counts & (a[:, k] == ends[0]) & (b[:, k] == ends[1])
        found.extents[rows[joins], last[joins]] *= extents[joins, k]
        last += (adds := counts & ~joins)
        for to, of in zip(found, (extents, a, b), strict=True):
            to[rows[adds], last[adds]] = of[adds, k]
    return found


def _joined(parts: list[Axes]) -> Axes:
    """The axes of all ranks, filled up with axes of extent 1; at least one each."""
    most = max((part.extents.shape[1] for part in parts), default=0) or 1

    def filled(words: Words, value: int) -> Words:
        return np.pad(words, ((0, 0), (0, most - words.shape[1])), constant_values=value)

    nothing = Axes(*np.ones((3, 0, 1), np.int64))
    fills = zip(zip(nothing, *parts, strict=True), (1, 0, 0), strict=True)
    return Axes(*(np.concatenate([filled(part, value) for part in column]) for column, value in fills))


def _unit(axes: Axes, odd: int) -> int:
    """Bytes that are moved at a time."""
    runs, steps = _runs(axes), np.where(axes.extents > 1, axes.a | axes.b, 0)
    steps[:, 0] = np.where(runs > 1, 0, steps[:, 0])
    bits = odd | MOST_UNIT | int(np.bitwise_or.reduce(np.append(runs, steps), initial=0))
    return bits & -bits


def _runs(axes: Axes) -> Words:
    """Bytes without a gap along the first axes, in A and in B."""
    return np.where((axes.a[:, 0] == 1) & (axes.b[:, 0] == 1), axes.extents[:, 0], 1)


def _in_units(axes: Axes, unit: int) -> Axes:
    """The same with elements of `unit` bytes, and without axes that all blocks have of extent 1."""
    extents, a, b = axes
    run = _runs(axes) > 1
    extents[run, 0] //= unit
    a[run, 0] = b[run, 0] = unit
    found = Axes(extents, a, b)
    found = found.ordered(found.along(found.b))
    most = max(1, int((found.extents != 1).sum(axis=1).max(initial=0)))
    return Axes(*(words[:, :most] for words in found))


def _distinct(rows: Words) -> tuple[Words, Words]:
    """The first row of each kind, and which kind each one is."""
    known: dict[bytes, int] = {}
    first, which = list[int](), np.empty(len(rows), np.int64)
    for k, row in enumerate(np.ascontiguousarray(rows)):
        which[k] = kind = known.setdefault(row.tobytes(), len(known))
        if kind == len(first):
            first.append(k)
    return np.array(first, np.int64), which


def types_of(scale: Scaling, unit: int) -> Canonical:
    """The types and kinds of a launch: of units that are moved, or of numbers."""
    if scale is PLAIN or scale.types is None:
        item = dtypes.carrier(unit)
        return from_axes((), item, item, COPY).canonical
    return from_axes((), *scale.types, scale.kinds, scale.conjugate).canonical


# --- the table ------------------------------------------------------------------------------------------------


def _entries(axes: Axes) -> tuple[Words, Words]:
    """What the table tells of layouts: by layout, order, axis; and how many boxes each has."""
    order_a, order_b = axes.along(axes.a), axes.along(axes.b)
    tiles = _tiles(axes, order_a, order_b)
    counts = -(-axes.extents // np.maximum(tiles, 1))
    weights, places = _before(counts, order_b), _before(tiles, order_a)
    sides = []
    for strides, order in ((axes.a, order_a), (axes.b, order_b)):
        words = (axes.extents, tiles, counts, weights, strides, places)
        sides.append(np.stack([np.take_along_axis(one, order, 1) for one in words], axis=2))
    return np.stack(sides, axis=1), counts.prod(axis=1)


def _tiles(axes: Axes, order_a: Words, order_b: Words) -> Words:
    """Extents of boxes: a run of B, one of A, and then what else there is room for, along B."""
    tiles, rows = np.ones_like(axes.extents), np.arange(len(axes.extents))
    for order in (order_b, order_a):
        room = np.full(len(rows), SIDE)
        for k in range(order.shape[1]):
            extent = axes.extents[rows, order[:, k]]
            held = np.minimum(extent, np.maximum(room, 1))
            tiles[rows, order[:, k]] = np.maximum(tiles[rows, order[:, k]], held)
            room = room // extent
    for k in range(order_b.shape[1]):
        own = tiles[rows, order_b[:, k]]
        room = VOLUME // tiles.prod(axis=1) * own
        tiles[rows, order_b[:, k]] = np.minimum(axes.extents[rows, order_b[:, k]], room)
    return tiles


def _before(words: Words, order: Words) -> Words:
    """The product of what comes before each axis in an order."""
    ordered = np.take_along_axis(words, order, 1)
    found = np.ones_like(words)
    np.put_along_axis(found, order[:, 1:], np.cumprod(ordered, axis=1)[:, :-1], 1)
    return found


def _table(entries: Words, counts: Words, used: Words, which: Words) -> tuple[Words, int]:
    """Tasks, then layouts, and how many tasks there are."""
    each = counts[which] if len(which) else np.zeros(0, np.int64)
    total = int(each.sum())
    if total > MOST_TASKS:
        raise ArrayError(f"the group has {total} boxes of up to {VOLUME} elements: a launch has at most {MOST_TASKS}")
    starts = total * TASK_BYTES + np.arange(len(counts)) * (ENTRY_BYTES * entries.shape[1] * entries.shape[2])
    tasks = np.empty((total, TASK_BYTES // 8), np.int64)
    tasks[:, 0] = np.repeat(used, each)
    tasks[:, 1] = np.repeat(starts[which] if len(which) else each, each)
    tasks[:, 2] = np.arange(total) - np.repeat(np.cumsum(each) - each, each)
    return np.concatenate([tasks.ravel(), entries.ravel()]), total
