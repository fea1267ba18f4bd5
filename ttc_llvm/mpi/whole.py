"""Whole tensors, which one rank has, and their parts: permutations from and to a distribution on that rank alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arguments import between
from ..errors import ArrayError, OptionError
from ..operands.operand import Array
from ..operands.reading import operand
from .agreement import Facts, agreed
from .distribution import WHOLE, Distribution
from .plan import PermutePlan
from .splits import Axis, Block, Sizes


def scattered(comm: Any, parts: Distribution, x: Any, root: Any) -> Array:
    """This rank's part of the tensor `x` of the rank `root`. Collective."""
    source = agreed(comm, lambda: _scattered(comm, parts, x, root))
    dtype = comm.bcast(None if source is None else source.dtype, int(root))
    whole = np.empty((0, *parts.shape), dtype) if source is None else source[None]
    part = np.empty(parts.shape_of(comm.rank), dtype)
    _plan(comm, _on_one(parts, int(root)), _widened(parts), dtype)(whole, part[None])
    return part


def gathered(comm: Any, parts: Distribution, part: Any, root: Any) -> Array | None:
    """The tensor of all ranks' parts, on the rank `root`. Collective."""
    mine = agreed(comm, lambda: _gathered(comm, parts, part, root))
    at_root = comm.rank == int(root)
    whole = np.empty((int(at_root), *parts.shape), mine.dtype)
    _plan(comm, _widened(parts), _on_one(parts, int(root)), mine.dtype)(mine[None], whole)
    return whole.reshape(parts.shape) if at_root else None


def _plan(comm: Any, a: Distribution, b: Distribution, dtype: np.dtype[Any]) -> PermutePlan:
    return PermutePlan(comm, a, tuple(range(len(a.shape))), b, (dtype, dtype), None)


def _widened(parts: Distribution) -> Distribution:
    """With a first axis of extent 1, which is not split."""
    return Distribution(parts.grid, (WHOLE, *parts.dimensions), (Axis(1, 1, Block()), *parts.axes))


def _on_one(parts: Distribution, root: int) -> Distribution:
    """With a first axis of extent 1, which is on one rank, and so are all others."""
    sizes = Sizes(tuple(int(rank == root) for rank in range(parts.ranks)))
    others = (Axis(extent, 1, Block()) for extent in parts.shape)
    return Distribution((parts.ranks,), (0, *(WHOLE for _ in parts.shape)), (Axis(1, parts.ranks, sizes), *others))


def _scattered(comm: Any, parts: Distribution, x: Any, root: Any) -> tuple[Array | None, Facts]:
    at = between(0, comm.size - 1)("root", root, OptionError)
    if at != comm.rank:
        return None, {"root": str(at)}
    return _sound("x", x, parts.shape), {"root": str(at)}


def _gathered(comm: Any, parts: Distribution, part: Any, root: Any) -> tuple[Array, Facts]:
    at = between(0, comm.size - 1)("root", root, OptionError)
    mine = _sound("part", part, parts.shape_of(comm.rank))
    return mine, {"root": str(at), "dtype": str(mine.dtype)}


def _sound(name: str, x: Any, shape: tuple[int, ...]) -> Array:
    given = operand(x, name)
    view = given.view
    if given.on_device or given.conjugated or view.dtype.hasobject or view.dtype.itemsize == 0:
        raise ArrayError(f"{name} is no plain array in host memory")
    if view.shape != shape:
        raise ArrayError(f"{name} has shape {view.shape}: {shape} is expected")
    return view
