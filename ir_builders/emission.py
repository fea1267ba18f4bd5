"""One micro-tile: load the block's registers, permute them through the network, scale, store.

Values are emitted on demand, register of B by register of B, so that independent parts of a large
block follow each other and few registers are live.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from llvmlite import ir

from ttc_llvm.lowering.layout import HOLE, Register, Side
from ttc_llvm.lowering.operands import Space, View
from ttc_llvm.machine.machine import Exchange
from ttc_llvm.problem.canonical import Alpha, Beta

from . import network, scalable, segments
from .join import Lines, Place
from .memory import Access
from .micro_tile import Sizes, Tile
from .network import Pieces
from .ragged import Ragged
from .scale import Scalars, apply, carrier_type, convert, units
from .seam import fence, shuffle
from .shift import Bend
from .values import Int, add, at, beyond, guarded, mul, several


class Emission:
    """One micro-tile at these (source, target) pointers, and the values computed so far.

    lengths: run-time length per ragged axis; slots: where its rows of B wait, if they are joined to lines; first:
    whether these begin their runs here, None where they cannot; bend: where it goes on in another row of B.
    """

    def __init__(
        self,
        module: ir.Module,
        b: ir.IRBuilder,
        tile: Tile,
        pointers: tuple[ir.Value, ir.Value],
        scalars: Scalars,
        sizes: Sizes,
        lengths: dict[int, ir.Value],
        slots: tuple[ir.Value, View] | None = None,
        first: ir.Value | None = None,
        bend: Bend | None = None,
    ) -> None:
        self.module, self.b, self.tile, self.scalars, self.sizes = module, b, tile, scalars, sizes
        self.source, self.target = pointers
        self.bend = bend
        node = tile.node
        self.ragged = ragged = Ragged(node.block, lengths) if node.ragged else None
        self.read_a = node.op.alpha is not Alpha.ZERO
        self.in_place = tile.machine.exchange is Exchange.TRANSPOSE
        self.load_side = self._access(node.source, tile.a, ragged)
        self.store_side = self._access(node.target, tile.b, ragged)
        self.net = tile.network if self.read_a and not segments.applies(tile) else None
        self.partners = self.net.partners if self.net else {}
        self.values: dict[int, ir.Value] = {}
        self.rows: dict[int, ir.Value] = {}
        self.streams = tile.streams
        self.slots, self.first = slots, first
        self.follows = None if first is None else b.not_(first)
        self.lines = None if slots is None else Lines.of(self.store_side)

    def emit(self, requests: Sequence[Callable[[], None]]) -> None:
        """Finish register of B by register of B. requests: emit a prefetch each; they are spread between the stores,
        because a burst of them keeps the loads behind it waiting."""
        if self.read_a and segments.applies(self.tile):
            for request in requests:
                request()
            segments.emit(self)
            return
        count = len(self.tile.b.registers)
        loaded = 0
        for number in range(count):
            for request in requests[number * len(requests) // count : (number + 1) * len(requests) // count]:
                request()
            if number == loaded:
                loaded = self._load_ahead(number)
            self.finish(number)
        if self.lines is not None and self.first is not None:
            with guarded(self.b, self.first, "begin"):
                self._begin(self.lines, 1)

    def _begin(self, lines: Lines, axis: int, at_row: tuple[Int, Int] = (0, 0)) -> None:
        """Where runs begin with this micro-tile: of each row, what is in front of the first boundary, out of its slot.
        at_row: bytes to it, of B and of the slots."""
        assert self.slots is not None
        b, views = self.b, (self.tile.node.target, self.slots[1])
        if axis == len(self.tile.node.block):
            lines.begin(b, at(b, self.target, at_row[0]), at(b, self.slots[0], at_row[1]), self._scaled)
            return
        with several(b, self.tile.node.block[axis], "row") as i:
            steps = (mul(b, i, mul(b, self.sizes(view.strides[axis]), view.dtype.itemsize)) for view in views)
            beyond_b, beyond_slot = (add(b, before, step) for before, step in zip(at_row, steps, strict=True))
            self._begin(lines, axis + 1, (beyond_b, beyond_slot))

    def _load_ahead(self, first: int) -> int:
        """Load the pieces for the next registers of B, as many as half of the machine's registers hold; the first one
        that is not served. A load behind a store to the same offset of another page waits for it."""
        if self.net is None or not self.net.pieces:
            return len(self.tile.b.registers)
        needs, room = self.net.needs, self.tile.machine.registers // 2
        end, wanted = first + 1, needs[first]
        while end < len(needs) and (wanted | needs[end]).bit_count() <= room:
            wanted |= needs[end]
            end += 1
        for number in range(self.net.inputs):
            if wanted >> number & 1:
                self._value(number)
        return end

    def _access(self, view: View, s: Side, ragged: Ragged | None) -> Access:
        known = view.space is Space.SCRATCH or self.tile.machine.natural  # else tensors may lie anywhere
        align = min(view.dtype.itemsize, 8) if known else 1
        machine, crowded = self.tile.machine, self.tile.is_crowded(view)
        inserted = machine.insert_bits > 0 and not self.in_place  # else registers are loaded whole, or as pieces are
        longest = self.tile.node.loads if inserted and view.space is Space.A else 0
        return Access(self.module, machine, view.dtype, s.lanes, align, ragged, crowded, longest)

    def address(self, pointer: ir.Value, view: View, register: Register) -> ir.Value:
        """The address of a register's first element, from the block's own."""
        offset: Int = 0
        for k, (i, stride) in enumerate(zip(register.start, view.strides, strict=True)):
            step = mul(self.b, i, self.sizes(stride))
            offset = add(self.b, offset, step if self.ragged is None else self.ragged.inside(self.b, k, register, step))
        reach = at if self.bend is None else beyond
        return reach(self.b, pointer, mul(self.b, offset, view.dtype.itemsize))

    def _value(self, number: int) -> ir.Value:
        """A value of the network, computed when first asked for, together with its partner."""
        if number not in self.values:
            self.values[number] = self._computed(number)
            partner = self.partners.get(number)
            if partner is not None:
                self.values[partner] = self._computed(partner)
        return self.values[number]

    def _computed(self, number: int) -> ir.Value:
        assert self.net is not None
        step = number - self.net.inputs
        value = self._load(number) if step < 0 else self._shuffle(self.net.steps[step])
        return fence(self.module, self.b, value) if number in self.net.fences else value

    def _load(self, number: int) -> ir.Value:
        assert self.net is not None
        node = self.tile.node
        if self.net.pieces:
            raw = self._load_pieces(self.net.pieces[number])
        else:
            raw = self.load_side.load(self.b, self._row(number), self.tile.a.registers[number])
        return convert(self.b, raw, node.source.dtype, node.op.compute)

    def _load_pieces(self, pieces: Pieces) -> ir.Value:
        size = self.tile.node.source.dtype.itemsize
        places = [None if p is None else at(self.b, self._row(p[0]), p[1] * size) for p in pieces]
        if self.in_place:
            return self._join_pieces(places)
        return self.load_side.load_pieces(self.b, places, self.tile.b.lanes)

    def _join_pieces(self, places: Sequence[ir.Value | None]) -> ir.Value:
        part = carrier_type(self.tile.node.source.dtype, self.tile.b.lanes // len(places))
        parts = [None if p is None else self.b.load(p, typ=part, align=self.load_side.align) for p in places]
        return scalable.joined(self.b, parts, part)

    def _row(self, number: int) -> ir.Value:
        """The address of one of A's registers."""
        if number not in self.rows:
            view, register = self.tile.node.source, self.tile.a.registers[number]
            start = self.source if self.bend is None else self.bend.start(self.b, self.source, register.start[0])
            self.rows[number] = self.address(start, view, register)
        return self.rows[number]

    def _shuffle(self, step: network.Shuffle) -> ir.Value:
        left, right = self._value(step.left), self._value(step.right)
        per_element = units(self.tile.node.op.compute.itemsize)
        lanes = [None if m == HOLE else m * per_element + u for m in step.mask for u in range(per_element)]
        if self.in_place:
            return scalable.permuted(self.module, self.b, left, right, lanes)
        return shuffle(self.b, left, right, lanes)

    def finish(self, number: int) -> None:
        """Scale one register of B and store it."""
        node, register, b = self.tile.node, self.tile.b.registers[number], self.b
        address = self.address(self.target, node.target, register)
        a = None if self.net is None else self._value(self.net.outputs[number])
        if self.slots is not None and self.lines is not None and a is not None:
            place = Place(address, self.address(*self.slots, register), self.follows)
            self.lines.join(b, a, place, len(register.elements), self._scaled)
            return
        old = None
        if node.op.beta is Beta.ANY:
            loaded = self.store_side.load(b, self._unwritten(address, register), register)
            old = convert(b, loaded, node.target.dtype, node.op.compute)
        self._store(self._scaled(a, self.tile.b.lanes, old), address, register)

    def _store(self, value: ir.Value, address: ir.Value, register: Register) -> None:
        """Write a register of B: only what is before its row's end, if nothing follows there."""
        b, block = self.b, self.tile.node.block
        ends = None if self.bend is None else self.bend.ends(block, register)
        if self.bend is None or ends is None:
            self.store_side.store(b, value, address, register, self.streams)
            return
        part = self._access(self.tile.node.target, self.tile.b, Ragged(block, {0: self.bend.first}))
        with b.if_else(ends) as (then, otherwise):
            with then:
                part.store(b, value, address, register, False)
            with otherwise:
                self.store_side.store(b, value, address, register, self.streams)

    def _scaled(self, a: ir.Value | None, lanes: int, old: ir.Value | None = None) -> ir.Value:
        """What B gets: so many elements of A, and what was there, each times its factor."""
        op = self.tile.node.op
        return convert(self.b, apply(self.b, op, self.scalars, a, old, lanes), op.compute, self.tile.node.target.dtype)

    def _unwritten(self, address: ir.Value, register: Register) -> ir.Value:
        """Where a register of B is loaded from. What a ragged block lacks is addressed as its first row: no lane is
        active, yet each such load would wait for the store before it, one after the other. So A's address serves."""
        if self.ragged is None or not self.read_a or self.load_side.align < self.store_side.align:
            return address
        found = (self.ragged.exists(self.b, k, register) for k in range(len(register.start)))
        for exists in (condition for condition in found if condition is not None):
            address = self.b.select(exists, address, self.source)
        return address
