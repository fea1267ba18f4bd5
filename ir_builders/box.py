"""The place of a node in the loop nest, which is passed down the tree while it becomes IR."""

from __future__ import annotations

from llvmlite import ir

from ttc_llvm.lazy_dataclasses import dataclass, field, replace
from ttc_llvm.lowering.nodes import Loop, Micro
from ttc_llvm.lowering.operands import Buffer, PartialLine, Place, View

from .llvmlite_extensions import freeze
from .micro_tile import Sizes
from .prefetch.odometer import LoopState
from .values import I1, Int, add, at, i64, mul


@dataclass(frozen=True, slots=True)
class RunEnds:
    """Conditions that a box is the first, and the last, of its chained run."""

    first: ir.Value
    last: ir.Value


@dataclass(frozen=True, slots=True)
class Box:
    """The place of a node: by place a pointer and the strides by which it moves; per axis the interval's length, and
    that in a whole tile (0 = known at run time only); the loops around, outermost first.

    A loop that makes a single step is not among them. starts: by axis, the element at which those loops begin;
    ahead: by place, bytes from a sum's tile of A to one that is read soon; task: whether the box is in the first task
    of its chained runs, and in the last one, where runs go on from task to task.
    """

    pointers: dict[Place, ir.Value]
    views: dict[Place, View]
    lengths: tuple[Int, ...]
    nominal: tuple[int, ...]
    loops: tuple[LoopState, ...] = ()
    ahead: dict[Place, Int] | None = None
    starts: dict[int, Int] = field(default_factory=dict)
    task: RunEnds | None = None

    def ends(self, node: Micro) -> tuple[ir.Value, ir.Value]:
        """The pointers at which a micro-tile reads and writes."""
        return self.pointers[node.source.place], self.pointers[node.target.place]

    def further(self, node: Micro) -> tuple[ir.Value, ...]:
        """The pointers of what it adds."""
        return tuple(self.pointers[source.view.place] for source in node.further)

    def position(self, b: ir.IRBuilder, axis: int) -> Int:
        """The element at which the interval of an axis begins."""
        found = self.starts.get(axis, 0)
        for loop in self.loops:
            if loop.axis == axis:
                found = add(b, found, loop.counter)
        return found

    def run_ends(self, b: ir.IRBuilder, line: PartialLine) -> RunEnds:
        """The ends of the run that passes this partial line on."""
        first: ir.Value = ir.Constant(I1, 1) if self.task is None else self.task.first
        last: ir.Value = ir.Constant(I1, 1) if self.task is None else self.task.last
        for loop in self.loops:
            if (loop.axis, loop.step) in line.loops:
                first = b.and_(first, b.icmp_signed("==", loop.counter, i64(0)))
                end = b.add(loop.counter, i64(loop.step))
                last = b.and_(last, b.icmp_signed(">=", end, i64(loop.length)))
        return RunEnds(first, last)

    def moved(self, b: ir.IRBuilder, sizes: Sizes, axis: int, distance: Int, length: Int) -> Box:
        """The box `distance` elements further along an axis, with a new length there.

        Its pointers are opaque: loop strength reduction would weigh all sums of all loops' counters.
        """
        pointers = {}
        for place, pointer in self.pointers.items():
            view = self.views[place]
            offset = mul(b, distance, mul(b, sizes(view.strides[axis]), view.dtype.itemsize))
            pointers[place] = freeze(b, at(b, pointer, offset), f"{view.space.value}.i{axis}")
        lengths = (*self.lengths[:axis], length, *self.lengths[axis + 1 :])
        return replace(self, pointers=pointers, lengths=lengths)

    def opened(self, b: ir.IRBuilder, scratch: ir.Value, buffer: Buffer) -> Box:
        """This box with a buffer of scratch, which begins with the box."""
        view = View(buffer.space, buffer.dtype, buffer.strides)
        pointers = {**self.pointers, view.place: at(b, scratch, buffer.offset)}
        views = {**self.views, view.place: view}
        return replace(self, pointers=pointers, views=views)

    def tiled(self, axis: int, step: int) -> Box:
        """The same box, whose axis now is at most one step long."""
        return replace(self, nominal=(*self.nominal[:axis], step, *self.nominal[axis + 1 :]))

    def deeper(self, outer: Box, node: Loop, counter: Int, early: Int = 0) -> Box:
        """This box inside one more loop, which walks its axis' interval of the outer one."""
        k = node.axis
        trips, walk = -(-outer.nominal[k] // node.step), (early, node.backwards)
        loop = LoopState(k, i64(counter), outer.lengths[k], node.step, trips, *walk, node.joint)
        return replace(self.tiled(k, node.step), loops=(*outer.loops, loop))
