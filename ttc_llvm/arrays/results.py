"""New arrays with transposed elements, in host memory: laid out, typed and subclassed as NumPy's copies are."""

from __future__ import annotations

import sys
from collections.abc import Hashable
from contextlib import suppress
from typing import Any, cast

import numpy as np

from ..operands.addresses import data_address
from ..operands.operand import Array, Operand
from . import assignment, shortcut
from .call import Call, threads_for
from .pairs import PLAIN, Scaling

LARGE_BYTES = 1 << 20  # larger results start on a cache line, so that whole lines can be stored
LINE = 64


def copied(view: Array, scale: Scaling, order: str, most: int, effort: int) -> Any:
    """The result of `view.copy(order)`, scaled; array subclasses included. most: threads."""
    if type(view) is np.ndarray:
        return new(view, scale, order, most, effort)
    if is_masked(view):
        return _masked(view, scale, order, most, effort)
    made = new(base(view), scale, order, most, effort)
    return np.ndarray.__array_wrap__(view, made)  # the base class's: type and __array_finalize__, as in a copy


def base(x: Array) -> Array:
    """The same as an array of NumPy's own class."""
    return x if type(x) is np.ndarray else x.view(np.ndarray)


def is_masked(x: Any) -> bool:
    """True for masked arrays: there is none before `numpy.ma` is loaded, which takes as long as many calls."""
    if type(x) is np.ndarray:
        return False
    module = sys.modules.get("numpy.ma")
    return module is not None and isinstance(x, getattr(module, "MaskedArray", ()))


def _masked(view: Any, scale: Scaling, order: str, most: int, effort: int) -> Any:
    """Data and mask, each copied, and all else that a masked array hands on."""
    result: Any = copied(view.data, scale, order, most, effort).view(type(view))
    result._update_from(view)
    mask = np.ma.getmask(view)
    if mask is not np.ma.nomask:
        result._mask = new(mask, PLAIN, order, threads_for(None, mask), 1)
    return result


def usual(key: Hashable, given: Operand, view: Array, call: Call) -> Any:
    """A copy of the view, which is the operand's with permuted axes; layouts that return get a shortcut by this key."""
    result = _empty(view, "C")
    ready = assignment.engine().assign(view, result, PLAIN, call.most(view), 1, fresh=True)
    if ready is not None:
        with suppress(MemoryError):  # there is a result, and the next call is served without, too
            shortcut.offer(key, call.axes, ready, result, given.back)
    return given.handed(result)


def new(view: Array, scale: Scaling, order: str, most: int, effort: int) -> Array:
    """A base-class copy, scaled."""
    result = _empty(view, order)
    assignment.engine().assign(view, result, scale, most, effort, fresh=True)
    return result


def _empty(view: Array, order: str) -> Array:
    """Memory for a copy. NumPy's allocator reuses pages that are there already: half the time of fresh ones."""
    if order == "A":
        order = "F" if view.flags.fnc else "C"
    if view.nbytes >= LARGE_BYTES:
        return _aligned(view, order)
    if order == "K":
        return np.empty_like(view, order="K", subok=False)
    return cast(Array, np.empty(view.shape, view.dtype, cast(Any, order)))


def _aligned(view: Array, order: str) -> Array:
    raw = np.empty(view.nbytes + LINE, np.uint8)
    strides = np.empty_like(view, order="K", subok=False).strides if order == "K" else None  # never touched
    start = -data_address(raw) % LINE
    return cast(Array, np.ndarray(view.shape, view.dtype, raw, start, strides, cast(Any, order)))
