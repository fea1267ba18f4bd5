"""Lines of B that lie anywhere, without scratch: a register and what waits in its row's slot make a line that is whole.

A permutation of two registers by lanes that are known at run time only takes the line out of both, wherever the
boundary lies. The line leaves past the caches, and the row's last elements wait for the next register.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from llvmlite import ir

from ttc_llvm.operands import View

from .memory import Access, intrinsic, stream
from .seam import shuffle
from .values import I64, at, guarded, i64, table

LINE = 64  # bytes of a line, of a register, and of what waits
_NAMES = {2: "hi", 4: "d"}  # of the permutations, by bytes of a lane

Pair = tuple[ir.Value, ir.Value]
Scaled = Callable[[ir.Value, int], ir.Value]  # what becomes of so many elements on their way to B


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines from a micro-tile's registers of B. access: how they would be stored as they are; slots: where its rows
    wait; numbers: of both registers' lanes: a line has as many that follow each other, from some place on."""

    access: Access
    slots: tuple[ir.Value, View]
    numbers: ir.Value

    @classmethod
    def of(cls, access: Access, slots: tuple[ir.Value, View]) -> Lines:
        """With a table of their own."""
        size = _lane(access)
        numbers = table(access.module, ir.IntType(8 * size), range(2 * LINE // size), "lanes")
        numbers.align = LINE
        return cls(access, slots, numbers)

    def join(self, b: ir.IRBuilder, value: ir.Value, places: Pair, count: int, scaled: Scaled) -> None:
        """Store the line that ends within the first `count` elements of a register, if one does. places: the register's
        own address, any multiple of an item's size, and its row's slot. The row has to go on on both sides. Elements
        wait as they come from A."""
        (address, slot), size, length = places, _lane(self.access), count * self.access.dtype.itemsize
        total = LINE // size
        lanes = ir.VectorType(ir.IntType(8 * size), total)
        registers = b.load(slot, typ=lanes, align=LINE), self._widened(b, value, lanes)
        behind = b.and_(b.ptrtoint(address, I64), i64(LINE - 1), name="behind")
        if length == LINE:
            self._leave(b, registers, address, behind, scaled)
            b.store(registers[1], slot, align=LINE)
            return
        with guarded(b, b.icmp_unsigned(">=", behind, i64(LINE - length)), "line"):
            self._leave(b, registers, address, behind, scaled)
        first = length // size
        b.store(shuffle(b, *registers, range(first, first + total)), slot, align=LINE)

    def _widened(self, b: ir.IRBuilder, value: ir.Value, lanes: ir.VectorType) -> ir.Value:
        """The register in these lanes; a narrower one fills the first of them."""
        count = self.access.lanes * self.access.dtype.itemsize * lanes.count // LINE
        cast = b.bitcast(value, ir.VectorType(lanes.element, count))
        missing = lanes.count - count
        return shuffle(b, cast, None, [*range(count), *[None] * missing]) if missing else cast

    def _leave(self, b: ir.IRBuilder, registers: Pair, address: ir.Value, behind: ir.Value, scaled: Scaled) -> None:
        """Store the line that begins so many bytes before the address."""
        (old, new), size, elements = registers, _lane(self.access), LINE // self.access.dtype.itemsize
        chosen = b.load(at(b, self.numbers, b.sub(i64(LINE), behind)), typ=old.type, align=size)
        name = f"llvm.x86.avx512.vpermi2var.{_NAMES[size]}.512"
        line = b.call(intrinsic(self.access.module, name, old.type, [old.type] * 3), [old, chosen, new])
        value = scaled(b.bitcast(line, self.access.carrier(elements)), elements)
        stream(self.access.module, b, value, at(b, address, b.neg(behind)), LINE)


def _lane(access: Access) -> int:
    """Bytes of a lane that the permutation moves: elements of more have several."""
    return min(access.dtype.itemsize, 4)
