"""The share of one micro-tile in prefetching the rows of a later tile.

The micro-tiles that lie side by side along a run of memory share the rows that cross them. Each prefetches some of
these rows from end to end, so that lines of one page follow each other, rather than its own line of every row:
neighbouring lines come in pairs, a page's translation is looked up once, and the hardware's prefetchers recognise the
run.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from math import prod

import numpy as np
from llvmlite import ir

from ttc_llvm.problem.canonical import static

from ..memory import L2
from ..values import I64, Int, add, at, beyond, i64, mul, table
from .box_rows import BoxRows, Index
from .lines import Line, Origin, Reader
from .odometer import LoopState, Move, displaced

SHORT = 512  # bytes, at most, of a run that hardware does not recognise before it ends
Place = Index  # of a line: the steps along the axes of `apart`, then bytes


class TileRows:
    """The rows of a tile in one tensor, as a micro-tile shares them. extents: of the tile; inside: the loops over
    micro-tiles, by axis."""

    def __init__(self, reader: Reader, extents: Index, inside: dict[int, LoopState]) -> None:
        self.reader, self.b, self.inside = reader, reader.b, inside
        view, block = reader.view, reader.tile.node.block
        self.strides, self.size = view.strides, view.dtype.itemsize
        self.steps = [reader.step(k) for k in range(len(extents))]  # bytes
        self.rows = BoxRows.of(extents, view.strides, self.size, reader.tile.machine.line)
        self.counts = [-(-extents[k] // block[k]) for k in self.rows.run]
        self.peeling = None if 0 in self.rows.run else reader.peeling
        # Axes along which steps are counted: their bytes are known at run time only, or a peeled micro-tile's rows
        # continue at another address there.
        self.apart = [k for k, s in enumerate(self.strides) if not isinstance(s, int) or (self.peeling and k == 0)]

    def lines(self, moves: tuple[Move, ...]) -> list[Line]:
        """This micro-tile's lines of the tile that is `moves` ahead."""
        offset: Int = self.rows.low
        for k in self.rows.run:
            if k in self.inside:
                step = -static(self.strides[k]) * self.size
                offset = add(self.b, offset, mul(self.b, self.inside[k].counter, step))
        offset = displaced(self.b, offset, moves, self.steps.__getitem__)
        return self._share(self.reader.origin(offset, moves, self.peeling), self._shares())

    def _shares(self) -> list[list[Place]]:
        """The lines of all rows that cross a micro-tile, row after row, in equal shares for the micro-tiles along a
        run."""
        offsets = self.rows.lines(line := self.reader.tile.machine.line, self._closing(line))
        places = map(self._place, self.rows.starts(self.reader.registers))
        lines = [(*place[:-1], place[-1] + offset) for place in places for offset in offsets]
        groups = prod(self.counts)
        each = -(-len(lines) // groups)
        shares = [lines[i * each : (i + 1) * each] for i in range(groups)]
        return [share + [lines[-1]] * (each - len(share)) for share in shares]

    def _closing(self, line: int) -> bool:
        """True where a row's last byte has to be prefetched, which is in a line of its own where the row does not begin
        with one. Where all rows begin with one if the tensor does, NumPy's do not; of long runs hardware then brings
        the last line."""
        return not self.rows.whole_lines(line) or self.rows.length <= SHORT

    def _place(self, start: Index) -> Place:
        near = [i * static(s) for k, (i, s) in enumerate(zip(start, self.strides, strict=True)) if k not in self.apart]
        return (*(start[k] for k in self.apart), self.size * sum(near))

    def _bytes(self, place: Sequence[Int]) -> Int:
        """The distance of a place from the tile's first element."""
        *far, near = place
        for k, number in zip(self.apart, far, strict=True):
            near = add(self.b, near, mul(self.b, number, self.steps[k]))
        return near

    def _share(self, origin: Origin, shares: list[list[Place]]) -> list[Line]:
        """The share that this micro-tile has: from a table, as far as shares differ."""
        if len(shares) == 1:
            return [self._line(origin, place) for place in shares[0]]
        places = np.array(shares)
        apart = places - places[:, :1]
        if (apart == apart[0]).all():
            relative = apart[0].tolist()
            first = self._read_place(self._entry([share[:1] for share in shares]), 0)
            if origin.continuation is not None:
                near = [[add(self.b, x, y) for x, y in zip(first, place, strict=True)] for place in relative]
                return [self._line(origin, place) for place in near]
            row = beyond(self.b, origin.base, self._bytes(first))
            return [Line(row, self._bytes(place), L2) for place in relative]
        entry = self._entry(shares)
        if self.apart:
            return [self._line(origin, self._read_place(entry, i)) for i in range(len(shares[0]))]
        return [Line(origin.base, 0, L2, at(self.b, entry, 8 * i)) for i in range(len(shares[0]))]

    def _line(self, origin: Origin, place: Sequence[Int]) -> Line:
        return Line(origin.of(self.b, place[0]), self._bytes(place), L2)

    def _read_place(self, first: ir.Value, number: int) -> list[Int]:
        width = len(self.apart) + 1
        entries = (at(self.b, first, 8 * (number * width + i)) for i in range(width))
        return [self.b.load(entry, typ=I64, align=8) for entry in entries]

    def _entry(self, rows: list[list[Place]]) -> ir.Value:
        """Where this micro-tile's row of a constant table begins."""
        numbers = [list(itertools.chain(*row)) for row in rows]
        places = table(self.reader.module, I64, list(itertools.chain(*numbers)), "rows")
        return at(self.b, places, mul(self.b, self._position(), len(numbers[0]) * 8))

    def _position(self) -> Int:
        """The number of this micro-tile among those along the run."""
        position: Int = 0
        radix = 1
        for k, count in zip(self.rows.run, self.counts, strict=True):
            loop = self.inside.get(k)
            if loop is not None:
                number = self.b.udiv(i64(add(self.b, loop.counter, loop.early)), ir.Constant(I64, loop.step))
                if loop.backwards:  # the first of the walk prefetches the lines that come first in memory, too
                    number = self.b.sub(ir.Constant(I64, count - 1), number)
                position = add(self.b, position, mul(self.b, number, radix))
            radix *= count
        return position
