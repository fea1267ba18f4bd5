"""The loop nest: a plan applied to the axes, as a small printable tree.

Every node works on a *box*: per axis a current interval. `Loop` walks its axis' interval in chunks of
`step`; a chunk is the interval its body sees. A `Loop` with a tail gives its body full chunks only and
what is left over to the tail; one without gives its body the shorter last chunk as well, or, if it steps
back, a whole last chunk that begins within the one before. `Micro` permutes one block of elements in
registers. Extents and strides may be parameters: the same tree, with run-time values in place of
numbers, is the any-size body.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from math import prod

from ..problem.canonical import Canonical, Param, Size
from .operands import Buffer, Carry, Op, Prefetch, View


class Bind(Enum):
    """Who executes a loop's iterations."""

    SERIAL = "serial"
    TASK = "task"  # spread over threads: part of the task grid
    BLOCK = "block"  # GPU thread blocks
    THREAD = "thread"  # GPU threads of a block
    VECTOR = "vector"


@dataclass(frozen=True, slots=True)
class Micro:
    """Permute one block through registers.

    block: extents per axis; grain: it starts at multiples of these, counted from A's and B's first elements;
    ragged: axes whose interval may be shorter than the block, known at run time only;
    streaming: non-temporal stores; straight: registers are stored as they come, nothing is permuted: a yardstick's;
    loads: bytes that a load of A has at most, 0 = a register's;
    carry: registers are lines of B that lie anywhere: each is joined to what waits in its row's slot, the line that is
    whole then leaves past the caches, and the register waits instead; of a run's first one, what is in front of the
    first boundary leaves at once.
    """

    source: View
    target: View
    op: Op
    block: tuple[int, ...]
    grain: tuple[int, ...]
    ragged: tuple[int, ...] = ()
    prefetch: Prefetch | None = None
    streaming: bool = False
    straight: bool = False
    loads: int = 0
    carry: Carry | None = None


@dataclass(frozen=True, slots=True)
class Keep:
    """Open the slots of a carry: the box at this point has one for each of its rows of B."""

    buffer: Buffer
    body: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Recall:
    """Put what waits in a row's slot in front of the row's first element in scratch."""

    carry: Carry
    target: View


@dataclass(frozen=True, slots=True)
class Row:
    """Copy what the box holds along these axes, innermost first, which make one run of memory on both sides: whole
    vectors past the caches, wherever the target's boundaries lie, and ordinary stores before and behind them.

    width: elements that all axes but the last hold together; following: elements of the target to the next run,
    0 = there is none; prefetch: rows of A of a later tile, each run asks for its share; carry: the row is part of a
    longer run, and whole lines of B are written only, except at both ends of that run.
    """

    source: View
    target: View
    op: Op
    axes: tuple[int, ...]
    width: int
    following: int = 0
    prefetch: Prefetch | None = None
    carry: Carry | None = None


@dataclass(frozen=True, slots=True)
class Loop:
    """Walk an axis in chunks of step; see the module's docstring. extent: of the whole axis, or of a tile that is known
    to be whole; back: the last chunk begins early where it would be short, and elements are then written twice, the
    same both times."""

    axis: int
    extent: Size
    step: int
    bind: Bind
    body: tuple[Node, ...]
    tail: tuple[Node, ...] | None = None
    back: bool = False


@dataclass(frozen=True, slots=True)
class Stage:
    """Fill a scratch tile, then drain it: both see the box at this point and address the buffer relative to it."""

    buffer: Buffer
    fill: tuple[Node, ...]
    drain: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Last:
    """Nodes for the last tile of runs only."""

    carry: Carry
    body: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Rest:
    """Store what waits in a row's slot, the elements behind the last boundary: the row ends its run."""

    carry: Carry
    target: View
    op: Op


@dataclass(frozen=True, slots=True)
class Shifted:
    """A micro-tile as many elements further along axis 0, B's own, as are before B's first boundary of `grain`
    elements, which only run time knows. One that passes the axis' end takes the rest from the row of B that follows in
    memory: a step along one of the axes `following`, innermost first, where the others start again. edge: serves what
    is before a row's first boundary and behind its last one, where no row comes before or follows."""

    body: Micro
    edge: Micro
    grain: int
    following: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Fence:
    """Order all non-temporal stores before what follows."""


Node = Loop | Micro | Row | Recall | Stage | Keep | Last | Rest | Shifted | Fence


@dataclass(frozen=True, slots=True)
class LoopNest:
    """A kernel before it is IR. params: the run-time values it reads, by slot; scratch: bytes per thread;
    alignment: bytes that B's base must be a multiple of, and every stride of B that only run time knows."""

    canonical: Canonical
    body: tuple[Node, ...]
    params: tuple[Param, ...]
    scratch: int
    alignment: int = 1

    @property
    def grid(self) -> tuple[Loop, ...]:
        """The task loops, outermost first: task t of the grid is their iterations in row-major order."""
        return tuple(_grid(self.body))

    @property
    def tasks(self) -> int:
        """Number of tasks; only for nests without run-time extents."""
        return prod(trips(loop) for loop in self.grid)

    def __str__(self) -> str:
        head = f"nest {self.canonical}"
        return "\n".join([head, *_lines(self.body, 1)])


def trips(loop: Loop) -> int:
    """Iterations of a loop over its whole axis."""
    if isinstance(loop.extent, Param):
        raise TypeError(f"{loop.extent.name} is known at run time only")
    return -(-loop.extent // loop.step)


def part_range(tasks: int, part: int, parts: int) -> tuple[int, int]:
    """The tasks [begin, end) of one part: balanced and contiguous; shared by every way to run a kernel."""
    return tasks * part // parts, tasks * (part + 1) // parts


def _grid(nodes: tuple[Node, ...]) -> Iterator[Loop]:
    for node in nodes:
        if isinstance(node, Loop) and node.bind is Bind.TASK:
            yield node
            yield from _grid(node.body)


def _lines(nodes: tuple[Node, ...], depth: int) -> Iterator[str]:
    pad = "  " * depth
    for node in nodes:
        if isinstance(node, Loop):
            back = " back" if node.back else ""
            yield f"{pad}for i{node.axis} in {node.extent} step {node.step} {node.bind.value}{back}"
            yield from _lines(node.body, depth + 1)
            if node.tail is not None:
                yield f"{pad}tail i{node.axis}"
                yield from _lines(node.tail, depth + 1)
        elif isinstance(node, Stage):
            yield f"{pad}stage {node.buffer.dtype} x {node.buffer.elements} strides {node.buffer.strides}"
            yield from _lines(node.fill, depth + 1)
            yield f"{pad}drain"
            yield from _lines(node.drain, depth + 1)
        elif isinstance(node, Keep):
            yield f"{pad}keep {node.buffer.dtype} x {node.buffer.elements} strides {node.buffer.strides}"
            yield from _lines(node.body, depth + 1)
        elif isinstance(node, Last):
            yield f"{pad}last of {','.join(f'i{k}' for k, _ in node.carry.loops)}"
            yield from _lines(node.body, depth + 1)
        elif isinstance(node, Rest):
            yield f"{pad}rest"
        elif isinstance(node, Shifted):
            on = ", on to " + ",".join(f"i{k}" for k in node.following) if node.following else ""
            yield f"{pad}shifted to {node.grain} of i0{on}"
            yield from _lines((node.body, node.edge), depth + 1)
        elif isinstance(node, Recall):
            yield f"{pad}recall {node.carry.elements}"
        elif isinstance(node, Micro):
            yield pad + _micro_line(node)
        elif isinstance(node, Row):
            axes = ",".join(f"i{k}" for k in node.axes)
            ahead = f" prefetch {node.prefetch}" if node.prefetch else ""
            on = " carry " + ",".join(f"i{k}" for k, _ in node.carry.loops) if node.carry else ""
            yield f"{pad}row {axes} {node.source.space.value}->{node.target.space.value}{ahead}{on}"
        else:
            yield f"{pad}fence"


def _micro_line(node: Micro) -> str:
    block = "x".join(map(str, node.block))
    parts = [f"micro {block} {node.source.space.value}->{node.target.space.value}"]
    if node.ragged:
        parts.append("ragged " + ",".join(f"i{k}" for k in node.ragged))
    if node.prefetch:
        parts.append(f"prefetch {node.prefetch}")
    if node.streaming:
        parts.append("streaming")
    if node.loads:
        parts.append(f"loads {node.loads}")
    if node.straight:
        parts.append("straight")
    if node.carry:
        parts.append("carry")
    return " ".join(parts)
