"""The kinds of alpha and beta, found at run time from their values."""

from __future__ import annotations

from llvmlite import ir

from ttc_llvm.lowering.bodies import SCALE, SCALE_B, ZERO, possible_kinds
from ttc_llvm.problem.dtypes import DType
from ttc_llvm.problem.kinds import COPY, UPDATE
from ttc_llvm.problem.problem import Problem

from . import extents
from .carriers import parts_per_element
from .frame import real_type
from .values import at, i32


def kind_number(b: ir.IRBuilder, scalars: ir.Value, problem: Problem) -> ir.Value:
    """The position in `possible_kinds` of the kinds of alpha and beta, by the rule of `Kinds.of`."""
    kinds = possible_kinds(problem)
    if len(kinds) == 1:
        return i32(0)
    copy, scale, update, zero, scale_b = (
        i32(kinds.index(kind)) for kind in (COPY, SCALE, UPDATE, ZERO, SCALE_B)
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
    return extents.every(b, tests)
