"""Extents and strides as callers of the 64-bit entries give them: an int64_t per index, in elements."""

from __future__ import annotations

from collections.abc import Sequence

from llvmlite import ir

from ttc_llvm.lazy_dataclasses import dataclass
from ttc_llvm.lowering.any_size import Slots
from ttc_llvm.problem.layouts import column_major
from ttc_llvm.problem.problem import Problem

from .extents import every
from .frame import opaque, reserved
from .values import I64, NULL, Int, at, i64, mul


@dataclass(frozen=True, slots=True)
class WideShape:
    """Extents in A's order, and the strides of A and B in their own orders, as i64. Strides mean nothing along an
    extent of 1."""

    size: tuple[ir.Value, ...]
    strides_a: tuple[ir.Value, ...]
    strides_b: tuple[ir.Value, ...]


def given_shape(
    b: ir.IRBuilder, module: ir.Module, problem: Problem, size: ir.Value, strides_a: ir.Value, strides_b: ir.Value
) -> WideShape:
    """The shape behind these pointers. size NULL: the generated extents; NULL for strides: the generated ones beside
    generated extents, else those of a tensor without padding."""
    own = b.icmp_unsigned("==", size, NULL)
    extents = _loaded(b, b.select(own, table(module, problem.size, "size"), size), len(problem.size), "size")
    sides = (
        ("strides_a", strides_a, problem.outer_a, extents),
        ("strides_b", strides_b, problem.outer_b, tuple(extents[k] for k in problem.perm)),
    )
    found = []
    for name, pointer, outer, lengths in sides:
        generated = table(module, column_major(outer), name)
        absent = b.select(own, generated, _packed(b, lengths, name))
        pointer = b.select(b.icmp_unsigned("==", pointer, NULL), absent, pointer)
        found.append(_loaded(b, pointer, len(outer), name))
    return WideShape(extents, *found)


def table(module: ir.Module, values: Sequence[int], name: str) -> ir.Value:
    """The address of a constant array of these numbers."""
    array = ir.ArrayType(I64, len(values))
    table = ir.GlobalVariable(module, array, module.get_unique_name(f"generated.{name}"))
    table.linkage, table.global_constant = "internal", True
    table.initializer = ir.Constant(array, list(values))
    return opaque(table)


def _packed(b: ir.IRBuilder, extents: Sequence[ir.Value], name: str) -> ir.Value:
    """Strides of a tensor without padding, in memory."""
    memory = reserved(b, 8 * len(extents), 8, f"packed.{name}")
    stride: Int = 1
    for k, extent in enumerate(extents):
        b.store(i64(stride), at(b, memory, 8 * k), align=8)
        stride = mul(b, stride, extent)
    return memory


def _loaded(b: ir.IRBuilder, pointer: ir.Value, count: int, name: str) -> tuple[ir.Value, ...]:
    return tuple(b.load(at(b, pointer, 8 * k), f"{name}{k}", typ=I64, align=8) for k in range(count))


def is_generated(b: ir.IRBuilder, problem: Problem, shape: WideShape) -> ir.Value:
    """True where the shape is that of the specialised bodies."""
    tests = [b.icmp_signed("==", x, i64(n)) for x, n in zip(shape.size, problem.size, strict=True)]
    sides = ((shape.strides_a, problem.outer_a, problem.size), (shape.strides_b, problem.outer_b, problem.size_b))
    for strides, outer, extents in sides:
        known = zip(strides, column_major(outer), extents, strict=True)
        tests += [b.icmp_signed("==", stride, i64(own)) for stride, own, extent in known if extent != 1]
    return every(b, tests)


def are_dense(b: ir.IRBuilder, problem: Problem, shape: WideShape) -> ir.Value:
    """True where index 0 of A and index 0 of B have stride 1, as any-size bodies want it."""
    firsts = ((shape.size[0], shape.strides_a[0]), (shape.size[problem.perm[0]], shape.strides_b[0]))
    return every(
        b,
        [b.or_(b.icmp_signed("==", n, i64(1)), b.icmp_signed("==", stride, i64(1))) for n, stride in firsts],
    )


def stored_params(b: ir.IRBuilder, problem: Problem, shape: WideShape, factor: int) -> ir.Value:
    """The parameter array of any-size and strided bodies. Where index 0 has extent 1, its stride is that of a dense
    tensor: what is merged with it takes that one."""
    slots = Slots(len(problem.perm))
    params = reserved(b, 8 * slots.count, 16, "params")
    for k, index_a in enumerate(problem.perm):
        extent = shape.size[index_a]
        stride_a, stride_b = shape.strides_a[index_a], shape.strides_b[k]
        alone = b.icmp_signed("==", extent, i64(1))
        stride_a = b.select(alone, i64(1), stride_a) if index_a == 0 else stride_a
        stride_b = b.select(alone, i64(1), stride_b) if k == 0 else stride_b
        values = (extent, mul(b, stride_a, factor), mul(b, stride_b, factor))
        for param, value in zip((slots.extent(k), slots.stride_a(k), slots.stride_b(k)), values, strict=True):
            b.store(i64(value), at(b, params, 8 * param.index), align=8)
    return params
