"""A NumPy interpreter of loop nests: it proves lowering right (or wrong) without LLVM.

It also checks what the IR builders rely on: intervals are as long as the blocks that work on them, blocks start
at multiples of their grain, scratch is large enough and read only where it was written, and every element of B
is written exactly once.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import prod
from typing import NamedTuple

import numpy as np
import reference
from case import Case, windows
from reference import Array

from ttc_llvm.lowering.chain import in_scratch
from ttc_llvm.lowering.nest import LoopNest
from ttc_llvm.lowering.nodes import (
    AtRunEnd,
    Fence,
    FlushSlot,
    LoadSlot,
    Loop,
    Micro,
    Node,
    OpenSlots,
    Orbit,
    Peeled,
    Row,
    Stage,
    Tour,
    assert_never,
    every,
)
from ttc_llvm.lowering.operands import Buffer, PartialLine, Space, View
from ttc_llvm.problem.canonical import Param, Placed, Size, static
from ttc_llvm.problem.kinds import Alpha, Beta

SPACES = {space: place for place, space in enumerate(Space)}
NOWHERE = -(1 << 40)  # in scratch that is not open
Ends = dict[tuple[int, int], tuple[bool, bool]]


class Box(NamedTuple):
    """Per space (as in SPACES) the current element, per axis its strides in all spaces, the interval's start in the
    tensor and its length; ends: by the axis and step of a loop around, whether this is its first, and its last,
    iteration."""

    offsets: tuple[int, ...]
    strides: tuple[tuple[int, ...], ...]
    starts: tuple[int, ...]
    lengths: tuple[int, ...]
    ends: Ends

    def opened(self, space: Space, offset: int, strides: Sequence[int]) -> Box:
        """The box whose first element is there in this space."""
        place = SPACES[space]
        wider = tuple((*x[:place], stride, *x[place + 1 :]) for x, stride in zip(self.strides, strides, strict=True))
        offsets = (*self.offsets[:place], offset, *self.offsets[place + 1 :])
        return Box(offsets, wider, self.starts, self.lengths, self.ends)

    def moved(self, axis: int, first: int, length: int) -> Box:
        """The part of the box that begins `first` elements further along an axis."""
        offsets = tuple([at + first * step for at, step in zip(self.offsets, self.strides[axis], strict=True)])
        starts = (*self.starts[:axis], self.starts[axis] + first, *self.starts[axis + 1 :])
        return Box(offsets, self.strides, starts, _changed(self.lengths, axis, length), self.ends)


def _differing(node: Orbit, other: Box, box: Box) -> list[int]:
    """The first axis along which two tiles of an orbit begin elsewhere, if any."""
    return [k for k in node.axes if other.starts[k] != box.starts[k]][:1]


def _changed(values: tuple[int, ...], k: int, value: int) -> tuple[int, ...]:
    return (*values[:k], value, *values[k + 1 :])


@lru_cache(maxsize=4096)
def _relative(strides: tuple[int, ...], lengths: tuple[int, ...]) -> Array:
    """Where the elements of a block are, from its first one."""
    where: Array = np.zeros((), np.int64)
    for length, stride in zip(lengths, strides, strict=True):
        where = where[..., None] + np.arange(length) * stride
    return where


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
    alphas: Sequence[complex] = ()  # of the further terms of a sum
    first: int = 0  # element of A
    behind: int = 0  # elements of B between the line that it begins in and its first one
    from_lines: set[int] = field(default_factory=set)  # axes along which chunks begin with lines
    writes: dict[Space, Array] = field(default_factory=dict)
    views: dict[int, tuple[int, tuple[int, ...]]] = field(default_factory=dict)  # of the nest, by their `id`

    def __post_init__(self) -> None:
        canonical = self.nest.canonical
        joined = any(isinstance(node, Micro) and node.partial_line for node in every(self.nest.body))
        held = in_scratch(canonical)
        for space, item in ((Space.SCRATCH, held), (Space.SLOTS, canonical.b if joined else held)):
            self.memory[space] = np.zeros(self.nest.scratch // item.itemsize, reference.numpy_type(item))
        self.writes = {space: np.zeros(len(m), np.int64) for space, m in self.memory.items()}

    def size(self, size: Size) -> int:
        """A size's value."""
        return self.params[size.index] if isinstance(size, Param) else size

    def run(self, offsets: tuple[int, int], order: Sequence[int]) -> None:
        """Run these tasks of the grid, in this order; offsets: of canonical element 0 in A and in B."""
        c, nothing = self.nest.canonical, (0,) * len(SPACES)
        self.first = offsets[0]
        lines = [node for node in every(self.nest.body) if isinstance(node, Loop) and node.grain]
        self.behind = (self.start + offsets[1]) % max([1, *(node.grain for node in lines)])
        self.from_lines = {node.axis for node in lines}
        lengths = tuple(self.size(axis.extent) for axis in c.axes)
        box = Box((NOWHERE,) * len(SPACES), (nothing,) * len(lengths), (0,) * len(lengths), lengths, {})
        for space, offset, side in zip((Space.A, Space.B), offsets, ("a", "b"), strict=True):
            box = box.opened(space, offset, [self.size(stride) for stride in c.strides(side)])
        grid = self.nest.grid
        for task in order:
            place = self._task(task, grid, box)
            if min(place.lengths) > 0:
                self.nodes(grid[-1].body if grid else self.nest.body, place)

    def tasks(self) -> int:
        """Size of the task grid."""
        return int(np.prod([self._trips(loop) for loop in self.nest.grid], initial=1))

    def _trips(self, loop: Loop) -> int:
        return -(-(self.size(loop.extent) + max(0, loop.grain - 1)) // loop.step)

    def _task(self, task: int, grid: tuple[Loop, ...], box: Box) -> Box:
        for loop in reversed(grid):
            task, index = divmod(task, self._trips(loop))
            trips = self._trips(loop)
            ends = index // 2 if index % 2 == 0 else trips - 1 - index // 2
            first = (index * loop.stride % trips if loop.stride else ends) * loop.step
            first, length = self._displaced(loop, first, self.size(loop.extent))
            box = box.moved(loop.axis, first, length)
        return box

    def _displaced(self, loop: Loop, first: int, extent: int) -> tuple[int, int]:
        """The start and the length of a chunk, which is none where it is not above 0."""
        early = first - (self.behind if loop.grain else 0)
        start = max(early, 0)
        return start, min(early + loop.step, extent) - start

    def nodes(self, nodes: tuple[Node, ...], box: Box) -> None:
        """Execute a sequence of nodes."""
        for node in nodes:
            match node:
                case Loop():
                    self._loop(node, box)
                case Stage() | Orbit() | Tour():
                    self._stage(node, box)
                case Micro():
                    self._micro(node, box)
                case Row():
                    self._row(node, box)
                case OpenSlots():
                    assert node.buffer.offset == 0
                    self.nodes(node.body, self._opened(node.buffer, box))
                case LoadSlot():
                    self._load_slot(node, box)
                case AtRunEnd():
                    self.nodes(node.body if self._ends(node.partial_line, box)[1] else (), box)
                case FlushSlot():
                    self._flush_slot(node, box)
                case Peeled():
                    self._shifted(node, box)
                case Fence():
                    pass
                case _:
                    assert_never(node)

    def _loop(self, node: Loop, box: Box) -> None:
        length = box.lengths[node.axis]
        if node.grain and node.tail is None:
            for first in range(0, length + node.grain - 1, node.step):
                start, chunk = self._displaced(node, first, length)
                if chunk > 0:
                    self.nodes(node.body, box.moved(node.axis, start, chunk))
            return
        if node.grain:
            head = min(-(box.starts[node.axis] + self.behind) % node.grain, length)
            if head:
                self.nodes(node.tail or (), box.moved(node.axis, 0, head))
            box = box.moved(node.axis, head, length - head)
            length -= head
        for start in range(0, length, node.step):
            first = max(0, min(start, length - node.step)) if node.back else start
            chunk = min(node.step, length - first)
            assert chunk == node.step or not node.back or node.tail is not None
            body = node.body if node.tail is None or chunk == node.step else node.tail
            outer = box.ends.get((node.axis, node.step), (True, True))  # of a tile that is one block long
            here = (outer[0] and first == 0, outer[1] and first + node.step >= length)
            ends = {**box.ends, (node.axis, node.step): here}
            self.nodes(body, box.moved(node.axis, first, chunk)._replace(ends=ends))

    def _stage(self, node: Stage | Orbit | Tour, box: Box) -> None:
        if isinstance(node, Tour):
            self._tour(node, box)
            return
        assert node.buffer.end == self.nest.scratch
        if isinstance(node, Orbit):
            self._orbit(node, box)
            return
        inside = self._opened(node.buffer, box)
        self.nodes(node.fill, inside)
        self.nodes(node.drain, inside)

    def _orbit(self, node: Orbit, box: Box) -> None:
        """The tile and its images, found by walking the orbit itself."""
        orbit = [box]
        while (image := self._image(node, orbit[-1])).starts != box.starts:
            orbit.append(image)
        assert len(orbit) <= node.length
        if any(other.starts[k] > box.starts[k] for other in orbit for k in _differing(node, other, box)):
            return
        inside = self._opened(node.buffer, box)
        self.nodes(node.fill, inside)
        for other in orbit[:0:-1]:
            self.nodes(node.step, other)
        self.nodes(node.drain, inside)

    def _tour(self, node: Tour, box: Box) -> None:
        """The box and its images, each once, if none of them comes after it."""
        starts, lengths = box.starts, box.lengths
        places = {tuple(starts[k] for k in image): [lengths[k] for k in image] for image in node.images}
        if max(tuple(place[k] for k in node.axes) for place in places) > tuple(starts[k] for k in node.axes):
            return
        for place, ends in places.items():
            tile = box
            for k in node.axes:
                tile = tile.moved(k, place[k] - starts[k], ends[k])
            self.nodes(node.body, tile)

    def _image(self, node: Orbit, box: Box) -> Box:
        starts, lengths = box.starts, box.lengths
        for k, j in enumerate(node.image):
            box = box.moved(j, starts[k] - starts[j], lengths[k])
        return box

    def _opened(self, buffer: Buffer, box: Box) -> Box:
        if buffer.space is Space.SCRATCH:  # what waits is there from one time to the next
            self.writes[buffer.space][:] = 0
        return box.opened(buffer.space, buffer.offset // buffer.dtype.itemsize, [*map(static, buffer.strides)])

    def _micro(self, node: Micro, box: Box, grained: bool = True) -> None:
        lengths = self._lengths(node, box)
        for k, (start, grain) in enumerate(zip(box.starts, node.grain, strict=True)) if grained else ():
            behind = self.behind if k in self.from_lines else 0
            if k not in node.remainder_axes or not behind:
                assert (start + behind) % (grain or start + behind + 1) == 0, f"block at {start}, off its grain {grain}"
        source, sink = (self._addresses(view, box, lengths) for view in (node.source, node.target))
        value = self._summed(node, box, lengths, sink) if node.further else self._value(node, source, sink)
        if node.partial_line is None:
            self._write(node, sink, value)
            return
        place = SPACES[Space.SLOTS]
        slots = box.offsets[place] + _relative(tuple(strides[place] for strides in box.strides), lengths)
        line = node.partial_line
        begins = self._ends(line, box)[0] and self._is_first(line, box)
        across = [k for k in range(len(lengths)) if k not in line.run]
        rows, starts, values = (x.transpose(*across, *line.run[::-1]) for x in (sink, slots, value))
        for row in itertools.product(*(range(lengths[k]) for k in across)):
            at, slot, new = rows[row].ravel()[0], starts[row].ravel()[0], values[row].ravel()
            for done in range(0, len(new), line.elements):  # register by register
                part = new[done : done + line.elements]
                self._join(node, line.elements, at + done, slot, part, begins and done == 0)

    def _is_first(self, line: PartialLine, box: Box) -> bool:
        """Whether the box is the first along the run of its tile."""
        last = line.run[-1]
        tile = dict(line.loops).get(last, static(self.nest.canonical.axes[last].extent))  # longer steps are panels
        inside = [loop for loop in box.ends if loop[0] == last and loop[1] < tile]
        return not inside or box.ends[min(inside)][0]

    def _join(self, node: Micro, count: int, at: int, slot: int, new: Array, first: bool) -> None:
        """What waits, and what comes: a whole line at most leaves, the last elements wait. Nothing waits for a run's
        first elements, as many as a line has at least: those of the first line leave."""
        assert len(new) <= count
        assert first or self.writes[Space.SLOTS][slot + count - at % count : slot + count].all()
        row = np.concatenate([self.memory[Space.SLOTS][slot : slot + count], new])
        if first:
            assert len(new) == count
            line = at + np.arange(count - at % count)
            self._write(node, line, new[: len(line)])
        elif at % count + len(new) >= count:
            line = at - at % count + np.arange(count)
            self._write(node, line, row[count - at % count :][:count])
        self.memory[Space.SLOTS][slot : slot + count] = row[-count:]
        self.writes[Space.SLOTS][slot : slot + count] = 1

    def _flush_slot(self, node: FlushSlot, box: Box) -> None:
        """The row ends its run: what waits behind the last boundary leaves."""
        run = node.partial_line.run
        assert all(length == 1 for k, length in enumerate(box.lengths) if k not in run)
        length = prod(box.lengths[k] for k in run)
        count, end = node.partial_line.elements, box.offsets[SPACES[Space.B]] + length
        rest, slot = end % count, box.offsets[SPACES[Space.SLOTS]] + node.partial_line.elements
        assert self.writes[Space.SLOTS][slot - rest : slot].all()
        waiting = self.memory[Space.SLOTS][slot - rest : slot]
        if rest:
            self._write(node, end - rest + np.arange(rest), self._scaled(node, waiting, waiting))

    def _shifted(self, node: Peeled, box: Box) -> None:
        """The block from the next boundary of B on, B's base being on one, and what has no whole line."""
        axes, block, on = self.nest.canonical.axes, node.body.block, node.following
        axis, at = node.axis, box.offsets[SPACES[Space.B]] + self.start
        ahead = next(i for i in range(node.grain) if (at + i * node.step) % node.grain == 0)
        left = static(axes[axis].extent) - box.starts[axis] - ahead
        if ahead and box.starts[axis] == 0 and all(box.starts[k] == 0 for k in on):
            lengths = [1 if k in on[-1:] else n for k, n in enumerate(box.lengths)]
            lengths[axis] = ahead
            self._micro(node.edge, box._replace(lengths=tuple(lengths)))
        there = box.moved(axis, ahead, block[axis])
        levels = [k for k in on if box.starts[k] + block[k] < static(axes[k].extent)]
        thick = block[on[-1]] if on else 1
        if left < block[axis] and not levels and thick == 1:
            if left <= 0:
                assert block[axis] < node.edge.block[axis]
                return
            lengths = [*box.lengths[:axis], left, *box.lengths[axis + 1 :]]
            self._micro(node.edge, there._replace(lengths=tuple(lengths)), grained=False)
            return
        source, sink = (self._addresses(view, there, block) for view in (node.body.source, node.body.target))
        assert ((sink[(0,) * (axis + 1)].ravel() + self.start) % node.grain == 0).all(), "off the boundary"
        written = np.ones(block, bool)
        if left < block[axis]:
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
        if node.partial_line is None:
            self._elements(node, box, 0, count)
        else:
            self._chained(node, node.partial_line, box, count)

    def _elements(self, node: Row, box: Box, first: int, end: int) -> None:
        source, sink = (box.offsets[SPACES[view.space]] + np.arange(first, end) for view in (node.source, node.target))
        if first < end:
            self._write(node, sink, self._value(node, source, sink))

    def _chained(self, node: Row, line: PartialLine, box: Box, count: int) -> None:
        """Whole lines, from what waits on, ordinary ends at those of the run; B's base is taken to be on a line."""
        first, last = self._ends(line, box)
        past = box.offsets[SPACES[Space.B]] % line.elements
        start = min(count, -past % line.elements) if first else -past
        done = start + (count - start) // line.elements * line.elements
        self._elements(node, box, 0 if first else start, count if last else done)
        assert first is False or last or count >= line.elements
        self._moved_within(Space.SCRATCH, count - line.elements, Space.SLOTS, 0, line.elements, box)

    def _ends(self, line: PartialLine, box: Box) -> tuple[bool, bool]:
        """Whether the box is the first, and the last, of its run."""
        ends = [box.ends[loop] for loop in line.loops if loop in box.ends]
        return all(first for first, _ in ends), all(last for _, last in ends)

    def _load_slot(self, node: LoadSlot, box: Box) -> None:
        size = node.partial_line.elements
        self._moved_within(Space.SLOTS, 0, Space.SCRATCH, -size, size, box)

    def _moved_within(self, source: Space, first: int, target: Space, at: int, count: int, box: Box) -> None:
        """Elements from one part of scratch to another, and whether they have been written."""
        here, there = box.offsets[SPACES[source]] + first, box.offsets[SPACES[target]] + at
        assert min(here, there) >= 0
        for found in (self.memory, self.writes):
            found[target][there : there + count] = found[source][here : here + count]

    def _lengths(self, node: Micro, box: Box) -> tuple[int, ...]:
        lengths = []
        for k, block in enumerate(node.block):
            length = box.lengths[k]
            fits = 0 < length <= block if k in node.remainder_axes else length == block
            assert fits, f"axis {k}: an interval of {length} meets a block of {block}"
            lengths.append(length)
        return tuple(lengths)

    def _addresses(self, view: View, box: Box, lengths: tuple[int, ...]) -> Array:
        place, strides = self._known(view)
        if not view.term:
            return box.offsets[place] + _relative(strides, lengths)
        term = self.nest.canonical.terms[view.term - 1]
        start = sum(i * s for i, s in zip(box.starts, term.strides, strict=True))
        return self.first + term.offset + start + _relative(strides, lengths)

    def _known(self, view: View) -> tuple[int, tuple[int, ...]]:
        """A view's space and its strides, as numbers."""
        known = self.views.get(id(view))
        if known is None:
            known = self.views[id(view)] = SPACES[view.space], tuple(map(self.size, view.strides))
        return known

    def _value(self, node: Micro | Row, source: Array, sink: Array) -> Array:
        if node.op.alpha is Alpha.ZERO:
            x = np.zeros(source.shape, reference.numpy_type(node.source.dtype))
        else:
            x = self._read(node.source.space, source)
        return self._scaled(node, x, x if node.op.beta is Beta.ZERO else self._read(node.target.space, sink))

    def _summed(self, node: Micro, box: Box, lengths: tuple[int, ...], sink: Array) -> Array:
        """What sources add up to, in their order, and B's part."""
        plain = replace(node, op=replace(node.op, beta=Beta.ZERO), further=())
        total = self._value(plain, self._addresses(node.source, box, lengths), sink)
        for one in node.further:
            found = self._read(one.view.space, self._addresses(one.view, box, lengths))
            added = replace(plain, source=one.view, op=replace(one.op, beta=Beta.ONE))
            total = self._scaled(added, found, total)
        if node.op.beta is Beta.ZERO:
            return total
        rest = replace(plain, op=replace(node.op, alpha=Alpha.ONE, term=0, conjugate=False))
        return self._scaled(rest, total, self._read(node.target.space, sink))

    def _scaled(self, node: Micro | Row | FlushSlot, x: Array, old: Array) -> Array:
        """old: what B holds, anything of that shape where it is not read."""
        source, op = node.partial_line if isinstance(node, FlushSlot) else node.source, node.op
        own = self.alphas[op.term - 1] if op.term else self.alpha
        alpha = own if op.alpha is Alpha.ANY else float(op.alpha is Alpha.ONE)
        beta = {Beta.ZERO: 0.0, Beta.ONE: 1.0, Beta.ANY: self.beta}[op.beta]
        return reference.combine(x, old, (source.dtype, node.target.dtype), alpha, beta, op.conjugate)

    def _read(self, space: Space, where: Array) -> Array:
        assert where.min() >= 0
        if space is Space.SCRATCH:
            assert self.writes[space][where].all(), "scratch is read before it is written"
        return np.asarray(self.memory[space][where])

    def _write(self, node: Micro | Row | FlushSlot, where: Array, value: Array) -> None:
        assert where.min() >= 0
        self.memory[node.target.space][where] = value
        np.add.at(self.writes[node.target.space], where.ravel(), 1)


def interpret(
    case: Case, nest: LoopNest, placed: Placed, a: Array, b: Array, params: Sequence[int] = (), start: int = 0,
    alphas: Sequence[complex] = (),
) -> Array:  # fmt: skip
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
    if c.in_place:
        memory[Space.A] = memory[Space.B]
    machine = Interpreter(nest, memory, case.alpha, case.beta, params, start, alphas)
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
