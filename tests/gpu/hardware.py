"""What waits for a CUDA device, as one command of less than nine minutes that needs no network: `make gpu`.

Four parts, each with a time of its own: the tests that are skipped without a device, random problems compared element
by element, launches of groups beside the device's own copy of as many bytes and a loop of launches, and the 57
transpositions beside that copy, PyTorch, CuPy and cuTENSOR, as far as these can be imported. A file of JSON is written
anew after every case, so that a run that is cut loses nothing. The exit status is 1 where a result is wrong, a test
fails or the device hangs, 2, with one line, where there is no device.

On an H200 it takes three minutes, and all of it was right. In the tests it is executed on the fake driver of this
folder, whose kernels run on the CPU: there no time means anything, and the other libraries are not the real ones.
"""

from __future__ import annotations

import argparse
import faulthandler
import itertools
import json
import logging
import os
import re
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from math import prod
from pathlib import Path
from typing import Any

import hypothesis
import numpy as np
from gpu_strategies import gpu_executions
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from strategies import problems
from test_gpu_device import check_plan, check_problem

import ttc_llvm
from ttc_llvm.bench import facts, gpu_runner, peers, suites
from ttc_llvm.bench.cases import Case, select
from ttc_llvm.bench.result_line import to_line
from ttc_llvm.errors import GpuError, TtcError, VerificationError
from ttc_llvm.gpu import devices
from ttc_llvm.gpu.devices import Device
from ttc_llvm.gpu.session import Session
from ttc_llvm.runtime import children

ROOT = Path(__file__).parents[2]
SECONDS = {"tests": 140.0, "problems": 110.0, "groups": 30.0, "bench": 200.0}  # of a part: no case begins later
GRACE = 70.0  # in which the cases end that have begun; a device that takes longer hangs
TESTS = "-m gpu tests/gpu"
MOST_ELEMENTS = 1_000_000
GROUP_RUNS, LOOP = 10, 100  # of each call of a group; blocks of the loop of launches
LOST = 5  # errors of the device one after the other, after which nothing can be learnt any more
_RESULT = re.compile(r"^(\S+::.*?) (PASSED|FAILED|ERROR|SKIPPED)")
_SHAPES = np.random.default_rng(0)
GROUPS = {  # shapes and axes, as in `benchmarks/groups.py`
    "64 shapes": ([tuple(_SHAPES.choice([2, 4, 8, 16], 3).tolist()) for _ in range(4000)], (2, 1, 0)),
    "2,790 shapes": ([tuple(_SHAPES.integers(1, 13, 4).tolist()) for _ in range(3000)], (2, 0, 3, 1)),
    "large blocks": ([tuple(_SHAPES.integers(64, 257, 3).tolist()) for _ in range(40)], (2, 0, 1)),
}
STATES = {"PASSED": "right", "FAILED": "wrong", "ERROR": "wrong", "SKIPPED": "skipped"}


@dataclass(slots=True)
class Log:
    """All that was found, in a file that is written anew after every case. A case: name, state (right, wrong, error or
    skipped) and what there is to tell."""

    path: Path
    facts: dict[str, Any]
    parts: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    ends: dict[str, str] = field(default_factory=dict)

    def add(self, part: str, name: str, state: str, **told: Any) -> None:
        """One more case, in the file when this returns."""
        self.parts.setdefault(part, []).append({"name": name, "state": state} | told)
        if state in ("wrong", "error"):
            print(f"gpu: {part}: {name}: {state}: {told.get('why', '')}", file=sys.stderr, flush=True)
        self.save()

    def save(self) -> None:
        """Write the file, whole or not at all."""
        aside = self.path.with_name(f"{self.path.name}.{os.getpid()}")
        counts = {part: self.counts(part) for part in self.parts}
        whole = {"facts": self.facts, "counts": counts, "ends": self.ends, "parts": self.parts}
        aside.write_text(json.dumps(whole, indent=1))
        aside.replace(self.path)

    def counts(self, part: str) -> dict[str, int]:
        """How many cases of a part ended in each way."""
        states = [case["state"] for case in self.parts.get(part, ())]
        return {state: states.count(state) for state in sorted(set(states))}

    @property
    def wrong(self) -> int:
        """Results that are wrong, and tests that fail."""
        return sum(self.counts(part).get("wrong", 0) for part in self.parts)


@dataclass(frozen=True, slots=True)
class Run:
    """A part on its way. end: when no case begins any more."""

    log: Log
    device: Device
    asked: argparse.Namespace
    end: float

    @property
    def late(self) -> bool:
        """Whether the part's time is up."""
        return time.monotonic() > self.end


# --- the parts ----------------------------------------------------------------------------------------------------


def tests(run: Run) -> str:
    """The tests that need a device, in a process of their own, which is ended with the part's time."""
    words = [sys.executable, "-m", "pytest", "-vv", "--tb=short", "-p", "no:cacheprovider", *run.asked.tests.split()]
    running = children.start(words, ROOT)
    timer = threading.Timer(max(0.0, run.end - time.monotonic()), children.end, (running,))
    timer.start()
    lines = []
    try:
        for line in running.stdout or ():
            lines.append(line)
            if (found := _RESULT.match(line)) is not None:
                run.log.add("tests", found[1], STATES[found[2]])
        running.wait()
    finally:
        timer.cancel()
        children.end(running)
    if running.returncode < 0:
        return "cut"
    if not run.log.parts.get("tests"):
        run.log.add("tests", "pytest", "error", why="".join(lines[-20:]))
    return "done"


def random_problems(run: Run) -> str:
    """Problems at random: every other one as users state it, the others with a plan at random."""
    count, lost = 0, 0
    how = settings(
        max_examples=run.asked.problems, phases=[Phase.generate], database=None, deadline=None,
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip

    @hypothesis.seed(run.asked.seed)
    @how
    @given(st.data(), st.integers(0, 2))
    def one(data: st.DataObject, which: int) -> None:
        nonlocal count, lost
        if run.late or lost == LOST:
            return
        work, name = _drawn(run.device, data, which)
        state, why = _tried(work)
        lost = lost + 1 if state == "error" else 0
        count += 1
        run.log.add("problems", name, state, **({"why": why} if why else {}))

    one()
    return "done" if count >= run.asked.problems else f"cut after {count}"


def _drawn(device: Device, data: st.DataObject, which: int) -> tuple[Callable[[], None], str]:
    if which == 0:
        problem = data.draw(problems(MOST_ELEMENTS))
        return lambda: check_problem(device, problem), str(problem)
    case, plan, target = data.draw(gpu_executions((device.target.name,)))
    return lambda: check_plan(device, case, plan, target, which - 1), f"{case} | {plan} | off by {which - 1}"


def _tried(work: Callable[[], None]) -> tuple[str, str]:
    try:
        work()
    except AssertionError as error:
        return "wrong", str(error)[:400]
    except TtcError as error:
        return "error", str(error)[:400]
    return "right", ""


def groups(run: Run) -> str:
    """Groups of blocks: microseconds of a launch, of a copy of as many bytes, and of a launch for each block."""
    session = Session(run.device)
    for name, (every, axes) in GROUPS.items():
        shapes = [shape for shape in every if 8 * prod(shape) <= (run.asked.bytes or 1 << 40)][: run.asked.blocks]
        if run.late or not shapes:
            return "cut"
        with session.active():
            run.log.add("groups", name, "right", **_group_times(session, shapes, axes))
    return "done"


def _group_times(session: Session, shapes: list[tuple[int, ...]], axes: tuple[int, ...]) -> dict[str, float]:
    sizes = np.array([8 * prod(shape) for shape in shapes])
    offsets, total = np.cumsum(sizes) - sizes, int(sizes.sum())
    plan = ttc_llvm.grouped(shapes, axes, "f8", target="cuda")
    sets = [[session.allocate(total) for _ in "ab"] for _ in range(2)]
    places = [[int(memory) + offsets for memory in pair] for pair in sets]
    new = itertools.cycle(places)
    one = [ttc_llvm.grouped([shape], axes, "f8", target="cuda") for shape in shapes[:LOOP]]
    loops = [partial(x.run, *([side[k]] for side in places[0]), stream=session.stream) for k, x in enumerate(one)]

    def each() -> None:
        for loop in loops:
            loop()

    calls: dict[str, Callable[[], None]] = {
        "launch": lambda: plan.run(*places[0], stream=session.stream),
        "new addresses": lambda: plan.run(*next(new), stream=session.stream),
        "copy": lambda: session.copy(int(sets[0][1]), int(sets[0][0]), total),
        "a launch each": each,
    }
    events = session.events(2 * GROUP_RUNS)
    found = {}
    for name, call in calls.items():
        call()
        session.occupy(1e-3)
        found[name] = 1e6 * min(session.seconds([call] * GROUP_RUNS, events))
    found["a launch each"] *= len(shapes) / len(one)
    return found | {"blocks": len(shapes), "MiB": total / 2**20}


def bench(run: Run) -> str:
    """The 57, first the copies: our time, the device's copy, and every library that is here."""
    found = peers.find_gpu()
    run.log.facts["peers"] = {peer.name: peer.version for peer in found.peers} | {"missing": list(found.notices)}
    cases = _cases(run.asked)
    limit = run.end - time.monotonic()
    how = gpu_runner.GpuSettings(run.device, run.device.target, budget=limit, jobs=run.asked.jobs, peers=found.peers)
    told = _Warnings(run.log)
    logger = logging.getLogger("ttc_llvm")
    logger.addHandler(told)
    measured = 0
    try:
        for result in gpu_runner.run(cases, how):
            measured += 1
            run.log.add("bench", result.id, "right", result=json.loads(to_line(result)))
    finally:
        logger.removeHandler(told)
    return "done" if measured == len(cases) else f"{measured} of {len(cases)} measured"


def _cases(asked: argparse.Namespace) -> tuple[Case, ...]:
    every = tuple(case for kind in ("copy", "update") for case in suites.cases(("ttc57",), (kind,), gpu=True))
    return select(every, asked.cases.split(",") if asked.cases else (), limit=asked.bytes)


class _Warnings(logging.Handler):
    """Cases and peers that the benchmark leaves out."""

    def __init__(self, log: Log) -> None:
        super().__init__(logging.WARNING)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        """Wrong results of ours are wrong; whatever else is left out is told."""
        ours = any(isinstance(value, VerificationError) for value in record.args or ())
        self._log.add("bench", record.getMessage()[:400], "wrong" if ours else "skipped")


PARTS: dict[str, Callable[[Run], str]] = {"tests": tests, "problems": random_problems, "groups": groups, "bench": bench}


# --- the command --------------------------------------------------------------------------------------------------


def main(arguments: Sequence[str] | None = None) -> int:
    """Carry out the parts; the exit status."""
    asked = _parser().parse_args(arguments)
    try:
        device = devices.device()
    except GpuError as error:
        print(f"gpu: {error}", file=sys.stderr)
        return 2
    about = asdict(device) | {"capability": list(device.capability), "target": str(device.target)}
    began = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    log = Log(asked.output, facts.versions() | {"device": about, "began": began})
    log.save()
    for part in asked.only:
        _carry_out(part, Run(log, device, asked, time.monotonic() + asked.seconds[part]))
    for line in _summary(log):
        print(line)
    return 1 if log.wrong else 0


def _carry_out(part: str, run: Run) -> None:
    """One part. What a library raises ends it, and no other; a device that hangs ends the command."""
    limit = max(0.0, run.end - time.monotonic()) + GRACE
    faulthandler.dump_traceback_later(limit, exit=True, file=sys.__stderr__ or 2)
    start = time.monotonic()
    try:
        end = PARTS[part](run)
    except Exception as error:
        end = f"{type(error).__name__}: {error}"
        run.log.add(part, part, "error", why=end[:400])
    finally:
        faulthandler.cancel_dump_traceback_later()
    run.log.ends[part] = f"{end}, {time.monotonic() - start:.0f} s"
    run.log.save()


def _summary(log: Log) -> Iterator[str]:
    for part, end in log.ends.items():
        counts = ", ".join(f"{number} {state}" for state, number in log.counts(part).items()) or "nothing"
        yield f"{part}: {counts} ({end})"
    yield f"gpu: {log.wrong} wrong; all of it is in {log.path}"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="make gpu", description="What waits for a CUDA device, in nine minutes.")
    add = parser.add_argument
    add("--output", type=Path, default=Path("gpu.json"), help="default: gpu.json")
    add("--only", type=lambda text: text.split(","), default=list(PARTS), help=f"of {','.join(PARTS)}")
    add("--seconds", type=_seconds, default=SECONDS, metavar="PART=S,..", help=f"default: {_given(SECONDS)}")
    add("--problems", type=int, default=500, help="at random, default 500")
    add("--blocks", type=int, help="of a group; default: all")
    add("--seed", type=int, default=1, help="of the problems")
    add("--tests", default=TESTS, help=f"what pytest is given, default {TESTS!r}")
    add("--cases", default="", help="of the benchmark's, as in ttc bench; default: all")
    add("--bytes", type=int, help="at most so many a tensor; default: as in the papers")
    add("--jobs", type=int, default=max(0, (os.cpu_count() or 1) - 1), help="processes that make kernels ahead")
    return parser


def _seconds(text: str) -> dict[str, float]:
    return SECONDS | {part: float(value) for part, _, value in (one.partition("=") for one in text.split(","))}


def _given(seconds: dict[str, float]) -> str:
    return ",".join(f"{part}={value:g}" for part, value in seconds.items())


if __name__ == "__main__":
    sys.exit(main())
