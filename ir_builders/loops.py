"""The loop nest as IR: one function per node type; a box of pointers and lengths travels down the tree."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial

from llvmlite import ir

from ttc_llvm.lowering.nodes import (
    Bind,
    Fence,
    Keep,
    Last,
    Loop,
    Micro,
    Node,
    Recall,
    Rest,
    Row,
    Shifted,
    Stage,
    assert_never,
)
from ttc_llvm.lowering.operands import Buffer, Carry, Prefetch, Space, View
from ttc_llvm.machine.target import Target
from ttc_llvm.problem.canonical import Axis, static

from . import fetch
from .box import Box
from .drain import Share, share
from .edges import Edges
from .emission import Emission
from .join import Lines
from .memory import Access, fence
from .micro_tile import Sizes, Tile
from .rows import Kept, Run, recall
from .scale import Scalars, apply
from .seam import freeze
from .shift import Shift
from .values import I1, Int, add, at, counted, guarded, i64, minimum, mul


@dataclass(slots=True)
class Emitter:
    """The facts that one kernel's emission shares: module, machine, strides of A, B and scratch, and the bodies of
    edges."""

    module: ir.Module
    machine: Target
    axes: tuple[Axis, ...]
    sizes: Sizes
    arguments: dict[str, ir.Value]  # of the kernel: scalars, params, scratch
    edges: Edges
    scalars: dict[object, Scalars] = field(default_factory=dict)

    def nodes(self, b: ir.IRBuilder, nodes: tuple[Node, ...], box: Box, views: dict[Space, View]) -> None:
        """Emit a sequence of nodes; views: the strides by which each space's pointer moves."""
        for node in nodes:
            match node:
                case Loop():
                    self.loop(b, node, box, views)
                case Stage():
                    self.stage(b, node, box, views)
                case Micro():
                    self.micro(b, node, box, views)
                case Row():
                    self.row(b, node, box, views)
                case Keep():
                    inside, wider = self._opened(b, node.buffer, box, views)
                    self.nodes(b, node.body, inside, wider)
                case Last():
                    with guarded(b, self._kept(b, node.carry, box).last, "last"):
                        self.nodes(b, node.body, box, views)
                case Rest():
                    self.rest(b, node, box)
                case Shifted():
                    self.shifted(b, node, box, views)
                case Recall():
                    pointers = (box.pointers[Space.CARRY], box.pointers[node.target.space])
                    recall(b, self.machine, node.carry, pointers)
                case Fence():
                    fence(self.module, b, self.machine)
                case _:
                    assert_never(node)

    # --- loops ---

    def loop(self, b: ir.IRBuilder, node: Loop, box: Box, views: dict[Space, View]) -> None:
        """A serial loop: whole steps, then the shorter last chunk, to its own tail or to the same body."""
        length = box.lengths[node.axis]
        if node.back:
            self._back(b, node, box, views)
            return
        if node.tail is None and not _divides(node.step, length, node.extent):
            self._chunks(b, node, box, views)
            return
        if isinstance(length, int) and length == node.step:
            self.nodes(b, node.body, box, views)
            return
        name = f"i{node.axis}"
        with counted(b, length, node.step, name) as i:
            inside = self.moved(b, box, views, node.axis, i, node.step)
            self.nodes(b, node.body, inside.deeper(box, node, i), views)
        if node.tail is not None:
            done = b.mul(b.sdiv(i64(length), i64(node.step)), i64(node.step), name=f"{name}.whole")
            rest = b.sub(i64(length), done, name=f"{name}.rest")
            with guarded(b, b.icmp_signed(">", rest, i64(0)), f"{name}.tail"):
                behind = self.moved(b, box, views, node.axis, done, rest)
                self.nodes(b, node.tail, behind.deeper(box, node, done), views)

    def _chunks(self, b: ir.IRBuilder, node: Loop, box: Box, views: dict[Space, View]) -> None:
        length = box.lengths[node.axis]
        padded = add(b, length, node.step - 1)  # so that the last, shorter chunk is a step too
        with counted(b, padded, node.step, f"i{node.axis}") as i:
            rest = b.sub(i64(length), i)
            inside = self.moved(b, box, views, node.axis, i, minimum(b, rest, node.step))
            self.nodes(b, node.body, inside.deeper(box, node, i), views)

    def _back(self, b: ir.IRBuilder, node: Loop, box: Box, views: dict[Space, View]) -> None:
        """Whole steps only: the last one ends with the interval."""
        length = box.lengths[node.axis]
        with counted(b, add(b, length, node.step - 1), node.step, f"i{node.axis}") as i:
            start = minimum(b, i, i64(add(b, length, -node.step)))
            inside = self.moved(b, box, views, node.axis, start, node.step)
            self.nodes(b, node.body, inside.deeper(box, node, start, b.sub(i, i64(start))), views)

    def moved(
        self, b: ir.IRBuilder, box: Box, views: dict[Space, View], axis: int, distance: Int, length: Int
    ) -> Box:
        """The box `distance` elements further along an axis, with a new length there.

        Its pointers are opaque: loop strength reduction would weigh all sums of all loops' counters.
        """
        pointers = {
            space: freeze(b, at(b, pointer, self._bytes(b, views[space], axis, distance)), f"{space.value}.i{axis}")
            for space, pointer in box.pointers.items()
        }
        lengths = (*box.lengths[:axis], length, *box.lengths[axis + 1 :])
        return replace(box, pointers=pointers, lengths=lengths)

    def _bytes(self, b: ir.IRBuilder, view: View, axis: int, distance: Int) -> Int:
        return mul(b, distance, mul(b, self.sizes(view.strides[axis]), view.dtype.itemsize))

    # --- leaves ---

    def stage(self, b: ir.IRBuilder, node: Stage, box: Box, views: dict[Space, View]) -> None:
        """Fill scratch from this box, then drain it from the same box."""
        inside, wider = self._opened(b, node.buffer, box, views)
        self.nodes(b, node.fill, inside, wider)
        self.nodes(b, node.drain, inside, wider)

    def _opened(
        self, b: ir.IRBuilder, buffer: Buffer, box: Box, views: dict[Space, View]
    ) -> tuple[Box, dict[Space, View]]:
        """The box and the strides inside a buffer of scratch, which begins with the box."""
        start = at(b, self.arguments["scratch"], buffer.offset)
        view = View(buffer.space, buffer.dtype, buffer.strides)
        return replace(box, pointers={**box.pointers, buffer.space: start}), {**views, buffer.space: view}

    def rest(self, b: ir.IRBuilder, node: Rest, box: Box) -> None:
        """Store what waits in the row's slot."""
        item = node.target.dtype
        access = Access(self.module, self.machine, item, node.carry.elements, 1)
        end = at(b, box.pointers[Space.B], mul(b, box.lengths[0], item.itemsize))

        def scaled(value: ir.Value, lanes: int) -> ir.Value:
            return apply(b, node.op, self.scalars[node.op], value, None, lanes)

        Lines.of(access).rest(b, end, box.pointers[Space.CARRY], scaled)

    def micro(self, b: ir.IRBuilder, node: Micro, box: Box, views: dict[Space, View]) -> None:
        """A micro-tile in place, or a call of the one function that serves every ragged edge of its kind."""
        tile, pointers = Tile.of(node, self.machine), box.ends(node)
        requests = self.requests(b, tile, box)
        if node.ragged:
            self.edges.call(b, node, pointers, box.lengths)
            return
        slots = (box.pointers[Space.CARRY], views[Space.CARRY]) if node.carry else None
        first = self._begins(b, node.carry, box) if node.carry and node.block[0] == node.carry.elements else None
        Emission(self.module, b, tile, pointers, self.scalars[node.op], self.sizes, {}, slots, first).emit(requests)

    def shifted(self, b: ir.IRBuilder, node: Shifted, box: Box, views: dict[Space, View]) -> None:
        """A micro-tile at B's boundaries, or an edge; and another edge before a row's first boundary."""
        shift, tile, lengths = Shift.of(b, node, box, self.axes), Tile.of(node.body, self.machine), box.lengths
        with guarded(b, shift.is_head(b), "head"):
            self.edges.call(b, node.edge, box.ends(node.edge), shift.head(lengths))
        there = self.moved(b, box, views, 0, shift.ahead, node.body.block[0])
        source, target = there.ends(node.body)
        requests = self.requests(b, tile, there, shift)
        tail, scalars = shift.is_tail(b), self.scalars[node.body.op]

        def whole(stops: ir.Value | None) -> None:
            bend, ends = shift.bend(b, source, tail=stops), (source, target)
            Emission(self.module, b, tile, ends, scalars, self.sizes, {}, bend=bend).emit(requests)

        if shift.is_thick:
            whole(tail)
            return
        with b.if_else(tail) as (then, otherwise):
            with then, guarded(b, shift.is_left(b), "rest"):
                self.edges.call(b, node.edge, (source, target), (shift.left, *lengths[1:]))
            with otherwise:
                whole(None)

    def requests(
        self, b: ir.IRBuilder, tile: Tile, box: Box, shift: Shift | None = None
    ) -> list[Callable[[], None]]:
        """The prefetches of a micro-tile: each emits a prefetch. Single lines are asked for here, in a burst."""
        wanted = tile.node.prefetch
        if wanted is None:
            return []
        found = fetch.requests(self.module, b, tile.whole, box.ends(tile.node), self.sizes, box.trail, shift)
        requests: list[Callable[[], None]] = [partial(request.emit, self.module, b) for request in found]
        if wanted.tile and not tile.node.ragged:
            return requests
        for request in requests:
            request()
        return []

    def row(self, b: ir.IRBuilder, node: Row, box: Box, views: dict[Space, View]) -> None:
        """A run of memory, in whole aligned vectors past the caches."""
        pointers = (box.pointers[node.source.space], box.pointers[node.target.space])
        length = mul(b, box.lengths[node.axes[-1]], node.width)
        nominal = box.nominal[node.axes[-1]] * node.width
        kept = None if node.carry is None else self._kept(b, node.carry, box)
        run = Run(self.module, b, node, self.machine, self.scalars[node.op], pointers, length, nominal, kept)
        run.emit(self._share(b, node.prefetch, box, views[Space.A]))

    def _kept(self, b: ir.IRBuilder, carry: Carry, box: Box) -> Kept:
        """Where the box stands in its run. A loop that makes a single step leaves no trail."""
        first: ir.Value = ir.Constant(I1, 1)
        last: ir.Value = ir.Constant(I1, 1)
        for step in box.trail:
            if (step.axis, step.step) in carry.loops:
                first = b.and_(first, b.icmp_signed("==", step.counter, i64(0)))
                behind = b.add(step.counter, i64(step.step))
                last = b.and_(last, b.icmp_signed(">=", behind, i64(step.length)))
        return Kept(box.pointers[Space.CARRY], first, last, carry)

    def _begins(self, b: ir.IRBuilder, carry: Carry, box: Box) -> ir.Value:
        """Whether runs begin with the micro-tile at this box: it is the first of its tile, which is the first."""
        first: ir.Value = self._kept(b, carry, box).first
        along = [step for step in box.trail if step.axis == 0]
        if along and (0, along[-1].step) not in carry.loops:
            first = b.and_(first, b.icmp_signed("==", along[-1].counter, i64(0)))
        return first

    def _share(self, b: ir.IRBuilder, wanted: Prefetch | None, box: Box, view: View) -> Share | None:
        if wanted is None:
            return None
        source, extents = (box.pointers[Space.A], view), tuple(static(axis.extent) for axis in self.axes)
        return share(self.module, b, source, wanted, extents, box.trail, self.machine.line)


def _divides(step: int, length: Int, extent: object) -> bool:
    """True where no chunk of the interval can be shorter than the step."""
    if isinstance(length, int):
        return length % step == 0
    return isinstance(extent, int) and extent % step == 0


def is_task(node: Node) -> bool:
    """True for a loop of the task grid."""
    return isinstance(node, Loop) and node.bind is Bind.TASK
