"""What runs where B begins off the boundary of vectors, as large arrays of NumPy and malloc do."""

from __future__ import annotations

from dataclasses import replace
from math import prod

from .canonical import Canonical
from .carry import chain, run_of
from .carry_plans import carrying
from .plan import CpuPlan, Fetch, Staging
from .shift import following, shifts
from .staging import has_room, is_by_rows, overwrites
from .target import Target
from .tile_sizes import cover, fitted, merge

SHORT_RUN = 512  # bytes: the lines at both ends of shorter runs cost as much as ordinary stores
LONG_RUN = 1 << 10  # bytes: runs of B, and of A under ordinary stores, are made so long; rows as long stand alone
LONG_READ = 256  # bytes of A that a shifted tile reads of each row: off the lines, neighbouring pieces share one
TASKS = 64  # that threads can share, if there were as many with shorter tiles
SIZES = (128, 256, 1024)  # bytes of B and of A that a tile whose runs go on has of each row, and how many rows wait


def off_boundary(canonical: Canonical, plan: CpuPlan, target: Target) -> CpuPlan:
    """What runs instead of a streaming plan: its micro-tiles begin where B's lines do, if they can; else runs of B
    leave scratch as rows, which find the boundaries between their ends, if they are long, and go on from tile to tile,
    if they can; else ordinary stores serve. Rows of A that are rows of B need no scratch, and short ones gain nothing
    from it."""
    if not (plan.streaming and overwrites(canonical) and canonical.elements > 0):
        return plan.ordinary
    ways = (_in_place,) if canonical.axes[0].stride_a == 1 else (_shifted, _carried, _by_runs)
    found = (way(canonical, plan, target) for way in ways)
    return next((other for other in found if other is not None), _stored(canonical, plan, target))


def _in_place(canonical: Canonical, plan: CpuPlan, target: Target) -> CpuPlan | None:
    """Long rows of A that are rows of B: each finds its own boundaries."""
    found = replace(plan, staging=Staging.SHIFT)
    long = canonical.extents[0] * canonical.b.itemsize >= LONG_RUN
    return found if long and is_by_rows(canonical, found, target.vector_bits // 8) else None


def _shifted(canonical: Canonical, plan: CpuPlan, target: Target) -> CpuPlan | None:
    """The plan shifted, where rows of B are long or follow each other: else too many lines are written in part."""
    line = max(1, target.line // canonical.b.itemsize)
    extent = canonical.extents[0]
    narrow = extent % plan.block[0] and extent % line == 0 and plan.block[0] % line == 0
    block = (line, *plan.block[1:]) if narrow else plan.block
    found = replace(plan, block=block, staging=Staging.SHIFT)
    if plan.fetch is Fetch.ROWS and plan.prefetch == 1:  # else a longer way ahead is asked for already
        found = _lengthened(canonical, found, "a", LONG_READ, target)
    pays = extent * canonical.b.itemsize >= LONG_RUN or following(canonical, found)
    return found if pays and shifts(canonical, found, target) else None


def _carried(canonical: Canonical, plan: CpuPlan, target: Target) -> CpuPlan | None:
    found = carrying(canonical, plan.block, SIZES, Fetch.ROWS, 1)
    handed = chain(canonical, found, target)
    pays = handed is not None and handed.run * canonical.b.itemsize >= SHORT_RUN
    return found if pays and has_room(canonical, found, target) else None


def _by_runs(canonical: Canonical, plan: CpuPlan, target: Target) -> CpuPlan | None:
    """The plan with long runs of B, put together in scratch."""
    size = canonical.b.itemsize
    long = _lengthened(canonical, plan, "b", LONG_RUN, target)
    found = replace(long, panel=(), staging=Staging.B, prefetch=1, fetch=Fetch.ROWS)
    run = prod(found.box(canonical.extents)[k] for k in run_of(canonical, found)) * size
    pays = run >= SHORT_RUN and has_room(canonical, found, target) and is_by_rows(canonical, found, size)
    return found if pays else None


def _stored(canonical: Canonical, plan: CpuPlan, target: Target) -> CpuPlan:
    """The plan with ordinary stores, whose tiles have long runs: caches put lines together that micro-tiles write in
    part. Rows of the next tile are asked for where nothing was: streams of stores did without. Where rows of A are
    rows of B, and are asked for, nothing is gained."""
    if plan.prefetch and canonical.axes[0].stride_a == 1:
        return plan.ordinary
    found = plan.ordinary
    for side in "ab":
        found = _lengthened(canonical, found, side, LONG_RUN, target)
    asks = plan.prefetch == 0 and target.prefetches and _is_small(canonical, found.tile, target)
    return replace(found, fetch=Fetch.ROWS, prefetch=1) if asks else found


def _lengthened(canonical: Canonical, plan: CpuPlan, side: str, size: int, target: Target) -> CpuPlan:
    """The plan, whose tiles have so many bytes of each row of A or of B at least; the plan itself where they would
    leave too little of L2, or threads too little to share."""
    item = (canonical.a if side == "a" else canonical.b).itemsize
    long = cover(canonical, side, max(1, size // item))
    if all(plan.tile[k] >= length for k, length in long.items()):
        return plan
    tile = fitted(canonical, plan.block, merge(dict(enumerate(plan.tile)), long))
    found = replace(plan, tile=tile, panel=())
    shared = found.tasks(canonical.extents) >= min(TASKS, plan.tasks(canonical.extents))
    return found if shared and _is_small(canonical, tile, target) else plan


def _is_small(canonical: Canonical, tile: tuple[int, ...], target: Target) -> bool:
    """True where a tile of A or B leaves half of L2."""
    elements = prod(map(min, tile, canonical.extents))
    return elements * max(canonical.a.itemsize, canonical.b.itemsize) <= target.l2 // 2
