"""Plans to try: lazily enumerated, the cost model's best first. Seeds vary the size and shape of tiles and what is
prefetched; a walk goes on from them."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from functools import lru_cache
from math import log

from ttc_llvm.lowering.plan import PLAIN, CpuPlan, Fetch, Store
from ttc_llvm.lowering.tile_sizes import cover, fitted, merge
from ttc_llvm.lowering.writing import pays
from ttc_llvm.machine.target import Target
from ttc_llvm.problem.canonical import Canonical

from . import in_place
from .blocks import blocks, least_rows, same_unit_axis, unit_axes, width
from .chained import Fetches, Shaped, chained_seeds
from .choices import SILENT, Forced, allowed_stores, block_fetch, inner_orders, tile_orders, usual_fetch
from .neighbours import settled
from .walk import Costs, Walk

RUNS = (128, 512, 2048)  # bytes of a tile along A and along B: what lies between is found by descending
LONG_RUNS = (256, 1024, 4096, 16384)  # where rows of A are rows of B, and of B where they leave scratch
ABREAST = (1, 2, 4)  # micro-tiles that walk along rows side by side
WALKS = {Fetch.BLOCKS: (0, 4, 6), Fetch.FAR: (0, 4, 8)}  # distances of their prefetches
WASTE = 6.0  # how much more a tile's remainders count than its distance from the wanted size, both in log


def enumerate_plans(canonical: Canonical, target: Target, forced: Forced, costs: Costs) -> Iterator[CpuPlan]:
    """Every plan worth trying, best first by the cost model; deterministic."""
    return Walk(canonical, target, forced, costs).plans(starts(canonical, target, forced))


def starts(canonical: Canonical, target: Target, forced: Forced) -> Iterator[CpuPlan]:
    """The seeds that the machine has room for, in the form in which plans are offered."""
    every = tuple(_shaped(canonical, target, forced))
    first = [one for one in every if pays(canonical, one[0], target) or forced.blockings]
    for plan, fetched in first or every:
        yield from _fetching(settled(canonical.extents, forced, plan), fetched)


def paper_space(canonical: Canonical, target: Target, forced: Forced) -> Iterator[CpuPlan]:
    """The paper's space on the merged axes: all d! orders of the tile loops x 16 blockings (section 4)."""
    if canonical.in_place:
        yield from in_place.paper_space(canonical, target, forced)
        return
    base = next(seeds(canonical, target, forced))
    rank = len(canonical.axes)
    w = width(canonical, target)
    orders: Iterable[tuple[int, ...]] = forced.orders or itertools.permutations(range(rank))
    paper = tuple((i * w, j * w) for i in range(1, 5) for j in range(1, 5))
    sides = forced.blockings or paper
    for order in orders:
        for side in sides:
            block = _block_within(canonical, target, side)
            tile = _paper_tile(canonical, block, *side)
            yield from _prefetched(base.changed(block=block, tile=tile, order=order), forced)


def _prefetched(plan: CpuPlan, forced: Forced) -> Iterator[CpuPlan]:
    for distance in forced.prefetch or (plan.prefetch,):
        yield plan.changed(prefetch=distance)


# --- seeds ----------------------------------------------------------------------------------------------


def seeds(canonical: Canonical, target: Target, forced: Forced) -> Iterator[CpuPlan]:
    """A broad first choice: tile shapes x what is prefetched, and walks, for the usual way to store; a few for other
    ways, which are as fast on some processors. A descent and `neighbours` lead on from there."""
    return itertools.chain.from_iterable(itertools.starmap(_fetching, _shaped(canonical, target, forced)))


def _fetching(plan: CpuPlan, fetched: Fetches) -> Iterator[CpuPlan]:
    """A plan that prefetches nothing, with each of these prefetches."""
    for fetch, distance in fetched:
        yield plan.changed(fetch=fetch, prefetch=distance) if distance else plan


def _shaped(canonical: Canonical, target: Target, forced: Forced) -> Iterator[Shaped]:
    """The seeds without their prefetches, and these."""
    usual, *others = allowed_stores(canonical, target, forced)
    yield from _tiles(canonical, target, forced, usual, _fetches(canonical, target, forced))
    yield from _walks(canonical, target, forced, usual)
    if Store.COMBINED in (usual, *others) and not (forced.blockings or forced.orders or forced.prefetch):
        yield from chained_seeds(canonical, target)
    if Store.CACHED in others:
        yield from _tiles(canonical, target, forced, Store.CACHED, _fetches(canonical, target, forced)[-1:])
        yield from _walks(canonical, target, forced, Store.CACHED)


def _tiles(
    canonical: Canonical,
    target: Target,
    forced: Forced,
    store: Store,
    fetched: Fetches,
) -> Iterator[Shaped]:
    """Tiles of every shape, stored in this way."""
    rank, order = len(canonical.axes), (forced.orders or tile_orders(canonical))[0]
    inner = inner_orders(canonical)[0]
    for block, tile in _shapes(canonical, target, forced, store is Store.COMBINED):
        shaped = PLAIN.changed(tile=tile, block=block, order=order, inner=inner, parallel=min(2, rank), store=store)
        yield shaped, fetched


def _walks(canonical: Canonical, target: Target, forced: Forced, store: Store) -> Iterator[Shaped]:
    """Micro-tiles that follow each other along rows of A, or of B, to their ends, one or a few side by side: hardware
    recognises these streams by itself."""
    if same_unit_axis(canonical) or store is Store.COMBINED or forced.blockings:
        return
    block, fetch = blocks(canonical, target)[0], block_fetch(canonical, target)
    fetched = tuple([(fetch, distance) for distance in forced.prefetch or WALKS[fetch]])
    for side, across in zip("ab", reversed(unit_axes(canonical)), strict=True):
        inner = canonical.along(side)
        order = forced.orders[0] if forced.orders else inner
        first = PLAIN.changed(block=block, order=order, inner=inner, parallel=min(2, len(inner)), store=store)
        for count in ABREAST:
            wide = min(canonical.extents[across], block[across] * count)
            yield first.changed(tile=(*block[:across], wide, *block[across + 1 :])), fetched


def _fetches(canonical: Canonical, target: Target, forced: Forced) -> Fetches:
    if forced.prefetch:
        distance = forced.prefetch[0]
        return ((block_fetch(canonical, target), distance) if distance else SILENT,)
    return tuple(dict.fromkeys((usual_fetch(canonical, target), SILENT, (Fetch.ROWS, 1))))


def _shapes(
    canonical: Canonical, target: Target, forced: Forced, staged: bool
) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Micro-tiles and tiles: those asked for, or the first micro-tile with runs of every usual length."""
    if forced.blockings:
        for sides in forced.blockings:
            block = _block_within(canonical, target, sides)
            yield block, _paper_tile(canonical, block, *sides)
        return
    block = blocks(canonical, target)[0]
    rows, least = same_unit_axis(canonical), {0: least_rows(canonical)}
    runs_a = _runs(canonical, "a", canonical.a.itemsize, LONG_RUNS if rows else RUNS)
    runs_b = _runs(canonical, "b", canonical.b.itemsize, LONG_RUNS if rows or staged else RUNS)
    wanted = (merge(merge(a, b), least) for a, b in itertools.product(runs_a, runs_b))
    shapes = (divided(canonical, block, one) for one in wanted)
    yield from ((block, tile) for tile in dict.fromkeys(shapes))


def _runs(canonical: Canonical, which: str, itemsize: int, lengths: tuple[int, ...]) -> list[dict[int, int]]:
    return [cover(canonical, which, max(1, length // itemsize), compact=False) for length in lengths]


def divided(canonical: Canonical, block: tuple[int, ...], wanted: dict[int, int]) -> tuple[int, ...]:
    """A tile of about the wanted extents, rather one that leaves no remainders."""
    return tuple(
        _divided(extent, unit, max(wanted.get(k, 1), unit))
        for k, (extent, unit) in enumerate(zip(canonical.extents, block, strict=True))
    )


@lru_cache(maxsize=1024)
def _divided(extent: int, unit: int, wanted: int) -> int:
    if 4 * wanted >= 3 * extent:
        return max(extent, 1)
    least, most = max(1, wanted // (2 * unit)), max(1, 3 * wanted // (2 * unit))
    step = max(1, (most - least) // 16)
    sizes = [count * unit for count in range(least, most + 1, step) if 4 * count * unit < 3 * extent]
    whole = [extent] if extent <= 2 * wanted else []
    choices = [*sizes, *whole] or [extent]
    return min(choices, key=lambda size: _misfit(extent, size, wanted))


def _misfit(extent: int, size: int, wanted: int) -> float:
    return WASTE * log(-(-extent // size) * size / extent) + abs(log(size / wanted))


def _block_within(canonical: Canonical, target: Target, sides: tuple[int, int]) -> tuple[int, ...]:
    """The first micro-tile that divides these sides of a tile."""
    found = blocks(canonical, target)
    pairs = tuple(zip(unit_axes(canonical), sides, strict=True))
    fits = (b for b in found if all(side % b[k] == 0 or b[k] == canonical.extents[k] for k, side in pairs))
    return next(fits, found[-1])


def _paper_tile(canonical: Canonical, block: tuple[int, ...], side_a: int, side_b: int) -> tuple[int, ...]:
    wanted = merge(cover(canonical, "a", side_a, axes=1), cover(canonical, "b", side_b, axes=1))
    return fitted(canonical, block, wanted)
