"""Chained runs: contiguous runs of B that continue from one tile to the next.

A tile ends within a line of B nearly everywhere. It leaves the partial line in a slot, one for each of its rows, and
the next tile of the same run completes it: lines are then written whole, and once. Only loops over tiles that one
thread walks in order can continue a run.
"""

from __future__ import annotations

from functools import lru_cache
from math import prod

from ..lazy_dataclasses import dataclass
from ..machine.target import Target
from ..problem.canonical import Canonical, Size
from ..problem.dtypes import DType
from .layout import run_axes
from .operands import Buffer, PartialLine, Space
from .plan import CpuPlan, Loops, grid


@dataclass(frozen=True, slots=True)
class Chain:
    """Runs of B that continue from tile to tile.

    run: elements of a whole one; inside: number of loops over tiles inside those that continue runs; buffer: the slots,
    at the start of scratch; partial_line: the slots as rows see them.
    """

    run: int
    inside: int
    buffer: Buffer
    partial_line: PartialLine


def in_scratch(canonical: Canonical) -> DType:
    """The type of elements in scratch: that of the arithmetic for sums, else the shorter one of A's and B's."""
    if canonical.terms:
        return canonical.between
    return canonical.b if canonical.b.itemsize < canonical.a.itemsize else canonical.a


def run_of_b(canonical: Canonical, plan: CpuPlan) -> tuple[int, ...]:
    """The axes along which a tile is one run of B, innermost first."""
    return run_axes(plan.box(canonical.bounds), canonical.strides("b"))


@lru_cache(maxsize=512)
def chain_of(canonical: Canonical, tile: tuple[int, ...], loops: Loops, parallel: int, target: Target) -> Chain | None:
    """The chain of B's runs between tiles of these extents in these loops, the outermost `parallel` of which threads
    share; None where runs do not continue from tile to tile, or where a tile's are shorter than a line."""
    extents, run = canonical.bounds, run_axes(tile, canonical.strides("b"))
    elements, rest = divmod(max(target.line, target.vector_bits // 8), canonical.b.itemsize)
    if rest or not run or canonical.axes[run[0]].stride_b != 1 or prod(tile[k] for k in run) < elements:
        return None
    begin, end = _continuing(canonical, tile, loops, len(grid(loops, parallel)), run[-1])
    if begin == end:
        return None
    around = dict(loops[:end])  # the innermost step of each axis
    rows = [1 if k in run else min(around.get(k, extent), extent) for k, extent in enumerate(extents)]
    buffer = _slots(canonical, rows, elements, target.line)
    panels = dict(loops[:begin])
    whole = prod(min(panels.get(k, extents[k]), extents[k]) for k in {*run, *dict(loops[begin:end])})
    partial_line = PartialLine(in_scratch(canonical), run, loops[begin:end], elements)
    return Chain(whole, len(loops) - end, buffer, partial_line)


def _continuing(
    canonical: Canonical, tile: tuple[int, ...], loops: Loops, tasks: int, last: int
) -> tuple[int, int]:
    """The range of the loops that continue a tile's run of B, whose last axis is `last`.

    Each of them steps by a tile and is next around one along whose axis the run has reached the end. Panels end a run,
    and so do the first `tasks` loops.
    """
    whole = tile[last] >= canonical.bounds[last]
    wanted = _next(canonical, tile, last) if whole else (last, tile[last])
    end = len(loops)
    while end > tasks and loops[end - 1] != wanted:
        end -= 1
    begin = end
    while begin > tasks and loops[begin - 1] == wanted:
        begin -= 1
        axis = loops[begin][0]
        wanted = None if axis in dict(loops[:begin]) else _next(canonical, tile, axis)
    return begin, end


def _next(canonical: Canonical, tile: tuple[int, ...], axis: int) -> tuple[int, int] | None:
    """The loop that continues a run after the end of this axis; None where the tile has several rows along it, or the
    next row of B does not follow in memory."""
    length = _product(canonical.axes[axis].stride_b, canonical.axes[axis].extent)
    axes = enumerate(zip(canonical.strides("b"), tile, canonical.bounds, strict=True))
    return next(((k, 1) for k, (stride, step, extent) in axes if stride == length and step == 1 < extent), None)


def _product(x: Size, y: Size) -> Size | None:
    """x * y, None where only run time knows it."""
    if isinstance(x, int) and isinstance(y, int):
        return x * y
    return y if x == 1 else None


def _slots(canonical: Canonical, rows: list[int], elements: int, line: int) -> Buffer:
    """The slots in B's order: `rows` per axis, one for a whole run."""
    strides, step = [0] * len(rows), elements
    for k in canonical.along("b")[::-1]:
        strides[k] = step if rows[k] > 1 else 0
        step *= rows[k]
    unit = max(1, line // in_scratch(canonical).itemsize)
    return Buffer(Space.SLOTS, in_scratch(canonical), tuple(strides), -(-step // unit) * unit, line)
