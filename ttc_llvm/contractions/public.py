"""Functions of arrays: `einsum` and `tensordot`. What they do is loaded by the first call."""

from __future__ import annotations

from typing import Any

from .. import locks
from ..arrays import originals as originals
from ..errors import out_of_memory

_inner: Any = None


def _loaded() -> Any:
    global _inner
    _inner = locks.imported(".calls", __package__)
    return _inner


def einsum(
    *operands: Any,
    out: Any = None,
    optimize: Any = True,
    dtype: Any = None,
    order: str = "K",
    casting: str = "safe",
    alpha: complex = 1,
    beta: complex = 0,
    effort: int | str = 1,
    threads: int | None = None,
) -> Any:
    """`alpha * np.einsum(*operands) + beta * out`, by matrix products that copy as little as possible.

    operands: a spec and arrays, `einsum("ij,jk->ik", a, b)`, or arrays and lists of labels in turn, as `np.einsum`
    takes them: implied results, ellipses, diagonals, indices that are summed away, extents of 1 that broadcast. Arrays
    of NumPy, PyTorch or any library that NumPy or DLPack can read, of any strides.
    out: where the result goes, of any strides; it must not overlap an operand. Without it the result is new; of one
    operand it is a view, where one will do. order: C, F, A or K, which leaves the order of its axes in memory open: the
    one that takes fewer copies.
    optimize: the path of more than two operands: True, False (from left to right), "greedy", "optimal" or a path;
    opt_einsum finds it where it is installed, else NumPy. dtype, casting: as in NumPy.
    alpha, beta: out is read only where beta != 0.
    effort: 1 = the plan is chosen by the speeds of this machine, which the first call measures; more: so many plans are
    timed when a contraction is new, or as in `transpose`. threads: of the copies, by default those of
    `set_num_threads`; BLAS uses its own.

    BLAS multiplies float32, float64, complex64 and complex128: SciPy's where it is installed, else NumPy's. All other
    types are NumPy's.

    Raises ProblemError for specs and scalars, ArrayError for arrays that do not fit, OptionError for options; all are
    ValueErrors.
    """
    try:
        inner = _inner or _loaded()
        call = inner.Call(out, alpha, beta, optimize, dtype, order, casting, effort, threads)
        return inner.computed(operands, call)
    except MemoryError as error:
        raise out_of_memory(error, "einsum") from error


def tensordot(a: Any, b: Any, axes: Any = 2, out: Any = None) -> Any:
    """`np.tensordot(a, b, axes)`, by a matrix product that copies as little as possible; see `einsum`.

    axes: how many of a's last and b's first axes are summed over, or two lists of axes. out: where the result goes.
    """
    try:
        return (_inner or _loaded()).dotted(a, b, axes, out)
    except MemoryError as error:
        raise out_of_memory(error, "tensordot") from error
