"""What results cost that a program keeps or drops: `python benchmarks/result_memory.py [THREADS]`.

Three programs: one drops every result, one keeps the last 8, one keeps all. For each size, the speed of a fresh result
beside `out=` and beside NumPy's copy (two in turns in one process, medians of pairs); and, in processes that call only
us or only NumPy, the bytes that are resident beyond the results that are alive, at the end and five seconds later. Who
keeps the last 8 writes to nine places in turn: `out=` into as many shows what caches, not results, cost there.
"""

from __future__ import annotations

import itertools
import statistics
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

import ttc_llvm

MIB = 1 << 20
SHAPES = {1: (397, 331), 4: (811, 647), 16: (1607, 1307), 64: (3203, 2621)}  # about so many MiB of float64
ALL = 1 << 30  # bytes of results that a program keeps which keeps all
PROGRAMS = {"drops all": 0, "keeps the last 8": 8, "keeps all": None}
Call = Callable[[], Any]


def main() -> None:
    """Print a line for each program and size."""
    threads = sys.argv[1:2] or ["2"]
    for program in PROGRAMS:
        for size in SHAPES:
            run = [sys.executable, __file__, *threads, program, str(size)]
            told = [subprocess.run([*run, what], check=True, capture_output=True, text=True).stdout.strip()
                    for what in ("speed", "ttc", "numpy")]  # fmt: skip
            print(f"{program:17}{size:3} MiB: {told[0]}; MiB beyond: {told[1]}, NumPy {told[2]}", flush=True)


def child(threads: int, program: str, size: int, what: str) -> None:
    """Print a part of a line."""
    x = np.random.default_rng(0).random(SHAPES[size])
    out = np.empty(x.shape[::-1])
    ttc_llvm.set_num_threads(threads)
    calls: dict[str, Call] = {
        "ttc": lambda: ttc_llvm.transpose(x),
        "out": lambda: ttc_llvm.transpose(x, out=out),
        "numpy": lambda: np.ascontiguousarray(x.T),
    }
    for call in calls.values():
        call()
        call()
    kept = PROGRAMS[program]
    rounds = ALL // x.nbytes if kept is None else min(200, 3 * ALL // x.nbytes)
    if what != "speed":
        print(memory(calls[what], kept, rounds), end="")
        return
    of_out, of_numpy = (speed(calls["ttc"], calls[name], kept, rounds) for name in ("out", "numpy"))
    limit = ""
    if kept:
        places = itertools.cycle([np.zeros_like(out) for _ in range(kept + 1)])
        in_turn = speed(lambda: ttc_llvm.transpose(x, out=next(places)), calls["out"], 0, rounds)
        limit = f" (out= into {kept + 1} in turn: x{in_turn:.2f})"
    print(f"x{of_out:.2f} of out={limit}, x{of_numpy:.2f} of NumPy", end="")


def speed(call: Call, other: Call, kept: int | None, rounds: int) -> float:
    """How fast one is beside another, in turns, while results are kept. The first fifth warms up."""
    both, alive = (call, other), [deque[Any](maxlen=kept) for _ in range(2)]
    seconds: list[list[float]] = [[], []]
    for number in range(rounds):
        for k in (0, 1) if number % 2 else (1, 0):
            start = time.perf_counter()
            alive[k].append(both[k]())
            seconds[k].append(time.perf_counter() - start)
    own, others = (times[rounds // 5 :] for times in seconds)
    return statistics.median(b / a for a, b in zip(own, others, strict=True))


def memory(call: Call, kept: int | None, rounds: int) -> str:
    """MiB beyond the results that are alive, and those left five seconds after they are dropped."""
    ttc_llvm.set_result_pool(0)  # what there is from before goes
    ttc_llvm.set_result_pool(256 * MIB)
    before, alive = resident(), deque[Any](maxlen=kept)
    for _ in range(rounds):
        alive.append(call())
    beyond = resident() - before - sum(array.nbytes for array in alive)
    alive.clear()
    time.sleep(5)
    return f"{beyond / MIB:.1f}, later {(resident() - before) / MIB:.1f}"


def resident() -> int:
    """Bytes of memory that this process has now."""
    with open("/proc/self/smaps_rollup") as file:
        return next(int(line.split()[1]) << 10 for line in file if line.startswith("Rss:"))


if __name__ == "__main__":
    if len(sys.argv) > 2:
        child(int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), sys.argv[4])
    else:
        main()
