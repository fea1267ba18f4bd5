"""alpha and beta in the type of the arithmetic."""

from __future__ import annotations

import ctypes
import math
from typing import Any

from .. import arguments
from ..arguments import shown
from ..errors import ProblemError
from .dtypes import DType, Kind

FLOAT_MAX = (2 - 2**-24) * 2.0**127  # from here on, rounding to single precision gives infinity


def scalar(name: str, value: complex, compute: DType, spelled: str) -> complex:
    """alpha or beta in the type of the arithmetic, which messages spell so. ProblemError where it has none."""
    number = arguments.number(name, value)
    if compute.real_bits == 32 and arguments.is_fraction(value):
        number = complex(_nearest_single(value))
    if compute.kind is not Kind.COMPLEX and number.imag != 0:
        raise ProblemError(f"{name} = {shown(value)} is complex, but the data type {spelled} is real")
    if compute.real_bits == 32:
        if any(FLOAT_MAX <= abs(x) < math.inf for x in (number.real, number.imag)):
            raise ProblemError(f"{name} = {shown(value)} is beyond the range of the data type {spelled}")
        rounded = complex(*(ctypes.c_float(part).value for part in (number.real, number.imag)))
        number = rounded if rounded in (0, 1) else number
    return number if compute.kind is Kind.COMPLEX else number.real


def _nearest_single(value: Any) -> float:
    """The number of single precision nearest to a fraction: rounded once, ties to even."""
    bits = ctypes.c_int32.from_buffer(ctypes.c_float(float(value))).value
    near = ((k, ctypes.c_float.from_buffer(ctypes.c_int32(k)).value) for k in (bits - 1, bits, bits + 1))
    finite = ((k, x) for k, x in near if math.isfinite(x))
    return min(finite, key=lambda at: (abs(type(value)(at[1]) - value), at[0] & 1), default=(0, math.inf))[1]
