"""Element types: the BLAS letters s d c z, small floats and integers, and opaque items of any size."""

from __future__ import annotations

import re
from enum import Enum
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from ..arguments import cut
from ..errors import ProblemError
from ..lazy_dataclasses import dataclass


class Kind(Enum):
    """Kinds of arithmetic on an element type."""

    REAL = "real"
    COMPLEX = "complex"
    OPAQUE = "opaque"  # plain moves only


@dataclass(frozen=True, slots=True)
class DType:
    """One element type.

    name: the spelling in problems, plans and C names; itemsize: bytes; kind: its arithmetic;
    real_bits: width of the (real or imaginary) floating-point part, 0 for opaque types.
    """

    name: str
    itemsize: int
    kind: Kind
    real_bits: int = 0

    def __str__(self) -> str:
        return self.name


_TABLE = {
    t.name: t
    for t in (
        DType("s", 4, Kind.REAL, 32),
        DType("d", 8, Kind.REAL, 64),
        DType("c", 8, Kind.COMPLEX, 32),
        DType("z", 16, Kind.COMPLEX, 64),
        DType("f16", 2, Kind.OPAQUE),
        DType("bf16", 2, Kind.OPAQUE),
        DType("i8", 1, Kind.OPAQUE),
        DType("i16", 2, Kind.OPAQUE),
        DType("i32", 4, Kind.OPAQUE),
        DType("i64", 8, Kind.OPAQUE),
    )
}
PAIRS = {"sd": ("s", "d"), "ds": ("d", "s"), "cz": ("c", "z"), "zc": ("z", "c")}
_NUMPY = {"f4": "s", "f8": "d", "c8": "c", "c16": "z", "f2": "f16",
          "i1": "i8", "i2": "i16", "i4": "i32", "i8": "i64"}  # fmt: skip
_CARRIERS = {1: "i8", 2: "i16", 4: "i32", 8: "i64"}
NATIVE = (1, 2, 4, 8, 16)  # bytes of items that are one register lane, or a pair of lanes (16)
MAX_ITEMSIZE = 1 << 20


def spellings() -> tuple[str, ...]:
    """Every canonical name of data types (`v<bytes>` comes on top); `type_names` has all others."""
    return (*_TABLE, *PAIRS)


@lru_cache(maxsize=256)
def dtype(name: str) -> DType:
    """The element type of that name: one of the table, or `v<N>` for an opaque item of N bytes."""
    if name in _TABLE:
        return _TABLE[name]
    digits = re.fullmatch(r"v([1-9][0-9]{0,6})", name)
    if digits is None or int(digits[1]) > MAX_ITEMSIZE:
        raise ProblemError(
            f"unknown data type {name[:40]!r}: the choices are {', '.join(spellings())}"
            f" and v<bytes> up to v{MAX_ITEMSIZE}"
        )
    return DType(name, int(digits[1]), Kind.OPAQUE)


def parse_pair(text: str) -> tuple[DType, DType]:
    """`"s"` -> (s, s); `"sd"` -> (s, d): the element types of A and of B, by their canonical name."""
    if text in PAIRS:
        a, b = PAIRS[text]
        return dtype(a), dtype(b)
    single = dtype(text)
    return single, single


def pair_name(a: DType, b: DType) -> str:
    """The inverse of `parse_pair`; raises ProblemError where no such pair exists."""
    if a == b:
        return a.name
    if a.name + b.name in PAIRS:
        return a.name + b.name
    raise ProblemError(f"data types {a} -> {b} cannot be combined: mixed pairs are {', '.join(PAIRS)}")


def carrier(itemsize: int) -> DType:
    """The opaque type that moves items of this many bytes bit for bit."""
    return dtype(_CARRIERS.get(itemsize, f"v{itemsize}"))


def is_native(t: DType) -> bool:
    """True where an element needs no smaller units to be moved in."""
    return t.itemsize in NATIVE


def unit(t: DType) -> DType:
    """The opaque type whose moves make up the move of one item: the item whole, or the largest unit that divides
    an odd size."""
    return carrier(t.itemsize if is_native(t) else next(u for u in (8, 4, 2, 1) if t.itemsize % u == 0))


def from_numpy(np_dtype: npt.DTypeLike, spelled: str = "") -> DType:
    """The element type of a NumPy dtype; ProblemError for Python objects, whose references need counting.

    spelled: the dtype as its caller named it, for messages.
    """
    np_type = np.dtype(np_dtype)
    said = cut(spelled or str(np_type))
    if np_type.hasobject:
        raise ProblemError(f"dtype {said} holds Python objects: only fixed-size plain data can be moved")
    if np_type.itemsize == 0:
        raise ProblemError(f"dtype {said} has items of 0 bytes: there is nothing to move")
    if np_type.itemsize > MAX_ITEMSIZE:
        raise ProblemError(f"dtype {said} has items of {np_type.itemsize} bytes: at most {MAX_ITEMSIZE} are supported")
    if np_type.fields is None and np_type.isnative and np_type.str[1:] in _NUMPY:
        return dtype(_NUMPY[np_type.str[1:]])
    if np_type.name == "bfloat16":
        return dtype("bf16")
    return carrier(np_type.itemsize)


def scalars(compute: DType, alpha: complex, beta: complex) -> npt.NDArray[np.generic] | None:
    """alpha and beta as code that computes in this type reads them; None for plain moves, which need none."""
    return None if compute.kind is Kind.OPAQUE else np.array([alpha, beta], to_numpy(compute))


def to_numpy(t: DType) -> np.dtype[np.generic]:
    """A NumPy dtype of the same size and, where NumPy has it, the same arithmetic."""
    spelling = {"s": "f4", "d": "f8", "c": "c8", "z": "c16", "f16": "f2", "bf16": "u2"}.get(t.name)
    if spelling is None:
        spelling = f"i{t.itemsize}" if t.name in _TABLE else f"V{t.itemsize}"
    return np.dtype(spelling)


def compute_type(a: DType, b: DType) -> DType:
    """The wider of the two: alpha and beta have it, and arithmetic runs in it."""
    return a if a.itemsize >= b.itemsize else b
