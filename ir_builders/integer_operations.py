"""Operations on 64-bit integers as a few instructions: Python's operators, and the functions of `words`."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from llvmlite import ir

from . import words
from .llvmlite_extensions import reference, written
from .memory import L2, fence, prefetch, store_non_temporal
from .values import I1, I8, I32, I64, PTR, VOID, chosen, i64, operated, spelled

Operation = Callable[[ir.IRBuilder, ir.Value, ir.Value], ir.Value]


def compared(b: ir.IRBuilder, how: str, x: ir.Value, y: ir.Value) -> ir.Value:
    """An i1. how: one of `COMPARISONS`."""
    return written(b, I1, f"icmp {how} i64 {spelled(x)}, {spelled(y)}")


def condition(b: ir.IRBuilder, value: ir.Value) -> ir.Value:
    """An i1 that is true where the value is not 0."""
    return compared(b, "ne", value, i64(0))


def extended(b: ir.IRBuilder, value: ir.Value, how: str = "zext") -> ir.Value:
    """A shorter integer as one of 64 bits."""
    return written(b, I64, f"{how} {value.type} {reference(value)} to i64")


def loaded(b: ir.IRBuilder, pointer: ir.Value, kind: ir.Type = I64, align: int = 8) -> ir.Value:
    """The value in memory."""
    return written(b, kind, f"load {kind}, ptr {reference(pointer)}, align {align}")


def stored(b: ir.IRBuilder, value: ir.Value, pointer: ir.Value, align: int = 8) -> None:
    """Write a value to memory."""
    written(b, VOID, f"store {value.type} {reference(value)}, ptr {reference(pointer)}, align {align}")


def _divided(b: ir.IRBuilder, x: ir.Value, y: ir.Value) -> ir.Value:
    """Rounded down: one less than the processor's quotient where that was rounded up."""
    return b.sub(b.sdiv(x, y), extended(b, _rounds_up(b, x, y)))


def _rest(b: ir.IRBuilder, x: ir.Value, y: ir.Value) -> ir.Value:
    return b.add(b.srem(x, y), b.select(_rounds_up(b, x, y), y, i64(0)))


def _rounds_up(b: ir.IRBuilder, x: ir.Value, y: ir.Value) -> ir.Value:
    rest = b.srem(x, y)
    return b.and_(condition(b, rest), compared(b, "slt", b.xor(rest, y), i64(0)))


def _operation(name: str) -> Operation:
    return lambda b, x, y: operated(b, name, x, y)


BINARY: dict[type[ast.operator], Operation] = {
    ast.Add: _operation("add"),
    ast.Sub: _operation("sub"),
    ast.Mult: _operation("mul"),
    ast.FloorDiv: _divided,
    ast.Mod: _rest,
    ast.LShift: _operation("shl"),
    ast.RShift: _operation("ashr"),
    ast.BitAnd: _operation("and"),
    ast.BitOr: _operation("or"),
    ast.BitXor: _operation("xor"),
}
UNARY: dict[type[ast.unaryop], Callable[[ir.IRBuilder, ir.Value], ir.Value]] = {
    ast.USub: lambda b, x: b.neg(x),
    ast.Invert: lambda b, x: b.not_(x),
    ast.Not: lambda b, x: extended(b, compared(b, "eq", x, i64(0))),
    ast.UAdd: lambda b, x: x,
}
COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Eq: "eq", ast.NotEq: "ne", ast.Lt: "slt", ast.LtE: "sle", ast.Gt: "sgt", ast.GtE: "sge",
}  # fmt: skip


def _smaller(b: ir.IRBuilder, x: ir.Value, y: ir.Value) -> ir.Value:
    return chosen(b, compared(b, "slt", x, y), x, y)


def _larger(b: ir.IRBuilder, x: ir.Value, y: ir.Value) -> ir.Value:
    return chosen(b, compared(b, "sgt", x, y), x, y)


def _load(kind: ir.IntType, extend: str) -> Callable[..., ir.Value]:
    def made(b: ir.IRBuilder, address: ir.Value) -> ir.Value:
        value = loaded(b, _pointer(b, address), kind, kind.width // 8)
        return value if kind == I64 else extended(b, value, extend)

    return made


def _store(kind: ir.IntType) -> Callable[..., ir.Value]:
    def made(b: ir.IRBuilder, address: ir.Value, value: ir.Value) -> ir.Value:
        stored(b, value if kind == I64 else b.trunc(value, kind), _pointer(b, address), kind.width // 8)
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
    return extended(b, b.bitcast(single, I32))


def _compare_exchange(b: ir.IRBuilder, address: ir.Value, expected: ir.Value, value: ir.Value) -> ir.Value:
    found = b.cmpxchg(_pointer(b, address), expected, value, "seq_cst")
    return extended(b, b.extract_value(found, 1))


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
    return written(b, PTR, f"inttoptr i64 {spelled(address)} to ptr")


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
