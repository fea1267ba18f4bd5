"""The factors of a call's registers, from alpha and beta as an entry has them."""

from __future__ import annotations

from llvmlite import ir

from ttc_llvm.problem.dtypes import DType, Kind

from ..frame import internal, real_type
from ..values import I64, PTR, at, i64
from . import fields as f
from .object_calls import BETA_ONE, BETA_ZERO, COMPLEX, NO_PRODUCT

Pair = tuple[ir.Value, ir.Value]


def add_scale(module: ir.Module, dtype: DType, conjugate: tuple[bool, bool]) -> ir.Function:
    """The function `(call, scalars, swapped, is_empty)`, see `object_calls.scale`.

    scalars: the address of alpha and beta, complex ones as two numbers; swapped: rows are B's; is_empty: there is
    nothing to sum over. conjugate: A and B.
    """
    function = internal(
        module, ir.FunctionType(I64, [I64] * 4), "scale", ("call", "scalars", "swapped", "is_empty")
    )  # fmt: skip
    made = _Scale(ir.IRBuilder(function.append_basic_block("entry")), dtype)
    call, scalars, swapped, is_empty = function.args
    b = made.b
    given = [made.load(b.inttoptr(scalars, PTR), number) for number in range(2 * made.parts)]
    alpha, beta = (given[: made.parts], given[made.parts :])
    none = b.or_(b.icmp_signed("!=", is_empty, i64(0)), made.equals(alpha, 0.0))
    alpha = [b.select(none, made.real(0.0), part) for part in alpha]
    flags = b.icmp_signed("!=", swapped, i64(0))
    signs = [made.real(-1.0 if flag else 1.0) for flag in conjugate]
    left, right = (b.select(flags, signs[1 - k], signs[k]) for k in range(2))
    blocks = made.blocks(alpha, beta, left, right)
    place = b.inttoptr(call, PTR)
    for start, pairs in zip((f.CALL_FIRST, f.CALL_LATER), blocks, strict=True):
        for number, value in enumerate(x for pair in pairs for x in pair):
            b.store(value, at(b, place, start + number * made.size), align=made.size)
    is_real = b.and_(made.equals(alpha, None), made.equals(beta, None))
    found = (none, NO_PRODUCT), (made.equals(beta, 0.0), BETA_ZERO), (made.equals(beta, 1.0), BETA_ONE)
    word: ir.Value = b.select(is_real, i64(0), i64(COMPLEX))
    for condition, flag in found:
        word = b.or_(word, b.select(condition, i64(flag), i64(0)))
    b.ret(word)
    return function


class _Scale:
    """Numbers of one type."""

    def __init__(self, b: ir.IRBuilder, dtype: DType) -> None:
        self.b, self.kind, self.size = b, real_type(dtype), dtype.real_bits // 8
        self.parts = 2 if dtype.kind is Kind.COMPLEX else 1

    def real(self, value: float) -> ir.Value:
        """A constant."""
        return ir.Constant(self.kind, value)

    def load(self, place: ir.Value, number: int) -> ir.Value:
        """A number of those that lie there."""
        return self.b.load(at(self.b, place, number * self.size), typ=self.kind, align=self.size)

    def equals(self, scalar: list[ir.Value], real: float | None) -> ir.Value:
        """True where a scalar is this real number; None = any."""
        b = self.b
        found: ir.Value = ir.Constant(ir.IntType(1), 1)
        for part, wanted in zip(scalar, (real, 0.0), strict=False):
            if wanted is not None:
                found = b.and_(found, b.fcmp_ordered("==", part, self.real(wanted)))
        return found

    def blocks(
        self, alpha: list[ir.Value], beta: list[ir.Value], left: ir.Value, right: ir.Value
    ) -> tuple[list[Pair], list[Pair]]:
        """The pairs of `Arithmetic`, for the first block of terms and for later ones, which add to C.

        left, right: 1, or -1 where that tensor is conjugated."""
        zero = self.real(0.0)
        if self.parts == 1:
            head, none = (alpha[0], alpha[0]), (zero, zero)
            found = [[head, none, (x, x), none, none, none] for x in (beta[0], self.real(1.0))]
            return found[0], found[1]
        b, (p, q), both = self.b, alpha, self.b.fmul(left, right)
        product = [(p, b.fmul(p, left)), (b.fneg(b.fmul(p, both)), b.fmul(p, right))]
        other = [(b.fneg(b.fmul(q, left)), q), (b.fneg(b.fmul(q, right)), b.fneg(b.fmul(q, both)))]
        first = [*product, (beta[0], beta[0]), *other, (b.fneg(beta[1]), beta[1])]
        return first, [*product, (self.real(1.0), self.real(1.0)), *other, (zero, zero)]
