"""Plans of permutations in place: tiles as long along an axis as along the one whose place it takes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import lcm, prod

from ttc_llvm.lowering.plan import CpuPlan, Fetch
from ttc_llvm.lowering.tile_sizes import cover, fitted, merge
from ttc_llvm.machine.target import Target
from ttc_llvm.problem.canonical import Canonical
from ttc_llvm.problem.in_place import images
from ttc_llvm.problem.orbits import cycles

from .blocks import blocks
from .choices import Forced

RUNS = (256, 512, 128)  # bytes of a tile along A and along B, the best first
SHAPES = 3  # of micro-tiles
DISTANCES = (4, 0)  # of prefetches, in micro-tiles
TASKS = 16  # per thread, at least, where loops have so many iterations: orbits differ in length


def plans(canonical: Canonical, target: Target, threads: int, forced: Forced) -> Iterator[CpuPlan]:
    """The plans worth trying, those that are usually fastest first. Only forced prefetches are heeded."""
    distances = forced.prefetch or (DISTANCES if target.prefetches else (0,))
    shapes, found = blocks(canonical, target)[:SHAPES], dict[CpuPlan, None]()
    for block, run, distance in product(shapes, RUNS, distances):
        tile = _tile(canonical, block, max(1, run // canonical.a.itemsize))
        order = canonical.along("b")
        plan = CpuPlan(tile, block, order, order, len(order), distance, fetch=Fetch.BLOCKS)
        found[plan.changed(parallel=_parallel(canonical, plan, threads))] = None
    room = [plan for plan in found if prod(plan.box(canonical.extents)) * canonical.a.itemsize <= target.l2 // 8]
    yield from room or list(found)[-1:]


def _tile(canonical: Canonical, block: tuple[int, ...], run: int) -> tuple[int, ...]:
    """A tile with runs of so many elements on both sides that micro-tiles divide."""
    wanted, common = merge(cover(canonical, "a", run), cover(canonical, "b", run)), list(block)
    for cycle in cycles(images(canonical.axes) or ()):
        longest, unit = max(wanted.get(k, 1) for k in cycle), lcm(*(block[k] for k in cycle))
        for k in cycle:
            wanted[k], common[k] = longest, unit
    return fitted(canonical, tuple(common), wanted)


def _parallel(canonical: Canonical, plan: CpuPlan, threads: int) -> int:
    """Loops that threads share: as few as make enough tasks."""
    counts = range(1, len(plan.order) + 1)
    enough = (n for n in counts if plan.changed(parallel=n).tasks(canonical.extents) >= TASKS * threads)
    return next(enough, len(plan.order))
