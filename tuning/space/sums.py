"""Plans of sums of permutations: tiles with runs in B and in A as every term walks it, equal along axes that take each
other's places."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from math import lcm, prod

from ttc_llvm.lowering.peeling import summed_grain
from ttc_llvm.lowering.plan import CpuPlan, Fetch, Store, spans
from ttc_llvm.lowering.plan_checks import MAX_BLOCK
from ttc_llvm.lowering.tile_sizes import cover, fitted, merge
from ttc_llvm.lowering.writing import LEAST_ROW, resolve
from ttc_llvm.machine.target import Target
from ttc_llvm.problem import sums
from ttc_llvm.problem.canonical import Canonical, static
from ttc_llvm.problem.kinds import Beta

from .blocks import blocks, same_unit_axis, unit_axes, width
from .choices import Forced, allowed_stores
from .in_place import TASKS, parallel

RUNS = (512, 256, 128, 64)  # bytes of a tile along A and along B, the best first
OFF_LINES = (1024, 768, *RUNS)  # where tiles share the lines at their edges
NEAR_RUNS, NEAR = (256, 512, 128, 64), 8  # of tensors at most so many times as long as L2: those of L1's size win
LONG_RUNS = (2048, 1024, 512)  # the same where no term turns registers
ROOM, LONG_ROOM = 4, 2  # scratch and the tiles that are visited together leave as many times this of L2
ROWS = (8, 4, 2, 1)  # of a tile along an axis that only changes places, the best first
# Of panels whose registers are joined to lines of B: bytes of a side, micro-tiles along the sides of their tiles, and
# prefetches in rows of A, or in tiles. On a Zen 5 sums of odd rows of 600 bytes or more take 0.7 to 0.96 of the time
# of tiles; those of shorter ones 0.93 to 1.35, and of tensors that the last cache keeps 1.2 to 1.4.
PANELS, SIDES = (4096, 3584, 3072, 1024), (8, 4)
AHEAD, NEAR_AHEAD, NEXT_TILE = (80, Fetch.BLOCKS), (48, Fetch.BLOCKS), (1, Fetch.ROWS)
LONG_ROW = 600
FETCHES = ((1, Fetch.BLOCKS), (1, Fetch.FAR), (0, Fetch.BLOCKS))  # of the tiles that are visited next


def plans(canonical: Canonical, target: Target, threads: int, forced: Forced) -> Iterator[CpuPlan]:
    """The plans worth trying, those that are usually fastest first. Only forced prefetches and stores are heeded."""
    block, order = _block(canonical, target), canonical.along("b")
    near = canonical.elements * canonical.widest <= NEAR * target.l2
    joined, found = _joined(canonical, target, threads, forced), dict[CpuPlan, None]()
    is_long = canonical.extents[0] * canonical.b.itemsize >= LONG_ROW and not near
    for store in _stores(canonical, target, forced):
        if joined and store is Store.COMBINED:
            break
        if is_long and store is Store.CACHED:
            found.update(dict.fromkeys(joined))
        far = RUNS if store is Store.PEELED else OFF_LINES
        tiles = _tiles(canonical, target, block, NEAR_RUNS if near else far)
        for tile, (distance, fetch) in product(tiles, _fetches(canonical, target, forced)):
            plan = CpuPlan(tile, block, order, order, len(order), distance, store, fetch)
            if store is not Store.PEELED or summed_grain(canonical, plan, target):
                found[plan.changed(parallel=parallel(canonical, plan, threads))] = None
    yield from dict.fromkeys((*found, *joined))


def _joined(canonical: Canonical, target: Target, threads: int, forced: Forced) -> list[CpuPlan]:
    """Plans of tiles whose registers are joined to lines of B, by panels that are visited together and that threads
    share: those first that are enough for all of them."""
    turning, block = _turning(canonical), _block(canonical, target)
    row, across = canonical.extents[0] * canonical.b.itemsize, {*(unit_axes(turning[0]) if turning else ())}
    if len(across) < 2 or row < LEAST_ROW or Store.COMBINED not in _stores(canonical, target, forced):
        return []
    found = list[CpuPlan]()
    order = (*(k for k in canonical.along("b") if k not in across), *sorted(across, reverse=True))
    rows, fetches = max(block[k] for k in across), [(distance, Fetch.BLOCKS) for distance in forced.prefetch or ()]
    fetches = fetches or [(n // rows or 1, fetch) for n, fetch in _ahead(canonical, rows, max(across), target)]
    for side, run, (distance, fetch) in product(SIDES, PANELS, fetches):
        tile = tuple(side * n if k in across else n for k, n in enumerate(block))
        panel = _tile(canonical, tile, run, 1)
        shared = sum(not spans(n, extent) for n, extent in zip(panel, canonical.extents, strict=True))
        plan = CpuPlan(tile, block, order, order[::-1], shared, distance, Store.COMBINED, fetch, panel)
        if resolve(canonical, plan, target).store is Store.JOINED:
            found.append(plan.changed(parallel=min(shared, parallel(canonical, plan, threads))))
    return sorted(found, key=lambda plan: threads > 1 and plan.tasks(canonical.extents) < TASKS * threads)


def _ahead(canonical: Canonical, rows: int, axis: int, target: Target) -> Sequence[tuple[int, Fetch]]:
    """Prefetches, the best first. So many rows along this axis that share sets of L1, because they are a little longer
    or shorter than some of its ways, keep few lines there; if longer, those of all terms share the sets."""
    way, strides = target.l1 // target.ways, (static(one[axis]) for one in sums.sources(canonical))
    step = (max(map(abs, strides)) * canonical.a.itemsize + way // 2) % way - way // 2
    if abs(step) * (rows - 1) >= target.line:
        return AHEAD, NEAR_AHEAD, NEXT_TILE
    return (NEAR_AHEAD, AHEAD, NEXT_TILE) if step < 0 else (NEXT_TILE, AHEAD, NEAR_AHEAD)


def _stores(canonical: Canonical, target: Target, forced: Forced) -> list[Store]:
    """Peeled stores where rows of B are whole lines, else ordinary ones before rows that leave scratch."""
    allowed = allowed_stores(canonical, target, forced)
    streams = any(store is not Store.CACHED for store in allowed) and canonical.kinds.beta is Beta.ZERO
    found = [Store.PEELED] if streams else []
    if not forced.streaming:
        found.append(Store.CACHED)
    return [*found, Store.COMBINED] if streams else found or [Store.CACHED]


def _fetches(canonical: Canonical, target: Target, forced: Forced) -> Sequence[tuple[int, Fetch]]:
    """Those of tensors in memory, or that the user wants."""
    if forced.prefetch:
        return [(distance, Fetch.BLOCKS) for distance in forced.prefetch]
    in_caches = canonical.elements * canonical.widest <= target.l2
    return FETCHES[-1:] if in_caches or not target.prefetches else FETCHES


def _block(canonical: Canonical, target: Target) -> tuple[int, ...]:
    """A micro-tile of which every term takes the part that is its registers: as long along an axis as the terms that
    turn registers need it, as far as micro-tiles may be so large, or if none does, one or two registers of a row."""
    turning = _turning(canonical)
    if turning:
        found, *others = (blocks(one, target)[0] for one in turning)
        for other in others:
            longer = tuple(map(max, found, other))
            found = longer if prod(longer) <= MAX_BLOCK else found
        return found
    offered, most = blocks(sums.single(canonical, 0), target), 2 * width(canonical, target)
    whole = offered[0][0] >= canonical.extents[0]
    return offered[0] if whole else next((one for one in offered if one[0] <= most), offered[0])


def _turning(canonical: Canonical) -> list[Canonical]:
    singles = (sums.single(canonical, n) for n in range(len(canonical.terms) + 1))
    return [one for one in singles if not same_unit_axis(one)]


def _tiles(
    canonical: Canonical, target: Target, block: tuple[int, ...], runs: Sequence[int]
) -> list[tuple[int, ...]]:
    """Tiles with such runs, where terms turn registers, that leave room in L2 for those that are visited together; at
    least one."""
    if _turning(canonical):
        room, offered = ROOM, [_tile(canonical, block, run, 1) for run in runs]
    else:
        room, offered = LONG_ROOM, [_tile(canonical, block, run, n) for n, run in product(ROWS, LONG_RUNS)]
    fitting = [tile for tile in dict.fromkeys(offered) if _bytes(canonical, tile) * room <= target.l2]
    return fitting or offered[-1:]


def _bytes(canonical: Canonical, tile: tuple[int, ...]) -> int:
    """Of the tiles of A that are visited together."""
    elements = prod(map(min, tile, canonical.extents))
    return elements * (len(sums.group(canonical)) or len(canonical.terms) + 1) * canonical.a.itemsize


def _tile(canonical: Canonical, block: tuple[int, ...], run: int, rows: int) -> tuple[int, ...]:
    """A tile with runs of so many bytes on all sides that micro-tiles divide, and so many rows along other axes that
    change places."""
    count = max(1, run // canonical.a.itemsize)
    wanted, common = cover(canonical, "b", count), list(block)
    for n in range(len(canonical.terms) + 1):
        wanted = merge(wanted, cover(sums.single(canonical, n), "a", count))
    for axes in _together(canonical):
        least = rows if len(axes) > 1 else 1
        longest, unit = max(wanted.get(k, least) for k in axes), lcm(*(block[k] for k in axes))
        for k in axes:
            wanted[k], common[k] = longest, unit
    return fitted(canonical, tuple(common), wanted)


def _together(canonical: Canonical) -> Sequence[tuple[int, ...]]:
    images = sums.group(canonical)
    return sums.orbits(images) if images else ()
