"""One micro-tile: load the block's registers, permute them through the network, scale, store.

Values are emitted on demand, register of B by register of B, so that independent parts of a large
block follow each other and few registers are live.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from math import prod

from llvmlite import ir

from ttc_llvm.lowering.layout import Register, RegisterLayout
from ttc_llvm.lowering.operands import Op, Space, View
from ttc_llvm.machine.target import Exchange
from ttc_llvm.problem.dtypes import DType
from ttc_llvm.problem.kinds import Alpha, Beta

from . import network, scalable, segments
from .carriers import carrier_type, lanes_of, units
from .conversion import convert
from .joined_rows import JoinedRows
from .llvmlite_extensions import shuffle
from .memory import Access, store_non_temporal
from .micro_tile import MicroTile, Sizes
from .network import Pieces
from .peeled import Continuation
from .remainder_masks import RemainderMasks
from .scale import Scalars, Scaled, apply
from .values import Int, add, at, beyond, guarded, mul
from .vector_loads import arithmetic_fence, kept_whole


class MicroTileCode:
    """One micro-tile at these (source, target) pointers, and the values computed so far.

    lengths: run-time length per remainder axis; slots: of its rows' partial lines, where registers are joined to lines,
    and what joins them; first: whether runs begin here, None where they cannot; continuation: in the next row of B, of
    a peeled one; further: the pointers of what is added.
    """

    def __init__(
        self,
        module: ir.Module, b: ir.IRBuilder, tile: MicroTile, pointers: tuple[ir.Value, ir.Value],
        scalars: Mapping[Op, Scalars], sizes: Sizes, lengths: dict[int, ir.Value],
        slots: tuple[JoinedRows, tuple[ir.Value, View]] | None = None, first: ir.Value | None = None,
        continuation: Continuation | None = None, further: Sequence[ir.Value] = (),
    ) -> None:  # fmt: skip
        self.module, self.b, self.tile, self.scalars, self.sizes = module, b, tile, scalars[tile.node.op], sizes
        self.source, self.target = pointers
        node = tile.node
        self.masks = masks = RemainderMasks(node.block, lengths) if node.remainder_axes else None
        self.read_a = node.op.alpha is not Alpha.ZERO
        self.in_place = tile.machine.exchange is Exchange.TRANSPOSE
        self.load_side = self._access(node.source, tile.a, masks)
        self.store_side = self._access(node.target, tile.b, masks)
        self.net = tile.network if self.read_a and not segments.applies(tile) else None
        self.partners = self.net.partners if self.net else {}
        self.values: dict[int, ir.Value] = {}
        self.rows: dict[int, ir.Value] = {}
        self.together = tile.stored_together
        self.held: list[ir.Value] = []
        self.slots, self.first, self.continuation = slots, first, continuation
        pairs = [(one, (pointer, self.target)) for one, pointer in zip(tile.further, further, strict=True)]
        self.further = [MicroTileCode(module, b, one, both, scalars, sizes, lengths) for one, both in pairs]

    def emit(self, prefetches: Sequence[Callable[[], None]]) -> None:
        """Finish register of B by register of B. prefetches: each emits one; they are spread between the stores,
        because the loads after a burst of them have to wait."""
        if self.read_a and segments.applies(self.tile):
            for prefetch in prefetches:
                prefetch()
            segments.emit(self)
            return
        count, loaded = len(self.tile.b.registers), 0
        for number in range(count):
            for prefetch in prefetches[number * len(prefetches) // count : (number + 1) * len(prefetches) // count]:
                prefetch()
            if number == loaded:
                loaded = self._load_ahead(number)
            self.finish(number)

    def _load_ahead(self, first: int) -> int:
        """Load the pieces for the next registers of B, as many as half of the machine's registers hold; returns the
        first register not served. Loads come first because one after a store to the same page offset waits for it."""
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

    def _access(self, view: View, s: RegisterLayout, masks: RemainderMasks | None) -> Access:
        known = view.space is Space.SCRATCH or self.tile.machine.natural  # else tensors may lie anywhere
        align = min(view.dtype.itemsize, 8) if known else 1
        machine, crowded = self.tile.machine, self.tile.is_crowded(view)
        inserted = machine.insert_bits > 0 and not self.in_place  # else registers are loaded whole, or as pieces are
        longest = self.tile.node.loads if inserted and view.space is Space.A else 0
        return Access(self.module, machine, view.dtype, s.lanes, align, masks, crowded, longest)

    def address(self, pointer: ir.Value, view: View, register: Register) -> ir.Value:
        """The address of a register's first element, from the block's own."""
        offset: Int = 0
        for k, (i, stride) in enumerate(zip(register.start, view.strides, strict=True)):
            step = mul(self.b, i, self.sizes(stride))
            offset = add(self.b, offset, step if self.masks is None else self.masks.inside(self.b, k, register, step))
        reach = at if self.continuation is None else beyond
        return reach(self.b, pointer, mul(self.b, offset, view.dtype.itemsize))

    def _value(self, number: int) -> ir.Value:
        """A value of the network, computed when first asked for, together with its partner."""
        if number not in self.values:
            self.values[number] = self._computed(number)
            partner = self.partners.get(number)
            if partner is not None:
                self.values[partner] = self._computed(partner)
        return self.values[number]

    def output(self, number: int) -> ir.Value:
        """The elements of A that belong into a register of B."""
        assert self.net is not None
        return self._value(self.net.outputs[number])

    def _computed(self, number: int) -> ir.Value:
        assert self.net is not None
        step = number - self.net.inputs
        value = self._load(number) if step < 0 else self._shuffle(self.net.steps[step])
        return arithmetic_fence(self.module, self.b, value) if number in self.net.fences else value

    def _load(self, number: int) -> ir.Value:
        assert self.net is not None
        if self.net.pieces:
            raw = self._load_pieces(self.net.pieces[number])
        else:
            raw = self.load_side.load(self.b, self._row(number), self.tile.a.registers[number])
        found = self._converted(raw, self.tile.node.source.dtype, self.tile.node.op.compute)
        return self._scaled(found, self.tile.a.lanes) if self.tile.first else found

    def _load_pieces(self, pieces: Pieces) -> ir.Value:
        side = self.load_side
        places = [None if p is None else at(self.b, self._row(p[0]), p[1] * side.dtype.itemsize) for p in pieces]
        if not self.in_place:
            return side.load_pieces(self.b, places, self.tile.b.lanes)
        part = carrier_type(side.dtype, self.tile.b.lanes // len(places))
        parts = [None if p is None else self.b.load(p, typ=part, align=side.align) for p in places]
        return scalable.joined(self.b, parts, part)

    def _row(self, number: int) -> ir.Value:
        """The address of one of A's registers."""
        if number not in self.rows:
            view, register = self.tile.node.source, self.tile.a.registers[number]
            base = self.source
            if self.continuation is not None:
                base = self.continuation.base(self.b, base, register.start[0])
            self.rows[number] = self.address(base, view, register)
        return self.rows[number]

    def _shuffle(self, step: network.Shuffle) -> ir.Value:
        left, right = self._value(step.left), self._value(step.right)
        lanes = lanes_of(tuple(step.mask), units(self.tile.carried.itemsize))
        if self.in_place:
            return scalable.permuted(self.module, self.b, left, right, lanes)
        return shuffle(self.b, left, right, lanes)

    def finish(self, number: int) -> None:
        """Scale one register of B and store it."""
        node, register, b = self.tile.node, self.tile.b.registers[number], self.b
        if self.slots is not None and self.net is not None:
            self._join(*self.slots, number, self._scaled(self.output(number), self.tile.b.lanes, None, number))
            return
        address = self.address(self.target, node.target, register)
        a = None if self.net is None else self.output(number)
        old = None
        if node.op.beta is not Beta.ZERO:
            loaded = self.store_side.load(b, self._unwritten(address, register), register)
            old = self._converted(loaded, node.target.dtype, node.op.compute)
        value = a if self.tile.first and a is not None else self._scaled(a, self.tile.b.lanes, old, number)
        if self.together > 1 and self.continuation is None:
            self._gather(value, number)
            return
        self._store(value, address, register)

    def _gather(self, value: ir.Value, number: int) -> None:
        """Keep a register of B until its neighbours are there, and write them together."""
        b, view = self.b, self.tile.node.target
        self.held.append(value)
        if len(self.held) < self.together:
            return
        first = self.address(self.target, view, self.tile.b.registers[number + 1 - self.together])
        whole, self.held = kept_whole(self.module, b, scalable.joined(b, self.held, value.type)), []
        store_non_temporal(self.module, b, whole, first, self.together * self.tile.b.lanes * view.dtype.itemsize)

    def _join(self, joined: JoinedRows, slots: tuple[ir.Value, View], number: int, value: ir.Value) -> None:
        """Keep a register of B until its row is whole, and join that to the partial line in its slot."""
        self.held.append(value)
        side, count = self.tile.b, len(self.held)
        if count < -(-prod(self.tile.node.block[k] for k in side.run) // side.lanes):
            return
        row, values, self.held = side.registers[number + 1 - count : number + 1], self.held, []
        pointers = self.address(self.target, self.tile.node.target, row[0]), self.address(*slots, row[0])
        masks = RemainderMasks(self.tile.node.block, {}) if self.masks is None else self.masks
        counts, exists = tuple(masks.count(self.b, register) for register in row), masks.has_row(self.b, row[0])
        with nullcontext() if exists is None else guarded(self.b, exists, "row"):
            joined.call(self.b, self.store_side, values, counts, pointers, self.first)

    def _store(self, value: ir.Value, address: ir.Value, register: Register) -> None:
        """Write a register of B, up to the end of its row where no row follows."""
        b, block = self.b, self.tile.node.block
        ends = None if self.continuation is None else self.continuation.ends(block, register)
        if self.continuation is None or ends is None:
            self.store_side.store(b, value, address, register, self.together > 0)
            return
        part = self._access(self.tile.node.target, self.tile.b, RemainderMasks(block, {0: self.continuation.first}))
        with b.if_else(ends) as (then, otherwise):
            with then:
                part.store(b, value, address, register, False)
            with otherwise:
                self.store_side.store(b, value, address, register, self.together > 0)

    def _scaled(self, a: ir.Value | None, lanes: int, old: ir.Value | None = None, number: int = 0) -> ir.Value:
        """The value to store: elements of A, what is added, and the old ones of B, each times its factor."""
        op = self.tile.node.op
        further = [Scaled(one.tile.node.op, one.scalars, one.output(number)) for one in self.further]
        total = apply(self.b, op, self.scalars, a, old, lanes, further)
        return self._converted(total, op.compute, self.tile.node.target.dtype)

    def _converted(self, value: ir.Value, source: DType, target: DType) -> ir.Value:
        return convert(self.b, value, source, target, self.tile.machine.half)

    def _unwritten(self, address: ir.Value, register: Register) -> ir.Value:
        """The address from which a register of B is loaded: A's, where the register's elements do not exist. Such a
        load has no active lane, but at the address of the block's first row it would wait for the store there."""
        if self.masks is None or not self.read_a or self.load_side.align < self.store_side.align:
            return address
        found = (self.masks.exists(self.b, k, register) for k in range(len(register.start)))
        for exists in (condition for condition in found if condition is not None):
            address = self.b.select(exists, address, self.source)
        return address
