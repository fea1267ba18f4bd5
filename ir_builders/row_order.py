"""The order of rows of B, where run time alone knows it: the carry of an odometer over B's rows."""

from __future__ import annotations

from collections.abc import Sequence

from llvmlite import ir

from ttc_llvm.lowering.operands import RowOrder
from ttc_llvm.problem.canonical import Axis

from .llvmlite_extensions import external
from .micro_tile import Sizes
from .values import I1, I64, Int, i64


def carry(
    module: ir.Module, b: ir.IRBuilder, sizes: Sizes, order: RowOrder, axes: Sequence[Axis], places: Sequence[Int]
) -> ir.Value:
    """The number of the axis along which the row behind these places is. axes: of the kernel."""
    lasts = [b.sub(i64(sizes(axes[k].extent)), i64(1)) for k in order.axes]
    found = [b.icmp_signed(">=", i64(place), last) for place, last in zip(places, lasts, strict=True)]
    return _number(module, b, sizes, order, found)


def start(module: ir.Module, b: ir.IRBuilder, sizes: Sizes, order: RowOrder, places: Sequence[Int]) -> ir.Value:
    """The number of the first axis of which these places are not the first row."""
    return _number(module, b, sizes, order, [b.icmp_signed("<=", i64(place), i64(0)) for place in places])


def are_all(b: ir.IRBuilder, sizes: Sizes, order: RowOrder, number: ir.Value) -> ir.Value:
    """True where `carry` or `start` found no axis."""
    return b.icmp_signed("==", number, i64(sizes(order.last)))


def _number(
    module: ir.Module, b: ir.IRBuilder, sizes: Sizes, order: RowOrder, conditions: Sequence[ir.Value]
) -> ir.Value:
    """Of the axes along which rows follow each other, the number of the first one whose condition does not hold."""
    bits: ir.Value = i64(0)
    for condition, number in zip(conditions, order.numbers, strict=True):
        bits = b.or_(bits, b.shl(b.zext(condition, I64), i64(sizes(number))))
    count = external(module, "llvm.cttz.i64", I64, [I64, I1])
    return b.call(count, [b.xor(bits, i64(-1)), ir.Constant(I1, 1)])
