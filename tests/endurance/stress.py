"""Threads from cold, forks, exits and signals, each round in a process of its own: `make stress`.

A round fails where its process crashes, hangs, writes to stderr or finds a wrong element. One in four begins with
nothing imported; the others are forks of a process that has imported everything and called nothing.
"""

from __future__ import annotations

import os
import random
import re
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import stress_programs as programs
from campaign import Campaign, options

import ttc_llvm

PROGRAM = Path(__file__).with_name("stress_programs.py")
SECONDS = 120  # of a round; a busy machine takes a few
SIDE_BY_SIDE = 2
FRESH = 0.25  # rounds of threads in a process that has imported nothing
OTHERS = {"forks": 0.2, "exits": 0.07, "signals": 0.07}


@dataclass(slots=True)
class Round:
    """A running process. log: what it wrote to stderr."""

    number: int
    name: str
    pid: int
    log: Path
    began: float


def chosen(rng: random.Random) -> tuple[str, bool]:
    """The program of a round, and whether it begins with nothing imported."""
    draw = rng.random()
    for name, share in OTHERS.items():
        if draw < share:
            return name, True
        draw -= share
    weights = [1 if entry in ("tune", "inspect") else 4 for entry in programs.ENTRIES]
    (entry,) = rng.choices(sorted(programs.ENTRIES, key=list(programs.ENTRIES).index), weights)
    return f"threads:{entry}", rng.random() < FRESH


def start(number: int, seed: int, folder: Path) -> Round:
    """Begin a round. Three in four share a database, the others have an empty one."""
    rng = random.Random(f"{seed} {number}")
    name, fresh = chosen(rng)
    database = "shared" if rng.random() < 0.75 else f"own{number}"
    environment = os.environ | {"TTC_DATABASE": str(folder / f"{database}.sqlite3")}
    own, log = rng.getrandbits(32), folder / f"{number}.log"
    with log.open("wb") as stream:
        pid = _forked(name, own, environment, stream.fileno(), fresh)
    return Round(number, f"{name}{' from nothing' if fresh else ''}", pid, log, time.monotonic())


def _forked(name: str, seed: int, environment: dict[str, str], log: int, fresh: bool) -> int:
    """A child that runs the program. No Popen: one that is dropped is waited for by the next."""
    pid = os.fork()
    if pid:
        return pid
    try:
        os.setsid()
        os.dup2(log, 2)
        if fresh:
            program = [sys.executable, "-W", "ignore::DeprecationWarning", str(PROGRAM), name, str(seed)]
            os.execve(sys.executable, program, environment)
        os.environ.update(environment)
        programs.run(name, seed)
        os._exit(0)
    except BaseException:
        sys.excepthook(*sys.exc_info())
        os._exit(1)


def ended(running: list[Round]) -> Iterator[tuple[Round, int | None]]:
    """Rounds that have ended, with their status; None for one that was killed, as it took too long."""
    for one in list(running):
        done, status = os.waitpid(one.pid, os.WNOHANG)
        if not done and time.monotonic() - one.began < SECONDS:
            continue
        running.remove(one)
        if not done:
            os.killpg(one.pid, signal.SIGKILL)
            os.waitpid(one.pid, 0)
        yield one, os.waitstatus_to_exitcode(status) if done else None


# An interrupt inside Python's own import machinery, which shows it and goes on.
SWALLOWED = re.compile(
    r"Exception ignored in: <function _get_module_lock.*\n"
    r"Traceback .*\n(?: +File \"<frozen importlib\._bootstrap>\".*\n(?: {4}.*\n)*)*KeyboardInterrupt: *\n\n?"
)


def judge(campaign: Campaign, one: Round, status: int | None) -> None:
    """Count a round, or note its fault."""
    said = SWALLOWED.sub("", one.log.read_text(errors="replace"))
    admitted = (0, -signal.SIGTERM) if one.name.startswith("exits") else (0,)
    campaign.met(one.name)
    if status not in admitted or said:
        fate = "hung" if status is None else f"status {status}"
        campaign.fail(one.number, f"{one.name}: {fate} {said[-2000:]}")


def main() -> int:
    """Run the rounds, two at a time; exit status 1 where one failed."""
    parser = options("stress", 200)
    parser.add_argument("--only", type=int, help="this round alone")
    args = parser.parse_args()
    assert {getattr(ttc_llvm, name) for name in ttc_llvm.__all__}
    campaign = Campaign.resumed("stress", args.seed, args.state)
    numbers = iter([args.only]) if args.only is not None else campaign.rounds(args.count, args.seconds)
    with tempfile.TemporaryDirectory() as folder:
        running: list[Round] = []
        for number in numbers:
            running.append(start(number, args.seed, Path(folder)))
            while len(running) >= SIDE_BY_SIDE or (running and args.only is not None):
                for one, status in ended(running):
                    judge(campaign, one, status)
                time.sleep(0.005)
        while running:
            for one, status in ended(running):
                judge(campaign, one, status)
            time.sleep(0.005)
    return campaign.finish()


if __name__ == "__main__":
    sys.exit(main())
