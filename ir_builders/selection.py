"""Choosing the body behind a C entry: by the values of alpha and beta, by lda and ldb, by B's address."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

from llvmlite import ir

from ttc_llvm.any_size import Slots
from ttc_llvm.bodies import SCALE, SCALE_B, ZERO, Bodies, Body, possible_kinds
from ttc_llvm.canonical import COPY, UPDATE
from ttc_llvm.dtypes import DType
from ttc_llvm.nest import LoopNest
from ttc_llvm.problem import Problem
from ttc_llvm.target import Target

from .frame import internal, opaque, real_type, reserved
from .module import add_kernel
from .scale import parts_per_element
from .tasks import add_edge, task_count
from .values import I32, I64, PTR, Int, at, guarded, i64, mul

RUN_TYPE = ir.FunctionType(ir.VoidType(), [PTR] * 5 + [I32] * 2)
SCRATCH_ALIGN = 64


@dataclass(frozen=True, slots=True)
class _Call:
    """What the calls of all bodies share."""

    module: ir.Module
    target: Target
    a: ir.Value
    b: ir.Value
    scalars: ir.Value
    params: ir.Value
    scratch: ir.Value
    edge: ir.Function
    part: ir.Value  # i64
    parts: ir.Value  # i64


@dataclass(frozen=True, slots=True)
class _Set:
    """Bodies of one sort. extents: of the axes whose extents are parameters, by slot."""

    label: str
    bodies: tuple[Body, ...]
    extents: Mapping[int, Int]


def add_run(module: ir.Module, problem: Problem, bodies: Bodies, target: Target) -> ir.Function:
    """`run(A, B, scalars, lda, ldb, part, parts)`: a part outside of [0, parts) runs nothing."""
    run = internal(module, RUN_TYPE, "run", ("a", "b", "scalars", "lda", "ldb", "part", "parts"))
    a, out, scalars, lda, ldb, part, parts = run.args
    b = ir.IRBuilder(run.append_basic_block("entry"))
    if problem.elements > 0:
        params = reserved(b, 8 * Slots(len(problem.perm)).count, 16, "params")
        scratch = reserved(b, bodies.scratch, SCRATCH_ALIGN, "scratch")
        valid = b.and_(b.icmp_signed(">=", part, ir.Constant(I32, 0)), b.icmp_signed("<", part, parts))
        with guarded(b, valid, "valid"):
            wide, wides = b.sext(part, I64), b.sext(parts, I64)
            call = _Call(module, target, a, out, scalars, params, scratch, add_edge(module), wide, wides)
            _choose(b, call, problem, bodies, _outer(b, module, problem, lda, ldb))
    b.ret_void()
    return run


@dataclass(frozen=True, slots=True)
class _Outer:
    """lda and ldb as the caller gave them, without the last entry of each, which moves no element and is
    never read. generated: whether they are those of the problem; None = they cannot differ."""

    a: list[ir.Value]
    b: list[ir.Value]
    generated: ir.Value | None


def _outer(b: ir.IRBuilder, module: ir.Module, problem: Problem, lda: ir.Value, ldb: ir.Value) -> _Outer:
    known = (*problem.outer_a[:-1], *problem.outer_b[:-1])
    sizes_a = _loaded(b, module, lda, problem.outer_a[:-1], "lda")
    sizes_b = _loaded(b, module, ldb, problem.outer_b[:-1], "ldb")
    equal = [b.icmp_signed("==", x, i64(y)) for x, y in zip((*sizes_a, *sizes_b), known, strict=True)]
    return _Outer(sizes_a, sizes_b, _all(b, equal) if equal else None)


def _all(b: ir.IRBuilder, conditions: Sequence[ir.Value]) -> ir.Value:
    return reduce(lambda x, y: b.and_(x, y), conditions)


def _loaded(
    b: ir.IRBuilder, module: ir.Module, pointer: ir.Value, generated: tuple[int, ...], name: str
) -> list[ir.Value]:
    """Outer sizes as i64; NULL stands for the generated ones."""
    if not generated:
        return []
    array = ir.ArrayType(I32, len(generated))
    table = ir.GlobalVariable(module, array, f"generated.{name}")
    table.linkage = "internal"
    table.global_constant = True
    table.initializer = ir.Constant(array, list(generated))
    null = b.icmp_unsigned("==", pointer, ir.Constant(PTR, None))
    chosen = b.select(null, opaque(table), pointer, name=name)
    loads = [b.load(at(b, chosen, 4 * k), typ=I32, align=4) for k in range(len(generated))]
    return [b.sext(load, I64, name=f"{name}{k}") for k, load in enumerate(loads)]


def _choose(b: ir.IRBuilder, call: _Call, problem: Problem, bodies: Bodies, outer: _Outer) -> None:
    """Specialised bodies for the generated leading dimensions, any-size ones for the rest."""
    number = _kind_number(b, call.scalars, problem)
    general = b.append_basic_block("general")
    done = b.append_basic_block("done")
    if outer.generated is not None:
        generated = b.append_basic_block("generated")
        b.cbranch(outer.generated, generated, general)
        b.position_at_end(generated)
    _switch(b, call, problem, _Set("own", bodies.specialised, {}), number, general, done)
    b.position_at_end(general)
    _store_params(b, call.params, problem, outer, bodies.factor)
    slots = Slots(len(problem.perm))
    extents = {slots.extent(k).index: extent for k, extent in enumerate(problem.size_b)}
    _switch(b, call, problem, _Set("any", bodies.any_size, extents), number, done, done)
    b.position_at_end(done)


def _kind_number(b: ir.IRBuilder, scalars: ir.Value, problem: Problem) -> ir.Value:
    """The position in `possible_kinds` of what alpha and beta ask for; the rule of `Kinds.of`."""
    kinds = possible_kinds(problem)
    if len(kinds) == 1:
        return ir.Constant(I32, 0)
    copy, scale, update, zero, scale_b = (
        ir.Constant(I32, kinds.index(kind)) for kind in (COPY, SCALE, UPDATE, ZERO, SCALE_B)
    )
    no_beta = _equals(b, scalars, problem.compute, 1, 0.0)
    reads_a = b.select(no_beta, b.select(_equals(b, scalars, problem.compute, 0, 1.0), copy, scale), update)
    return b.select(_equals(b, scalars, problem.compute, 0, 0.0), b.select(no_beta, zero, scale_b), reads_a)


def _equals(b: ir.IRBuilder, scalars: ir.Value, compute: DType, number: int, real: float) -> ir.Value:
    """True where the scalar of this number is the real number given."""
    part, parts, size = real_type(compute), parts_per_element(compute), compute.real_bits // 8
    tests = []
    for k in range(parts):
        value = b.load(at(b, scalars, (number * parts + k) * size), typ=part, align=size)
        tests.append(b.fcmp_ordered("==", value, ir.Constant(part, real if k == 0 else 0.0)))
    return _all(b, tests)


def _switch(
    b: ir.IRBuilder,
    call: _Call,
    problem: Problem,
    bodies: _Set,
    number: ir.Value,
    otherwise: ir.Block,
    done: ir.Block,
) -> None:
    """Run the body of the kind with this number, then go to `done`; a kind without one goes `otherwise`."""
    switch = b.switch(number, otherwise)
    for body in bodies.bodies:
        block = b.append_basic_block(str(body.kinds))
        switch.add_case(ir.Constant(I32, possible_kinds(problem).index(body.kinds)), block)
        b.position_at_end(block)
        _run_body(b, call, body, bodies)
        b.branch(done)


def _run_body(b: ir.IRBuilder, call: _Call, body: Body, bodies: _Set) -> None:
    name, extents = f"{bodies.label}.{body.kinds}", bodies.extents
    if body.streaming is None:
        _call_kernel(b, call, body.nest, extents, name)
        return
    low = b.and_(b.ptrtoint(call.b, I64), i64(body.streaming.alignment - 1))
    with b.if_else(b.icmp_unsigned("==", low, i64(0))) as (aligned, other):
        with aligned:
            _call_kernel(b, call, body.streaming, extents, f"{name}.streaming")
        with other:
            _call_kernel(b, call, body.nest, extents, name)


def _call_kernel(b: ir.IRBuilder, call: _Call, nest: LoopNest, extents: Mapping[int, Int], name: str) -> None:
    kernel = add_kernel(call.module, nest, call.target, name, internal=True)
    kernel.attributes.add("noinline")
    tasks = i64(task_count(b, nest, extents))
    begin = b.call(call.edge, [tasks, call.part, call.parts])
    end = b.call(call.edge, [tasks, b.add(call.part, i64(1)), call.parts])
    b.call(kernel, [call.a, call.b, call.scalars, call.params, call.scratch, begin, end])


def _store_params(b: ir.IRBuilder, params: ir.Value, problem: Problem, outer: _Outer, factor: int) -> None:
    """The any-size bodies' parameter array: extents, then strides of A, then strides of B, in units."""
    slots = Slots(len(problem.perm))
    strides_a, strides_b = _strides(b, outer.a, factor), _strides(b, outer.b, factor)
    for k, index_a in enumerate(problem.perm):
        values = (problem.size_b[k], strides_a[index_a], strides_b[k])
        for param, value in zip((slots.extent(k), slots.stride_a(k), slots.stride_b(k)), values, strict=True):
            b.store(i64(value), at(b, params, 8 * param.index), align=8)


def _strides(b: ir.IRBuilder, sizes: list[ir.Value], factor: int) -> list[Int]:
    strides: list[Int] = [factor]
    for size in sizes:
        strides.append(mul(b, strides[-1], size))
    return strides
