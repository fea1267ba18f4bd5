"""The any-size body: a problem's canonical form with run-time extents and strides in place of numbers.

Its axes are the problem's own, in B's index order, unmerged, after one axis of opaque units where items have
an odd size. Two strides are known, whatever the leading dimensions: B's along axis 0 and A's along the axis
of A's index 0. All others, and all extents, are parameters, counted in units.
"""

from __future__ import annotations

from ..lazy_dataclasses import dataclass, replace
from ..machine.target import Target
from ..problem import dtypes, orbits
from ..problem.canonical import Axis, Canonical, Param, is_move
from ..problem.dtypes import DType
from ..problem.kinds import Alpha, Kinds
from ..problem.layouts import column_major
from ..problem.problem import Problem
from .plan import CpuPlan, Store
from .tile_sizes import alike

LANES = 16  # extent of a micro-tile; a wider one gains little and its code grows with the square
LANES_WITHOUT_MASKS = 8  # each remainder is then a sequence of ever smaller micro-tiles
BLOCKS = 4  # micro-tiles along each axis of a tile
MOST_ROWS = 8
SHORTEST_ROW = 16  # bytes that are copied by one load and one store where a problem's rows have no more
TASK_LOOPS = 4  # splitting a task number costs one division per loop


@dataclass(frozen=True, slots=True)
class Slots:
    """Positions in the parameter array of a problem of this rank, per axis in B's index order."""

    rank: int

    @property
    def count(self) -> int:
        """Entries of the parameter array, 8 bytes each."""
        return 3 * self.rank

    def extent(self, k: int) -> Param:
        """Extent of B's index k."""
        return Param(k, f"n{k}")

    def stride_a(self, k: int) -> Param:
        """Stride in A along B's index k, in units."""
        return Param(self.rank + k, f"sa{k}")

    def stride_b(self, k: int) -> Param:
        """Stride in B along B's index k, in units."""
        return Param(2 * self.rank + k, f"sb{k}")

    def axis(self, problem: Problem, k: int) -> Axis:
        """The axis of B's index k. In place, axes that take each other's places have one extent, and each its stride in
        B from another one's in A."""
        if not problem.inplace:
            return Axis(self.extent(k), self.stride_a(k), self.stride_b(k))
        (cycle,) = (cycle for cycle in orbits.cycles(problem.perm) if k in cycle)
        return Axis(self.extent(min(cycle)), self.stride_b(problem.perm[k]), self.stride_b(k))


def units(problem: Problem, kinds: Kinds) -> tuple[DType, DType, int]:
    """The types that a body of these kinds moves, and how many of them make one item.

    A bit-exact copy moves opaque units: whole items, or the largest units that divide an odd item size.
    """
    if not is_move(kinds, problem.a, problem.b, problem.conjugate):
        return problem.a, problem.b, 1
    unit = dtypes.unit(problem.a)
    return unit, unit, problem.a.itemsize // unit.itemsize


def canonical(problem: Problem, kinds: Kinds) -> Canonical:
    """The any-size canonical form: size, lda and ldb have no part in it."""
    a, b, factor = units(problem, kinds)
    rank = len(problem.perm)
    slots = Slots(rank)
    axes = []
    for k, index_a in enumerate(problem.perm):
        axes.append(slots.axis(problem, k))
        stride_a = factor if index_a == 0 else axes[k].stride_a
        axes[k] = replace(axes[k], stride_a=stride_a, stride_b=factor if k == 0 else axes[k].stride_b)
    conjugate, reads = problem.conjugate, kinds.alpha is not Alpha.ZERO
    if not reads:  # A is walked as B is
        axes = [replace(axis, stride_a=axis.stride_b) for axis in axes]
        conjugate = False
    if factor > 1:
        axes.insert(0, Axis(factor, 1, 1))
    return Canonical(tuple(axes) or (Axis(1, 1, 1),), a, b, kinds, conjugate, problem.inplace and reads)


def strided(problem: Problem, kinds: Kinds) -> Canonical:
    """The canonical form of any extents and any strides: nothing is known to be contiguous but units of an item."""
    form = canonical(problem, kinds)
    slots, first = Slots(len(problem.perm)), len(form.axes) - len(problem.perm)
    axes = [slots.axis(problem, k) for k in range(len(problem.perm))]
    if kinds.alpha is Alpha.ZERO:
        axes = [replace(axis, stride_a=axis.stride_b) for axis in axes]
    return replace(form, axes=(*form.axes[:first], *axes)) if axes else form


def strided_plan(form: Canonical, target: Target) -> CpuPlan:
    """A plan of `form`, one of `strided`: element by element, whole rows in a task."""
    usual = plan(form, target)
    return replace(usual, parallel=max(1, min(usual.parallel, len(usual.order) - 1)))


def plan(form: Canonical, target: Target) -> CpuPlan:
    """A plan of `form`, an any-size canonical form, for any extents and strides.

    Micro-tiles are square on the axes that may be contiguous; the loops over those run inside all others,
    which have steps of 1.
    """
    near = _near(form)
    block = _block(form, near, target)
    far = [k for k in reversed(range(len(form.axes))) if k not in near]
    order = (*far, *reversed(near))
    tile = _tile(form, block)
    if form.in_place:
        tile, block = alike(form, tuple(BLOCKS for _ in tile) if max(tile) == 1 else tile, block)
    return CpuPlan(tile, block, order, order, min(len(order), TASK_LOOPS))


def heads(problem: Problem) -> tuple[int, ...]:
    """B's indices whose axes stand for the canonical ones, once those that continue them are merged into them.

    The rule of `merge` in an object (`ir_builders/extents.py`), at the problem's own shape.
    """
    strides_a, strides_b = column_major(problem.outer_a), column_major(problem.outer_b)
    found: list[int] = []
    whole = (1, 0, 0)
    for k, index_a in enumerate(problem.perm):
        extent, stride_a, stride_b = problem.size[index_a], strides_a[index_a], strides_b[k]
        if extent == 1:
            continue
        length, near_a, near_b = whole
        if found and stride_a == length * near_a and stride_b == length * near_b:
            whole = (length * extent, near_a, near_b)
        else:
            found.append(k)
            whole = (extent, stride_a, stride_b)
    return tuple(found)


def plan_like(own: CpuPlan, problem: Problem, form: Canonical, target: Target) -> CpuPlan:
    """A plan of `form` with the decisions of `own`, a plan of the problem's canonical form, for any extents.

    Micro-tiles keep their extents along the axes that may be contiguous, tiles and panels theirs, loops their order;
    axes that are merged or have extent 1 at the problem's own shape have steps of 1. Scratch needs known strides: tiles
    are moved directly instead.
    """
    usual = plan(form, target)
    places = heads(problem)
    if len(form.axes) != len(problem.perm) or len(places) != len(own.tile):
        return usual  # units of odd items are an axis of their own; a scalar has none
    near, rank = _near(form), len(form.axes)
    block = list(usual.block)
    tile, panel = list(usual.tile), [1] * rank
    for axis, k in enumerate(places):
        block[k] = _edge(own.block[axis], k, usual, form, target) if k in near else _rows(own.block[axis], near)
        tile[k] = _multiple(own.tile[axis], block[k])
        panel[k] = _multiple(own.panel[axis], tile[k]) if own.panel else 1
    order = _spread(own.order, places, rank, own.parallel)
    return CpuPlan(
        tuple(tile),
        tuple(block),
        order,
        _spread(own.inner, places, rank, 0),
        min(rank, max(own.parallel, TASK_LOOPS)),
        own.prefetch,
        Store.ALIGNED if own.non_temporal else Store.CACHED,
        fetch=own.fetch,
        panel=tuple(_multiple(edge, part) for edge, part in zip(panel, tile, strict=True)) if own.panel else (),
    )


def _edge(own: int, axis: int, usual: CpuPlan, form: Canonical, target: Target) -> int:
    """The extent of a micro-tile: as chosen for the problem, where that is a number of whole (or half) registers. Rows
    that are copied may be shorter, as those of a matrix panel are: they are whole blocks then, and need no masks."""
    lanes, size = target.lanes(form.widest), form.widest
    least = max(1, lanes // 2)
    if len(_near(form)) == 1:
        least = min(least, max(1, SHORTEST_ROW // size))
    fits = own & (own - 1) == 0 and own >= least
    masked = target.has_masks(form.a.itemsize, form.b.itemsize)
    return own if fits and (own <= usual.block[axis] or masked) else usual.block[axis]


def _rows(own: int, near: list[int]) -> int:
    """The rows of a micro-tile along another axis: a few where they are copied, one where blocks of them are
    transposed, whose code is large."""
    return own if own <= MOST_ROWS and len(near) == 1 else 1


def _multiple(extent: int, of: int) -> int:
    """The extent, rounded up to a multiple."""
    return -(-extent // of) * of


def _spread(own: tuple[int, ...], places: tuple[int, ...], rank: int, outside: int) -> tuple[int, ...]:
    """An order of canonical axes as one of all axes: the others after the first `outside` of them."""
    order = [places[axis] for axis in own]
    others = [k for k in reversed(range(rank)) if k not in places]
    return (*order[:outside], *others, *order[outside:])


def _near(form: Canonical) -> list[int]:
    """The axes of a known stride, ascending: along them A or B is contiguous."""
    known = [isinstance(axis.stride_a, int) or isinstance(axis.stride_b, int) for axis in form.axes]
    return [k for k, there in enumerate(known) if there]


def _block(form: Canonical, near: list[int], target: Target) -> tuple[int, ...]:
    most = LANES if target.has_masks(form.a.itemsize, form.b.itemsize) else LANES_WITHOUT_MASKS
    lanes = min(target.lanes(form.widest), most)
    units = form.axes[0].extent
    known = units if isinstance(units, int) else 1
    edge = max(1, lanes // known)
    return tuple(
        min(lanes, axis.extent) if isinstance(axis.extent, int) else edge if k in near else 1
        for k, axis in enumerate(form.axes)
    )


def _tile(form: Canonical, block: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(
        axis.extent if isinstance(axis.extent, int) else BLOCKS * edge if edge > 1 else 1
        for axis, edge in zip(form.axes, block, strict=True)
    )
