"""The task grid behind a C entry: how many tasks a nest has, and which of them a part runs."""

from __future__ import annotations

from collections.abc import Mapping

from llvmlite import ir

from ttc_llvm.lowering.nest import LoopNest
from ttc_llvm.problem.canonical import Param, Size

from .frame import internal
from .values import I64, Int, add, guarded, i32, i64, mul, steps

EDGE_TYPE = ir.FunctionType(I64, [I64] * 3)


def task_count(b: ir.IRBuilder, nest: LoopNest, extents: Mapping[int, Int]) -> Int:
    """Size of a nest's task grid. extents: of the axes whose extents are parameters, by slot."""
    total: Int = 1
    for loop in nest.grid:
        extent = add(b, _known(loop.extent, extents), loop.early)
        total = mul(b, total, steps(b, extent, loop.step))
    return total


def _known(size: Size, extents: Mapping[int, Int]) -> Int:
    return extents[size.index] if isinstance(size, Param) else size


def add_edge(module: ir.Module) -> ir.Function:
    """`edge(tasks, number, parts)` = tasks * number / parts, rounded down: where part `number` begins.

    So parts are balanced and contiguous. Split so that no product overflows.
    """
    edge = internal(module, EDGE_TYPE, "edge", ("tasks", "number", "parts"))
    tasks, number, parts = edge.args
    b = ir.IRBuilder(edge.append_basic_block("entry"))
    each, rest = b.udiv(tasks, parts), b.urem(tasks, parts)
    b.ret(b.add(b.mul(each, number), b.udiv(b.mul(rest, number), parts)))
    return edge


def tasks_of_part(
    b: ir.IRBuilder, edge: ir.Function, tasks: ir.Value, part: ir.Value, parts: ir.Value
) -> tuple[ir.Value, ir.Value]:
    """The tasks [begin, end) of a part in [0, parts). A single part has all of them, at no cost: for small tensors
    two divisions would be felt."""
    before = b.block
    with guarded(b, b.icmp_signed("!=", parts, i32(1)), "parts"):
        number, count = b.sext(part, I64), b.sext(parts, I64)
        first = b.call(edge, [tasks, number, count])
        last = b.call(edge, [tasks, b.add(number, i64(1)), count])
        inside = b.block
    begin, end = b.phi(I64, "begin"), b.phi(I64, "end")
    for phi, whole, of_part in ((begin, i64(0), first), (end, tasks, last)):
        phi.add_incoming(whole, before)
        phi.add_incoming(of_part, inside)
    return begin, end
