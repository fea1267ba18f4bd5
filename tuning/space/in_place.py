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

RUNS = (256, 512, 128)  # bytes of a tile along A and along B, the best first
SHAPES = 3  # of micro-tiles
DISTANCES = (4, 0)  # of prefetches, in micro-tiles
TASKS = 16  # per thread, at least, where loops have so many iterations: orbits differ in length


def plans(canonical: Canonical, target: Target, threads: int, forced: Forced) -> Iterator[CpuPlan]:
    """The plans worth trying, those that are usually fastest first. Only forced prefetches are heeded."""
    distances = forced.prefetch or (DISTANCES if target.prefetches else (0,))
    offered, w = blocks(canonical, target), width(canonical, target)
    shapes = [block for block in offered if max(block) <= w][:SHAPES] or offered[:1]
    found: dict[CpuPlan, None] = {}
    for block, run, distance in product(shapes, RUNS, distances):
        tile, part = _tile(canonical, block, max(1, run // canonical.a.itemsize))
        order = canonical.along("b")
        plan = CpuPlan(tile, part, order, order, len(order), distance, fetch=Fetch.BLOCKS)
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
