"""Lines of B that lie anywhere, without scratch: a register and what waits in its row's slot make a line that is whole.

A permutation of two registers by lanes that are known at run time only takes the line out of both, wherever the
boundary lies. The line leaves past the caches, and the row's last elements wait for the next register. The first and
the last line of a run are stored in part.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from llvmlite import ir

from ttc_llvm.lowering.layout import Register

from .memory import Access, intrinsic, store, stream
from .ragged import Ragged
from .seam import load, shuffle
from .values import I64, at, guarded, i64, table

LINE = 64  # bytes of a line, of a register, and of what waits
_NAMES = {2: "hi", 4: "d"}  # of the permutations, by bytes of a lane

Pair = tuple[ir.Value, ir.Value]
Scaled = Callable[[ir.Value, int], ir.Value]  # what becomes of so many elements on their way to B


@dataclass(frozen=True, slots=True)
class Place:
    """The place that a register of B is stored to: its own address, any multiple of an item's size, and its row's slot;
    follows: whether its row's run began before it, None of those that are shorter than a line: it always did."""

    address: ir.Value
    slot: ir.Value
    follows: ir.Value | None


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines from registers of B. access: how they would be stored as they are; numbers: of both registers' lanes: a
    line has as many that follow each other, from some place on."""

    access: Access
    numbers: ir.Value

    @classmethod
    def of(cls, access: Access) -> Lines:
        """Of registers that such an access would store."""
        size = _lane(access)
        lanes = range(2 * LINE // size)
        return cls(access, table(access.module, ir.IntType(8 * size), lanes, "lanes", LINE))

    def join(self, b: ir.IRBuilder, value: ir.Value, place: Place, count: int, scaled: Scaled) -> None:
        """Store the line that ends within the first `count` elements of a register, if one does and its run did not
        begin here. Elements wait as they come from A."""
        address, slot, size, length = place.address, place.slot, _lane(self.access), count * self.access.dtype.itemsize
        total = LINE // size
        waiting = self._waiting(b, slot)
        registers = waiting, self._widened(b, value, waiting.type)
        behind = _behind(b, address)
        if length == LINE:
            assert place.follows is not None
            with guarded(b, place.follows, "line"):
                self._leave(b, registers, address, behind, scaled)
            store(b, registers[1], slot, LINE)
            return
        with guarded(b, b.icmp_unsigned(">=", behind, i64(LINE - length)), "line"):
            self._leave(b, registers, address, behind, scaled)
        gone = length // size
        store(b, shuffle(b, *registers, range(gone, gone + total)), slot, LINE)

    def begin(self, b: ir.IRBuilder, start: ir.Value, slot: ir.Value, scaled: Scaled) -> None:
        """Store what the first line has of a run. start: of the row, whose first elements, a line's number, wait."""
        behind = _behind(b, start)
        self._part(b, self._waiting(b, slot), start, b.sub(i64(LINE), behind), scaled)

    def rest(self, b: ir.IRBuilder, end: ir.Value, slot: ir.Value, scaled: Scaled) -> None:
        """Store what waits behind the last boundary. end: of the row, whose run has a line's elements at least."""
        behind = _behind(b, end)
        with guarded(b, b.icmp_unsigned(">", behind, i64(0)), "rest"):
            waiting = self._waiting(b, slot)
            self._part(b, self._line(b, (waiting, waiting), behind), at(b, end, b.neg(behind)), behind, scaled)

    def _part(self, b: ir.IRBuilder, value: ir.Value, address: ir.Value, size: ir.Value, scaled: Scaled) -> None:
        """Store so many bytes of a vector, by an ordinary store."""
        elements = LINE // self.access.dtype.itemsize
        ragged = Ragged((elements,), {0: b.udiv(size, i64(self.access.dtype.itemsize))})
        part, register = replace(self.access, lanes=elements, ragged=ragged), Register((0,), tuple(range(elements)))
        part.store(b, scaled(b.bitcast(value, part.vector), elements), address, register, False)

    def _waiting(self, b: ir.IRBuilder, slot: ir.Value) -> ir.Value:
        size = _lane(self.access)
        return load(b, slot, ir.VectorType(ir.IntType(8 * size), LINE // size), LINE)

    def _widened(self, b: ir.IRBuilder, value: ir.Value, lanes: ir.VectorType) -> ir.Value:
        """The register in these lanes; a narrower one fills the first of them."""
        count = self.access.lanes * self.access.dtype.itemsize * lanes.count // LINE
        cast = b.bitcast(value, ir.VectorType(lanes.element, count))
        missing = lanes.count - count
        return shuffle(b, cast, None, [*range(count), *[None] * missing]) if missing else cast

    def _leave(self, b: ir.IRBuilder, registers: Pair, address: ir.Value, behind: ir.Value, scaled: Scaled) -> None:
        """Store the line that begins so many bytes before the address."""
        line, elements = self._line(b, registers, behind), LINE // self.access.dtype.itemsize
        value = scaled(b.bitcast(line, self.access.carrier(elements)), elements)
        stream(self.access.module, b, value, at(b, address, b.neg(behind)), LINE)

    def _line(self, b: ir.IRBuilder, registers: Pair, behind: ir.Value) -> ir.Value:
        """The last so many bytes of one register and the first ones of another, as many as make a line."""
        (old, new), size = registers, _lane(self.access)
        chosen = load(b, at(b, self.numbers, b.sub(i64(LINE), behind)), old.type, size)
        name = f"llvm.x86.avx512.vpermi2var.{_NAMES[size]}.512"
        return b.call(intrinsic(self.access.module, name, old.type, [old.type] * 3), [old, chosen, new])


def _behind(b: ir.IRBuilder, address: ir.Value) -> ir.Value:
    """Bytes from the boundary of lines before an address to it."""
    return b.and_(b.ptrtoint(address, I64), i64(LINE - 1), name="behind")


def _lane(access: Access) -> int:
    """Bytes of a lane that the permutation moves: elements of more have several."""
    return min(access.dtype.itemsize, 4)
