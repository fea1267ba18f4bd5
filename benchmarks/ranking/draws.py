"""Problems by lot, and plans of them by lot: what the cost model is fitted to has to be of every kind."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from math import log, prod

from ttc_llvm import Problem
from ttc_llvm.lowering.chain_plans import chained_plan
from ttc_llvm.lowering.plan import CpuPlan, Fetch, Store
from ttc_llvm.machine.target import Target
from ttc_llvm.problem.canonical import Canonical
from ttc_llvm.problem.dtypes import parse_pair
from ttc_llvm.tuning.space import blocks
from ttc_llvm.tuning.space.choices import DISTANCES, PANELS, inner_orders, panel, stores, tile_orders

BYTES = 128 << 20  # of each tensor
DTYPES = ("s",) * 6 + ("d", "d", "c", "z")
PAIRS = ("u8,s", "f16,s", "s,bf16", "s,e4m3fn", "i64,s", "s,f16", "s,u8", "sr,s", "u8,f16", "s,d", "d,s", "e4m3fn,s")
UNIT_BLOCKS = (1, 1, 2, 2, 4, 8, 16, 32, 64, 128)
RANKS, ROWS_RANKS = (2, 3, 3, 4, 4, 5, 6), (3, 3, 4, 5)
CARRIED = (64, 128, 128, 256, 512, 1024)  # bytes of the sides of tiles whose runs of B go on
SLOTS = (128, 256, 512, 1024, 2048, 4096)  # rows of B that wait at a time
SMALL = (2, 3, 4, 5, 6, 7, 8, 12)
THIN = 0.4  # share of random plans whose tiles are a few micro-tiles
OTHER_EXTENTS = (1, 1, 1, 2, 4, 8, 16, 64)
KINDS = {"update": ((2, 4),), "copy": ((1, 0),), "both": ((2, 4), (1, 0))}  # alpha and beta, in turn


def problems(
    seed: int,
    count: int,
    kind: str = "both",
    ragged: bool = False,
    rows: bool = False,
    unit: int | None = None,
    ranks: Sequence[int] = (),
    casts: bool = False,
) -> Iterator[Problem]:
    """Random problems of 2 to 6 indices that cannot be merged. kind: one of KINDS; ragged: odd extents only, whose
    rows start anywhere in a line; rows: short ones, which stay; unit: what longer extents are multiples of, by lot if
    None: powers of two make rows share the sets of a cache; ranks: numbers of indices, the usual ones if empty."""
    rng = random.Random(seed)
    for number in range(count):
        rank = rng.choice(ranks or (ROWS_RANKS if rows else RANKS))
        perm = _permutation(rng, rank)
        while rows and perm[0] != 0:
            perm = _permutation(rng, rank)
        dtype = rng.choice(PAIRS if casts else DTYPES)
        size = _size(rng, rank, BYTES // max(t.itemsize for t in parse_pair(dtype)), unit)
        if ragged:
            size = tuple(extent | 1 for extent in size)
        if rows:
            size = _shortened(rng, size)
        alpha, beta = KINDS[kind][number % len(KINDS[kind])]
        yield Problem(perm, size, dtype, alpha=alpha, beta=beta)


def small_problems(seed: int, count: int, kind: str = "both") -> Iterator[Problem]:
    """Random problems of floats that have as many small extents as their size takes, often all of them 2."""
    rng = random.Random(seed)
    for number in range(count):
        size = _small(rng, BYTES // 4 >> rng.choice((0, 0, 1, 3)))
        alpha, beta = KINDS[kind][number % len(KINDS[kind])]
        yield Problem(_permutation(rng, len(size)), size, "s", alpha=alpha, beta=beta)


def _permutation(rng: random.Random, rank: int) -> tuple[int, ...]:
    while True:
        perm = rng.sample(range(rank), rank)
        if all(second != first + 1 for first, second in itertools.pairwise(perm)):
            return tuple(perm)


def _size(rng: random.Random, rank: int, elements: int, unit: int | None) -> tuple[int, ...]:
    shares = [rng.uniform(0.6, 1.4) for _ in range(rank)]
    unit = unit or rng.choice((1, 1, 4, 8, 16))
    sizes = [2 ** (share / sum(shares) * log(elements, 2)) for share in shares]
    return tuple(max(2, round(size / unit) * unit if size > 2 * unit else round(size)) for size in sizes)


def _small(rng: random.Random, elements: int) -> tuple[int, ...]:
    """Extents of 2, of 2 to 8 or of 2 to 12, as many as make no more than so many elements."""
    choices = rng.choice(((2,), (2,), (2, 2, 2, 4, 8), SMALL))
    size: list[int] = []
    while prod(size) * (extent := rng.choice(choices)) <= elements:
        size.append(extent)
    return tuple(size)


def _shortened(rng: random.Random, size: tuple[int, ...]) -> tuple[int, ...]:
    """The same number of elements or so, in rows of 3 to 100 elements, or of whole lines."""
    row = round(2 ** rng.uniform(1.6, 6.6))
    if rng.random() < 0.5:
        row = 16 * -(-row // 16)
    return (row, round(size[1] * size[0] / row), *size[2:])


def random_plan(rng: random.Random, c: Canonical, target: Target) -> CpuPlan:
    """Any plan: a usual block, and everything else by lot."""
    block = rng.choice(blocks.blocks(c, target)[:7])
    thin = rng.random() < THIN
    tile = _thin_tile(rng, c, block) if thin else _random_tile(rng, c, block)
    order = list(rng.choice(tile_orders(c)))
    inner = list(rng.choice(inner_orders(c)))
    if thin and rng.random() < 0.7:
        order = inner
    for axes in (order, inner):
        if rng.random() < 0.3:
            rng.shuffle(axes)
    fetch = rng.choice((Fetch.BLOCKS, Fetch.FAR, Fetch.ROWS) if target.far else (Fetch.BLOCKS, Fetch.ROWS))
    store = rng.choice(stores(c, target))
    if store is Store.COMBINED and rng.random() < 0.5:
        sizes = (rng.choice(CARRIED), rng.choice(CARRIED), rng.choice(SLOTS))
        return chained_plan(c, block, sizes, fetch, rng.choice(DISTANCES[fetch]))
    return CpuPlan(
        tile,
        block,
        tuple(order),
        tuple(inner),
        parallel=min(rng.choice((1, 2, 3)), len(order)),
        prefetch=rng.choice(DISTANCES[fetch]),
        store=store,
        fetch=fetch,
        panel=panel(c, tile, rng.choice(PANELS)) if rng.random() < 0.3 else (),
    )


def _random_tile(rng: random.Random, c: Canonical, block: tuple[int, ...]) -> tuple[int, ...]:
    units, tile = blocks.unit_axes(c), []
    for k, (extent, unit) in enumerate(zip(c.extents, block, strict=True)):
        size = (
            unit * rng.choice(UNIT_BLOCKS)
            if k in units
            else max(unit, rng.choice(OTHER_EXTENTS) // unit * unit)
        )
        tile.append(extent if 4 * size >= 3 * extent else size)
    return tuple(tile)


def _thin_tile(rng: random.Random, c: Canonical, block: tuple[int, ...]) -> tuple[int, ...]:
    """A few micro-tiles, or the whole of one axis: successive ones then walk along rows of A or of B."""
    tile = [unit * rng.choice((1, 1, 1, 2)) for unit in block]
    if rng.random() < 0.4:
        k = rng.randrange(len(tile))
        tile[k] = block[k] * rng.choice((4, 8, 16, 64))
    return tuple(extent if 4 * t >= 3 * extent else t for t, extent in zip(tile, c.extents, strict=True))
