"""Element types: the BLAS letters s d c z, small floats and integers, opaque items of any size; pairs of types.

A conversion between numbers of two types (`u8,s`) adds unsigned integers and 8-bit floats, sources whose bytes are
reversed (`sr`), and results that clamp (`u8sat`): facts of an element type, so that plans, code and keys have them.
"""

from __future__ import annotations

import re
from enum import Enum
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from ..arguments import cut
from ..errors import ProblemError
from ..lazy_dataclasses import dataclass, replace
from .formats import FLOATS, FORMATS, INTEGERS, Float, Format, Integer

if TYPE_CHECKING:
    import numpy.typing as npt


class Kind(Enum):
    """Kinds of arithmetic on an element type."""

    REAL = "real"
    COMPLEX = "complex"
    OPAQUE = "opaque"  # plain moves only


@dataclass(frozen=True, slots=True)
class DType:
    """One element type.

    name: the spelling in problems, plans and C names; itemsize: bytes; kind: its arithmetic;
    real_bits: width of the (real or imaginary) floating-point part, 0 for opaque types; format: of the number (or of a
    complex one's parts) that conversions see, None where an item is none; swapped: its bytes are in the other order
    than this machine's; saturates: numbers beyond its range become the nearest one when they are converted to it.
    """

    name: str
    itemsize: int
    kind: Kind
    real_bits: int = 0
    format: Format | None = None
    swapped: bool = False
    saturates: bool = False

    @property
    def stored(self) -> str:
        """The name of the type in memory, whatever conversions to it do."""
        return self.name.removesuffix("sat") if self.saturates else self.name

    def __str__(self) -> str:
        return self.name


_TABLE = {
    t.name: t
    for t in (
        DType("s", 4, Kind.REAL, 32, FLOATS["s"]),
        DType("d", 8, Kind.REAL, 64, FLOATS["d"]),
        DType("c", 8, Kind.COMPLEX, 32, FLOATS["s"]),
        DType("z", 16, Kind.COMPLEX, 64, FLOATS["d"]),
        DType("f16", 2, Kind.OPAQUE, 0, FLOATS["f16"]),
        DType("bf16", 2, Kind.OPAQUE, 0, FLOATS["bf16"]),
        DType("i8", 1, Kind.OPAQUE, 0, INTEGERS["i8"]),
        DType("i16", 2, Kind.OPAQUE, 0, INTEGERS["i16"]),
        DType("i32", 4, Kind.OPAQUE, 0, INTEGERS["i32"]),
        DType("i64", 8, Kind.OPAQUE, 0, INTEGERS["i64"]),
    )
}
_CONVERTED = {name: DType(name, found.bits // 8, Kind.OPAQUE, 0, found) for name, found in FORMATS.items()} | _TABLE
SWAPPED = {
    f"{t.name}r": replace(t, name=f"{t.name}r", swapped=True)
    for t in _CONVERTED.values() if t.itemsize > 1 and t.kind is not Kind.COMPLEX
}  # fmt: skip
_SATURATING = {f"{t.name}sat": replace(t, name=f"{t.name}sat", saturates=True) for t in _CONVERTED.values()}
NUMBERS = {**_CONVERTED, **SWAPPED}
"""The types that conversions read; those that they write are all but `SWAPPED`."""
_ALL = {**NUMBERS, **_SATURATING}
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
    if name in _ALL:
        return _ALL[name]
    digits = re.fullmatch(r"v([1-9][0-9]{0,6})", name)
    if digits is None or int(digits[1]) > MAX_ITEMSIZE:
        raise ProblemError(
            f"unknown data type {name[:40]!r}: the choices are {', '.join(spellings())}"
            f" and v<bytes> up to v{MAX_ITEMSIZE}"
        )
    return DType(name, int(digits[1]), Kind.OPAQUE)


@lru_cache(maxsize=1024)
def parse_pair(text: str) -> tuple[DType, DType]:
    """`"s"` -> (s, s); `"sd"` -> (s, d); `"u8,s"` -> (u8, s): the element types of A and of B, by their canonical
    name."""
    a, b = PAIRS[text] if text in PAIRS else (*text.split(","), text)[:2]
    return dtype(a), dtype(b)


def pair_name(a: DType, b: DType) -> str:
    """The inverse of `parse_pair`; raises ProblemError where no such pair exists."""
    if a == b:
        return a.name
    if a.name + b.name in PAIRS:
        return a.name + b.name
    if converts(a, b):
        return f"{a.name},{b.name}"
    raise ProblemError(f"data types {a} -> {b} cannot be combined: {RULE}")


def saturating(t: DType) -> DType:
    """The type whose numbers are the nearest ones where others are beyond its range; itself where it has no range."""
    return _SATURATING.get(f"{t.name}sat", t)


RULE = (
    "integers and real numbers convert to each other and to complex ones, and complex ones to complex ones; of the"
    " other byte order, integers and real numbers are read"
)


def converts(a: DType, b: DType) -> bool:
    """True where numbers of one type convert to those of the other: not from complex ones to real ones."""
    if a.format is None or b.format is None or b.swapped:
        return False
    return a.kind is not Kind.COMPLEX or b.kind is Kind.COMPLEX


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


def scalars(
    compute: DType, alpha: complex, beta: complex, *further: complex
) -> npt.NDArray[np.generic] | None:
    """alpha and beta, and the alphas of further terms, as code that computes in this type reads them; None for plain
    moves, which need none."""
    return None if compute.kind is Kind.OPAQUE else np.array([alpha, beta, *further], to_numpy(compute))


def unswapped(t: DType) -> DType:
    """The same type in this machine's order of bytes."""
    return _CONVERTED[t.name.removesuffix("r")] if t.swapped else t


def is_foreign(t: DType) -> bool:
    """True for numbers that NumPy has no type for: arrays have their bits."""
    return isinstance(t.format, Float) and t.format.bits <= 16 and t.format != FLOATS["f16"]


def to_numpy(t: DType) -> np.dtype[np.generic]:
    """A NumPy dtype of the same size and, where NumPy has it, the same arithmetic."""
    name = unswapped(t).stored
    spelling = {"s": "f4", "d": "f8", "c": "c8", "z": "c16", "f16": "f2"}.get(name)
    if spelling is None:
        kind = "V" if t.format is None else "i" if name in _TABLE and name != "bf16" else "u"
        spelling = f"{kind}{t.itemsize}"
    found = np.dtype(spelling)
    return found.newbyteorder() if t.swapped else found


@lru_cache(maxsize=1024)
def compute_type(a: DType, b: DType) -> DType:
    """The type of alpha, beta and the arithmetic: a's own where both are equal; else single precision, or double where
    either is that or an integer of 32 bits or more, which single precision does not hold; complex where either is."""
    if a == b or a.format is None or b.format is None:
        return a
    wide = any(_is_wide(t.format) for t in (a, b))
    is_complex = Kind.COMPLEX in (a.kind, b.kind)
    return dtype(("cz" if is_complex else "sd")[wide])


def _is_wide(found: Format | None) -> bool:
    return found is not None and found.bits >= (32 if isinstance(found, Integer) else 64)
