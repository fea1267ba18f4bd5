"""The way of a call of `transpose`, `ascontiguousarray` or `asfortranarray`, loaded by the first of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import locks
from ..arguments import shown
from ..errors import ArrayError
from ..operands.operand import Array, Operand
from ..operands.reading import has_functions, operand, result_place
from ..operands.types import as_dtype
from ..runtime import runtime
from . import assignment, by_numpy, tensors
from .call import UNSAFE, Call, threads_for
from .checks import check_beta, check_result, permuted, scaled
from .results import base, copied, is_masked, new
from .scalings import PLAIN, Scaling

if TYPE_CHECKING:
    import numpy.typing as npt

    from .orders import Order

__all__ = ["Call", "contiguous", "transposed"]


_repeated: Callable[[Any, Call], Any] | None = None  # once an array on a device has come


def transposed(a: Any, call: Call) -> Any:
    """`transpose` of any array."""
    if call.dtype is not None:
        return locks.imported(".casting", __package__).transposed(a, call)
    if call.casting is not UNSAFE or call.saturate is not False:
        raise ArrayError("casting and saturate say how numbers become those of dtype, which is not given")
    result = tensors.transposed(a, call)
    if result is None and _repeated is not None and type(a) is not np.ndarray:
        result = _repeated(a, call)
    if result is not None:
        return result
    effort = call.plans()
    if type(a) is not np.ndarray and has_functions(a):
        return by_numpy.delegated(a, call)
    given = operand(a, "a")
    if given.on_device:
        return _on_device(a, given, call)
    if call.stream is not None:
        raise ArrayError("stream is for arrays on a device: this one is on the host")
    view = permuted(given.view, call.axes)
    if view.dtype.hasobject:
        return given.handed(by_numpy.objects(view, call))
    if call.out is not None:
        return _into(given, view, call, effort)
    scale = scaled(view.dtype, view.dtype, call.alpha, call.beta, call.conjugate, given.conjugated)
    if scale is not PLAIN:
        check_beta(call.beta if scale.beta else 0)
    order = call.placed()
    if order != "C" and not given.strided:
        raise ArrayError(f"order {call.order!r}: arrays of {given.library} have no order in memory of their own")
    return given.handed(copied(view, scale, order, call.most(view), effort))


def _into(given: Operand, view: Array, call: Call, effort: int) -> Any:
    """The result in the caller's own memory."""
    call.placed()
    out, target = call.out, result_place(call.out, "out")
    if is_masked(out) or is_masked(view):
        raise ArrayError("out and masked arrays do not go together: transpose data and mask one by one")
    if target.on_device:
        raise ArrayError(f"out is a {type(out).__name__} on a device: the array is on the host")
    if target.view.dtype.hasobject:
        raise ArrayError(f"out has dtype {target.view.dtype}, which holds Python objects: the array has {view.dtype}")
    check_result(target.view.shape, view)
    scale = scaled(view.dtype, target.view.dtype, call.alpha, call.beta, call.conjugate, given.conjugated)
    of, to = base(view), base(target.view)
    if target.written is not None:
        target.written()
    assignment.mover().assign(of, to, scale, call.most(view), effort)
    return out


def contiguous(a: Any, dtype: npt.DTypeLike | None, order: Order, like: Any, threads: int | None) -> Any:
    """`ascontiguousarray` or, with order F, `asfortranarray`."""
    if threads is not None:
        runtime.thread_count(threads)
    if like is not None and type(like) is not np.ndarray:
        return by_numpy.contiguous(a, dtype, order, like)
    given = operand(a, "a")
    if given.on_device:
        raise ArrayError(f"a is a {type(a).__name__} on a device: ttc_llvm.transpose makes contiguous arrays there")
    array = given.view.view(np.ndarray)
    done = array.flags.c_contiguous if order == "C" else array.flags.f_contiguous
    if given.back is not None and given.strided:
        if dtype is not None:
            raise ArrayError(f"dtype {shown(dtype)} is for NumPy's arrays: {given.library} converts its own")
        own = given.conjugated or not given.locked  # else the memory is that of a lazy view's resolved copy
        return a if done and own else given.handed(_resolved(array, given, order, threads))
    wanted: Any = array.dtype if dtype is None else dtype if isinstance(dtype, type(np.dtype)) else as_dtype(dtype)
    if done or array.dtype.hasobject or wanted != array.dtype:  # a class of dtypes, as np.dtypes.StrDType, is NumPy's
        return by_numpy.contiguous(given.view, wanted, order)
    return new(array, PLAIN, order, threads_for(threads, array), 1)


def _resolved(array: Array, given: Operand, order: str, threads: int | None) -> Array:
    scale: Scaling = scaled(array.dtype, array.dtype, 1, 0, False, given.conjugated)
    return new(array, scale, order, threads_for(threads, array), 1)


def _on_device(a: Any, given: Operand, call: Call) -> Any:
    global _repeated
    with locks.IMPORTS:
        from . import gpu as on_device
        from .repeated_calls import repeated
    _repeated = repeated
    return on_device.transpose(a, given, call)
