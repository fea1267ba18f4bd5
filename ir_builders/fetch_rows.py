"""Prefetches of a micro-tile where rows are fetched: its share in the rows of the next tile.

The micro-tiles that lie side by side along a run of memory share the rows that cross them. Each asks for some of these
rows from end to end, so that lines of one page follow each other, rather than for its own line of every row:
neighbouring lines come in pairs, a page's translation is looked up once, and the hardware's prefetchers recognise the
run.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from math import prod

import numpy as np
from llvmlite import ir

from ttc_llvm.lowering.layout import run_axes
from ttc_llvm.problem.canonical import static

from .ahead import Move, Step
from .memory import L2
from .micro_tile import Sizes, Tile
from .request import Read, Request
from .seam import freeze
from .shift import Bend, Shift
from .values import I64, Int, add, at, beyond, i64, mul, table

SHORT = 512  # bytes, at most, of a run that hardware does not recognise before it ends
Place = tuple[int, ...]  # a line of a row: how many steps lead to it along axes that are kept apart, then bytes


class Rows:
    """The share of one micro-tile in the rows of a tile, on one side."""

    def __init__(
        self,
        module: ir.Module,
        b: ir.IRBuilder,
        tile: Tile,
        read: Read,
        sizes: Sizes,
        extents: tuple[int, ...],
        inside: dict[int, Step],
        shift: Shift | None,
    ) -> None:
        self.module, self.b, self.tile, self.read, self.inside = module, b, tile, read, inside
        self.size = read.view.dtype.itemsize
        self.strides = read.view.strides
        self.steps = [mul(b, sizes(stride), self.size) for stride in self.strides]  # bytes
        self.extents = extents
        self.run = run_axes(extents, self.strides)
        self.counts = [-(-extents[k] // tile.node.block[k]) for k in self.run]
        self.shift = shift if shift is not None and 0 not in self.run else None
        self.bend: Bend | None = None
        # Axes along which steps are counted: their bytes are known at run time only, or rows begin anew there.
        self.apart = [k for k, s in enumerate(self.strides) if not isinstance(s, int) or (self.shift and k == 0)]

    def requests(self, moves: tuple[Move, ...]) -> list[Request]:
        """This micro-tile's lines of the tile that lies `moves` further."""
        b = self.b
        base: Int = self._low()
        for k in self.run:
            if k in self.inside:
                base = add(b, base, mul(b, self.inside[k].counter, -static(self.strides[k]) * self.size))
        for move in moves:
            base = add(b, base, mul(b, move.distance, self.steps[move.axis]))
        start = freeze(b, beyond(b, self.read.pointer, base))
        self.bend = None if self.shift is None else self.shift.bend(b, start, moves)
        return self._shared(start, self._shares())

    def _low(self) -> int:
        """Bytes from the first element of a run to its lowest address."""
        return self.size * sum(min(0, (self.extents[k] - 1) * static(self.strides[k])) for k in self.run)

    def _shares(self) -> list[list[Place]]:
        """The lines of all rows that cross a micro-tile, row after row, in equal shares for the micro-tiles along a
        run."""
        length = prod(self.extents[k] for k in self.run) * self.size
        offsets = [*range(0, length, self.tile.machine.line), *self._last(length)]
        lines = [(*row[:-1], row[-1] + offset) for row in self._rows() for offset in offsets]
        groups = prod(self.counts)
        each = -(-len(lines) // groups)
        shares = [lines[i * each : (i + 1) * each] for i in range(groups)]
        return [share + [lines[-1]] * (each - len(share)) for share in shares]

    def _last(self, length: int) -> list[int]:
        """The last byte of a run, which is in a line of its own where the run does not begin with one. Where all begin
        with one if the tensor does, NumPy's do not; of long runs hardware then brings the last line."""
        line = self.tile.machine.line
        rows = [s * self.size for k, s in enumerate(self.strides) if k not in self.run and isinstance(s, int)]
        whole = length % line == 0 and all(step % line == 0 for step in rows)
        return [] if whole and length > SHORT else [length - 1]

    def _rows(self) -> list[Place]:
        """The rows that cross a micro-tile."""
        return [self._place(start) for start in self.read.rows(self.run)]

    def _place(self, start: tuple[int, ...]) -> Place:
        near = [i * static(s) for k, (i, s) in enumerate(zip(start, self.strides, strict=True)) if k not in self.apart]
        return (*(start[k] for k in self.apart), self.size * sum(near))

    def _bytes(self, place: Sequence[Int]) -> Int:
        """The distance of a place from the tile's first element."""
        *far, near = place
        for k, number in zip(self.apart, far, strict=True):
            near = add(self.b, near, mul(self.b, number, self.steps[k]))
        return near

    def _shared(self, start: ir.Value, shares: list[list[Place]]) -> list[Request]:
        """The share that this micro-tile has: from a table, as far as shares differ."""
        if len(shares) == 1:
            return [self._request(start, place) for place in shares[0]]
        places = np.array(shares)
        apart = places - places[:, :1]
        if (apart == apart[0]).all():
            relative = apart[0].tolist()
            first = self._read_place(self._entry([share[:1] for share in shares]), 0)
            if self.bend is not None:
                near = [[add(self.b, x, y) for x, y in zip(first, place, strict=True)] for place in relative]
                return [self._request(start, place) for place in near]
            row = beyond(self.b, start, self._bytes(first))
            return [Request(row, self._bytes(place), L2) for place in relative]
        entry = self._entry(shares)
        if self.apart:
            return [self._request(start, self._read_place(entry, i)) for i in range(len(shares[0]))]
        return [Request(start, 0, L2, at(self.b, entry, 8 * i)) for i in range(len(shares[0]))]

    def _request(self, start: ir.Value, place: Sequence[Int]) -> Request:
        """The line at this place. Rows of a shifted micro-tile begin anew where it goes on."""
        near = start if self.bend is None else self.bend.start(self.b, start, place[0])
        return Request(near, self._bytes(place), L2)

    def _read_place(self, first: ir.Value, number: int) -> list[Int]:
        width = len(self.apart) + 1
        entries = (at(self.b, first, 8 * (number * width + i)) for i in range(width))
        return [self.b.load(entry, typ=I64, align=8) for entry in entries]

    def _entry(self, rows: list[list[Place]]) -> ir.Value:
        """Where this micro-tile's row of a constant table begins."""
        numbers = [list(itertools.chain(*row)) for row in rows]
        places = table(self.module, I64, list(itertools.chain(*numbers)), "rows")
        return at(self.b, places, mul(self.b, self._position(), len(numbers[0]) * 8))

    def _position(self) -> Int:
        """Which of the micro-tiles along the run this is."""
        position: Int = 0
        radix = 1
        for k, count in zip(self.run, self.counts, strict=True):
            step = self.inside.get(k)
            if step is not None:
                number = self.b.udiv(i64(add(self.b, step.counter, step.early)), ir.Constant(I64, step.step))
                position = add(self.b, position, mul(self.b, number, radix))
            radix *= count
        return position
