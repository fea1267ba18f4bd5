"""Asking memory for the next tile while this one leaves scratch.

Filling scratch waits for A, and draining it for nothing but stores: rows of A that are asked for meanwhile keep memory
busy all the time. The tile's lines of A, row after row, are shared among the rows of B that leave scratch.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from math import prod

from llvmlite import ir

from ttc_llvm.lowering.layout import run_axes
from ttc_llvm.lowering.operands import Prefetch, View
from ttc_llvm.problem.canonical import static

from . import ahead
from .ahead import Step
from .memory import L2, prefetch
from .seam import freeze
from .values import I32, I64, Int, add, at, beyond, guarded, i64, minimum, mul, table


@dataclass(frozen=True, slots=True)
class Rows:
    """A tile's rows of A: byte offsets of their lowest addresses, and of the bytes of each that are asked for."""

    starts: tuple[int, ...]
    length: int
    lines: int
    line: int

    @classmethod
    def of(cls, view: View, tile: tuple[int, ...], line: int) -> Rows:
        """Rows in the order of memory; where they do not all start with a line, each may touch one more."""
        strides, size = [static(stride) * view.dtype.itemsize for stride in view.strides], view.dtype.itemsize
        run = run_axes(tile, tuple(static(stride) for stride in view.strides))
        others = sorted((k for k in range(len(tile)) if k not in run), key=lambda k: -abs(strides[k]))
        low = sum(min(0, (tile[k] - 1) * strides[k]) for k in run)
        places = itertools.product(*(range(tile[k]) for k in others))
        starts = [low + sum(i * strides[k] for i, k in zip(place, others, strict=True)) for place in places]
        length = prod(tile[k] for k in run) * size
        whole = length % line == 0 and all(strides[k] % line == 0 for k in others)
        return cls(tuple(starts), length, -(-length // line) + (not whole), line)


@dataclass(frozen=True, slots=True)
class Share:
    """The lines that one row of B has to ask for: `count` of them, from line number `first` of the rows on."""

    module: ir.Module
    b: ir.IRBuilder
    rows: Rows
    table: ir.Value
    base: ir.Value
    first: Int
    count: int

    def part(self, number: ir.Value, parts: int) -> None:
        """The lines of one of so many parts."""
        b, each = self.b, -(-self.count // parts)
        begin = mul(b, number, each)
        with guarded(b, b.icmp_signed("<", i64(begin), i64(self.count)), "ask"):
            for i in range(each):
                self._ask(minimum(b, add(b, begin, i), self.count - 1))

    def _ask(self, i: Int) -> None:
        b, rows = self.b, self.rows
        number = minimum(b, add(b, self.first, i), len(rows.starts) * rows.lines - 1)
        row, line = (f(i64(number), i64(rows.lines)) for f in (b.udiv, b.urem))
        start = b.sext(b.load(at(b, self.table, mul(b, row, 4)), typ=I32, align=4), I64)
        offset = minimum(b, mul(b, line, rows.line), rows.length - 1)
        prefetch(self.module, b, beyond(b, self.base, add(b, start, offset)), L2)


def share(
    module: ir.Module,
    b: ir.IRBuilder,
    source: tuple[ir.Value, View],
    wanted: Prefetch,
    extents: tuple[int, ...],
    trail: tuple[Step, ...],
    line: int,
) -> Share | None:
    """The prefetches of B's current row. source: A's pointer at this row, and its strides; extents: of the axes;
    trail: the loops around, outermost first. None where offsets within a tile exceed 32 bits."""
    pointer, view = source
    tile = tuple(min(t, e) for t, e in zip(wanted.tile, extents, strict=True))
    rows = Rows.of(view, tile, line)
    if max(map(abs, rows.starts)) + rows.length >= 1 << 31:
        return None
    tiles, by_axis = ahead.split(trail, wanted.tile)
    inside = by_axis.values()
    offset: Int = 0
    position: Int = 0
    for step in inside:  # back to the tile's first element
        offset = add(b, offset, _bytes(b, view, step.axis, mul(b, step.counter, -1)))
        position = add(b, mul(b, position, tile[step.axis]), step.counter)
    for move in ahead.moves(b, tiles, wanted.distance):
        offset = add(b, offset, _bytes(b, view, move.axis, move.distance))
    count = -(-len(rows.starts) * rows.lines // prod(tile[step.axis] for step in inside))
    base = freeze(b, beyond(b, pointer, offset))
    return Share(module, b, rows, table(module, I32, rows.starts, "rows"), base, mul(b, position, count), count)


def _bytes(b: ir.IRBuilder, view: View, axis: int, elements: Int) -> Int:
    return mul(b, elements, static(view.strides[axis]) * view.dtype.itemsize)
