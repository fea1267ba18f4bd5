"""Calls of two arrays that lie like those of an earlier call, of this process or of one before: found by one key, they
need no reading of specs."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from sys import float_info
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import locks
from ..ir_builders.result_fields import LEAST
from ..lazy_dataclasses import NamedTuple
from ..runtime import runtime
from ..runtime.once import Recent
from ..tuning.database.opened import open_database
from . import blas, kept
from .fused.run import FusedRun

if TYPE_CHECKING:
    from ..operands.operand import Array
    from .blocks import Runs
    from .pairwise import Pair

PREPARED = 4096  # contractions remembered, with their plans
PRODUCTS = "fdFD"  # the types that BLAS multiplies; NumPy computes all others
_PLAIN_SCALARS = (int, float)  # which every type admits
_LARGEST = float_info.max


class Known(NamedTuple):
    """The plan of such calls, what makes memory for a new result, and its shape there, its axes (None = in their order)
    and dtype."""

    execution: Runs | FusedRun
    empty: Callable[[tuple[int, ...], np.dtype[Any]], Array]
    shape: tuple[int, ...]
    axes: tuple[int, ...] | None
    dtype: np.dtype[Any]


_known: Recent[Known | bool] = Recent(PREPARED)  # False: not even the database knows it


def key_of(spec: Hashable, a: Any, b: Any, out: Any, alpha: Any, beta: Any) -> Hashable:
    """The key of a call whose other options are the defaults; None where it cannot be found by one."""
    if type(a) is not np.ndarray or type(b) is not np.ndarray:
        return None
    if type(alpha) not in _PLAIN_SCALARS or type(beta) not in _PLAIN_SCALARS:
        return None
    if not (-_LARGEST <= alpha <= _LARGEST and -_LARGEST <= beta <= _LARGEST):
        return None
    own = spec, a.shape, a.strides, a.dtype, b.shape, b.strides, b.dtype
    if out is None:
        return own if beta == 0 else None
    return (*own, out.shape, out.strides, out.dtype) if type(out) is np.ndarray else None


def run(key: Hashable, a: Array, b: Array, out: Array | None, alpha: complex, beta: complex) -> Any:
    """The result of a call with this key; None where none like it is known, or its arrays need a closer look."""
    known = _known.find(key)
    if known is None:
        known = _known.put(key, _kept(key, a.dtype, out) or False)
    if isinstance(known, bool) or not (a.flags.aligned and b.flags.aligned):
        return None
    if out is None:
        result = known.empty(known.shape, known.dtype)
        if known.axes is not None:
            result = result.transpose(known.axes)
        known.execution.run(a, b, result, alpha, 0)
        return result if known.shape else result[()]
    flags = out.flags
    if not (flags.writeable and flags.aligned) or np.may_share_memory(a, out) or np.may_share_memory(b, out):
        return None
    known.execution.run(a, b, out, alpha, beta)
    return out


def remember(key: Hashable, a: Array, b: Array, out: Array | None, made: Pair) -> None:
    """Keep what later calls with this key need, if these arrays are contracted as they are."""
    result = made.to.array
    if made.a.array is not a or made.b.array is not b or not (out is None or result is out):
        return
    order = np.argsort([-step for step in result.strides], kind="stable")
    axes = None if result.flags.c_contiguous else tuple(map(int, np.argsort(order)))
    shape = result.shape if axes is None else result.transpose(order).shape
    is_new, known = not _known.find(key), _made(made.execution, shape, axes, result.dtype, out)
    _known.put(key, known)
    if is_new and isinstance(made.execution, FusedRun):
        _keep(key, known)


def _made(
    execution: Runs | FusedRun, shape: tuple[int, ...], axes: tuple[int, ...] | None, dtype: Any, out: Array | None
) -> Known:
    return Known(execution, np.empty if out is not None else _maker(shape, dtype), shape, axes, dtype)


def empty(shape: tuple[int, ...], dtype: np.dtype[Any], order: str = "C") -> Array:
    """Memory for a new result."""
    made: Array = _maker(shape, dtype)(shape, dtype, order)
    return made


def _maker(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
    is_large = dtype.itemsize * math.prod(shape) >= LEAST
    return locks.imported("..arrays.result_memory", __package__).empty if is_large else np.empty


# --- by the database ------------------------------------------------------------------------------------


def _kept(key: Hashable, dtype: np.dtype[Any], out: Array | None) -> Known | None:
    """What an earlier process has prepared for such calls, unless a search has found another plan since."""
    threads = runtime.num_threads()
    found = kept.find(key, threads, blas.settings()) if dtype.char in PRODUCTS else None
    if found is None:
        return None
    prepared, (shape, axes, plan, problem, target) = found
    best = open_database(None).known(kept.searched(problem, target, threads), 1).record
    if best is not None and best.plan != plan:
        return None
    run = FusedRun(prepared, waits=False)
    return _made(run, _read(shape), _read(axes) if axes else None, np.dtype(prepared.dtype), out)


def _keep(key: Hashable, known: Known) -> None:
    """Keep the same for later processes."""
    execution: Any = known.execution
    threads = runtime.num_threads()

    def told() -> tuple[str, ...] | None:
        found = locks.imported(".search", __package__).chosen_by(execution.products, threads)
        return None if found is None else (_text(known.shape), _text(known.axes or ()), *found)

    kept.keep(key, threads, execution.prepared, told, blas.settings())


def _text(numbers: tuple[int, ...]) -> str:
    return " ".join(map(str, numbers))


def _read(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split()))
