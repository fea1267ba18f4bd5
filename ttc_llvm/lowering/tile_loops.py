"""Lowering inside a tile: loops over micro-tiles, and the remainders along every axis."""

from __future__ import annotations

from math import gcd

from ..lazy_dataclasses import dataclass, replace
from ..problem.canonical import Axis, Param
from ..problem.kinds import Beta
from .layout import run_axes
from .nodes import Bind, Loop, Micro, Node

OWN_EDGES = 2  # axes with remainders that have micro-tiles of their own: three beside the whole one


@dataclass(frozen=True, slots=True)
class TileSpec:
    """The loops inside one tile: axes, the tile's extents, the order, the micro-tile to shrink, whether masks serve its
    edges, and the bytes of a vector. lines: axes along which micro-tiles begin with a line of B, wherever B begins, and
    its elements: masks serve what is before the first one; with 0 elements they begin where tiles do, of which any may
    be short. backwards: the axis along which micro-tiles are walked from the last one to the first."""

    axes: tuple[Axis, ...]
    tile: tuple[int, ...]
    inner: tuple[int, ...]
    leaf: Micro
    masks: bool
    vector: int
    lines: tuple[tuple[int, ...], int] = ((), 0)
    backwards: int | None = None


def loops(t: TileSpec) -> tuple[Node, ...]:
    """Loops over micro-tiles and the remainders of every axis.

    The last block may step back. Other remainders of known length have micro-tiles of their own, unless these are many:
    masked edges take twice the instructions, and fewer lines are in flight.
    """
    remainders = [k for k in t.inner if _remainder(t, k) != 0 and not _steps_back(t, k)]
    shared = t.masks and (len(remainders) > OWN_EDGES or any(_remainder(t, k) is None for k in remainders))
    return _nest(t, list(t.inner), t.leaf, shared)


def _remainder(t: TileSpec, k: int) -> int | None:
    """Elements after the whole blocks along an axis; None where they are known at run time only."""
    extent = t.axes[k].extent
    if t.leaf.block[k] == 1:
        return 0
    if k in t.lines[0]:
        return None
    return None if isinstance(extent, Param) else extent % t.leaf.block[k]


def _steps_back(t: TileSpec, k: int) -> bool:
    """True where the last block along an axis begins early, within the one before, so that there is no remainder.

    It may where B is not read, stores are ordinary, and no tile is shorter than a block. It pays where the remainder
    would be half a block or more: there is less code, and masks cost as much as whole registers.
    """
    extent, leaf = t.axes[k].extent, t.leaf
    if isinstance(extent, Param) or k in t.lines[0] or leaf.op.beta is not Beta.ZERO or leaf.non_temporal:
        return False
    if any(one.view.place == leaf.target.place for one in leaf.sources):  # elements would be added twice
        return False
    block, last = leaf.block[k], extent % t.tile[k] or min(t.tile[k], extent)
    return last >= block and 2 * (extent % block) >= block


def _nest(t: TileSpec, axes: list[int], leaf: Micro, shared: bool) -> tuple[Node, ...]:
    if not axes:
        return (leaf,)
    k, rest = axes[0], axes[1:]
    step = leaf.block[k]
    if step == 1 and t.tile[k] == 1:
        return _nest(t, rest, leaf, shared)
    remainder = _remainder(t, k)
    exact = t.tile[k] == step and remainder == 0
    if exact:
        return _nest(t, rest, leaf, shared)
    if remainder and _steps_back(t, k):
        leaf = replace(leaf, grain=_shrunk(leaf.grain, k, gcd(leaf.grain[k], remainder)))
        return (Loop(k, t.axes[k].extent, step, Bind.SERIAL, _nest(t, rest, leaf, shared), back=True),)
    body = _nest(t, rest, leaf, shared)
    tail = None if remainder == 0 else _tail(t, k, rest, leaf, shared)
    grain = min(t.lines[1], step) if k in t.lines[0] and step > 1 else 0
    return (Loop(k, t.axes[k].extent, step, Bind.SERIAL, body, tail, grain=grain, backwards=k == t.backwards),)


def _tail(t: TileSpec, k: int, rest: list[int], leaf: Micro, shared: bool) -> tuple[Node, ...]:
    remainder = _remainder(t, k)
    if remainder is None and not (leaf.partial_line and leaf.target.strides[k] == 1):  # few elements prefetch nothing
        leaf = replace(leaf, prefetch=None)
    if remainder is None and k not in t.lines[0] and _is_row_by_row(leaf, k):
        single = replace(leaf, block=_shrunk(leaf.block, k, 1), grain=_shrunk(leaf.grain, k, 1))
        return (Loop(k, t.axes[k].extent, 1, Bind.SERIAL, _nest(t, rest, single, shared)),)
    if shared:
        return _masked(t, k, rest, leaf)
    if remainder is not None:
        return _nest(t, rest, replace(leaf, block=_shrunk(leaf.block, k, remainder)), shared)
    return _halves(t, k, rest, leaf, leaf.block[k] // 2)


def _is_row_by_row(leaf: Micro, k: int) -> bool:
    """True where an axis only counts rows of a block, which can as well be moved one by one."""
    return all(k not in run_axes(leaf.block, view.strides) for view in (leaf.source, leaf.target))


def _masked(t: TileSpec, k: int, rest: list[int], leaf: Micro) -> tuple[Node, ...]:
    """A masked edge, after whole vectors by non-temporal stores: masked stores are ordinary ones."""
    edge = replace(leaf, remainder_axes=(*leaf.remainder_axes, k), non_temporal=False)
    vector = t.vector // leaf.target.dtype.itemsize
    if not leaf.non_temporal or leaf.partial_line or k in t.lines[0] or leaf.target.strides[k] != 1:
        return _nest(t, rest, edge, True)
    if leaf.block[k] <= vector or leaf.block[k] % vector:
        return _nest(t, rest, edge, True)
    grain = _shrunk(leaf.grain, k, gcd(leaf.grain[k], vector))
    whole = _nest(t, rest, replace(leaf, block=_shrunk(leaf.block, k, vector), grain=grain), True)
    tail = _nest(t, rest, replace(edge, grain=grain), True)
    return (Loop(k, t.axes[k].extent, vector, Bind.SERIAL, whole, tail),)


def _halves(t: TileSpec, k: int, rest: list[int], leaf: Micro, step: int) -> tuple[Node, ...]:
    """A remainder known at run time only on a machine without masks: blocks of half the size, a quarter, ... 1."""
    grain = _shrunk(leaf.grain, k, gcd(leaf.grain[k], step))
    narrow = replace(leaf, block=_shrunk(leaf.block, k, step), grain=grain)
    body = _nest(t, rest, narrow, False)
    tail = _halves(t, k, rest, leaf, step // 2) if step > 1 else None
    return (Loop(k, t.axes[k].extent, step, Bind.SERIAL, body, tail),)


def _shrunk(block: tuple[int, ...], k: int, extent: int) -> tuple[int, ...]:
    return (*block[:k], extent, *block[k + 1 :])
