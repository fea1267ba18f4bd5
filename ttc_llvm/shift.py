"""Micro-tiles that begin where B's lines do, wherever B begins.

Where all rows of B begin alike, every one of them has its first boundary the same few elements behind its start. So
each micro-tile lies that much further along the rows of B: whole lines again, past the caches. The last of a row passes
its end and takes the rest from the row that follows in memory; only where none does, and before the first boundary,
lines are written in part.
"""

from __future__ import annotations

from dataclasses import replace

from .canonical import Alpha, Beta, Canonical, static
from .layout import run_axes
from .nest import Loop, Micro, Node, Shifted
from .operands import Op
from .plan import CpuPlan, Staging
from .staging import has_aligned_rows, has_masks, prefetch_of, views
from .target import Target
from .tile_loops import Tile, loops


def shifts(canonical: Canonical, plan: CpuPlan, target: Target) -> bool:
    """True where the plan's micro-tiles can be shifted: whole lines or vectors of B, whose rows are whole numbers of
    micro-tiles, begin alike, and lie across those of A; and the machine has masks for what is less than a line."""
    moves = canonical.kinds.beta is Beta.ZERO and canonical.kinds.alpha is not Alpha.ZERO
    if not (moves and plan.streaming and plan.staging is Staging.SHIFT):
        return False
    extent, block = canonical.axes[0].extent, plan.block[0]
    across = 0 not in run_axes(plan.block, canonical.strides("a"))
    whole = isinstance(extent, int) and extent % block == 0
    return across and whole and _grain(canonical, plan, target) > 0 and has_masks(_leaf(canonical, plan), target)


def shifted(canonical: Canonical, plan: CpuPlan, target: Target) -> tuple[Node, ...]:
    """A tile of such a plan."""
    leaf, on = _leaf(canonical, plan), following(canonical, plan)
    inside = loops(Tile(canonical.axes, plan.tile, plan.inner, leaf, masks=True, vector=target.vector_bits // 8))
    edge = replace(leaf, ragged=(0, *on[-1:]), streaming=False, prefetch=None)
    shift = Shifted(leaf, edge, _grain(canonical, plan, target), on, _rows(inside, canonical, plan, on))
    return _each(inside, shift)


def _leaf(canonical: Canonical, plan: CpuPlan) -> Micro:
    source, sink = views(canonical)
    op = Op(canonical.kinds.alpha, canonical.kinds.beta, canonical.conjugate, canonical.compute)
    return Micro(source, sink, op, plan.block, plan.block, prefetch=prefetch_of(plan), streaming=True)


def _grain(canonical: Canonical, plan: CpuPlan, target: Target) -> int:
    """Elements between the boundaries at which micro-tiles begin: lines where all rows keep to them, else vectors; 0
    where they do not keep to those."""
    size, vector = canonical.b.itemsize, target.vector_bits // 8
    for boundary in dict.fromkeys((max(target.line, vector), vector)):
        if plan.block[0] * size % boundary == 0 and has_aligned_rows(canonical, boundary):
            return boundary // size
    return 0


def following(canonical: Canonical, plan: CpuPlan) -> tuple[int, ...]:
    """The axes along which rows of B follow each other in memory, innermost first: up to one along which micro-tiles
    have several of them. These are neighbours in A, too: one element behind the last is read, and not used."""
    found: list[int] = []
    length, rows = static(canonical.axes[0].extent), static(canonical.axes[0].stride_a)
    while not found or plan.block[found[-1]] == 1:
        axes = enumerate(canonical.axes)
        k = next((k for k, axis in axes if axis.stride_b == length and axis.extent != 1 and k not in found), None)
        if k is None or (plan.block[k] > 1 and not (canonical.axes[k].stride_a == 1 and rows > 0)):
            break
        found.append(k)
        length *= canonical.extents[k]
    return tuple(found)


def _rows(nodes: tuple[Node, ...], canonical: Canonical, plan: CpuPlan, on: tuple[int, ...]) -> int:
    """How many rows along the outermost of these axes are shifted: all but those of a ragged edge."""
    if not on:
        return 0
    axis = on[-1]
    extent = canonical.extents[axis]
    return extent - extent % plan.block[axis] if any(_is_ragged(node, axis) for node in nodes) else extent


def _is_ragged(node: Node, axis: int) -> bool:
    if isinstance(node, Loop):
        return any(_is_ragged(inner, axis) for inner in (*node.body, *(node.tail or ())))
    return isinstance(node, Micro) and axis in node.ragged


def _each(nodes: tuple[Node, ...], shift: Shifted) -> tuple[Node, ...]:
    """Whole micro-tiles shifted; others, at the ends of other axes, stay where they are, with ordinary stores."""
    found: list[Node] = []
    for node in nodes:
        if isinstance(node, Loop):
            tail = None if node.tail is None else _each(node.tail, shift)
            found.append(replace(node, body=_each(node.body, shift), tail=tail))
        elif isinstance(node, Micro) and node.streaming:
            edge = replace(shift.edge, block=node.block, grain=node.grain)
            found.append(replace(shift, body=node, edge=edge))
        else:
            found.append(node)
    return tuple(found)
