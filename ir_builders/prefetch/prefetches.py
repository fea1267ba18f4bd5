"""Prefetches of a micro-tile: the lines of a later micro-tile, or its share of the rows of a later tile."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping

from llvmlite import ir

from ttc_llvm.lowering.layout import RegisterLayout
from ttc_llvm.lowering.operands import Place, Space, View
from ttc_llvm.problem.kinds import Alpha

from ..llvmlite_extensions import freeze
from ..memory import L1, L2
from ..micro_tile import MicroTile, Sizes
from ..peeled import Continues
from ..values import Int, add, beyond, chosen, mul
from . import odometer
from .box_rows import BoxRows, Index
from .lines import Line, Reader
from .odometer import LoopState, Move
from .tile_rows import TileRows


def prefetches(
    module: ir.Module,
    b: ir.IRBuilder,
    tile: MicroTile,
    pointers: tuple[ir.Value, ir.Value],
    sizes: Sizes,
    loops: tuple[LoopState, ...],
    peeling: Continues | None = None,
) -> list[Line]:
    """The node's prefetches, line by line, in the tensors that pass through the caches. Addresses are computed at once;
    the caller emits the prefetches where it wants them. loops: around the node, outermost first."""
    wanted = tile.node.prefetch
    assert wanted is not None
    readers = [Reader(module, b, tile, sizes, peeling, *read) for read in _read(tile, pointers)]
    if wanted.tile:
        outside, inside = odometer.by_tile(loops, wanted.tile)
        moves = odometer.moves(b, outside, wanted.distance)
        return list(itertools.chain(*[TileRows(reader, wanted.tile, inside).lines(moves) for reader in readers]))
    moves = odometer.moves(b, loops, wanted.distance)
    if not moves:
        return []
    short = odometer.remainders(b, loops, moves, tile.node.block)
    level = L2 if wanted.far else L1
    return [line for reader in readers for line in _micro_tile_lines(reader, moves, short, level)]


def ahead(
    module: ir.Module,
    b: ir.IRBuilder,
    tile: MicroTile,
    pointers: Mapping[Place, ir.Value],
    distances: Mapping[Place, Int],
    sizes: Sizes,
) -> list[Line]:
    """The lines of a micro-tile's part of tiles of a sum that are read later. pointers: by place; distances: bytes to
    those tiles."""
    wanted, found = tile.node.prefetch, list[Line]()
    assert wanted is not None
    for one in (tile, *tile.further):
        view = one.node.source
        if view.place in distances:
            pointer = freeze(b, beyond(b, pointers[view.place], distances[view.place]))
            reader = Reader(module, b, one, sizes, None, pointer, view, one.a)
            found += _micro_tile_lines(reader, (), {}, L2 if wanted.far else L1)
    return found


def _read(tile: MicroTile, pointers: tuple[ir.Value, ir.Value]) -> Iterable[tuple[ir.Value, View, RegisterLayout]]:
    node = tile.node
    if node.op.alpha is not Alpha.ZERO and node.source.space is Space.A:
        yield pointers[0], node.source, tile.a
    if node.non_temporal or node.op.term or node.partial_line:
        return
    if node.target.space is Space.B:  # lines that are stored in part are read before
        yield pointers[1], node.target, tile.b


def _micro_tile_lines(
    reader: Reader, moves: tuple[Move, ...], short: dict[int, tuple[int, ir.Value]], level: int
) -> list[Line]:
    """The lines of the micro-tile that is `moves` ahead. Where it is a remainder, the rows that it lacks would be other
    memory: its first row is prefetched again instead."""
    b, found = reader.b, []
    origin = reader.origin(odometer.displaced(b, 0, moves, reader.step), moves, reader.peeling)
    steps: dict[tuple[int, int], Int] = {}
    for element in _elements(reader):
        offset: Int = 0
        for k, i in enumerate(element):
            if (k, i) not in steps:
                step = mul(b, i, reader.step(k))
                lacking = k in short and k not in reader.layout.run and i >= short[k][0]
                steps[k, i] = chosen(b, short[k][1], 0, step) if lacking else step
            offset = add(b, offset, steps[k, i])
        found.append(Line(origin.of(b, element[0]), offset, level))
    return found


def _elements(reader: Reader) -> Iterable[Index]:
    """Elements, one in every line that a row may touch: the first of every line's length, and the row's last one,
    because rows begin anywhere in a line unless all strides, and the base, happen to be multiples of one."""
    layout, view = reader.layout, reader.view
    rows = BoxRows(reader.tile.node.block, view.strides, view.dtype.itemsize, layout.run)
    count = rows.length // rows.size
    positions = [*range(0, count, max(layout.lanes, reader.tile.machine.line // rows.size)), count - 1]
    return dict.fromkeys(rows.element(start, p) for start in rows.starts(reader.registers) for p in positions)
