"""The kernels behind plan objects: any extents and strides, in a few variants for each pair of types and kind of alpha
and beta."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ttc_llvm.lazy_dataclasses import dataclass, replace
from ttc_llvm.lowering.any_size import LANES, LANES_WITHOUT_MASKS, Slots
from ttc_llvm.lowering.bodies import SCALE, SCALE_B, ZERO
from ttc_llvm.lowering.plan import CpuPlan, Fetch, Store
from ttc_llvm.machine.target import Exchange, Target
from ttc_llvm.problem.canonical import Axis, Canonical
from ttc_llvm.problem.dtypes import DType
from ttc_llvm.problem.kinds import COPY, UPDATE, Kinds

from . import fields as f

KINDS = (COPY, SCALE, UPDATE, ZERO, SCALE_B)  # in the order of `fields`
FAR = tuple(reversed(range(2, f.AXES)))  # axes that are walked index by index
LONG = 1 << 40  # a panel's extent that no tensor reaches
PIECE = 128  # bytes of a row of B, and of A, in a tile
ROWS = 4  # that are copied by one micro-tile: short ones share a mask
ALONG, SEVERAL = 1024, 32  # elements of a row of A, and rows that follow each other in A, in a task
ROW = 4 << 10  # bytes of a row in a tile where rows are copied


@dataclass(frozen=True, slots=True)
class Moved:
    """The work of a set of kernels: types, the kind of alpha and beta, and whether A is conjugated."""

    a: DType
    b: DType
    kinds: Kinds
    conjugate: bool = False


@dataclass(frozen=True, slots=True)
class Built:
    """A variant, ready to be lowered. follows: it goes on from row to row of B, in an order that calls tell."""

    canonical: Canonical
    plan: CpuPlan
    follows: bool = False


def variants(moved: Moved, target: Target) -> Mapping[int, Built]:
    """The variants of a set that this machine has, by number."""
    kinds = moved.kinds if target.streams or moved.kinds not in (COPY, SCALE) else UPDATE
    peels = target.exchange is not Exchange.SEGMENTS and target.has_masks(moved.a.itemsize, moved.b.itemsize)
    numbers = (number for number in _BY_KIND[kinds] if peels or number not in (f.ALIGNED_PEELED, f.LINES_PEELED))
    return {number: _VARIANTS[number](moved, target) for number in numbers}


def _canonical(moved: Moved, near: int | None) -> Canonical:
    """The form of any extents and strides. near: the axis along which A is contiguous, as B is along axis 0; None where
    nothing is."""
    slots = Slots(f.AXES)
    axes = [Axis(slots.extent(k), slots.stride_a(k), slots.stride_b(k)) for k in range(f.AXES)]
    if near is not None:
        axes[0] = replace(axes[0], stride_b=1)
        axes[near] = replace(axes[near], stride_a=1)
    return Canonical(tuple(axes), moved.a, moved.b, moved.kinds, moved.conjugate)


def _plan(tile: tuple[int, int], block: tuple[int, int], order: tuple[int, ...], parallel: int) -> CpuPlan:
    far = (1,) * len(FAR)
    return CpuPlan((*tile, *far), (*block, *far), order, order, parallel)


def _elements(moved: Moved, target: Target) -> Built:
    return Built(_canonical(moved, None), _plan((1, 1), (1, 1), (*FAR, 1, 0), len(FAR)))


def _rows(moved: Moved, target: Target) -> Built:
    width = target.lanes(_widest(moved))
    return Built(_canonical(moved, 0), _plan((64 * width, ROWS), (width, ROWS), (*FAR, 1, 0), len(FAR)))


def _rows_aligned(moved: Moved, target: Target) -> Built:
    """Two rows at a time, the next ones prefetched. Rows may be a line each: tasks have many."""
    width = 4 * target.lanes(_widest(moved))
    plan = _plan((max(width, ROW // _widest(moved) // width * width), 2), (width, 1), (*FAR, 0, 1), f.AXES - 3)
    return Built(_canonical(moved, 0), plan.changed(store=Store.ALIGNED, inner=(1, 0, *FAR), **_ahead(1)))


def _rows_long(moved: Moved, target: Target) -> Built:
    """One row at a time, which the machine prefetches."""
    width = target.lanes(_widest(moved))
    plan = _plan((max(width, ROW // _widest(moved) // width * width), 1), (width, 1), (*FAR, 1, 0), f.AXES - 1)
    return Built(_canonical(moved, 0), plan.changed(store=Store.ALIGNED))


def _rows_streamed(moved: Moved, target: Target) -> Built:
    """The same where rows begin and end anywhere."""
    width = target.lanes(_widest(moved))
    plan = _plan((max(1, ROW // _widest(moved) // width) * width, 1), (width, 1), (*FAR, 1, 0), f.AXES - 1)
    return Built(_canonical(moved, 0), plan.changed(store=Store.PEELED))


def _columns(moved: Moved, target: Target) -> Built:
    edge = _edge(moved, target)
    return Built(_canonical(moved, 1), _plan((4 * edge, 4 * edge), (edge, edge), (*FAR, 1, 0), f.AXES))


def _columns_fetched(moved: Moved, target: Target) -> Built:
    """Micro-tiles go along A; the lines of later ones are prefetched."""
    edge = _edge(moved, target)
    plan = _plan((4 * edge, 4 * edge), (edge, edge), (*FAR, 0, 1), f.AXES)
    return Built(_canonical(moved, 1), plan.changed(prefetch=4, fetch=Fetch.BLOCKS))


def _columns_aligned(moved: Moved, target: Target) -> Built:
    """Micro-tiles of two lines of B; the next ones' rows of A are prefetched."""
    return _pairs(moved, target, max(1, _edge(moved, target) // 2), 8)


def _pairs(moved: Moved, target: Target, rows: int, ahead: int) -> Built:
    length = max(2 * _edge(moved, target), target.line // moved.b.itemsize)
    return _along_a(moved, (max(length, PIECE // moved.b.itemsize), ALONG), (length, rows), ahead)


def _columns_lines(moved: Moved, target: Target) -> Built:
    """The same of one line of B."""
    edge = _edge(moved, target)
    block = max(edge, target.line // moved.b.itemsize), edge
    return _along_a(moved, (block[0], ALONG), block, 3)


def _aligned_peeled(moved: Moved, target: Target) -> Built:
    """`_columns_aligned` where B begins off a line, and its rows, whole lines, follow each other: larger tiles."""
    return replace(_pairs(moved, target, _edge(moved, target), 4), follows=True)


def _lines_peeled(moved: Moved, target: Target) -> Built:
    """The same of `_columns_lines`."""
    return replace(_columns_lines(moved, target), follows=True)


def _along_a(moved: Moved, tile: tuple[int, int], block: tuple[int, int], ahead: int) -> Built:
    """Tiles go along A, for the same piece of all rows of B, so that A is read in order."""
    plan = _plan(tile, block, (0, *FAR[1:], 1, f.SECOND), f.AXES)
    plan = plan.changed(store=Store.ALIGNED, inner=(0, 1, *FAR), prefetch=ahead, panel=(*tile, 1, 1, 1, SEVERAL))
    return Built(_canonical(moved, 1), plan)


def _columns_chained(moved: Moved, target: Target) -> Built:
    """Tiles go along A, over as many rows of B as there are slots for their partial lines, along two axes."""
    line, edge = max(1, target.line // moved.b.itemsize), _edge(moved, target)
    joins = moved.a == moved.b and target.joins(moved.b.itemsize)
    block = (line, edge) if joins else (edge, edge)
    if joins:
        plan = _plan((line, f.SLOTS), block, (*FAR[1:], 0, 1, f.SECOND), f.AXES - 1)
        plan = plan.changed(panel=(LONG, f.SLOTS, *(1,) * len(FAR[1:]), LONG), inner=(0, 1, *FAR), prefetch=12)
    else:
        plan = _plan((max(2 * line, edge), max(edge, min(2 * line, 64))), block, (*FAR, 0, 1), f.AXES)
        plan = plan.changed(panel=(LONG, f.SLOTS, *(1,) * len(FAR)), inner=(1, 0, *FAR), **_ahead(2))
    return Built(_canonical(moved, 1), plan.changed(store=Store.COMBINED), follows=True)


def _ahead(distance: int) -> dict[str, object]:
    return {"prefetch": distance, "fetch": Fetch.ROWS}


def _edge(moved: Moved, target: Target) -> int:
    """The extents of a square micro-tile."""
    masked = target.has_masks(moved.a.itemsize, moved.b.itemsize)
    return min(target.lanes(_widest(moved)), LANES if masked else LANES_WITHOUT_MASKS)


def _widest(moved: Moved) -> int:
    return max(moved.a.itemsize, moved.b.itemsize)


_VARIANTS: dict[int, Callable[[Moved, Target], Built]] = {
    f.ELEMENTS: _elements,
    f.ROWS: _rows,
    f.ROWS_ALIGNED: _rows_aligned,
    f.ROWS_LONG: _rows_long,
    f.ROWS_STREAMED: _rows_streamed,
    f.COLUMNS: _columns,
    f.COLUMNS_FETCHED: _columns_fetched,
    f.COLUMNS_ALIGNED: _columns_aligned,
    f.COLUMNS_LINES: _columns_lines,
    f.COLUMNS_CHAINED: _columns_chained,
    f.ALIGNED_PEELED: _aligned_peeled,
    f.LINES_PEELED: _lines_peeled,
}
_BY_KIND = {
    COPY: tuple(range(f.VARIANTS)),
    SCALE: tuple(range(f.VARIANTS)),
    UPDATE: (f.ELEMENTS, f.ROWS, f.COLUMNS, f.COLUMNS_FETCHED),
    ZERO: (f.ELEMENTS, f.ROWS),
    SCALE_B: (f.ELEMENTS, f.ROWS),
}
