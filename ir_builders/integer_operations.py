"""Operations on 64-bit integers as a few instructions: Python's operators, and the functions of `words`."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from llvmlite import ir

from . import words
from .llvmlite_extensions import reference, written
from .memory import L2, fence, prefetch, store_non_temporal
from .values import I8, I32, I64, PTR, i64

Operation = Callable[[ir.IRBuilder, ir.Value, ir.Value], ir.Value]


def condition(b: ir.IRBuilder, value: ir.Value) -> ir.Value:
    """An i1 that is true where the value is not 0."""
    return b.icmp_signed("!=", value, i64(0))


def _divided(b: ir.IRBuilder, x: ir.Value, y: ir.Value) -> ir.Value:
    """Rounded down: one less than the processor's quotient where that was rounded up."""
    return b.sub(b.sdiv(x, y), b.zext(_rounds_up(b, x, y), I64))


def _rest(b: ir.IRBuilder, x: ir.Value, y: ir.Value) -> ir.Value:
    return b.add(b.srem(x, y), b.select(_rounds_up(b, x, y), y, i64(0)))


def _rounds_up(b: ir.IRBuilder, x: ir.Value, y: ir.Value) -> ir.Value:
    rest = b.srem(x, y)
    return b.and_(condition(b, rest), b.icmp_signed("<", b.xor(rest, y), i64(0)))


BINARY: dict[type[ast.operator], Operation] = {
    ast.Add: lambda b, x, y: b.add(x, y),
    ast.Sub: lambda b, x, y: b.sub(x, y),
    ast.Mult: lambda b, x, y: b.mul(x, y),
    ast.FloorDiv: _divided,
    ast.Mod: _rest,
    ast.LShift: lambda b, x, y: b.shl(x, y),
    ast.RShift: lambda b, x, y: b.ashr(x, y),
    ast.BitAnd: lambda b, x, y: b.and_(x, y),
    ast.BitOr: lambda b, x, y: b.or_(x, y),
    ast.BitXor: lambda b, x, y: b.xor(x, y),
}
UNARY: dict[type[ast.unaryop], Callable[[ir.IRBuilder, ir.Value], ir.Value]] = {
    ast.USub: lambda b, x: b.neg(x),
    ast.Invert: lambda b, x: b.not_(x),
    ast.Not: lambda b, x: b.zext(b.icmp_signed("==", x, i64(0)), I64),
    ast.UAdd: lambda b, x: x,
}
COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
}  # fmt: skip


def _smaller(b: ir.IRBuilder, x: ir.Value, y: ir.Value) -> ir.Value:
    return b.select(b.icmp_signed("<", x, y), x, y)


def _larger(b: ir.IRBuilder, x: ir.Value, y: ir.Value) -> ir.Value:
    return b.select(b.icmp_signed(">", x, y), x, y)


def _load(kind: ir.IntType, extend: str) -> Callable[..., ir.Value]:
    def made(b: ir.IRBuilder, address: ir.Value) -> ir.Value:
        value = b.load(_pointer(b, address), typ=kind, align=kind.width // 8)
        return value if kind == I64 else getattr(b, extend)(value, I64)

    return made


def _store(kind: ir.IntType) -> Callable[..., ir.Value]:
    def made(b: ir.IRBuilder, address: ir.Value, value: ir.Value) -> ir.Value:
        b.store(value if kind == I64 else b.trunc(value, kind), _pointer(b, address), align=kind.width // 8)
        return i64(0)

    return made


def _call(kind: ir.IntType) -> Callable[..., ir.Value]:
    def made(b: ir.IRBuilder, function: ir.Value, *arguments: ir.Value) -> ir.Value:
        signature = ir.FunctionType(kind, [I64] * len(arguments))
        result = b.call(b.inttoptr(function, signature.as_pointer()), arguments)
        return result if kind == I64 else b.sext(result, I64)

    return made


def _rounded32(b: ir.IRBuilder, bits: ir.Value) -> ir.Value:
    single = b.fptrunc(b.bitcast(bits, ir.DoubleType()), ir.FloatType())
    return b.zext(b.bitcast(single, I32), I64)


def _compare_exchange(b: ir.IRBuilder, address: ir.Value, expected: ir.Value, value: ir.Value) -> ir.Value:
    found = b.cmpxchg(_pointer(b, address), expected, value, "seq_cst")
    return b.zext(b.extract_value(found, 1), I64)


def _store_release(b: ir.IRBuilder, address: ir.Value, value: ir.Value) -> ir.Value:
    b.store_atomic(value, b.inttoptr(address, I64.as_pointer()), "release", 8)
    return i64(0)


def _copy_line_past(b: ir.IRBuilder, to: ir.Value, of: ir.Value) -> ir.Value:
    line = b.load(_pointer(b, of), typ=ir.VectorType(I64, 8), align=1)
    store_non_temporal(b.module, b, line, _pointer(b, to), 64)
    return i64(0)


def moved(b: ir.IRBuilder, to: ir.Value, of: ir.Value, size: int) -> ir.Value:
    """Copy so many bytes, a power of two, as one value."""
    kind = ir.IntType(8 * size) if size <= 8 else ir.VectorType(I64, size // 8)
    b.store(b.load(_pointer(b, of), typ=kind, align=1), _pointer(b, to), align=1)
    return i64(0)


def picked(b: ir.IRBuilder, to: ir.Value, of: ir.Value, width: int, step: int, first: int) -> ir.Value:
    """Copy every `step`-th item, backwards where `step` is negative: whole vectors are loaded, and each but the first
    takes a shuffle."""
    unit = min(width, 8)
    parts, lanes = width // unit, 64 // unit
    kind = ir.VectorType(ir.IntType(8 * unit), lanes)
    items = range(first, abs(step) * 64 // width, abs(step))[:: 1 if step > 0 else -1]
    places = [divmod(items[lane // parts] * parts + lane % parts, lanes) for lane in range(lanes)]
    vectors = [b.load(_pointer(b, b.add(of, i64(64 * k))), typ=kind, align=1) for k in range(abs(step))]
    result: ir.Value = vectors[0]
    for k in range(1, abs(step)):
        from_result = range(lanes) if k > 1 else [place for _, place in places]
        mask = [lanes + place if where == k else here for (where, place), here in zip(places, from_result, strict=True)]
        result = b.shuffle_vector(result, vectors[k], ir.Constant(ir.VectorType(I32, lanes), mask))
    b.store(result, _pointer(b, to), align=1)
    return i64(0)


def _prefetch(b: ir.IRBuilder, address: ir.Value) -> ir.Value:
    prefetch(b.module, b, _pointer(b, address))
    return i64(0)


def _prefetch_behind(b: ir.IRBuilder, address: ir.Value) -> ir.Value:
    prefetch(b.module, b, _pointer(b, address), L2)
    return i64(0)


def _touch(b: ir.IRBuilder, address: ir.Value) -> ir.Value:
    written(b, I8, f"load volatile i8, ptr {reference(_pointer(b, address))}, align 1")
    return i64(0)


def _fence(b: ir.IRBuilder, value: ir.Value) -> ir.Value:
    fence(b.module, b)
    return value


def _pointer(b: ir.IRBuilder, address: ir.Value) -> ir.Value:
    return b.inttoptr(address, PTR)


INTRINSICS: dict[Any, tuple[int | None, Callable[..., ir.Value]]] = {
    min: (2, _smaller),
    max: (2, _larger),
    abs: (1, lambda b, x: _larger(b, x, b.neg(x))),
    words.wrapped: (1, lambda b, x: x),
    words.rounded32: (1, _rounded32),
    words.load64: (1, _load(I64, "")),
    words.load32: (1, _load(I32, "sext")),
    words.load8: (1, _load(I8, "zext")),
    words.store64: (2, _store(I64)),
    words.store32: (2, _store(I32)),
    words.store8: (2, _store(I8)),
    words.call: (None, _call(I64)),
    words.call32: (None, _call(I32)),
    words.compare_exchange: (3, _compare_exchange),
    words.fetch_add: (2, lambda b, address, x: b.atomic_rmw("add", _pointer(b, address), x, "seq_cst")),
    words.load_atomic: (1, lambda b, address: b.load_atomic(_pointer(b, address), "seq_cst", 8, typ=I64)),
    words.store_release: (2, _store_release),
    words.copy_line_past: (2, _copy_line_past),
    words.prefetch: (1, _prefetch),
    words.prefetch_behind: (1, _prefetch_behind),
    words.touch: (1, _touch),
    words.fence: (1, _fence),
}
"""By function: how many arguments it takes, None = one or more, and its instructions."""
FIXED: dict[Any, tuple[int, Callable[..., ir.Value]]] = {words.move: (3, moved), words.pick: (5, picked)}
"""The same of those that take two addresses, then constants."""
