"""The resolved store strategy of a plan: lowering, code, features, fallbacks and reports all read `resolve`."""

from __future__ import annotations

from functools import lru_cache
from math import prod
from operator import attrgetter
from typing import Any

from ..lazy_dataclasses import dataclass, replace
from ..machine.target import Target
from ..problem.canonical import Canonical, Param, static
from ..problem.kinds import Alpha, Beta
from ..problem.sums import sources
from .chain import Chain, chain_of, in_scratch, run_of_b
from .layout import run_axes
from .operands import Buffer, Space
from .peeling import has_aligned_rows, peeled_axis, peeled_grain, summed_grain
from .plan import PLAIN, CpuPlan, Store, loops, spans
from .shared_run import is_mirrored

# Bytes of rows that leave scratch one by one, without a chain: the lines at their ends are read and written in part. Of
# 2,000 problems that were timed on five processors, plans with shorter rows were within 5 % of the fastest in seven.
LEAST_ROW = 512


@dataclass(frozen=True, slots=True)
class Writing:
    """A plan's stores to B, resolved.

    plan: the plan, with ordinary stores where B is read; store: the strategy that serves; alignment: bytes of which B's
    base must be a multiple, 1 = any; chain: the chained runs (COMBINED, JOINED); buffer: scratch of a tile (BUFFERED,
    COMBINED); by_rows: rows of B find their own boundaries (ROWS, COMBINED, most of BUFFERED); grain: elements between
    the boundaries at which micro-tiles begin (PEELED).
    """

    plan: CpuPlan
    store: Store
    alignment: int = 1
    chain: Chain | None = None
    buffer: Buffer | None = None
    by_rows: bool = False
    grain: int = 0


@lru_cache(maxsize=1024)
def resolve(canonical: Canonical, plan: CpuPlan, target: Target) -> Writing:
    """The plan's stores to B: by ordinary stores where B is read, without scratch where A is not read, and without a
    chain or peeling where the problem does not allow them."""
    if canonical.terms:
        return _summed(canonical, plan, target)
    if canonical.kinds.beta is not Beta.ZERO or plan.store is Store.CACHED:
        return Writing(plan if plan.store is Store.CACHED else plan.ordinary, Store.CACHED)
    reads = canonical.kinds.alpha is not Alpha.ZERO
    if plan.store is Store.COMBINED and reads:
        w = combined(canonical, room_depends_on(plan), target)
        return Writing(plan, w.store, w.alignment, w.chain, w.buffer, w.by_rows)
    grain = peeled_grain(canonical, plan, target) if plan.store is Store.PEELED and reads else 0
    if grain:
        step = peeled_axis(canonical, plan)[1] * canonical.b.itemsize
        return Writing(plan, Store.PEELED, step & -step, grain=grain)  # whole steps lead to a boundary
    if _is_by_rows(canonical, plan.store is Store.PEELED and reads, target):
        return Writing(plan, Store.ROWS, canonical.b.itemsize, by_rows=True)
    return Writing(plan, Store.ALIGNED, _whole_vectors(canonical, target))


def _summed(canonical: Canonical, plan: CpuPlan, target: Target) -> Writing:
    """Sums leave registers for B, or scratch, by rows, where B is not read and may begin anywhere, or, in panels,
    registers of all terms in whole lines."""
    buffer, rows = tile_buffer(canonical, plan, target, None), bool(run_of_b(canonical, plan))
    streams = plan.non_temporal and canonical.kinds.beta is Beta.ZERO
    grain = summed_grain(canonical, plan, target) if streams and plan.store is Store.PEELED else 0
    if grain:
        return Writing(plan, Store.PEELED, canonical.b.itemsize, None, buffer, grain=grain)
    if streams and rows and plan.store is Store.COMBINED:
        if plan.panel and _turn_alike(canonical, plan):
            found = combined(canonical, room_depends_on(plan), target)
            if found.store is Store.JOINED:
                return replace(found, plan=plan)
        return Writing(plan, Store.BUFFERED, canonical.b.itemsize, None, buffer, rows)
    return Writing(plan.ordinary if plan.non_temporal else plan, Store.CACHED, buffer=buffer)


def _turn_alike(canonical: Canonical, plan: CpuPlan) -> bool:
    """True where the terms that turn registers all do it one way."""
    ways = {run_axes(plan.block, strides) for strides in sources(canonical)}
    return len(ways - {run_axes(plan.block, canonical.strides("b"))}) <= 1


@lru_cache(maxsize=1024)
def combined(canonical: Canonical, decisions: tuple[Any, ...], target: Target) -> Writing:
    """Of all plans with these decisions of `room_depends_on`: through scratch, or through registers where each is a
    line of B; without a chain where none is possible, or where its slots would not leave half of L2 to the tensors."""
    plan, size, extents = _decided(decisions), canonical.b.itemsize, canonical.bounds
    box, around = tuple(map(min, plan.tile, extents)), loops(plan.tile, plan.order, plan.panel, extents)
    ended = sum(not spans(n, extent) for n, extent in zip(plan.panel, extents, strict=False)) if canonical.terms else 0
    chain = chain_of(canonical, box, around, max(ended, plan.parallel), target)  # panels of sums are visited in turns
    if chain and _joins(canonical, plan, target):
        return Writing(plan, Store.JOINED, size, chain)
    buffer = tile_buffer(canonical, plan, target, chain)
    if chain and buffer.end <= target.l2 // 2:
        return Writing(plan, Store.COMBINED, size, chain, buffer, by_rows=True)
    rows = bool(run_of_b(canonical, plan))
    alignment = size if rows else _whole_vectors(canonical, target)
    buffer = tile_buffer(canonical, plan, target, None)
    return Writing(plan, Store.BUFFERED, alignment, None, buffer, rows)


room_depends_on = attrgetter("tile", "block", "order", "panel", "parallel", "store")  # of a plan, `pays`


def _decided(decisions: tuple[Any, ...]) -> CpuPlan:
    """A plan with these decisions."""
    tile, block, order, panel, parallel, store = decisions
    return PLAIN.changed(tile=tile, block=block, order=order, inner=order, parallel=parallel, store=store, panel=panel)


def pays(canonical: Canonical, plan: CpuPlan, target: Target) -> bool:
    """True where the plan has room, and rows that leave scratch one by one, if it has any, are long enough."""
    if plan.store is not Store.COMBINED or not overwrites(canonical):
        return True
    return _pays(canonical, room_depends_on(plan), target)


@lru_cache(maxsize=1024)
def _pays(canonical: Canonical, decisions: tuple[Any, ...], target: Target) -> bool:
    writing = combined(canonical, decisions, target)
    if writing.store is Store.BUFFERED and writing.by_rows:
        box = writing.plan.box(canonical.extents)
        if prod(box[k] for k in run_of_b(canonical, writing.plan)) * canonical.b.itemsize < LEAST_ROW:
            return False
    return _fits(writing, target)


def has_room(canonical: Canonical, plan: CpuPlan, target: Target) -> bool:
    """True where scratch and slots, if the plan has any, leave half of L2 to the tensors."""
    return plan.store is not Store.COMBINED or _fits(resolve(canonical, plan, target), target)


def _fits(writing: Writing, target: Target) -> bool:
    buffer = writing.buffer or (writing.chain.buffer if writing.chain else None)
    return buffer is None or buffer.end <= target.l2 // 2


def _whole_vectors(canonical: Canonical, target: Target) -> int:
    """Bytes of which B's base must be a multiple for non-temporal stores of whole vectors."""
    return max(target.vector_bits // 8, canonical.b.itemsize)


# --- what problems allow ------------------------------------------------------------------------------------------


@lru_cache(maxsize=1024)
def writes_vectors(canonical: Canonical, block: tuple[int, ...], vector: int) -> bool:
    """True where micro-tiles of these extents are whole aligned vectors of B if B is aligned to `vector` bytes: rows of
    B need not be where a micro-tile has several that follow each other in memory."""
    size, strides = canonical.b.itemsize, canonical.strides("b")
    run = run_axes(block, strides)
    length = prod(block[k] for k in run)
    steps = [
        static(stride) * (block[k] if k in run else 1)
        for k, stride in enumerate(strides)
        if not (k in run and block[k] >= canonical.extents[k]) and canonical.extents[k] > 1
    ]
    return all(step * size % vector == 0 for step in (length, *steps))


def overwrites(canonical: Canonical) -> bool:
    """True where B becomes alpha * A: A is read, and B is not."""
    return canonical.kinds.beta is Beta.ZERO and canonical.kinds.alpha is not Alpha.ZERO


def _is_by_rows(canonical: Canonical, wanted: bool, target: Target) -> bool:
    """True where A and B share the contiguous axis and rows are copied one by one, because that is wanted or because
    they do not all begin on vector boundaries."""
    first = canonical.axes[0]
    rows = first.stride_a == first.stride_b == 1 and not is_mirrored(canonical)
    if any(isinstance(s, Param) for s in canonical.strides("b")):
        return rows and wanted
    return rows and (wanted or not has_aligned_rows(canonical, target.vector_bits // 8))


def _joins(canonical: Canonical, plan: CpuPlan, target: Target) -> bool:
    """True where registers are as long as lines of B and hold numbers of A's size, micro-tiles have whole lines of B's
    runs, in order, no run is shorter than a line, and the machine can take a line out of two registers."""
    size, extents = canonical.b.itemsize, canonical.bounds
    if not (canonical.a.itemsize == size and canonical.b == canonical.between and target.joins(size)):
        return False
    if target.line != target.vector_bits // 8:
        return False
    *inside, last = run_of_b(canonical, plan)
    width = prod(extents[k] for k in inside) * size  # bytes
    panels = plan.panel and plan.panel[last] > plan.tile[last]
    rest = extents[last] % plan.panel[last] if panels else 0  # in the last panel, which begins a run
    whole = all(plan.block[k] >= extents[k] for k in inside) and width * plan.block[last] % target.line == 0
    return whole and not 0 < rest * width < target.line


def tile_buffer(canonical: Canonical, plan: CpuPlan, target: Target, chain: Chain | None) -> Buffer:
    """Scratch in B's order; runs are padded by one line, so that they never share a cache set, and at least by the
    partial line that is loaded before them."""
    extents = plan.box(canonical.bounds)
    line = max(1, target.line // in_scratch(canonical).itemsize)
    strides = [0] * len(extents)
    rows = max(1, len(run_axes(extents, canonical.strides("b"))))
    step = 1
    for number, k in enumerate(canonical.along("b")[::-1]):
        strides[k] = step
        step *= extents[k]
        if number == rows - 1:
            step = -(-step // line) * line + max(line, chain.partial_line.elements if chain else 0)
    offset = chain.buffer.end + chain.partial_line.bytes if chain else 0
    length = max(step, prod(extents))
    return Buffer(Space.SCRATCH, in_scratch(canonical), tuple(strides), length, target.line, offset)
