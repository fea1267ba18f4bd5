"""Micro-tiles that start at B's first cache-line boundary, wherever B begins (PEELED).

Where all rows of B have the same misalignment, the first boundary of each is the same few elements after its start.
Micro-tiles are offset by as many along the rows of B, so that they are whole lines, by non-temporal stores. The last
one of a row wraps into the row that follows in memory; lines are written in part only where no row follows, and before
the first boundary.
"""

from __future__ import annotations

from ...lazy_dataclasses import replace
from ...machine.target import Target
from ...problem.canonical import Canonical
from ..nodes import Micro, Node, Peeled
from ..peeling import following, has_whole_items, has_whole_rows, peeled_axis
from ..tile_loops import TileSpec, loops
from ..writing import Writing
from .leaves import direct_leaf, written_backwards


def peeled(canonical: Canonical, writing: Writing, target: Target, loads: int) -> tuple[Node, ...]:
    """A tile of peeled micro-tiles. Remainders have micro-tiles of their own, which are peeled, too."""
    plan, (axis, step) = writing.plan, peeled_axis(canonical, writing.plan)
    alone = has_whole_rows(canonical, plan) or has_whole_items(canonical, plan)
    rows = () if alone else following(canonical, plan)
    leaf = direct_leaf(canonical, plan, loads)
    vector, back = target.vector_bits // 8, written_backwards(canonical, plan)
    inside = loops(TileSpec(canonical.axes, plan.tile, plan.inner, leaf, masks=False, vector=vector, backwards=back))
    edge = replace(leaf, remainder_axes=(axis, *rows[-1:]), non_temporal=False, prefetch=None)
    whole = Peeled(leaf, edge, writing.grain, rows, axis, step)
    return tuple(_peeled(node, whole) for node in inside)


def _peeled(node: Node, whole: Peeled) -> Node:
    """The same node with peeled micro-tiles."""
    if isinstance(node, Micro):
        block = (*node.block[: whole.axis], whole.edge.block[whole.axis], *node.block[whole.axis + 1 :])
        edge = replace(whole.edge, block=block, grain=node.grain)
        return replace(whole, body=node, edge=edge)
    return node.map(lambda inner: _peeled(inner, whole))
