"""Conversion of registers from one element type to another, by the rule of `problem/conversion.py`.

The bits are the same on every machine.
Nothing depends on an instruction that is undefined out of range, or that a library function would stand for. Floats of
16 bits and fewer are widened to single precision, and rounded from it; these are integer operations where no
instruction does it. What comes from more bits is rounded to odd there first, so that the second rounding is the only
one.
"""

from __future__ import annotations

from llvmlite import ir

from ttc_llvm.problem.conversion import STICKY
from ttc_llvm.problem.dtypes import DType, Kind
from ttc_llvm.problem.formats import DOUBLE, FLOATS, SINGLE, Float, Integer

from . import small_floats
from .carriers import carrier_type, parts_per_element, units
from .llvmlite_extensions import external, shuffle, suffix
from .small_floats import HALF, clamped, constant, cut_off, integers
from .values import F32, F64
from .vector_loads import kept_whole

_REALS = {SINGLE: F32, DOUBLE: F64}


def convert(b: ir.IRBuilder, value: ir.Value, source: DType, target: DType, half: bool) -> ir.Value:
    """Carrier of one type to carrier of another. half: the machine converts between half and single precision."""
    if source == target:
        return value
    elements = int(value.type.count) // units(source.itemsize)
    x = _numbers(b, value, source, elements * parts_per_element(source), half)
    x = _rounded(b, x, source, target, half)
    if target.kind is Kind.COMPLEX and source.kind is not Kind.COMPLEX:
        zeros = ir.Constant(x.type, None)
        x = shuffle(b, x, zeros, [lane for k in range(elements) for lane in (k, elements)])
    carrier = carrier_type(target, elements)
    return x if x.type == carrier else b.bitcast(x, carrier)


def _numbers(b: ir.IRBuilder, value: ir.Value, t: DType, count: int, half: bool) -> ir.Value:
    """What numbers are computed with: integers of the format's width, single or double precision."""
    form = t.format
    assert form is not None
    if t.swapped or not (isinstance(form, Float) and form in _REALS):
        value = _bitcast(b, value, ir.VectorType(ir.IntType(form.bits), count))
    if t.swapped:
        swap = external(b.module, f"llvm.bswap.{suffix(value.type)}", value.type, [value.type])
        value = b.call(swap, [value])
    if isinstance(form, Integer):
        return value
    if form in _REALS:
        return _bitcast(b, value, ir.VectorType(_REALS[form], count))
    if half and form in small_floats.IN_HALF:
        return _from_half(b, value, form)
    return small_floats.widened(b, value, form)


def _from_half(b: ir.IRBuilder, value: ir.Value, form: Float) -> ir.Value:
    """Single precision of a format whose numbers half precision holds."""
    bits = value if form == HALF else small_floats.in_half(b, value, form)
    x = b.fpext(b.bitcast(bits, ir.VectorType(ir.HalfType(), bits.type.count)), ir.VectorType(F32, bits.type.count))
    scale = small_floats.half_scale(form)
    return x if scale == 1 else b.fmul(x, constant(x.type, scale))


def _rounded(b: ir.IRBuilder, x: ir.Value, source: DType, target: DType, half: bool) -> ir.Value:
    """Numbers in the target's format: integers of its width where they are no single or double precision."""
    of, to = source.format, target.format
    assert of is not None and to is not None
    if isinstance(to, Integer):
        if isinstance(of, Integer):
            return _between_integers(b, x, of, to, target.saturates)
        return _cut_off(b, x, to)
    if isinstance(of, Integer):
        x = _from_integer(b, x, of, to)
    if target.saturates:
        x = clamped(b, x, min(to.greatest, DOUBLE.greatest if x.type.element == F64 else SINGLE.greatest))
    if to in _REALS:
        return _resized(b, x, _REALS[to])
    if x.type.element == F64:
        x = _to_odd(b, x)
    if to == HALF and half:
        narrow = b.fptrunc(x, ir.VectorType(ir.HalfType(), x.type.count))
        return kept_whole(b.module, b, b.bitcast(narrow, integers(narrow, 16)))
    return small_floats.narrowed(b, x, to)


def _between_integers(b: ir.IRBuilder, x: ir.Value, of: Integer, to: Integer, saturates: bool) -> ir.Value:
    if saturates:
        x = _limited(b, x, of, "<", max(of.least, to.least))
        x = _limited(b, x, of, ">", min(of.greatest, to.greatest))
    wanted = integers(x, to.bits)
    if of.bits >= to.bits:
        return x if of.bits == to.bits else cut_off(b, x, to.bits)
    return (b.sext if of.signed else b.zext)(x, wanted)


def _limited(b: ir.IRBuilder, x: ir.Value, of: Integer, relation: str, limit: int) -> ir.Value:
    """The limit where a number is smaller, or larger."""
    if limit == (of.least if relation == "<" else of.greatest):
        return x
    bound = constant(x.type, limit)
    compare = b.icmp_signed if of.signed else b.icmp_unsigned
    return b.select(compare(relation, x, bound), bound, x)


def _cut_off(b: ir.IRBuilder, x: ir.Value, to: Integer) -> ir.Value:
    """Towards 0; the nearest integer where there is none, 0 for NaN."""
    wanted = integers(x, to.bits)
    if to.bits >= 32:
        name = f"llvm.fpto{'s' if to.signed else 'u'}i.sat.{suffix(wanted)}.{suffix(x.type)}"
        return b.call(external(b.module, name, wanted, [x.type]), [x])
    if to.signed:
        x = b.select(b.fcmp_ordered("ord", x, x), x, ir.Constant(x.type, None))
    low, high = (constant(x.type, float(limit)) for limit in (to.least, to.greatest))
    x = b.select(b.fcmp_ordered(">", x, low), x, low)
    x = b.select(b.fcmp_ordered("<", x, high), x, high)
    return cut_off(b, b.fptosi(x, integers(x, 32)), to.bits)


def _from_integer(b: ir.IRBuilder, x: ir.Value, of: Integer, to: Float) -> ir.Value:
    """Single or double precision: exact, rounded once where that is what is wanted, or fit to be rounded further."""
    real = _REALS.get(to, F32)
    if of.bits < 32:
        x = (b.sext if of.signed else b.zext)(x, integers(x, 32))
        return b.sitofp(x, ir.VectorType(real, x.type.count))
    if to == FLOATS["bf16"]:  # which has numbers beyond 2^24, other small formats have none
        real, x = F64, _sticky(b, x, of) if of.bits == 64 else x
    return (b.sitofp if of.signed else b.uitofp)(x, ir.VectorType(real, x.type.count))


def _sticky(b: ir.IRBuilder, x: ir.Value, of: Integer) -> ir.Value:
    """Integers that double precision holds, and that round to fewer bits as these do."""
    low = b.and_(x, constant(x.type, (1 << STICKY) - 1))
    some = b.zext(b.icmp_unsigned("!=", low, ir.Constant(x.type, None)), x.type)
    coarse = b.or_(b.sub(x, low), b.shl(some, constant(x.type, STICKY)))
    limit = 1 << 53
    if of.signed:  # -2^53 <= x <= 2^53
        moved = b.add(x, constant(x.type, limit))
        return b.select(b.icmp_unsigned(">", moved, constant(x.type, 2 * limit)), coarse, x)
    return b.select(b.icmp_unsigned(">", x, constant(x.type, limit)), coarse, x)


def _to_odd(b: ir.IRBuilder, x: ir.Value) -> ir.Value:
    """Double precision in single: towards 0, and to an odd number where that is inexact."""
    nearest = b.fptrunc(x, ir.VectorType(F32, x.type.count))
    back = b.fpext(nearest, x.type)
    bits = b.bitcast(nearest, integers(x, 32))
    wide = integers(x, 64)
    rounded, size = (b.and_(b.bitcast(one, wide), constant(wide, (1 << 63) - 1)) for one in (back, x))
    beyond = b.zext(b.icmp_unsigned(">", rounded, size), bits.type)
    inexact = b.zext(b.fcmp_ordered("!=", back, x), bits.type)
    odd = b.or_(b.sub(bits, b.and_(beyond, inexact)), inexact)
    return b.bitcast(odd, nearest.type)


def _resized(b: ir.IRBuilder, x: ir.Value, real: ir.Type) -> ir.Value:
    if x.type.element == real:
        return x
    return (b.fpext if real == F64 else b.fptrunc)(x, ir.VectorType(real, x.type.count))


def _bitcast(b: ir.IRBuilder, value: ir.Value, wanted: ir.VectorType) -> ir.Value:
    return value if value.type == wanted else b.bitcast(value, wanted)
