"""Floats of 16 bits and fewer, from and to single precision, by integer operations on whole registers.

An exponent is moved from one bias to the other by an addition. Numbers without a leading 1 are told by a sum, or a
difference, with a power of two whose last bit is their unit: the hardware's own rounding does the rest.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from ttc_llvm.problem.formats import FLOATS, SINGLE, Float

from .llvmlite_extensions import external, shuffle, suffix
from .values import F32

HALF = FLOATS["f16"]
IN_HALF = (HALF, FLOATS["e4m3fn"], FLOATS["e5m2"])  # whose numbers it holds, e4m3fn's as parts of them
_SIGN, _INFINITE, _QUIET, _HALF_NAN = 1 << 31, 0x7F800000, 1 << 22, 0x7E00


def integers(like: ir.Value, bits: int) -> ir.VectorType:
    """The type of as many integers of this width."""
    return ir.VectorType(ir.IntType(bits), like.type.count)


def constant(kind: ir.VectorType, value: Any) -> ir.Constant:
    """A vector of one value."""
    return ir.Constant(kind, [value] * int(kind.count))


def clamped(b: ir.IRBuilder, x: ir.Value, most: float) -> ir.Value:
    """Numbers from -most to most; NaNs stay."""
    for relation, limit in ((">", most), ("<", -most)):
        bound = constant(x.type, limit)
        x = b.select(b.fcmp_ordered(relation, x, bound), bound, x)
    return x


def multiplied_and_added(b: ir.IRBuilder, x: ir.Value, factor: ir.Value, term: ir.Value) -> ir.Value:
    """x * factor + term, where the product is exact: one instruction, on machines that have it."""
    name = f"llvm.fmuladd.{suffix(x.type)}"
    return b.call(external(b.module, name, x.type, [x.type] * 3), [x, factor, term])


def widened(b: ir.IRBuilder, value: ir.Value, form: Float) -> ir.Value:
    """Bits of a small format in single precision, exactly; NaNs become quiet ones."""
    kind, shift = integers(value, 32), SINGLE.mantissa - form.mantissa
    bits = b.zext(value, kind)
    if form.exponent == SINGLE.exponent:
        return _doubled(b, b.shl(bits, constant(kind, shift)))
    sign = b.shl(b.and_(bits, constant(kind, 1 << form.bits - 1)), constant(kind, 32 - form.bits))
    size = b.and_(bits, constant(kind, (1 << form.bits - 1) - 1))
    found = b.shl(size, constant(kind, shift))
    moved = SINGLE.bias - form.bias
    least = constant(kind, 1 << form.mantissa)
    unit = constant(ir.VectorType(F32, kind.count), 2.0 ** (1 - form.bias))
    first = b.bitcast(b.add(found, constant(kind, moved + 1 << SINGLE.mantissa)), unit.type)
    tiny = b.bitcast(b.fsub(first, unit), kind)
    found = b.add(found, constant(kind, moved << SINGLE.mantissa))
    found = b.select(b.icmp_unsigned("<", size, least), tiny, found)
    if form.infinite:
        whole = b.or_(found, constant(kind, _INFINITE))
        nan = b.icmp_unsigned(">", size, constant(kind, form.beyond))
        whole = b.or_(whole, b.select(nan, constant(kind, _QUIET), ir.Constant(kind, None)))
        found = b.select(b.icmp_unsigned(">=", size, constant(kind, form.beyond)), whole, found)
    else:
        nan = b.icmp_unsigned("==", size, constant(kind, form.beyond))
        found = b.select(nan, constant(kind, _INFINITE | _QUIET), found)
    return b.bitcast(b.or_(found, sign), ir.VectorType(F32, kind.count))


def in_half(b: ir.IRBuilder, value: ir.Value, form: Float) -> ir.Value:
    """Bits of an 8-bit format in half precision, whose numbers hold it: exactly, but for a power of two
    (`half_scale`)."""
    kind = integers(value, 16)
    if form.infinite:  # the first bits of half precision
        return b.shl(b.zext(value, kind), constant(kind, HALF.mantissa - form.mantissa))
    bits = b.shl(b.sext(value, kind), constant(kind, HALF.mantissa - form.mantissa))
    found = b.and_(bits, constant(kind, ~(1 << 14)))  # the sign twice
    most = constant(kind, form.beyond << HALF.mantissa - form.mantissa)
    nan = b.icmp_unsigned("==", b.and_(found, most), most)
    quiet = constant(kind, _HALF_NAN - (form.beyond << HALF.mantissa - form.mantissa))
    return b.select(nan, b.add(found, quiet), found)


def half_scale(form: Float) -> float:
    """The number by the numbers that `in_half` makes of it."""
    return 2.0 ** (HALF.bias - form.bias)


def cut_off(b: ir.IRBuilder, value: ir.Value, bits: int, first: bool = False) -> ir.Value:
    """The last, or first, bits of every integer. x86 takes two operations a register of 32-bit integers, and joins
    results by others; a shuffle becomes one with those that follow."""
    count, width = int(value.type.count), int(value.type.element.width)
    wide = width // bits
    if count == 1 or width > 32 or not b.module.triple.startswith("x86_64"):
        shifted = b.lshr(value, constant(value.type, width - bits)) if first else value
        return b.trunc(shifted, integers(value, bits))
    parts = b.bitcast(value, ir.VectorType(ir.IntType(bits), count * wide))
    return shuffle(b, parts, None, range((wide - 1) * first, count * wide, wide))


def _doubled(b: ir.IRBuilder, bits: ir.Value) -> ir.Value:
    """Single precision of these bits, the first of which are a format of its exponents."""
    x = b.bitcast(bits, ir.VectorType(F32, bits.type.count))
    quiet = b.bitcast(b.or_(bits, constant(bits.type, _QUIET)), x.type)
    return b.select(b.fcmp_unordered("uno", x, x), quiet, x)


def narrowed(b: ir.IRBuilder, x: ir.Value, form: Float) -> ir.Value:
    """Single precision as bits of a small format: rounded to the nearest, ties to even."""
    kind, shift = integers(x, 32), SINGLE.mantissa - form.mantissa
    bits = b.bitcast(x, kind)
    if form.exponent == SINGLE.exponent:
        return _halved(b, x, bits, form)
    moved = SINGLE.bias - form.bias
    size = b.and_(bits, constant(kind, _SIGN - 1))
    most = constant(kind, (form.beyond << shift) + (moved << SINGLE.mantissa))
    within = b.select(b.icmp_unsigned("<", size, most), size, most)
    # A power of two whose last bit is the number's unit, at least that of numbers without a leading 1. Its last bits
    # are such that the sum's exponent, shifted, and last bits make the result, but for what is cut off.
    first, least = b.and_(within, constant(kind, _INFINITE)), constant(kind, moved + 1 << SINGLE.mantissa)
    power = b.bitcast(b.select(b.icmp_unsigned(">", first, least), first, least), x.type)
    rest = -(moved + 1 + shift << form.mantissa) % (1 << form.bits)
    unit = constant(x.type, (1 + rest / (1 << SINGLE.mantissa)) * 2.0**shift)
    whole = b.bitcast(multiplied_and_added(b, power, unit, b.bitcast(within, x.type)), kind)
    found = b.add(b.lshr(whole, constant(kind, shift)), whole)
    if form.infinite:
        quiet = b.or_(b.lshr(size, constant(kind, shift)), constant(kind, form.beyond | 1 << form.mantissa - 1))
        quiet = b.and_(quiet, constant(kind, (1 << form.bits - 1) - 1))
        found = b.select(b.icmp_unsigned(">", size, constant(kind, _INFINITE)), quiet, found)
    sign = b.and_(b.lshr(bits, constant(kind, 32 - form.bits)), constant(kind, 1 << form.bits - 1))
    found = b.or_(found, sign)  # of which the higher bits are cut off
    return cut_off(b, found, form.bits)


def _halved(b: ir.IRBuilder, x: ir.Value, bits: ir.Value, form: Float) -> ir.Value:
    """The same for a format of single precision's exponents, whose numbers are the first bits of its own: one too
    large carries into the exponent, up to infinity."""
    shift = SINGLE.mantissa - form.mantissa
    last = b.and_(b.lshr(bits, constant(bits.type, shift)), constant(bits.type, 1))
    rounded = b.add(bits, b.add(last, constant(bits.type, (1 << shift - 1) - 1)))
    quiet = b.or_(bits, constant(bits.type, _QUIET))
    return cut_off(b, b.select(b.fcmp_unordered("uno", x, x), quiet, rounded), form.bits, first=True)
