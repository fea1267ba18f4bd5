"""Indices of an axis that a part of one split has in common with a part of another: as strided pieces."""

from __future__ import annotations

from functools import lru_cache
from math import lcm
from typing import Any

import numpy as np

from ..lazy_dataclasses import NamedTuple, dataclass
from .splits import Axis, Indices


class Piece(NamedTuple):
    """Indices that two parts share: `blocks` blocks of `extent` indices. first_a, first_b: the local index of the first
    one in the part of A and in that of B; step_a, step_b: from block to block."""

    extent: int
    first_a: int
    first_b: int
    blocks: int = 1
    step_a: int = 0
    step_b: int = 0


@dataclass(frozen=True, slots=True)
class _Blocks:
    """Blocks of an axis that are contiguous in both splits: start, extent, parts, and local indices there."""

    start: Indices
    extent: Indices
    part_a: Indices
    part_b: Indices
    local_a: Indices
    local_b: Indices

    def those(self, chosen: np.ndarray[tuple[Any, ...], np.dtype[np.bool_]]) -> _Blocks:
        """Some of them."""
        return _Blocks(*(getattr(self, name)[chosen] for name in self.__slots__))


def _distinct(values: Indices) -> Indices:
    """Each value once, ascending: np.unique loads NumPy's masked arrays, which takes longer than making a plan."""
    ascending = np.sort(values)
    distinct: Indices = ascending[np.diff(ascending, prepend=-1) != 0]
    return distinct


@lru_cache(maxsize=256)
def _blocks(a: Axis, b: Axis) -> _Blocks:
    cuts = _distinct(np.concatenate((a.bounds(), b.bounds())))
    start = cuts[:-1]
    (part_a, local_a), (part_b, local_b) = a.located(start), b.located(start)
    return _Blocks(start, np.diff(cuts), part_a, part_b, local_a, local_b)


@lru_cache(maxsize=4096)
def partners(a: Axis, b: Axis, part: int, of_b: bool = False) -> tuple[int, ...]:
    """The parts of B that share indices with this part of A; of_b: the parts of A that do with this part of B."""
    blocks = _blocks(a, b)
    mine, others = (blocks.part_b, blocks.part_a) if of_b else (blocks.part_a, blocks.part_b)
    return tuple(_distinct(others[mine == part]).tolist())


@lru_cache(maxsize=4096)
def pieces(a: Axis, b: Axis, part_a: int, part_b: int) -> tuple[Piece, ...]:
    """The indices that these two parts share, in an order that depends on nothing else."""
    every = _blocks(a, b)
    found = _joined(every.those((every.part_a == part_a) & (every.part_b == part_b)))
    period = lcm(*(axis.period for axis in (a, b) if axis.period))
    alike: dict[tuple[int, int], list[int]] = {}
    for k, (start, extent) in enumerate(zip(found.start.tolist(), found.extent.tolist(), strict=True)):
        alike.setdefault((start % period if period > 1 else start, extent), []).append(k)
    return tuple(piece for (_, extent), at in alike.items() for piece in _regular(extent, found, at))


def _joined(blocks: _Blocks) -> _Blocks:
    """Neighbours that are contiguous in both splits as one block."""
    if len(blocks.start) < 2:
        return blocks
    ends = np.stack((blocks.start, blocks.local_a, blocks.local_b)) + blocks.extent
    begins = np.stack((blocks.start, blocks.local_a, blocks.local_b))
    first = np.append(True, (begins[:, 1:] != ends[:, :-1]).any(axis=0))
    joined = blocks.those(first)
    return _Blocks(joined.start, np.add.reduceat(blocks.extent, np.flatnonzero(first)), *(
        joined.part_a, joined.part_b, joined.local_a, joined.local_b))  # fmt: skip


def _regular(extent: int, blocks: _Blocks, at: list[int]) -> list[Piece]:
    """Blocks of one extent, as pieces whose blocks follow each other in equal steps."""
    places = list(zip(blocks.local_a[at].tolist(), blocks.local_b[at].tolist(), strict=True))
    found: list[Piece] = []
    for a, b in places:
        last = found[-1] if found else None
        if last is not None and last.blocks == 1:
            found[-1] = last._replace(blocks=2, step_a=a - last.first_a, step_b=b - last.first_b)
        elif last is not None and (a, b) == (
            last.first_a + last.blocks * last.step_a, last.first_b + last.blocks * last.step_b
        ):  # fmt: skip
            found[-1] = last._replace(blocks=last.blocks + 1)
        else:
            found.append(Piece(extent, a, b))
    return found
