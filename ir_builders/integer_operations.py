"""Operations on 64-bit integers as a few instructions: Python's operators, and the functions of `words`."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from . import words
from .integer_text import Text
from .memory import L1, L2, fenced, non_temporal, prefetched

Operation = Callable[[Text, str, str], str]


def compared(b: Text, how: str, x: str, y: str) -> str:
    """A bit. how: one of `COMPARISONS`."""
    return b.value(f"icmp {how} i64 {x}, {y}")


def condition(b: Text, value: str) -> str:
    """A bit that is set where the value is not 0."""
    return compared(b, "ne", value, "0")


def extended(b: Text, bit: str) -> str:
    """A bit as an integer."""
    return b.value(f"zext i1 {bit} to i64")


def _operation(name: str) -> Operation:
    return lambda b, x, y: b.value(f"{name} i64 {x}, {y}")


_add, _sub, _sdiv, _srem, _xor = map(_operation, ("add", "sub", "sdiv", "srem", "xor"))


def _divided(b: Text, x: str, y: str) -> str:
    """Rounded down: one less than the processor's quotient where that was rounded up."""
    if (power := _power(y)) is not None:
        return b.value(f"ashr i64 {x}, {power}")
    return _sub(b, _sdiv(b, x, y), extended(b, _rounds_up(b, _srem(b, x, y), y)))


def _rest(b: Text, x: str, y: str) -> str:
    if (power := _power(y)) is not None:
        return b.value(f"and i64 {x}, {(1 << power) - 1}")
    rest = _srem(b, x, y)
    return _add(b, rest, _chosen(b, _rounds_up(b, rest, y), y, "0"))


def _power(value: str) -> int | None:
    """The power of two that a constant is, but for 2**63, which is no positive one; None for other values."""
    number = int(value) if value.isdigit() else 0
    return number.bit_length() - 1 if number > 0 and number & (number - 1) == 0 else None


def _rounds_up(b: Text, rest: str, y: str) -> str:
    return b.value(f"and i1 {condition(b, rest)}, {compared(b, 'slt', _xor(b, rest, y), '0')}")


BINARY: dict[type[ast.operator], Operation] = {
    ast.Add: _add,
    ast.Sub: _sub,
    ast.Mult: _operation("mul"),
    ast.FloorDiv: _divided,
    ast.Mod: _rest,
    ast.LShift: _operation("shl"),
    ast.RShift: _operation("ashr"),
    ast.BitAnd: _operation("and"),
    ast.BitOr: _operation("or"),
    ast.BitXor: _xor,
}
UNARY: dict[type[ast.unaryop], Callable[[Text, str], str]] = {
    ast.USub: lambda b, x: _sub(b, "0", x),
    ast.Invert: lambda b, x: _xor(b, x, "-1"),
    ast.Not: lambda b, x: extended(b, compared(b, "eq", x, "0")),
    ast.UAdd: lambda b, x: x,
}
COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Eq: "eq", ast.NotEq: "ne", ast.Lt: "slt", ast.LtE: "sle", ast.Gt: "sgt", ast.GtE: "sge",
}  # fmt: skip


def _chosen(b: Text, bit: str, x: str, y: str) -> str:
    return b.value(f"select i1 {bit}, i64 {x}, i64 {y}")


def _smaller(b: Text, x: str, y: str) -> str:
    return _chosen(b, compared(b, "slt", x, y), x, y)


def _larger(b: Text, x: str, y: str) -> str:
    return _chosen(b, compared(b, "sgt", x, y), x, y)


def _load(bits: int, extend: str) -> Callable[[Text, str], str]:
    def made(b: Text, address: str) -> str:
        value = b.value(f"load i{bits}, ptr {b.pointer(address)}, align {bits // 8}")
        return b.value(f"{extend} i{bits} {value} to i64") if extend else value

    return made


def _store(bits: int) -> Callable[[Text, str, str], str]:
    def made(b: Text, address: str, value: str) -> str:
        short = value if bits == words.BITS else b.value(f"trunc i64 {value} to i{bits}")
        b.line(f"store i{bits} {short}, ptr {b.pointer(address)}, align {bits // 8}")
        return "0"

    return made


def _call(bits: int) -> Callable[..., str]:
    def made(b: Text, function: str, *arguments: str) -> str:
        result = b.value(f"call i{bits} {b.pointer(function)}({given(arguments)})")
        return result if bits == words.BITS else b.value(f"sext i{bits} {result} to i64")

    return made


def given(arguments: tuple[str, ...] | list[str]) -> str:
    """The arguments of a call."""
    return ", ".join([f"i64 {argument}" for argument in arguments])


def _rounded32(b: Text, bits: str) -> str:
    single = b.value(f"fptrunc double {b.value(f'bitcast i64 {bits} to double')} to float")
    return b.value(f"zext i32 {b.value(f'bitcast float {single} to i32')} to i64")


def _compare_exchange(b: Text, address: str, expected: str, value: str) -> str:
    found = b.value(f"cmpxchg ptr {b.pointer(address)}, i64 {expected}, i64 {value} seq_cst seq_cst")
    return extended(b, b.value(f"extractvalue {{i64, i1}} {found}, 1"))


def _fetch_add(b: Text, address: str, value: str) -> str:
    return b.value(f"atomicrmw add ptr {b.pointer(address)}, i64 {value} seq_cst")


def _load_atomic(b: Text, address: str) -> str:
    return b.value(f"load atomic i64, ptr {b.pointer(address)} seq_cst, align 8")


def _store_release(b: Text, address: str, value: str) -> str:
    b.line(f"store atomic i64 {value}, ptr {b.pointer(address)} release, align 8")
    return "0"


def _moved(b: Text, to: str, of: str, kind: str, end: str = ", align 1") -> str:
    value = b.value(f"load {kind}, ptr {b.pointer(of)}, align 1")
    b.line(f"store {kind} {value}, ptr {b.pointer(to)}{end}")
    return "0"


def _move(b: Text, to: str, of: str, size: int) -> str:
    """Copy so many bytes, a power of two, as one value."""
    return _moved(b, to, of, f"i{8 * size}" if size <= 8 else f"<{size // 8} x i64>")


def _copy_line_past(b: Text, to: str, of: str) -> str:
    return _moved(b, to, of, "<8 x i64>", f", align 64{non_temporal(b.module)}")


def _pick(b: Text, to: str, of: str, width: int, step: int, first: int) -> str:
    """Copy every `step`-th item, backwards where `step` is negative: whole vectors are loaded, and each but the first
    takes a shuffle."""
    unit = min(width, 8)
    parts, lanes = width // unit, 64 // unit
    kind = f"<{lanes} x i{8 * unit}>"
    items = range(first, abs(step) * 64 // width, abs(step))[:: 1 if step > 0 else -1]
    places = [divmod(items[lane // parts] * parts + lane % parts, lanes) for lane in range(lanes)]
    starts = [b.pointer(_add(b, of, str(64 * k))) for k in range(abs(step))]
    vectors = [b.value(f"load {kind}, ptr {start}, align 1") for start in starts]
    result = vectors[0]
    for k in range(1, abs(step)):
        from_result = range(lanes) if k > 1 else [place for _, place in places]
        mask = [lanes + place if where == k else here for (where, place), here in zip(places, from_result, strict=True)]
        taken = ", ".join(f"i32 {lane}" for lane in mask)
        result = b.value(f"shufflevector {kind} {result}, {kind} {vectors[k]}, <{lanes} x i32> <{taken}>")
    b.line(f"store {kind} {result}, ptr {b.pointer(to)}, align 1")
    return "0"


def _prefetch(level: int) -> Callable[[Text, str], str]:
    def made(b: Text, address: str) -> str:
        b.line(prefetched(b.module, b.pointer(address), level))
        return "0"

    return made


def _touch(b: Text, address: str) -> str:
    b.value(f"load volatile i8, ptr {b.pointer(address)}, align 1")
    return "0"


def _fence(b: Text, value: str) -> str:
    b.line(fenced(b.module))
    return value


INTRINSICS: dict[Any, tuple[int | None, Callable[..., str]]] = {
    min: (2, _smaller),
    max: (2, _larger),
    abs: (1, lambda b, x: _larger(b, x, _sub(b, "0", x))),
    words.wrapped: (1, lambda b, x: x),
    words.rounded32: (1, _rounded32),
    words.load64: (1, _load(64, "")),
    words.load32: (1, _load(32, "sext")),
    words.load8: (1, _load(8, "zext")),
    words.store64: (2, _store(64)),
    words.store32: (2, _store(32)),
    words.store8: (2, _store(8)),
    words.call: (None, _call(64)),
    words.call32: (None, _call(32)),
    words.compare_exchange: (3, _compare_exchange),
    words.fetch_add: (2, _fetch_add),
    words.load_atomic: (1, _load_atomic),
    words.store_release: (2, _store_release),
    words.copy_line_past: (2, _copy_line_past),
    words.prefetch: (1, _prefetch(L1)),
    words.prefetch_behind: (1, _prefetch(L2)),
    words.touch: (1, _touch),
    words.fence: (1, _fence),
}
"""By function: how many arguments it takes, None = one or more, and its instructions."""
FIXED: dict[Any, tuple[int, Callable[..., str]]] = {words.move: (3, _move), words.pick: (5, _pick)}
"""The same of those that take two addresses, then constants."""
