"""Element types that other libraries have and NumPy lacks, as dtypes that move their bits and tell them apart."""

from __future__ import annotations

from functools import lru_cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arguments import reason, shown
from ..errors import NoDtypeError, pass_on
from ..locks import imported

if TYPE_CHECKING:
    import numpy.typing as npt

_BYTES = {
    "bfloat16": 2, "complex32": 4, "float4_e2m1fn_x2": 1,
    "float8_e3m4": 1, "float8_e4m3": 1, "float8_e4m3b11fnuz": 1, "float8_e4m3fn": 1, "float8_e4m3fnuz": 1,
    "float8_e5m2": 1, "float8_e5m2fnuz": 1, "float8_e8m0fnu": 1,
}  # fmt: skip
_NUMPY = {
    "bool": "?", "float16": "f2", "float32": "f4", "float64": "f8", "complex64": "c8", "complex128": "c16",
    **{f"{kind}{8 * size}": f"{kind[0]}{size}" for kind in ("int", "uint") for size in (1, 2, 4, 8)},
}  # fmt: skip


def as_dtype(given: npt.DTypeLike) -> np.dtype[Any]:
    """A NumPy dtype of whatever NumPy takes for one. Raises NoDtypeError."""
    try:
        return np.dtype(given)
    except Exception as error:
        pass_on(error, given)
        raise NoDtypeError(f"dtype {shown(given)} is none that NumPy knows: {reason(error)}") from None


@lru_cache(maxsize=64)
def named(name: str) -> np.dtype[Any] | None:
    """The dtype of a type by its full name: NumPy's own, or one of ml_dtypes where that is installed, or else items
    without arithmetic whose field has that name. None for types of no name here."""
    if name in _NUMPY:
        return np.dtype(_NUMPY[name])
    if name not in _BYTES:
        return None
    theirs = imported("ml_dtypes") if find_spec("ml_dtypes") is not None else None
    return np.dtype(getattr(theirs, name, [(name, f"V{_BYTES[name]}")]))


def spelled(dtype: np.dtype[Any]) -> str:
    """The name of a type, also of one that NumPy lacks."""
    names = dtype.names or ()
    return names[0] if len(names) == 1 and names[0] in _BYTES else str(dtype)


def is_real(dtype: np.dtype[Any]) -> bool:
    """True for the types of real numbers, which are their own conjugates."""
    return dtype.kind in "biuf" or (spelled(dtype) in _BYTES and spelled(dtype) != "complex32")


def is_numpys(name: str) -> bool:
    """True for full names of types that NumPy itself has."""
    return name in _NUMPY
