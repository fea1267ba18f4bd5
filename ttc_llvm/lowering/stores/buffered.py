"""Tiles that are gathered in scratch in B's order and copied to B row by row (BUFFERED, COMBINED)."""

from __future__ import annotations

from math import prod

from ...machine.target import Target
from ...problem.canonical import LONGEST, Canonical
from ...problem.kinds import Alpha, Beta
from ..chain import run_of_b
from ..nodes import LoadSlot, Micro, Node, Row, Stage
from ..operands import Op, Space, View
from ..plan import CpuPlan, Fetch, spans
from ..tile_loops import TileSpec, loops
from ..writing import Writing
from .leaves import each_row, has_masks, operation, prefetch_of, row_axes, row_loops, views


def buffered(canonical: Canonical, writing: Writing, target: Target, loads: int) -> tuple[Node, ...]:
    """A tile through scratch, as elements of the shorter type: conversions and alpha apply at its other side."""
    plan, buffer = writing.plan, writing.buffer
    assert buffer is not None
    source, sink = views(canonical)
    scratch = View(Space.SCRATCH, buffer.dtype, buffer.strides)
    first, then = Op(Alpha.ONE, Beta.ZERO, False, buffer.dtype), operation(canonical)
    if buffer.dtype != canonical.a:
        first, then = then, first
    prefetch = prefetch_of(plan)
    # Filling waits for A anyway: rows prefetch while they leave, in shares that depend on how many there are.
    late = writing.by_rows and plan.fetch is Fetch.ROWS and LONGEST not in canonical.bounds
    fill = Micro(source, scratch, first, plan.block, plan.block, prefetch=None if late else prefetch, loads=loads)
    filling = phase(canonical, plan, fill, target)
    if not writing.by_rows:
        flat = row_block(canonical, plan, target)
        drain = Micro(scratch, sink, then, flat, flat, non_temporal=True)
        return (Stage(buffer, filling, phase(canonical, plan, drain, target)),)
    run, order = run_of_b(canonical, plan), canonical.along("b")
    width = prod(canonical.bounds[k] for k in run[:-1])
    line = writing.chain.partial_line if writing.chain else None
    row = Row(scratch, sink, then, run, width, prefetch=prefetch if late else None, partial_line=line)
    if line:
        filling = (*each_row(canonical, row_axes(plan, run, order), LoadSlot(line, scratch)), *filling)
    return (Stage(buffer, filling, row_loops(canonical, plan, row, order)),)


def phase(
    canonical: Canonical, plan: CpuPlan, leaf: Micro, target: Target, cut: tuple[int, ...] = ()
) -> tuple[Node, ...]:
    """The loops that fill or drain a tile of scratch by this micro-tile. cut: axes along which tiles may be short."""
    inner = plan.inner if leaf.block == plan.block else canonical.along("b")
    masks = has_masks(leaf.block, (leaf.source, leaf.target), target)
    return loops(TileSpec(canonical.axes, plan.tile, inner, leaf, masks, target.vector_bits // 8, (cut, 0)))


def row_block(canonical: Canonical, plan: CpuPlan, target: Target) -> tuple[int, ...]:
    """Whole vectors, up to four, along B's contiguous axis."""
    width = target.lanes(canonical.widest)
    block = [1] * len(plan.tile)
    run = next((k for k, s in enumerate(canonical.strides("b")) if s == 1), 0)
    count = max((n for n in (4, 2, 1) if plan.tile[run] % (n * width) == 0), default=1)
    block[run] = min(count * width, plan.box(canonical.bounds)[run])
    if plan.tile[run] % block[run] and not spans(plan.tile[run], canonical.axes[run].extent):
        block[run] = plan.block[run]
    return tuple(block)
