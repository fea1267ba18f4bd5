"""What runs where B begins off the boundary of vectors, as large arrays of NumPy and malloc do."""

from __future__ import annotations

from dataclasses import replace
from math import prod

from .canonical import Alpha, Beta, Canonical
from .carry import chain, run_of
from .carry_plans import carrying
from .plan import CpuPlan, Fetch, Staging
from .staging import has_room, is_by_rows
from .target import Target
from .tile_sizes import cover, fitted, merge

SHORT_RUN = 512  # bytes: the lines at both ends of shorter runs cost as much as ordinary stores
LONG_RUN = 1 << 10  # bytes: runs of B are made so long where its rows follow each other
SIZES = (128, 256, 1024)  # bytes of B and of A that a tile whose runs go on has of each row, and how many rows wait


def off_boundary(canonical: Canonical, plan: CpuPlan, target: Target) -> CpuPlan:
    """What runs instead of a streaming plan: runs of B leave scratch as rows, which find the boundaries between their
    ends, if they are long, and go on from tile to tile, if they can; else the plan with ordinary stores."""
    moves = canonical.kinds.beta is Beta.ZERO and canonical.kinds.alpha is not Alpha.ZERO and canonical.elements > 0
    if not plan.streaming or not moves:
        return plan.ordinary
    walking = carrying(canonical, plan.block, SIZES, Fetch.ROWS, 1)
    handed = chain(canonical, walking, target)
    if handed and handed.run * canonical.b.itemsize >= SHORT_RUN and has_room(canonical, walking, target):
        return walking
    staged = _by_runs(canonical, plan)
    size = canonical.b.itemsize
    run = prod(staged.box(canonical.extents)[k] for k in run_of(canonical, staged)) * size
    pays = run >= SHORT_RUN and has_room(canonical, staged, target) and is_by_rows(canonical, staged, size)
    return staged if pays else plan.ordinary


def _by_runs(canonical: Canonical, plan: CpuPlan) -> CpuPlan:
    """The plan with long runs of B, put together in scratch."""
    long = cover(canonical, "b", max(1, LONG_RUN // canonical.b.itemsize))
    tile = fitted(canonical, plan.block, merge(dict(enumerate(plan.tile)), long))
    return replace(plan, tile=tile, panel=(), staging=Staging.B, prefetch=1, fetch=Fetch.ROWS)
