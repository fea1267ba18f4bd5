"""Tiles straight from A to B: by micro-tiles (CACHED, ALIGNED), or row by row where rows of A are rows of B (ROWS)."""

from __future__ import annotations

from ...machine.target import Target
from ...problem.canonical import Canonical
from ..nodes import Node, Row
from ..tile_loops import TileSpec, loops
from ..writing import Writing
from .leaves import direct_leaf, has_masks, operation, row_loops, views, written_backwards


def micro_tiles(canonical: Canonical, writing: Writing, target: Target, loads: int) -> tuple[Node, ...]:
    """Micro-tiles of a tile."""
    plan = writing.plan
    leaf = direct_leaf(canonical, plan, loads)
    masks = has_masks(leaf.block, views(canonical), target)
    vector, back = target.vector_bits // 8, written_backwards(canonical, plan)
    return loops(TileSpec(canonical.axes, plan.tile, plan.inner, leaf, masks, vector, backwards=back))


def rows(canonical: Canonical, writing: Writing, target: Target, loads: int) -> tuple[Node, ...]:
    """Rows of a tile, each of which finds its own first boundary."""
    row = Row(*views(canonical), operation(canonical), (0,), 1)
    return row_loops(canonical, writing.plan, row, writing.plan.inner)
