"""A micro-tile laid out in registers of A and B: its network, its loads in pieces, its non-temporal stores."""

from __future__ import annotations

from collections import Counter
from math import gcd, prod

from llvmlite import ir

from ttc_llvm.lazy_dataclasses import dataclass, replace
from ttc_llvm.lowering.layout import RegisterLayout, register_layout, run_axes, sources
from ttc_llvm.lowering.nodes import Micro
from ttc_llvm.lowering.operands import View
from ttc_llvm.machine.target import Exchange, Target
from ttc_llvm.problem.canonical import Size
from ttc_llvm.problem.dtypes import DType
from ttc_llvm.problem.kinds import Alpha, Beta

from . import network
from .carriers import parts_per_element
from .network import INSERT, INSERT_NARROW, Loads
from .straight import straight
from .values import Int

LEAST = 16  # bytes of a non-temporal store
MASKED_LOAD = 1.5  # cost of loading one row beside others of its register under a mask, in shuffles; measured
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
class MicroTile:
    """A micro-tile ready to be emitted: the node, its machine, and the registers of both sides."""

    node: Micro
    machine: Target
    a: RegisterLayout
    b: RegisterLayout

    @classmethod
    def of(cls, node: Micro, machine: Target) -> MicroTile:
        """Lay the block out for both sides, at the width of the widest element type; B's in whole registers where its
        numbers are the shorter ones and are what registers exchange."""
        lanes = machine.lanes(max(t.itemsize for t in (node.source.dtype, node.target.dtype, node.op.compute)))
        lanes_b = machine.lanes(node.target.dtype.itemsize) if converts_first(node, machine) else lanes
        masks = machine.has_masks(node.source.dtype.itemsize, node.target.dtype.itemsize)
        apart_a = masks and _rows_apart(node, node.source, lanes, MASKED_LOAD)
        apart_b = masks and not node.non_temporal and _rows_apart(node, node.target, lanes_b, 0.0)
        a = register_layout(node.block, node.source.strides, lanes, apart_a, masks)
        return cls(node, machine, a, register_layout(node.block, node.target.strides, lanes_b, apart_b))

    @property
    def first(self) -> bool:
        """True where numbers are scaled and converted before registers exchange them, else after."""
        return converts_first(self.node, self.machine)

    @property
    def carried(self) -> DType:
        """The type of elements that registers exchange: B's where it is the shorter one and B is not read."""
        return self.node.target.dtype if self.first else self.node.op.compute

    @property
    def whole(self) -> MicroTile:
        """The whole micro-tile if this one is a remainder, or itself: those ahead are mostly whole."""
        node = self.node
        block = tuple(map(max, node.block, node.grain))
        return self if block == node.block else MicroTile.of(replace(node, block=block), self.machine)

    @property
    def further(self) -> list[MicroTile]:
        """Those of what it adds, up to the registers in which that is added."""
        sink = replace(self.node.target, dtype=self.node.op.compute)
        nodes = (replace(self.node, source=x.view, target=sink, op=x.op, further=()) for x in self.node.further)
        return [MicroTile.of(node, self.machine) for node in nodes]

    @property
    def network(self) -> network.Network:
        """The shuffles from A's registers to B's."""
        node = self.node
        if node.straight:
            return straight(self.a, self.b)
        group = max(1, 16 // self.carried.itemsize)
        loaded = sources(node.block, node.source.strides)
        return network.build(node.block, self.a, self.b, loaded, group, self._loads())

    @property
    def stored_together(self) -> int:
        """Registers of B that one non-temporal store writes: several where conversions make them shorter than a vector;
        0 where no such store serves: every row of B has to start on a vector boundary, and so does this block.

        Rows that alternate between non-temporal and ordinary stores would leave write-combining buffers half full, and
        parts of a line take these as long as whole ones do.
        """
        if not self.node.non_temporal:
            return 0
        view, run, size = self.node.target, self.b.run, self.node.target.dtype.itemsize
        width, vector = self.b.lanes * size, self.machine.vector_bits // 8
        strides = [stride if isinstance(stride, int) else vector for stride in view.strides]  # the entry tests them
        rows = [stride * size for k, stride in enumerate(strides) if k not in run]
        moved = run[-1:] if self.a.run == run else run  # a run that both share has its other axes whole
        starts = [strides[k] * self.node.grain[k] * size for k in moved]
        if any(row % vector for row in rows) or any(s % width for s in starts):
            return 0
        row = prod(self.node.block[k] for k in run) * size
        bytes_together = gcd(vector, row, *starts) if width < vector and not self.node.remainder_axes else width
        return bytes_together // width if bytes_together >= LEAST else 0

    def is_crowded(self, view: View) -> bool:
        """True where B is updated and its rows follow each other within the vector that ends a row."""
        if view is not self.node.target or self.node.op.beta is Beta.ZERO:
            return False
        row = prod(self.node.block[k] for k in self.b.run)
        return any(isinstance(s, int) and row <= abs(s) < row + -row % self.b.lanes for s in view.strides)

    def _loads(self) -> Loads:
        """Loads in pieces, where all rows exist, need no conversion before shuffling, and stay in L1 meanwhile."""
        node, carried = self.node, self.carried
        in_place = self.machine.exchange is Exchange.TRANSPOSE
        if node.remainder_axes or node.source.dtype.itemsize != carried.itemsize or (self._crowds() and not in_place):
            return Loads(in_place=in_place)
        each = OPERATIONS.get((node.op.alpha, node.op.beta), 0) * parts_per_element(node.op.compute)
        full = self.b.lanes == self.machine.lanes(carried.itemsize)
        piece = self.machine.insert_bits // (8 * carried.itemsize)
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


def converts_first(node: Micro, machine: Target) -> bool:
    """True where numbers become shorter, nothing is added to them, and any registers can be joined."""
    shorter = node.target.dtype.itemsize < node.source.dtype.itemsize
    copies = node.op.beta is Beta.ZERO and node.op.alpha is not Alpha.ZERO and not (node.further or node.op.term)
    return shorter and copies and not node.straight and machine.exchange is Exchange.UNPACK


def _rows_apart(node: Micro, view: View, lanes: int, extra: float) -> bool:
    """True where rows that follow each other in memory are better loaded one by one, each under its mask.

    Where their length is no power of two, a tree collects each register from as many others as a row has elements;
    a bit network takes a shuffle per stage, also for the lanes that stay empty. extra: cost of a mask, in shuffles.
    """
    run = run_axes(node.block, view.strides)
    length = node.block[run[0]] if len(run) > 1 else 1
    if length & (length - 1) == 0:
        return False
    stages, padded = (lanes - 1).bit_length(), 1 << length.bit_length()
    return stages * padded / length + extra < min(length, lanes) - 1
