"""Choosing the body behind a C entry: by the values of alpha and beta, by the shape, by B's address and strides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from llvmlite import ir

from ttc_llvm.lazy_dataclasses import dataclass, replace
from ttc_llvm.lowering.any_size import Slots
from ttc_llvm.lowering.bodies import Bodies, Body, possible_kinds
from ttc_llvm.lowering.nest import LoopNest
from ttc_llvm.machine.target import Target
from ttc_llvm.problem.problem import Problem

from . import extents, wide_shapes
from .extents import Shape
from .frame import internal, reserved
from .module import SCRATCH_ALIGN, add_kernel
from .scalar_kinds import by_term, kind_number
from .tasks import add_edge, task_count, tasks_of_part
from .values import I32, I64, NULL, PTR, Int, at, guarded, i32, i64

CALL = ("a", "b", "scalars", "size", "lda", "ldb", "part", "parts")
WIDE_CALL = ("a", "b", "scalars", "size", "strides_a", "strides_b", "part", "parts")
GENERAL = ("a", "b", "scalars", "params", "part", "parts")


@dataclass(frozen=True, slots=True)
class Runs:
    """The functions that entries call. plain: sizes and outer sizes are ints; wide: sizes and strides have 64 bits."""

    plain: ir.Function
    wide: ir.Function


@dataclass(frozen=True, slots=True)
class _Object:
    """What all functions of one object share."""

    module: ir.Module
    problem: Problem
    bodies: Bodies
    target: Target
    edge: ir.Function
    merge: ir.Function | None

    def function(self, name: str, labels: Sequence[str]) -> tuple[ir.IRBuilder, dict[str, ir.Value]]:
        """A new internal function: a builder at its start, and its arguments."""
        types = [I32 if label in ("part", "parts") else PTR for label in labels]
        made = internal(self.module, ir.FunctionType(ir.VoidType(), types), name, labels)
        return ir.IRBuilder(made.append_basic_block("entry")), dict(zip(labels, made.args, strict=True))


def add_runs(module: ir.Module, problem: Problem, bodies: Bodies, target: Target) -> Runs:
    """The functions that all entries call, and all bodies behind them."""
    if problem.terms:  # of one shape only
        run = _add_run(_Object(module, problem, bodies, target, add_edge(module), None), None)
        return Runs(run, run)
    merge = extents.add_merge(module, len(problem.perm))
    shared = _Object(module, problem, bodies, target, add_edge(module), merge)
    general = _add_general(shared, "general", BodySet("any", bodies.any_size, {}))
    plain = _add_run(shared, general)
    return Runs(plain, _add_wide_run(shared, plain, general))


def _add_run(shared: _Object, general: ir.Function | None) -> ir.Function:
    """`run(A, B, scalars, size, lda, ldb, part, parts)`.

    size NULL: the generated extents, and NULL for lda or ldb the generated outer sizes. Elsewhere NULL for lda or ldb
    means no padding. Runs nothing for a part outside of [0, parts), nor where an extent is 0 or less. The specialised
    bodies' own shape is recognised by a few branches, however it is spelled.
    """
    problem, bodies = shared.problem, shared.bodies
    b, given = shared.function("run", CALL)
    with guarded(b, _is_part(b, given), "valid"):
        other, done = b.append_basic_block("general"), b.append_basic_block("done")
        if bodies.specialised:
            if general:
                extents.leave_unless_generated(b, problem, given["size"], given["lda"], given["ldb"], other)
            scratch = reserved(b, bodies.scratch, SCRATCH_ALIGN, "scratch")
            factors = by_term(b, problem, given["scalars"]) if problem.terms else None
            own = BodySet("own", bodies.specialised, {})
            _switch(b, _Call(shared, given, NULL, scratch, own, factors), other, done)
        else:
            b.branch(other)
        b.position_at_end(other)
        if general:
            _run_general(b, shared, general, given)
        b.branch(done)
        b.position_at_end(done)
    b.ret_void()
    return b.function


def _add_wide_run(shared: _Object, plain: ir.Function, general: ir.Function) -> ir.Function:
    """`run.i64(A, B, scalars, size, strides_a, strides_b, part, parts)`, NULL as in `wide_shapes.given_shape`."""
    problem, module = shared.problem, shared.module
    b, given = shared.function("run.i64", WIDE_CALL)
    sizes = [given[label] for label in ("size", "strides_a", "strides_b")]
    own, other, done = (b.append_basic_block(name) for name in ("own", "other", "done"))
    absent = extents.every(b, [b.icmp_unsigned("==", pointer, NULL) for pointer in sizes])
    b.cbranch(absent if problem.perm else extents.ALWAYS, own, other)
    b.position_at_end(own)
    b.call(plain, [given["a"], given["b"], given["scalars"], NULL, NULL, NULL, given["part"], given["parts"]])
    b.branch(done)
    b.position_at_end(other)
    if problem.perm:
        strided = _add_general(shared, "strided", BodySet("strided", shared.bodies.strided, {}))
        shape, differs = wide_shapes.given_shape(b, module, problem, *sizes), b.append_basic_block("differs")
        b.cbranch(wide_shapes.is_generated(b, problem, shape), own, differs)
        b.position_at_end(differs)
        taken = extents.every(b, extents.are_taken(b, problem, shape.size))
        with guarded(b, b.and_(taken, _is_part(b, given)), "valid"):
            params = wide_shapes.stored_params(b, problem, shape, shared.bodies.factor)
            call = [(given | {"params": params})[label] for label in GENERAL]
            with b.if_else(wide_shapes.are_dense(b, problem, shape)) as (dense, sparse):
                for branch, function in ((dense, general), (sparse, strided)):
                    with branch:
                        b.call(function, call)
    b.branch(done)
    b.position_at_end(done)
    b.ret_void()
    return b.function


def _run_general(b: ir.IRBuilder, shared: _Object, general: ir.Function, given: dict[str, ir.Value]) -> None:
    """The any-size bodies, at the generated extents or those given."""
    problem, outer = shared.problem, (given["lda"], given["ldb"])
    with b.if_else(b.icmp_unsigned("==", given["size"], NULL)) as (generated, other):
        with generated:
            if problem.elements > 0:
                shape = extents.of_generated_size(b, shared.module, problem, *outer)
                _call_general(b, shared, general, given, shape)
        with other:
            shape = extents.of_any_size(b, problem, given["size"], *outer)
            with guarded(b, extents.every(b, extents.are_taken(b, problem, shape.size)), "taken"):
                _call_general(b, shared, general, given, shape)


def _is_part(b: ir.IRBuilder, given: dict[str, ir.Value]) -> ir.Value:
    low = b.icmp_signed(">=", given["part"], i32(0))
    return b.and_(low, b.icmp_signed("<", given["part"], given["parts"]))


def _call_general(
    b: ir.IRBuilder, shared: _Object, general: ir.Function, given: dict[str, ir.Value], shape: Shape
) -> None:
    params = extents.stored_params(b, shared.problem, shape, shared.bodies.factor)
    b.call(general, [(given | {"params": params})[label] for label in GENERAL])


def _add_general(shared: _Object, name: str, unbound: BodySet) -> ir.Function:
    """The any-size or strided body of the kinds at hand, on a parameter array that it may change."""
    rank = len(shared.problem.perm)
    b, given = shared.function(name, GENERAL)
    if shared.merge and not shared.problem.inplace:  # merged axes might take the places of none
        b.call(shared.merge, [given["params"]])
    slots = [Slots(rank).extent(k).index for k in range(rank)]
    known = {slot: b.load(at(b, given["params"], 8 * slot), typ=I64, align=8) for slot in slots}
    bodies = replace(unbound, extents=known)
    done = b.append_basic_block("done")
    _switch(b, _Call(shared, given, given["params"], NULL, bodies), done, done)
    b.position_at_end(done)
    b.ret_void()
    return b.function


# --- by alpha and beta ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class BodySet:
    """Bodies of one sort. extents: of the axes whose extents are parameters, by slot."""

    label: str
    bodies: tuple[Body, ...]
    extents: Mapping[int, Int]


@dataclass(frozen=True, slots=True)
class _Call:
    """What the calls of all bodies of one function share. scalars: a sum's, in place of alpha and beta."""

    shared: _Object
    given: dict[str, ir.Value]
    params: ir.Value
    scratch: ir.Value
    bodies: BodySet
    scalars: ir.Value | None = None


def _switch(b: ir.IRBuilder, call: _Call, otherwise: ir.Block, done: ir.Block) -> None:
    """Run the body of the kinds of alpha and beta, then go to `done`; kinds without one go `otherwise`."""
    problem = call.shared.problem
    switch = b.switch(kind_number(b, call.given["scalars"], problem), otherwise)
    for body in call.bodies.bodies:
        block = b.append_basic_block(str(body.kinds))
        switch.add_case(i32(possible_kinds(problem).index(body.kinds)), block)
        b.position_at_end(block)
        _run_body(b, call, body)
        b.branch(done)


# --- by B's address and strides -------------------------------------------------------------------------


def _run_body(b: ir.IRBuilder, call: _Call, body: Body) -> None:
    name = f"{call.bodies.label}.{body.kinds}"
    labels = ("streaming", "rows")[: len(body.non_temporal)]
    named = [(nest, f"{name}.{label}") for nest, label in zip(body.non_temporal, labels, strict=True)]
    _run_first(b, call, [*named, (body.nest, name)])


def _run_first(b: ir.IRBuilder, call: _Call, nests: list[tuple[LoopNest, str]]) -> None:
    """Run the first nest for which B is aligned; the last one takes any."""
    (nest, name), *others = nests
    if not others:
        _call_kernel(b, call, nest, name)
        return
    with b.if_else(_is_aligned(b, call, nest)) as (aligned, other):
        with aligned:
            _call_kernel(b, call, nest, name)
        with other:
            _run_first(b, call, others)


def _is_aligned(b: ir.IRBuilder, call: _Call, nest: LoopNest) -> ir.Value:
    """Whether B's base is, and with it every row where only run time knows its distance."""
    places = [b.ptrtoint(call.given["b"], I64)]
    size = nest.canonical.b.itemsize
    for axis in nest.canonical.axes:
        if not isinstance(axis.stride_b, int):
            stride = b.load(at(b, call.params, 8 * axis.stride_b.index), typ=I64, align=8)
            places.append(b.mul(stride, i64(size)))
    low = b.and_(extents.union(b, places), i64(nest.alignment - 1))
    return b.icmp_unsigned("==", low, i64(0))


def _call_kernel(b: ir.IRBuilder, call: _Call, nest: LoopNest, name: str) -> None:
    shared, given = call.shared, call.given
    kernel = add_kernel(shared.module, nest, shared.target, name, internal=True)
    kernel.attributes.add("noinline")
    tasks = i64(task_count(b, nest, call.bodies.extents))
    begin, end = tasks_of_part(b, shared.edge, tasks, given["part"], given["parts"])
    scalars = call.scalars or given["scalars"]
    b.call(kernel, [given["a"], given["b"], scalars, call.params, call.scratch, begin, end])
