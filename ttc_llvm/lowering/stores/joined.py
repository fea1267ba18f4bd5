"""Tiles whose registers are lines of B: each is joined to what the one before left of a line (JOINED)."""

from __future__ import annotations

from dataclasses import replace

from ...machine.target import Target
from ...problem.canonical import Canonical
from ..carry import run_of
from ..nodes import Last, Node, Rest
from ..tile_loops import Tile, loops
from ..writing import Writing
from .leaves import direct_leaf, each_row, row_axes


def joined(canonical: Canonical, writing: Writing, target: Target, loads: int) -> tuple[Node, ...]:
    """A tile whose registers of B are joined to what waits; what still waits when runs end is stored."""
    plan, chain = writing.plan, writing.chain
    assert chain is not None
    leaf = replace(direct_leaf(canonical, plan, loads), carry=chain.carry)
    body = loops(Tile(canonical.axes, plan.tile, plan.inner, leaf, False, target.vector_bits // 8))
    around = row_axes(plan, run_of(canonical, plan), canonical.along("b"))
    ends = each_row(canonical, around, Rest(chain.carry, leaf.target, leaf.op))
    return (*body, Last(chain.carry, ends))
