"""C entry points of an object.

    name(A, B, alpha, lda, ldb)             name_beta(A, B, alpha, beta, lda, ldb)
    name_part(..., part, parts)             name_beta_part(..., part, parts)

All of them store the scalars in memory and call one internal `run`, which chooses the body. Plain moves
have no scalars, hence only `name` and `name_part`. Nothing outside the module is called.
"""

from __future__ import annotations

from llvmlite import ir

from ttc_llvm import names
from ttc_llvm.bodies import Bodies
from ttc_llvm.dtypes import DType, Kind
from ttc_llvm.problem import Problem
from ttc_llvm.target import Target

from . import attributes, selection
from .frame import real_type, reserved
from .module import new_module
from .scale import parts_per_element
from .values import I32, PTR, at


def build(problem: Problem, bodies: Bodies, target: Target) -> ir.Module:
    """A module with the problem's C entries and all bodies behind them. Equal input, equal text."""
    module = new_module(target, names.stem(problem))
    run = selection.add_run(module, problem, bodies, target)
    attributes.length_known(module.functions, target)
    for beta, part in names.variants(problem):
        _entry(module, problem, run, beta, part)
    return module


def _entry(module: ir.Module, problem: Problem, run: ir.Function, beta: bool, part: bool) -> None:
    types = _parameters(problem.compute, beta, part)
    signature = ir.FunctionType(ir.VoidType(), list(types.values()))
    entry = ir.Function(module, signature, names.entry(problem, beta, part))
    entry.attributes.add("nounwind")
    for name, argument in zip(types, entry.args, strict=True):
        argument.name = name
    given: dict[str, ir.Value] = dict(zip(types, entry.args, strict=True))
    b = ir.IRBuilder(entry.append_basic_block("entry"))
    scalars = _stored(b, problem.compute, given.get("alpha"), given.get("beta"))
    which = [given.get("part", ir.Constant(I32, 0)), given.get("parts", ir.Constant(I32, 1))]
    b.call(run, [given["A"], given["B"], scalars, given["lda"], given["ldb"], *which])
    b.ret_void()


def _parameters(compute: DType, beta: bool, part: bool) -> dict[str, ir.Type]:
    """Names and types of an entry's parameters, in order."""
    scalars = [] if compute.kind is Kind.OPAQUE else ["alpha", "beta"] if beta else ["alpha"]
    return {
        **dict.fromkeys(("A", "B"), PTR),
        **{name: PTR if compute.kind is Kind.COMPLEX else real_type(compute) for name in scalars},
        **dict.fromkeys(("lda", "ldb"), PTR),
        **dict.fromkeys(("part", "parts") if part else (), I32),
    }


def _stored(b: ir.IRBuilder, compute: DType, alpha: ir.Value | None, beta: ir.Value | None) -> ir.Value:
    """alpha's parts, then beta's, in memory; an absent beta is 0. Complex scalars come by pointer."""
    if alpha is None:
        return ir.Constant(PTR, None)
    part, parts = real_type(compute), parts_per_element(compute)
    size = compute.real_bits // 8
    memory = reserved(b, 2 * parts * size, 16, "scalars")
    for number, scalar in enumerate((alpha, beta)):
        for k in range(parts):
            value = ir.Constant(part, 0.0) if scalar is None else scalar
            if parts > 1 and scalar is not None:
                value = b.load(at(b, scalar, k * size), typ=part, align=size)
            b.store(value, at(b, memory, (number * parts + k) * size), align=size)
    return memory
