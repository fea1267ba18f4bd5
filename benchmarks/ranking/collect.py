"""Timings of random plans of random problems: the data to which the cost model's weights are fitted.

    python benchmarks/ranking/collect.py --seed=1 --problems=24 --seconds=20 --output=timings.jsonl

Each problem gets some of its time for what the present model likes best, where its errors matter most, then for
random plans, and half of it for changes to the best so far. One line of JSON per problem: its text, the ceiling in the
same run, and the plans with their bandwidth relative to that ceiling.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import time
from collections.abc import Sequence
from functools import partial
from math import inf, prod
from pathlib import Path
from statistics import median

from data import KERNELS
from draws import KINDS, problems, random_plan, small_problems

from ttc_llvm import Problem
from ttc_llvm.compiling.trial import Mode, Trial
from ttc_llvm.lowering.plan import CpuPlan
from ttc_llvm.lowering.writing import has_room
from ttc_llvm.machine.target import Target
from ttc_llvm.problem.canonical import Canonical, canonicalise
from ttc_llvm.problem.dtypes import pair_name
from ttc_llvm.runtime import affinity, backend, runtime
from ttc_llvm.runtime.kernel import Kernel
from ttc_llvm.tuning.cost.model import ranked
from ttc_llvm.tuning.measurement import GIB
from ttc_llvm.tuning.space import neighbours, peak
from ttc_llvm.tuning.space.choices import FREE

LONGEST = 1 << 21  # elements of a tile, at most
TRIES = 10  # runs until one falls into the machine's usual speed
DRIFT = 1.2
FAVOURITES, RANDOM = 0.2, 0.55  # shares of the time after which the model's own plans, then random ones, end


class Steady:
    """A bench on a shared machine, whose memory may be twice as fast for some seconds: only runs between two of the
    ceiling's that are about as fast as it was at the start count. What was measured behind one run is before the next.
    """

    def __init__(self, trial: Trial, which: peak.Ceiling) -> None:
        self.trial = trial
        self.sampler = max(trial.samplers(which), key=lambda sampler: max(sampler().gibs for _ in range(3)))
        self.ceiling = self.usual = median(self.sampler().gibs for _ in range(7))
        self.steady = True

    def seconds(self, kernel: Kernel) -> float:
        """One run's; infinite where the machine does not come back to its usual speed."""
        for _ in range(TRIES):
            before, took, self.steady = self.steady, self.trial.seconds(kernel), self._drift()
            if before and self.steady:
                return took
            time.sleep(0.05)
            self.steady = self._drift()
        return inf

    def _drift(self) -> bool:
        now = self.sampler().gibs
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
    trial.samplers(which)[0]()  # starts the threads
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
    pair = pair_name(problem.a, problem.b)
    text = {"perm": problem.perm, "size": problem.size, "dtype": pair, "beta": problem.beta.real}
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
    parser.add_argument("--casts", action="store_true", help="between two types")
    parser.add_argument("--unit", type=int, help="longer extents are multiples of this")
    parser.add_argument("--rank", type=int, action="append", default=[], help="indices; may be repeated")
    args = parser.parse_args()
    placed = affinity.parse(args.cpus)
    if not placed.cpus:
        parser.error(f"--cpus={args.cpus}: a list such as 0,1")
    runtime.set_affinity(placed)
    if args.small and (args.ragged or args.rows or args.unit or args.rank):
        parser.error("--small: extents and ranks are its own; leave out --ragged, --rows, --unit and --rank")
    usual = partial(problems, ragged=args.ragged, rows=args.rows, unit=args.unit, ranks=args.rank, casts=args.casts)
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
