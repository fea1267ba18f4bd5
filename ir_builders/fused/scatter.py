"""Tiles at the edges of C, or whose rows lie apart: registers are written at tabled offsets, or element by element."""

from __future__ import annotations

from itertools import product

from llvmlite import ir

from ttc_llvm.lowering.micro_kernel import MicroKernel

from ..frame import words_function
from ..llvmlite_extensions import reference, shuffle, vector_type, written
from ..memory import masked_load, masked_store
from ..values import I64, PTR, at, counted, i64, splat
from ..vector_loads import load
from .arithmetic import CROSSED, OLD, OLD_SWAPPED, STRAIGHT, SUM, SUM_SWAPPED, Arithmetic, vector
from .calls import ADD, SET, TURNED
from .rows_of_c import APART

ARGUMENTS = ("tile", "c", "rows", "columns", "scalars", "way", "m", "n", "flags")


def add_scatter(module: ir.Module, kernel: MicroKernel, name: str = "scatter_tile") -> ir.Function:
    """The function `(tile, c, rows, columns, scalars, way, m, n, flags)`, of words and addresses: the first m rows and
    n columns of a tile that was kept go to C, way by way.

    rows, columns: their offsets in bytes; flags: of registers whose rows do not follow each other
    (`rows_of_c.APART`)."""
    b = words_function(module, name, ARGUMENTS)
    *words, way, m, n, flags = b.function.args
    made = _Scatter(module, b, kernel, [b.inttoptr(word, PTR) for word in words])
    done = b.append_basic_block("done")
    choice = b.switch(way, done)
    for one, turned in product((SET, ADD), (False, True)[: kernel.parts]):
        block = b.append_basic_block("way")
        choice.add_case(i64(one + turned * TURNED), block)
        b.position_at_end(block)
        with counted(b, n, 1, "column") as column:
            made.column(column, m, flags, one == ADD, turned)
        b.branch(done)
    b.position_at_end(done)
    b.ret(i64(0))
    return b.function


class _Scatter:
    """One function: its addresses."""

    def __init__(self, module: ir.Module, b: ir.IRBuilder, kernel: MicroKernel, addresses: list[ir.Value]) -> None:
        self._module, self._b, self._kernel, self._kind = module, b, kernel, vector(kernel)
        self._tile, self._c, self._rows, self._columns, scalars = addresses
        self._arithmetic = Arithmetic(module, b, kernel, scalars)

    def column(self, column: ir.Value, m: ir.Value, flags: ir.Value, adds: bool, turned: bool) -> None:
        """Write one column."""
        b = self._b
        place = at(b, self._c, load(b, at(b, self._columns, b.mul(column, i64(8))), I64, 8))
        for register in range(self._kernel.vectors):
            mask, value = self._mask(register, m), self._product(column, register, turned)
            apart = b.icmp_signed("!=", b.and_(flags, i64(APART << register)), i64(0))
            with b.if_else(apart) as (one_by_one, together):
                for branch, reached in ((one_by_one, self._elements), (together, self._row)):
                    with branch:
                        self._update(value, reached(place, register), mask, adds, turned)

    def _update(self, value: ir.Value, where: ir.Value, mask: ir.Value, adds: bool, turned: bool) -> None:
        align = self._kernel.dtype.real_bits // 8
        if adds:
            arithmetic = self._arithmetic
            old = masked_load(self._module, self._b, self._kind, where, mask, align, "undef")
            value = arithmetic.added(arithmetic.factor(OLD), old, value)
            if turned:
                value = arithmetic.added(arithmetic.factor(OLD_SWAPPED), arithmetic.swapped(old), value)
        masked_store(self._module, self._b, value, where, mask, align)

    def _product(self, column: ir.Value, register: int, turned: bool) -> ir.Value:
        arithmetic, parts = self._arithmetic, self._kernel.parts
        sums = [self._kept(column, part, register) for part in range(parts)]
        value = arithmetic.times(arithmetic.factor(SUM), sums[0])
        if parts > 1:
            value = arithmetic.added(arithmetic.factor(CROSSED), arithmetic.swapped(sums[1]), value)
        if turned:
            value = arithmetic.added(arithmetic.factor(SUM_SWAPPED), arithmetic.swapped(sums[0]), value)
            value = arithmetic.added(arithmetic.factor(STRAIGHT), sums[1], value)
        return value

    def _kept(self, column: ir.Value, part: int, register: int) -> ir.Value:
        b, kernel = self._b, self._kernel
        size = kernel.lanes * kernel.dtype.real_bits // 8
        of_column = b.mul(column, i64(kernel.parts * kernel.vectors * size))
        return load(b, at(b, at(b, self._tile, of_column), (part * kernel.vectors + register) * size), self._kind, size)

    def _mask(self, register: int, m: ir.Value) -> ir.Value:
        """The lanes of rows that exist."""
        b, kernel = self._b, self._kernel
        rows = [register * kernel.group + lane // kernel.parts for lane in range(kernel.lanes)]
        return b.icmp_signed("<", ir.Constant(vector_type(I64, kernel.lanes), rows), splat(b, m, kernel.lanes))

    def _row(self, place: ir.Value, register: int) -> ir.Value:
        """The address of a register whose rows follow each other."""
        b = self._b
        return at(b, place, load(b, at(b, self._rows, 8 * self._kernel.group * register), I64, 8))

    def _elements(self, place: ir.Value, register: int) -> ir.Value:
        """The addresses of all lanes."""
        b, kernel = self._b, self._kernel
        offsets = load(b, at(b, self._rows, 8 * kernel.group * register), vector_type(I64, kernel.group), 8)
        if kernel.parts > 1:
            offsets = shuffle(b, offsets, None, [lane // 2 for lane in range(kernel.lanes)])
            odd = [lane % 2 * kernel.dtype.real_bits // 8 for lane in range(kernel.lanes)]
            offsets = b.add(offsets, ir.Constant(offsets.type, odd))
        where = b.add(splat(b, b.ptrtoint(place, I64), kernel.lanes), offsets)
        kind = vector_type(PTR, kernel.lanes)
        return written(b, kind, f"inttoptr {where.type} {reference(where)} to {kind}")
