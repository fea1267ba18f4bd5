"""Conversions of numbers in NumPy: the rule that kernels follow on every machine, and what runs where none does.

A number is rounded once, to the nearest, ties to even. Integers wrap, as in NumPy; floats to integers are cut off
towards 0, become the nearest integer where they are beyond the range, and 0 where they are NaN; floats beyond the range
of another float become infinite, or NaN where that has no infinity. To a type that saturates, all of them become its
nearest number.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ..operands.operand import Array
from . import dtypes
from .dtypes import DType, Kind
from .formats import DOUBLE, SINGLE, Float, Integer

STICKY = 11  # low bits of a 64-bit integer beyond 2^53: whether any is set is all that a later rounding needs


def converted(x: Array, source: DType, target: DType) -> Array:
    """Numbers of one type as those of another, each in the dtype that `dtypes.to_numpy` has for its type."""
    if source == target:
        return x
    kind = dtypes.to_numpy(target)
    with np.errstate(all="ignore"):
        if source.kind is Kind.COMPLEX:
            return np.asarray(_clamped(x, target).astype(kind))
        numbers = values(x, source)
        if isinstance(target.format, Integer):
            return _to_integer(numbers, target).astype(kind)
        assert isinstance(target.format, Float)
        if target.format in (SINGLE, DOUBLE):
            return np.asarray(_clamped(numbers, target).astype(kind))
        return _to_small(numbers, target.format, target.saturates).view(kind)


def values(x: Array, t: DType) -> Array:
    """Numbers as NumPy computes with them: integers as they are, small floats in single precision."""
    native = np.asarray(x).astype(x.dtype.newbyteorder("="), copy=False)
    if not isinstance(t.format, Float) or native.dtype.kind in "cf":
        return native.astype("f4") if native.dtype == "f2" else native
    return np.asarray(_table(t.format)[native])


@lru_cache(maxsize=8)
def _table(form: Float) -> Array:
    """Every number of a small format, by its bits."""
    bits = np.arange(1 << form.bits, dtype=np.int64)
    exponent = bits >> form.mantissa & (1 << form.exponent) - 1
    mantissa = bits & (1 << form.mantissa) - 1
    whole = np.where(exponent > 0, mantissa | 1 << form.mantissa, mantissa).astype("f8")
    found = np.ldexp(whole, np.maximum(exponent, 1) - form.bias - form.mantissa)
    magnitude = bits & (1 << (form.bits - 1)) - 1
    found = np.where(magnitude > form.beyond - (not form.infinite), np.nan, found)
    found = np.where(form.infinite & (magnitude == form.beyond), np.inf, found)
    return np.asarray(np.where(bits >> (form.bits - 1), -found, found).astype("f4"))


def _clamped(x: Array, target: DType) -> Array:
    """Numbers within the range of a type that saturates; NaNs stay."""
    if not target.saturates or x.dtype.kind not in "cf" or not isinstance(target.format, Float):
        return x
    most = min(target.format.greatest, float(np.finfo(x.dtype).max))
    if x.dtype.kind == "c":
        found = np.empty_like(x)
        found.real, found.imag = (np.clip(part, -most, most) for part in (x.real, x.imag))
        return found
    return np.clip(x, -most, most)


def _to_integer(x: Array, target: DType) -> Array:
    form = target.format
    assert isinstance(form, Integer)
    if x.dtype.kind == "f":
        wide = x.astype("f8")
        inside = np.where((wide > form.least - 1.0) & (wide < form.greatest + 1.0), wide, 0)
        found = inside.astype(np.int64 if form.signed else np.uint64)
        found = np.where(wide >= form.greatest + 1.0, found.dtype.type(form.greatest), found)
        return np.where(wide <= form.least, found.dtype.type(form.least), found)
    if not target.saturates:
        return x
    known = np.iinfo(x.dtype)
    return np.clip(x, x.dtype.type(max(form.least, known.min)), x.dtype.type(min(form.greatest, known.max)))


def _to_small(x: Array, form: Float, saturates: bool) -> Array:
    """Numbers rounded once to a format of at most 16 bits, as its bits."""
    wide = (_sticky(x) if x.dtype.kind in "iu" and x.dtype.itemsize == 8 else x).astype("f8")
    most = form.greatest
    if saturates:
        wide = np.clip(wide, -most, most)
    _, exponent = np.frexp(np.abs(wide))
    unit = np.ldexp(1.0, np.maximum(exponent - 1, 1 - form.bias) - form.mantissa)
    rounded = np.abs(np.rint(wide / unit) * unit)
    least = 2.0 ** (1 - form.bias)
    finite = np.where(rounded <= most, rounded, 0)
    mantissa, exponent = np.frexp(finite)
    normal = np.ldexp(mantissa * 2 - 1, form.mantissa).astype(np.int64) + (exponent - 1 + form.bias << form.mantissa)
    bits = np.where(finite < least, (finite / form.quantum).astype(np.int64), normal)
    bits = np.where(rounded > most, form.beyond, bits)
    nan = form.beyond | (1 << (form.mantissa - 1) if form.infinite else 0)
    bits = np.where(np.isnan(wide), nan, bits) | (np.signbit(wide).astype(np.int64) << (form.bits - 1))
    return np.asarray(bits.astype(f"u{form.bits // 8}"))


def _sticky(x: Array) -> Array:
    """Integers that double precision holds, and that round to fewer bits as these do."""
    low = x & x.dtype.type((1 << STICKY) - 1)
    coarse = (x - low) | ((low != 0).astype(x.dtype) << x.dtype.type(STICKY))
    large = (x > 1 << 53) | (x < (-(1 << 53) if x.dtype.kind == "i" else 0))
    return np.where(large, coarse, x)
