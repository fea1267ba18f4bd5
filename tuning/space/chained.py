"""Seeds whose runs of B are chained from tile to tile."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from ttc_llvm.lowering.chain_plans import chained_plan, joined_plan
from ttc_llvm.lowering.plan import CpuPlan, Fetch, Store
from ttc_llvm.lowering.writing import resolve
from ttc_llvm.machine.target import Target
from ttc_llvm.problem.canonical import Canonical, static

from .blocks import blocks
from .choices import SILENT, block_fetch, fetches

RUNS = (128, 512)  # bytes of B that a tile of chained runs writes of each row
WIDTHS = (64, 256, 1024)  # bytes of A that it reads of each row
SLOTS = (512, 2048)  # rows of B with partial lines at a time
WAITING = (256, 1024)  # the same where rows of A are rows of B and are joined in registers
AHEAD = (0, 4)  # distances of those rows' prefetches, in micro-tiles
Fetches = tuple[tuple[Fetch, int], ...]  # of seeds that are alike but for these
Shaped = tuple[CpuPlan, Fetches]


def chained_seeds(canonical: Canonical, target: Target) -> Iterator[Shaped]:
    """Narrow tiles along rows of A, whose runs of B are chained from tile to tile."""
    block, fetched = blocks(canonical, target)[0], fetches(canonical, target)
    for sizes in itertools.product(RUNS, WIDTHS, SLOTS):
        yield chained_plan(canonical, block, sizes, *SILENT), fetched
    if canonical.axes[0].stride_a == 1:
        yield from _joined_rows(canonical, target)


def _joined_rows(canonical: Canonical, target: Target) -> Iterator[Shaped]:
    """Tiles of one row, which are joined in registers from row to row."""
    if static(canonical.axes[0].extent) * canonical.b.itemsize < target.line:
        return
    fetched = tuple([(block_fetch(canonical, target), distance) for distance in AHEAD])
    for slots in WAITING:
        plan = joined_plan(canonical, target, slots, *SILENT)
        if resolve(canonical, plan, target).store is Store.JOINED:
            yield plan, fetched
