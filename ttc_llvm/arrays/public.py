"""Functions of NumPy arrays: `transpose`, `ascontiguousarray`, `asfortranarray`, materialised and fast."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import Any, Literal, cast, get_args

import numpy as np
import numpy.typing as npt

from .. import locks
from ..arguments import COUNT, one_of
from ..errors import ArrayError, out_of_memory, states_memory
from ..gpu.array_arguments import is_on_device
from ..runtime import runtime
from ..runtime.addresses import data_address
from ..tuning import efforts
from . import assignment, shortcut
from .checks import as_array, as_dtype, check_beta, check_result, converted, permuted, scaled
from .pairs import PLAIN, Array, Scaling

Order = Literal["C", "F", "A", "K"]
ORDERS = get_args(Order)
ALONE_BYTES = 64 << 10  # smaller arrays are not worth a second thread, nor the question how many there are
LARGE_BYTES = 1 << 20  # larger results start on a cache line, so that whole lines can be stored
LINE = 64
ZERO, ONE, C_ORDER = 0, 1, "C"  # the defaults, which a call that leaves them alone passes on as they are


def transpose(
    x: Any,
    axes: Any = None,
    *,
    out: Any = None,
    alpha: complex = 1,
    beta: complex = 0,
    conjugate: bool = False,
    order: Order = "C",
    threads: int | None = None,
    effort: int | str = 1,
    stream: Any = None,
) -> Any:
    """`alpha * transpose(x, axes) + beta * out`, in memory of its own: `np.transpose(x, axes).copy()` at speed.

    x: an array of any strides and fixed-size dtype, or what `np.asarray` takes; a subclass stays what it is, a
    masked array keeps its mask. axes: as in `np.transpose`: axes[k] of x becomes axis k, None reverses them all.
    out: where the result goes, any strides; it has x's dtype, or float32 for float64, complex64 for complex128 or
    the other way round; it must not overlap x. Without it the result is new, laid out by `order` as NumPy's copy
    does: C, F, A (F where the transposed view is F-contiguous) or K (as x lies in memory).
    alpha, beta, conjugate: for float32, float64, complex64 and complex128; out is read only where beta != 0, x only
    where alpha != 0, and a complex 1 does not multiply (inf + 1j stays so). All other dtypes are moved bit for bit.
    threads: by default those of `set_num_threads`, fewer for small arrays. effort: 1 = the cost model chooses the
    plan; more: so many plans are timed when a layout is new, and the best is kept in the solutions database; or
    "estimate" (1), "measure" (20), "patient" (200), "exhaustive" (-1, the whole space).

    An array on a CUDA device (of pycuda, CuPy, PyTorch, Numba, or any that speaks `__cuda_array_interface__` or DLPack)
    stays there: the result is C-contiguous and of the same library, or `out`, which is on the device too; the call
    returns before the device has finished. stream: to launch on, of any of these libraries; by default the arrays' own.

    Raises ArrayError (a ValueError) for arrays and axes that do not fit, ProblemError for scalars that the dtype
    does not admit, OptionError for threads and effort.
    """
    usual = (
        out is None
        and alpha is ONE
        and beta is ZERO
        and effort is ONE
        and conjugate is False
        and order is C_ORDER
        and (threads is None or (type(threads) is int and 0 < threads <= COUNT))
        and type(x) is np.ndarray
    )
    try:
        if usual:
            result = shortcut.taken(cast(Array, x), axes)
            if result is not None:
                return result
        return _transposed(x, axes, out, (alpha, beta, conjugate), order, threads, effort, stream, usual)
    except MemoryError as error:
        raise out_of_memory(error, "transpose") from error


def _transposed(
    x: Any,
    axes: Any,
    out: Any,
    scalars: tuple[Any, Any, Any],
    order: Order,
    threads: int | None,
    effort: int | str,
    stream: Any,
    usual: bool,
) -> Any:
    """`transpose` the long way. usual: nothing but threads is given besides the array and the axes."""
    if effort is not ONE:
        effort = efforts.effort("effort", effort)
    if not isinstance(x, np.ndarray) and is_on_device(x):
        return _on_device(x, axes, out, scalars, order, stream, effort)
    if stream is not None:
        raise ArrayError("stream is for arrays on a device: this one is on the host")
    view = permuted(as_array(x, "x"), axes)
    if out is None:
        scale = scaled(view.dtype, view.dtype, *scalars)
        if scale is not PLAIN:
            check_beta(scalars[1] if scale.beta else 0)
        if usual:
            return _usual(cast(Array, x), axes, view, threads)
        return _copied(view, scale, order, threads, effort)
    one_of("order", order, ORDERS, ArrayError)
    _check_out(out, view)
    scale = scaled(view.dtype, out.dtype, *scalars)
    assignment.engine().assign(view.view(np.ndarray), out.view(np.ndarray), scale, _threads(threads, view), effort)
    return out


@states_memory
def ascontiguousarray(
    x: npt.ArrayLike, dtype: npt.DTypeLike | None = None, *, threads: int | None = None
) -> Array:
    """`np.ascontiguousarray`, with fast copies: a base-class array of at least one axis, C-contiguous.

    Nothing is copied where x is so already. Where dtype asks for a conversion, NumPy makes it.
    """
    return _contiguous(x, dtype, "C", threads)


@states_memory
def asfortranarray(
    x: npt.ArrayLike, dtype: npt.DTypeLike | None = None, *, threads: int | None = None
) -> Array:
    """`np.asfortranarray`, with fast copies: a base-class array, Fortran-contiguous.

    Nothing is copied where x is so already. Where dtype asks for a conversion, NumPy makes it.
    """
    return _contiguous(x, dtype, "F", threads)


def _contiguous(x: npt.ArrayLike, dtype: npt.DTypeLike | None, order: Order, threads: int | None) -> Array:
    if threads is not None:
        runtime.thread_count(threads)
    if not isinstance(x, np.ndarray) and is_on_device(x):
        raise ArrayError(f"x is a {type(x).__name__} on a device: ttc_llvm.transpose makes contiguous arrays there")
    array = as_array(x, "x").view(np.ndarray)
    wanted = array.dtype if dtype is None else as_dtype(dtype)
    flags = array.flags
    done = flags.c_contiguous if order == "C" else flags.f_contiguous
    if done or array.dtype.hasobject or wanted != array.dtype:
        return converted(x, wanted, order)
    return _new(array, PLAIN, order, threads, 1)


def _on_device(
    x: Any, axes: Any, out: Any, scale: tuple[Any, Any, Any], order: str, stream: Any, effort: int
) -> Any:
    if one_of("order", order, ORDERS, ArrayError) != "C":
        raise ArrayError(f"order {order!r} is for arrays on the host: results on a device are C-contiguous")
    with locks.LLVM:
        from . import gpu as on_device

    return on_device.transpose(x, axes, out, scale, stream, effort)


# --- results --------------------------------------------------------------------------------------------


def _copied(view: Array, scale: Scaling, order: Order, threads: int | None, effort: int) -> Any:
    """What `view.copy(order)` returns, scaled; array subclasses included."""
    if type(view) is np.ndarray:
        return _new(view, scale, order, threads, effort)
    if _is_masked(view):
        return _masked(view, scale, order, threads, effort)
    made = _new(view.view(np.ndarray), scale, order, threads, effort)
    return np.ndarray.__array_wrap__(view, made)  # the base class's: type and __array_finalize__, as in a copy


def _is_masked(x: Any) -> bool:
    """True for masked arrays: there is none before `numpy.ma` is loaded, which takes as long as many calls."""
    module = sys.modules.get("numpy.ma")
    return module is not None and isinstance(x, getattr(module, "MaskedArray", ()))


def _masked(view: Any, scale: Scaling, order: Order, threads: int | None, effort: int) -> Any:
    """Data and mask, each copied, and all else that a masked array hands on."""
    result: Any = _copied(view.data, scale, order, threads, effort).view(type(view))
    result._update_from(view)
    mask = np.ma.getmask(view)
    if mask is not np.ma.nomask:
        result._mask = _new(mask, PLAIN, order, threads, 1)
    return result


def _usual(x: Array, axes: Any, view: Array, threads: int | None) -> Array:
    """A copy of the view, which is x with permuted axes; layouts that return get a shortcut."""
    result = _empty(view, "C")
    ready = assignment.engine().assign(view, result, PLAIN, _threads(threads, view), 1, fresh=True)
    if ready is not None:
        with suppress(MemoryError):  # there is a result, and the next call is served without, too
            shortcut.offer(x, axes, ready, result.shape)
    return result


def _new(view: Array, scale: Scaling, order: Order, threads: int | None, effort: int) -> Array:
    result = _empty(view, order)
    assignment.engine().assign(view, result, scale, _threads(threads, view), effort, fresh=True)
    return result


def _empty(view: Array, order: Order) -> Array:
    """Memory for a copy. NumPy's allocator reuses pages that are there already: half the time of fresh ones."""
    _check_plain(view)
    one_of("order", order, ORDERS, ArrayError)
    if order == "A":
        order = "F" if view.flags.fnc else "C"
    if view.nbytes >= LARGE_BYTES:
        return _aligned(view, order)
    if order == "K":
        return np.empty_like(view, order="K", subok=False)
    return cast(Array, np.empty(view.shape, view.dtype, order))


def _aligned(view: Array, order: Order) -> Array:
    raw = np.empty(view.nbytes + LINE, np.uint8)
    strides = np.empty_like(view, order="K", subok=False).strides if order == "K" else None  # never touched
    start = -data_address(raw) % LINE
    return cast(Array, np.ndarray(view.shape, view.dtype, raw, start, strides, order))


# --- arguments ------------------------------------------------------------------------------------------


def _check_out(out: Any, view: Array) -> None:
    if not isinstance(out, np.ndarray):
        raise ArrayError(f"out is a {type(out).__name__}: it must be an array")
    if _is_masked(out) or _is_masked(view):
        raise ArrayError("out and masked arrays do not go together: transpose data and mask one by one")
    check_result(out.shape, out.flags.writeable, view)
    _check_plain(view)
    _check_plain(out)


def _check_plain(x: Array) -> None:
    if x.dtype.hasobject:
        raise ArrayError(f"dtype {x.dtype} holds Python objects: only fixed-size plain data can be moved")


def _threads(threads: int | None, view: Array) -> int:
    if threads is not None:
        return runtime.thread_count(threads)
    return 1 if view.nbytes < ALONE_BYTES else runtime.num_threads()
