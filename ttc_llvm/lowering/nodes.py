"""The kinds of nodes of a loop nest.

Every node works on a *box*: per axis a current interval. `Loop` walks its axis' interval in chunks of `step`; a chunk
is the interval its body sees. A `Loop` with a tail gives its body full chunks only and the remainder to the tail; one
without gives its body the shorter last chunk as well. If it steps back, the last chunk is a whole one, or half of one,
that begins within the one before, and a tail serves shorter intervals. `Micro` permutes one block of elements in
registers. Extents and strides may be parameters: the same tree, with run-time values, is the any-size body.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from typing import ClassVar, NoReturn, TypeVar

from ..lazy_dataclasses import dataclass, replace
from ..problem.canonical import Size
from .operands import Buffer, Op, PartialLine, Prefetch, RowOrder, Source, View

FROM_BOTH_ENDS = 0  # a stride of task loops whose extent is known at run time only


class Bind(Enum):
    """Who executes a loop's iterations."""

    SERIAL = "serial"
    TASK = "task"  # spread over threads: part of the task grid


_AnyNode = TypeVar("_AnyNode", bound="_Base")


class _Base:
    """A node. inside: names of the fields that hold nodes: several, one, or None."""

    __slots__ = ()
    inside: ClassVar[tuple[str, ...]] = ()

    @property
    def children(self) -> tuple[Node, ...]:
        """The nodes right inside this one, in the order of execution."""
        held = (getattr(self, name) or () for name in self.inside)
        return tuple(node for one in held for node in (one if isinstance(one, tuple) else (one,)))

    def map(self: _AnyNode, change: Callable[[Node], Node]) -> _AnyNode:
        """The same node with each of its children changed."""
        held = ((name, getattr(self, name)) for name in self.inside)
        changed = {k: tuple(map(change, v)) if isinstance(v, tuple) else change(v) for k, v in held if v is not None}
        return replace(self, **changed) if changed else self  # type: ignore[type-var]


@dataclass(frozen=True, slots=True)
class Micro(_Base):
    """Permute one block through registers.

    block: extents per axis; grain: it starts at multiples of these, counted from A's and B's first elements, 0 = there
    only; remainder_axes: axes along which the interval may be shorter than the block, by a length known at run time
    only; straight: registers are stored as they are loaded, without a permutation, to measure its memory pattern;
    loads: bytes of the longest load of A, 0 = a register's; partial_line: registers are lines of a misaligned B: each
    is joined to the partial line in its row's slot, the whole line is stored non-temporally, and the register becomes
    the partial line. Of a run's first register, the elements before the first boundary are stored at once; further:
    what is added to the source before B's part, all in registers.
    """

    source: View
    target: View
    op: Op
    block: tuple[int, ...]
    grain: tuple[int, ...]
    remainder_axes: tuple[int, ...] = ()
    prefetch: Prefetch | None = None
    non_temporal: bool = False
    straight: bool = False
    loads: int = 0
    partial_line: PartialLine | None = None
    further: tuple[Source, ...] = ()

    @property
    def sources(self) -> tuple[Source, ...]:
        """All views of A, or of scratch, that it adds up."""
        return (Source(self.source, self.op), *self.further)


@dataclass(frozen=True, slots=True)
class OpenSlots(_Base):
    """Open the slots of partial lines: the box at this point has one for each of its rows of B."""

    inside: ClassVar[tuple[str, ...]] = ("body",)
    buffer: Buffer
    body: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class LoadSlot(_Base):
    """Copy the partial line of a row's slot to scratch, before the row's first element."""

    partial_line: PartialLine
    target: View


@dataclass(frozen=True, slots=True)
class Row(_Base):
    """Copy the box's elements along these axes, innermost first, which make one run of memory on both sides: whole
    vectors by non-temporal stores from the target's first boundary on, ordinary stores before and after them.

    width: elements of all axes but the last together; following: elements of the target to the next run, 0 = there is
    none; prefetch: rows of A of a later tile, of which each run prefetches its share; partial_line: the row is part of
    a chained run, and only whole lines of B are written, except at both ends of that run.
    """

    source: View
    target: View
    op: Op
    axes: tuple[int, ...]
    width: int
    following: int = 0
    prefetch: Prefetch | None = None
    partial_line: PartialLine | None = None


@dataclass(frozen=True, slots=True)
class Loop(_Base):
    """Walk an axis in chunks of `step`, as the module's docstring says.

    extent: of the whole axis, or of a tile known to be whole; back: the last chunk steps back where it would be short:
    elements are then written twice, the same both times; half: for a last one of half a step; stride: of a task loop,
    iteration number i is at chunk i * stride modulo their number, or chunks come FROM_BOTH_ENDS in turn, so that
    threads share unequal ones evenly; grain: elements from one of B's lines to the next: all chunks but the first begin
    with a line, wherever B begins; the first one is shorter, and goes to the tail, if any; backwards: of a serial loop
    without either, from the last chunk on; joint: A goes on in the next chunk from the end of the loop inside.
    """

    inside: ClassVar[tuple[str, ...]] = ("body", "half", "tail")
    axis: int
    extent: Size
    step: int
    bind: Bind
    body: tuple[Node, ...]
    tail: tuple[Node, ...] | None = None
    back: bool = False
    stride: int = 1
    grain: int = 0
    backwards: bool = False
    joint: bool = False
    half: tuple[Node, ...] | None = None

    @property
    def early(self) -> int:
        """Elements by which the first chunk may be shorter than the others."""
        return max(0, self.grain - 1)


@dataclass(frozen=True, slots=True)
class Stage(_Base):
    """Fill a scratch tile, then drain it: both see the box at this point and address the buffer relative to it."""

    inside: ClassVar[tuple[str, ...]] = ("fill", "drain")
    buffer: Buffer
    fill: tuple[Node, ...]
    drain: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Orbit(_Base):
    """Move the tiles of an orbit, each to its image, if the box is the last of them in the order of `axes`.

    It fills scratch with this box; then the others move one by one, each to the place of one that has left; and scratch
    drains to what is left. image: by axis the one whose place it takes; axes: those that move; length: tiles of the
    longest orbits."""

    inside: ClassVar[tuple[str, ...]] = ("fill", "step", "drain")
    image: tuple[int, ...]
    axes: tuple[int, ...]
    length: int
    buffer: Buffer
    fill: tuple[Node, ...]
    step: tuple[Node, ...]
    drain: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Tour(_Base):
    """Visit the tiles that read the same tiles of A, one after the other, if the box is the last of them in the order
    of `axes`. images: of the box and of the others: for every axis the one whose position it takes; the first is the
    box itself; axes: those that move; panels: boxes are panels, whose tiles prefetch; else tiles prefetch the next."""

    inside: ClassVar[tuple[str, ...]] = ("body",)
    images: tuple[tuple[int, ...], ...]
    axes: tuple[int, ...]
    body: tuple[Node, ...]
    panels: bool = False


@dataclass(frozen=True, slots=True)
class AtRunEnd(_Base):
    """Nodes for the last tile of chained runs only."""

    inside: ClassVar[tuple[str, ...]] = ("body",)
    partial_line: PartialLine
    body: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class FlushSlot(_Base):
    """Store the partial line of a row's slot, the elements after the last boundary, where the row ends its run."""

    partial_line: PartialLine
    target: View
    op: Op


@dataclass(frozen=True, slots=True)
class Peeled(_Base):
    """A micro-tile offset along an axis, the outermost of its run of B, to B's first boundary of `grain` elements,
    which is known at run time only; one that passes the end of its row of B wraps into the next row in memory.

    following: the axes along which the next row follows, innermost first; edge: the masked micro-tile that stores the
    elements before the first boundary and after the last one, where no row precedes or follows; axis, step: the axis of
    the offset, and the elements of B from one index along it to the next; order: of rows that only run time knows.
    """

    inside: ClassVar[tuple[str, ...]] = ("body", "edge")
    body: Micro
    edge: Micro
    grain: int
    following: tuple[int, ...]
    axis: int = 0
    step: int = 1
    order: RowOrder | None = None


@dataclass(frozen=True, slots=True)
class Fence(_Base):
    """Order all non-temporal stores before all later accesses."""


Node = Loop | Micro | Row | LoadSlot | Stage | Orbit | Tour | OpenSlots | AtRunEnd | FlushSlot | Peeled | Fence


def every(nodes: Iterable[Node]) -> Iterator[Node]:
    """These nodes and all inside them, each before those inside it."""
    for node in nodes:
        yield node
        yield from every(node.children)


def assert_never(node: NoReturn) -> NoReturn:
    """Never called: type checkers prove that every kind of node was handled before (`typing`'s is of Python 3.11)."""
    raise AssertionError(f"unknown node {node!r}")
