"""Micro-tiles that begin where B's lines do, wherever B begins.

Where all rows of B begin alike, every one of them has its first boundary the same few elements behind its start. So
each micro-tile lies that much further along the rows of B: whole lines again, past the caches. The last of a row passes
its end and takes the rest from the row that follows in memory; only where none does, and before the first boundary,
lines are written in part.
"""

from __future__ import annotations

import itertools
from dataclasses import replace

from .canonical import Canonical, static
from .layout import run_axes
from .machine import Exchange
from .nest import Loop, Micro, Node, Shifted
from .plan import CpuPlan, Staging
from .staging import direct_leaf, has_aligned_rows, has_masks, overwrites
from .target import Target
from .tile_loops import Tile, loops


def shifts(canonical: Canonical, plan: CpuPlan, target: Target) -> bool:
    """True where the plan's micro-tiles can be shifted: whole lines or vectors of B, whose rows are whole numbers of
    micro-tiles unless each stands alone, begin alike, and lie across those of A; and the machine has masks for what is
    less than a line, and does not transpose while it stores."""
    wanted = plan.streaming and plan.staging is Staging.SHIFT and overwrites(canonical)
    if not wanted or target.exchange is Exchange.SEGMENTS:
        return False
    extent, block = canonical.axes[0].extent, plan.block[0]
    if not (isinstance(extent, int) and extent >= block and _grain(canonical, plan, target) > 0):
        return False
    whole = extent % block == 0 or not following(canonical, plan)
    return whole and _is_across(canonical, plan) and has_masks(direct_leaf(canonical, plan), target)


def _is_across(canonical: Canonical, plan: CpuPlan) -> bool:
    """True where no row of A goes on along axis 0 within a micro-tile, nor within a shorter one at an edge."""
    pairs = list(zip(plan.block, canonical.extents, strict=True))[1:]
    lengths = [{min(block, extent), extent % block or block} for block, extent in pairs]
    blocks = itertools.product({plan.block[0]}, *lengths)
    return all(0 not in run_axes(block, canonical.strides("a")) for block in blocks)


def shifted(canonical: Canonical, plan: CpuPlan, target: Target) -> tuple[Node, ...]:
    """A tile of such a plan. All edges have bodies of their own, which are shifted, too."""
    leaf, on = direct_leaf(canonical, plan), following(canonical, plan)
    inside = loops(Tile(canonical.axes, plan.tile, plan.inner, leaf, masks=False, vector=target.vector_bits // 8))
    edge = replace(leaf, ragged=(0, *on[-1:]), streaming=False, prefetch=None)
    return _each(inside, Shifted(leaf, edge, _grain(canonical, plan, target), on))


def _grain(canonical: Canonical, plan: CpuPlan, target: Target) -> int:
    """Elements between the boundaries at which micro-tiles begin: lines where all rows keep to them, else vectors; 0
    where they do not keep to those."""
    size, vector = canonical.b.itemsize, target.vector_bits // 8
    for boundary in dict.fromkeys((max(target.line, vector), vector)):
        if plan.block[0] * size % boundary == 0 and has_aligned_rows(canonical, boundary):
            return boundary // size
    return 0


def following(canonical: Canonical, plan: CpuPlan) -> tuple[int, ...]:
    """The axes along which rows of B follow each other in memory, innermost first: up to one along which micro-tiles
    have several of them."""
    found: list[int] = []
    if static(canonical.axes[0].stride_a) == 0:  # one row of A serves all of a row of B: it cannot go on elsewhere
        return ()
    length = static(canonical.axes[0].extent)
    while not found or plan.block[found[-1]] == 1:
        steps = enumerate(canonical.axes)
        k = next((k for k, axis in steps if axis.stride_b == length and axis.extent != 1 and k not in found), None)
        if k is None or (plan.block[k] > 1 and not _are_neighbours(canonical, k)):
            break
        found.append(k)
        length *= canonical.extents[k]
    return tuple(found)


def _are_neighbours(canonical: Canonical, k: int) -> bool:
    """True where rows along an axis are neighbours in A, so that those that follow a micro-tile's are loaded one
    element further; the element behind the last one, which is not used, is in front of another of A."""
    return canonical.axes[k].stride_a == 1 and static(canonical.axes[0].stride_a) > 0


def _each(nodes: tuple[Node, ...], shift: Shifted) -> tuple[Node, ...]:
    """The same nodes with shifted micro-tiles."""
    found: list[Node] = []
    for node in nodes:
        if isinstance(node, Loop):
            tail = None if node.tail is None else _each(node.tail, shift)
            found.append(replace(node, body=_each(node.body, shift), tail=tail))
        elif isinstance(node, Micro):
            edge = replace(shift.edge, block=(shift.edge.block[0], *node.block[1:]), grain=node.grain)
            found.append(replace(shift, body=node, edge=edge))
    return tuple(found)
