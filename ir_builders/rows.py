"""A row: one run of memory to another, whole aligned vectors past the caches, with ordinary stores at both ends.

Where the boundary of vectors lies is found out at run time, row by row: neither B's address nor its strides need be
multiples of a vector. The ends are masked stores, or element by element where the target has no masks.

A row that is part of a longer run has ends of that run only: it begins with what waits in its slot, recalled to just in
front of its first element, and leaves its last elements there for the next one.
"""

from __future__ import annotations

from dataclasses import dataclass

from llvmlite import ir

from ttc_llvm.lowering.layout import Register
from ttc_llvm.lowering.nodes import Row
from ttc_llvm.lowering.operands import Carry, View
from ttc_llvm.machine.target import Target
from ttc_llvm.problem.canonical import Alpha

from .drain import Share
from .memory import Access, prefetch
from .ragged import Ragged
from .scale import Scalars, apply, convert
from .values import I8, I64, Int, at, beyond, counted, guarded, i64, minimum, mul

UNROLLED = 4  # vectors per iteration
RUNS_AHEAD = 8


@dataclass(frozen=True, slots=True)
class Kept:
    """A row's slot, and whether the row is the first or the last one of its run."""

    pointer: ir.Value
    first: ir.Value
    last: ir.Value
    carry: Carry


def recall(b: ir.IRBuilder, machine: Target, carry: Carry, pointers: tuple[ir.Value, ir.Value]) -> None:
    """Put what waits in the slot in front of the row. In front of a run's first one that is anything, and not used."""
    slot, row = pointers
    _copy(b, machine, slot, at(b, row, -carry.bytes), carry.bytes)


def _copy(b: ir.IRBuilder, machine: Target, source: ir.Value, target: ir.Value, size: int) -> None:
    width = min(size, machine.vector_bits // 8)
    for first in range(0, size, width):
        value = b.load(at(b, source, first), typ=ir.VectorType(I8, width), align=1)
        b.store(value, at(b, target, first), align=1)


@dataclass(frozen=True, slots=True)
class Run:
    """A row at these (source, target) pointers, so many elements long; nominal: in a whole tile; kept: what its run
    hands on, if it does."""

    module: ir.Module
    b: ir.IRBuilder
    node: Row
    machine: Target
    scalars: Scalars
    pointers: tuple[ir.Value, ir.Value]
    length: Int
    nominal: int
    kept: Kept | None = None

    @property
    def lanes(self) -> int:
        """Elements of B in a vector of the machine: what one store past the caches writes."""
        return max(1, self.machine.vector_bits // 8 // self.node.target.dtype.itemsize)

    def emit(self, share: Share | None = None) -> None:
        """The ordinary head up to a boundary, the whole vectors, the ordinary tail. share: lines to be asked for
        meanwhile, some in every iteration."""
        b, lanes, length = self.b, self.lanes, i64(self.length)
        first = self._begun(length) if self.kept is None else self._continued(self.kept, length)
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
                self._stored(place, value, lanes, streaming=True)
        with counted(b, whole, lanes, "vector", first=many) as i:
            place = b.add(first, i)
            self._stored(place, self._loaded(place, lanes), lanes, streaming=True)
        done = b.add(first, whole)
        if self.kept is None:
            self._end(done, b.sub(length, done), "tail")
        else:
            self._handed_on(self.kept, done, length)

    def _begun(self, length: ir.Value) -> ir.Value:
        """Store what is before the first boundary, and say where it is."""
        self._ask_for_ends(length)
        head = i64(minimum(self.b, self._to_boundary(), length))
        self._end(i64(0), head, "head")
        return head

    def _continued(self, kept: Kept, length: ir.Value) -> ir.Value:
        """The same, but in a run's first row only; in others the boundary before what has waited."""
        b = self.b
        boundary = self._to_boundary()
        head = i64(minimum(b, boundary, length))
        self._end(i64(0), b.select(kept.first, head, i64(0)), "head")
        waiting = b.and_(b.sub(i64(self.grain), boundary), i64(self.grain - 1))
        return b.select(kept.first, head, b.neg(waiting))

    def _handed_on(self, kept: Kept, done: ir.Value, length: ir.Value) -> None:
        """Let wait what is behind the last boundary; a run's last row stores it."""
        b, carry = self.b, kept.carry
        self._end(done, b.select(kept.last, b.sub(length, done), i64(0)), "tail")
        last = b.sub(length, i64(carry.elements))
        end = at(b, self.pointers[0], mul(b, last, carry.dtype.itemsize))
        _copy(b, self.machine, end, kept.pointer, carry.bytes)

    @property
    def grain(self) -> int:
        """Elements of B that are stored whole: a vector, or a line where what is left of it can wait."""
        return self.lanes if self.kept is None else self.kept.carry.elements

    @property
    def unrolled(self) -> int:
        """Vectors per iteration, a power of two: fewer in short rows."""
        vectors = max(1, self.nominal // self.lanes) if self.nominal else UNROLLED
        return 1 << min(UNROLLED, vectors).bit_length() - 1

    def _iterations(self, step: int) -> int:
        """Iterations that a run of a whole tile makes at least, wherever its boundaries lie."""
        return max(0, self.nominal - self.grain + 1) // step

    def _ask_for_ends(self, length: ir.Value) -> None:
        """Prefetch the lines at both ends of a run further on: they are stored in part, and stores are in order, so
        that all others would wait until such a line has come from memory."""
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

    def _access(self, view: View, lanes: int, ragged: Ragged | None) -> Access:
        return Access(self.module, self.machine, view.dtype, lanes, 1, ragged)

    def _loaded(self, first: ir.Value, lanes: int, ragged: Ragged | None = None) -> ir.Value:
        """alpha * A in B's type."""
        node, b = self.node, self.b
        value = None
        if node.op.alpha is not Alpha.ZERO:
            address = at(b, self.pointers[0], mul(b, first, node.source.dtype.itemsize))
            raw = self._access(node.source, lanes, ragged).load(b, address, _register(lanes))
            value = convert(b, raw, node.source.dtype, node.op.compute)
        result = apply(b, node.op, self.scalars, value, None, lanes)
        return convert(b, result, node.op.compute, node.target.dtype)

    def _stored(
        self,
        first: ir.Value,
        value: ir.Value,
        lanes: int,
        ragged: Ragged | None = None,
        *,
        streaming: bool = False,
    ) -> None:
        target = self.node.target
        address = at(self.b, self.pointers[1], mul(self.b, first, target.dtype.itemsize))
        self._access(target, lanes, ragged).store(self.b, value, address, _register(lanes), streaming)

    def _end(self, first: ir.Value, count: ir.Value, name: str) -> None:
        """Fewer elements than are stored whole, by ordinary stores."""
        b, lanes = self.b, self.lanes
        if all(self.machine.has_masks(v.dtype.itemsize) for v in (self.node.source, self.node.target)):
            for before in range(0, self.grain, lanes):
                self._part(b.add(first, i64(before)), b.sub(count, i64(before)), name)
            return
        with guarded(b, b.icmp_signed(">", count, i64(0)), name), counted(b, count, 1, name) as i:
            element = b.add(first, i)
            self._stored(element, self._loaded(element, 1), 1)

    def _part(self, first: ir.Value, count: ir.Value, name: str) -> None:
        """So many elements, but no more than a vector, under a mask."""
        ragged = Ragged((self.lanes,), {0: count})
        with guarded(self.b, self.b.icmp_signed(">", count, i64(0)), name):
            self._stored(first, self._loaded(first, self.lanes, ragged), self.lanes, ragged)


def _register(lanes: int) -> Register:
    return Register((0,), tuple(range(lanes)))
