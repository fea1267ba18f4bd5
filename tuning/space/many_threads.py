"""Task grids for many threads: each writes one contiguous stretch of B, rather than a part of every row.

The loops of such a grid are B's outermost axes in B's order. Threads then share no more than a line and a page where
their stretches meet, and each works on its stretch as the plan works on the whole of B.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from ttc_llvm.lazy_dataclasses import replace
from ttc_llvm.lowering.division import Division
from ttc_llvm.lowering.grids import with_grid
from ttc_llvm.lowering.plan import CpuPlan, Store
from ttc_llvm.lowering.sharing import PAGE
from ttc_llvm.lowering.writing import has_room, resolve
from ttc_llvm.machine.target import Target
from ttc_llvm.problem.canonical import Canonical, static

from .blocks import unit_axes

MANY = 16  # threads from which plans have these grids: as many cores have several caches, or memory nodes
SHARE = 64 << 10  # bytes of B per thread, at least: of less, a thread writes few whole pages in any case
EVEN = 1.03  # imbalance that is as good as none
UNEVEN = 1.2  # imbalance from which a grid of which threads share more is better
COUNTS = 32  # of steps that are tried along the last axis, and multiples of the first
LARGE = 128 << 20  # bytes of B from which pages count
IMBALANCE, LINES, PAGES = 1.05, 0.001, 0.01  # at most: beyond the least, and of B what several threads may write
OVER = 0.1  # the cost of every such part beyond the first, as a part of the time
Extents = tuple[int, ...]


def divides(canonical: Canonical, threads: int) -> bool:
    """True where plans for so many threads have these grids."""
    return threads >= MANY and canonical.elements * canonical.b.itemsize >= threads * SHARE


def grids(canonical: Canonical, target: Target, plan: CpuPlan, threads: int, tiled: bool) -> list[CpuPlan]:
    """The plan with such grids, of ever more axes. They keep its store, but where none that does has a task for every
    thread. tiled: tiles are to stay as they are."""
    offered = [one for one in _grids(canonical, target, plan, threads, tiled) if has_room(canonical, one, target)]
    store = resolve(canonical, plan, target).store
    stores = tuple(Store) if store is Store.BUFFERED else (store,)  # runs may be chained with another grid
    kept = [one for one in offered if resolve(canonical, one, target).store in stores]
    return kept if any(keeps_busy(canonical, one, threads) for one in kept) else offered


def keeps_busy(canonical: Canonical, plan: CpuPlan, threads: int) -> bool:
    """True where there is a task for every thread."""
    return Division(canonical, plan.grid(canonical.extents), threads).parts == threads


def _grids(canonical: Canonical, target: Target, plan: CpuPlan, threads: int, tiled: bool) -> Iterator[CpuPlan]:
    axes = [k for k in canonical.along("b") if canonical.extents[k] > 1]
    short = _short(canonical, target, plan)
    for count in range(1, len(axes) + 1):
        *outer, last = axes[:count]
        for tile in dict.fromkeys([plan.tile] if tiled else _tiles(canonical, plan.tile, short, outer)):
            for unit in dict.fromkeys([tile[last]] if tiled else [tile[last], short[last]]):
                steps = _steps(canonical, {k: tile[k] for k in outer}, last, unit, threads)
                yield with_grid(canonical, replace(plan, tile=tile), steps)


def _short(canonical: Canonical, target: Target, plan: CpuPlan) -> Extents:
    """A tile as short as micro-tiles and lines of A."""
    unit, _ = unit_axes(canonical)
    line = max(1, target.line // canonical.a.itemsize)
    wanted = [-(-line // size) * size if k == unit else size for k, size in enumerate(plan.block)]
    return tuple(map(min, plan.tile, wanted))


def _tiles(canonical: Canonical, tile: Extents, short: Extents, axes: list[int]) -> Iterator[Extents]:
    """Tiles that differ along these axes: as they are, short, and short but for whole rows of A."""
    unit, _ = unit_axes(canonical)
    yield tile
    shortened = tuple(short[k] if k in axes else size for k, size in enumerate(tile))
    yield shortened
    if unit in axes:
        yield _with(shortened, unit, canonical.extents[unit])


def _with(values: Extents, k: int, value: int) -> Extents:
    return (*values[:k], value, *values[k + 1 :])


def _steps(canonical: Canonical, outer: dict[int, int], last: int, unit: int, threads: int) -> dict[int, int]:
    """Steps of a grid along these axes, as many units along the last one as leave the grid even."""
    extents = canonical.extents
    steps = {k: min(step, extents[k]) for k, step in outer.items()}
    around = prod(-(-extents[k] // step) for k, step in steps.items())
    share = prod(extents[k] / step for k, step in steps.items()) * extents[last] / threads
    units = -(-extents[last] // unit)

    def uneven(step: int) -> float:
        tasks = around * -(-extents[last] // step)
        return -(-tasks // threads) * step / share + (tasks < threads)

    fewest = -(-threads // around)  # with a task for every thread
    counts = [min(units, count) for count in (*range(fewest, fewest + COUNTS), *range(0, COUNTS * fewest, fewest)[2:])]
    choices = [min(extents[last], -(-units // count) * unit) for count in counts]
    even = next((step for step in choices if uneven(step) <= EVEN), None)
    return {**steps, last: even or min(choices, key=uneven)}


def rating(canonical: Canonical, plan: CpuPlan, threads: int, line: int) -> tuple[bool, float]:
    """A plan with such a grid: whether it is uneven or threads share too much, and its time per second of an even
    share of it, at least 1."""
    division = Division(canonical, plan.grid(canonical.extents), threads)
    size, count = canonical.elements * canonical.b.itemsize, cuts(division)
    parts = [0.0 if _keeps_lines(division, line) else count * line / size / LINES]
    if size >= LARGE:
        parts.append(count * PAGE / size / PAGES)
    over = sum(max(0.0, part - 1) for part in parts)
    uneven = division.parts < threads or division.imbalance > min(UNEVEN, IMBALANCE * division.least)
    return over > 0 or uneven, division.imbalance * (1 + OVER * over)


def _keeps_lines(division: Division, line: int) -> bool:
    """True where every task begins on a line of B in each of its rows."""
    size, strides = division.canonical.b.itemsize, [static(stride) for stride in division.canonical.strides("b")]
    innermost, step = min(((strides[k], step) for k, step in division.grid), default=(0, 1))
    return all(s * (step if s == innermost else 1) * size % line == 0 for s in strides if s >= innermost)


def cuts(division: Division) -> int:
    """At most how often B goes from one thread to another, in the order of memory, in a grid of its outermost axes:
    where a part begins, in every row of the steps around, and at the ends of rows that several threads write."""
    extents, steps = division.canonical.extents, dict(division.grid)
    order = [k for k in division.canonical.along("b") if extents[k] > 1]
    axes = order[: max(map(order.index, steps), default=-1) + 1]
    sizes = [steps.get(k, extents[k]) for k in axes]
    counts = [-(-extents[k] // size) for k, size in zip(axes, sizes, strict=True)]
    found = 0
    for task in division.edges[1:-1]:
        place = len(axes) - 1
        while place and task % counts[place] == 0:
            task //= counts[place]
            place -= 1
        found += prod(sizes[:place])
    for place, size in enumerate(sizes[:-1]):
        found += prod(sizes[:place]) * (size - 1) * min(division.parts - 1, prod(counts[: place + 1]))
    return found
