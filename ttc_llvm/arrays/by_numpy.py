"""Copies that NumPy itself makes: of arrays that have NumPy's functions of their own, of elements that are Python
objects, and conversions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..arguments import flag, number, reason, shown
from ..errors import ArrayError, ProblemError
from ..operands.operand import Array
from ..runtime import runtime
from . import originals
from .call import Call
from .checks import check_result
from .overlaps import is_permuted, meet

if TYPE_CHECKING:
    import numpy.typing as npt


def delegated(a: Any, call: Call) -> Any:
    """`np.transpose(a, axes).copy()` for objects that implement it: an object of their own. ArrayError where it fails,
    and for what a copy does not do."""
    what = f"a is a {type(a).__module__.partition('.')[0]} {type(a).__name__}, which transposes itself"
    if call.out is not None or call.stream is not None or call.placed() != "C":
        raise ArrayError(f"{what}: out, order and stream are for arrays in memory")
    _check_scalars(what, call)
    if call.threads is not None:
        runtime.thread_count(call.threads)
    try:
        view = originals.TRANSPOSE(a, call.axes)
        return view.copy() if hasattr(view, "copy") else view
    except MemoryError:
        raise
    except Exception as error:
        raise ArrayError(f"{what}, and fails: {reason(error)}") from error


def objects(view: Array, call: Call) -> Any:
    """NumPy's copy of a transposed view whose elements are, or hold, references."""
    _check_scalars(f"dtype {view.dtype} holds Python objects", call)
    order: Any = call.placed()
    out = call.out
    if out is None:
        return view.copy(order)
    if not isinstance(out, np.ndarray) or out.dtype != view.dtype:
        raise ArrayError(f"out is no array of dtype {view.dtype}, whose elements hold Python objects")
    check_result(out.shape, view)
    if not out.flags.writeable:
        raise ArrayError("out is read-only: the result is written to it")
    if is_permuted(view, out):
        view = view.copy()
    else:
        meet(view, out)
    np.copyto(out, view)
    return out


def _check_scalars(what: str, call: Call) -> None:
    for name, value, neutral in (("alpha", call.alpha, 1), ("beta", call.beta, 0)):
        if number(name, value) != neutral:
            raise ProblemError(f"{what}: {name} = {shown(value)} is for floating-point arrays in memory")
    if flag("conjugate", call.conjugate, ProblemError):
        raise ProblemError(f"{what}: conjugate is for floating-point arrays in memory")


def contiguous(a: Any, dtype: npt.DTypeLike | None, order: str, like: Any = None) -> Any:
    """The result of NumPy's function for contiguous arrays of this order. ArrayError where it refuses."""
    given: dict[str, Any] = {"dtype": dtype, "like": like}
    given = {name: value for name, value in given.items() if value is not None}
    try:
        return originals.CONTIGUOUS[order](a, **given)
    except MemoryError:
        raise
    except Exception as error:
        to = "contiguous" if dtype is None else f"dtype {shown(dtype)}"
        raise ArrayError(f"a cannot be converted to {to}: {reason(error)}") from None
