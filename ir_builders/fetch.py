"""What a micro-tile asks memory for in advance: the lines of a micro-tile further on, or rows of the next tile.

Rows: the micro-tiles that lie side by side along a run of memory share the rows that cross them. Each asks for
some of these rows from end to end, so that lines of one page follow each other, rather than for its own line of
every row: neighbouring lines come in pairs, a page's translation is looked up once, and the hardware's
prefetchers recognise the run.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from llvmlite import ir

from ttc_llvm.canonical import Alpha, Beta, static
from ttc_llvm.layout import Register, Side, run_axes
from ttc_llvm.nest import View

from . import ahead
from .ahead import Move, Step
from .memory import L2, beyond, prefetch
from .micro_tile import Sizes, Tile
from .seam import freeze
from .values import I64, Int, add, at, mul


@dataclass(frozen=True, slots=True)
class Request:
    """One side of a micro-tile: where it lies now, and its registers."""

    pointer: ir.Value
    view: View
    side: Side


def emit(
    module: ir.Module,
    b: ir.IRBuilder,
    tile: Tile,
    pointers: tuple[ir.Value, ir.Value],
    sizes: Sizes,
    trail: tuple[Step, ...],
) -> None:
    """Ask for what the node's prefetch says, on the sides that are read. trail: the loops around, outermost first."""
    wanted = tile.node.prefetch
    assert wanted is not None
    if wanted.tile:
        tiles, inside = _split(trail, wanted.tile)
        moves = ahead.moves(b, tiles, wanted.distance)
        for request in _requests(tile, pointers):
            _Rows(module, b, tile, request, wanted.tile, inside).emit(moves)
        return
    moves = ahead.moves(b, trail, wanted.distance)
    for request in _requests(tile, pointers) if moves else ():
        base = freeze(b, beyond(b, request.pointer, _bytes(b, request.view, sizes, moves)))
        for register in _line_starts(tile, request):
            offset: Int = 0
            for i, stride in zip(register.start, request.view.strides, strict=True):
                offset = add(b, offset, mul(b, i, sizes(stride)))
            prefetch(module, b, at(b, base, mul(b, offset, request.view.dtype.itemsize)))


def _requests(tile: Tile, pointers: tuple[ir.Value, ir.Value]) -> list[Request]:
    node = tile.node
    found = []
    if node.op.alpha is not Alpha.ZERO:
        found.append(Request(pointers[0], node.source, tile.a))
    if node.op.beta is Beta.ANY:
        found.append(Request(pointers[1], node.target, tile.b))
    return found


def _bytes(b: ir.IRBuilder, view: View, sizes: Sizes, moves: tuple[Move, ...]) -> Int:
    offset: Int = 0
    for move in moves:
        step = mul(b, sizes(view.strides[move.axis]), view.dtype.itemsize)
        offset = add(b, offset, mul(b, move.distance, step))
    return offset


def _line_starts(tile: Tile, request: Request) -> list[Register]:
    """One register per line of a row: the first of every 64 bytes."""
    s = request.side
    per_line = max(1, tile.machine.line // (s.lanes * request.view.dtype.itemsize))
    rows: dict[tuple[int, ...], int] = {}
    chosen = []
    for register in s.registers:
        row = tuple(0 if k in s.run else i for k, i in enumerate(register.start))
        seen = rows.get(row, 0)
        rows[row] = seen + 1
        if seen % per_line == 0:
            chosen.append(register)
    return chosen


# --- rows of the next tile ------------------------------------------------------------------------------


def _split(trail: tuple[Step, ...], tile: tuple[int, ...]) -> tuple[tuple[Step, ...], dict[int, Step]]:
    """The loops over tiles, which advance by a tile's extent, and by axis those inside one."""
    tiles: list[Step] = []
    inside: dict[int, Step] = {}
    for step in trail:
        if step.step == tile[step.axis]:
            tiles.append(step)
        else:
            inside[step.axis] = step
    return tuple(tiles), inside


class _Rows:
    """The share of one micro-tile in the rows of a tile, on one side."""

    def __init__(
        self,
        module: ir.Module,
        b: ir.IRBuilder,
        tile: Tile,
        request: Request,
        extents: tuple[int, ...],
        inside: dict[int, Step],
    ) -> None:
        self.module, self.b, self.tile, self.request, self.inside = module, b, tile, request, inside
        self.strides = [static(stride) for stride in request.view.strides]
        self.size = request.view.dtype.itemsize
        self.extents = extents
        self.run = run_axes(extents, tuple(self.strides))
        self.counts = [-(-extents[k] // tile.node.block[k]) for k in self.run]

    def emit(self, moves: tuple[Move, ...]) -> None:
        """Ask for this micro-tile's lines of the tile that lies `moves` further."""
        b = self.b
        base: Int = self._low()
        for k in self.run:
            if k in self.inside:
                base = add(b, base, mul(b, self.inside[k].counter, -self.strides[k] * self.size))
        for move in moves:
            base = add(b, base, mul(b, move.distance, self.strides[move.axis] * self.size))
        start = freeze(b, beyond(b, self.request.pointer, base))
        for offset in self._offsets(self._shares()):
            prefetch(self.module, b, beyond(b, start, offset), L2)

    def _low(self) -> int:
        """Bytes from the first element of a run to its lowest address."""
        return self.size * sum(min(0, (self.extents[k] - 1) * self.strides[k]) for k in self.run)

    def _shares(self) -> list[list[int]]:
        """Byte offsets of the lines of all rows that cross a micro-tile, row after row, in equal shares for the
        micro-tiles along a run."""
        length = prod(self.extents[k] for k in self.run) * self.size
        lines = [row + offset for row in self._rows() for offset in range(0, length, self.tile.machine.line)]
        groups = prod(self.counts)
        each = -(-len(lines) // groups)
        shares = [lines[i * each : (i + 1) * each] for i in range(groups)]
        return [share + [lines[-1]] * (each - len(share)) for share in shares]

    def _rows(self) -> list[int]:
        """Byte offsets of the rows that cross a micro-tile."""
        starts = [
            tuple(0 if k in self.run else i for k, i in enumerate(register.start))
            for register in self.request.side.registers
        ]
        return [
            self.size * sum(i * stride for i, stride in zip(start, self.strides, strict=True))
            for start in dict.fromkeys(starts)
        ]

    def _offsets(self, shares: list[list[int]]) -> list[Int]:
        """The offsets of the share that this micro-tile has: from a table, as far as shares differ."""
        relative = [[offset - share[0] for offset in share] for share in shares]
        if len(shares) == 1:
            return list(shares[0])
        alike = all(other == relative[0] for other in relative)
        rows = [share[:1] for share in shares] if alike else shares
        loaded = self._looked_up(rows)
        return [add(self.b, loaded[0], offset) for offset in relative[0]] if alike else loaded

    def _looked_up(self, rows: list[list[int]]) -> list[Int]:
        b, width = self.b, len(rows[0])
        kind = ir.ArrayType(I64, len(rows) * width)
        constant = ir.GlobalVariable(self.module, kind, self.module.get_unique_name("rows"))
        constant.initializer = ir.Constant(kind, [offset for row in rows for offset in row])
        constant.global_constant, constant.linkage = True, "private"
        first = at(b, constant, mul(b, self._position(), width * 8))
        return [b.load(at(b, first, 8 * i), typ=I64, align=8) for i in range(width)]

    def _position(self) -> Int:
        """Which of the micro-tiles along the run this is."""
        position: Int = 0
        radix = 1
        for k, count in zip(self.run, self.counts, strict=True):
            step = self.inside.get(k)
            if step is not None:
                number = self.b.udiv(step.counter, ir.Constant(I64, step.step))
                position = add(self.b, position, mul(self.b, number, radix))
            radix *= count
        return position
