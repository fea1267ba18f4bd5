"""One micro-tile: load the block's registers, permute them through the network, scale, store.

Values are emitted on demand, register of B by register of B, so that independent parts of a large
block follow each other and few registers are live.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from llvmlite import ir

from ttc_llvm.canonical import Alpha, Beta, Size
from ttc_llvm.dtypes import compute_type
from ttc_llvm.layout import HOLE, Register, Side, side, sources
from ttc_llvm.nest import Micro, Space, View
from ttc_llvm.target import Target

from . import network
from .memory import Access, Ragged
from .scale import Scalars, apply, convert, units
from .seam import fence, freeze, shuffle
from .straight import straight
from .values import Int, add, at, mul


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
        a, b = (side(node.block, view.strides, lanes) for view in (node.source, node.target))
        return cls(node, machine, a, b)

    @property
    def network(self) -> network.Network:
        """The shuffles from A's registers to B's."""
        node = self.node
        if node.straight:
            return straight(self.a, self.b)
        group = max(1, 16 // node.op.compute.itemsize)
        return network.build(node.block, self.a, self.b, sources(node.block, node.source.strides), group)


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
        ragged = Ragged(node.block, lengths) if node.ragged else None
        self.read_a = node.op.alpha is not Alpha.ZERO
        self.load_side = self._access(node.source, tile.a, ragged)
        self.store_side = self._access(node.target, tile.b, ragged)
        self.net = tile.network if self.read_a else None
        self.partners = self.net.partners if self.net else {}
        self.values: dict[int, ir.Value] = {}
        self.streams = node.streaming and _streams(tile)

    def emit(self, requests: Sequence[Callable[[], None]]) -> None:
        """Finish register of B by register of B. requests: emit a prefetch each; they are spread between the stores,
        because a burst of them keeps the loads behind it waiting."""
        count = len(self.tile.b.registers)
        for number in range(count):
            for request in requests[number * len(requests) // count : (number + 1) * len(requests) // count]:
                request()
            self.finish(number)

    def _access(self, view: View, s: Side, ragged: Ragged | None) -> Access:
        align = min(view.dtype.itemsize, 8) if view.space is Space.SCRATCH else 1  # tensors may lie anywhere
        return Access(self.module, self.tile.machine, view.dtype, s.lanes, align, ragged)

    def _address(self, pointer: ir.Value, view: View, register: Register) -> ir.Value:
        offset: Int = 0
        for i, stride in zip(register.start, view.strides, strict=True):
            offset = add(self.b, offset, mul(self.b, i, self.sizes(stride)))
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
        node, register = self.tile.node, self.tile.a.registers[number]
        raw = self.load_side.load(self.b, self._address(self.source, node.source, register), register)
        return convert(self.b, raw, node.source.dtype, node.op.compute)

    def _shuffle(self, step: network.Shuffle) -> ir.Value:
        left, right = self._value(step.left), self._value(step.right)
        per_element = units(self.tile.node.op.compute.itemsize)
        lanes = [None if m == HOLE else m * per_element + u for m in step.mask for u in range(per_element)]
        return shuffle(self.b, left, right, lanes)

    def finish(self, number: int) -> None:
        """Scale one register of B and store it."""
        node, register, b = self.tile.node, self.tile.b.registers[number], self.b
        address = self._address(self.target, node.target, register)
        a = None if self.net is None else self._value(self.net.outputs[number])
        old = None
        if node.op.beta is Beta.ANY:
            old = convert(b, self.store_side.load(b, address, register), node.target.dtype, node.op.compute)
        result = apply(b, node.op, self.scalars, a, old, self.tile.b.lanes)
        value = convert(b, result, node.op.compute, node.target.dtype)
        self.store_side.store(b, value, address, register, self.streams)


def _streams(tile: Tile) -> bool:
    """True where every row of B starts on a boundary of whole vectors, and this block on one of its own.

    Rows that alternate between streaming and ordinary stores would leave the write-combining buffers half full.
    """
    view, run, size = tile.node.target, tile.b.run, tile.node.target.dtype.itemsize
    strides = [stride if isinstance(stride, int) else 1 for stride in view.strides]
    rows = [stride * size for k, stride in enumerate(strides) if k not in run]
    starts = [strides[k] * tile.node.grain[k] * size for k in run]
    width, vector = tile.b.lanes * size, tile.machine.vector_bits // 8
    return width >= 16 and all(row % vector == 0 for row in rows) and all(s % width == 0 for s in starts)
