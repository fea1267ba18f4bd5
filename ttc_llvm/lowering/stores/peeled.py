"""Micro-tiles that start at B's first cache-line boundary, wherever B begins (PEELED).

Where all rows of B begin alike, every one of them has its first boundary the same few elements behind its start. So
each micro-tile lies that much further along the rows of B: whole lines again, past the caches. The last of a row passes
its end and takes the rest from the row that follows in memory; only where none does, and before the first boundary,
lines are written in part.
"""

from __future__ import annotations

from dataclasses import replace

from ...machine.target import Target
from ...problem.canonical import Canonical
from ..nodes import Micro, Node, Peeled
from ..tile_loops import TileSpec, loops
from ..writing import Writing, following
from .leaves import direct_leaf


def peeled(canonical: Canonical, writing: Writing, target: Target, loads: int) -> tuple[Node, ...]:
    """A tile of such a plan. All edges have bodies of their own, which are shifted, too."""
    plan, on = writing.plan, following(canonical, writing.plan)
    leaf = direct_leaf(canonical, plan, loads)
    inside = loops(TileSpec(canonical.axes, plan.tile, plan.inner, leaf, masks=False, vector=target.vector_bits // 8))
    edge = replace(leaf, remainder_axes=(0, *on[-1:]), non_temporal=False, prefetch=None)
    shift = Peeled(leaf, edge, writing.grain, on)
    return tuple(_shifted(node, shift) for node in inside)


def _shifted(node: Node, shift: Peeled) -> Node:
    """The same node with shifted micro-tiles."""
    if isinstance(node, Micro):
        edge = replace(shift.edge, block=(shift.edge.block[0], *node.block[1:]), grain=node.grain)
        return replace(shift, body=node, edge=edge)
    return node.map(lambda inner: _shifted(inner, shift))
