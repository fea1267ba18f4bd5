"""One micro-tile: load the block's registers, permute them through the network, scale, store.

Values are emitted on demand, register of B by register of B, so that independent parts of a large
block follow each other and few registers are live.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod

from llvmlite import ir

from ttc_llvm.canonical import Alpha, Beta, Size
from ttc_llvm.dtypes import compute_type
from ttc_llvm.layout import HOLE, Register, Side, run_axes, side, sources
from ttc_llvm.machine import Exchange
from ttc_llvm.nest import Micro, Space, View
from ttc_llvm.target import Target

from . import network, scalable, segments
from .memory import Access, Ragged
from .network import INSERT, INSERT_NARROW, Loads, Pieces
from .scale import Scalars, apply, carrier_type, convert, parts_per_element, units
from .seam import fence, freeze, shuffle
from .straight import straight
from .values import Int, add, at, mul

MASKED_LOAD = 1.5  # of a row beside others of its register, in shuffles; measured
# Vector operations on a real register of B, loading it included.
OPERATIONS = {(Alpha.ANY, Beta.ZERO): 1, (Alpha.ONE, Beta.ANY): 3, (Alpha.ANY, Beta.ANY): 4}


@dataclass(frozen=True, slots=True)
class Sizes:
    """Strides as integers or as values loaded from the parameter array."""

    values: dict[int, ir.Value]

    def __call__(self, size: Size) -> Int:
        """The integer itself, or the loaded parameter."""
        return size if isinstance(size, int) else self.values[size.index]


@dataclass(frozen=True, slots=True)
class Tile:
    """A micro-tile ready to be emitted: the node, its machine, and the registers of both sides."""

    node: Micro
    machine: Target
    a: Side
    b: Side

    @classmethod
    def of(cls, node: Micro, machine: Target) -> Tile:
        """Lay the block out for both sides, at the width of the wider element type."""
        wide = compute_type(node.source.dtype, node.target.dtype)
        lanes = machine.lanes(wide.itemsize)
        masks = all(machine.has_masks(view.dtype.itemsize) for view in (node.source, node.target))
        apart_a = masks and _rows_apart(node, node.source, lanes, MASKED_LOAD)
        apart_b = masks and not node.streaming and _rows_apart(node, node.target, lanes, 0.0)
        a = side(node.block, node.source.strides, lanes, apart_a)
        return cls(node, machine, a, side(node.block, node.target.strides, lanes, apart_b))

    @property
    def network(self) -> network.Network:
        """The shuffles from A's registers to B's."""
        node = self.node
        if node.straight:
            return straight(self.a, self.b)
        group = max(1, 16 // node.op.compute.itemsize)
        loaded = sources(node.block, node.source.strides)
        return network.build(node.block, self.a, self.b, loaded, group, self._loads())

    def _loads(self) -> Loads:
        """Pieces of rows whose existence is known, of the type that is shuffled, and that stay in L1 meanwhile."""
        node, compute = self.node, self.node.op.compute
        in_place = self.machine.exchange is Exchange.TRANSPOSE
        if node.ragged or node.source.dtype.itemsize != compute.itemsize or (self._crowds() and not in_place):
            return Loads(in_place=in_place)
        each = OPERATIONS.get((node.op.alpha, node.op.beta), 0) * parts_per_element(compute)
        full = self.b.lanes == self.machine.lanes(compute.itemsize)
        piece = self.machine.insert_bits // (8 * compute.itemsize)
        return Loads(piece, each, INSERT if full else INSERT_NARROW, in_place)

    def _crowds(self) -> bool:
        """True where the rows of A fill more than the ways of a set of L1: each line is to be loaded once."""
        node, machine = self.node, self.machine
        strides = [stride if isinstance(stride, int) else 1 for stride in node.source.strides]
        sets = max(1, machine.l1 // (machine.line * machine.ways))
        lines = set()
        for register in self.a.registers:
            offset = sum(i * stride for i, stride in zip(register.start, strides, strict=True))
            lines.add(offset * node.source.dtype.itemsize // machine.line)
        return max(Counter(line % sets for line in lines).values()) > machine.ways


class Emission:
    """One micro-tile at these (source, target) pointers, and the values computed so far.

    lengths: run-time length per ragged axis.
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
    ) -> None:
        self.module, self.b, self.tile, self.scalars, self.sizes = module, b, tile, scalars, sizes
        # Opaque bases: else loop strength reduction weighs every row's address anew, for most of the compile time.
        self.source, self.target = (freeze(b, pointer) for pointer in pointers)
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
        self.streams = node.streaming and _streams(tile)

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
        return Access(self.module, self.tile.machine, view.dtype, s.lanes, align, ragged, _is_crowded(self.tile, view))

    def address(self, pointer: ir.Value, view: View, register: Register) -> ir.Value:
        """Where a register's first element lies, from the block's own."""
        offset: Int = 0
        for k, (i, stride) in enumerate(zip(register.start, view.strides, strict=True)):
            step = mul(self.b, i, self.sizes(stride))
            offset = add(self.b, offset, step if self.ragged is None else self.ragged.inside(self.b, k, register, step))
        return at(self.b, pointer, mul(self.b, offset, view.dtype.itemsize))

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
            view = self.tile.node.source
            self.rows[number] = self.address(self.source, view, self.tile.a.registers[number])
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
        old = None
        if node.op.beta is Beta.ANY:
            old = convert(b, self.store_side.load(b, address, register), node.target.dtype, node.op.compute)
        result = apply(b, node.op, self.scalars, a, old, self.tile.b.lanes)
        value = convert(b, result, node.op.compute, node.target.dtype)
        self.store_side.store(b, value, address, register, self.streams)


def _rows_apart(node: Micro, view: View, lanes: int, extra: float) -> bool:
    """True where rows that follow each other in memory had better be taken one by one, each with its mask.

    Where their length is no power of two, a tree collects each register from as many others as a row has elements;
    a bit network takes a shuffle per stage, also for the lanes that stay empty. extra: what a mask costs, in shuffles.
    """
    run = run_axes(node.block, view.strides)
    length = node.block[run[0]] if len(run) > 1 else 1
    if length & (length - 1) == 0:
        return False
    stages, padded = (lanes - 1).bit_length(), 1 << length.bit_length()
    return stages * padded / length + extra < min(length, lanes) - 1


def _is_crowded(tile: Tile, view: View) -> bool:
    """True where B is updated and its rows follow each other within the vector that ends a row."""
    if view is not tile.node.target or tile.node.op.beta is Beta.ZERO:
        return False
    row = prod(tile.node.block[k] for k in tile.b.run)
    return any(isinstance(s, int) and row <= abs(s) < row + -row % tile.b.lanes for s in view.strides)


def _streams(tile: Tile) -> bool:
    """True where every row of B starts on a boundary of whole vectors, and this block on one of its own.

    Rows that alternate between streaming and ordinary stores would leave the write-combining buffers half full.
    """
    view, run, size = tile.node.target, tile.b.run, tile.node.target.dtype.itemsize
    width, vector = tile.b.lanes * size, tile.machine.vector_bits // 8
    strides = [stride if isinstance(stride, int) else vector for stride in view.strides]  # the entry tests them
    rows = [stride * size for k, stride in enumerate(strides) if k not in run]
    starts = [strides[k] * tile.node.grain[k] * size for k in run]
    return width >= 16 and all(row % vector == 0 for row in rows) and all(s % width == 0 for s in starts)
