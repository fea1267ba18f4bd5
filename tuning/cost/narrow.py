"""First choices for matrices of few columns that were measured later than what the model is fitted to."""

from __future__ import annotations

from ttc_llvm.lowering.plan import CpuPlan, Fetch, Store
from ttc_llvm.machine.target import Target
from ttc_llvm.problem.canonical import Canonical, static

MOST = 64  # columns
BLOCK = 8  # of them in a micro-tile
FEW = 28  # columns, at most, whose next micro-tiles are prefetched, not their rows
AHEAD, ROWS_AHEAD, SPILLED_AHEAD = 16, 2, 2
SPILLED = 48  # registers of a micro-tile, at most, some of which wait in memory


def narrow(canonical: Canonical, plan: CpuPlan, target: Target) -> CpuPlan:
    """The plan, or a better one for a tall matrix. Rows of A that are longer than a register, but not long, are read
    whole, a line of each column at a time, 1.1 to 1.5 times as fast as several lines of a part of them. Rows of B whose
    parts of lines would leave scratch leave registers in as many rows as make whole lines, though these take more
    registers than there are: 1.3 to 3 times as fast."""
    if not (target.kept and canonical.is_move and len(canonical.axes) == 2 and plan.non_temporal):
        return plan
    line, (inner, outer) = target.line // canonical.b.itemsize, canonical.axes
    rows, width = canonical.extents
    if outer.stride_a == 1 and plan.store is Store.ALIGNED and static(inner.stride_a) == width and rows >= MOST:
        return _read_whole(plan, line, width) if target.lanes(canonical.b.itemsize) < width <= MOST else plan
    if outer.stride_a == 1 and plan.store is Store.COMBINED and outer.stride_b == rows and width >= MOST:
        spills = rows * line <= SPILLED * target.lanes(canonical.b.itemsize)
        return _in_whole_lines(plan, rows, line) if spills else plan
    return plan


def _read_whole(plan: CpuPlan, line: int, width: int) -> CpuPlan:
    fetch, ahead = (Fetch.BLOCKS, AHEAD) if width <= FEW else (Fetch.ROWS, ROWS_AHEAD)
    return plan.changed(
        tile=(line, width), block=(line, BLOCK), order=(0, 1), inner=(0, 1), parallel=1, panel=(),
        fetch=fetch, prefetch=ahead,
    )  # fmt: skip


def _in_whole_lines(plan: CpuPlan, rows: int, line: int) -> CpuPlan:
    return plan.changed(
        tile=(rows, line), block=(rows, line), order=(1, 0), inner=(0, 1), parallel=1, panel=(),
        store=Store.ALIGNED, fetch=Fetch.BLOCKS, prefetch=SPILLED_AHEAD,
    )  # fmt: skip
