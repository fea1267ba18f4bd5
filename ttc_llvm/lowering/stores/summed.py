"""Sums of permutations: every term adds its tile in scratch, in B's order, which then leaves for B."""

from __future__ import annotations

from math import prod

from ...lazy_dataclasses import replace
from ...machine.target import Target
from ...problem import sums
from ...problem.canonical import Canonical, Size
from ...problem.kinds import Alpha, Beta
from ..chain import run_of_b
from ..layout import run_axes
from ..nodes import Micro, Node, Row, Stage, Tour
from ..operands import Op, Space, View
from ..plan import CpuPlan, spans
from ..tile_loops import TileSpec, loops
from ..writing import Writing
from .buffered import row_block
from .leaves import has_masks, prefetch_of, row_loops, views


def summed(canonical: Canonical, writing: Writing, target: Target, loads: int) -> tuple[Node, ...]:
    """A tile of B, and with it those that read the same tiles of A, while these are in the caches."""
    plan, buffer = writing.plan, writing.buffer
    assert buffer is not None
    scratch = View(Space.SCRATCH, canonical.between, buffer.strides)
    filling: list[Node] = []
    for number, strides in enumerate(sums.sources(canonical)):
        filling += _fill(canonical, plan, scratch, (number, strides), target, loads)
    body = (Stage(buffer, tuple(filling), _drain(canonical, writing, scratch, target)),)
    images = sums.group(canonical)
    axes = tuple(k for k in plan.order if any(image[k] != k for image in images))
    box = plan.box(canonical.extents)
    if not axes or any(box[image[k]] != box[k] for image in images for k in axes):
        return body
    return (Tour(images, axes, body),)


def _fill(
    canonical: Canonical, plan: CpuPlan, scratch: View, term: tuple[int, tuple[Size, ...]], target: Target, loads: int
) -> tuple[Node, ...]:
    """A term's tile, times its alpha, to scratch: all but the first are added to what is there."""
    number, strides = term
    block, kept = _block(canonical, plan, strides), Beta.ONE if number else Beta.ZERO
    source = View(Space.A, canonical.a, strides, number)
    op = Op(Alpha.ANY, kept, canonical.conjugate, canonical.between, number)
    leaf = Micro(source, scratch, op, block, block, prefetch=prefetch_of(plan), loads=loads)
    return _loops(canonical, plan, leaf, target)


def _block(canonical: Canonical, plan: CpuPlan, strides: tuple[Size, ...]) -> tuple[int, ...]:
    """The part of the plan's micro-tile that is registers of B and of a term's A: axes that neither's runs go along are
    walked, but where both have the same runs."""
    runs_a, runs_b = run_axes(plan.block, strides), run_axes(plan.block, canonical.strides("b"))
    if runs_a == runs_b:
        return plan.block
    return tuple(n if k in runs_a or k in runs_b else 1 for k, n in enumerate(plan.block))


def _loops(canonical: Canonical, plan: CpuPlan, leaf: Micro, target: Target) -> tuple[Node, ...]:
    masks = has_masks(leaf.block, (leaf.source, leaf.target), target)
    return loops(TileSpec(canonical.axes, plan.tile, plan.inner, leaf, masks, target.vector_bits // 8))


def _drain(canonical: Canonical, writing: Writing, scratch: View, target: Target) -> tuple[Node, ...]:
    """The sum, and beta times what B held."""
    plan, sink = writing.plan, views(canonical)[1]
    op = Op(Alpha.ONE, canonical.kinds.beta, False, canonical.between)
    if not writing.by_rows:
        flat = row_block(canonical, plan, target)
        grain = tuple(0 if spans(n, x.extent) else n for n, x in zip(flat, canonical.axes, strict=True))
        leaf, along = Micro(scratch, sink, op, flat, grain), replace(plan, inner=canonical.along("b"))
        return _loops(canonical, along, leaf, target)
    run = run_of_b(canonical, plan)
    width = prod(canonical.bounds[k] for k in run[:-1])
    return row_loops(canonical, plan, Row(scratch, sink, op, run, width), canonical.along("b"))
