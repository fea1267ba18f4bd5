"""Fallback plans for A misaligned to the cache line, or B to the vector, as large arrays of NumPy and malloc are."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from math import prod
from operator import eq

from ..lazy_dataclasses import dataclass, replace
from ..machine.target import Target
from ..problem.canonical import Canonical
from .chain import run_of_b
from .chain_plans import chained_plan, joined_plan, line_block
from .grids import grid_of_b, with_grid
from .peeling import axes_of_run, following, has_whole_rows
from .plan import CpuPlan, Fetch, Store
from .shared_run import is_mirrored
from .tile_sizes import is_small, lengthened
from .writing import LEAST_ROW, has_room, overwrites, resolve

# Bytes of the shortest run that pays, by strategy: the partial lines at both ends of shorter runs cost as much as
# ordinary stores, those of separate rows more than those of rows that leave scratch.
PAYS = {Store.PEELED: 1 << 10, Store.COMBINED: 512, Store.BUFFERED: LEAST_ROW, Store.CACHED: 0}
LONG_CALL = 256 << 10  # bytes moved, at least, for short loads of A: caches hide most of their gain in shorter calls
LONG_RUN = 1 << 10  # bytes to which tiles lengthen runs of B, and runs of A under ordinary stores
LONG_READ = 256  # bytes of A that a peeled tile reads of each row: misaligned neighbours share a line
# Of plans with chained runs: bytes of B and of A in each of a tile's rows, and slots; kind and distance of prefetches.
COLUMNS = (128, 256, 1024), Fetch.ROWS, 1
AHEAD = 4 << 10  # bytes of tiles of narrow matrices, about, so that what is prefetched of the next one arrives in time
ROWS = (1 << 10, 512, 512), Fetch.BLOCKS, 0  # rows of A are rows of B, which hardware prefetches
SLOTS = 256  # of such rows, where lines are joined in registers
ALONE, ALONE_AHEAD = 512, 1 << 10  # bytes of the shortest rows that find their own boundaries rather than being joined


@dataclass(frozen=True, slots=True)
class Fallback:
    """A plan that serves where A or B is misaligned for another one.

    store: its strategy, of `plan.FALLBACKS`; loads: bytes of the longest load of A, 0 = a register's; run: bytes of B
    between two lines that are written in part; alone: they are those of rows that would be joined else.
    """

    store: Store
    plan: CpuPlan
    loads: int = 0
    run: int = 0
    alone: bool = False

    @property
    def pays(self) -> bool:
        """True where it should be faster than ordinary stores."""
        return self.run >= (ALONE if self.alone else PAYS[self.store])


_Maker = Callable[[Canonical, CpuPlan, Target], Fallback | None]


def for_misaligned_b(canonical: Canonical, plan: CpuPlan, target: Target) -> Fallback:
    """The fallback of a plan for a B misaligned to the vector: the plan's own decision, or else the first that pays."""
    found = fallbacks(canonical, plan, target)
    if plan.fallback is not None:
        found, again = itertools.tee(found)
        decided = next((one for one in again if one.store is plan.fallback), None)
        if decided is not None:
            return decided
    return first_that_pays(found)


def short_loads(canonical: Canonical, target: Target) -> int:
    """Bytes of the longest load of an A misaligned to the cache line; 0 = a register's.

    Shorter loads pay on machines where loads across lines are slow, if rows of A are whole lines apart: else short
    loads would cross lines, too.
    """
    steps = [axis.stride_a for axis in canonical.axes if axis.extent != 1]
    size = canonical.a.itemsize
    whole = all(isinstance(step, int) and (step == 1 or step * size % target.line == 0) for step in steps)
    rows = canonical.axes[0].stride_a == 1
    pays = whole and not rows and overwrites(canonical) and canonical.bytes_moved >= LONG_CALL
    return target.across_lines if pays else 0


def for_misaligned_a(canonical: Canonical, plan: CpuPlan, target: Target) -> Fallback:
    """The fallback of a plan for an A misaligned to the cache line: the same plan, with short loads where they pay."""
    return Fallback(plan.store, plan, short_loads(canonical, target))


def for_numpy_arrays(canonical: Canonical, plan: CpuPlan, target: Target) -> tuple[Fallback, ...]:
    """The fallbacks of a plan at the addresses of NumPy's large arrays, which begin 16 bytes after a line."""
    lines = for_misaligned_a(canonical, plan, target)
    found = [lines] if lines.loads else []
    if resolve(canonical, plan, target).alignment > canonical.b.itemsize:
        found.insert(0, for_misaligned_b(canonical, plan, target))
    return tuple(found)


def first_that_pays(offered: Iterable[Fallback]) -> Fallback:
    """The fallback that serves unless a plan decides for another one."""
    return next(one for one in offered if one.pays)


def fallbacks(canonical: Canonical, plan: CpuPlan, target: Target) -> Iterator[Fallback]:
    """The fallbacks of a plan, most promising first: peeled or joined rows, chained runs, tiles through scratch, and
    always ordinary stores."""
    plan = plan.without_fallback
    if not (plan.non_temporal and overwrites(canonical) and canonical.elements > 0):
        yield Fallback(Store.CACHED, plan.ordinary)
        return
    rows = canonical.axes[0].stride_a == 1
    makers: tuple[_Maker, ...] = (_joined, _in_place, _combined) if rows else (_peeled, _combined, _buffered)
    if is_mirrored(canonical):
        makers = (_peeled_run, _buffered)
    found: dict[Store, Fallback] = {}  # the first of each strategy: a plan's decision names a strategy
    for one in filter(None, (make(canonical, plan, target) for make in makers)):
        found.setdefault(one.store, one)
    found[Store.CACHED] = Fallback(Store.CACHED, _stored(canonical, plan, target))
    loads = short_loads(canonical, target)
    yield from (replace(one, loads=loads) for one in found.values())


def _joined(canonical: Canonical, plan: CpuPlan, target: Target) -> Fallback | None:
    """Chained rows, joined in registers, where A and B share the contiguous axis."""
    row = canonical.extents[0] * canonical.b.itemsize
    distance = plan.prefetch if plan.fetch is Fetch.BLOCKS else 0
    if not _least(canonical, target) <= row < (ALONE if distance == 0 else ALONE_AHEAD):
        return None
    found = _shared_alike(canonical, plan, joined_plan(canonical, target, SLOTS, Fetch.BLOCKS, distance), target)
    writing = resolve(canonical, found, target)
    run = writing.chain.run * canonical.b.itemsize if writing.chain else 0
    return Fallback(Store.COMBINED, found, run=run) if writing.store is Store.JOINED else None


def _in_place(canonical: Canonical, plan: CpuPlan, target: Target) -> Fallback | None:
    """Rows that find their own boundaries, where A and B share the contiguous axis."""
    found, size = replace(plan, store=Store.PEELED), canonical.b.itemsize
    rows = resolve(canonical, found, target).by_rows
    return Fallback(Store.PEELED, found, 0, canonical.extents[0] * size, target.joins(size)) if rows else None


def _peeled(canonical: Canonical, plan: CpuPlan, target: Target) -> Fallback | None:
    """The plan peeled. Rows of B that follow each other are one run."""
    if has_whole_rows(canonical, plan):
        return _peeled_run(canonical, plan, target)
    line, *_ = line_block(canonical, target)
    extent = canonical.extents[0]
    narrow = extent % plan.block[0] and extent % line == 0 and plan.block[0] % line == 0
    block = (line, *plan.block[1:]) if narrow else plan.block
    found = replace(plan, block=block, store=Store.PEELED)
    if plan.fetch is Fetch.ROWS and plan.prefetch == 1:  # else more is prefetched already
        found = lengthened(canonical, found, "a", LONG_READ, target)
    if resolve(canonical, found, target).store is not Store.PEELED:
        return None
    run = prod(canonical.extents[k] for k in (0, *following(canonical, found))) * canonical.b.itemsize
    return Fallback(Store.PEELED, found, run=run)


def _peeled_run(canonical: Canonical, plan: CpuPlan, target: Target) -> Fallback | None:
    """The plan peeled by whole short rows. Of one that is peeled, B is off the whole steps that lead to a boundary."""
    found = replace(plan, store=Store.PEELED)
    if plan.store is Store.PEELED or resolve(canonical, found, target).store is not Store.PEELED:
        return None
    run = prod(canonical.extents[: axes_of_run(canonical, found)]) * canonical.b.itemsize
    return Fallback(Store.PEELED, found, run=run)


def _combined(canonical: Canonical, plan: CpuPlan, target: Target) -> Fallback | None:
    if canonical.axes[0].stride_a != 1:
        found = _chained_columns(canonical, plan.block)
    elif canonical.extents[0] * canonical.b.itemsize < 2 * _least(canonical, target):
        return None
    else:
        found = chained_plan(canonical, line_block(canonical, target), *ROWS)
    found = _shared_alike(canonical, plan, found, target)
    writing = resolve(canonical, found, target)
    if writing.chain is None or not has_room(canonical, found, target):
        return None
    if writing.store is Store.JOINED and plan.fetch is Fetch.BLOCKS and plan.prefetch and _has_axis(canonical, found):
        found = found.changed(fetch=plan.fetch, prefetch=plan.prefetch)
    return Fallback(Store.COMBINED, found, run=writing.chain.run * canonical.b.itemsize)


def _chained_columns(canonical: Canonical, block: tuple[int, ...]) -> CpuPlan:
    """Chained runs across the rows of A, in longer tiles where they have an axis whole, as those of narrow matrices."""
    (run, width, slots), fetch, distance = COLUMNS
    found = chained_plan(canonical, block, *COLUMNS)
    missing = -(-AHEAD // (prod(found.tile) * canonical.b.itemsize))
    factor = missing if _has_axis(canonical, found) else 1
    return chained_plan(canonical, block, (factor * run, factor * width, slots), fetch, distance)


def _has_axis(canonical: Canonical, plan: CpuPlan) -> bool:
    """True where tiles have an axis whole, as those of narrow matrices."""
    return any(map(eq, plan.tile, canonical.extents))


def _shared_alike(canonical: Canonical, plan: CpuPlan, found: CpuPlan, target: Target) -> CpuPlan:
    """The fallback with the grid of a plan for many threads, or its outer loops, where that makes more or smaller tasks
    and leaves runs chained."""
    steps, own = list(grid_of_b(canonical, plan).items()), _tasks(canonical, found)
    for count in range(len(steps), 0, -1):
        if all(step == canonical.extents[k] or step % found.block[k] == 0 for k, step in steps[:count]):
            shared = with_grid(canonical, found, dict(steps[:count]))
            better = _tasks(canonical, shared) > own
            if better and resolve(canonical, shared, target).chain and has_room(canonical, shared, target):
                return shared
    return found


def _tasks(canonical: Canonical, plan: CpuPlan) -> tuple[int, int]:
    """The number of a plan's tasks, and the elements of a whole one, as a negative number."""
    grid = dict(plan.grid(canonical.extents))
    return plan.tasks(canonical.extents), -prod(grid.get(k, extent) for k, extent in enumerate(canonical.extents))


def _least(canonical: Canonical, target: Target) -> int:
    """Bytes of the shortest rows that pay as chained runs; more where rows of A do not follow each other in memory."""
    follow = any(axis.stride_a == canonical.extents[0] for axis in canonical.axes)
    return target.line if follow else 4 * target.line


def _buffered(canonical: Canonical, plan: CpuPlan, target: Target) -> Fallback | None:
    """The plan through scratch, with long runs of B."""
    long = lengthened(canonical, plan, "b", LONG_RUN, target)
    found = replace(long, panel=(), store=Store.COMBINED, prefetch=1, fetch=Fetch.ROWS)
    run = prod(found.box(canonical.extents)[k] for k in run_of_b(canonical, found)) * canonical.b.itemsize
    rows = has_room(canonical, found, target) and resolve(canonical, found, target).by_rows
    return Fallback(Store.BUFFERED, found, run=run) if rows else None


def _stored(canonical: Canonical, plan: CpuPlan, target: Target) -> CpuPlan:
    """The plan with ordinary stores and tiles of long runs, whose partial lines the caches complete.

    Rows of the next tile are prefetched where the plan prefetches nothing, which non-temporal stores do not need. Where
    A and B share the contiguous axis and rows are prefetched, longer runs gain nothing.
    """
    if plan.prefetch and canonical.axes[0].stride_a == 1:
        return plan.ordinary
    found = plan.ordinary
    for side in "ab":
        found = lengthened(canonical, found, side, LONG_RUN, target)
    prefetches = plan.prefetch == 0 and target.prefetches and is_small(canonical, found.tile, target)
    return replace(found, fetch=Fetch.ROWS, prefetch=1) if prefetches else found
