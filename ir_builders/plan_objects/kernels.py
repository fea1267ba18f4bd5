"""The kernels behind plan objects: any extents and strides, in a few variants for each pair of types and kind of alpha
and beta."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ttc_llvm.lazy_dataclasses import dataclass, replace
from ttc_llvm.lowering.any_size import LANES, LANES_WITHOUT_MASKS, Slots
from ttc_llvm.lowering.bodies import SCALE, SCALE_B, ZERO
from ttc_llvm.lowering.lower import lower
from ttc_llvm.lowering.nest import LoopNest
from ttc_llvm.lowering.nodes import Loop, Micro, Node, Peeled, every
from ttc_llvm.lowering.operands import RowOrder
from ttc_llvm.lowering.plan import CpuPlan, Fetch, Store
from ttc_llvm.machine.target import Exchange, Target
from ttc_llvm.problem.canonical import Axis, Canonical, Param
from ttc_llvm.problem.dtypes import DType
from ttc_llvm.problem.kinds import COPY, UPDATE, Beta, Kinds

from . import fields as f

KINDS = (COPY, SCALE, UPDATE, ZERO, SCALE_B)  # in the order of `fields`
FAR = tuple(reversed(range(2, f.AXES)))  # axes that are walked index by index
LONG = 1 << 40  # a panel's extent that no tensor reaches
PIECE = 128  # bytes of a row of B, and of A, in a tile
ROWS = 4  # that are copied by one micro-tile: short ones share a mask
ROW = 4 << 10  # bytes of a row in a tile where rows are copied
ORDER = tuple(Param(f.ORDER_SLOT + k, f"order{k}") for k in range(1 + f.ORDERED))
ROWS_IN_ORDER = RowOrder(tuple(range(2, f.AXES)), ORDER[1:], 1, ORDER[0], f.ORDER_SLOT + len(ORDER))


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


def lowered(built: Built, target: Target) -> LoopNest:
    """The nest of a variant. Where B is not read and stores are ordinary, remainders begin early: micro-tiles that
    write some elements twice take half of the time of masked ones."""
    nest = lower(built.canonical, built.plan, target)
    if built.follows:
        nest = replace(nest, params=(*nest.params, *ORDER))
        return replace(nest, order=ROWS_IN_ORDER) if nest.scratch else _peeled(nest, target)
    if built.plan.store is not Store.CACHED or built.canonical.kinds.beta is not Beta.ZERO:
        return nest
    near = [k for k, axis in enumerate(built.canonical.axes) if 1 in (axis.stride_a, axis.stride_b)]

    def early(node: Node) -> Node:
        inside = node.map(early)
        if isinstance(inside, Loop) and inside.tail is not None and inside.axis in near:
            return replace(inside, back=True)
        return inside

    return replace(nest, body=tuple(map(early, nest.body)))


def _peeled(nest: LoopNest, target: Target) -> LoopNest:
    """The same nest, whose rows of B are whole lines and continue in each other, for a B that begins off a line."""
    line = target.line // nest.canonical.b.itemsize

    def off_lines(node: Node) -> Node:
        if isinstance(node, Micro):
            edge = replace(node, remainder_axes=(0, 1), non_temporal=False, prefetch=None)
            return Peeled(node, edge, line, (), order=ROWS_IN_ORDER)
        if isinstance(node, Loop) and node.axis == 0 and node.tail is not None:
            inside = [leaf for leaf in every(node.tail) if isinstance(leaf, Micro)]
            if all(0 in leaf.remainder_axes for leaf in inside):
                node = replace(node, tail=None)
        return node.map(off_lines)

    return replace(nest, body=tuple(map(off_lines, nest.body)))


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
    edge = _edge(moved, target)
    block = (max(2 * edge, target.line // moved.b.itemsize), max(1, edge // 2))
    side = max(block[0], PIECE // moved.b.itemsize)
    return _along_a(moved, (side, side), block, 8)


def _columns_lines(moved: Moved, target: Target) -> Built:
    """The same of one line of B."""
    edge = _edge(moved, target)
    block = max(edge, target.line // moved.b.itemsize), edge
    return _along_a(moved, (block[0], 8 * edge), block, 3)


def _aligned_peeled(moved: Moved, target: Target) -> Built:
    """`_columns_aligned` where B begins off a line, and its rows, whole lines, follow each other."""
    return replace(_columns_aligned(moved, target), follows=True)


def _lines_peeled(moved: Moved, target: Target) -> Built:
    """The same of `_columns_lines`."""
    return replace(_columns_lines(moved, target), follows=True)


def _along_a(moved: Moved, tile: tuple[int, int], block: tuple[int, int], ahead: int) -> Built:
    """Tiles go along A, for the same piece of all rows of B, so that A is read in order."""
    plan = _plan(tile, block, (0, *FAR, 1), f.AXES)
    return Built(_canonical(moved, 1), plan.changed(store=Store.ALIGNED, inner=(0, 1, *FAR), prefetch=ahead))


def _columns_chained(moved: Moved, target: Target) -> Built:
    """Tiles go along A, over as many rows of B as there are slots for their partial lines."""
    line, edge = max(1, target.line // moved.b.itemsize), _edge(moved, target)
    joins = moved.a == moved.b and target.joins(moved.b.itemsize)
    block = (line, edge) if joins else (edge, edge)
    side, near = max(2 * line, edge), 16 * edge if joins else max(edge, min(2 * line, 64))
    plan, panel = _plan((side, near), block, (*FAR, 0, 1), f.AXES), (LONG, f.SLOTS, *(1,) * len(FAR))
    if joins:
        plan = plan.changed(store=Store.COMBINED, inner=(0, 1, *FAR), panel=panel, prefetch=12)
    else:
        plan = plan.changed(store=Store.COMBINED, inner=(1, 0, *FAR), panel=panel, **_ahead(2))
    return Built(_canonical(moved, 1), plan, follows=True)


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
