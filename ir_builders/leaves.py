"""Leaves of the loop nest as IR: micro-tiles, peeled ones, rows, and the slots of partial lines."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import prod

from llvmlite import ir

from ttc_llvm.lowering.nodes import FlushSlot, LoadSlot, Micro, Peeled, Row
from ttc_llvm.lowering.operands import PartialLine, Place, Prefetch, RowOrder, Space
from ttc_llvm.problem.canonical import static

from . import row_copy
from .box import Box
from .context import Context
from .joined import LineJoiner
from .memory import Access
from .micro_tile import MicroTile
from .micro_tile_code import MicroTileCode
from .peeled import Continues, Peeling
from .peeled_rows import OrderedPeeling
from .prefetch import scratch_drain
from .prefetch.prefetches import ahead, prefetches
from .prefetch.scratch_drain import DrainShare
from .row_copy import ChainSlot, RowCopy
from .scale import apply
from .values import at, guarded, i64, mul

A: Place = (Space.A, 0)
B: Place = (Space.B, 0)
SLOTS: Place = (Space.SLOTS, 0)


def micro(k: Context, b: ir.IRBuilder, node: Micro, box: Box) -> None:
    """A micro-tile in place, or a call of the one function that serves every masked edge of its kind."""
    tile, pointers, line = MicroTile.of(node, k.machine), box.ends(node), node.partial_line
    spread = _prefetches(k, b, tile, box)
    if node.remainder_axes and not line:
        k.edges.call(b, node, pointers, box.lengths, box.further(node))
        return
    slots = (k.joined, (box.pointers[SLOTS], box.views[SLOTS])) if line else None
    first = _begins_run(b, line, box) if line and _may_begin(node, line) else None
    lengths = {j: i64(box.lengths[j]) for j in node.remainder_axes}
    code = MicroTileCode(
        k.module, b, tile, pointers, k.scalars, k.sizes, lengths, slots, first, further=box.further(node)
    )
    code.emit(spread)


def _may_begin(node: Micro, line: PartialLine) -> bool:
    """True where a run may begin with such a micro-tile: none is shorter than a line."""
    whole = not set(node.remainder_axes) & set(line.run)
    return whole and prod(node.block[j] for j in line.run) >= line.elements


def _begins_run(b: ir.IRBuilder, line: PartialLine, box: Box) -> ir.Value:
    """True where runs begin with the micro-tile at this box: it is the first of its tile, which is the first."""
    first: ir.Value = box.run_ends(b, line).first
    inside = max((k for k, loop in enumerate(box.loops, 1) if (loop.axis, loop.step) in line.loops), default=0)
    for loop in box.loops[inside:]:
        if loop.axis == line.run[-1]:
            first = b.and_(first, b.icmp_signed("==", loop.counter, i64(0)))
    return first


def peeled(k: Context, b: ir.IRBuilder, node: Peeled, box: Box) -> None:
    """A micro-tile at B's boundaries, or a masked edge; and another edge before a row's first boundary."""
    if node.order is not None:
        _peeled_in_order(k, b, node, node.order, box)
        return
    peeling, tile = Peeling.of(b, node, box, k.axes, k.arguments["b"]), MicroTile.of(node.body, k.machine)
    lengths = box.lengths
    with guarded(b, peeling.is_head(b), "head"):
        k.edges.call(b, node.edge, box.ends(node.edge), peeling.head(lengths))
    there = box.moved(b, k.sizes, node.axis, peeling.ahead, node.body.block[node.axis])
    source, target = there.ends(node.body)
    spread = _prefetches(k, b, tile, there, None if node.axis else peeling)
    tail = peeling.is_tail(b)

    def whole(stops: ir.Value | None) -> None:
        continuation = peeling.continuation(b, source, stops=stops)
        code = MicroTileCode(k.module, b, tile, (source, target), k.scalars, k.sizes, {}, continuation=continuation)
        code.emit(spread)

    if peeling.is_thick:
        whole(tail)
        return
    with b.if_else(tail) as (then, otherwise):
        with then, guarded(b, peeling.is_left(b), "rest"):
            k.edges.call(b, node.edge, (source, target), peeling.along(peeling.left, lengths))
        with otherwise:
            whole(None)


def _peeled_in_order(k: Context, b: ir.IRBuilder, node: Peeled, order: RowOrder, box: Box) -> None:
    """The same where only run time knows which rows follow. Micro-tiles of fewer rows are masked edges."""
    peeling = OrderedPeeling.of(k, b, node, order, box)
    with guarded(b, peeling.is_head(b), "head"):
        k.edges.call(b, node.edge, box.ends(node.edge), peeling.head(box.lengths))
    there = box.moved(b, k.sizes, 0, peeling.ahead, node.body.block[0])
    source, target = there.ends(node.body)
    if node.body.remainder_axes:
        for at_a, at_b, lengths in peeling.parts(b, source, target, box.lengths):
            k.edges.call(b, node.edge, (at_a, at_b), lengths)
        return
    tile = MicroTile.of(node.body, k.machine)
    spread = _prefetches(k, b, tile, there, peeling)
    continuation = peeling.continuation(b, source, stops=peeling.ends(b))
    MicroTileCode(
        k.module, b, tile, (source, target), k.scalars, k.sizes, {}, continuation=continuation
    ).emit(spread)


def _prefetches(
    k: Context, b: ir.IRBuilder, tile: MicroTile, box: Box, peeling: Continues | None = None
) -> list[Callable[[], None]]:
    """The prefetches of a micro-tile that are to be spread between its stores, each as a function that emits it. The
    lines of another micro-tile are prefetched here, in a burst."""
    wanted = tile.node.prefetch
    if wanted is None:
        return []
    if box.ahead is not None:
        lines = ahead(k.module, b, tile, box.pointers, box.ahead, k.sizes)
        return [partial(line.emit, k.module, b) for line in lines]
    source, target = box.ends(tile.node)
    found = prefetches(k.module, b, tile.whole, (source, target), k.sizes, box.loops, peeling)
    for one, pointer in zip(tile.whole.further, box.further(tile.node), strict=True):
        found += prefetches(k.module, b, one, (pointer, target), k.sizes, box.loops)
    if wanted.tile and not tile.node.remainder_axes:
        return [partial(line.emit, k.module, b) for line in found]
    for line in found:
        line.emit(k.module, b)
    return []


def row(k: Context, b: ir.IRBuilder, node: Row, box: Box) -> None:
    """A run of memory, in whole aligned vectors by non-temporal stores."""
    pointers = (box.pointers[node.source.place], box.pointers[node.target.place])
    length = mul(b, box.lengths[node.axes[-1]], node.width)
    nominal = box.nominal[node.axes[-1]] * node.width
    slot = None
    if node.partial_line is not None:
        slot = ChainSlot(box.pointers[SLOTS], box.run_ends(b, node.partial_line), node.partial_line)
    copy = RowCopy(k.module, b, node, k.machine, k.scalars[node.op], pointers, length, nominal, slot)
    copy.emit(_share(k, b, node.prefetch, box))


def _share(k: Context, b: ir.IRBuilder, wanted: Prefetch | None, box: Box) -> DrainShare | None:
    if wanted is None:
        return None
    source, extents = (box.pointers[A], box.views[A]), tuple(static(axis.extent) for axis in k.axes)
    return scratch_drain.share(k.module, b, source, wanted, extents, box.loops, k.machine.line)


def load_slot(k: Context, b: ir.IRBuilder, node: LoadSlot, box: Box) -> None:
    """The partial line of a row's slot, in front of the row in scratch."""
    pointers = (box.pointers[SLOTS], box.pointers[node.target.place])
    row_copy.load_slot(b, k.machine, node.partial_line, pointers)


def flush_slot(k: Context, b: ir.IRBuilder, node: FlushSlot, box: Box) -> None:
    """The partial line of a row's slot, to B."""
    item, (*inside, last) = node.target.dtype, node.partial_line.run
    access = Access(k.module, k.machine, item, node.partial_line.elements, 1)
    width = prod(static(k.axes[j].extent) for j in inside)
    end = at(b, box.pointers[B], mul(b, box.lengths[last], width * item.itemsize))

    def scaled(value: ir.Value, lanes: int) -> ir.Value:
        return apply(b, node.op, k.scalars[node.op], value, None, lanes)

    LineJoiner.of(access).flush(b, end, box.pointers[SLOTS], scaled)
