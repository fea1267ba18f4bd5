"""The rows of strided blocks: all runs of bytes without a gap, to tell blocks apart that interleave."""

from __future__ import annotations

import numpy as np

from ..errors import ArrayError
from ..lazy_dataclasses import NamedTuple
from .blocks import Blocks, Shape
from .ragged import Words

MOST_ROWS = 1 << 24  # that are compared


class Rows(NamedTuple):
    """Rows by their first bytes. starts, ends: addresses; owners: the numbers of their blocks."""

    starts: Words
    ends: Words
    owners: Words

    def meeting(self) -> tuple[int, int] | None:
        """Two blocks whose rows have a byte in common; None where there are none. Of equal numbers, a block has an
        element twice."""
        meet = self.ends[:-1] > self.starts[1:]
        if not meet.any():
            return None
        at = int(np.argmax(meet))
        return int(self.owners[at]), int(self.owners[at + 1])

    def met_by(self, others: Rows) -> tuple[int, int] | None:
        """A block of others, and one of these rows, which lie apart, that have a byte in common."""
        last = np.searchsorted(self.starts, others.ends, side="left") - 1
        meet = (last >= 0) & (self.ends[last] > others.starts) if len(self.starts) else np.zeros(0, bool)
        if not meet.any():
            return None
        at = int(np.argmax(meet))
        return int(others.owners[at]), int(self.owners[last[at]])


def check_apart(blocks: Blocks, a: Words, b: Words) -> None:
    """ArrayError where blocks of B have bytes in common, or with blocks of A: rows are compared where first and last
    bytes do not tell."""
    of, to = spans_of(blocks, a, False), spans_of(blocks, b, True)
    if to.meeting() is not None or to.met_by(of) is not None:
        check_rows(blocks, a, b)


def spans_of(blocks: Blocks, places: Words, of_b: bool) -> Rows:
    """All blocks of A, or B, that have elements, from the first byte to the last."""
    filled = np.flatnonzero(blocks.elements * (blocks.to if of_b else blocks.of).itemsize)
    low, end = blocks.reaches(of_b)
    starts, ends = places[filled] + low[filled], places[filled] + end[filled]
    order = np.argsort(starts, kind="stable")
    return Rows(starts[order], ends[order], filled[order])


def check_rows(blocks: Blocks, a: Words, b: Words, of_a: bool = True) -> None:
    """ArrayError where blocks of B have bytes in common, or with blocks of A (of_a)."""
    rows = rows_of(blocks, b, True)
    if (met := rows.meeting()) is not None:
        raise ArrayError(f"blocks {min(met)} and {max(met)} of B share memory: which value wins?")
    if of_a and (met := rows.met_by(rows_of(blocks, a, False))) is not None:
        raise ArrayError(f"block {met[0]} of A shares memory with block {met[1]} of B: groups move out of place")


def rows_of(blocks: Blocks, places: Words, of_b: bool) -> Rows:
    """The rows of all blocks of A, or B, that have elements at these addresses. ArrayError where they are too many."""
    itemsize = (blocks.to if of_b else blocks.of).itemsize
    starts, sizes, owners, total = [], [], [], 0
    for number in np.flatnonzero(blocks.elements * itemsize).tolist():
        offsets, size = _rows(*blocks.side(number, of_b), itemsize)
        total += len(offsets)
        if total > MOST_ROWS:
            side = "B" if of_b else "A"
            raise ArrayError(f"blocks of {side} interleave in more than {MOST_ROWS} rows: too many to be told apart")
        starts.append(offsets + places[number])
        sizes.append(size)
        owners.append(number)
    counts = list(map(len, starts))
    first = np.concatenate([np.zeros(0, np.int64), *starts])
    order = np.argsort(first, kind="stable")
    ends = first + np.repeat(np.array(sizes, np.int64), counts)
    return Rows(first[order], ends[order], np.repeat(np.array(owners, np.int64), counts)[order])


def _rows(shape: Shape, strides: Shape, size: int) -> tuple[Words, int]:
    """The first bytes of a block's rows, from its element 0, and the bytes of each."""
    low = sum((extent - 1) * stride for extent, stride in zip(shape, strides, strict=True) if stride < 0)
    offsets = np.array([low], np.int64)
    for step, extent in sorted((abs(s), n) for s, n in zip(strides, shape, strict=True) if n > 1):
        if step == size and len(offsets) == 1:
            size *= extent
        else:
            offsets = (np.arange(extent)[:, None] * step + offsets).ravel()
    return offsets, size
