"""First choices for matrices of few columns that were measured later than what the model is fitted to."""

from __future__ import annotations

from ttc_llvm.lowering.plan import CpuPlan, Fetch, Store
from ttc_llvm.machine.target import Target
from ttc_llvm.problem.canonical import Canonical, static

MOST = 64  # columns
SHORT, SHORT_AHEAD = 31, 6  # columns at most whose rows are written in micro-tiles of a line of each, and prefetches
MANY, MANY_AHEAD = 28, 4  # from so many on, the prefetches
SPILLED, SPILLED_LINES = 48, 132  # registers of a micro-tile, some of which wait in memory, and lines prefetched
CROWDED_LINES = 105  # the same of items that are not wide
PAIRED, PAIRED_AHEAD = 2, 32  # rows of B that are whole lines together
WIDE, PIECE, WIDE_AHEAD = 8, 32, 12  # bytes of items, and of A in each row of a micro-tile of two lines of B's rows
SCRATCH_COLUMNS, SCRATCH_LINES = 128, 192  # of rows that leave scratch, at most, and what is prefetched of them
PANEL, PANELS = 64, 16  # lines of each column in a panel, at most, and panels, at least

# By bytes of an item, for so many columns at most: lines of each in a tile, and in a micro-tile, columns in a
# micro-tile, and what is prefetched.
_Shape = tuple[int, int, int, int, Fetch, int]
READ: dict[int, tuple[_Shape, ...]] = {
    2: ((40, 8, 1, 8, Fetch.BLOCKS, 24),),
    4: (
        (3, 8, 2, 4, Fetch.BLOCKS, 24), (4, 8, 1, 4, Fetch.BLOCKS, 40), (7, 8, 1, 8, Fetch.BLOCKS, 20),
        (8, 16, 4, 4, Fetch.ROWS, 1), (29, 1, 1, 8, Fetch.BLOCKS, 16), (MOST, 4, 1, 8, Fetch.ROWS, 2),
    ),
    8: (
        (3, 8, 2, 4, Fetch.BLOCKS, 24), (4, 8, 1, 4, Fetch.BLOCKS, 40), (15, 8, 2, 4, Fetch.BLOCKS, 24),
        (19, 1, 1, 8, Fetch.BLOCKS, 16), (MOST, 4, 2, 4, Fetch.ROWS, 2),
    ),
    16: ((8, 8, 2, 4, Fetch.BLOCKS, 24), (28, 1, 1, 8, Fetch.BLOCKS, 16), (MOST, 1, 1, 8, Fetch.ROWS, 2)),
}  # fmt: skip


def narrow(canonical: Canonical, plan: CpuPlan, target: Target) -> CpuPlan:
    """The plan, or a better one for a tall matrix, whose short rows are read or written whole."""
    if not (target.kept and canonical.is_move and len(canonical.axes) == 2 and plan.non_temporal):
        return plan
    (inner, outer), (rows, width) = canonical.axes, canonical.extents
    if canonical.b.itemsize not in READ or outer.stride_a != 1:
        return plan
    line = target.line // canonical.b.itemsize
    if plan.store is Store.ALIGNED and static(inner.stride_a) == width <= MOST < rows:
        return _read_whole(plan, canonical.b.itemsize, line, width)
    if outer.stride_b == rows <= MOST < width:
        plan = _written_whole(canonical, plan, target, line)
    if plan.store is Store.COMBINED and outer.stride_b == rows == plan.tile[0] <= SCRATCH_COLUMNS:
        return _through_scratch(canonical, plan, line)
    return plan


def _read_whole(plan: CpuPlan, size: int, line: int, width: int) -> CpuPlan:
    """The plan with rows of A read whole, some lines of each column at a time: 1.1 to 1.5 times as fast as more lines
    of a part of them. Micro-tiles of 32 bytes of each row are 1.0 to 1.5 times as fast as longer ones, but whole
    rows of 5 to 7 of 4 bytes are, 1.2 times in the caches where B begins off a line."""
    shape = next((shape for shape in READ[size] if width <= shape[0]), None)
    if shape is None:
        return plan
    _, high, lines, columns, fetch, ahead = shape
    return _changed(plan, (high * line, width), (lines * line, min(columns, width)), (0, 1), fetch, ahead)


def _written_whole(canonical: Canonical, plan: CpuPlan, target: Target, line: int) -> CpuPlan:
    """The plan with rows of B written whole, in as many as make whole lines: a line of each column at a time, 1.0 to
    1.6 times as fast as several; 1.3 to 3 times as fast as where parts of lines leave scratch, though it takes more
    registers than there are; or two elements of each column where two rows are whole lines."""
    rows, size = canonical.extents[0], canonical.b.itemsize
    if rows <= SHORT:
        ahead = MANY_AHEAD if rows >= MANY else SHORT_AHEAD
        return _changed(plan, (rows, 2 * line), (rows, line), (1, 0), Fetch.BLOCKS, ahead)
    if rows % line == 0:
        return _by_pairs(plan, size, line)
    if PAIRED * rows % line == 0 and size < WIDE:
        return _changed(plan, (rows, 8 * line), (rows, PAIRED), (1, 0), Fetch.BLOCKS, PAIRED_AHEAD)
    if rows * line <= SPILLED * target.lanes(size):
        lines = SPILLED_LINES if size >= WIDE else CROWDED_LINES
        return _changed(plan, (rows, line), (rows, line), (1, 0), Fetch.BLOCKS, lines // rows)
    return plan


def _through_scratch(canonical: Canonical, plan: CpuPlan, line: int) -> CpuPlan:
    """The plan with rows of B that are no whole lines gathered of a line of each column at a time, where items are
    wide, and their run going on from tile to tile: 1.3 times as fast in the mean as wider tiles whose columns are
    fetched into L2, where other programs use memory, too, 0.8 to 3.4 times."""
    (rows, width), size = canonical.extents, canonical.b.itemsize
    if size < WIDE or plan.fetch is not Fetch.ROWS:
        return plan
    block = min(rows, 2 * line), line
    found = _changed(plan, (rows, line), block, (1, 0), Fetch.BLOCKS, SCRATCH_LINES // block[0])
    panel = rows, max(1, min(PANEL, width // PANELS // line)) * line
    return found.changed(store=Store.COMBINED, panel=panel)


def _by_pairs(plan: CpuPlan, size: int, line: int) -> CpuPlan:
    """The plan with pairs of lines of B's rows written of 32 bytes of each column, where items are wide: 1.0 to 1.9
    times as fast as single lines."""
    if size < WIDE:
        return plan
    pair = 2 * line, PIECE // size
    return _changed(plan, (pair[0], line), pair, (0, 1), Fetch.BLOCKS, WIDE_AHEAD).changed(parallel=2)


def _changed(
    plan: CpuPlan, tile: tuple[int, int], block: tuple[int, int], order: tuple[int, int], fetch: Fetch, ahead: int
) -> CpuPlan:
    return plan.changed(
        tile=tile, block=block, order=order, inner=(0, 1), parallel=1, panel=(), store=Store.ALIGNED, fetch=fetch,
        prefetch=ahead,
    )  # fmt: skip
