"""What few candidates reach of what many reach: the cost model alone, 10 and 100 candidates against the best of 300.

    python benchmarks/ranking/check.py --output=check.jsonl       # 12 of the 57 and 24 random problems: half an hour
    python benchmarks/ranking/check.py --first=0 --count=6 --output=check.jsonl     # some of them; lines are appended
    python benchmarks/ranking/check.py --report=check.jsonl

Each problem is searched anew with every budget; then the winners and the ten best of the largest search run in turns.
The best is the one that is fastest in the median of the rounds; of a dozen plans that are about as fast, that is the
luckiest, beside which others as good fall short. So a second figure has the best chosen by every other round and
timed by those between, which luck does not help. The random problems come from a seed that no fit has used.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterator
from pathlib import Path
from statistics import geometric_mean, median

from draws import problems

from ttc_llvm import Problem
from ttc_llvm.bench.ttc57 import SHAPES
from ttc_llvm.compiling.trial import Mode, Trial
from ttc_llvm.lowering import items
from ttc_llvm.lowering.plan import CpuPlan
from ttc_llvm.runtime import affinity, backend, runtime
from ttc_llvm.tuning.cost.model import diversity_seeds, model_plan, onwards, ranked
from ttc_llvm.tuning.search.search import Limits, search

BUDGETS = (1, 10, 100, 300)
SEED = 1_000
RANDOM = 24
ROUNDS = 60  # with 20, the luckiest of ten equally fast plans leads by 0.01
TOP = 10
CPUS = sorted(os.sched_getaffinity(0))

Round = dict[CpuPlan, float]  # seconds of each plan's run


def chosen() -> Iterator[tuple[str, Problem]]:
    """Every fifth of the 57, alternately a copy and an update, and random problems."""
    for number, (perm, size) in enumerate(SHAPES[::5]):
        alpha, beta = ((2, 4), (1, 0))[number % 2]
        yield f"ttc57 {5 * number:02d}", Problem(perm, size, alpha=alpha, beta=beta)
    for number, problem in enumerate(problems(SEED, RANDOM)):
        yield f"random {number}", problem


def checked(name: str, problem: Problem) -> dict[str, object]:
    """One problem's figures: share of the best by budget."""
    os.sched_setaffinity(0, CPUS)
    target, threads = backend.host_target(), runtime.num_threads()
    c = items.placed(problem, target).canonical
    trial = Trial(c, target, threads, Mode.COLD, problem.alpha, problem.beta)
    trial.seconds(trial.build(model_plan(c, target, threads)))  # starts the threads
    os.sched_setaffinity(0, CPUS[:1])
    more = onwards(c, target, threads)
    winners, top = dict[int, CpuPlan](), list[CpuPlan]()
    for budget in BUDGETS:
        if budget == 1:
            winners[budget] = model_plan(c, target, threads)
            continue
        limits = Limits(budget, verify=False)
        plans, diverse = ranked(c, target, threads), diversity_seeds(c, target, threads)
        alone = trial.seconds_alone if threads > 1 else None
        outcome = search(plans, more, trial, limits, alone=alone, diverse=diverse)
        winners[budget] = outcome.best.plan
        top = [timed.plan for timed in outcome.timings[:TOP]]
    kernels = {plan: trial.build(plan) for plan in (*winners.values(), *top)}
    rounds = [{plan: trial.seconds(kernel) for plan, kernel in kernels.items()} for _ in range(ROUNDS)]
    shares, crossed = reached(winners, rounds)
    return {"name": name, "problem": str(c), "shares": shares, "crossed": crossed}


def reached(winners: dict[int, CpuPlan], rounds: list[Round]) -> tuple[dict[str, float], dict[str, float]]:
    """What the winners reach of the best by all rounds, and of the best by every other round in those between."""
    all_lags, halves = lags(rounds), (lags(rounds[::2]), lags(rounds[1::2]))
    best = min(all_lags.values())
    shares, crossed = dict[str, float](), dict[str, float]()
    for budget, plan in winners.items():
        shares[str(budget)] = round(best / all_lags[plan], 3)
        of = [timed[min(choose, key=choose.__getitem__)] / timed[plan] for choose, timed in (halves, halves[::-1])]
        crossed[str(budget)] = round(geometric_mean(of), 3)
    return shares, crossed


def lags(rounds: list[Round]) -> Round:
    """Of each plan its seconds by the fastest plan's of the same round, in the median: a shared machine may be twice as
    fast in some of them."""
    return {plan: median(took[plan] / min(took.values()) for took in rounds) for plan in rounds[0]}


def report(path: Path) -> None:
    """Print geometric means and minima."""
    rows = [row for row in map(json.loads, path.read_text().splitlines()) if "crossed" in row]
    if not rows:
        raise SystemExit(f"{path}: no results")
    for budget in map(str, BUDGETS):
        shares = [row["shares"][budget] for row in rows]
        crossed = geometric_mean([row["crossed"][budget] for row in rows])
        print(
            f"{budget:>4} candidates: geomean {geometric_mean(shares):.3f}, least {min(shares):.2f}, "
            f"{len(shares)} problems; chosen by other rounds {crossed:.3f}"
        )


def main() -> None:
    """Measure and append, or report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path)
    parser.add_argument("--report", type=Path)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=1_000)
    given = parser.parse_args()
    runtime.set_affinity(affinity.parse("compact"))
    if given.output is not None:
        for name, problem in list(chosen())[given.first : given.first + given.count]:
            row = checked(name, problem)
            with given.output.open("a") as lines:
                print(json.dumps(row), file=lines)
            print(name, row["shares"], flush=True)
    found = given.report or given.output
    if found is not None:
        report(found)


if __name__ == "__main__":
    main()
