"""A loop nest as pseudo-code: the tree of `nest.py` written as the loops that somebody would write by hand."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from ..lazy_dataclasses import dataclass, replace
from ..lowering.nest import LoopNest
from ..lowering.nodes import (
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
)
from ..lowering.operands import Prefetch, Source, Space, View
from ..problem.canonical import Canonical, Size
from ..problem.kinds import Alpha, Beta

LETTERS = "ijklmnopq"  # one for each level at which an axis is walked: i0 outermost, then j0, k0 ...
INDENT = "  "
_NAMES = {Space.A: "A", Space.B: "B", Space.SCRATCH: "scratch"}


@dataclass(frozen=True, slots=True)
class _Place:
    """Where in the nest a node stands. depth: of indentation; names: the innermost variable of each axis, "" for
    none; steps: the chunk that it walks; ends: what bounds the current interval."""

    depth: int
    names: tuple[str, ...]
    steps: tuple[int, ...]
    ends: tuple[Size, ...]

    def pad(self) -> str:
        """The indentation."""
        return INDENT * self.depth


def lines(nest: LoopNest) -> tuple[str, ...]:
    """The nest as pseudo-code, a line each."""
    rank = len(nest.canonical.axes)
    place = _Place(0, ("",) * rank, (0,) * rank, tuple(axis.extent for axis in nest.canonical.axes))
    return tuple(_nodes(nest.body, place, nest.canonical)) or ("nothing to move",)


def _nodes(nodes: tuple[Node, ...], place: _Place, canonical: Canonical) -> Iterator[str]:
    for node in nodes:
        match node:
            case Loop():
                yield from _loop(node, place, canonical)
            case Stage():
                yield from _stage(node, place, canonical)
            case Micro():
                yield from (place.pad() + line for line in _micro(node, place))
            case Row():
                yield from (place.pad() + line for line in _row(node, place))
            case Orbit():
                yield from _orbit(node, place, canonical)
            case OpenSlots() | AtRunEnd() | Tour():
                yield place.pad() + _opening(node)
                yield from _nodes(node.body, replace(place, depth=place.depth + 1), canonical)
            case FlushSlot():
                yield f"{place.pad()}the row's partial line -> B, ordinary stores"
            case Peeled():
                deeper = replace(place, depth=place.depth + 1)
                yield f"{place.pad()}from B's next boundary on, one every {node.grain} elements, and on in its next row"
                yield from _nodes((node.body,), deeper, canonical)
                yield f"{place.pad()}before the first boundary, and behind the last: fewer elements, ordinary stores"
            case LoadSlot():
                yield f"{place.pad()}{node.partial_line.elements} elements from the row's slot go in front of it"
            case Fence():
                yield place.pad() + "fence: non-temporal stores are complete"
            case _:
                assert_never(node)


def _opening(node: OpenSlots | AtRunEnd | Tour) -> str:
    if isinstance(node, Tour):
        boxes = "panels" if node.panels else "tiles"
        return f"each of the {len(node.images)} {boxes} that read the same {boxes} of A, if none comes after this one"
    if isinstance(node, AtRunEnd):
        return "if the tile's runs end with it"
    return f"with slots for the partial lines of rows of B ({node.buffer.bytes} bytes)"


def _loop(loop: Loop, place: _Place, canonical: Canonical) -> Iterator[str]:
    k = loop.axis
    outer = place.names[k]
    name = f"{_letter(outer)}{k}"
    start, end = outer or "0", _end(place, k)
    inner = _entered(place, k, name, loop.step)
    goes_on = f"{name} < {end}" if loop.tail is None else f"{name} + {loop.step} <= {end}"
    yield f"{place.pad()}{_WORDS.get(loop.bind, 'for')} ({name} = {start}; {goes_on}; {name} += {loop.step})"
    if loop.grain:
        yield f"{inner.pad()}shorter at first, so that others begin with lines of B"
    if loop.back:
        yield f"{inner.pad()}if fewer than {loop.step} are left: begin early, with the last {loop.step}"
    yield from _nodes(loop.body, inner, canonical)
    if loop.tail is not None:
        yield f"{place.pad()}if fewer than {loop.step} are left: {name} once more, shorter"
        yield from _nodes(loop.tail, inner, canonical)


_WORDS = {Bind.TASK: "parallel for"}


def _entered(place: _Place, k: int, name: str, step: int) -> _Place:
    names = (*place.names[:k], name, *place.names[k + 1 :])
    steps = (*place.steps[:k], step, *place.steps[k + 1 :])
    return replace(place, depth=place.depth + 1, names=names, steps=steps)


def _letter(outer: str) -> str:
    return LETTERS[min(LETTERS.index(outer[0]) + 1, len(LETTERS) - 1)] if outer else LETTERS[0]


def _end(place: _Place, k: int) -> str:
    extent, outer, step = place.ends[k], place.names[k], place.steps[k]
    if not outer:
        return str(extent)
    if isinstance(extent, int) and extent % step == 0:
        return f"{outer} + {step}"
    return f"min({outer} + {step}, {extent})"


def _orbit(orbit: Orbit, place: _Place, canonical: Canonical) -> Iterator[str]:
    inside = replace(place, depth=place.depth + 1)
    deeper = replace(inside, depth=inside.depth + 1)
    yield f"{place.pad()}if no tile of its orbit comes after this one"
    yield f"{inside.pad()}tile -> scratch ({orbit.buffer.bytes} bytes)"
    yield from _nodes(orbit.fill, deeper, canonical)
    yield f"{inside.pad()}the other tiles of the orbit, if any: each to the place of the one before"
    yield from _nodes(orbit.step, deeper, canonical)
    yield f"{inside.pad()}scratch -> the place that is left"
    yield from _nodes(orbit.drain, deeper, canonical)


def _stage(stage: Stage, place: _Place, canonical: Canonical) -> Iterator[str]:
    inside = replace(place, depth=place.depth + 1)
    size = f"{stage.buffer.elements} x {stage.buffer.dtype}, {stage.buffer.bytes} bytes"
    yield f"{place.pad()}tile -> scratch ({size})"
    yield from _nodes(stage.fill, inside, canonical)
    yield f"{place.pad()}scratch -> B"
    yield from _nodes(stage.drain, inside, canonical)


def _micro(node: Micro, place: _Place) -> Iterator[str]:
    block = "x".join(map(str, node.block))
    what = "copy" if node.straight else "micro-tile"
    ragged = " at most" if node.remainder_axes else ""
    if node.prefetch is not None:
        yield _asked(node.prefetch)
    past = _joined(node) + ", non-temporal" if node.non_temporal else ""
    yield f"{what} {block}{ragged} = {prod(node.block)} elements, in registers{past}:"
    yield f"{INDENT}{_assignment(node, place)}"


def _joined(node: Micro) -> str:
    if node.partial_line is None:
        return ""
    first = ", a run's first one in part" if node.block[0] == node.partial_line.elements else ""
    return f", joined to the partial line: whole lines{first}"


def _row(node: Row, place: _Place) -> Iterator[str]:
    if node.prefetch is not None:
        yield _asked(node.prefetch)
    what = "vectors" if node.partial_line is None else "lines"
    yield f"row along {', '.join(f'axis {k}' for k in node.axes)}, whole {what} non-temporal:"
    yield f"{INDENT}{_assignment(node, place)}"
    if node.partial_line is not None:
        yield f"the row's last {node.partial_line.elements} elements to its slot"


def _asked(wanted: Prefetch) -> str:
    unit = "tile" if wanted.tile else "micro-tile"
    plural = "" if wanted.distance == 1 else "s"
    return f"prefetch what comes {wanted.distance} {unit}{plural} later, into {'L2' if wanted.far else 'L1'}"


def _assignment(node: Micro | Row, place: _Place) -> str:
    sources = node.sources if isinstance(node, Micro) else (Source(node.source, node.op),)
    target = _element(node.target, place)
    kept = {Beta.ZERO: "", Beta.ONE: target, Beta.ANY: f"beta * {target}"}[node.op.beta]
    return f"{target} = {' + '.join(filter(None, (*(_read(one, place) for one in sources), kept))) or '0'}"


def _read(source: Source, place: _Place) -> str:
    op, element = source.op, _element(source.view, place)
    value = f"conj({element})" if op.conjugate else element
    alpha = f"alpha{op.term}" if op.term else "alpha"
    return {Alpha.ZERO: "", Alpha.ONE: value, Alpha.ANY: f"{alpha} * {value}"}[op.alpha]


def _element(view: View, place: _Place) -> str:
    """The element of a view, by the innermost variable of every axis. Scratch holds a tile, so that its addresses
    are relative to it."""
    if view.space is Space.SCRATCH:
        return "scratch[..]"
    terms = [
        name if stride == 1 else f"{stride}*{name}"
        for name, stride in zip(_axes(place), view.strides, strict=True)
        if stride != 0
    ]
    return f"{_NAMES[view.space]}[{' + '.join(terms) or '0'}]"


def _axes(place: _Place) -> tuple[str, ...]:
    """Every axis' variable; an axis that no loop walks lies in the micro-tile whole."""
    return tuple(name or f"x{k}" for k, name in enumerate(place.names))
