"""The loop nest as IR: one function per kind of node; a box of pointers and lengths travels down the tree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

from llvmlite import ir

from ttc_llvm.lazy_dataclasses import replace
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
)

from .box import Box
from .context import Context
from .leaves import flush_slot, load_slot, micro, peeled, row
from .memory import fence
from .orbits import Walk
from .values import Int, add, counted, guarded, i64, minimum


def emit(k: Context, b: ir.IRBuilder, nodes: tuple[Node, ...], box: Box) -> None:
    """The code of these nodes, one after the other."""
    for node in nodes:
        match node:
            case Loop():
                _loop(k, b, node, box)
            case Stage() | Orbit() | Tour():
                _staged(k, b, node, box)
            case Micro():
                micro(k, b, node, box)
            case Row():
                row(k, b, node, box)
            case OpenSlots():
                emit(k, b, node.body, box.opened(b, k.arguments["scratch"], node.buffer))
            case AtRunEnd():
                with guarded(b, box.run_ends(b, node.partial_line).last, "last"):
                    emit(k, b, node.body, box)
            case FlushSlot():
                flush_slot(k, b, node, box)
            case Peeled():
                peeled(k, b, node, box)
            case LoadSlot():
                load_slot(k, b, node, box)
            case Fence():
                fence(k.module, b)
            case _:
                assert_never(node)


def _loop(k: Context, b: ir.IRBuilder, node: Loop, box: Box) -> None:
    """A serial loop: whole steps, then the shorter last chunk, to its own tail or to the same body."""
    length = box.lengths[node.axis]
    if node.grain and node.tail is None:
        _between_lines(k, b, node, box)
        return
    if node.grain:
        box = _after_head(k, b, node, box)
        length = box.lengths[node.axis]
    if node.back:
        _stepping_back(k, b, node, box)
        return
    if node.tail is None and not _divides(node.step, length, node.extent):
        _chunks(k, b, node, box)
        return
    if isinstance(length, int) and length == node.step:
        emit(k, b, node.body, box)
        return
    for part in (_rest, _steps) if node.backwards else (_steps, _rest):
        part(k, b, node, box)


def _steps(k: Context, b: ir.IRBuilder, node: Loop, box: Box) -> None:
    """Whole steps."""
    length = box.lengths[node.axis]
    with counted(b, length, node.step, f"i{node.axis}") as i:
        start = b.sub(i64(add(b, _whole(b, node, length), -node.step)), i) if node.backwards else i
        inside = box.moved(b, k.sizes, node.axis, start, node.step)
        emit(k, b, node.body, inside.deeper(box, node, start))


def _rest(k: Context, b: ir.IRBuilder, node: Loop, box: Box) -> None:
    """The shorter last chunk, to the loop's tail."""
    if node.tail is None:
        return
    length = i64(box.lengths[node.axis])
    done = _whole(b, node, length)
    rest = b.sub(length, done, name=f"i{node.axis}.rest")
    with guarded(b, b.icmp_signed(">", rest, i64(0)), f"i{node.axis}.tail"):
        tail = box.moved(b, k.sizes, node.axis, done, rest)
        emit(k, b, node.tail, tail.deeper(box, node, done))


def _whole(b: ir.IRBuilder, node: Loop, length: Int) -> ir.Value:
    """The elements of an interval's whole steps."""
    return b.mul(b.sdiv(i64(length), i64(node.step)), i64(node.step), name=f"i{node.axis}.whole")


def _between_lines(k: Context, b: ir.IRBuilder, node: Loop, box: Box) -> None:
    """Chunks that begin with lines of B, but for the first one."""
    length = box.lengths[node.axis]
    with counted(b, add(b, length, node.early + node.step - 1), node.step, f"i{node.axis}") as i:
        start, chunk = displaced(b, i, k.ahead, length, node.step)
        inside = box.moved(b, k.sizes, node.axis, start, chunk)
        with existing(b, inside, [node.axis]):
            emit(k, b, node.body, inside.deeper(box, node, start))


def _after_head(k: Context, b: ir.IRBuilder, node: Loop, box: Box) -> Box:
    """The box from the first line of B on; what is before it goes to the tail."""
    axis, length = node.axis, i64(box.lengths[node.axis])
    behind = b.add(i64(box.position(b, axis)), i64(k.ahead))
    head = minimum(b, b.and_(b.sub(i64(0), behind), i64(node.grain - 1)), length)
    with guarded(b, b.icmp_signed(">", i64(head), i64(0)), f"i{axis}.head"):
        emit(k, b, node.tail or (), box.moved(b, k.sizes, axis, 0, head).deeper(box, node, i64(0)))
    return box.moved(b, k.sizes, axis, head, b.sub(length, i64(head)))


def displaced(b: ir.IRBuilder, first: Int, ahead: Int, length: Int, step: int) -> tuple[Int, Int]:
    """The start and the length of a chunk `ahead` elements before its usual place, which may be none."""
    early = b.sub(i64(first), i64(ahead))
    start = b.select(b.icmp_signed(">", early, i64(0)), early, i64(0))
    end = minimum(b, b.add(early, i64(step)), i64(length))
    return start, b.sub(i64(end), start)


@contextmanager
def existing(b: ir.IRBuilder, box: Box, axes: Sequence[int]) -> Iterator[None]:
    """Run the body only for a box that has elements along these axes."""
    with ExitStack() as stack:
        for axis in axes:
            stack.enter_context(guarded(b, b.icmp_signed(">", i64(box.lengths[axis]), i64(0)), f"i{axis}.exists"))
        yield


def _staged(k: Context, b: ir.IRBuilder, node: Stage | Orbit | Tour, box: Box) -> None:
    if isinstance(node, Orbit):
        _orbit(k, b, node, box)
        return
    if isinstance(node, Tour):
        _tour(k, b, node, box)
        return
    inside = box.opened(b, k.arguments["scratch"], node.buffer)
    emit(k, b, node.fill, inside)
    emit(k, b, node.drain, inside)


def _orbit(k: Context, b: ir.IRBuilder, node: Orbit, box: Box) -> None:
    """The tile at this box by way of scratch, and its images from the last one on, each to the place just left."""
    walk = Walk.of(b, node, box)
    with guarded(b, walk.is_last(b), "orbit"):
        inside = box.opened(b, k.arguments["scratch"], node.buffer)
        emit(k, b, node.fill, inside)
        for number in range(node.length - 1, 0, -1):
            with guarded(b, walk.is_new(b, number), f"image{number}"):
                emit(k, b, node.step, walk.image(b, k.sizes, number))
        emit(k, b, node.drain, inside)


def _tour(k: Context, b: ir.IRBuilder, node: Tour, box: Box) -> None:
    """The tiles that read the same tiles of A, the box among them, if it is the last one."""
    walk = Walk.of(b, node, box)
    with guarded(b, walk.is_last(b), "tour"), walk.tour(b, k.sizes, node.panels) as tile:
        emit(k, b, node.body, tile)


def _chunks(k: Context, b: ir.IRBuilder, node: Loop, box: Box) -> None:
    length = box.lengths[node.axis]
    padded = add(b, length, node.step - 1)  # so that the last, shorter chunk is a step too
    with counted(b, padded, node.step, f"i{node.axis}") as i:
        rest = b.sub(i64(length), i)
        inside = box.moved(b, k.sizes, node.axis, i, minimum(b, rest, node.step))
        emit(k, b, node.body, inside.deeper(box, node, i))


def _stepping_back(k: Context, b: ir.IRBuilder, node: Loop, box: Box) -> None:
    """Whole steps, and halves, only, the last one ends with the interval; a shorter interval is the tail's."""
    length, least = box.lengths[node.axis], node.step if node.half is None else node.step // 2
    if node.tail is None:
        _whole_steps(k, b, node, box)
        return
    with b.if_else(b.icmp_signed(">=", i64(length), i64(least))) as (whole, short):
        with whole:
            _whole_steps(k, b, node, box)
        with short:
            emit(k, b, node.tail, box.moved(b, k.sizes, node.axis, 0, length).deeper(box, node, i64(0)))


def _whole_steps(k: Context, b: ir.IRBuilder, node: Loop, box: Box) -> None:
    length, step = box.lengths[node.axis], node.step
    if node.half is None:
        _back(k, b, node, box, (0, add(b, length, step - 1)))
        return
    end = i64(add(b, length, step // 2 - 1))
    whole = b.mul(b.sdiv(end, i64(step)), i64(step))
    whole = b.select(b.icmp_signed(">=", i64(length), i64(step)), whole, i64(0))
    _back(k, b, node, box, (0, whole))
    _back(k, b, replace(node, body=node.half, step=step // 2), box, (whole, end))


def _back(k: Context, b: ir.IRBuilder, node: Loop, box: Box, steps: tuple[Int, Int]) -> None:
    """Whole steps from one index to another, each as far as the interval goes."""
    first, end = steps
    with counted(b, end, node.step, f"i{node.axis}", first) as i:
        start = minimum(b, i, i64(add(b, box.lengths[node.axis], -node.step)))
        inside = box.moved(b, k.sizes, node.axis, start, node.step)
        emit(k, b, node.body, inside.deeper(box, node, start, b.sub(i, i64(start))))


def _divides(step: int, length: Int, extent: object) -> bool:
    """True where no chunk of the interval can be shorter than the step."""
    if isinstance(length, int):
        return length % step == 0
    return isinstance(extent, int) and extent % step == 0
