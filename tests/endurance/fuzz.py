"""Guard-page fuzzing: `make fuzz ARGS="--seconds=30 --seed=1"`, from which `--state=FILE` resumes.

Every other round is made for a feature, the one that was met least so far; chance makes the others. Rounds run in
children: one that dies, or never ends, is a fault like others. SIGINT and SIGTERM end a run as its time does.
"""

from __future__ import annotations

import argparse
import os
import select
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import Any

import campaign
import fuzz_arrays
import fuzz_calls
import fuzz_casts
import fuzz_fused
import fuzz_gpu
import fuzz_groups
import fuzz_in_place
import fuzz_kernels
import fuzz_objects
import fuzz_sums
from children import Child, serve

NAME = "fuzz"
TRIED = 3  # rounds that are made for a feature before one of them has to have it
KINDS: dict[str, Any] = {
    "kernels": fuzz_kernels,
    "calls": fuzz_calls,
    "arrays": fuzz_arrays,
    "casts": fuzz_casts,
    "groups": fuzz_groups,
    "objects": fuzz_objects,
    "fused": fuzz_fused,
    "in-place": fuzz_in_place,
    "sums": fuzz_sums,
    "gpu": fuzz_gpu,
}
SHARES = {  # of the rounds that chance makes
    "kernels": 6, "calls": 3, "arrays": 3, "casts": 2, "groups": 1, "objects": 1, "fused": 2, "in-place": 1,
    "sums": 1, "gpu": 1,
}


def attack(seed: int, number: int, goal: str) -> dict[str, Any]:
    """Run a round. goal: `KIND FEATURE`, or `KIND` alone. Any exception is a fault."""
    kind, _, feature = goal.partition(" ")
    met = KINDS[kind].attack(Random(f"{seed}/{number}/{goal}"), feature)
    return {"features": [f"{kind} {found}" for found in met.features], "problems": met.problems}


@lru_cache(maxsize=1)
def goals() -> tuple[str, ...]:
    """Every feature that rounds are made for on this machine."""
    return tuple(f"{kind} {feature}" for kind, module in KINDS.items() for feature in module.goals())


@dataclass(slots=True)
class Run:
    """A campaign on several children. tries: rounds that were made for each feature in this run."""

    campaign: campaign.Campaign
    children: list[Child]
    kinds: list[str]
    tries: Counter[str] = field(default_factory=Counter)

    def rounds(self, count: int, seconds: float) -> None:
        """Run so many rounds, as many as start in time."""
        chance, idle = Random(self.campaign.seed), list(self.children)
        for number in self.campaign.rounds(count, seconds):
            while not idle:
                idle = list(self._ready())
            idle.pop().start(number, self._goal(number, chance))
        while any(child.goal for child in self.children):
            list(self._ready())

    def _goal(self, number: int, chance: Random) -> str:
        """The feature that was met least; what cannot be met on this machine takes no more than its share of rounds."""
        if number % 2:
            return chance.choices(self.kinds, [SHARES[kind] for kind in self.kinds])[0]
        known = [goal for goal in goals() if goal.split()[0] in self.kinds]
        least = min(known, key=lambda goal: max(self.campaign.counts[goal], self.tries[goal] // TRIED))
        self.tries[least] += 1
        return least

    def _ready(self) -> Iterator[Child]:
        """Children that have ended their rounds, whose answers are noted."""
        busy = {child.answers: child for child in self.children if child.goal}
        for stream in select.select(list(busy), [], [], 1.0)[0]:
            child = busy[stream]
            answer = child.answer()
            if answer:
                self._note(child.number, child.goal, answer)
                child.goal = ""
                yield child
        for child in busy.values():
            child.hurry()

    def _note(self, number: int, goal: str, answer: dict[str, Any]) -> None:
        if "fault" in answer:
            again = f"--seed={self.campaign.seed} --only={number} '--goal={goal}'"
            self.campaign.fail(number, f'{answer["fault"]}; again: make fuzz ARGS="{again}"')
        else:
            self.campaign.met(*answer["features"])
            self.campaign.counts["problems"] += answer["problems"]


def main() -> int:
    """Run the rounds that the options ask for; the exit status."""
    parser = campaign.options(NAME, 1000)
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--kinds", default=",".join(KINDS), help="what is attacked")
    parser.add_argument("--only", type=int, metavar="ROUND", help="run this round alone, here, with --goal as it was")
    parser.add_argument("--goal", default="kernels", help="KIND, or 'KIND FEATURE'")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ttc-fuzz-") as folder:
        os.environ.setdefault("TTC_DATABASE", str(Path(folder) / "solutions.sqlite3"))
        if asked.serve or asked.only is not None:
            fuzz_calls.prepare()
            fuzz_arrays.prepare()
            fuzz_groups.prepare()
        if asked.serve:
            serve(lambda number, goal: attack(asked.seed, number, goal))
        elif asked.only is not None:
            print(attack(asked.seed, asked.only, asked.goal))
        else:
            return _campaign(asked)
    return 0


def _campaign(asked: argparse.Namespace) -> int:
    began, of = time.monotonic(), campaign.Campaign.resumed(NAME, asked.seed, asked.state)
    before, command = of.counts["problems"], (sys.executable, __file__, "--serve", f"--seed={asked.seed}")
    kinds = [kind for kind in asked.kinds.split(",") if KINDS[kind].goals()]
    run = Run(of, [Child(command) for _ in range(asked.jobs)], kinds)
    with of.ended_by_signals():
        run.rounds(asked.count, asked.seconds)
    for child in run.children:
        child.stop()
    status, done, spent = of.finish(), of.counts["problems"] - before, os.times()
    processor, wall = spent.children_user + spent.children_system, time.monotonic() - began
    print(f"{done} problems in this run, {done / wall:.1f} a second, {done / processor:.1f} a second of one processor")
    return status


if __name__ == "__main__":
    sys.exit(main())
