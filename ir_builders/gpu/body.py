"""The work of one block on its tile: loads, shared memory, barrier, arithmetic, stores."""

from __future__ import annotations

from collections.abc import Mapping

from llvmlite import ir

from ttc_llvm.lowering.gpu.nest import Body, Phase
from ttc_llvm.lowering.gpu.residency import spread
from ttc_llvm.lowering.gpu.trace import Round

from . import words
from .place import Place
from .store import Store
from .tile import Tile, batches
from .walk import Walk
from .words import Words


def emit(b: ir.IRBuilder, tile: Tile, body: Body, limits: Mapping[int, ir.Value]) -> None:
    """The instructions of one body; they end where the kernel returns."""

    def walk(phase: Phase) -> Walk:
        return Walk(b, phase, tile.thread, tile.nest.threads, tile.nest.tile, limits)

    store = Store(b, tile, walk(body.store))
    if body.load is None:
        store.directly()
        return
    early = store.old_elements()
    _fill(b, tile, walk(body.load))
    tile.machine.barrier(b)
    store.from_shared(early)


def _fill(b: ir.IRBuilder, tile: Tile, walk: Walk) -> None:
    """Load A in the order of its runs, batch by batch, and write it to shared memory."""
    size = tile.canonical.a.itemsize
    source = Words(size, walk.phase.run.vector)
    strides = tile.strides("a")
    place, shared = tile.device_place(b, walk, "a"), tile.shared_place(b, walk)
    align = size * source.count
    row = strides[walk.phase.row_axis] if walk.phase.rows > 1 else 0
    items = walk.rounds()
    held = walk.phase.rows * source.registers
    if spread(tile.nest, walk.phase):
        held += source.count
    for batch in batches(items, held, walk.own_addresses):
        loaded = []
        for turn in batch:
            start = walk.load_offset(turn, strides, place.sums)
            addresses = [place.at(start.plus(r * row)) for r in range(walk.phase.rows)]
            loaded.append([words.load(b, address, source, align, True, "a") for address in addresses])
        for turn, rows in zip(batch, loaded, strict=True):
            _to_shared(tile, walk, shared, turn, rows, source)


def _to_shared(
    tile: Tile, walk: Walk, place: Place, turn: Round, rows: list[list[ir.Value]], source: Words
) -> None:
    b, shared, size = walk.b, tile.shared, source.itemsize
    if walk.phase.rows == 1 and shared.holds(walk.phase.run, tile.nest.tile):
        address = place.at(walk.sums.times(walk.shared(turn, shared), size))
        words.store(b, rows[0], address, tile.alignment(walk.phase.run.axes, source))
        return
    target = Words(size, walk.phase.rows)
    align = tile.alignment((walk.phase.row_axis,) if target.count > 1 else (), target)
    for inside, column in enumerate(words.transpose(b, rows, source, target)):
        offset = walk.sums.times(walk.shared(turn, shared, inside), size)
        words.store(b, column, place.at(offset), align)
