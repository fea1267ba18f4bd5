"""Sums of permutations: terms add up in registers, those that turn registers another way by way of scratch."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from ...lazy_dataclasses import replace
from ...machine.target import Target
from ...problem import sums
from ...problem.canonical import Canonical
from ...problem.kinds import Alpha, Beta
from ..chain import run_of_b
from ..layout import run_axes
from ..nodes import Micro, Node, Row, Stage, Tour
from ..operands import Op, Source, Space, View
from ..plan import CpuPlan, Store, spans
from ..tile_loops import TileSpec, loops
from ..writing import Writing
from .joined import lines
from .leaves import has_masks, prefetch_of, row_loops, views

Block = tuple[int, ...]
Group = tuple[Block, tuple[Source, ...]]  # terms whose sum is in registers at once, and the micro-tile of that


def summed(canonical: Canonical, writing: Writing, target: Target, loads: int) -> tuple[Node, ...]:
    """A tile of B, and with it those that read the same tiles of A, while these are in the caches. Tiles of panels,
    which are visited together instead, leave in whole lines."""
    plan = writing.plan
    if writing.store is Store.JOINED:
        (group,) = groups(canonical, plan)
        leaf = _leaf(canonical, writing, group, views(canonical)[1], loads)
        return lines(canonical, writing, target, replace(leaf, non_temporal=True))
    body, axes = _tile(canonical, writing, target, loads), _tour(canonical, plan, plan.tile)
    return (Tour(sums.group(canonical), axes, body),) if axes else body


def panels(canonical: Canonical, plan: CpuPlan, body: tuple[Node, ...]) -> tuple[Node, ...]:
    """A panel of B, and with it those that read the same panels of A."""
    axes = _tour(canonical, plan, plan.panel)
    return (Tour(sums.group(canonical), axes, body, True),) if axes else body


def _tour(canonical: Canonical, plan: CpuPlan, size: tuple[int, ...]) -> tuple[int, ...]:
    """The axes whose places are others in other boxes of this size that read the same ones of A; none where they do not
    fit."""
    images, box = sums.group(canonical), tuple(map(min, size, canonical.extents))
    axes = tuple(k for k in plan.order if any(image[k] != k for image in images))
    return () if any(box[image[k]] != box[k] for image in images for k in axes) else axes


def axes_of_lines(canonical: Canonical, plan: CpuPlan) -> tuple[int, ...]:
    """The axes along which tiles begin with lines of B where these decide: B's contiguous one, and those whose place it
    takes in a tour."""
    found = sums.orbits(sums.group(canonical)) if _tour(canonical, plan, plan.tile) else ((0,),)
    return next(axes for axes in found if 0 in axes)


def _tile(canonical: Canonical, writing: Writing, target: Target, loads: int) -> tuple[Node, ...]:
    """All groups of terms; the last one leaves for B, or all do, row by row."""
    plan, buffer = writing.plan, writing.buffer
    assert buffer is not None
    found, scratch = groups(canonical, plan), View(Space.SCRATCH, canonical.between, buffer.strides)
    held = Source(scratch, Op(Alpha.ONE, Beta.ZERO, False, canonical.between))
    filling: list[Node] = []
    for number, (block, terms) in enumerate(found if writing.by_rows else found[:-1]):
        leaf = _leaf(canonical, writing, (block, (held, *terms) if number else terms), scratch, loads)
        filling += _loops(canonical, writing, leaf, target)
    if writing.by_rows:
        return (Stage(buffer, tuple(filling), _rows(canonical, plan, scratch)),)
    block, terms = found[-1]
    leaf = _leaf(canonical, writing, (block, (held, *terms) if filling else terms), views(canonical)[1], loads)
    leaf = replace(leaf, op=replace(leaf.op, beta=canonical.kinds.beta), non_temporal=plan.non_temporal)
    leaving = _loops(canonical, writing, leaf, target)
    return (Stage(buffer, tuple(filling), leaving),) if filling else leaving


def groups(canonical: Canonical, plan: CpuPlan) -> list[Group]:
    """The terms by the part of the plan's micro-tile that is registers of B and of their A; those that turn no
    registers are added beside the first ones that do."""
    found: dict[Block, list[Source]] = {}
    plain: list[Source] = []
    runs_b = run_axes(plan.block, canonical.strides("b"))
    for number, strides in enumerate(sums.sources(canonical)):
        op = Op(Alpha.ANY, Beta.ZERO, canonical.conjugate, canonical.between, number)
        term = Source(View(Space.A, canonical.a, strides, number), op)
        runs_a = run_axes(plan.block, strides)
        if runs_a == runs_b:
            plain.append(term)
            continue
        block = tuple(n if k in runs_a or k in runs_b else 1 for k, n in enumerate(plan.block))
        found.setdefault(block, []).append(term)
    if not found:
        return [(plan.block, tuple(plain))]
    first = next(iter(found))
    return [(block, (*plain, *terms) if block == first else tuple(terms)) for block, terms in found.items()]


def _leaf(canonical: Canonical, writing: Writing, group: Group, sink: View, loads: int) -> Micro:
    block, (first, *further) = group
    axes, line = _lines(canonical, writing)
    grain = (
        min(n, line) if k in axes else 0 if spans(n, canonical.axes[k].extent) else n for k, n in enumerate(block)
    )
    return Micro(
        first.view, sink, first.op, block, tuple(grain),
        prefetch=prefetch_of(writing.plan), loads=loads, further=tuple(further),
    )  # fmt: skip


def _lines(canonical: Canonical, writing: Writing) -> tuple[tuple[int, ...], int]:
    """The axes along which micro-tiles begin with lines of B, and the elements of one."""
    return (axes_of_lines(canonical, writing.plan) if writing.grain else ()), writing.grain


def _loops(canonical: Canonical, writing: Writing, leaf: Micro, target: Target) -> tuple[Node, ...]:
    plan, lines = writing.plan, _lines(canonical, writing)
    every: Sequence[View] = (leaf.target, *(one.view for one in leaf.sources))
    masks = all(has_masks(leaf.block, (view, leaf.target), target) for view in every)
    return loops(TileSpec(canonical.axes, plan.tile, plan.inner, leaf, masks, target.vector_bits // 8, lines))


def _rows(canonical: Canonical, plan: CpuPlan, scratch: View) -> tuple[Node, ...]:
    """The sum leaves scratch row by row."""
    op = Op(Alpha.ONE, Beta.ZERO, False, canonical.between)
    run = run_of_b(canonical, plan)
    width = prod(canonical.bounds[k] for k in run[:-1])
    return row_loops(canonical, plan, Row(scratch, views(canonical)[1], op, run, width), canonical.along("b"))
