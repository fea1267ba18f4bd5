"""How memory grows with calls, layouts and compilations: `make growth`. Every case runs in a fresh process.

Printed are the growth of the resident set, the same without garbage and without what the C library's heap holds in
reserve, and the bar. Compilations may add what LLVM keeps of them by itself (`llvm_alone.py`), too.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import itertools
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import ttc_llvm
from ttc_llvm.problem.canonical import canonicalise
from ttc_llvm.runtime import backend, kernel
from ttc_llvm.tuning.cost.model import model_plan

WARM, END = 100_000, 1_000_000  # calls
LAYOUTS, WARM_LAYOUTS = 20_000, 20
COMPILES, WARM_COMPILES = 2_000, 2_000
TYPES = ("f4", "f8", "c8", "c16", "i1", "i2", "i4", "i8", "V3", "V12", "f2", "u1", "b1")
Step = Callable[[int], object]


@dataclass(frozen=True, slots=True)
class Case:
    """step(number) is called `end` times, and memory is compared with what it was after `warm`. bar: MiB that may be
    added for each `per` steps, 0 = in all."""

    start: Callable[[], Step]
    warm: int = WARM
    end: int = END
    bar: float = 1.0
    per: int = 0
    threads: int = 1


# --- calls of known layouts ------------------------------------------------------------------------------


def _hot() -> Step:
    x = np.arange(24.0 * 24 * 3).reshape(24, 24, 3)
    return lambda number: ttc_llvm.transpose(x, (2, 0, 1))


def _out() -> Step:
    x = np.arange(24.0 * 24 * 3).reshape(24, 24, 3)
    out = np.empty((3, 24, 24))
    return lambda number: ttc_llvm.transpose(x, (2, 0, 1), out=out)


def _alphas() -> Step:
    x = np.arange(24.0 * 24 * 3).reshape(24, 24, 3)
    out = np.zeros((3, 24, 24))
    return lambda number: ttc_llvm.transpose(x, (2, 0, 1), out=out, alpha=number % 1000 / 7, beta=number % 3)


def _solution() -> Step:
    solution, a, b = _solved()
    return lambda number: solution(a, b)


def _solution_alphas() -> Step:
    solution, a, b = _solved()
    return lambda number: solution(a, b, number % 1000 / 7)


def _solved() -> tuple[ttc_llvm.Solution, Any, Any]:
    solution = ttc_llvm.compile(ttc_llvm.Problem((1, 0), (30, 40)), max_implementations=1)
    return solution, np.ones(1200, "f4"), np.ones(1200, "f4")


# --- layouts and compilations ----------------------------------------------------------------------------


def _layouts() -> Step:
    chance = random.Random(1)

    def step(number: int) -> None:
        x, axes = _array(chance)
        scalars: dict[str, Any] = {}
        if x.dtype.char in "fdFD" and chance.random() < 0.4:
            out = np.zeros([x.shape[k] for k in axes], x.dtype)
            scalars = {"alpha": chance.choice((1, 2.0, chance.random())), "beta": chance.choice((0, 1.5)), "out": out}
        for _ in range(2):
            ttc_llvm.transpose(x, axes, **scalars)

    return step


def _array(chance: random.Random) -> tuple[Any, tuple[int, ...]]:
    """Small: the C library's heap keeps up to 64 MiB of what large arrays were."""
    rank = chance.randint(1, 7)
    x = np.zeros([chance.randint(1, (4096, 60, 24, 10, 6, 4, 4)[rank - 1]) for _ in range(rank)], chance.choice(TYPES))
    if chance.random() < 0.3:
        x = x[tuple(slice(None, None, chance.choice((1, 2, -1))) for _ in x.shape)]
    return x, tuple(chance.sample(range(rank), rank))


def _own_kernels() -> Step:
    """Layouts that each get a kernel of their own at once."""
    from ttc_llvm.arrays.layouts import layouts

    layouts().reset(payback=0)
    return _layouts()


def _compiles() -> Step:
    sizes = itertools.product(range(8, 100), range(9, 100))
    problems = (ttc_llvm.Problem((1, 0), size, "sdcz"[sum(size) % 4]) for size in sizes)
    return lambda number: ttc_llvm.compile(next(problems), max_implementations=1, ignore_database=True)


CASES = {
    "hot": Case(_hot),
    "out": Case(_out),
    "alphas": Case(_alphas),
    "solution": Case(_solution),
    "solution-alphas": Case(_solution_alphas),
    "threads": Case(_hot, threads=4),
    "layouts": Case(_layouts, WARM_LAYOUTS, LAYOUTS, bar=16.0),
    "own-kernels": Case(_own_kernels, WARM_LAYOUTS, 2_000, bar=64.0),
    "compiles": Case(_compiles, WARM_COMPILES, WARM_COMPILES + COMPILES, per=1_000),
}


# --- measuring -------------------------------------------------------------------------------------------


def _resident() -> int:
    """Bytes of the resident set that are no file's: those come and go as the system likes."""
    resident, shared = map(int, Path("/proc/self/statm").read_text().split()[1:3])
    return (resident - shared) * os.sysconf("SC_PAGE_SIZE")


def _both() -> tuple[int, int]:
    """The resident set as it is, and without garbage and the heap's reserve."""
    held = _resident()
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    return held, _resident()


def _points(case: Case, scale: float) -> Iterator[tuple[int, int]]:
    """The resident set after warm-up, and at the end."""
    step, warm, end = case.start(), int(case.warm * scale), int(case.end * scale)
    for first, last in ((0, warm), (warm, end)):
        threads = [threading.Thread(target=_steps, args=(step, first, last, case.threads)) for _ in range(case.threads)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        yield _both()


def _steps(step: Step, first: int, last: int, threads: int) -> None:
    for number in range(first, last, threads):
        step(number)


def _measured(name: str, scale: float) -> int:
    """Measure one case in this process, and print its growth in MiB as JSON."""
    before, after = _points(CASES[name], scale)
    print(json.dumps([(end - start) / (1 << 20) for start, end in zip(before, after, strict=True)]))
    return 0


def main() -> int:
    """Measure all cases, or those that --only asks for; the exit status: 1 where one grows beyond its bar."""
    parser = argparse.ArgumentParser(prog="growth")
    parser.add_argument("--only", default=",".join(CASES), help=f"of {', '.join(CASES)}")
    parser.add_argument("--scale", type=float, default=1.0, help="of all numbers of steps")
    parser.add_argument("--case", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.case:
        return _measured(asked.case, asked.scale)
    return max([_report(name, asked.scale) for name in asked.only.split(",")])


def _report(name: str, scale: float) -> int:
    case = CASES[name]
    with tempfile.TemporaryDirectory(prefix="ttc-growth-") as folder:
        environment = os.environ | {"TTC_DATABASE": f"{folder}/solutions.sqlite3"}
        command = [sys.executable, __file__, f"--case={name}", f"--scale={scale}"]
        done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
        resident, trimmed = json.loads(done.stdout)
        steps = f"{int(case.warm * scale):,} to {int(case.end * scale):,}"
        bar = case.bar * ((case.end - case.warm) * scale / case.per if case.per else 1)
        if name == "compiles":  # what llvmlite keeps is not ours
            alone = _llvm_alone(Path(folder), int(2 * COMPILES * scale))
            print(f"{'  LLVM alone':16} {steps:22} {alone:8.2f} MiB")
            bar += alone
        print(f"{name:16} {steps:22} {resident:8.2f} MiB, trimmed {trimmed:7.2f}, bar {bar:6.2f}", flush=True)
    return int(max(resident, trimmed) > bar)


def _llvm_alone(folder: Path, count: int) -> float:
    """MiB that LLVM keeps of the second half of `count` compilations of such kernels, without ours."""
    machine = backend.host_target()
    for number in range(64):
        problem = ttc_llvm.Problem((1, 0), (8 + number, 99 - number), "sdcz"[number % 4])
        form = canonicalise(problem).canonical
        (folder / f"{number}.ll").write_text(kernel.ir_text(form, model_plan(form, machine, 1), machine))
    command = [sys.executable, str(Path(__file__).with_name("llvm_alone.py")), str(count), str(folder)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    half, whole = (int(line.split()[0]) for line in done.stdout.splitlines())
    return (whole - half) / 1024


if __name__ == "__main__":
    sys.exit(main())
