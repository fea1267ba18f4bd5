"""alpha and beta in the type of the arithmetic."""

from __future__ import annotations

import ctypes
import math

from .. import arguments
from ..arguments import shown
from ..errors import ProblemError
from .dtypes import DType, Kind

FLOAT_MAX = (2 - 2**-24) * 2.0**127  # from here on, rounding to single precision gives infinity


def scalar(name: str, value: complex, compute: DType, spelled: str) -> complex:
    """alpha or beta in the type of the arithmetic, which messages spell so. ProblemError where it has none."""
    number = arguments.number(name, value)
    if compute.kind is not Kind.COMPLEX and number.imag != 0:
        raise ProblemError(f"{name} = {shown(value)} is complex, but the data type {spelled} is real")
    if compute.real_bits == 32:
        if any(FLOAT_MAX <= abs(x) < math.inf for x in (number.real, number.imag)):
            raise ProblemError(f"{name} = {shown(value)} is beyond the range of the data type {spelled}")
        rounded = complex(*(ctypes.c_float(part).value for part in (number.real, number.imag)))
        number = rounded if rounded in (0, 1) else number
    return number if compute.kind is Kind.COMPLEX else number.real
