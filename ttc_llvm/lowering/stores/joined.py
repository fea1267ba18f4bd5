"""Tiles whose registers are lines of a misaligned B: each is joined to the partial line of the one before (JOINED)."""

from __future__ import annotations

from ...lazy_dataclasses import replace
from ...machine.target import Target
from ...problem.canonical import Canonical, Param
from ...problem.kinds import Alpha, Beta
from ..chain import run_of_b
from ..nodes import AtRunEnd, FlushSlot, Micro, Node
from ..operands import Op
from ..tile_loops import TileSpec, loops
from ..writing import Writing
from .leaves import direct_leaf, each_row, row_axes


def joined(canonical: Canonical, writing: Writing, target: Target, loads: int) -> tuple[Node, ...]:
    """A tile whose registers are joined to partial lines; the last partial line is flushed where runs end."""
    return lines(canonical, writing, target, direct_leaf(canonical, writing.plan, loads))


def lines(canonical: Canonical, writing: Writing, target: Target, leaf: Micro) -> tuple[Node, ...]:
    """The same by these micro-tiles."""
    plan, chain = writing.plan, writing.chain
    assert chain is not None
    line = replace(chain.partial_line, dtype=canonical.b)
    leaf = replace(leaf, partial_line=line)
    masks = any(isinstance(axis.extent, Param) for axis in canonical.axes)
    body = loops(TileSpec(canonical.axes, plan.tile, plan.inner, leaf, masks, target.vector_bits // 8))
    around = row_axes(plan, run_of_b(canonical, plan), canonical.along("b"))
    kept = Op(Alpha.ONE, Beta.ZERO, False, canonical.b)
    ends = each_row(canonical, around, FlushSlot(line, leaf.target, kept))
    return (*body, AtRunEnd(line, ends))
