"""A NumPy interpreter of loop nests: it proves lowering right (or wrong) without LLVM.

It also checks what the IR builders rely on: intervals are as long as the blocks that work on them, blocks start
at multiples of their grain, scratch is large enough and read only where it was written, and every element of B
is written exactly once.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import reference
from case import Case, windows
from reference import Array

from ttc_llvm.lowering.nest import LoopNest
from ttc_llvm.lowering.nodes import (
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
from ttc_llvm.lowering.operands import Buffer, Carry, Space, View
from ttc_llvm.problem.canonical import Alpha, Beta, Param, Placed, Size, static


@dataclass(frozen=True, slots=True)
class Box:
    """Per space the current element, per axis the interval's start in the tensor and its length; ends: by the axis and
    step of a loop around, whether this is its first, and its last, iteration."""

    offsets: dict[Space, int]
    starts: tuple[int, ...]
    lengths: tuple[int, ...]
    ends: dict[tuple[int, int], tuple[bool, bool]] = field(default_factory=dict)


@dataclass(slots=True)
class Interpreter:
    """One kernel call's state. memory: flat arrays by space; params: values by slot; start: elements of
    B from a boundary of lines to its storage."""

    nest: LoopNest
    memory: dict[Space, Array]
    alpha: complex
    beta: complex
    params: Sequence[int] = ()
    start: int = 0
    writes: dict[Space, Array] = field(default_factory=dict)

    def __post_init__(self) -> None:
        canonical = self.nest.canonical
        for space in (Space.SCRATCH, Space.CARRY):
            scratch = np.zeros(self.nest.scratch // canonical.a.itemsize, reference.numpy_type(canonical.a))
            self.memory[space] = scratch
        self.writes = {space: np.zeros(len(m), np.int64) for space, m in self.memory.items()}

    def size(self, size: Size) -> int:
        """A size's value."""
        return self.params[size.index] if isinstance(size, Param) else size

    def run(self, offsets: tuple[int, int], order: Sequence[int]) -> None:
        """Run these tasks of the grid, in this order; offsets: of canonical element 0 in A and in B."""
        axes = self.nest.canonical.axes
        box = Box(
            {Space.A: offsets[0], Space.B: offsets[1]},
            (0,) * len(axes),
            tuple(self.size(axis.extent) for axis in axes),
        )
        views = {
            Space.A: View(Space.A, self.nest.canonical.a, self.nest.canonical.strides("a")),
            Space.B: View(Space.B, self.nest.canonical.b, self.nest.canonical.strides("b")),
        }
        grid = self.nest.grid
        for task in order:
            self.nodes(grid[-1].body if grid else self.nest.body, self._task(task, grid, box, views), views)

    def tasks(self) -> int:
        """Size of the task grid."""
        return int(np.prod([self._trips(loop) for loop in self.nest.grid], initial=1))

    def _trips(self, loop: Loop) -> int:
        return -(-self.size(loop.extent) // loop.step)

    def _task(self, task: int, grid: tuple[Loop, ...], box: Box, views: dict[Space, View]) -> Box:
        for loop in reversed(grid):
            task, index = divmod(task, self._trips(loop))
            first = index * loop.step
            box = self._moved(box, views, loop.axis, first, min(loop.step, self.size(loop.extent) - first))
        return box

    def nodes(self, nodes: tuple[Node, ...], box: Box, views: dict[Space, View]) -> None:
        """Execute a sequence of nodes."""
        for node in nodes:
            match node:
                case Loop():
                    self._loop(node, box, views)
                case Stage():
                    self._stage(node, box, views)
                case Micro():
                    self._micro(node, box, views)
                case Row():
                    self._row(node, box)
                case Keep():
                    assert node.buffer.offset == 0
                    self.nodes(node.body, *self._opened(node.buffer, box, views))
                case Recall():
                    self._recall(node, box)
                case Last():
                    self.nodes(node.body if self._ends(node.carry, box)[1] else (), box, views)
                case Rest():
                    self._rest(node, box)
                case Shifted():
                    self._shifted(node, box, views)
                case Fence():
                    pass
                case _:
                    assert_never(node)

    def _loop(self, node: Loop, box: Box, views: dict[Space, View]) -> None:
        length = box.lengths[node.axis]
        for start in range(0, length, node.step):
            first = min(start, length - node.step) if node.back else start
            chunk = min(node.step, length - first)
            assert chunk == node.step or not node.back
            body = node.body if node.tail is None or chunk == node.step else node.tail
            outer = box.ends.get((node.axis, node.step), (True, True))  # of a tile that is one block long
            here = (outer[0] and first == 0, outer[1] and first + node.step >= length)
            ends = {**box.ends, (node.axis, node.step): here}
            self.nodes(body, replace(self._moved(box, views, node.axis, first, chunk), ends=ends), views)

    def _moved(self, box: Box, views: dict[Space, View], axis: int, first: int, length: int) -> Box:
        offsets = {
            space: offset + first * self.size(views[space].strides[axis])
            for space, offset in box.offsets.items()
        }
        starts = (*box.starts[:axis], box.starts[axis] + first, *box.starts[axis + 1 :])
        return replace(
            box,
            offsets=offsets,
            starts=starts,
            lengths=(*box.lengths[:axis], length, *box.lengths[axis + 1 :]),
        )

    def _stage(self, node: Stage, box: Box, views: dict[Space, View]) -> None:
        assert node.buffer.end == self.nest.scratch
        inside, wider = self._opened(node.buffer, box, views)
        self.nodes(node.fill, inside, wider)
        self.nodes(node.drain, inside, wider)

    def _opened(self, buffer: Buffer, box: Box, views: dict[Space, View]) -> tuple[Box, dict[Space, View]]:
        if buffer.space is Space.SCRATCH:  # what waits is there from one time to the next
            self.writes[buffer.space][:] = 0
        offsets = {**box.offsets, buffer.space: buffer.offset // buffer.dtype.itemsize}
        return replace(box, offsets=offsets), {**views, buffer.space: View(buffer.space, buffer.dtype, buffer.strides)}

    def _micro(self, node: Micro, box: Box, views: dict[Space, View], grained: bool = True) -> None:
        lengths = self._lengths(node, box)
        for start, grain in zip(box.starts, node.grain, strict=True) if grained else ():
            assert start % grain == 0, f"a block starts at {start}, off its grain {grain}"
        source, sink = (self._addresses(view, box, lengths) for view in (node.source, node.target))
        if node.carry is None:
            self._write(node, sink, self._value(node, source, sink))
            return
        value = self._read(node.source.space, source)
        slots = self._addresses(views[Space.CARRY], box, lengths)
        for row in itertools.product([slice(None)], *map(range, lengths[1:])):
            first = self._ends(node.carry, box)[0] and self._is_first(node.carry, box)
            self._join(node, node.carry.elements, sink[row][0], slots[row][0], value[row], first)

    def _is_first(self, carry: Carry, box: Box) -> bool:
        """Whether the box is the first along axis 0 of its tile."""
        tile = dict(carry.loops).get(0, static(self.nest.canonical.axes[0].extent))  # longer steps are panels
        inside = [loop for loop in box.ends if loop[0] == 0 and loop[1] < tile]
        return not inside or box.ends[min(inside)][0]

    def _join(self, node: Micro, count: int, at: int, slot: int, new: Array, first: bool) -> None:
        """What waits, and what comes: a whole line at most leaves, the last elements wait. Nothing waits for a run's
        first elements, as many as a line has at least: those of the first line leave."""
        assert len(new) <= count
        assert first or self.writes[Space.CARRY][slot + count - at % count : slot + count].all()
        row = np.concatenate([self.memory[Space.CARRY][slot : slot + count], new])
        if first:
            assert len(new) == count
            line = at + np.arange(count - at % count)
            self._write(node, line, self._scaled(node, new[: len(line)], np.zeros(len(line), new.dtype)))
        elif at % count + len(new) >= count:
            line = at - at % count + np.arange(count)
            self._write(node, line, self._scaled(node, row[count - at % count :][:count], np.zeros(count, new.dtype)))
        self.memory[Space.CARRY][slot : slot + count] = row[-count:]
        self.writes[Space.CARRY][slot : slot + count] = 1

    def _rest(self, node: Rest, box: Box) -> None:
        """The row ends its run: what waits behind the last boundary leaves."""
        assert all(length == 1 for length in box.lengths[1:])
        count, end = node.carry.elements, box.offsets[Space.B] + box.lengths[0]
        rest, slot = end % count, box.offsets[Space.CARRY] + node.carry.elements
        assert self.writes[Space.CARRY][slot - rest : slot].all()
        waiting = self.memory[Space.CARRY][slot - rest : slot]
        if rest:
            self._write(node, end - rest + np.arange(rest), self._scaled(node, waiting, np.zeros(rest, waiting.dtype)))

    def _shifted(self, node: Shifted, box: Box, views: dict[Space, View]) -> None:
        """The block from the next boundary of B on, B's base being on one, and what has no whole line."""
        axes, block, on = self.nest.canonical.axes, node.body.block, node.following
        ahead = -(box.offsets[Space.B] + self.start) % node.grain
        left = static(axes[0].extent) - box.starts[0] - ahead
        if ahead and box.starts[0] == 0 and all(box.starts[k] == 0 for k in on):
            lengths = (ahead, *(1 if k in on[-1:] else n for k, n in enumerate(box.lengths) if k))
            self._micro(node.edge, replace(box, lengths=lengths), views)
        there = self._moved(box, views, 0, ahead, block[0])
        levels = [k for k in on if box.starts[k] + block[k] < static(axes[k].extent)]
        thick = block[on[-1]] if on else 1
        if left < block[0] and not levels and thick == 1:
            if left <= 0:
                assert block[0] < node.edge.block[0]
                return
            self._micro(node.edge, replace(there, lengths=(left, *box.lengths[1:])), views, grained=False)
            return
        source, sink = (self._addresses(view, there, block) for view in (node.body.source, node.body.target))
        assert ((sink[0].ravel() + self.start) % node.grain == 0).all(), "off the boundary"
        written = np.ones(block, bool)
        if left < block[0]:
            k = levels[0] if levels else on[-1]
            before = [static(axes[j].stride_a) * (static(axes[j].extent) - 1) for j in on[: on.index(k)]]
            back = static(axes[0].stride_a) * static(axes[0].extent) + sum(before)
            source[left:] += static(axes[k].stride_a) - back
            if not levels:
                rows = (slice(-1, None) if j == on[-1] else slice(None) for j in range(1, len(block)))
                written[tuple([slice(left, None), *rows])] = False
        self._write(node.body, sink[written], self._value(node.body, source[written], sink[written]))

    def _row(self, node: Row, box: Box) -> None:
        """The run's elements one after the other; what the box holds along its axes must be all of them."""
        *whole, last = node.axes
        assert node.width == int(np.prod([box.lengths[k] for k in whole], initial=1))
        assert all(n == 1 for k, n in enumerate(box.lengths) if k not in node.axes)
        count = node.width * box.lengths[last]
        if node.carry is None:
            self._elements(node, box, 0, count)
        else:
            self._carried(node, node.carry, box, count)

    def _elements(self, node: Row, box: Box, first: int, end: int) -> None:
        source, sink = (box.offsets[view.space] + np.arange(first, end) for view in (node.source, node.target))
        if first < end:
            self._write(node, sink, self._value(node, source, sink))

    def _carried(self, node: Row, carry: Carry, box: Box, count: int) -> None:
        """Whole lines, from what waits on, ordinary ends at those of the run; B's base is taken to be on a line."""
        first, last = self._ends(carry, box)
        past = box.offsets[Space.B] % carry.elements
        start = min(count, -past % carry.elements) if first else -past
        done = start + (count - start) // carry.elements * carry.elements
        self._elements(node, box, 0 if first else start, count if last else done)
        assert first is False or last or count >= carry.elements
        self._moved_within(Space.SCRATCH, count - carry.elements, Space.CARRY, 0, carry.elements, box)

    def _ends(self, carry: Carry, box: Box) -> tuple[bool, bool]:
        """Whether the box is the first, and the last, of its run."""
        ends = [box.ends[loop] for loop in carry.loops if loop in box.ends]
        return all(first for first, _ in ends), all(last for _, last in ends)

    def _recall(self, node: Recall, box: Box) -> None:
        size = node.carry.elements
        self._moved_within(Space.CARRY, 0, Space.SCRATCH, -size, size, box)

    def _moved_within(self, source: Space, first: int, target: Space, at: int, count: int, box: Box) -> None:
        """Elements from one part of scratch to another, and whether they have been written."""
        here, there = box.offsets[source] + first, box.offsets[target] + at
        assert min(here, there) >= 0
        for found in (self.memory, self.writes):
            found[target][there : there + count] = found[source][here : here + count]

    def _lengths(self, node: Micro, box: Box) -> tuple[int, ...]:
        lengths = []
        for k, block in enumerate(node.block):
            length = box.lengths[k]
            fits = 0 < length <= block if k in node.ragged else length == block
            assert fits, f"axis {k}: an interval of {length} meets a block of {block}"
            lengths.append(length)
        return tuple(lengths)

    def _addresses(self, view: View, box: Box, lengths: tuple[int, ...]) -> Array:
        where = np.full((), box.offsets[view.space])
        for length, stride in zip(lengths, view.strides, strict=True):
            where = where[..., None] + np.arange(length) * self.size(stride)
        return where

    def _value(self, node: Micro | Row, source: Array, sink: Array) -> Array:
        types, op = (node.source.dtype, node.target.dtype), node.op
        x = np.zeros(source.shape, reference.numpy_type(types[0]))
        old = np.zeros(source.shape, reference.numpy_type(types[1]))
        if op.alpha is not Alpha.ZERO:
            x = self._read(node.source.space, source)
        if op.beta is not Beta.ZERO:
            old = self._read(node.target.space, sink)
        return self._scaled(node, x, old)

    def _scaled(self, node: Micro | Row | Rest, x: Array, old: Array) -> Array:
        source = node.carry if isinstance(node, Rest) else node.source
        types, op = (source.dtype, node.target.dtype), node.op
        alpha = {Alpha.ZERO: 0.0, Alpha.ONE: 1.0, Alpha.ANY: self.alpha}[op.alpha]
        beta = 0.0 if op.beta is Beta.ZERO else self.beta
        return reference.combine(x, old, types, alpha, beta, op.conjugate)

    def _read(self, space: Space, where: Array) -> Array:
        assert where.min() >= 0
        if space is Space.SCRATCH:
            assert self.writes[space][where].all(), "scratch is read before it is written"
        return np.asarray(self.memory[space][where])

    def _write(self, node: Micro | Row | Rest, where: Array, value: Array) -> None:
        assert where.min() >= 0
        self.memory[node.target.space][where] = value
        np.add.at(self.writes[node.target.space], where.ravel(), 1)


def interpret(
    case: Case, nest: LoopNest, placed: Placed, a: Array, b: Array, params: Sequence[int] = (), start: int = 0
) -> Array:
    """B's storage after running the nest on storages a and b, which stay as they are, last task first. start: elements
    of B from a boundary of lines to its storage.

    AssertionError where an element of B is written twice (but where blocks step back), or not at all, or outside.
    """
    c = placed.canonical
    window_a, window_b = windows(case)
    unit_a, unit_b = case.a.itemsize // c.a.itemsize, case.b.itemsize // c.b.itemsize
    memory = {
        Space.A: a.view(reference.numpy_type(c.a)).copy(),
        Space.B: b.view(reference.numpy_type(c.b)).copy(),
    }
    machine = Interpreter(nest, memory, case.alpha, case.beta, params, start=start)
    offsets = window_a.origin * unit_a + placed.offset_a, window_b.origin * unit_b + placed.offset_b
    machine.run(offsets, range(machine.tasks())[::-1])
    written = np.zeros(b.shape, np.int64)
    if window_b.span:
        window_b.view(written)[...] = 1
    once, writes = np.repeat(written, unit_b), machine.writes[Space.B]
    assert np.array_equal(np.minimum(writes, 1), once), "not every element, or others"
    assert writes.max(initial=0) <= 2 ** str(nest).count(" back"), "an element more than once"
    result: Array = memory[Space.B].view(b.dtype)
    return result
