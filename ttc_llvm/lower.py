"""Lowering: a plan applied to a canonical form gives the loop nest. Pure; no LLVM."""

from __future__ import annotations

from dataclasses import replace
from math import prod

from .canonical import Alpha, Beta, Canonical, Param, Size, static
from .layout import run_axes
from .nest import Bind, Buffer, Fence, Loop, LoopNest, Micro, Node, Op, Prefetch, Row, Space, Stage, View
from .plan import CpuPlan, Fetch, Staging, check, spans
from .target import Target
from .tile_loops import Tile, loops

SHORT_RUN = 512  # bytes: the lines at both ends of shorter runs cost as much as ordinary stores
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
    if canonical.kinds.alpha is Alpha.ZERO:
        plan = replace(plan, staging=Staging.NONE)
    body = (
        _stage(canonical, plan, target)
        if plan.staging is not Staging.NONE
        else _direct(canonical, plan, target)
    )
    sizes = tuple(axis.extent for axis in canonical.axes)
    tasks = len(plan.grid(sizes))
    for number, (k, step) in reversed(list(enumerate(plan.loops(sizes)))):
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
    return canonical.b.itemsize if _is_by_rows(canonical, plan, vector) else vector


def has_aligned_rows(canonical: Canonical, vector: int) -> bool:
    """True where every row of B starts on a boundary of vectors, so many bytes each, once B does."""
    steps = [axis.stride_b for axis in canonical.axes if axis.extent != 1]
    size = canonical.b.itemsize
    return steps[:1] == [1] and all(isinstance(s, int) and s * size % vector == 0 for s in steps[1:])


def _is_by_rows(canonical: Canonical, plan: CpuPlan, vector: int) -> bool:
    """True where B is written run by run: none of its rows need start on a boundary then."""
    if not all(isinstance(s, int) for s in canonical.strides("b")):
        return False
    if plan.staging is Staging.B and canonical.kinds.alpha is not Alpha.ZERO:
        return bool(_run(canonical, plan))
    first = canonical.axes[0]
    same = plan.staging is Staging.NONE and first.stride_a == first.stride_b == 1
    return same and not has_aligned_rows(canonical, vector)


def off_boundary(canonical: Canonical, plan: CpuPlan, target: Target) -> CpuPlan:
    """What runs instead of a streaming plan where B begins on no vector boundary, as large arrays of NumPy and malloc
    do not: runs of B leave scratch as rows, which find the boundaries between their ends, if they are long; else
    the plan with ordinary stores."""
    if not plan.streaming or canonical.kinds.beta is not Beta.ZERO or canonical.kinds.alpha is Alpha.ZERO:
        return plan.ordinary
    tile = _with_long_runs(canonical, plan)
    staged = replace(plan, tile=tile, panel=(), staging=Staging.B, prefetch=1, fetch=Fetch.ROWS)
    extents, size = _tile_extents(canonical, staged), canonical.b.itemsize
    run = prod(extents[k] for k in _run(canonical, staged)) * size
    pays = run >= SHORT_RUN and has_room(canonical, staged, target) and _is_by_rows(canonical, staged, size)
    return staged if pays else plan.ordinary


def has_room(canonical: Canonical, plan: CpuPlan, target: Target) -> bool:
    """True where scratch, if the plan has any, leaves half of L2 to the tensors."""
    tile = _tile_extents(canonical, plan)
    return plan.staging is Staging.NONE or prod(tile) * canonical.a.itemsize <= target.l2 // 2


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


def _run(canonical: Canonical, plan: CpuPlan) -> tuple[int, ...]:
    """The axes along which a tile is one run of B, innermost first."""
    return run_axes(_tile_extents(canonical, plan), canonical.strides("b"))


def _params(canonical: Canonical) -> tuple[Param, ...]:
    sizes = {s for axis in canonical.axes for s in (axis.extent, axis.stride_a, axis.stride_b)}
    return tuple(sorted((s for s in sizes if isinstance(s, Param)), key=lambda p: p.index))


def _scratch_bytes(nodes: tuple[Node, ...]) -> int:
    for node in nodes:
        if isinstance(node, Loop):
            return _scratch_bytes(node.body)
        if isinstance(node, Stage):
            return node.buffer.bytes
    return 0


def _views(canonical: Canonical) -> tuple[View, View]:
    return (
        View(Space.A, canonical.a, canonical.strides("a")),
        View(Space.B, canonical.b, canonical.strides("b")),
    )


def _direct(canonical: Canonical, plan: CpuPlan, target: Target) -> tuple[Node, ...]:
    source, sink = _views(canonical)
    op = Op(canonical.kinds.alpha, canonical.kinds.beta, canonical.conjugate, canonical.compute)
    if plan.streaming and _is_by_rows(canonical, plan, target.vector_bits // 8):
        return _rows(canonical, plan, Row(source, sink, op, (0,), 1), plan.inner)
    leaf = Micro(source, sink, op, plan.block, plan.block, prefetch=_prefetch(plan), streaming=plan.streaming)
    return loops(Tile(canonical.axes, plan.tile, plan.inner, leaf, _masked(leaf, target), target.vector_bits // 8))


def _rows(canonical: Canonical, plan: CpuPlan, row: Row, order: tuple[int, ...]) -> tuple[Node, ...]:
    """Loops over the rows of a tile."""
    around = [k for k in order if k not in row.axes and plan.tile[k] > 1]
    following = static(row.target.strides[around[-1]]) if around else 0
    body: tuple[Node, ...] = (replace(row, following=following),)
    for k in reversed(around):
        body = (Loop(k, canonical.axes[k].extent, 1, Bind.SERIAL, body),)
    return body


def _prefetch(plan: CpuPlan) -> Prefetch | None:
    return Prefetch(plan.prefetch, plan.tile if plan.fetch is Fetch.ROWS else ()) if plan.prefetch else None


def _masked(leaf: Micro, target: Target) -> bool:
    """Run-time masks serve ragged edges where both sides have vector runs and masks of their element size."""
    return all(
        target.has_masks(view.dtype.itemsize) and run_axes(leaf.block, view.strides)
        for view in (leaf.source, leaf.target)
    )


# --- staging --------------------------------------------------------------------------------------------


def _stage(canonical: Canonical, plan: CpuPlan, target: Target) -> tuple[Node, ...]:
    """A tile goes through scratch as it is (A's type, no arithmetic); alpha and beta come on the way out."""
    source, sink = _views(canonical)
    like = canonical.strides("a" if plan.staging is Staging.A else "b")
    buffer = _buffer(canonical, plan, like, target)
    scratch = View(Space.SCRATCH, canonical.a, buffer.strides)
    move = Op(Alpha.ONE, Beta.ZERO, False, canonical.a)
    op = Op(canonical.kinds.alpha, canonical.kinds.beta, canonical.conjugate, canonical.compute)
    flat = _row_block(canonical, plan, like, target)
    first, second = (flat, plan.block) if plan.staging is Staging.A else (plan.block, flat)
    by_rows = plan.streaming and plan.staging is Staging.B and _is_by_rows(canonical, plan, target.vector_bits // 8)
    ahead = _prefetch(plan)
    late = by_rows and plan.fetch is Fetch.ROWS  # filling waits for A: memory is asked while the runs leave scratch
    fill = Micro(source, scratch, move, first, first, prefetch=None if late else ahead)
    filling = _phase(canonical, plan, fill, target)
    if by_rows:
        run = _run(canonical, plan)
        width = prod(canonical.extents[k] for k in run[:-1])
        row = Row(scratch, sink, op, run, width, prefetch=ahead if late else None)
        return (Stage(buffer, filling, _rows(canonical, plan, row, canonical.along("b"))),)
    drain = Micro(scratch, sink, op, second, second, streaming=plan.streaming)
    return (Stage(buffer, filling, _phase(canonical, plan, drain, target)),)


def _phase(canonical: Canonical, plan: CpuPlan, leaf: Micro, target: Target) -> tuple[Node, ...]:
    inner = plan.inner if leaf.block == plan.block else canonical.along("a" if plan.staging is Staging.A else "b")
    return loops(Tile(canonical.axes, plan.tile, inner, leaf, _masked(leaf, target), target.vector_bits // 8))


def _tile_extents(canonical: Canonical, plan: CpuPlan) -> tuple[int, ...]:
    return tuple(min(t, e) for t, e in zip(plan.tile, canonical.extents, strict=True))


def _row_block(
    canonical: Canonical, plan: CpuPlan, like: tuple[Size, ...], target: Target
) -> tuple[int, ...]:
    """Whole vectors, up to four, along the axis that is contiguous on the unpermuted side."""
    width = target.lanes(max(canonical.a.itemsize, canonical.b.itemsize))
    block = [1] * len(plan.tile)
    run = next((k for k, s in enumerate(like) if s == 1), 0)
    count = max((n for n in (4, 2, 1) if plan.tile[run] % (n * width) == 0), default=1)
    block[run] = min(count * width, _tile_extents(canonical, plan)[run])
    if plan.tile[run] % block[run] and not spans(plan.tile[run], canonical.axes[run].extent):
        block[run] = plan.block[run]
    return tuple(block)


def _buffer(canonical: Canonical, plan: CpuPlan, like: tuple[Size, ...], target: Target) -> Buffer:
    """Scratch in the order of the side it imitates; runs padded by one line, so that they never share a cache set."""
    extents = _tile_extents(canonical, plan)
    line = max(1, target.line // canonical.a.itemsize)
    strides = [0] * len(extents)
    rows = max(1, len(run_axes(extents, like)))
    step = 1
    for number, k in enumerate(sorted(range(len(extents)), key=lambda k: abs(static(like[k])))):
        strides[k] = step
        step *= extents[k]
        if number == rows - 1:
            step = -(-step // line) * line + line
    return Buffer(Space.SCRATCH, canonical.a, tuple(strides), max(step, prod(extents)), target.line)
