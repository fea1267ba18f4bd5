"""Lowering what is between A and B: scratch that a tile goes through, rows of B that find their own boundaries, and
lines that are joined in registers."""

from __future__ import annotations

from dataclasses import replace
from math import prod
from operator import attrgetter

from .canonical import Alpha, Beta, Canonical, static
from .carry import Chain, chain, run_of
from .layout import run_axes
from .nest import Bind, Last, Loop, Micro, Node, Recall, Rest, Row, Stage
from .operands import Buffer, Carry, Op, Prefetch, Space, View
from .plan import CpuPlan, Fetch, Staging, spans
from .target import Target
from .tile_loops import Tile, loops


def has_aligned_rows(canonical: Canonical, vector: int) -> bool:
    """True where every row of B starts on a boundary of vectors, so many bytes each, once B does."""
    steps = [axis.stride_b for axis in canonical.axes if axis.extent != 1]
    size = canonical.b.itemsize
    return steps[:1] == [1] and all(isinstance(s, int) and s * size % vector == 0 for s in steps[1:])


def overwrites(canonical: Canonical) -> bool:
    """True where B becomes alpha * A: A is read, and B is not."""
    return canonical.kinds.beta is Beta.ZERO and canonical.kinds.alpha is not Alpha.ZERO


def is_by_rows(canonical: Canonical, plan: CpuPlan, vector: int) -> bool:
    """True where B is written run by run: none of its rows need start on a boundary then."""
    if not all(isinstance(s, int) for s in canonical.strides("b")):
        return False
    reads = canonical.kinds.alpha is not Alpha.ZERO
    if plan.staging.gathers and reads:
        return bool(run_of(canonical, plan))
    first = canonical.axes[0]
    ragged = plan.staging is Staging.NONE and not has_aligned_rows(canonical, vector)
    return first.stride_a == first.stride_b == 1 and (ragged or (plan.staging is Staging.SHIFT and reads))


def joins(canonical: Canonical, plan: CpuPlan, target: Target) -> bool:
    """True where runs go on without scratch: registers of B are lines, of A's type, no run is shorter, and the machine
    can take a line out of two registers."""
    if plan.staging is not Staging.CARRY or not plan.streaming:
        return False
    size, same = canonical.b.itemsize, canonical.a == canonical.b == canonical.compute
    line = plan.block[0] * size == target.line == target.vector_bits // 8
    panels = plan.panel and plan.panel[0] > plan.tile[0]
    rest = canonical.extents[0] % plan.panel[0] if panels else 0  # in the last panel, where a run begins
    long_enough = not 0 < rest < plan.block[0]
    return long_enough and same and line and target.joins(size) and run_of(canonical, plan) == (0,)


room_depends_on = attrgetter("tile", "order", "panel", "parallel", "streaming", "staging")  # of a plan, `has_room`


def has_room(canonical: Canonical, plan: CpuPlan, target: Target) -> bool:
    """True where scratch, if the plan has any, leaves half of L2 to the tensors, and where runs go on that should."""
    if not plan.staging.fills_scratch:
        return True
    handed = chain(canonical, plan, target)
    if plan.staging is Staging.CARRY and handed is None:
        return False
    return _buffer(canonical, plan, target, handed).end <= target.l2 // 2


def views(canonical: Canonical) -> tuple[View, View]:
    """A and B, whole."""
    return (
        View(Space.A, canonical.a, canonical.strides("a")),
        View(Space.B, canonical.b, canonical.strides("b")),
    )


def operation(canonical: Canonical) -> Op:
    """The operation on an element on its way from A to B."""
    return Op(canonical.kinds.alpha, canonical.kinds.beta, canonical.conjugate, canonical.compute)


def direct_leaf(canonical: Canonical, plan: CpuPlan) -> Micro:
    """The plan's micro-tile, straight from A to B."""
    source, sink = views(canonical)
    prefetch, streaming = prefetch_of(plan), plan.streaming
    return Micro(
        source, sink, operation(canonical), plan.block, plan.block,
        prefetch=prefetch, streaming=streaming, loads=plan.loads or 0,
    )  # fmt: skip


def row_loops(canonical: Canonical, plan: CpuPlan, row: Row, order: tuple[int, ...]) -> tuple[Node, ...]:
    """A row, for every row of a tile."""
    around = _around(plan, row.axes, order)
    following = static(row.target.strides[around[-1]]) if around else 0
    return _each(canonical, around, replace(row, following=following))


def _around(plan: CpuPlan, run: tuple[int, ...], order: tuple[int, ...]) -> list[int]:
    """The axes along which a tile has several rows, in this order."""
    return [k for k in order if k not in run and plan.tile[k] > 1]


def _each(canonical: Canonical, around: list[int], leaf: Node) -> tuple[Node, ...]:
    """Loops over the rows of a tile."""
    body = (leaf,)
    for k in reversed(around):
        body = (Loop(k, canonical.axes[k].extent, 1, Bind.SERIAL, body),)
    return body


def prefetch_of(plan: CpuPlan) -> Prefetch | None:
    """The prefetches of the plan's micro-tiles."""
    if not plan.prefetch:
        return None
    return Prefetch(plan.prefetch, plan.tile if plan.fetch is Fetch.ROWS else (), plan.fetch is not Fetch.BLOCKS)


def has_masks(leaf: Micro, target: Target) -> bool:
    """Run-time masks serve ragged edges where both sides have vector runs and masks of their element size."""
    return all(
        target.has_masks(view.dtype.itemsize) and run_axes(leaf.block, view.strides)
        for view in (leaf.source, leaf.target)
    )


def stage(canonical: Canonical, plan: CpuPlan, target: Target, handed: Chain | None) -> tuple[Node, ...]:
    """A tile goes through scratch as it is (A's type, no arithmetic); alpha and beta come on the way out.
    handed: how its runs of B go on, if they do."""
    source, sink = views(canonical)
    buffer = _buffer(canonical, plan, target, handed)
    scratch = View(Space.SCRATCH, canonical.a, buffer.strides)
    move = Op(Alpha.ONE, Beta.ZERO, False, canonical.a)
    op = operation(canonical)
    flat = _row_block(canonical, plan, target)
    first, second = (flat, plan.block) if plan.staging is Staging.A else (plan.block, flat)
    by_rows = plan.streaming and plan.staging.gathers and is_by_rows(canonical, plan, target.vector_bits // 8)
    ahead = prefetch_of(plan)
    late = by_rows and plan.fetch is Fetch.ROWS  # filling waits for A: memory is asked while the runs leave scratch
    fill = Micro(source, scratch, move, first, first, prefetch=None if late else ahead, loads=plan.loads or 0)
    filling = _phase(canonical, plan, fill, target)
    if by_rows:
        run = run_of(canonical, plan)
        width = prod(canonical.extents[k] for k in run[:-1])
        order = canonical.along("b")
        carry = handed.carry if handed else None
        row = Row(scratch, sink, op, run, width, prefetch=ahead if late else None, carry=carry)
        if carry:
            filling = (*_each(canonical, _around(plan, run, order), Recall(carry, scratch)), *filling)
        return (Stage(buffer, filling, row_loops(canonical, plan, row, order)),)
    drain = Micro(scratch, sink, op, second, second, streaming=plan.streaming)
    return (Stage(buffer, filling, _phase(canonical, plan, drain, target)),)


def joined(canonical: Canonical, plan: CpuPlan, target: Target, carry: Carry) -> tuple[Node, ...]:
    """A tile whose registers of B are joined to what waits; what still waits when runs end is stored."""
    leaf = replace(direct_leaf(canonical, plan), carry=carry)
    body = loops(Tile(canonical.axes, plan.tile, plan.inner, leaf, False, target.vector_bits // 8))
    around = _around(plan, run_of(canonical, plan), canonical.along("b"))
    ends = _each(canonical, around, Rest(carry, leaf.target, leaf.op))
    return (*body, Last(carry, ends))


def _phase(canonical: Canonical, plan: CpuPlan, leaf: Micro, target: Target) -> tuple[Node, ...]:
    inner = plan.inner if leaf.block == plan.block else canonical.along(_side(plan))
    masks = has_masks(leaf, target)
    return loops(Tile(canonical.axes, plan.tile, inner, leaf, masks, target.vector_bits // 8))


def _side(plan: CpuPlan) -> str:
    """Whose order scratch has."""
    return "a" if plan.staging is Staging.A else "b"


def _row_block(canonical: Canonical, plan: CpuPlan, target: Target) -> tuple[int, ...]:
    """Whole vectors, up to four, along the axis that is contiguous on the unpermuted side."""
    width = target.lanes(max(canonical.a.itemsize, canonical.b.itemsize))
    block = [1] * len(plan.tile)
    run = next((k for k, s in enumerate(canonical.strides(_side(plan))) if s == 1), 0)
    count = max((n for n in (4, 2, 1) if plan.tile[run] % (n * width) == 0), default=1)
    block[run] = min(count * width, plan.box(canonical.extents)[run])
    if plan.tile[run] % block[run] and not spans(plan.tile[run], canonical.axes[run].extent):
        block[run] = plan.block[run]
    return tuple(block)


def _buffer(canonical: Canonical, plan: CpuPlan, target: Target, handed: Chain | None) -> Buffer:
    """Scratch in the order of the side it imitates; runs padded by one line, so that they never share a cache set, and
    at least by what is recalled in front of them."""
    extents, side = plan.box(canonical.extents), _side(plan)
    line = max(1, target.line // canonical.a.itemsize)
    strides = [0] * len(extents)
    rows = max(1, len(run_axes(extents, canonical.strides(side))))
    slot = handed.carry if handed else None
    step = 1
    for number, k in enumerate(canonical.along(side)[::-1]):
        strides[k] = step
        step *= extents[k]
        if number == rows - 1:
            step = -(-step // line) * line + max(line, slot.elements if slot else 0)
    offset = handed.buffer.end + handed.carry.bytes if handed else 0
    return Buffer(Space.SCRATCH, canonical.a, tuple(strides), max(step, prod(extents)), target.line, offset)
