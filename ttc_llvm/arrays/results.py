"""New arrays with transposed elements, in host memory."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from ..operands.operand import Array
from . import assignment
from .call import threads_for
from .result_memory import new_like
from .scalings import PLAIN, Scaling


def copied(view: Array, scale: Scaling, order: str, most: int, effort: int) -> Any:
    """The result of `view.copy(order)`, scaled; array subclasses included. most: threads."""
    return (_masked if is_masked(view) else new)(view, scale, order, most, effort)


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


def new(view: Array, scale: Scaling, order: str, most: int, effort: int) -> Array:
    """A copy of the view's class, scaled."""
    result = new_like(view, order, most)
    assignment.mover().assign(base(view), base(result), scale, most, effort, fresh=True)
    return result
