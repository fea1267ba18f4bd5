"""Names of data types as callers spell them: letters, full names, NumPy's texts, dtypes and classes, and pairs."""

from __future__ import annotations

import ctypes
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import locks
from ..arguments import cut, shown
from ..errors import ProblemError
from ..lazy_dataclasses import dataclass
from ..operands.types import spelled as full_name
from . import dtypes
from .dtypes import MAX_ITEMSIZE, DType

if TYPE_CHECKING:
    import numpy.typing as npt

    TypeLike = npt.DTypeLike | tuple[npt.DTypeLike, npt.DTypeLike]

FULL = {
    "float32": "s", "float64": "d", "complex64": "c", "complex128": "z", "float16": "f16", "bfloat16": "bf16",
    "complex32": "i32", "bool": "i8",
    **{f"{sign}int{bits}": f"i{bits}" for bits in (8, 16, 32, 64) for sign in ("", "u")},
    **{f"float8_{form}": "i8" for form in (
        "e3m4", "e4m3", "e4m3fn", "e4m3fnuz", "e4m3b11fnuz", "e5m2", "e5m2fnuz", "e8m0fnu")},
}  # fmt: skip
"""Full names, of NumPy, PyTorch and ml_dtypes: the types by which their elements are moved and computed with."""

SHORT = {
    "s": "float32", "d": "float64", "c": "complex64", "z": "complex128", "bf16": "bfloat16",
    "f16": "float16", "f32": "float32", "f64": "float64", "c64": "complex64", "c128": "complex128",
    **{f"{kind[0]}{bits}": f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)},
    "f2": "float16", "f4": "float32", "f8": "float64", "c8": "complex64", "c16": "complex128", "b1": "bool",
    "i1": "int8", "i2": "int16", "i4": "int32", "u1": "uint8", "u2": "uint16", "u4": "uint32",
    "half": "float16", "single": "float32", "double": "float64", "csingle": "complex64", "cdouble": "complex128",
    "byte": "int8", "ubyte": "uint8", "short": "int16", "ushort": "uint16", "intc": "int32", "uintc": "uint32",
    "longlong": "int64", "ulonglong": "uint64", "bool_": "bool", "?": "bool",
    "e4m3fn": "float8_e4m3fn", "e5m2": "float8_e5m2",
}  # fmt: skip
"""Short names and the full ones. Numbers are bits; but where NumPy counts bytes, and no type has so few bits, bytes."""

_NUMBERS = {
    "float32": "s", "float64": "d", "complex64": "c", "complex128": "z", "float16": "f16", "bfloat16": "bf16",
    "bool": "u8", "float8_e4m3fn": "e4m3fn", "float8_e5m2": "e5m2",
    **{f"{sign}int{bits}": f"{sign or 'i'}{bits}" for bits in (8, 16, 32, 64) for sign in ("", "u")},
}  # fmt: skip
"""Full names of types whose numbers are converted; those of `bool` are read only."""

AMBIGUOUS = {
    "float": ("float32", "float64"), "complex": ("complex64", "complex128"), "cfloat": ("complex64", "complex128"),
    "int": ("int32", "int64"), "long": ("int32", "int64"),
    "uint": ("uint32", "uint64"), "ulong": ("uint32", "uint64"),
}  # fmt: skip
"""Names of types that have another size in another language or on another system."""

_OF_NUMPY = (
    r"[<>=|].+|(datetime64|timedelta64|[Mm]8)(\[.*\])?|[SUV][0-9]+"
    r"|c?longdouble|float(96|128)|complex(192|256)|u?intp"
)
_CLASSES = (bool, int, float, complex)
_ABSTRACT = (np.generic, np.number, np.integer, np.signedinteger, np.unsignedinteger, np.inexact, np.floating,
             np.complexfloating, np.flexible, np.character)  # fmt: skip


class TypeName(str):
    """The canonical name of a problem's data types, equal to the plain text, that keeps what its caller wrote.

    spelled: the caller's text; sides: its parts for A and for B; unsigned: it names integers without a sign.
    """

    spelled: str
    sides: tuple[str, str]
    unsigned = False

    def __new__(cls, name: str, spelled: str = "", sides: tuple[str, str] = ("", "")) -> TypeName:
        """A name; pickles set the rest."""
        made = super().__new__(cls, name)
        made.spelled, made.sides = spelled, sides
        return made


@dataclass(frozen=True, slots=True)
class _Element:
    """The elements of one side. spelled: by the caller; meaning: the same for all names of one type."""

    spelled: str
    meaning: str
    type: DType


def read(given: Any) -> TypeName:
    """The data types of A and of B: a name, two names between commas, a NumPy dtype or class, or a tuple of two.

    Texts are those of `FULL` and `SHORT`, `v<bytes>`, and NumPy's with a byte-order mark or a unit. Classes are
    NumPy's, ctypes', and Python's bool, int, float and complex. Raises ProblemError.
    """
    if isinstance(given, TypeName):
        return given
    if isinstance(given, str):
        return _of_text(str(given))
    if isinstance(given, tuple) and len(given) == 2:
        a, b = map(_element, given)
        return _combined(a, b, f"{a.spelled},{b.spelled}")
    one = _element(given)
    return _single(one, one.spelled, (one.spelled, one.spelled))


@lru_cache(maxsize=256)
def _of_text(text: str) -> TypeName:
    if text in dtypes.PAIRS:
        return TypeName(text, text, (text[0], text[1]))
    parts = [_named(part.strip()) for part in text.split(",", 2)]
    if len(parts) > 2:
        raise ProblemError(f"data type {cut(text)!r} has more than two parts: A's type and B's are expected")
    return _combined(parts[0], parts[-1], text)


def _single(element: _Element, spelled: str, sides: tuple[str, str]) -> TypeName:
    found = TypeName(element.type.name, spelled, sides)
    found.unsigned = element.meaning.startswith("uint")
    return found


def _combined(a: _Element, b: _Element, text: str) -> TypeName:
    if a.meaning == b.meaning:
        return _single(a, text, (a.spelled, b.spelled))
    of, to = _number(a), _number(b)
    if of is None or to is None or b.meaning == "bool" or not dtypes.converts(of, to):
        raise ProblemError(f"data types {a.spelled} -> {b.spelled} cannot be combined: {dtypes.RULE}")
    return TypeName(dtypes.pair_name(of, to), text, (a.spelled, b.spelled))


def _number(element: _Element) -> DType | None:
    """The type of an element's numbers where they can be converted: NumPy's types of the other byte order, too."""
    if element.meaning in dtypes.SWAPPED:
        return dtypes.SWAPPED[element.meaning]
    if element.meaning[:1] in "<>":
        native = str(np.dtype(element.meaning).newbyteorder())
        return dtypes.SWAPPED.get(f"{_NUMBERS.get(native)}r")
    return dtypes.dtype(_NUMBERS[element.meaning]) if element.meaning in _NUMBERS else None


def _element(given: Any) -> _Element:
    """The type of whatever names one."""
    if isinstance(given, str):
        return _named(given.strip())
    found = _numpy_type(given)
    if found is not None:
        spelled = cut(given.__name__ if isinstance(given, type) else str(found))
        return _Element(spelled, full_name(found), dtypes.from_numpy(found, spelled))
    if type(given).__module__ == "torch" and type(given).__name__ == "dtype":
        full = str(given).removeprefix("torch.")
        return _Element(str(given), full, _named(full).type)
    raise ProblemError(
        f"data type {shown(given)} is none: a name such as 's', 'zc' or 'float32', or a NumPy dtype is expected"
    )


def _numpy_type(given: Any) -> np.dtype[Any] | None:
    """The dtype that NumPy has for a dtype or class; None for everything else that it would make something of."""
    if isinstance(given, np.dtype):
        return given
    if not isinstance(given, type) or given in _ABSTRACT:
        return None
    own = getattr(given, "dtype", None)  # of JAX's classes
    if isinstance(own, np.dtype):
        return own
    known = given in _CLASSES or issubclass(given, (np.generic, ctypes._SimpleCData))
    make: Any = given if issubclass(given, np.dtype) else lambda: np.dtype(given) if known else None
    try:
        return make()  # type: ignore[no-any-return]
    except TypeError:  # of ctypes' pointers, and classes of dtypes that are none by themselves
        return None


def _named(text: str) -> _Element:
    """The type of one name."""
    full = SHORT.get(text, text)
    if full in FULL:
        return _Element(text, full, dtypes.dtype(FULL[full]))
    if text in AMBIGUOUS:
        raise ProblemError(
            "data type {!r} is {} to some and {} to others: write one of the two".format(text, *AMBIGUOUS[text])
        )
    if re.fullmatch("v[0-9]+", text) or text in dtypes.SWAPPED:
        return _Element(text, text, dtypes.dtype(text))
    if re.fullmatch(_OF_NUMPY, text):
        try:
            found = np.dtype(text)
        except Exception:
            raise ProblemError(f"unknown data type {cut(text, 40)!r}: NumPy has none of this name") from None
        return _Element(text, str(found), dtypes.from_numpy(found, text))
    raise ProblemError(f"unknown data type {cut(text, 40)!r}: {_hint(text)}")


def _hint(text: str) -> str:
    known = {name.lower(): name for name in (*FULL, *SHORT, *dtypes.PAIRS)}
    near = locks.imported("difflib").get_close_matches(cut(text, 40).lower(), known, n=3, cutoff=0.7)
    if near:
        return f"near matches are {', '.join(known[name] for name in near)}"
    return (
        f"the choices are {', '.join(dtypes.spellings())}, v<bytes> up to v{MAX_ITEMSIZE}, full names such as float32,"
        " uint8 or bool, and NumPy's such as <f4"
    )
