"""Plans of permutations in place: tiles as long along an axis as along the one whose place it takes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from ttc_llvm.lowering.plan import CpuPlan, Fetch
from ttc_llvm.lowering.tile_sizes import alike, cover, fitted, merge
from ttc_llvm.machine.target import Target
from ttc_llvm.problem.canonical import Canonical

from .blocks import blocks, width
from .choices import Forced

# Bytes of a tile along A and along B, the best first: of tensors that L2 holds, or nearly, and of longer ones.
RUNS, LONG_RUNS = (256, 512, 128), (512, 256, 1024)
SHAPES = 3  # of micro-tiles
NARROW = 4  # bytes of elements, at most, of which rows of the next tiles are prefetched first
BLOCKS, ROWS = (2, Fetch.BLOCKS), (1, Fetch.ROWS)
OTHERS = ((4, Fetch.BLOCKS), (0, Fetch.BLOCKS))
LONG = 4  # times as long as L2: tensors that come from memory
TASKS = 16  # per thread, at least, where loops have so many iterations: orbits differ in length


def plans(canonical: Canonical, target: Target, threads: int, forced: Forced) -> Iterator[CpuPlan]:
    """The plans worth trying, those that are usually fastest first. Only forced prefetches are heeded."""
    size = canonical.a.itemsize
    is_long = canonical.elements * size > LONG * target.l2
    first = (ROWS, BLOCKS) if is_long and size <= NARROW else (BLOCKS, ROWS)
    fetches = [*first, *OTHERS] if target.prefetches else [*OTHERS[1:]]
    if forced.prefetch:
        fetches = [(distance, Fetch.BLOCKS) for distance in forced.prefetch]
    offered, w = blocks(canonical, target), width(canonical, target)
    shapes = [block for block in offered if max(block) <= w][:SHAPES] or offered[:1]
    found: dict[CpuPlan, None] = {}
    for block, run, (distance, fetch) in product(shapes, LONG_RUNS if is_long else RUNS, fetches):
        tile, part = _tile(canonical, block, max(1, run // size))
        order = canonical.along("b")
        plan = CpuPlan(tile, part, order, order, len(order), distance, fetch=fetch)
        found[plan.changed(parallel=parallel(canonical, plan, threads))] = None
    yield from found


def _tile(canonical: Canonical, block: tuple[int, ...], run: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """A tile with runs of so many elements on both sides, and the micro-tile that divides it."""
    wanted = merge(cover(canonical, "a", run), cover(canonical, "b", run))
    return alike(canonical, fitted(canonical, block, wanted), block)


def parallel(canonical: Canonical, plan: CpuPlan, threads: int) -> int:
    """Loops that threads share: as few as make enough tasks."""
    counts = range(1, len(plan.order) + 1)
    enough = (n for n in counts if plan.changed(parallel=n).tasks(canonical.extents) >= TASKS * threads)
    return next(enough, len(plan.order))
