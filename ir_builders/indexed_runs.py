"""Kernels for tensors of few elements: runs of B, each gathered from A through one table of offsets.

Loops over short axes cost more than the elements that they move. Here an axis is no loop: the offsets of a run's
elements in A stand in one table, those of the runs in A and B in another, and one kernel serves tensors of any number
of axes. It has the ABI of every kernel; a task is a run. Parameters: `group_fields.RUN`, and so on.
"""

from __future__ import annotations

from llvmlite import ir

from ttc_llvm.machine.target import Target

from .attributes import new_module
from .group_fields import INNER, OUTER, PADDING, RUN, UNITS
from .llvmlite_extensions import reference, written
from .memory import masked_load, masked_store
from .module import ARGUMENTS
from .values import I8, I32, I64, KERNEL_TYPE, PTR, at, beyond, counted, i64, minimum, splat

UNROLLED = 8  # elements of an iteration, at most, where they are moved one by one: no more than a line
LINE = 64
ALIGNED = 8  # bytes to whose multiples elements are aligned, at most
_CARRIERS = {1: I8, 2: ir.IntType(16), 4: I32, 8: I64, 16: ir.VectorType(I64, 2)}


def build(target: Target) -> ir.Module:
    """A module with the kernels of UNITS."""
    module = new_module(target)
    for unit, name in UNITS.items():
        _add(module, target, unit, name)
    return module


def _add(module: ir.Module, target: Target, unit: int, name: str) -> None:
    kernel = ir.Function(module, KERNEL_TYPE, name)
    kernel.attributes.add("nounwind")
    given = dict(zip(ARGUMENTS, kernel.args, strict=True))
    for label, argument in given.items():
        argument.name = label
    given["a"].add_attribute("noalias")
    given["b"].add_attribute("noalias")
    b = ir.IRBuilder(kernel.append_basic_block("entry"))
    run = b.load(at(b, given["params"], RUN), typ=I64, align=8)
    inner, outer = (b.load(at(b, given["params"], place), typ=PTR, align=8) for place in (INNER, OUTER))
    moved = _gathered if target.gathers and unit in (4, 8) else _one_by_one
    with counted(b, given["end"], 1, "run", first=given["begin"]) as number:
        pair = at(b, outer, b.mul(number, i64(8)))
        of, to = (beyond(b, given[side], _offset(b, at(b, pair, place))) for side, place in (("a", 0), ("b", 4)))
        moved(b, of, to, inner, run, unit)
    b.ret_void()


def _offset(b: ir.IRBuilder, place: ir.Value) -> ir.Value:
    return b.sext(b.load(place, typ=I32, align=4), I64)


def _one_by_one(b: ir.IRBuilder, of: ir.Value, to: ir.Value, inner: ir.Value, run: ir.Value, unit: int) -> None:
    """A run, several elements in an iteration, then those that are left."""
    carrier, align, unrolled = _CARRIERS[unit], min(unit, ALIGNED), min(UNROLLED, LINE // unit)

    def moved(element: ir.Value) -> None:
        source = beyond(b, of, _offset(b, at(b, inner, b.mul(element, i64(4)))))
        value = b.load(source, typ=carrier, align=align)
        b.store(value, at(b, to, b.mul(element, i64(unit))), align=align)

    whole = b.and_(run, i64(-unrolled))
    with counted(b, whole, unrolled, "several") as first:
        for k in range(unrolled):
            moved(b.add(first, i64(k)))
    with counted(b, run, 1, "left", first=whole) as element:
        moved(element)


def _gathered(b: ir.IRBuilder, of: ir.Value, to: ir.Value, inner: ir.Value, run: ir.Value, unit: int) -> None:
    """A run, a register in an iteration. The table has valid offsets up to a multiple of PADDING; stores are masked."""
    lanes, carrier = 64 // unit, _CARRIERS[unit]
    assert PADDING % lanes == 0
    kind, offsets = ir.VectorType(carrier, lanes), ir.VectorType(I32, lanes)
    every = ir.Constant(ir.VectorType(ir.IntType(1), lanes), [1] * lanes)
    numbers = ir.Constant(offsets, list(range(lanes)))
    with counted(b, b.add(run, i64(lanes - 1)), lanes, "register") as first:
        table = b.load(at(b, inner, b.mul(first, i64(4))), typ=offsets, align=4)
        value = _gather(b, of, table, kind, every, unit)
        left = b.trunc(i64(minimum(b, b.sub(run, first), lanes)), I32)
        mask = b.icmp_signed("<", numbers, splat(b, left, lanes))
        masked_store(b.module, b, value, at(b, to, b.mul(first, i64(unit))), mask, unit)


def _gather(
    b: ir.IRBuilder, of: ir.Value, table: ir.Value, kind: ir.VectorType, every: ir.Constant, unit: int
) -> ir.Value:
    pointers = ir.VectorType(PTR, kind.count)
    wide = b.sext(table, ir.VectorType(I64, kind.count))
    places = written(b, pointers, f"getelementptr i8, ptr {reference(of)}, {wide.type} {reference(wide)}")
    return masked_load(b.module, b, kind, places, every, unit, "undef")
