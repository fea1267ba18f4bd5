"""The blocks of a group as they were asked for: shapes, permutations and strides, as arrays of words.

Everything is computed for all blocks of one rank at a time: a group may have many thousands.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arguments import integers, shown
from ..arrays.overlaps import overlaps_itself
from ..errors import ArrayError
from ..ir_builders.layout_fields import AXES, AXIS_BYTES, EXTENT, KIND, MAX_RANK, RANK, STRIDE_OF, STRIDE_TO
from ..lazy_dataclasses import NamedTuple
from ..operands.operand import described
from .ragged import Ragged, Words

MOST_ELEMENTS = float(1 << 60)  # of a block
PLACE = 1 << 40  # an address, of memory that nobody reads
Shape = tuple[int, ...]


class Ranked(NamedTuple):
    """The blocks of one rank. numbers: which they are; the others have a row for each of them.

    shapes, strides: of A; extents, steps: of B; sources: strides of A in B's order of axes. Strides are in bytes.
    """

    numbers: Words
    shapes: Words
    strides: Words
    extents: Words
    steps: Words
    sources: Words

    def layouts(self, kind: int) -> Words:
        """The layouts that the native planner plans (`layout_fields`). kind: of items, or of arithmetic."""
        count, rank = self.extents.shape
        words = np.empty((count, (AXES + AXIS_BYTES * rank) // 8), np.int64)
        words[:, KIND // 8], words[:, RANK // 8] = kind, rank
        for place, side in ((EXTENT, self.extents), (STRIDE_OF, self.sources), (STRIDE_TO, self.steps)):
            words[:, (AXES + place) // 8 :: AXIS_BYTES // 8] = side
        return words

    def forms(self, of_b: bool) -> Words:
        """Rank, shape and strides of A, or of B."""
        count, rank = self.shapes.shape
        sides = (self.extents, self.steps) if of_b else (self.shapes, self.strides)
        return np.concatenate([np.full((count, 1), rank), *sides], axis=1)


class Blocks(NamedTuple):
    """All blocks of a group, by rank. total: how many; of, to: types of A's and B's elements; elements: of each."""

    total: int
    of: np.dtype[Any]
    to: np.dtype[Any]
    ranked: tuple[Ranked, ...]
    elements: Words

    @property
    def sizes(self) -> Words:
        """Bytes of each block of A and B."""
        return self.elements * (self.of.itemsize + self.to.itemsize)

    @property
    def nbytes(self) -> int:
        """Bytes of all blocks of A and B."""
        return int(self.sizes.sum())

    def reaches(self, of_b: bool) -> tuple[Words, Words]:
        """Bytes from each block's element 0 to its first one, and behind its last. Those of empty ones mean nothing."""
        low, end = np.zeros(self.total, np.int64), np.zeros(self.total, np.int64)
        for ranked in self.ranked:
            spans = (ranked.shapes - 1) * ranked.strides if not of_b else (ranked.extents - 1) * ranked.steps
            low[ranked.numbers] = np.minimum(spans, 0).sum(axis=1)
            end[ranked.numbers] = np.maximum(spans, 0).sum(axis=1) + (self.to if of_b else self.of).itemsize
        return low, end

    def side(self, number: int, of_b: bool) -> tuple[Shape, Shape]:
        """Shape and strides of a block of A, or of B."""
        ranked, row = self._place(number)
        return _tuples(row, *((ranked.extents, ranked.steps) if of_b else (ranked.shapes, ranked.strides)))

    def permuted(self, number: int) -> tuple[Shape, Shape]:
        """Shape and strides of a block of A, its axes permuted."""
        ranked, row = self._place(number)
        return _tuples(row, ranked.extents, ranked.sources)

    def _place(self, number: int) -> tuple[Ranked, int]:
        for ranked in self.ranked:
            row = int(np.searchsorted(ranked.numbers, number))
            if row < len(ranked.numbers) and ranked.numbers[row] == number:
                return ranked, row
        raise IndexError(f"there is no block {number}")


def _tuples(row: int, shapes: Words, strides: Words) -> tuple[Shape, Shape]:
    return tuple(shapes[row].tolist()), tuple(strides[row].tolist())


def read(
    shapes: Any, axes: Any, of: np.dtype[Any], to: np.dtype[Any], strides: Any = None, out_strides: Any = None
) -> Blocks:
    """The blocks that these arguments of `grouped` describe. ArrayError, which names the block, for what does not fit
    together."""
    extents = Ragged(shapes, "shapes")
    ranks = extents.lengths
    orders = _orders(axes, ranks)
    sources, steps = _strides(strides, "strides", ranks), _strides(out_strides, "out_strides", ranks)
    ranked, elements = [], np.ones(len(ranks), np.int64)
    for rank in np.flatnonzero(np.bincount(ranks)).tolist():
        numbers = np.flatnonzero(ranks == rank)
        shaped = extents.rows(numbers, rank)
        _check_shapes(shaped, numbers, max(of.itemsize, to.itemsize))
        order = _order(orders, numbers, rank)
        permuted, elements[numbers] = np.take_along_axis(shaped, order, 1), shaped.prod(axis=1)
        own, into = _stepped(sources, numbers, shaped, of), _stepped(steps, numbers, permuted, to)
        if steps is not None:
            _check_once(permuted, into, numbers, to)
        ranked.append(Ranked(numbers, shaped, own, permuted, into, np.take_along_axis(own, order, 1)))
    return Blocks(len(ranks), of, to, tuple(ranked), elements)


# --- shapes and strides -----------------------------------------------------------------------------------


def _check_shapes(shapes: Words, numbers: Words, itemsize: int) -> None:
    rank = shapes.shape[1]
    if rank > MAX_RANK:
        raise ArrayError(f"block {numbers[0]} has {rank} axes: NumPy's arrays have at most {MAX_RANK}")
    for bad, why in (
        ((shapes < 0).any(axis=1), "extents are not negative"),
        (np.maximum(shapes, 1).prod(axis=1, dtype=float) * itemsize > MOST_ELEMENTS, "no memory holds so much"),
    ):
        if bad.any():
            row = int(np.argmax(bad))
            raise ArrayError(f"block {numbers[row]} has shape {tuple(shapes[row].tolist())}: {why}")


def _strides(given: Any, name: str, ranks: Words) -> Ragged | None:
    if given is None:
        return None
    found = Ragged(given, name, ranks)
    if len(found.lengths) != len(ranks):
        raise ArrayError(f"{name} are those of {len(found.lengths)} blocks: there are {len(ranks)} shapes")
    if (wrong := found.lengths != ranks).any():
        number = int(np.argmax(wrong))
        raise ArrayError(f"{name}[{number}] has {found.lengths[number]} items: block {number} has {ranks[number]} axes")
    return found


def _stepped(given: Ragged | None, numbers: Words, shapes: Words, dtype: np.dtype[Any]) -> Words:
    """The given strides; where there are none, those of C-contiguous arrays."""
    if given is not None and given.given is not None and given.given[numbers].all():
        return given.rows(numbers, shapes.shape[1])
    packed = np.full(shapes.shape, dtype.itemsize, np.int64)
    if shapes.shape[1] > 1:
        behind = np.maximum(shapes[:, :0:-1], 1)
        packed[:, :-1] *= np.cumprod(behind, axis=1)[:, ::-1]
    if given is None or given.given is None:
        return packed
    return np.where(given.given[numbers, None], given.rows(numbers, shapes.shape[1]), packed)


def _check_once(shapes: Words, strides: Words, numbers: Words, dtype: np.dtype[Any]) -> None:
    """ArrayError where elements of a block of B share memory."""
    apart = np.where(shapes > 1, np.abs(strides), 1 << 62)
    order = np.argsort(apart, axis=1, kind="stable")
    steps, extents = (np.take_along_axis(words, order, 1) for words in (apart, shapes))
    reaches = dtype.itemsize + np.cumsum(np.where(extents > 1, (extents - 1) * steps, 0), axis=1)
    before = np.concatenate([np.full((len(numbers), 1), dtype.itemsize), reaches[:, :-1]], axis=1)[:, : shapes.shape[1]]
    doubtful = (steps < before).any(axis=1) & (shapes > 0).all(axis=1)
    for row in np.flatnonzero(doubtful).tolist():
        shape, steps_of = tuple(shapes[row].tolist()), tuple(strides[row].tolist())
        if overlaps_itself(described(PLACE, shape, steps_of, dtype)):
            told = f"elements of block {numbers[row]} of B share memory (shape {shape}, strides {steps_of})"
            raise ArrayError(f"{told}: which value wins?")


# --- permutations -----------------------------------------------------------------------------------------


def _orders(axes: Any, ranks: Words) -> Ragged | Shape | None:
    """One permutation for all blocks, a row for each, or None, which reverses them."""
    if axes is None:
        return None
    items = axes if type(axes) in (list, tuple) else list(axes) if hasattr(axes, "__iter__") else axes
    if type(items) not in (list, tuple) or not any(item is None or hasattr(item, "__len__") for item in items):
        return integers("axes", items, ArrayError)
    found = Ragged([range(rank)[::-1] if row is None else row for row, rank in zip(items, ranks.tolist(), strict=False)]
                   + list(items[len(ranks) :]), "axes")
    if len(found.lengths) != len(ranks):
        raise ArrayError(f"axes are those of {len(found.lengths)} blocks: there are {len(ranks)} shapes")
    if (wrong := found.lengths != ranks).any():
        number = int(np.argmax(wrong))
        raise _no_permutation(found.rows(np.array([number]), int(found.lengths[number]))[0], number, ranks[number])
    return found


def _order(given: Ragged | Shape | None, numbers: Words, rank: int) -> Words:
    """The axes of A that are B's, of blocks of one rank, not negative."""
    if isinstance(given, Ragged):
        order = given.rows(numbers, rank)
    elif given is not None and len(given) != rank:
        raise _no_permutation(given, int(numbers[0]), rank)
    else:
        order = np.tile(np.array(range(rank)[::-1] if given is None else given, np.int64), (len(numbers), 1))
    order = np.where(order < 0, order + rank, order)
    bad = (np.sort(order, axis=1) != np.arange(rank)).any(axis=1)
    if bad.any():
        row = int(np.argmax(bad))
        raise _no_permutation(order[row], int(numbers[row]), rank)
    return order


def _no_permutation(order: Any, number: int, rank: int) -> ArrayError:
    return ArrayError(f"axes {shown(tuple(map(int, order)))} do not permute the {rank} axes of block {number}")
