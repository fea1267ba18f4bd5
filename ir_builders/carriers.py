"""Carriers of elements: the vectors in which they are loaded, shuffled and stored, bit for bit.

A carrier has a lane of the element's size, two lanes for 16 bytes. Arithmetic sees an element's *parts*: one
floating-point lane per real, two per complex number.
"""

from __future__ import annotations

from functools import lru_cache

from llvmlite import ir

from ttc_llvm.lowering.layout import HOLE
from ttc_llvm.problem.dtypes import DType, Kind

from .llvmlite_extensions import vector_type
from .values import F32, F64, I8

_CARRIERS = {1: (I8, 1), 2: (ir.IntType(16), 1), 4: (F32, 1), 8: (F64, 1), 16: (F64, 2)}


def units(itemsize: int) -> int:
    """Lanes that one element of this size occupies in its carrier."""
    return _CARRIERS[itemsize][1]


@lru_cache(maxsize=1024)
def lanes_of(mask: tuple[int, ...], per_element: int) -> tuple[int | None, ...]:
    """The lanes of a mask of elements; None where these do not matter."""
    return tuple([None if m == HOLE else m * per_element + u for m in mask for u in range(per_element)])


def carrier_type(t: DType, count: int) -> ir.VectorType:
    """The vector that carries `count` elements bit for bit."""
    lane, per_element = _CARRIERS[t.itemsize]
    return vector_type(lane, count * per_element)


def parts_per_element(t: DType) -> int:
    """Floating-point parts of one element."""
    return 2 if t.kind is Kind.COMPLEX else 1
