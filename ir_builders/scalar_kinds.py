"""The kinds of alpha and beta, found at run time from their values."""

from __future__ import annotations

import itertools

from llvmlite import ir

from ttc_llvm.lowering.bodies import SCALE, SCALE_B, ZERO, possible_kinds
from ttc_llvm.problem.dtypes import DType
from ttc_llvm.problem.kinds import COPY, UPDATE
from ttc_llvm.problem.problem import Problem

from . import extents
from .carriers import parts_per_element
from .frame import real_type, reserved
from .values import at, i32


def kind_number(b: ir.IRBuilder, scalars: ir.Value, problem: Problem) -> ir.Value:
    """The position in `possible_kinds` of the kinds of alpha and beta, by the rule of `Kinds.of`."""
    kinds = possible_kinds(problem)
    if len(kinds) == 1:
        return i32(0)
    copy, scale, update, zero, scale_b = (
        i32(kinds.index(kind)) for kind in (COPY if COPY in kinds else SCALE, SCALE, UPDATE, ZERO, SCALE_B)
    )
    no_beta = _equals(b, scalars, problem.compute, 1, 0.0)
    reads_a = b.select(no_beta, b.select(_equals(b, scalars, problem.compute, 0, 1.0), copy, scale), update)
    return b.select(_equals(b, scalars, problem.compute, 0, 0.0), b.select(no_beta, zero, scale_b), reads_a)


def by_term(b: ir.IRBuilder, problem: Problem, scalars: ir.Value) -> ir.Value:
    """The scalars of a sum's kernels in memory: alpha times each term's factor, beta after the first."""
    compute = problem.compute
    part, parts, size = real_type(compute), parts_per_element(compute), compute.real_bits // 8
    loaded: list[ir.Value] = [b.load(at(b, scalars, k * size), typ=part, align=size) for k in range(2 * parts)]
    alpha, beta = loaded[:parts], loaded[parts:]
    products = [_product(b, alpha, factor) for factor, _ in problem.terms]
    memory = reserved(b, (len(products) + 1) * parts * size, 16, "factors")
    for number, value in enumerate(itertools.chain(products[0], beta, *products[1:])):
        b.store(value, at(b, memory, number * size), align=size)
    return memory


def _product(b: ir.IRBuilder, alpha: list[ir.Value], factor: complex) -> list[ir.Value]:
    """alpha times a number, part by part."""
    real, imaginary = (ir.Constant(alpha[0].type, x) for x in (complex(factor).real, complex(factor).imag))
    if len(alpha) == 1:
        return [b.fmul(alpha[0], real)]
    return [
        b.fsub(b.fmul(alpha[0], real), b.fmul(alpha[1], imaginary)),
        b.fadd(b.fmul(alpha[0], imaginary), b.fmul(alpha[1], real)),
    ]


def _equals(b: ir.IRBuilder, scalars: ir.Value, compute: DType, number: int, real: float) -> ir.Value:
    """True where the scalar of this number is the real number given."""
    part, parts, size = real_type(compute), parts_per_element(compute), compute.real_bits // 8
    tests = []
    for k in range(parts):
        value = b.load(at(b, scalars, (number * parts + k) * size), typ=part, align=size)
        tests.append(b.fcmp_ordered("==", value, ir.Constant(part, real if k == 0 else 0.0)))
    return extents.every(b, tests)
