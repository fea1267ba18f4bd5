"""A long run of seeded rounds: counts per feature in a file, from which an interrupted run goes on."""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

SAVED_SECONDS = 2.0  # between two writes of the counts


@dataclass(slots=True)
class Campaign:
    """Rounds of one kind of attack. seed: round r draws from (seed, r); done: rounds so far, of all runs;
    counts: how often each feature was met; failures: one line each, with what repeats it; is_ending: no further round
    starts."""

    name: str
    seed: int
    path: Path | None = None
    done: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    is_ending: bool = False

    @classmethod
    def resumed(cls, name: str, seed: int, path: Path | None) -> Campaign:
        """The campaign that the file holds, if it is of this seed, else a new one."""
        if path is None or not path.exists():
            return cls(name, seed, path)
        stored: dict[str, Any] = json.loads(path.read_text())
        if (stored["name"], stored["seed"]) != (name, seed):
            raise SystemExit(f"{path} holds {stored['name']} with seed {stored['seed']}, not {name} with {seed}")
        return cls(name, seed, path, stored["done"], Counter(stored["counts"]), stored["failures"])

    def rounds(self, count: int, seconds: float = float("inf")) -> Iterator[int]:
        """Numbers of the next `count` rounds, as many as start within the time; each counts as done behind its body."""
        began = saved = time.monotonic()
        try:
            for number in range(self.done, self.done + count):
                if self.is_ending or time.monotonic() - began > seconds:
                    return
                yield number
                self.done = number + 1
                if time.monotonic() - saved > SAVED_SECONDS:
                    saved = time.monotonic()
                    self.save()
        finally:
            self.save()

    @contextmanager
    def ended_by_signals(self) -> Iterator[None]:
        """Let the first SIGINT or SIGTERM end the rounds, of which those at work are the last; a second one acts as
        ever."""
        before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

        def end(number: int, _: object) -> None:
            self.is_ending = True
            signal.signal(number, before[signal.Signals(number)])

        for number in before:
            signal.signal(number, end)
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def met(self, *features: str) -> None:
        """Count one of each feature."""
        self.counts.update(features)

    def fail(self, number: int, message: str) -> None:
        """Note a fault of a round, and say it at once."""
        line = f"{self.name} --seed={self.seed} round {number}: {message}"
        self.failures.append(line)
        print(line, file=sys.stderr, flush=True)

    def save(self) -> None:
        """Write the file anew, whole or not at all."""
        if self.path is None:
            return
        part = self.path.with_name(f"{self.path.name}.{os.getpid()}")
        state = {"name": self.name, "seed": self.seed, "done": self.done}
        met = {"counts": dict(sorted(self.counts.items())), "failures": self.failures}
        part.write_text(json.dumps(state | met, indent=1))
        part.replace(self.path)

    def finish(self) -> int:
        """Print counts and the result; the exit status: 0 where nothing failed."""
        self.save()
        for feature, number in sorted(self.counts.items()):
            print(f"{number:9} {feature}")
        print(f"{self.name}: {self.done} rounds, {len(self.failures)} failed (seed {self.seed})")
        return 1 if self.failures else 0


def options(name: str, count: int) -> argparse.ArgumentParser:
    """The options that all of these commands have. count: rounds unless told."""
    parser = argparse.ArgumentParser(prog=name)
    parser.add_argument("--count", type=int, default=count, help="rounds of this run")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="no round starts later")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--state", type=Path, help="file of counts; a run with the same seed resumes from it")
    return parser
