"""The task grid behind a C entry: how many tasks a nest has, and which of them a part runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from llvmlite import ir

from ttc_llvm.canonical import Param, Size
from ttc_llvm.nest import LoopNest

from .frame import internal
from .values import I64, Int, i64, mul

EDGE_TYPE = ir.FunctionType(I64, [I64] * 3)


def task_count(b: ir.IRBuilder, nest: LoopNest, extents: Mapping[int, Int]) -> Int:
    """Size of a nest's task grid. extents: of the axes whose extents are parameters, by slot."""
    total: Int = 1
    for loop in nest.grid:
        total = mul(b, total, _trips(b, _known(loop.extent, extents), loop.step))
    return total


def _known(size: Size, extents: Mapping[int, Int]) -> Int:
    return extents[size.index] if isinstance(size, Param) else size


def _trips(b: ir.IRBuilder, extent: Int, step: int) -> Int:
    if isinstance(extent, int):
        return -(-extent // step)
    return b.udiv(b.add(extent, i64(step - 1)), i64(step))


def add_edge(module: ir.Module) -> ir.Function:
    """`edge(tasks, number, parts)` = tasks * number / parts, rounded down: where part `number` begins.

    The rule of `nest.part_range`, split so that no product overflows; the outermost edges cost no division.
    """
    edge = internal(module, EDGE_TYPE, "edge", ("tasks", "number", "parts"))
    tasks, number, parts = edge.args
    b = ir.IRBuilder(edge.append_basic_block("entry"))
    with _returning(b, b.icmp_signed("==", number, i64(0)), "first"):
        b.ret(i64(0))
    with _returning(b, b.icmp_signed("==", number, parts), "last"):
        b.ret(tasks)
    each, rest = b.udiv(tasks, parts), b.urem(tasks, parts)
    b.ret(b.add(b.mul(each, number), b.udiv(b.mul(rest, number), parts)))
    return edge


@contextmanager
def _returning(b: ir.IRBuilder, condition: ir.Value, name: str) -> Iterator[None]:
    """A block that returns where the condition holds."""
    inside, after = b.append_basic_block(name), b.append_basic_block(f"{name}.not")
    b.cbranch(condition, inside, after)
    b.position_at_end(inside)
    yield
    b.position_at_end(after)
