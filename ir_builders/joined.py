"""Whole lines of a misaligned B without scratch (JOINED): registers are joined to the partial lines of their rows.

A permutation of two registers, by lane numbers known at run time only, takes the whole line out of both, wherever the
boundary lies. The line leaves by a non-temporal store, and the register becomes the row's partial line. The first and
the last line of a run are stored in part.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext

from llvmlite import ir

from ttc_llvm.lazy_dataclasses import dataclass, replace
from ttc_llvm.lowering.layout import Register

from .llvmlite_extensions import bitcast, external, reference, shuffle, vector_type, written
from .memory import Access, store, store_non_temporal
from .remainder_masks import RemainderMasks
from .values import I64, Int, at, guarded, i64, less, mul, table
from .vector_loads import load

LINE = 64  # bytes of a line, of a register, and of a partial line's slot
_NAMES = {2: "hi", 4: "d"}  # of the permutations, by bytes of a lane

Pair = tuple[ir.Value, ir.Value]
Scaled = Callable[[ir.Value, int], ir.Value]  # applies the arithmetic to so many elements on their way to B


@dataclass(frozen=True, slots=True)
class Boundary:
    """The line boundary before a register of B. past: bytes from there to it; lanes: numbers of the lanes of two
    registers of which the line is made that begins there, None = they are read where they are needed."""

    past: ir.Value
    lanes: ir.Value | None = None


@dataclass(frozen=True, slots=True)
class Destination:
    """The place of a register of B: its address, any multiple of an item's size.

    begins: whether its run begins with it; None where the run always began before.
    """

    address: ir.Value
    boundary: Boundary
    begins: ir.Value | None


@dataclass(frozen=True, slots=True)
class LineJoiner:
    """Joins registers of B to lines. access: to the registers; numbers: a table of the lanes of two registers, of
    which a line takes consecutive ones."""

    access: Access
    numbers: ir.Value

    @classmethod
    def of(cls, access: Access) -> LineJoiner:
        """A joiner of registers that this access would store."""
        size = _lane(access)
        lanes = range(2 * LINE // size)
        return cls(access, table(access.module, ir.IntType(8 * size), lanes, "lanes", LINE))

    @property
    def line(self) -> ir.VectorType:
        """The type of lines."""
        size = _lane(self.access)
        return vector_type(ir.IntType(8 * size), LINE // size)

    @property
    def whole(self) -> bool:
        """True where registers are as long as lines: boundaries lie at the same place in all of a row."""
        return self.access.lanes * self.access.dtype.itemsize == LINE

    def boundary(self, b: ir.IRBuilder, address: ir.Value, in_row: int) -> Boundary:
        """The boundary before a register, the first of so many in a row whose boundaries are alike."""
        past = _past_boundary(b, address)
        return Boundary(past, self._lanes(b, less(b, LINE, past)) if self.whole and in_row > 1 else None)

    def join(
        self, b: ir.IRBuilder, partial: ir.Value, value: ir.Value, place: Destination, count: Int
    ) -> ir.Value:
        """Store the line that ends within the first `count` elements of a register, if one does, or the part of it that
        a run begins with; returns the partial line behind them, of elements as B has them."""
        size, length = _lane(self.access), mul(b, count, self.access.dtype.itemsize)
        registers, past = (partial, self._widened(b, value, partial.type)), place.boundary.past
        if not isinstance(length, int):
            self._begin_or_store(b, registers, place, b.icmp_unsigned(">=", b.add(past, length), i64(LINE)))
            return self._permuted(b, registers, self._lanes(b, length))
        if length < LINE:
            with guarded(b, b.icmp_unsigned(">=", past, i64(LINE - length)), "line"):
                self._store_line(b, registers, place)
            gone = length // size
            return shuffle(b, *registers, range(gone, gone + LINE // size))
        self._begin_or_store(b, registers, place)
        return registers[1]

    def _begin_or_store(
        self, b: ir.IRBuilder, registers: Pair, place: Destination, ends: ir.Value | None = None
    ) -> None:
        """Store the line that ends within a register, if one does, or the part of it that a run begins with. ends: None
        where one always does."""
        if place.begins is None:
            with nullcontext() if ends is None else guarded(b, ends, "line"):
                self._store_line(b, registers, place)
            return
        with b.if_else(place.begins, likely=False) as (then, otherwise):
            with then:
                self._part(b, registers[1], place.address, less(b, LINE, place.boundary.past))
            with otherwise, nullcontext() if ends is None else guarded(b, ends, "line"):
                self._store_line(b, registers, place)

    def flush(self, b: ir.IRBuilder, end: ir.Value, slot: ir.Value, scaled: Scaled) -> None:
        """Store the partial line after the last boundary. end: of the row, whose run has a line's elements at least."""
        past = _past_boundary(b, end)
        with guarded(b, b.icmp_unsigned(">", past, i64(0)), "rest"):
            partial = self.partial_line(b, slot)
            line = bitcast(b, self._line(b, (partial, partial), Boundary(past)), self.access.vector)
            self._part(b, scaled(line, self.access.lanes), at(b, end, less(b, 0, past)), past)

    def partial_line(self, b: ir.IRBuilder, slot: ir.Value) -> ir.Value:
        """The contents of a slot; anything before a run begins."""
        return load(b, slot, self.line, LINE)

    def keep(self, b: ir.IRBuilder, partial: ir.Value, slot: ir.Value) -> None:
        """Put a partial line into its slot."""
        store(b, partial, slot, LINE)

    def _part(self, b: ir.IRBuilder, value: ir.Value, address: ir.Value, size: ir.Value) -> None:
        """Store so many bytes of a vector, by an ordinary store."""
        elements = LINE // self.access.dtype.itemsize
        masks = RemainderMasks((elements,), {0: b.udiv(size, i64(self.access.dtype.itemsize))})
        part, register = replace(self.access, lanes=elements, masks=masks), Register((0,), tuple(range(elements)))
        part.store(b, bitcast(b, value, part.vector), address, register, False)

    def _widened(self, b: ir.IRBuilder, value: ir.Value, lanes: ir.VectorType) -> ir.Value:
        """The register in these lanes; a narrower one fills the first of them."""
        count = self.access.lanes * self.access.dtype.itemsize * lanes.count // LINE
        cast = bitcast(b, value, vector_type(lanes.element, count))
        missing = lanes.count - count
        return shuffle(b, cast, None, [*range(count), *[None] * missing]) if missing else cast

    def _store_line(self, b: ir.IRBuilder, registers: Pair, place: Destination) -> None:
        """Store the line that begins at the boundary before a register's place."""
        address, line = at(b, place.address, less(b, 0, place.boundary.past)), self._line(b, registers, place.boundary)
        store_non_temporal(self.access.module, b, line, address, LINE)

    def _line(self, b: ir.IRBuilder, registers: Pair, boundary: Boundary) -> ir.Value:
        """The line made of the last `past` bytes of one register and the first ones of another."""
        return self._permuted(b, registers, boundary.lanes or self._lanes(b, less(b, LINE, boundary.past)))

    def _permuted(self, b: ir.IRBuilder, registers: Pair, chosen: ir.Value) -> ir.Value:
        """The lanes of two registers that have these numbers."""
        (old, new), size = registers, _lane(self.access)
        name = f"llvm.x86.avx512.vpermi2var.{_NAMES[size]}.512"
        f, kind = reference(external(self.access.module, name, old.type, [old.type] * 3)), old.type
        given = ", ".join([f"{kind} {reference(one)}" for one in (old, chosen, new)])
        return written(b, kind, f"call {kind} {f}({given})")

    def _lanes(self, b: ir.IRBuilder, first: ir.Value) -> ir.Value:
        """The numbers of a line's lanes, from so many bytes on."""
        return load(b, at(b, self.numbers, first), self.line, _lane(self.access))


def _past_boundary(b: ir.IRBuilder, address: ir.Value) -> ir.Value:
    """Bytes from the last line boundary to an address."""
    whole = written(b, I64, f"ptrtoint {address.type} {reference(address)} to i64")
    return written(b, I64, f"and i64 {reference(whole)}, {LINE - 1}", "behind")


def _lane(access: Access) -> int:
    """Bytes of a lane that the permutation moves: larger elements have several."""
    return min(access.dtype.itemsize, 4)
