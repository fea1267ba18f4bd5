"""The loop nest: a plan applied to the axes, as a small printable tree of `nodes`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import prod

from ..lazy_dataclasses import dataclass
from ..problem.canonical import Canonical, Param, static
from .nodes import (
    AtRunEnd,
    Bind,
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
from .operands import Buffer, RowOrder, Space


def trips(loop: Loop) -> int:
    """Iterations of a loop over its whole axis, which is known."""
    return -(-(static(loop.extent) + loop.early) // loop.step)


@dataclass(frozen=True, slots=True)
class LoopNest:
    """A kernel before it is IR. params: the run-time values it reads, by slot; scratch: bytes per thread;
    alignment: bytes that B's base must be a multiple of, and every stride of B that only run time knows; order: in
    which runs of B go on from task to task, where run time alone knows it."""

    canonical: Canonical
    body: tuple[Node, ...]
    params: tuple[Param, ...]
    scratch: int
    alignment: int = 1
    order: RowOrder | None = None

    @property
    def grid(self) -> tuple[Loop, ...]:
        """The task loops, outermost first: task t of the grid is their iterations in row-major order."""
        return tuple(node for node in every(self.body) if isinstance(node, Loop) and node.bind is Bind.TASK)

    @property
    def passed(self) -> int:
        """Bytes of scratch that callers pass; kernels in place have theirs on the stack."""
        return 0 if self.canonical.in_place else self.scratch

    @property
    def tasks(self) -> int:
        """Number of tasks; only for nests without run-time extents."""
        return prod(trips(loop) for loop in self.grid)

    def __str__(self) -> str:
        head = f"nest {self.canonical}"
        return "\n".join([head, *_lines(self.body, 1)])


def _lines(nodes: tuple[Node, ...], depth: int) -> Iterator[str]:
    pad, inside = "  " * depth, depth + 1
    for node in nodes:
        match node:
            case Loop():
                yield from _loop_lines(node, depth)
            case Stage():
                yield f"{pad}stage {_buffer_text(node.buffer)}"
                yield from _lines(node.fill, inside)
                yield f"{pad}drain"
                yield from _lines(node.drain, inside)
            case Orbit():
                moves = ", ".join(f"i{k} to i{node.image[k]}" for k in node.axes)
                yield f"{pad}orbit of {moves}: fill {_buffer_text(node.buffer)}"
                yield from _lines(node.fill, inside)
                yield f"{pad}up to {node.length - 1} other tiles"
                yield from _lines(node.step, inside)
                yield f"{pad}drain"
                yield from _lines(node.drain, inside)
            case OpenSlots() | AtRunEnd() | Peeled() | Tour():
                yield pad + _opening(node)
                yield from _lines(node.children, inside)
            case Micro():
                yield pad + _micro_line(node)
            case Row():
                yield pad + _row_line(node)
            case LoadSlot():
                yield f"{pad}load slot {node.partial_line.elements}"
            case FlushSlot():
                yield f"{pad}flush slot"
            case Fence():
                yield f"{pad}fence"
            case _:
                assert_never(node)


def _loop_lines(node: Loop, depth: int) -> Iterator[str]:
    pad, others = "  " * depth, {"half": node.half, "tail": node.tail}
    back = " back" if node.back else " backwards" if node.backwards else ""
    spread = "" if node.stride == 1 else f" by {node.stride}" if node.stride else " from both ends"
    lines = f" from lines of {node.grain}" if node.grain else ""
    yield f"{pad}for i{node.axis} in {node.extent} step {node.step} {node.bind.value}{back}{spread}{lines}"
    yield from _lines(node.body, depth + 1)
    for name, nodes in others.items():
        if nodes is not None:
            yield f"{pad}{name} i{node.axis}"
            yield from _lines(nodes, depth + 1)


def _opening(node: OpenSlots | AtRunEnd | Peeled | Tour) -> str:
    if isinstance(node, Tour):
        return f"tour of up to {len(node.images)} {'panels' if node.panels else 'tiles'} along {_axes_text(node.axes)}"
    if isinstance(node, OpenSlots):
        return f"open slots {_buffer_text(node.buffer)}"
    if isinstance(node, AtRunEnd):
        return f"at run end of {_axes_text(k for k, _ in node.partial_line.loops)}"
    return f"peeled to {node.grain} of i{node.axis}{', on to ' if node.following else ''}{_axes_text(node.following)}"


def _row_line(node: Row) -> str:
    parts = [f"row {_axes_text(node.axes)} {node.source.space.value}->{node.target.space.value}"]
    if node.prefetch:
        parts.append(f"prefetch {node.prefetch}")
    if node.partial_line:
        parts.append(f"chained {_axes_text(k for k, _ in node.partial_line.loops)}")
    return " ".join(parts)


def _buffer_text(buffer: Buffer) -> str:
    return f"{buffer.dtype} x {buffer.elements} strides {buffer.strides}"


def _axes_text(axes: Iterable[int]) -> str:
    return ",".join(f"i{k}" for k in axes)


def _micro_line(node: Micro) -> str:
    block = "x".join(map(str, node.block))
    parts = [f"micro {block} {node.source.space.value}->{node.target.space.value}"]
    terms = [str(one.op.term) for one in node.sources if one.view.space is Space.A]
    if node.op.term or node.further:
        parts.append(f"terms {','.join(terms)}")
    if node.remainder_axes:
        parts.append(f"ragged {_axes_text(node.remainder_axes)}")
    if node.prefetch:
        parts.append(f"prefetch {node.prefetch}")
    if node.non_temporal:
        parts.append("streaming")
    if node.loads:
        parts.append(f"loads {node.loads}")
    if node.straight:
        parts.append("straight")
    if node.partial_line:
        parts.append("chained")
    return " ".join(parts)
