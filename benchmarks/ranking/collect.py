"""Timings of random plans of random problems: the data to which the cost model's weights are fitted.

    python benchmarks/ranking/collect.py --seed=1 --problems=24 --seconds=20 --output=timings.jsonl

Each problem gets some of its time for what the present model likes best, where its errors matter most, then for
random plans, and half of it for changes to the best so far. One line of JSON per problem: its text, the ceiling in the
same run, and the plans with their bandwidth relative to that ceiling.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import random
import time
from collections.abc import Iterator, Sequence
from functools import partial
from math import inf, log, prod
from pathlib import Path
from statistics import median

from data import KERNELS

from ttc_llvm import Problem, affinity, backend, runtime
from ttc_llvm.canonical import Canonical, canonicalise
from ttc_llvm.carry_plans import carrying
from ttc_llvm.kernel import Kernel
from ttc_llvm.plan import CpuPlan, Fetch, Staging
from ttc_llvm.staging import has_room
from ttc_llvm.target import Target
from ttc_llvm.trial import GIB, Mode, Trial
from ttc_llvm.tuning import blocks, neighbours, peak
from ttc_llvm.tuning.choices import DISTANCES, FREE, PANELS, inner_orders, panel, stores, tile_orders
from ttc_llvm.tuning.model import ranked

BYTES = 128 << 20  # of each tensor
DTYPES = ("s",) * 6 + ("d", "d", "c", "z")
LONGEST = 1 << 21  # elements of a tile, at most
UNIT_BLOCKS = (1, 1, 2, 2, 4, 8, 16, 32, 64, 128)
RANKS, ROWS_RANKS = (2, 3, 3, 4, 4, 5, 6), (3, 3, 4, 5)
TRIES = 10  # runs until one falls into the machine's usual pace
DRIFT = 1.2
FAVOURITES, RANDOM = 0.2, 0.55  # shares of the time after which the model's own plans, then random ones, end
CARRIED = (64, 128, 128, 256, 512, 1024)  # bytes of such a tile's sides
SLOTS = (128, 256, 512, 1024, 2048, 4096)
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
        dtype = rng.choice(DTYPES)
        size = _size(rng, rank, BYTES // {"s": 4, "d": 8, "c": 8, "z": 16}[dtype], unit)
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
    fetch = rng.choice(tuple(Fetch) if target.far else (Fetch.BLOCKS, Fetch.ROWS))
    streaming, staging = rng.choice(stores(c, target))
    if staging is Staging.CARRY:
        sizes = (rng.choice(CARRIED), rng.choice(CARRIED), rng.choice(SLOTS))
        return carrying(c, block, sizes, fetch, rng.choice(DISTANCES[fetch]))
    return CpuPlan(
        tile,
        block,
        tuple(order),
        tuple(inner),
        parallel=min(rng.choice((1, 2, 3)), len(order)),
        prefetch=rng.choice(DISTANCES[fetch]),
        streaming=streaming,
        staging=staging,
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


class Steady:
    """A bench on a shared machine, whose memory may be twice as fast for some seconds: only runs between two of the
    ceiling's that are about as fast as it was at the start count."""

    def __init__(self, trial: Trial, which: peak.Ceiling) -> None:
        self.trial = trial
        self.walk = max(trial.walks(which), key=lambda walk: max(walk() for _ in range(3)))
        self.ceiling = self.usual = median(self.walk() for _ in range(7))

    def seconds(self, kernel: Kernel) -> float:
        """One run's; infinite where the machine does not come back to its usual pace."""
        for _ in range(TRIES):
            before, took, after = self._pace(), self.trial.seconds(kernel), self._pace()
            if before and after:
                return took
            time.sleep(0.05)
        return inf

    def _pace(self) -> bool:
        now = self.walk()
        steady = self.usual / DRIFT < now < self.usual * DRIFT
        if steady:
            self.ceiling = max(self.ceiling, now)
        return steady


def explored(problem: Problem, seconds: float, seed: int, cpus: Sequence[int]) -> dict[str, object]:
    """One problem's timings, with a thread on each of these CPUs."""
    c = canonicalise(problem).canonical
    target = backend.host_target()
    os.sched_setaffinity(0, cpus)
    threads = len(cpus)
    trial = Trial(c, target, threads, Mode.COLD, problem.alpha, problem.beta)
    which = peak.of(c)
    trial.ceiling(which, 1)  # starts the threads
    os.sched_setaffinity(0, cpus[:1])
    bench = Steady(trial, which)
    rng, found = random.Random(seed), dict[CpuPlan, float]()
    favourites = ranked(c, target, threads)
    start = time.monotonic()
    while (spent := (time.monotonic() - start) / seconds) < 1:
        plan = next(favourites) if spent < FAVOURITES else _next(rng, c, target, found, spent)
        if plan in found or prod(plan.tile) > LONGEST or not has_room(c, plan, target):
            continue
        kernel = trial.build(plan)
        if kernel.tasks < min(2, threads):
            continue
        took = bench.seconds(kernel)
        if took < 1.3 * min(found.values(), default=took):
            took = min(took, bench.seconds(kernel), bench.seconds(kernel))
        if took < inf:
            found[plan] = took
    ceiling = bench.ceiling
    speed = c.bytes_moved / GIB / ceiling
    plans = {str(plan): round(speed / took, 3) for plan, took in found.items()}
    text = {"perm": problem.perm, "size": problem.size, "dtype": problem.dtype, "beta": problem.beta.real}
    machine = {"cpu": target.cpu, "l1": target.l1, "l2": target.l2, "ways": target.ways}
    how = {"machine": machine, "kernels": KERNELS, "ceiling": round(ceiling, 1), "threads": threads}
    return {**text, **how, "plans": plans}


def _next(
    rng: random.Random, c: Canonical, target: Target, found: dict[CpuPlan, float], spent: float
) -> CpuPlan:
    if spent < RANDOM or not found or rng.random() < 0.1:
        return random_plan(rng, c, target)
    parent = rng.choice(sorted(found, key=found.__getitem__)[:6])
    return rng.choice(list(neighbours.neighbours(c, target, FREE, parent)))


def main() -> None:
    """Collect, and append to the output file."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--problems", type=int, default=24)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--first", type=int, default=0, help="leave out the problems before this one")
    parser.add_argument(
        "--cpus",
        default=",".join(map(str, sorted(os.sched_getaffinity(0)))),
        help="a thread on each, all by default; where one core is its own limit, collect on each apart",
    )
    parser.add_argument(
        "--kind", choices=KINDS, default="both", help="updates, plain copies, or both in turn"
    )
    parser.add_argument("--ragged", action="store_true", help="odd extents")
    parser.add_argument("--rows", action="store_true", help="short rows that stay rows")
    parser.add_argument("--small", action="store_true", help="as many small extents as make a tensor, often all 2")
    parser.add_argument("--unit", type=int, help="longer extents are multiples of this")
    parser.add_argument("--rank", type=int, action="append", default=[], help="indices; may be repeated")
    args = parser.parse_args()
    placed = affinity.parse(args.cpus)
    if not placed.cpus:
        parser.error(f"--cpus={args.cpus}: a list such as 0,1")
    runtime.set_affinity(placed)
    if args.small and (args.ragged or args.rows or args.unit or args.rank):
        parser.error("--small: extents and ranks are its own; leave out --ragged, --rows, --unit and --rank")
    usual = partial(problems, ragged=args.ragged, rows=args.rows, unit=args.unit, ranks=args.rank)
    drawn = (small_problems if args.small else usual)(args.seed, args.problems, args.kind)
    for number, problem in enumerate(drawn):
        if number < args.first:
            continue
        row = explored(problem, args.seconds, number, placed.cpus)
        with args.output.open("a") as output:
            print(json.dumps(row), file=output)
        plans: dict[str, float] = row["plans"]  # type: ignore[assignment]
        print(
            number,
            row["perm"],
            row["size"],
            row["dtype"],
            row["beta"],
            len(plans),
            max(plans.values(), default=0.0),
            flush=True,
        )


if __name__ == "__main__":
    main()
