"""Nests of the kernels behind plan objects: how their loops differ from those of kernels of one shape."""

from __future__ import annotations

from ttc_llvm.lazy_dataclasses import replace
from ttc_llvm.lowering.lower import lower
from ttc_llvm.lowering.nest import LoopNest
from ttc_llvm.lowering.nodes import Bind, Loop, Micro, Node, OpenSlots, Peeled, every
from ttc_llvm.lowering.operands import RowOrder
from ttc_llvm.lowering.plan import Store
from ttc_llvm.machine.target import Target
from ttc_llvm.problem.canonical import Param, static
from ttc_llvm.problem.kinds import Beta

from . import fields as f
from .kernels import LONG, Built

LEAST_HALF = 4  # elements of the narrowest half of a micro-tile that is worth its code
ORDER = tuple(Param(f.ORDER_SLOT + k, f"order{k}") for k in range(1 + f.ORDERED))
SLOT_STEP = Param((f.SLOT_STEP - f.PARAMS) // 8, "slots")
ROWS_IN_ORDER = RowOrder(tuple(range(2, f.AXES)), ORDER[1:], 1, ORDER[0], f.ORDER_SLOT + len(ORDER))


def lowered(built: Built, target: Target) -> LoopNest:
    """The nest of a variant. Where B is not read and stores are ordinary, remainders begin early: micro-tiles that
    write some elements twice take half of the time of masked ones."""
    nest = lower(built.canonical, built.plan, target)
    nest = replace(nest, body=tuple(map(_joint, nest.body)))
    if built.follows:
        nest = replace(nest, params=(*nest.params, *ORDER))
        if not nest.scratch:
            return _peeled(nest, target)
        return _side_by_side(nest) if built.plan.parallel < f.AXES else replace(nest, order=ROWS_IN_ORDER)
    if built.plan.store is not Store.CACHED or built.canonical.kinds.beta is not Beta.ZERO:
        return nest
    near = [k for k, axis in enumerate(built.canonical.axes) if 1 in (axis.stride_a, axis.stride_b)]

    def early(node: Node) -> Node:
        inside = node.map(early)
        if isinstance(inside, Loop) and inside.tail is not None and inside.axis in near:
            some = any(isinstance(leaf, Micro) and not leaf.remainder_axes for leaf in every(inside.body))
            halves = some and len(near) > 1 and inside.step >= 2 * LEAST_HALF
            return replace(inside, back=True, half=_halved(inside) if halves else None)
        return inside

    return replace(nest, body=tuple(map(early, nest.body)))


def _halved(loop: Loop) -> tuple[Node, ...]:
    """What the loop has for half a step; masked micro-tiles serve that as they are."""
    axis, extent = loop.axis, loop.step // 2

    def halved(node: Node) -> Node:
        if not isinstance(node, Micro):
            return node.map(halved)
        if node.remainder_axes:
            return replace(node, remainder_axes=(*node.remainder_axes, axis))
        block, grain = ((*v[:axis], extent, *v[axis + 1 :]) for v in (node.block, node.grain))
        return replace(node, block=block, grain=grain)

    return tuple(map(halved, loop.body))


def _narrowing(loop: Loop) -> Loop:
    """The same loop, whose remainder is served by ever narrower micro-tiles, which prefetch nothing."""
    if loop.step == 1:
        return replace(loop, tail=None)
    half = tuple(replace(one, prefetch=None) if isinstance(one, Micro) else one for one in _halved(loop))
    return replace(loop, tail=(_narrowing(Loop(loop.axis, loop.extent, loop.step // 2, Bind.SERIAL, half)),))


def _joint(node: Node) -> Node:
    """The same, with serial loops along the second axis told from others; one over pieces that have all of it goes."""
    if isinstance(node, Loop) and node.axis == f.SECOND and node.bind is Bind.SERIAL:
        node = node.body[0] if node.step == LONG else replace(node, joint=True)
    return node.map(_joint)


def _side_by_side(nest: LoopNest) -> LoopNest:
    """The same nest, whose rows of B lie side by side along a second axis, too."""
    slots = next(node.buffer for node in every(nest.body) if isinstance(node, OpenSlots))
    elements = f.SLOTS * static(slots.strides[1])
    made = replace(slots, strides=(*slots.strides[: f.SECOND], SLOT_STEP), elements=elements)

    def opened(node: Node) -> Node:
        if isinstance(node, OpenSlots):
            return replace(node, buffer=made, body=tuple(map(opened, node.body)))
        if isinstance(node, Loop) and node.axis == 0 and node.tail is not None:
            return replace(node, body=tuple(_narrowing(one) if isinstance(one, Loop) else one for one in node.body))
        return node.map(opened)

    params, body = (*nest.params, SLOT_STEP), tuple(map(opened, nest.body))
    return replace(nest, body=body, params=params, order=ROWS_IN_ORDER, scratch=made.bytes)


def _peeled(nest: LoopNest, target: Target) -> LoopNest:
    """The same nest, whose rows of B are whole lines and continue in each other, for a B that begins off a line."""
    line = target.line // nest.canonical.b.itemsize

    def off_lines(node: Node) -> Node:
        if isinstance(node, Micro):
            edge = replace(node, remainder_axes=(0, 1), non_temporal=False, prefetch=None)
            return Peeled(node, edge, line, (), order=ROWS_IN_ORDER)
        if isinstance(node, Loop) and node.axis == 0 and node.tail is not None:
            inside = [leaf for leaf in every(node.tail) if isinstance(leaf, Micro)]
            if all(0 in leaf.remainder_axes for leaf in inside):
                node = replace(node, tail=None)
        return node.map(off_lines)

    return replace(nest, body=tuple(map(off_lines, nest.body)))
