"""Copying a row: whole aligned vectors by non-temporal stores, and ordinary stores for its head and its tail.

The first vector boundary is found at run time, row by row: neither B's address nor its strides need be multiples of a
vector. Head and tail are masked stores, or stores of single elements where the target has no masks.

A row in a chained run has a head only where the run begins, and a tail only where it ends. Elsewhere it starts with the
partial line of its slot, which was loaded to just before its first element, and leaves its own partial line there.
"""

from __future__ import annotations

from llvmlite import ir

from ttc_llvm.lazy_dataclasses import dataclass
from ttc_llvm.lowering.layout import Register
from ttc_llvm.lowering.nodes import Row
from ttc_llvm.lowering.operands import PartialLine, View
from ttc_llvm.machine.target import Target
from ttc_llvm.problem.kinds import Alpha

from .box import RunEnds
from .conversion import convert
from .memory import Access, prefetch
from .prefetch.scratch_drain import DrainShare
from .remainder_masks import RemainderMasks
from .scale import Scalars, apply
from .values import I8, I64, Int, at, beyond, counted, guarded, i64, minimum, mul

UNROLLED = 4  # vectors per iteration
RUNS_AHEAD = 8  # distance at which the lines at a run's ends are prefetched


@dataclass(frozen=True, slots=True)
class ChainSlot:
    """A row's slot, and whether the row is the first or the last one of its run."""

    pointer: ir.Value
    ends: RunEnds
    line: PartialLine


def load_slot(b: ir.IRBuilder, machine: Target, line: PartialLine, pointers: tuple[ir.Value, ir.Value]) -> None:
    """Copy the partial line of a slot to before the row. A run's first row has anything there, and does not use it."""
    slot, row = pointers
    _copy(b, machine, slot, at(b, row, -line.bytes), line.bytes)


def _copy(b: ir.IRBuilder, machine: Target, source: ir.Value, target: ir.Value, size: int) -> None:
    width = min(size, machine.vector_bits // 8)
    for first in range(0, size, width):
        value = b.load(at(b, source, first), typ=ir.VectorType(I8, width), align=1)
        b.store(value, at(b, target, first), align=1)


@dataclass(frozen=True, slots=True)
class RowCopy:
    """A row at these (source, target) pointers, so many elements long; nominal: in a whole tile; slot: of a row in a
    chained run."""

    module: ir.Module
    b: ir.IRBuilder
    node: Row
    machine: Target
    scalars: Scalars
    pointers: tuple[ir.Value, ir.Value]
    length: Int
    nominal: int
    slot: ChainSlot | None = None

    @property
    def lanes(self) -> int:
        """Elements of B in a vector of the machine: those of one non-temporal store."""
        return max(1, self.machine.vector_bits // 8 // self.node.target.dtype.itemsize)

    def emit(self, share: DrainShare | None = None) -> None:
        """The ordinary head up to a boundary, the whole vectors, the ordinary tail. share: lines to be prefetched
        meanwhile, some in every iteration."""
        b, lanes, length = self.b, self.lanes, i64(self.length)
        first = self._head(length) if self.slot is None else self._chained_head(self.slot, length)
        whole = b.and_(b.sub(length, first), ir.Constant(I64, -self.grain))
        step = lanes * self.unrolled
        many = b.and_(whole, ir.Constant(I64, -step))
        parts = 0 if share is None else self._iterations(step)
        if share is not None and parts == 0:
            share.part(i64(0), 1)
        with counted(b, many, step, "vectors") as i:
            if share is not None and parts:
                share.part(b.udiv(i, i64(step)), parts)
            places = [b.add(b.add(first, i), i64(n * lanes)) for n in range(self.unrolled)]
            values = [self._loaded(place, lanes) for place in places]
            for place, value in zip(places, values, strict=True):
                self._stored(place, value, lanes, non_temporal=True)
        with counted(b, whole, lanes, "vector", first=many) as i:
            place = b.add(first, i)
            self._stored(place, self._loaded(place, lanes), lanes, non_temporal=True)
        done = b.add(first, whole)
        if self.slot is None:
            self._end(done, b.sub(length, done), "tail")
        else:
            self._chained_tail(self.slot, done, length)

    def _head(self, length: ir.Value) -> ir.Value:
        """Store the elements before the first boundary; returns their number."""
        self._prefetch_ends(length)
        head = i64(minimum(self.b, self._to_boundary(), length))
        self._end(i64(0), head, "head")
        return head

    def _chained_head(self, slot: ChainSlot, length: ir.Value) -> ir.Value:
        """The same in a run's first row; in others the boundary before the partial line, as a negative number."""
        b = self.b
        boundary = self._to_boundary()
        head = i64(minimum(b, boundary, length))
        self._end(i64(0), b.select(slot.ends.first, head, i64(0)), "head")
        partial = b.and_(b.sub(i64(self.grain), boundary), i64(self.grain - 1))
        return b.select(slot.ends.first, head, b.neg(partial))

    def _chained_tail(self, slot: ChainSlot, done: ir.Value, length: ir.Value) -> None:
        """Leave the elements after the last boundary in the slot; a run's last row stores them."""
        b, line = self.b, slot.line
        self._end(done, b.select(slot.ends.last, b.sub(length, done), i64(0)), "tail")
        last = b.sub(length, i64(line.elements))
        end = at(b, self.pointers[0], mul(b, last, line.dtype.itemsize))
        _copy(b, self.machine, end, slot.pointer, line.bytes)

    @property
    def grain(self) -> int:
        """Elements of B between the boundaries of whole stores: a vector, or a line in a chained run."""
        return self.lanes if self.slot is None else self.slot.line.elements

    @property
    def unrolled(self) -> int:
        """Vectors per iteration, a power of two: fewer in short rows."""
        vectors = max(1, self.nominal // self.lanes) if self.nominal else UNROLLED
        return 1 << min(UNROLLED, vectors).bit_length() - 1

    def _iterations(self, step: int) -> int:
        """Iterations that a run of a whole tile makes at least, wherever its boundaries lie."""
        return max(0, self.nominal - self.grain + 1) // step

    def _prefetch_ends(self, length: ir.Value) -> None:
        """Prefetch the lines at both ends of a later run: they are stored in part, and stores are in order, so that all
        others would wait until such a line has come from memory."""
        b, size = self.b, self.node.target.dtype.itemsize
        if self.node.following:
            start = beyond(b, self.pointers[1], RUNS_AHEAD * self.node.following * size)
            for pointer in (start, beyond(b, start, mul(b, length, size))):
                prefetch(self.module, b, pointer)

    def _to_boundary(self) -> ir.Value:
        """Elements from the row's start to the first boundary; elements are aligned to their size."""
        b, size = self.b, self.node.target.dtype.itemsize
        address = b.ptrtoint(self.pointers[1], I64)
        gap = b.and_(b.neg(address), i64(self.grain * size - 1))
        return b.udiv(gap, i64(size))

    # --- elements [first, first + lanes) ---

    def _access(self, view: View, lanes: int, masks: RemainderMasks | None) -> Access:
        return Access(self.module, self.machine, view.dtype, lanes, 1, masks)

    def _loaded(self, first: ir.Value, lanes: int, masks: RemainderMasks | None = None) -> ir.Value:
        """alpha * A in B's type."""
        node, b = self.node, self.b
        value = None
        if node.op.alpha is not Alpha.ZERO:
            address = at(b, self.pointers[0], mul(b, first, node.source.dtype.itemsize))
            raw = self._access(node.source, lanes, masks).load(b, address, _register(lanes))
            value = convert(b, raw, node.source.dtype, node.op.compute, self.machine.half)
        result = apply(b, node.op, self.scalars, value, None, lanes)
        return convert(b, result, node.op.compute, node.target.dtype, self.machine.half)

    def _stored(
        self,
        first: ir.Value,
        value: ir.Value,
        lanes: int,
        masks: RemainderMasks | None = None,
        *,
        non_temporal: bool = False,
    ) -> None:
        target = self.node.target
        address = at(self.b, self.pointers[1], mul(self.b, first, target.dtype.itemsize))
        self._access(target, lanes, masks).store(self.b, value, address, _register(lanes), non_temporal)

    def _end(self, first: ir.Value, count: ir.Value, name: str) -> None:
        """Fewer elements than are stored whole, by ordinary stores."""
        b, lanes = self.b, self.lanes
        if self.machine.has_masks(self.node.source.dtype.itemsize, self.node.target.dtype.itemsize):
            for before in range(0, self.grain, lanes):
                self._part(b.add(first, i64(before)), b.sub(count, i64(before)), name)
            return
        with guarded(b, b.icmp_signed(">", count, i64(0)), name), counted(b, count, 1, name) as i:
            element = b.add(first, i)
            self._stored(element, self._loaded(element, 1), 1)

    def _part(self, first: ir.Value, count: ir.Value, name: str) -> None:
        """So many elements, but no more than a vector, under a mask."""
        masks = RemainderMasks((self.lanes,), {0: count})
        with guarded(self.b, self.b.icmp_signed(">", count, i64(0)), name):
            self._stored(first, self._loaded(first, self.lanes, masks), self.lanes, masks)


def _register(lanes: int) -> Register:
    return Register((0,), tuple(range(lanes)))
