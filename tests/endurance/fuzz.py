"""Guard-page fuzzing: `make fuzz ARGS="--seconds=30 --seed=1"`, from which `--state=FILE` resumes.

Every other round is made for a feature, the one that was met least so far; chance makes the others. Rounds run in
children, so that one that dies, or never ends, is a fault like others: it is noted, and a new child goes on behind it.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import IO

import campaign
import fuzz_arrays
import fuzz_calls
import fuzz_gpu
import fuzz_kernels
import fuzz_objects
from fuzz_draw import Met

NAME = "fuzz"
PATIENCE = 120.0  # seconds that a round may take
TRIED = 3  # rounds that are made for a feature before one of them has to have it
KINDS = {"kernels": fuzz_kernels, "calls": fuzz_calls, "arrays": fuzz_arrays, "objects": fuzz_objects, "gpu": fuzz_gpu}
SHARES = {"kernels": 6, "calls": 3, "arrays": 3, "objects": 1, "gpu": 1}  # of the rounds that chance makes


def attack(seed: int, number: int, goal: str) -> Met:
    """Run a round. goal: `KIND FEATURE`, or `KIND` alone. Any exception is a fault."""
    kind, _, feature = goal.partition(" ")
    met = KINDS[kind].attack(Random(f"{seed}/{number}/{goal}"), feature)
    return Met(frozenset(f"{kind} {found}" for found in met.features), met.problems)


@lru_cache(maxsize=1)
def goals() -> list[str]:
    """Every feature that rounds are made for on this machine."""
    return [f"{kind} {feature}" for kind, module in KINDS.items() for feature in module.goals()]


# --- children -------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Child:
    """A process that runs rounds. number, goal: of the round that it is at, since when."""

    seed: int
    number: int = 0
    goal: str = ""
    since: float = 0.0
    process: subprocess.Popen[str] = field(init=False)

    def __post_init__(self) -> None:
        command = [sys.executable, __file__, "--serve", f"--seed={self.seed}"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def start(self, number: int, goal: str) -> None:
        """Hand it a round."""
        self.number, self.goal, self.since = number, goal, time.monotonic()
        assert self.process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # it died meanwhile, which its answer will say
            self.process.stdin.write(f"{number} {goal}\n")
            self.process.stdin.flush()

    @property
    def answers(self) -> IO[str]:
        """Where its answers come from."""
        assert self.process.stdout is not None
        return self.process.stdout

    def answer(self) -> dict[str, object]:
        """What came of the round: features and problems, or fault; a process that died is replaced."""
        line = self.answers.readline()
        if line:
            found: dict[str, object] = json.loads(line)
            return found
        code = self.process.wait()
        how = signal.Signals(-code).name if code < 0 else f"exit status {code}"
        self.__post_init__()
        return {"fault": f"the process died: {how}"}

    def hurry(self) -> None:
        """End it if its round has taken too long."""
        if time.monotonic() - self.since > PATIENCE:
            self.process.kill()

    def stop(self) -> None:
        """Let it end."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(PATIENCE)


def serve(seed: int) -> None:
    """Run the rounds that come in, a line each, and answer with a line each."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever else is printed is no answer
    for line in sys.stdin:
        number, _, goal = line.strip().partition(" ")
        print(json.dumps(_answer(seed, int(number), goal)), file=answers, flush=True)


def _answer(seed: int, number: int, goal: str) -> dict[str, object]:
    try:
        met = attack(seed, number, goal)
    except Exception as error:
        return {"fault": f"{type(error).__name__}: {' '.join(str(error).split())[:400]}"}
    return {"features": sorted(met.features), "problems": met.problems}


# --- the campaign ---------------------------------------------------------------------------------------


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
        busy = [child for child in self.children if child.goal]
        while busy:
            list(self._ready())
            busy = [child for child in self.children if child.goal]

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
            self._note(child.number, child.goal, child.answer())
            child.goal = ""
            yield child
        for child in busy.values():
            child.hurry()

    def _note(self, number: int, goal: str, answer: dict[str, object]) -> None:
        fault = answer.get("fault")
        if fault:
            again = f"--seed={self.campaign.seed} --only={number} '--goal={goal}'"
            self.campaign.fail(number, f'{fault}; again: make fuzz ARGS="{again}"')
            return
        self.campaign.counts.update(answer["features"])  # type: ignore[call-overload]
        self.campaign.counts["problems"] += answer["problems"]  # type: ignore[operator]


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
        if asked.serve:
            serve(asked.seed)
        elif asked.only is not None:
            print(attack(asked.seed, asked.only, asked.goal))
        else:
            return _campaign(asked)
    return 0


def _campaign(asked: argparse.Namespace) -> int:
    began = time.monotonic()
    of = campaign.Campaign.resumed(NAME, asked.seed, asked.state)
    before = of.counts["problems"]
    run = Run(of, [Child(asked.seed) for _ in range(asked.jobs)], asked.kinds.split(","))
    run.rounds(asked.count, asked.seconds)
    for child in run.children:
        child.stop()
    status = of.finish()
    done = of.counts["problems"] - before
    print(f"{done} problems in this run, {done / (time.monotonic() - began):.1f} a second")
    return status


if __name__ == "__main__":
    sys.exit(main())
