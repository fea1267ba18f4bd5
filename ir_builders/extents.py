"""Extents and leading dimensions as callers of C entries give them, and the parameter array of any-size bodies."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from llvmlite import ir

from ttc_llvm.lazy_dataclasses import dataclass
from ttc_llvm.lowering.any_size import Slots
from ttc_llvm.problem.interface import MAX_INT
from ttc_llvm.problem.problem import Problem

from .frame import internal, opaque, reserved
from .values import I1, I32, I64, NULL, PTR, Int, at, counted, guarded, i64, mul

ALWAYS = ir.Constant(I1, True)


@dataclass(frozen=True, slots=True)
class Shape:
    """Extents in A's order; outer sizes of A and of B without the last of each, which moves no element and is never
    read. All as i64."""

    size: tuple[Int, ...]
    lda: tuple[Int, ...]
    ldb: tuple[Int, ...]


def generated(problem: Problem) -> Shape:
    """The shape that a problem's specialised bodies are for."""
    return Shape(problem.size, problem.outer_a[:-1], problem.outer_b[:-1])


def of_generated_size(
    b: ir.IRBuilder, module: ir.Module, problem: Problem, lda: ir.Value, ldb: ir.Value
) -> Shape:
    """The problem's extents with the outer sizes behind these pointers; NULL stands for the generated ones."""
    known = generated(problem)
    sides = ((lda, known.lda, "lda"), (ldb, known.ldb, "ldb"))
    outer = [_loaded(b, _or_table(b, module, given, sizes, name), len(sizes), name) for given, sizes, name in sides]
    return Shape(known.size, *(_exact(b, *side[:2], loads) for side, loads in zip(sides, outer, strict=True)))


def of_any_size(b: ir.IRBuilder, problem: Problem, size: ir.Value, lda: ir.Value, ldb: ir.Value) -> Shape:
    """The extents behind these pointers; a NULL for outer sizes stands for no padding."""
    rank = len(problem.perm)
    extents = _loaded(b, size, rank, "size")
    outer = max(0, rank - 1)
    permuted = reserved(b, 4 * outer, 4, "size.b")
    for k in range(outer):
        b.store(b.trunc(i64(extents[problem.perm[k]]), I32), at(b, permuted, 4 * k), align=4)
    outer_a = _loaded(b, _unless_null(b, lda, size, "lda"), outer, "lda")
    outer_b = _loaded(b, _unless_null(b, ldb, permuted, "ldb"), outer, "ldb")
    return Shape(extents, outer_a, outer_b)


def _unless_null(b: ir.IRBuilder, pointer: ir.Value, otherwise: ir.Value, name: str) -> ir.Value:
    null = b.icmp_unsigned("==", pointer, NULL)
    return b.select(null, otherwise, pointer, name=name)


def _or_table(
    b: ir.IRBuilder, module: ir.Module, pointer: ir.Value, known: Sequence[Int], name: str
) -> ir.Value:
    """The pointer, or that to a table of the known sizes."""
    if not known:
        return pointer
    array = ir.ArrayType(I32, len(known))
    table = ir.GlobalVariable(module, array, f"generated.{name}")
    table.linkage = "internal"
    table.global_constant = True
    table.initializer = ir.Constant(array, [min(size, MAX_INT) if isinstance(size, int) else 0 for size in known])
    return _unless_null(b, pointer, opaque(table), name)


def _exact(b: ir.IRBuilder, pointer: ir.Value, known: Sequence[Int], loads: Sequence[ir.Value]) -> tuple[Int, ...]:
    """What was loaded, or where the pointer is NULL the known sizes, which an int may not hold."""
    if all(isinstance(size, int) and size <= MAX_INT for size in known):
        return tuple(loads)
    null = b.icmp_unsigned("==", pointer, NULL)
    return tuple(b.select(null, i64(size), load) for size, load in zip(known, loads, strict=True))


def _loaded(b: ir.IRBuilder, pointer: ir.Value, count: int, name: str) -> tuple[ir.Value, ...]:
    """So many ints as i64."""
    loads = [b.load(at(b, pointer, 4 * k), typ=I32, align=4) for k in range(count)]
    return tuple(b.sext(load, I64, name=f"{name}{k}") for k, load in enumerate(loads))


def leave_unless_generated(
    b: ir.IRBuilder, problem: Problem, size: ir.Value, lda: ir.Value, ldb: ir.Value, other: ir.Block
) -> None:
    """Continue if the shape behind these pointers is that of the specialised bodies, else branch to `other`.

    A NULL for size stands for the generated extents, and then one for lda or ldb for the generated outer sizes; beside
    a size, such a NULL stands for no padding. Branches, which processors predict, and no selects: a tensor of a few
    hundred elements is moved in the latency of these.
    """
    known = generated(problem)
    own = b.icmp_unsigned("==", size, NULL)
    _continue_if(b, size, known.size, ALWAYS, other)
    permuted = [problem.size[k] for k in problem.perm]
    for pointer, values, extents in ((lda, known.lda, problem.size), (ldb, known.ldb, permuted)):
        _continue_if(b, pointer, values, ALWAYS if values == tuple(extents[:-1]) else own, other)


def _continue_if(b: ir.IRBuilder, pointer: ir.Value, values: Sequence[Int], null: ir.Value, other: ir.Block) -> None:
    """Branch to `other` unless these ints are behind the pointer, or it is NULL and `null` holds."""
    if not values:
        return
    absent, there, same = (b.append_basic_block(name) for name in ("absent", "there", "same"))
    b.cbranch(b.icmp_unsigned("==", pointer, NULL), absent, there)
    b.position_at_end(absent)
    b.cbranch(null, same, other)
    b.position_at_end(there)
    found = _loaded(b, pointer, len(values), "given")
    b.cbranch(every(b, [b.icmp_signed("==", x, i64(y)) for x, y in zip(found, values, strict=True)]), same, other)
    b.position_at_end(same)


def every(b: ir.IRBuilder, conditions: Sequence[ir.Value]) -> ir.Value:
    """The conjunction of these conditions."""
    return reduce(lambda x, y: b.and_(x, y), conditions) if conditions else ALWAYS


def are_taken(b: ir.IRBuilder, problem: Problem, size: Sequence[Int]) -> list[ir.Value]:
    """The conditions under which entries do anything: extents are positive, and in place the permutation keeps them."""
    values = [i64(x) for x in size]
    kept = zip(values, (values[p] for p in problem.perm), strict=True) if problem.inplace else ()
    return [*(b.icmp_signed(">", x, i64(0)) for x in values), *(b.icmp_signed("==", x, y) for x, y in kept)]


def union(b: ir.IRBuilder, values: Sequence[ir.Value]) -> ir.Value:
    """The bits that are set in any of these."""
    return reduce(lambda x, y: b.or_(x, y), values)


# --- the parameter array --------------------------------------------------------------------------------


def stored_params(b: ir.IRBuilder, problem: Problem, shape: Shape, factor: int) -> ir.Value:
    """The any-size bodies' parameter array: extents, then strides of A, then strides of B, in units."""
    slots = Slots(len(problem.perm))
    params = reserved(b, 8 * slots.count, 16, "params")
    strides_a, strides_b = _strides(b, shape.lda, factor), _strides(b, shape.ldb, factor)
    for k, index_a in enumerate(problem.perm):
        values = (shape.size[index_a], strides_a[index_a], strides_b[k])
        for param, value in zip((slots.extent(k), slots.stride_a(k), slots.stride_b(k)), values, strict=True):
            b.store(i64(value), at(b, params, 8 * param.index), align=8)
    return params


def _strides(b: ir.IRBuilder, sizes: Sequence[Int], factor: int) -> list[Int]:
    strides: list[Int] = [factor]
    for size in sizes:
        strides.append(mul(b, strides[-1], size))
    return strides


def add_merge(module: ir.Module, rank: int) -> ir.Function:
    """`merge(params)`: axes that continue one another in both tensors become one, as in the canonical form.

    The merged axis has the place and the strides of the first; the others are left with extent 1. Axes of extent 1
    are passed over, so that they part nothing.
    """
    merge = internal(module, ir.FunctionType(ir.VoidType(), [PTR]), "merge", ("params",))
    b = ir.IRBuilder(merge.append_basic_block("entry"))
    (params,) = merge.args
    head_at = reserved(b, 8, 8, "head")
    b.store(i64(0), head_at, align=8)
    with counted(b, i64(rank), 1, "k", first=1) as k:
        head = b.load(head_at, "head.k", typ=I64, align=8)
        extent, first = _field(b, params, rank, 0, k), _field(b, params, rank, 0, head)
        continued = [
            b.icmp_signed("==", _field(b, params, rank, side, k), b.mul(_field(b, params, rank, side, head), first))
            for side in (1, 2)
        ]
        long = b.icmp_signed("!=", extent, i64(1))
        joins = b.and_(long, every(b, continued))
        with guarded(b, joins, "joins"):
            b.store(b.mul(first, extent), _place(b, params, rank, 0, head), align=8)
            b.store(i64(1), _place(b, params, rank, 0, k), align=8)
        b.store(b.select(b.and_(long, b.not_(joins)), k, head), head_at, align=8)
    b.ret_void()
    return merge


def _place(b: ir.IRBuilder, params: ir.Value, rank: int, row: int, k: ir.Value) -> ir.Value:
    """Where an axis' extent (row 0), stride in A (1) or in B (2) is kept."""
    return at(b, params, b.shl(b.add(k, i64(row * rank)), i64(3)))


def _field(b: ir.IRBuilder, params: ir.Value, rank: int, row: int, k: ir.Value) -> ir.Value:
    return b.load(_place(b, params, rank, row, k), typ=I64, align=8)
