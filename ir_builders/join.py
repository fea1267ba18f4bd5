"""Lines of B that lie anywhere, without scratch: a register and what waits in its row's slot make a line that is whole.

A permutation of two registers by lanes that are known at run time only takes the line out of both, wherever the
boundary lies. The line leaves past the caches, and the row's last elements wait for the next register.
"""

from __future__ import annotations

from collections.abc import Callable

from llvmlite import ir

from .memory import Access, intrinsic
from .seam import shuffle
from .values import I64, at, guarded, i32, i64

LINE = 64  # bytes of a line, of a register, and of what waits
_NAMES = {2: "hi", 4: "d"}  # of the permutations, by bytes of a lane

Pair = tuple[ir.Value, ir.Value]
Scaled = Callable[[ir.Value, int], ir.Value]  # what becomes of so many elements on their way to B


def join(access: Access, b: ir.IRBuilder, value: ir.Value, places: Pair, count: int, scaled: Scaled) -> None:
    """Store the line that ends within the first `count` elements of a register, if one does; access: how the register
    would be stored. places: its address, any multiple of an item's size, and its row's slot. The row has to go on on
    both sides. Elements wait as they come from A."""
    (address, slot), size, length = places, min(access.dtype.itemsize, 4), count * access.dtype.itemsize
    total = LINE // size
    lanes = ir.VectorType(ir.IntType(8 * size), total)
    registers = b.load(slot, typ=lanes, align=LINE), _widened(access, b, value, lanes)
    behind = b.and_(b.ptrtoint(address, I64), i64(LINE - 1), name="behind")
    if length == LINE:
        _leave(access, b, registers, address, behind, scaled)
        b.store(registers[1], slot, align=LINE)
        return
    with guarded(b, b.icmp_unsigned(">=", behind, i64(LINE - length)), "line"):
        _leave(access, b, registers, address, behind, scaled)
    first = length // size
    b.store(shuffle(b, *registers, range(first, first + total)), slot, align=LINE)


def _widened(access: Access, b: ir.IRBuilder, value: ir.Value, lanes: ir.VectorType) -> ir.Value:
    """The register in these lanes; a narrower one fills the first of them."""
    size = LINE // lanes.count
    count = access.lanes * access.dtype.itemsize // size
    cast = b.bitcast(value, ir.VectorType(lanes.element, count))
    return cast if count == lanes.count else shuffle(b, cast, None, [*range(count), *[None] * (lanes.count - count)])


def _leave(
    access: Access, b: ir.IRBuilder, registers: Pair, address: ir.Value, behind: ir.Value, scaled: Scaled
) -> None:
    """Store the line that begins so many bytes before the address."""
    old, new = registers
    size, elements = LINE // old.type.count, LINE // access.dtype.itemsize
    chosen = b.load(at(b, _numbers(access.module, size), b.sub(i64(LINE), behind)), typ=old.type, align=size)
    name = f"llvm.x86.avx512.vpermi2var.{_NAMES[size]}.512"
    line = b.call(intrinsic(access.module, name, old.type, [old.type] * 3), [old, chosen, new])
    value = scaled(b.bitcast(line, access.carrier(elements)), elements)
    stored = b.store(value, at(b, address, b.neg(behind)), align=LINE)
    stored.set_metadata("nontemporal", access.module.add_metadata([i32(1)]))


def _numbers(module: ir.Module, size: int) -> ir.Value:
    """The numbers of both registers' lanes: a line has as many that follow each other, from some place on."""
    name, count = f"lanes{size}", 2 * LINE // size
    if name not in module.globals:
        kind = ir.ArrayType(ir.IntType(8 * size), count)
        table = ir.GlobalVariable(module, kind, name)
        table.initializer = ir.Constant(kind, list(range(count)))
        table.global_constant, table.linkage, table.align = True, "private", LINE
    return module.globals[name]
