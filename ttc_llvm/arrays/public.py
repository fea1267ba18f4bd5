"""Functions of arrays: `transpose`, `ascontiguousarray`, `asfortranarray`, materialised and fast."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from .. import locks
from ..arguments import COUNT, shown
from ..errors import ArrayError, out_of_memory, states_memory
from ..operands.operand import Array, Operand
from ..operands.reading import has_functions, operand, result_place
from ..runtime import runtime
from . import assignment, by_numpy, shortcut
from .call import Call, Order, threads_for
from .checks import as_dtype, check_beta, check_result, permuted, scaled
from .pairs import PLAIN, Scaling
from .results import base, copied, is_masked, new, usual

ZERO, ONE, C_ORDER = 0, 1, "C"  # the defaults, which a call that leaves them alone passes on as they are


def transpose(
    a: Any,
    axes: Any = None,
    *apart: NoReturn,
    out: Any = None,
    alpha: complex = 1,
    beta: complex = 0,
    conjugate: bool = False,
    order: Order = "C",
    threads: int | None = None,
    effort: int | str = 1,
    stream: Any = None,
) -> Any:
    """`alpha * transpose(a, axes) + beta * out`, in memory of its own: `np.transpose(a, axes).copy()` at speed.

    a: an array of any strides and fixed-size dtype, of NumPy, PyTorch, JAX or any library that NumPy or DLPack can
    read; the result is of the same library, where that has arrays of its own. A subclass stays what it is, a masked
    array keeps its mask; objects that implement `np.transpose` (Dask, pint) copy themselves, and Python objects are
    copied by NumPy.
    axes: as in `np.transpose`: axes[k] of a becomes axis k, None reverses them all.
    out: where the result goes, any strides: an array, a tensor or a writable buffer; it has a's dtype, or float32 for
    float64, complex64 for complex128 or the other way round. It must not overlap a, unless it is `a.transpose(axes)`
    itself. Without it the result is new, laid out by `order` as NumPy's copy does: C, F, A (F where the transposed view
    is F-contiguous) or K (as a lies in memory).
    alpha, beta, conjugate: for float32, float64, complex64 and complex128; out is read only where beta != 0, a only
    where alpha != 0, and a complex 1 does not multiply (inf + 1j stays so). All other dtypes are moved bit for bit, and
    real numbers are their own conjugates.
    threads: by default those of `set_num_threads`, fewer for small arrays. effort: 1 = the cost model chooses the
    plan; more: so many plans are timed when a layout is new, and the best is kept in the solutions database; or
    "estimate" (1), "measure" (20), "patient" (200), "exhaustive" (-1, the whole space).

    An array on a CUDA device (of pycuda, CuPy, PyTorch, Numba, or any that speaks `__cuda_array_interface__` or DLPack)
    stays there: the result is C-contiguous and of the same library, or `out`, which is on the device too; the call
    returns before the device has finished. stream: to launch on, of any of these libraries; by default the arrays' own.

    Raises ArrayError (a ValueError) for arrays and axes that do not fit, ProblemError for scalars that the dtype
    does not admit, OptionError for threads and effort.
    """
    plain = (
        out is None
        and alpha is ONE
        and beta is ZERO
        and effort is ONE
        and conjugate is False
        and order is C_ORDER
        and (threads is None or (type(threads) is int and 0 < threads <= COUNT))
    )
    try:
        if plain:
            if type(a) is np.ndarray:
                result = shortcut.taken((a.shape, a.strides, a.dtype, axes), axes, a, a.dtype)
            else:
                result = shortcut.taken_tensor(a, axes)
            if result is not None:
                return result
        if apart:
            raise ArrayError(f"axes are one argument: transpose(a, {shown((axes, *apart))})")
        return _transposed(a, Call(axes, out, alpha, beta, conjugate, order, threads, effort, stream, plain))
    except MemoryError as error:
        raise out_of_memory(error, "transpose") from error


def _transposed(a: Any, call: Call) -> Any:
    """`transpose` the long way."""
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
    key = shortcut.key_of(a, call.axes) if call.usual else None
    if key is not None:
        return usual(key, given, view, call)
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
    assignment.engine().assign(of, to, scale, call.most(view), effort)
    return out


@states_memory
def ascontiguousarray(
    a: Any, dtype: npt.DTypeLike | None = None, *, like: Any = None, threads: int | None = None
) -> Any:
    """`np.ascontiguousarray`, with fast copies: a base-class array of at least one axis, C-contiguous; of a tensor of
    PyTorch, a tensor.

    Nothing is copied where a is so already. Where dtype asks for a conversion, NumPy makes it; like: as in NumPy.
    """
    return _contiguous(a, dtype, "C", like, threads)


@states_memory
def asfortranarray(
    a: Any, dtype: npt.DTypeLike | None = None, *, like: Any = None, threads: int | None = None
) -> Any:
    """`np.asfortranarray`, with fast copies: a base-class array, Fortran-contiguous; of a tensor of PyTorch, a tensor.

    Nothing is copied where a is so already. Where dtype asks for a conversion, NumPy makes it; like: as in NumPy.
    """
    return _contiguous(a, dtype, "F", like, threads)


def _contiguous(a: Any, dtype: npt.DTypeLike | None, order: Order, like: Any, threads: int | None) -> Any:
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
        return a if done else given.handed(_resolved(array, given, order, threads))
    wanted = array.dtype if dtype is None else as_dtype(dtype)
    if done or array.dtype.hasobject or wanted != array.dtype:
        return by_numpy.contiguous(given.view, wanted, order)
    return new(array, PLAIN, order, threads_for(threads, array), 1)


def _resolved(array: Array, given: Operand, order: str, threads: int | None) -> Array:
    scale: Scaling = scaled(array.dtype, array.dtype, ONE, ZERO, False, given.conjugated)
    return new(array, scale, order, threads_for(threads, array), 1)


def _on_device(a: Any, given: Operand, call: Call) -> Any:
    if call.placed() != "C":
        raise ArrayError(f"order {call.order!r} is for arrays on the host: results on a device are C-contiguous")
    with locks.LLVM:
        from . import gpu as on_device

    scalars = (call.alpha, call.beta, call.conjugate)
    return on_device.transpose(a, given, call.axes, call.out, scalars, call.stream, call.plans())
