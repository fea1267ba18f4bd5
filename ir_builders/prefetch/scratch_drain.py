"""Prefetching the next tile while this one leaves scratch.

Filling scratch waits for A, and draining it for nothing but stores: rows of A that are prefetched meanwhile keep memory
busy all the time. The tile's lines of A, row after row, are shared among the rows of B that leave scratch.
"""

from __future__ import annotations

from math import prod

from llvmlite import ir

from ttc_llvm.lazy_dataclasses import dataclass
from ttc_llvm.lowering.operands import Prefetch, View
from ttc_llvm.problem.canonical import static

from ..llvmlite_extensions import freeze
from ..memory import L2, prefetch
from ..values import I32, I64, Int, add, at, beyond, guarded, i64, minimum, mul, table
from . import odometer
from .box_rows import BoxRows
from .odometer import LoopState


@dataclass(frozen=True, slots=True)
class DrainShare:
    """The lines that one row of B prefetches: `count` of them, from line number `first` of the tile's rows of A on.

    starts: a table of the rows' lowest addresses, as bytes from the base; number: of rows; lines: of each.
    """

    module: ir.Module
    b: ir.IRBuilder
    starts: ir.Value
    number: int
    lines: int
    length: int
    line: int
    base: ir.Value
    first: Int
    count: int

    def part(self, number: ir.Value, parts: int) -> None:
        """Prefetch the lines of one of so many parts."""
        b, each = self.b, -(-self.count // parts)
        begin = mul(b, number, each)
        with guarded(b, b.icmp_signed("<", i64(begin), i64(self.count)), "ask"):
            for i in range(each):
                self._prefetch(minimum(b, add(b, begin, i), self.count - 1))

    def _prefetch(self, i: Int) -> None:
        b = self.b
        number = minimum(b, add(b, self.first, i), self.number * self.lines - 1)
        row, line = (f(i64(number), i64(self.lines)) for f in (b.udiv, b.urem))
        start = b.sext(b.load(at(b, self.starts, mul(b, row, 4)), typ=I32, align=4), I64)
        offset = minimum(b, mul(b, line, self.line), self.length - 1)
        prefetch(self.module, b, beyond(b, self.base, add(b, start, offset)), L2)


def share(
    module: ir.Module,
    b: ir.IRBuilder,
    source: tuple[ir.Value, View],
    wanted: Prefetch,
    extents: tuple[int, ...],
    loops: tuple[LoopState, ...],
    line: int,
) -> DrainShare | None:
    """The prefetches of B's current row; None where offsets within a tile exceed 32 bits.

    source: A's pointer at this row, and its strides; extents: of the axes; loops: around, outermost first.
    """
    pointer, view = source
    steps = [static(stride) * view.dtype.itemsize for stride in view.strides]
    tile = tuple(min(t, e) for t, e in zip(wanted.tile, extents, strict=True))
    rows = BoxRows.of(tile, view.strides, view.dtype.itemsize, line)
    starts = [rows.low + sum(i * step for i, step in zip(start, steps, strict=True)) for start in rows.starts()]
    if max(map(abs, starts)) + rows.length >= 1 << 31:
        return None
    outside, by_axis = odometer.by_tile(loops, wanted.tile)
    offset: Int = 0
    position: Int = 0
    for loop in by_axis.values():  # back to the tile's first element
        offset = add(b, offset, mul(b, mul(b, loop.counter, -1), steps[loop.axis]))
        position = add(b, mul(b, position, tile[loop.axis]), loop.counter)
    offset = odometer.displaced(b, offset, odometer.moves(b, outside, wanted.distance), steps.__getitem__)
    lines = len(rows.lines(line, not rows.whole_lines(line)))
    count = -(-len(starts) * lines // prod(tile[k] for k in by_axis))
    base = freeze(b, beyond(b, pointer, offset))
    first, places = mul(b, position, count), table(module, I32, starts, "rows")
    return DrainShare(module, b, places, len(starts), lines, rows.length, line, base, first, count)
