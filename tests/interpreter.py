"""A NumPy interpreter of loop nests: it proves lowering right (or wrong) without LLVM.

It also checks what the IR builders rely on: intervals are as long as the blocks that work on them, blocks start
at multiples of their grain, scratch is large enough and read only where it was written, and every element of B
is written exactly once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import reference
from case import Case, windows
from reference import Array

from ttc_llvm.canonical import Alpha, Beta, Param, Placed, Size
from ttc_llvm.nest import Fence, Loop, LoopNest, Micro, Node, Row, Space, Stage, View


@dataclass(frozen=True, slots=True)
class Box:
    """Per space the current element, per axis the interval's start in the tensor and its length."""

    offsets: dict[Space, int]
    starts: tuple[int, ...]
    lengths: tuple[int, ...]


@dataclass(slots=True)
class Interpreter:
    """One kernel call's state. memory: flat arrays by space; params: values by slot."""

    nest: LoopNest
    memory: dict[Space, Array]
    alpha: complex
    beta: complex
    params: Sequence[int] = ()
    writes: dict[Space, Array] = field(default_factory=dict)

    def __post_init__(self) -> None:
        canonical = self.nest.canonical
        scratch = np.zeros(self.nest.scratch // canonical.a.itemsize, reference.numpy_type(canonical.a))
        self.memory[Space.SCRATCH] = scratch
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
            if isinstance(node, Loop):
                self._loop(node, box, views)
            elif isinstance(node, Stage):
                self._stage(node, box, views)
            elif isinstance(node, Micro):
                self._micro(node, box)
            elif isinstance(node, Row):
                self._row(node, box)
            else:
                assert isinstance(node, Fence)

    def _loop(self, node: Loop, box: Box, views: dict[Space, View]) -> None:
        length = box.lengths[node.axis]
        for first in range(0, length, node.step):
            chunk = min(node.step, length - first)
            body = node.body if node.tail is None or chunk == node.step else node.tail
            self.nodes(body, self._moved(box, views, node.axis, first, chunk), views)

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
        buffer = node.buffer
        assert buffer.bytes == self.nest.scratch
        self.writes[Space.SCRATCH][:] = 0
        inside = replace(box, offsets={**box.offsets, Space.SCRATCH: 0})
        wider = {**views, Space.SCRATCH: View(Space.SCRATCH, buffer.dtype, buffer.strides)}
        self.nodes(node.fill, inside, wider)
        self.nodes(node.drain, inside, wider)

    def _micro(self, node: Micro, box: Box) -> None:
        lengths = self._lengths(node, box)
        for start, grain in zip(box.starts, node.grain, strict=True):
            assert start % grain == 0, f"a block starts at {start}, off its grain {grain}"
        source, sink = (self._addresses(view, box, lengths) for view in (node.source, node.target))
        self._write(node, sink, self._value(node, source, sink))

    def _row(self, node: Row, box: Box) -> None:
        """The run's elements one after the other; what the box holds along its axes must be all of them."""
        *whole, last = node.axes
        assert node.width == int(np.prod([box.lengths[k] for k in whole], initial=1))
        assert all(n == 1 for k, n in enumerate(box.lengths) if k not in node.axes)
        run = np.arange(node.width * box.lengths[last])
        source, sink = (box.offsets[view.space] + run for view in (node.source, node.target))
        self._write(node, sink, self._value(node, source, sink))

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
        alpha = {Alpha.ZERO: 0.0, Alpha.ONE: 1.0, Alpha.ANY: self.alpha}[op.alpha]
        beta = 0.0 if op.beta is Beta.ZERO else self.beta
        return reference.combine(x, old, types, alpha, beta, op.conjugate)

    def _read(self, space: Space, where: Array) -> Array:
        assert where.min() >= 0
        if space is Space.SCRATCH:
            assert self.writes[space][where].all(), "scratch is read before it is written"
        return np.asarray(self.memory[space][where])

    def _write(self, node: Micro | Row, where: Array, value: Array) -> None:
        assert where.min() >= 0
        self.memory[node.target.space][where] = value
        np.add.at(self.writes[node.target.space], where.ravel(), 1)


def interpret(
    case: Case, nest: LoopNest, placed: Placed, a: Array, b: Array, params: Sequence[int] = ()
) -> Array:
    """B's storage after running the nest on storages a and b, which stay as they are, last task first.

    AssertionError where an element of B is written twice, or not at all, or outside of the tensor.
    """
    c = placed.canonical
    window_a, window_b = windows(case)
    unit_a, unit_b = case.a.itemsize // c.a.itemsize, case.b.itemsize // c.b.itemsize
    memory = {
        Space.A: a.view(reference.numpy_type(c.a)).copy(),
        Space.B: b.view(reference.numpy_type(c.b)).copy(),
    }
    machine = Interpreter(nest, memory, case.alpha, case.beta, params)
    offsets = window_a.origin * unit_a + placed.offset_a, window_b.origin * unit_b + placed.offset_b
    machine.run(offsets, range(machine.tasks())[::-1])
    written = np.zeros(b.shape, np.int64)
    if window_b.span:
        window_b.view(written)[...] = 1
    assert np.array_equal(machine.writes[Space.B], np.repeat(written, unit_b)), "not every element once"
    result: Array = memory[Space.B].view(b.dtype)
    return result
