"""`transpose` into another type: numbers are converted on the way, by the rule of `problem/conversion.py`."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from ..arguments import flag, one_of, reason, shown
from ..errors import ArrayError, ProblemError
from ..operands import torch_tensor
from ..operands.operand import Array, Operand
from ..operands.reading import operand, result_place
from ..operands.types import as_dtype, named, spelled
from ..problem import type_names
from . import assignment, public
from .call import UNSAFE, Call
from .checks import check_beta, check_result, permuted, scaled
from .result_memory import empty
from .results import base, is_masked

CASTING = ("no", "equiv", "safe", "same_kind", "unsafe")


def transposed(a: Any, call: Call) -> Any:
    """`transpose` with `dtype`, of an array on the host. ArrayError, ProblemError."""
    effort, given = call.plans(), operand(a, "a")
    if given.on_device or call.stream is not None:
        raise ArrayError("dtype and stream do not go together: arrays on a device are converted by their own library")
    view, wanted = permuted(given.view, call.axes), wanted_dtype(call.dtype)
    if wanted == view.dtype:
        transpose: Any = public.transpose
        return transpose(a, **call._replace(dtype=None, casting=UNSAFE, saturate=False)._asdict())
    if is_masked(view) or view.dtype.hasobject:
        raise ArrayError(f"dtype {spelled(wanted)}: arrays that are masked, or hold objects, are converted by NumPy")
    _check_casting(view.dtype, wanted, call.casting)
    saturate = flag("saturate", call.saturate, ProblemError)
    if call.out is None:
        check_beta(call.beta)
        target, result = None, _new(base(view), wanted, call)
    else:
        target = result_place(call.out, "out")
        result = _place(target, wanted, view)
    scale = scaled(view.dtype, wanted, call.alpha, call.beta, call.conjugate, given.conjugated, saturate)
    if target is not None and target.written is not None:
        target.written()
    fresh = target is None
    assignment.mover().assign(base(view), base(result), scale, call.most(view), effort, fresh=fresh)
    return _handed(given, result) if fresh else call.out


def wanted_dtype(given: Any) -> np.dtype[Any]:
    """The dtype that is asked for, in NumPy's words, PyTorch's, or those of `Problem`. ArrayError."""
    if isinstance(given, np.dtype):
        return given
    name = str(given).removeprefix("torch.")
    if type(given).__module__ == "torch" or (isinstance(given, str) and name in _FOREIGN):
        found = named(type_names.SHORT.get(name, name))
        if found is not None:
            return found
    return as_dtype(given)


_FOREIGN = ("bfloat16", "bf16", "float8_e4m3fn", "e4m3fn", "float8_e5m2", "e5m2")


def _check_casting(of: np.dtype[Any], to: np.dtype[Any], casting: str) -> None:
    rule = one_of("casting", casting, CASTING, ArrayError)
    try:
        allowed = rule == "unsafe" or bool(np.can_cast(of, to, rule))  # type: ignore[arg-type]
    except TypeError as error:
        raise ArrayError(f"casting {shown(rule)}: {reason(error)}") from None
    if not allowed:
        raise ArrayError(f"dtype {spelled(of)} is not converted to {spelled(to)} by the rule {shown(rule)}")


def _new(view: Array, wanted: np.dtype[Any], call: Call) -> Array:
    """An array as `view.astype(wanted, order)` makes it."""
    order = call.placed()
    if order == "A":
        order = "F" if view.flags.fnc else "C"
    if order == "K":
        return np.empty_like(view, wanted, order="K")
    return empty(view.shape, wanted, order)


def _place(target: Operand, wanted: np.dtype[Any], view: Array) -> Array:
    if target.on_device or is_masked(target.view):
        raise ArrayError("out with dtype is a plain array on the host")
    if target.view.dtype != wanted:
        raise ArrayError(f"out has dtype {spelled(target.view.dtype)}, and dtype is {spelled(wanted)}")
    check_result(target.view.shape, view)
    return target.view


def _handed(given: Operand, result: Array) -> Any:
    """A new result as an array of the caller's library."""
    if given.library != "torch":
        return given.handed(result)
    made = getattr(sys.modules["torch"], spelled(result.dtype), None)
    if made is None:
        raise ArrayError(f"PyTorch has no type {spelled(result.dtype)}")
    return torch_tensor.back(made)(result)
