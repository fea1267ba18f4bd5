"""Tiles in place: those of an orbit change places, one of them by way of scratch."""

from __future__ import annotations

from math import gcd

from ...lazy_dataclasses import replace
from ...machine.target import Target
from ...problem.canonical import LONGEST, Canonical, Param, static
from ...problem.in_place import images
from ...problem.kinds import Alpha, Beta
from ...problem.orbits import cycles, order
from ...problem.sums import group
from ..nest import trips
from ..nodes import FROM_BOTH_ENDS, Loop, Micro, Node, Orbit
from ..operands import Op, Space, View
from ..plan import CpuPlan, Fetch, spans
from ..tile_loops import TileSpec, loops
from ..writing import Writing, tile_buffer
from .buffered import phase, row_block
from .leaves import direct_leaf, has_masks, operation, views

GOLDEN = 0.618  # chunks by this part of their number: any few that follow each other are spread evenly


def in_orbits(canonical: Canonical, writing: Writing, target: Target, loads: int) -> tuple[Node, ...]:
    """The orbit of a tile; alpha and beta apply where elements arrive. Scratch has elements of A, in B's order."""
    plan, image = writing.plan, images(canonical.axes)
    assert image is not None
    source, sink = views(canonical)
    buffer = tile_buffer(canonical, plan, target, None)
    scratch = View(Space.SCRATCH, canonical.a, buffer.strides)
    direct, cut = direct_leaf(canonical, plan, loads), tuple(on_lines(canonical, plan, target))
    direct = replace(direct, grain=_anywhere(direct.grain, cut))
    move = Op(Alpha.ONE, Beta.ZERO, False, canonical.a)
    ahead = direct.prefetch if plan.fetch is Fetch.ROWS else None  # of the next tile, and of its place
    fill = Micro(source, scratch, move, plan.block, direct.grain, prefetch=ahead, loads=loads)
    flat = row_block(canonical, plan, target)
    grain = tuple(0 if spans(block, axis.extent) else block for block, axis in zip(flat, canonical.axes, strict=True))
    drain = Micro(scratch, sink, operation(canonical), flat, _anywhere(grain, cut), prefetch=ahead)
    steps = loops(
        TileSpec(
            canonical.axes, plan.tile, plan.inner, replace(direct, prefetch=None) if ahead else direct,
            has_masks(plan.block, (source, sink), target), target.vector_bits // 8, (cut, 0),
        )
    )  # fmt: skip
    axes = tuple(k for k in plan.order if image[k] != k)
    phases = (phase(canonical, plan, fill, target, cut), steps, phase(canonical, plan, drain, target, cut))
    return (Orbit(image, axes, order(image), buffer, *phases),)


def on_lines(canonical: Canonical, plan: CpuPlan, target: Target) -> dict[int, int]:
    """The elements of a line, by the axes along which tiles in place begin on lines, wherever the tensor does: B's
    contiguous one and those whose place it takes, of a tensor beyond L2 whose rows lie alike on lines, or half of
    them."""
    if not canonical.in_place or LONGEST in canonical.bounds or canonical.axes[0].stride_b != 1:
        return {}
    (cycle, *_), size, half = cycles(images(canonical.axes) or ()), canonical.a.itemsize, target.line // 2
    alike = all(static(axis.stride_b) * size % half == 0 for axis in canonical.axes[1:])
    if len(cycle) < 2 or half % size or not alike or not target.has_masks(size):
        return {}
    line, tile = 2 * half // size, plan.tile[0]
    pays = tile % line == 0 and tile < canonical.extents[0] and canonical.elements * size > target.l2
    return dict.fromkeys(cycle, line) if pays else {}


def _anywhere(grain: tuple[int, ...], cut: tuple[int, ...]) -> tuple[int, ...]:
    """The grain of micro-tiles that may begin anywhere along these axes."""
    return tuple(1 if k in cut else n for k, n in enumerate(grain))


def task_stride(canonical: Canonical, plan: CpuPlan, loop: Loop) -> int:
    """The stride of a task loop over tiles: of the tiles along the outermost axis that moves, those of the last index
    move most others."""
    every = group(canonical) if canonical.terms else [images(canonical.axes)] if canonical.in_place else []
    if loop.axis != next((k for k in plan.order for image in every if image and image[k] != k), None):
        return 1
    if isinstance(loop.extent, Param):
        return FROM_BOTH_ENDS
    count = trips(loop)
    return next((n for n in range(max(1, round(count * GOLDEN)), 0, -1) if gcd(n, count) == 1), 1)
