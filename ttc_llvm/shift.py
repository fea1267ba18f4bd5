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
    leaf = _leaf(canonical, plan)
    inside = loops(Tile(canonical.axes, plan.tile, plan.inner, leaf, masks=True, vector=target.vector_bits // 8))
    following = _following(canonical, plan)
    rows = 0 if following is None else _rows(inside, following, canonical.extents[following], plan.block[following])
    return _each(inside, _grain(canonical, plan, target), following, rows)


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


def _following(canonical: Canonical, plan: CpuPlan) -> int | None:
    """The axis along which the next row of B follows in memory."""
    extent = canonical.extents[0]
    return next((k for k, axis in enumerate(canonical.axes) if axis.stride_b == extent and axis.extent != 1), None)


def _rows(nodes: tuple[Node, ...], axis: int, extent: int, block: int) -> int:
    """How many rows along an axis are shifted: all but those of a ragged edge."""
    return extent - extent % block if any(_is_ragged(node, axis) for node in nodes) else extent


def _is_ragged(node: Node, axis: int) -> bool:
    if isinstance(node, Loop):
        return any(_is_ragged(inner, axis) for inner in (*node.body, *(node.tail or ())))
    return isinstance(node, Micro) and axis in node.ragged


def _each(nodes: tuple[Node, ...], grain: int, following: int | None, rows: int) -> tuple[Node, ...]:
    """Whole micro-tiles shifted; others, at the ends of other axes, stay where they are, with ordinary stores."""
    found: list[Node] = []
    for node in nodes:
        if isinstance(node, Loop):
            tail = None if node.tail is None else _each(node.tail, grain, following, rows)
            found.append(replace(node, body=_each(node.body, grain, following, rows), tail=tail))
        elif isinstance(node, Micro) and node.streaming:
            ragged = (0,) if following is None else (0, following)
            edge = replace(node, ragged=ragged, streaming=False, prefetch=None)
            found.append(Shifted(node, edge, grain, following, rows))
        else:
            found.append(node)
    return tuple(found)
