"""Plans of sums of permutations: tiles with runs in B and in A as every term walks it, equal along axes that take each
other's places."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from math import lcm, prod

from ttc_llvm.lowering.plan import CpuPlan, Fetch, Store
from ttc_llvm.lowering.tile_sizes import cover, fitted, merge
from ttc_llvm.machine.target import Target
from ttc_llvm.problem import sums
from ttc_llvm.problem.canonical import Canonical

from .blocks import blocks, same_unit_axis
from .choices import Forced, allowed_stores
from .in_place import parallel

RUNS = (256, 128, 512)  # bytes of a tile along A and along B, the best first
ROOM = 4  # scratch and the tiles that are visited together leave as many times this of L2


def plans(canonical: Canonical, target: Target, threads: int, forced: Forced) -> Iterator[CpuPlan]:
    """The plans worth trying, those that are usually fastest first. Only forced prefetches and stores are heeded."""
    allowed = allowed_stores(canonical, target, forced)
    stores = dict.fromkeys(store if store is Store.CACHED else Store.COMBINED for store in allowed)
    block, order = _block(canonical, target), canonical.along("b")
    found = dict[CpuPlan, None]()
    for run, store, distance in product(RUNS, stores, forced.prefetch or (0,)):
        tile = _tile(canonical, block, max(1, run // canonical.a.itemsize))
        plan = CpuPlan(tile, block, order, order, len(order), distance, store, Fetch.BLOCKS)
        found[plan.changed(parallel=parallel(canonical, plan, threads))] = None
    room = [plan for plan in found if _bytes(canonical, plan) * ROOM <= target.l2]
    yield from room or list(found)[-1:]


def _bytes(canonical: Canonical, plan: CpuPlan) -> int:
    """Of the tiles of A that are visited together, and of scratch."""
    tile = prod(plan.box(canonical.extents))
    return tile * (len(sums.group(canonical)) or len(canonical.terms) + 1) * canonical.a.itemsize


def _block(canonical: Canonical, target: Target) -> tuple[int, ...]:
    """A micro-tile of which every term takes the part that is its registers: as long along an axis as the terms that
    turn registers need it, or if none does, as the first."""
    singles = [sums.single(canonical, n) for n in range(len(canonical.terms) + 1)]
    turning = [one for one in singles if not same_unit_axis(one)] or singles[:1]
    return tuple(map(max, zip(*(blocks(one, target)[0] for one in turning), strict=True)))


def _tile(canonical: Canonical, block: tuple[int, ...], run: int) -> tuple[int, ...]:
    """A tile with runs of so many elements on all sides that micro-tiles divide."""
    wanted, common = cover(canonical, "b", run), list(block)
    for n in range(len(canonical.terms) + 1):
        wanted = merge(wanted, cover(sums.single(canonical, n), "a", run))
    for axes in _together(canonical):
        longest, unit = max(wanted.get(k, 1) for k in axes), lcm(*(block[k] for k in axes))
        for k in axes:
            wanted[k], common[k] = longest, unit
    return fitted(canonical, tuple(common), wanted)


def _together(canonical: Canonical) -> Sequence[tuple[int, ...]]:
    images = sums.group(canonical)
    return sums.orbits(images) if images else ()
