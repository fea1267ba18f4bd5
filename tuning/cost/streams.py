"""The succession of micro-tiles: what hardware fetches by itself, and what prefetches into L1 displace.

The hardware's prefetchers follow a few runs of memory that continue from one micro-tile to the next. Prefetched lines
stay in L1 until they are used; too many in one set displace each other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from math import log2

from ttc_llvm.lazy_dataclasses import dataclass
from ttc_llvm.lowering.plan import CpuPlan, Loops
from ttc_llvm.machine.target import Target

STEPS = 4  # loops around a micro-tile, counted from within, that matter
Step = tuple[int, int, int]  # such a loop: axis, step, iterations
Steps = tuple[Step, ...]  # innermost first


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """A tensor: bytes from one element to the next per axis, bytes of an element, the axis of smallest stride. What is
    remembered of it goes by the object, not by what it holds."""

    strides: tuple[int, ...]
    size: int
    unit: int


@lru_cache(maxsize=512)
def rows(side: Side, block: tuple[int, ...]) -> tuple[int, ...]:
    """Byte offsets of a micro-tile's rows."""
    found = [0]
    for k, extent in enumerate(block):
        if k != side.unit:
            found = [row + at for row in found for at in _multiples(side.strides[k], extent)]
    return tuple(found)


def _multiples(step: int, count: int) -> Sequence[int]:
    """So many multiples of a step, from 0."""
    return range(0, step * count, step) if step else [0] * count


def steps(plan: CpuPlan, loops: Loops, extents: tuple[int, ...]) -> Steps:
    """The loops from micro-tile to micro-tile, those over panels and tiles included."""
    tile, block, found, outer, around = plan.tile, plan.block, [], list(extents), []
    for k in reversed(plan.inner):
        length, unit = min(tile[k], extents[k]), block[k]
        if length > unit:
            found.append((k, unit, -(-length // unit)))
    for k, step in loops:
        around.append((k, step, -(-outer[k] // step)))
        outer[k] = step
    return (*found, *around[::-1])[:STEPS]


def stream(side: Side, block: tuple[int, ...], extents: tuple[int, ...], steps: Steps) -> int:
    """Bytes of consecutive memory that each row of successive micro-tiles covers."""
    strides, run = side.strides, _run(side, block, extents)
    for k, step, trips in steps:
        if strides[k] * step != run:
            break
        run = strides[k] * min(step * trips, extents[k])
    return run


@lru_cache(maxsize=512)
def _run(side: Side, block: tuple[int, ...], extents: tuple[int, ...]) -> int:
    """Bytes of consecutive memory that each row of a micro-tile covers."""
    strides, run = side.strides, side.size
    for k in sorted(range(len(strides)), key=strides.__getitem__):
        if strides[k] == 0:
            continue
        if strides[k] != run:
            break
        run *= block[k]
        if block[k] < extents[k]:
            break
    return run


def ahead(steps: Steps, distance: int) -> Steps:
    """These loops, as far as the next `distance` micro-tiles lie in them."""
    found, count = [], 1
    for k, step, trips in steps:
        if count > distance:
            break
        found.append((k, step, min(trips, distance // count + 1)))
        count *= found[-1][2]
    return tuple(found)


def flight(side: Side, block: tuple[int, ...], steps: Steps, distance: int, target: Target) -> int:
    """The lines of `distance` micro-tiles and the one at hand, per way of the sets of L1 that they fall into: log2, in
    halves. steps: of `ahead`."""
    line, count, (lines, known) = target.line, _sets(target), _lines(side, block)
    tiles, taken = _tiles(side, steps)[: distance + 1], 0
    for at in tiles:
        offset, turn = at % line, at // line % count
        one = known.get(offset)
        if one is None:
            one = known[offset] = _taken(side, block, offset, line, count)
        taken |= one << turn | one >> (count - turn)
    taken &= (1 << count) - 1
    return max(-8, min(6, round(2 * log2(lines * len(tiles) / (taken.bit_count() * target.ways)))))


def _tiles(side: Side, steps: Steps) -> list[int]:
    """Byte offsets of the micro-tiles in these loops."""
    found = [0]
    for k, step, trips in steps:
        by, first = step * side.strides[k], found
        for _ in range(trips - 1):
            first = [at + by for at in first]
            found = found + first
    return found


def _sets(target: Target) -> int:
    return max(1, target.l1 // (target.line * target.ways))


@lru_cache(maxsize=512)
def _lines(side: Side, block: tuple[int, ...]) -> tuple[int, dict[int, int]]:
    """The rows of a micro-tile, and what is known of `_taken`, by the offset."""
    return len(rows(side, block)), {}


def _taken(side: Side, block: tuple[int, ...], offset: int, line: int, count: int) -> int:
    """The sets, of so many, that the lines of a micro-tile fall into that begins so many bytes behind a line: a bit
    each."""
    found = 0
    for row in rows(side, block):
        found |= 1 << (row + offset) // line % count
    return found


def crowding(side: Side, block: tuple[int, ...], target: Target) -> float:
    """The most lines of a micro-tile that share a set of L1, per way of the set: log2, 0 where all find room."""
    sets = _sets(target)
    most = max(Counter(row // target.line % sets for row in set(rows(side, block))).values())
    return max(0.0, log2(most / target.ways))


def length(run: int) -> str:
    """log2 of a run's bytes in words: lines, parts of a page, pages."""
    return "lines" if run < 9 else "parts" if run < 12 else "pages"


def crowd(flights: Sequence[int]) -> str:
    """The part of L1's sets that prefetches leave, in words."""
    most = max(flights, default=-9)
    return "alone" if most < -8 else "loose" if most <= -4 else "tight" if most <= 0 else "over"
