"""The work of one block on its tile: loads, shared memory, barrier, arithmetic, stores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from llvmlite import ir

from ttc_llvm.lowering.gpu.nest import BlockBody, Phase
from ttc_llvm.lowering.gpu.residency import BATCH, spread
from ttc_llvm.lowering.gpu.trace import Round
from ttc_llvm.lowering.operands import Op
from ttc_llvm.problem.canonical import Canonical
from ttc_llvm.problem.kinds import Beta

from .. import scale
from ..carriers import carrier_type
from ..conversion import convert
from ..scale import Scalars
from . import words
from .sums import Addresses
from .tile import ADDRESS, BlockTile, batches
from .walk import Walk
from .words import Words


def emit(b: ir.IRBuilder, tile: BlockTile, body: BlockBody, limits: Mapping[int, ir.Value]) -> None:
    """The instructions of one body; they end where the kernel returns."""

    def walk(phase: Phase) -> Walk:
        return Walk(b, phase, tile.thread, tile.nest.threads, tile.nest.tile, limits)

    store = StorePhase(b, tile, walk(body.store))
    if body.load is None:
        store.directly()
        return
    early = store.old_elements()
    _fill(b, tile, walk(body.load))
    tile.machine.barrier(b)
    store.from_shared(early)


def _fill(b: ir.IRBuilder, tile: BlockTile, walk: Walk) -> None:
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
    tile: BlockTile, walk: Walk, place: Addresses, turn: Round, rows: list[list[ir.Value]], source: Words
) -> None:
    b, shared, size = walk.b, tile.shared, source.itemsize
    if walk.phase.rows == 1 and shared.holds(walk.phase.run, tile.nest.tile):
        address = place.at(walk.sums.times(walk.shared(turn, shared), size))
        words.store(b, rows[0], address, tile.alignment(walk.phase.run.axes, source))
        return
    target = Words(size, walk.phase.rows)
    align = tile.alignment((walk.phase.row_axis,) if target.count > 1 else (), target)
    for inside, column in enumerate(words.transpose(b, rows, source, target, tile.machine)):
        offset = walk.sums.times(walk.shared(turn, shared, inside), size)
        words.store(b, column, place.at(offset), align)


class StorePhase:
    """The walk in which B is written: rounds of one vector each."""

    def __init__(self, b: ir.IRBuilder, tile: BlockTile, walk: Walk) -> None:
        self.b, self.tile, self.walk = b, tile, walk
        self.place = tile.device_place(b, walk, "b")
        self.shared = None if tile.storage is None else tile.shared_place(b, walk)
        c = tile.canonical
        self.source = Words(c.a.itemsize, walk.phase.run.vector)
        self.target = Words(c.b.itemsize, walk.phase.run.vector)
        self.strides = tile.strides("b")
        self.reads_old = c.kinds.beta is Beta.ANY

    def directly(self) -> None:
        """Store the elements that each thread loads from A itself."""
        place = None if self.tile.a is None else self.tile.device_place(self.b, self.walk, "a")
        held = self.source.registers + (self.target.registers if self.reads_old else 0)
        for batch in batches(self.walk.rounds(), held, self.walk.own_addresses):
            found = [self._element_of_a(turn, place) if place else None for turn in batch]
            old = [self._old(turn) for turn in batch] if self.reads_old else [None] * len(batch)
            self._write(batch, found, old)

    def old_elements(self) -> list[ir.Value] | None:
        """B's elements, loaded before any use of A's, so that both latencies overlap; None where they and their
        addresses would take too many registers, or where B is not read."""
        each = self.target.registers + (ADDRESS if self.walk.own_addresses else 0)
        if not self.reads_old or self.walk.phase.rounds * each > BATCH:
            return None
        return [self._old(turn) for turn in self.walk.rounds()]

    def from_shared(self, early: Sequence[ir.Value] | None) -> None:
        """Read the tile back in B's order and store it. early: B's elements, where they are loaded already."""
        late = self.reads_old and early is None
        held = self.source.registers + (self.target.registers if late else 0)
        if spread(self.tile.nest, self.walk.phase):
            held += self.source.count
        ready = iter(early) if early is not None else None
        own = self.walk.own_addresses if late else self.walk.own_slots
        for batch in batches(self.walk.rounds(), held, own):
            found = [self._from_shared(turn) for turn in batch]
            old: list[ir.Value | None] = [None] * len(batch)
            if self.reads_old:
                old = [self._old(turn) if ready is None else next(ready) for turn in batch]
            self._write(batch, found, old)

    def _element_of_a(self, turn: Round, place: Addresses) -> list[ir.Value]:
        """A's elements of one vector of B: one access where they are neighbours, else one for each."""
        strides, size = self.tile.strides("a"), self.source.itemsize
        start = self.walk.load_offset(turn, strides, place.sums)
        along = self.walk.phase.run.axes[0] if self.walk.phase.run.axes else -1
        if self.source.count == 1 or strides[along] == size:
            align = size * min(self.source.count, self.tile.nest.align[0])
            return words.load(self.b, place.at(start), self.source, align, True, "a")
        single = Words(size, 1)
        steps = range(self.source.count)
        addresses = [place.at(start.plus(k * strides[along])) for k in steps]
        elements = [words.load(self.b, address, single, size, True, "a") for address in addresses]
        return words.join(self.b, elements, self.source, self.tile.machine)

    def _from_shared(self, turn: Round) -> list[ir.Value]:
        shared, place, size = self.tile.shared, self.shared, self.source.itemsize
        assert place is not None
        if shared.holds(self.walk.phase.run, self.tile.nest.tile):
            address = place.at(self.walk.sums.times(self.walk.shared(turn, shared), size))
            align = self.tile.alignment(self.walk.phase.run.axes, self.source)
            return words.load(self.b, address, self.source, align, name="s")
        single = Words(size, 1)
        offsets = [self.walk.shared(turn, shared, inside) for inside in range(self.source.count)]
        addresses = [place.at(self.walk.sums.times(offset, size)) for offset in offsets]
        elements = [words.load(self.b, address, single, size, name="s") for address in addresses]
        return words.join(self.b, elements, self.source, self.tile.machine)

    def _old(self, turn: Round) -> ir.Value:
        address = self.place.at(self.walk.load_offset(turn, self.strides, self.place.sums))
        carrier = carrier_type(self.tile.canonical.b, self.target.count)
        return self.b.load(address, typ=carrier, align=self._align, name="b")

    @property
    def _align(self) -> int:
        return self.target.itemsize * self.target.count

    def _write(
        self, batch: Sequence[Round], found: Sequence[list[ir.Value] | None], old: Sequence[ir.Value | None]
    ) -> None:
        """Store the vectors of a batch, once all that was loaded for them is here."""
        machine, size = self.tile.machine, self._align
        results = [self._result(value, before) for value, before in zip(found, old, strict=True)]
        conditions = [self.walk.exists(turn) for turn in batch]
        if any(conditions):
            machine.await_all(self.b, results, size)
        for turn, result, exists in zip(batch, results, conditions, strict=True):
            address = self.place.at(self.walk.store_offset(turn, self.strides, self.place.sums))
            if exists is None:
                self.b.store(result, address, align=size)
            else:
                machine.store_where(self.b, exists, result, address, size)

    def _result(self, value: list[ir.Value] | None, old: ir.Value | None) -> ir.Value:
        tile = self.tile
        return result(self.b, tile.canonical, tile.op, tile.scalars, value, old, self.target.count)


def result(
    b: ir.IRBuilder,
    c: Canonical,
    op: Op,
    scalars: Scalars,
    value: list[ir.Value] | None,
    old: ir.Value | None,
    count: int,
) -> ir.Value:
    """The value to store of so many elements: the very words of a plain move, else the result of the arithmetic as B's
    carrier. value, old: A's words, and what B has; None where they are not read."""
    if value is not None and c.is_move:
        return value[0] if len(value) == 1 else words.vector(b, value)
    x = None
    if value is not None:
        carried = b.bitcast(words.vector(b, value), carrier_type(c.a, count))
        x = convert(b, carried, c.a, op.compute, False)
    before = None if old is None else convert(b, old, c.b, op.compute, False)
    return convert(b, scale.apply(b, op, scalars, x, before, count), op.compute, c.b, False)
