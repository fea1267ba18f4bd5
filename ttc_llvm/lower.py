"""Lowering: a plan applied to a canonical form gives the loop nest. Pure; no LLVM."""

from __future__ import annotations

from dataclasses import replace
from math import prod

from .canonical import Alpha, Beta, Canonical, Param, static
from .carries import carrying
from .carry import chain
from .nest import Bind, Fence, Keep, Loop, LoopNest, Micro, Node, Op, Row, Stage
from .plan import CpuPlan, Fetch, Staging, check
from .staging import has_masks, is_by_rows, prefetch_of, row_loops, run_of, stage, tile_extents, views
from .target import Target
from .tile_loops import Tile, loops

SHORT_RUN = 512  # bytes: the lines at both ends of shorter runs cost as much as ordinary stores
CARRIED = (128, 256, 1024)  # bytes of B and of A that a tile whose runs go on has of each row, and how many rows wait
LONG_RUN = 1 << 10  # bytes: runs of B are made so long where its rows follow each other


def lower(canonical: Canonical, plan: CpuPlan, target: Target) -> LoopNest:
    """The nest of this plan. Raises PlanError where the plan does not fit the canonical form.

    One plan serves every kind: without beta = 0 its streaming, with alpha = 0 its staging means nothing.
    """
    check(plan, canonical)
    if any(axis.extent == 0 for axis in canonical.axes):
        return LoopNest(canonical, (), _params(canonical), 0)
    if canonical.kinds.beta is not Beta.ZERO:
        plan = plan.ordinary
    if canonical.kinds.alpha is Alpha.ZERO or (plan.staging is Staging.CARRY and not plan.streaming):
        plan = replace(plan, staging=Staging.NONE)
    handed = chain(canonical, plan, target)
    body = (
        stage(canonical, plan, target, handed)
        if plan.staging is not Staging.NONE
        else _direct(canonical, plan, target)
    )
    sizes = tuple(axis.extent for axis in canonical.axes)
    tasks = len(plan.grid(sizes))
    around = list(enumerate(plan.loops(sizes)))
    for number, (k, step) in reversed(around):
        if handed and number == len(around) - handed.inside - 1:
            body = (Keep(handed.buffer, body),)
        body = (Loop(k, sizes[k], step, Bind.TASK if number < tasks else Bind.SERIAL, body),)
    if plan.streaming:
        body = (*body, Fence())
    return LoopNest(
        canonical, body, _params(canonical), _scratch_bytes(body), alignment(canonical, plan, target)
    )


def alignment(canonical: Canonical, plan: CpuPlan, target: Target) -> int:
    """Bytes that B's base must be a multiple of: a vector for stores past the caches of whole blocks, an element
    where rows find their own boundaries, 1 without such stores."""
    if not plan.streaming or canonical.kinds.beta is not Beta.ZERO:
        return 1
    vector = target.vector_bits // 8
    return canonical.b.itemsize if is_by_rows(canonical, plan, vector) else vector


def off_boundary(canonical: Canonical, plan: CpuPlan, target: Target) -> CpuPlan:
    """What runs instead of a streaming plan where B begins on no vector boundary, as large arrays of NumPy and malloc
    do not: runs of B leave scratch as rows, which find the boundaries between their ends, if they are long, and go on
    from tile to tile, if they can; else the plan with ordinary stores."""
    if not plan.streaming or canonical.kinds.beta is not Beta.ZERO or canonical.kinds.alpha is Alpha.ZERO:
        return plan.ordinary
    walking = carrying(canonical, plan.block, CARRIED, Fetch.ROWS, 1)
    handed = chain(canonical, walking, target)
    if handed and handed.run * canonical.b.itemsize >= SHORT_RUN and has_room(canonical, walking, target):
        return walking
    tile = _with_long_runs(canonical, plan)
    staged = replace(plan, tile=tile, panel=(), staging=Staging.B, prefetch=1, fetch=Fetch.ROWS)
    extents, size = tile_extents(canonical, staged), canonical.b.itemsize
    run = prod(extents[k] for k in run_of(canonical, staged)) * size
    pays = run >= SHORT_RUN and has_room(canonical, staged, target) and is_by_rows(canonical, staged, size)
    return staged if pays else plan.ordinary


def has_room(canonical: Canonical, plan: CpuPlan, target: Target) -> bool:
    """True where scratch, if the plan has any, leaves half of L2 to the tensors, and where runs go on that should."""
    if plan.staging is Staging.NONE:
        return True
    elements = prod(tile_extents(canonical, plan))
    if plan.staging is Staging.CARRY:
        handed = chain(canonical, plan, target)
        if handed is None:
            return False
        elements += handed.buffer.elements
    return elements * canonical.a.itemsize <= target.l2 // 2


def _with_long_runs(canonical: Canonical, plan: CpuPlan) -> tuple[int, ...]:
    """The plan's tile, longer along the axes that continue a run of B until it is a long one."""
    tile, strides = list(plan.tile), [abs(static(stride)) for stride in canonical.strides("b")]
    length, wanted = 1, max(1, LONG_RUN // canonical.b.itemsize)
    for k in sorted(range(len(tile)), key=strides.__getitem__):
        extent, unit = canonical.extents[k], plan.block[k]
        if strides[k] != length or length >= wanted:
            break
        tile[k] = min(extent, max(tile[k], -(-wanted // (length * unit)) * unit))
        length *= tile[k]
        if tile[k] < extent:
            break
    return tuple(tile)


def _params(canonical: Canonical) -> tuple[Param, ...]:
    sizes = {s for axis in canonical.axes for s in (axis.extent, axis.stride_a, axis.stride_b)}
    return tuple(sorted((s for s in sizes if isinstance(s, Param)), key=lambda p: p.index))


def _scratch_bytes(nodes: tuple[Node, ...]) -> int:
    for node in nodes:
        if isinstance(node, Loop | Keep):
            return _scratch_bytes(node.body)
        if isinstance(node, Stage):
            return node.buffer.end
    return 0


def _direct(canonical: Canonical, plan: CpuPlan, target: Target) -> tuple[Node, ...]:
    source, sink = views(canonical)
    op = Op(canonical.kinds.alpha, canonical.kinds.beta, canonical.conjugate, canonical.compute)
    if plan.streaming and is_by_rows(canonical, plan, target.vector_bits // 8):
        return row_loops(canonical, plan, Row(source, sink, op, (0,), 1), plan.inner)
    leaf = Micro(source, sink, op, plan.block, plan.block, prefetch=prefetch_of(plan), streaming=plan.streaming)
    return loops(Tile(canonical.axes, plan.tile, plan.inner, leaf, has_masks(leaf, target), target.vector_bits // 8))
