"""Tiles whose registers are lines of a misaligned B: each is joined to the partial line of the one before (JOINED)."""

from __future__ import annotations

from ...lazy_dataclasses import replace
from ...machine.target import Target
from ...problem.canonical import Canonical
from ..chain import run_of_b
from ..nodes import AtRunEnd, FlushSlot, Node
from ..tile_loops import TileSpec, loops
from ..writing import Writing
from .leaves import direct_leaf, each_row, row_axes


def joined(canonical: Canonical, writing: Writing, target: Target, loads: int) -> tuple[Node, ...]:
    """A tile whose registers are joined to partial lines; the last partial line is flushed where runs end."""
    plan, chain = writing.plan, writing.chain
    assert chain is not None
    leaf = replace(direct_leaf(canonical, plan, loads), partial_line=chain.partial_line)
    body = loops(TileSpec(canonical.axes, plan.tile, plan.inner, leaf, False, target.vector_bits // 8))
    around = row_axes(plan, run_of_b(canonical, plan), canonical.along("b"))
    ends = each_row(canonical, around, FlushSlot(chain.partial_line, leaf.target, leaf.op))
    return (*body, AtRunEnd(chain.partial_line, ends))
