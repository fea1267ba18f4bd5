"""Functions of arrays: `transpose`, `ascontiguousarray`, `asfortranarray`, materialised and fast.

What they do is loaded by the first call (`transposing`): a library that may never transpose anything imports them in
no time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn, overload

import numpy as np

from .. import locks
from ..arguments import shown
from ..errors import ArrayError, TtcError, out_of_memory, states_memory
from . import originals as originals
from .builtin_functions import builtin

if TYPE_CHECKING:
    import numpy.typing as npt

    from .orders import Order
    from .typing import Axes, D, Exported, Ndarray, Out, Scalar, Tensor

_inner: Any = None


def _loaded() -> Any:
    global _inner
    _inner = locks.imported(".transposing", __package__)
    return _inner


@overload
def transpose(
    a: Ndarray,
    axes: Axes = None,
    *,
    out: None = None,
    alpha: Scalar = 1,
    beta: Scalar = 0,
    conjugate: bool = False,
    order: Order = "C",
    threads: int | None = None, effort: int | str = 1,
    stream: Any = None, dtype: None = None, casting: str = "unsafe", saturate: bool = False,
) -> Ndarray: ...  # fmt: skip


@overload
def transpose(
    a: Exported,
    axes: Axes = None,
    *,
    out: None = None,
    alpha: Scalar = 1,
    beta: Scalar = 0,
    conjugate: bool = False,
    order: Order = "C",
    threads: int | None = None, effort: int | str = 1,
    stream: Any = None, dtype: None = None, casting: str = "unsafe", saturate: bool = False,
) -> Exported: ...  # fmt: skip


@overload
def transpose(
    a: Any,
    axes: Axes = None,
    *,
    out: Out,
    alpha: Scalar = 1,
    beta: Scalar = 0,
    conjugate: bool = False,
    order: Order = "C",
    threads: int | None = None, effort: int | str = 1,
    stream: Any = None, dtype: Any = None, casting: str = "unsafe", saturate: bool = False,
) -> Out: ...  # fmt: skip


@overload
def transpose(
    a: Any,
    axes: Axes = None,
    *,
    out: None = None,
    alpha: Scalar = 1,
    beta: Scalar = 0,
    conjugate: bool = False,
    order: Order = "C",
    threads: int | None = None, effort: int | str = 1,
    stream: Any = None, dtype: Any = None, casting: str = "unsafe", saturate: bool = False,
) -> Any: ...  # fmt: skip


def transpose(
    a: Any,
    axes: Any = None,
    *apart: NoReturn,
    out: Any = None,
    alpha: Scalar = 1,
    beta: Scalar = 0,
    conjugate: bool = False,
    order: Order = "C",
    threads: int | None = None,
    effort: int | str = 1,
    stream: Any = None,
    dtype: Any = None, casting: str = "unsafe", saturate: bool = False,
) -> Any:  # fmt: skip
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
    dtype: of the result, to which numbers are converted on the way, rounded once: NumPy's, PyTorch's, or a name such as
    "bfloat16"; out has it, too. Integers wrap, floats become an integer type's nearest number, NaN 0; saturate=True:
    all types do so. casting: as in `ndarray.astype`.
    threads: by default those of `set_num_threads`, fewer for small arrays. effort: 1 = the cost model chooses the
    plan; more: so many plans are timed when a layout is new, and the best is kept in the solutions database; or
    "estimate" (1), "measure" (20), "patient" (200), "exhaustive" (-1, the whole space).

    An array on a CUDA device (of pycuda, CuPy, PyTorch, Numba, or any that speaks `__cuda_array_interface__` or DLPack)
    stays there: the result is C-contiguous and of the same library, or `out`, which is on the device too; the call
    returns before the device has finished. stream: to launch on, of any of these libraries; by default the arrays' own.

    Raises ArrayError (a ValueError) for arrays and axes that do not fit, ProblemError for scalars that the dtype
    does not admit, OptionError for threads and effort.
    """
    try:
        inner = _inner or _loaded()
        if apart:
            raise ArrayError(_apart((axes, *apart)))
        call = inner.Call(axes, out, alpha, beta, conjugate, order, threads, effort, stream, dtype, casting, saturate)
        return inner.transposed(a, call)
    except MemoryError as error:
        raise out_of_memory(error, "transpose") from error


@overload
def ascontiguousarray(
    a: npt.NDArray[D], dtype: None = None, *, like: None = None, threads: int | None = None
) -> npt.NDArray[D]: ...


@overload
def ascontiguousarray(
    a: Any, dtype: type[D] | np.dtype[D], *, like: None = None, threads: int | None = None
) -> npt.NDArray[D]: ...


@overload
def ascontiguousarray(a: Tensor, dtype: None = None, *, like: None = None, threads: int | None = None) -> Tensor: ...


@overload
def ascontiguousarray(
    a: Any, dtype: npt.DTypeLike | None = None, *, like: Any = None, threads: int | None = None
) -> Any: ...


@states_memory
def ascontiguousarray(
    a: Any, dtype: npt.DTypeLike | None = None, *, like: Any = None, threads: int | None = None
) -> Any:
    """`np.ascontiguousarray`, with fast copies: a base-class array of at least one axis, C-contiguous; of a tensor of
    PyTorch, a tensor.

    Nothing is copied where a is so already. Where dtype asks for a conversion, NumPy makes it; like: as in NumPy.
    """
    return (_inner or _loaded()).contiguous(a, dtype, "C", like, threads)


@overload
def asfortranarray(
    a: npt.NDArray[D], dtype: None = None, *, like: None = None, threads: int | None = None
) -> npt.NDArray[D]: ...


@overload
def asfortranarray(
    a: Any, dtype: type[D] | np.dtype[D], *, like: None = None, threads: int | None = None
) -> npt.NDArray[D]: ...


@overload
def asfortranarray(a: Tensor, dtype: None = None, *, like: None = None, threads: int | None = None) -> Tensor: ...


@overload
def asfortranarray(
    a: Any, dtype: npt.DTypeLike | None = None, *, like: Any = None, threads: int | None = None
) -> Any: ...


@states_memory
def asfortranarray(
    a: Any, dtype: npt.DTypeLike | None = None, *, like: Any = None, threads: int | None = None
) -> Any:
    """`np.asfortranarray`, with fast copies: a base-class array, Fortran-contiguous; of a tensor of PyTorch, a tensor.

    Nothing is copied where a is so already. Where dtype asks for a conversion, NumPy makes it; like: as in NumPy.
    """
    return (_inner or _loaded()).contiguous(a, dtype, "F", like, threads)


PYTHON: dict[str, Callable[..., Any]] = {
    "transpose": transpose, "ascontiguousarray": ascontiguousarray, "asfortranarray": asfortranarray,
}  # fmt: skip
"""The functions above, which serve what the builtin functions of their names do not (`native_entry`)."""


def _apart(given: tuple[Any, ...]) -> str:
    """What is wrong with arguments behind a that are more than one."""
    if hasattr(given[0], "__index__"):
        return f"axes are one argument: transpose(a, {shown(given)})"
    return "only a and axes are given by position: say transpose(a, axes, out=out)"


def _first(name: str) -> Callable[..., Any]:
    """The function of this name until there is native code, which the first call with an array of NumPy's looks for.
    Where there will be none, Python serves every call."""

    def called(*given: Any, **named: Any) -> Any:
        if given and type(given[0]) is np.ndarray and _is_native():
            return globals()[name](*given, **named)
        return PYTHON[name](*given, **named)

    return called


def _is_native() -> bool:
    """Whether functions are native by now: what native code cannot be had for is said where Python serves a call."""
    try:
        entry = locks.imported(".native_entry", __package__)
        return bool(entry.is_ready() and entry.is_bound())
    except (TtcError, MemoryError):
        return False


if not TYPE_CHECKING:
    transpose, ascontiguousarray, asfortranarray = (builtin(PYTHON[name], _first(name)) for name in PYTHON)
