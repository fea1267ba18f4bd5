"""Processes that run rounds: one that dies, or never ends, is a fault of its round, and another takes its place."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

PATIENCE = 120.0  # seconds that a round may take, without those in which it waits for a processor
STARTUP = 120.0  # and those of a child's first imports


@dataclass(slots=True)
class Child:
    """A process that runs rounds. command: what answers as `serve` does; number, goal: the round that it is at, "" =
    none; until: when that has to end, by `clock`."""

    command: Sequence[str]
    number: int = 0
    goal: str = ""
    until: float = 0.0
    process: subprocess.Popen[bytes] = field(init=False)

    def __post_init__(self) -> None:
        there = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
        pipe = subprocess.PIPE
        # Without buffers: `select` would not see a second line in one. A terminal's Ctrl-C is for the campaign alone.
        self.process = subprocess.Popen(
            self.command, bufsize=0, stdin=pipe, stdout=pipe, env=there, start_new_session=True
        )

    def start(self, number: int, goal: str) -> None:
        """Hand it a round."""
        self.number, self.goal, self.until = number, goal, self.clock() + STARTUP
        assert self.process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # it died meanwhile, which its answer will say
            self.process.stdin.write(f"{number} {goal}\n".encode())

    def clock(self) -> float:
        """Seconds, without those in which the process wanted a processor and had none: neighbours may be busy."""
        try:
            waited = int(Path(f"/proc/{self.process.pid}/schedstat").read_text().split()[1])
        except (OSError, IndexError):  # another system, or it has ended
            waited = 0
        return time.monotonic() - waited / 1e9

    @property
    def answers(self) -> IO[bytes]:
        """Where its answers come from."""
        assert self.process.stdout is not None
        return self.process.stdout

    def answer(self) -> dict[str, Any]:
        """Its next line: empty where the round begins; what came of it, or a fault, where it has ended."""
        line = self.answers.readline()
        if line:
            found: dict[str, Any] = json.loads(line)
            self.until = self.clock() + PATIENCE
            return found
        code = self.process.wait()
        self.__post_init__()
        return {"fault": f"the process died: {signal.Signals(-code).name if code < 0 else f'exit status {code}'}"}

    def hurry(self) -> None:
        """End it if it is at a round that takes too long."""
        if self.goal and self.clock() > self.until:
            self.process.kill()

    def stop(self) -> None:
        """Let it end."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(PATIENCE)


def serve(attack: Callable[[int, str], dict[str, Any]]) -> None:
    """Run the rounds that come in, a line each, and answer with two: that it begins, and what came of it."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever else is printed is no answer
    for line in sys.stdin:
        number, _, goal = line.strip().partition(" ")
        print("{}", file=answers, flush=True)
        print(json.dumps(_outcome(attack, int(number), goal)), file=answers, flush=True)


def _outcome(attack: Callable[[int, str], dict[str, Any]], number: int, goal: str) -> dict[str, Any]:
    try:
        return attack(number, goal)
    except Exception as error:
        return {"fault": f"{type(error).__name__}: {' '.join(str(error).split())[:400]}"}
