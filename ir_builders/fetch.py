"""Prefetches of a micro-tile: the lines of a micro-tile further on, or rows of the next tile."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

from llvmlite import ir

from ttc_llvm.lowering.layout import unflatten
from ttc_llvm.lowering.operands import Space, View
from ttc_llvm.problem.canonical import Alpha

from . import ahead
from .ahead import Move, Step
from .fetch_rows import Rows
from .memory import L1, L2
from .micro_tile import Sizes, Tile
from .request import Read, Request
from .seam import freeze
from .shift import Shift
from .values import Int, add, beyond, i64, mul

Index = tuple[int, ...]  # of an element in a block


def requests(
    module: ir.Module,
    b: ir.IRBuilder,
    tile: Tile,
    pointers: tuple[ir.Value, ir.Value],
    sizes: Sizes,
    trail: tuple[Step, ...],
    shift: Shift | None = None,
) -> list[Request]:
    """The node's prefetches, line by line, on the sides that pass through the caches: addresses are
    computed at once, the prefetches are emitted where the caller wants them. trail: the loops around, outermost first;
    shift: of the micro-tile, if it is shifted.
    """
    wanted = tile.node.prefetch
    assert wanted is not None
    sides = _read(tile, pointers)
    if wanted.tile:
        tiles, inside = ahead.split(trail, wanted.tile)
        moves = ahead.moves(b, tiles, wanted.distance)
        shares = [Rows(module, b, tile, side, sizes, wanted.tile, inside, shift).requests(moves) for side in sides]
        return list(itertools.chain(*shares))
    moves = ahead.moves(b, trail, wanted.distance)
    if not moves:
        return []
    short = ahead.short(b, trail, moves, tile.node.block)
    level = L2 if wanted.far else L1
    return list(itertools.chain(*(_block(b, tile, side, sizes, moves, short, shift, level) for side in sides)))


def _block(
    b: ir.IRBuilder,
    tile: Tile,
    read: Read,
    sizes: Sizes,
    moves: tuple[Move, ...],
    short: dict[int, tuple[int, ir.Value]],
    shift: Shift | None,
    level: int,
) -> list[Request]:
    """The lines of the micro-tile that lies `moves` further, into this level of the caches. Where it is a ragged one,
    the rows that it lacks would bring other memory: they ask for its first row again."""
    found = []
    size, run = read.view.dtype.itemsize, read.side.run
    base = freeze(b, beyond(b, read.pointer, _bytes(b, read.view, sizes, moves)))
    bend = None if shift is None else shift.bend(b, base, moves)
    steps: dict[tuple[int, int], Int] = {}
    for element in _lines(tile, read):
        offset: Int = 0
        for k, i in enumerate(element):
            if (k, i) not in steps:
                step = mul(b, i, mul(b, sizes(read.view.strides[k]), size))
                lacking = k in short and k not in run and i >= short[k][0]
                steps[k, i] = b.select(short[k][1], i64(0), i64(step)) if lacking else step
            offset = add(b, offset, steps[k, i])
        start = base if bend is None else bend.start(b, base, element[0])
        found.append(Request(start, offset, level))
    return found


def _read(tile: Tile, pointers: tuple[ir.Value, ir.Value]) -> list[Read]:
    node = tile.node
    found = []
    if node.op.alpha is not Alpha.ZERO:
        found.append(Read(pointers[0], node.source, tile.a))
    if not node.streaming and node.target.space is Space.B:  # what is stored in part is read before
        found.append(Read(pointers[1], node.target, tile.b))
    return found


def _bytes(b: ir.IRBuilder, view: View, sizes: Sizes, moves: tuple[Move, ...]) -> Int:
    offset: Int = 0
    for move in moves:
        step = mul(b, sizes(view.strides[move.axis]), view.dtype.itemsize)
        offset = add(b, offset, mul(b, move.distance, step))
    return offset


def _lines(tile: Tile, read: Read) -> Iterable[Index]:
    """Elements, one in every line that a row may touch: the first of every 64 bytes, and the row's last, because rows
    begin anywhere in a line unless all strides, and the base, happen to be multiples of one."""
    s, block = read.side, tile.node.block
    per_line = max(1, tile.machine.line // (s.lanes * read.view.dtype.itemsize))
    found: dict[Index, None] = {}
    for row in read.rows(s.run).values():
        found |= dict.fromkeys(register.start for register in row[::per_line])
        found[unflatten(row[-1].elements[-1], block)] = None
    return found
