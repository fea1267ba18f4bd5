"""Plans of permutations in place: tiles as long along an axis as along the one whose place it takes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import permutations, product
from math import prod

from ttc_llvm.errors import OptionError
from ttc_llvm.lazy_dataclasses import replace
from ttc_llvm.lowering.plan import CpuPlan, Fetch
from ttc_llvm.lowering.tile_sizes import alike, cover, fitted, merge
from ttc_llvm.machine.target import Target
from ttc_llvm.problem.canonical import Canonical, static

from .blocks import blocks, width
from .choices import Forced

# Bytes of a tile along A and along B, the best first: of tensors that L2 holds, or nearly, of longer ones, and of those
# with elements of so many bytes. Of the latter two, the longest that spares L1 comes first, if there is one.
RUNS, LONG_RUNS, WIDE_RUNS, WIDE = (256, 512, 128), (512, 256, 128), (256, 512, 128), 16
SHAPES = 3  # of micro-tiles
NARROW = 4  # bytes of elements, at most, of which rows of the next tiles are prefetched first where lines come in pairs
BLOCKS, ROWS = (2, Fetch.BLOCKS), (1, Fetch.ROWS)
OTHERS = ((4, Fetch.BLOCKS), (0, Fetch.BLOCKS))
LONG = 4  # times as long as L2: tensors that come from memory
TASKS = 16  # per thread, at least, where loops have so many iterations: orbits differ in length


def plans(canonical: Canonical, target: Target, threads: int, forced: Forced) -> Iterator[CpuPlan]:
    """The plans worth trying, those that are usually fastest first. OptionError for decisions that cannot be had."""
    _check(forced)
    size = canonical.a.itemsize
    is_long = canonical.elements * size > LONG * target.l2
    first = (ROWS, BLOCKS) if is_long and (size <= NARROW or not target.pairs) else (BLOCKS, ROWS)
    fetches = [*first, *OTHERS] if target.prefetches else [*OTHERS[1:]]
    if forced.prefetch:
        fetches = [(distance, Fetch.BLOCKS) for distance in forced.prefetch]
    offered, w = blocks(canonical, target), width(canonical, target)
    shapes = [block for block in offered if max(block) <= w][:SHAPES] or offered[:1]
    runs = (WIDE_RUNS if size >= WIDE else LONG_RUNS) if is_long else RUNS
    sides, orders = [side for side, _ in forced.blockings or ()], forced.orders or (canonical.along("b"),)
    seen: set[CpuPlan] = set()
    for block in shapes:
        tiles = [_tile(canonical, block, side) for side in sides or [max(1, run // size) for run in runs]]
        if is_long and not sides:
            tiles.sort(key=lambda tile: not _is_light(canonical, tile[0], target))
        for (tile, part), (distance, fetch), order in product(tiles, fetches, orders):
            plan = CpuPlan(tile, part, order, canonical.along("b"), len(order), distance, fetch=fetch)
            plan = plan.changed(parallel=parallel(canonical, plan, threads))
            if plan not in seen:
                seen.add(plan)
                yield plan


def paper_space(canonical: Canonical, target: Target, forced: Forced) -> Iterator[CpuPlan]:
    """The paper's space as far as it is one in place: all orders of the loops over tiles, four square blockings."""
    orders: Iterable[tuple[int, ...]] = forced.orders or permutations(range(len(canonical.axes)))
    sides = forced.blockings or tuple((n * width(canonical, target),) * 2 for n in range(1, 5))
    for order in orders:
        yield from plans(canonical, target, 1, replace(forced, orders=(order,), blockings=sides))


def _check(forced: Forced) -> None:
    if forced.streaming:
        raise OptionError("streaming stores cannot be had in place: lines are written while they are in the caches")
    for sides in forced.blockings or ():
        if sides[0] != sides[1]:
            wanted = "x".join(map(str, sides))
            raise OptionError(f"blockings of {wanted} cannot be had in place: tiles that change places are square")


def _tile(canonical: Canonical, block: tuple[int, ...], run: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """A tile with runs of so many elements on both sides, and the micro-tile that divides it."""
    wanted = merge(cover(canonical, "a", run), cover(canonical, "b", run))
    return alike(canonical, fitted(canonical, block, wanted), block)


def _is_light(canonical: Canonical, tile: tuple[int, ...], target: Target) -> bool:
    """True where a tile, its image and scratch leave a third of L1's ways free, in all sets."""
    size, way = canonical.a.itemsize, target.l1 // target.ways
    box = list(map(min, tile, canonical.extents))
    if 9 * prod(box) * size > 2 * target.l1:
        return False
    axes = sorted(zip(map(static, canonical.strides("b")), box, strict=True))
    starts = (sum(row) * size for row in product(*(range(0, n * step, step) for step, n in axes[1:])))
    run = range(0, axes[0][0] * axes[0][1] * size, target.line)
    taken = Counter((start + at) % way // target.line for start in starts for at in run)
    return 3 * (2 * max(taken.values()) + prod(box) * size // way) <= 2 * target.ways


def parallel(canonical: Canonical, plan: CpuPlan, threads: int) -> int:
    """Loops that threads share: as few as make enough tasks."""
    counts = range(1, len(plan.order) + 1)
    enough = (n for n in counts if plan.changed(parallel=n).tasks(canonical.extents) >= TASKS * threads)
    return next(enough, len(plan.order))
