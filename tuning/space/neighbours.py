"""Small changes to a plan, with which the best-first walk and the search continue."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from functools import lru_cache
from operator import gt

from ttc_llvm.lowering.plan import CpuPlan, Fetch, spans
from ttc_llvm.lowering.plan_checks import lists_rows
from ttc_llvm.lowering.writing import pays
from ttc_llvm.machine.target import Target
from ttc_llvm.problem.canonical import Canonical

from .blocks import blocks, least_rows
from .choices import (
    DISTANCES,
    PANELS,
    Forced,
    allowed_stores,
    block_fetch,
    fetches,
    inner_orders,
    panel,
    tile_orders,
)

_OTHER_CACHE = {Fetch.BLOCKS: Fetch.FAR, Fetch.FAR: Fetch.BLOCKS}
Change = Callable[[Canonical, Target, Forced, CpuPlan], Iterator[CpuPlan]]  # plans with another decision of one kind


def neighbours(canonical: Canonical, target: Target, forced: Forced, plan: CpuPlan) -> Iterator[CpuPlan]:
    """Plans that differ from this one in a single decision, and in what they do, the likeliest gains first."""
    found = [list(change(canonical, target, forced, plan)) for change in CHANGES]
    extents = canonical.extents
    seen = {plan, settled(extents, forced, plan)}
    for group in itertools.zip_longest(*found):
        for other in (settled(extents, forced, other) for other in group if other is not None):
            if other not in seen and lists_rows(other, canonical) and pays(canonical, other, target):
                seen.add(other)
                yield other


def twins(target: Target, plan: CpuPlan) -> Iterator[CpuPlan]:
    """Plans that differ only in what the cost model knows at most where it was measured: into which cache the lines of
    a micro-tile are prefetched."""
    if target.prefetches and plan.prefetch and plan.fetch in _OTHER_CACHE:
        yield plan.changed(fetch=_OTHER_CACHE[plan.fetch])


def settled(extents: tuple[int, ...], forced: Forced, plan: CpuPlan) -> CpuPlan:
    """The normal form of a plan: plans that differ only in decisions without effect are mapped to one. Without effect
    are the places of axes that one tile or one micro-tile spans, loops to share that are not there, and the kind of
    prefetches where there are none."""
    tile, panel = plan.tile, plan.panel
    if panel == tile:
        panel = ()
    spanned, others = _parted(plan.order, tile, extents)
    order = plan.order if forced.orders else others + spanned
    first, rest = _parted(plan.inner, plan.block, tuple(map(min, tile, extents)))
    inner = first + rest
    parallel = min(plan.parallel, len(others) + (sum(map(gt, panel, tile)) if panel else 0) or 1)
    fetch = plan.fetch if plan.prefetch else Fetch.BLOCKS
    if (order, inner, parallel, fetch, panel) == (plan.order, plan.inner, plan.parallel, plan.fetch, plan.panel):
        return plan.without_fallback
    return plan.changed(order=order, inner=inner, parallel=parallel, fetch=fetch, panel=panel, fallback=None)


@lru_cache(maxsize=2048)
def _parted(
    order: tuple[int, ...], sizes: tuple[int, ...], extents: tuple[int, ...]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The axes that one piece of these sizes spans, and the others in their order."""
    spanned = tuple([k for k, extent in enumerate(extents) if sizes[k] >= extent])
    return spanned, tuple([k for k in order if k not in spanned])


def _other_prefetch(c: Canonical, t: Target, forced: Forced, plan: CpuPlan) -> Iterator[CpuPlan]:
    fetch = plan.fetch if plan.prefetch else block_fetch(c, t)
    for distance in forced.prefetch or DISTANCES[fetch]:
        yield plan.changed(prefetch=distance, fetch=fetch if distance else Fetch.BLOCKS)


def _other_fetch(c: Canonical, t: Target, forced: Forced, plan: CpuPlan) -> Iterator[CpuPlan]:
    if forced.prefetch is None:
        for fetch, distance in fetches(c, t):
            yield plan.changed(prefetch=distance, fetch=fetch)


def _other_tiles(c: Canonical, t: Target, forced: Forced, plan: CpuPlan) -> Iterator[CpuPlan]:
    if forced.blockings:
        return
    for k, extent in enumerate(c.extents):
        unit = plan.block[k]
        least = unit if k else max(unit, least_rows(c) // unit * unit)
        for size in (plan.tile[k] * 2, plan.tile[k] // 2):
            rounded = size // unit * unit
            if rounded >= least and not (spans(plan.tile[k], extent) and size > plan.tile[k]):
                tile = _with(plan.tile, k, min(rounded, extent) if size >= extent else rounded)
                yield plan.changed(tile=tile, panel=_whole_tiles(plan.panel, tile))


def _other_panels(c: Canonical, t: Target, forced: Forced, plan: CpuPlan) -> Iterator[CpuPlan]:
    yield plan.changed(panel=())
    for size in PANELS:
        yield plan.changed(panel=panel(c, plan.tile, size))


def _other_parallel(c: Canonical, t: Target, forced: Forced, plan: CpuPlan) -> Iterator[CpuPlan]:
    for count in (1, 2, 3):
        if count <= len(plan.order):
            yield plan.changed(parallel=count)


def _other_inner(c: Canonical, t: Target, forced: Forced, plan: CpuPlan) -> Iterator[CpuPlan]:
    for inner in inner_orders(c):
        yield plan.changed(inner=inner)


def _other_orders(c: Canonical, t: Target, forced: Forced, plan: CpuPlan) -> Iterator[CpuPlan]:
    if forced.orders:
        yield from (plan.changed(order=order) for order in forced.orders)
        return
    for order in tile_orders(c):
        yield plan.changed(order=order)
    for i in range(len(plan.order) - 1):
        swapped = list(plan.order)
        swapped[i], swapped[i + 1] = swapped[i + 1], swapped[i]
        yield plan.changed(order=tuple(swapped))


def _other_stores(c: Canonical, t: Target, forced: Forced, plan: CpuPlan) -> Iterator[CpuPlan]:
    for store in allowed_stores(c, t, forced):
        yield plan.changed(store=store)


def _other_blocks(c: Canonical, t: Target, forced: Forced, plan: CpuPlan) -> Iterator[CpuPlan]:
    # Tiles grow to whole micro-tiles, as those with pairs of lines are longer.
    grow = t.pairs and plan.non_temporal and not forced.blockings
    for block in blocks(c, t):
        sizes = zip(plan.tile, c.extents, block, strict=True)
        tile = tuple(size if spans(size, e) else -(-size // u) * u for size, e, u in sizes)
        if grow or tile == plan.tile:
            yield plan.changed(block=block, tile=tile, panel=_whole_tiles(plan.panel, tile))


def _whole_tiles(panel: tuple[int, ...], tile: tuple[int, ...]) -> tuple[int, ...]:
    """The panel in multiples of these tiles; none where there was none."""
    return tuple(max(1, whole // part) * part for whole, part in zip(panel, tile, strict=False))


def _with(values: tuple[int, ...], k: int, value: int) -> tuple[int, ...]:
    return (*values[:k], value, *values[k + 1 :])


CHANGES: tuple[Change, ...] = (
    _other_fetch,
    _other_prefetch,
    _other_tiles,
    _other_panels,
    _other_parallel,
    _other_inner,
    _other_orders,
    _other_stores,
    _other_blocks,
)
SETTLED = _other_fetch, _other_prefetch, _other_stores  # they leave the normal form of plans as it is
