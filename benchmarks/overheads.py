"""What a call costs beyond moving the data: `python benchmarks/overheads.py`."""

from __future__ import annotations

import statistics
import tempfile
import time
import timeit
from pathlib import Path

import numpy as np

import ttc_llvm

CALLS, ROUNDS = 2000, 7


def microseconds(call: timeit._Stmt) -> float:
    """The fastest round's time per call."""
    return min(timeit.repeat(call, number=CALLS, repeat=ROUNDS)) / CALLS * 1e6


def milliseconds(call: timeit._Stmt) -> float:
    """One call."""
    start = time.perf_counter()
    call()  # type: ignore[operator]
    return (time.perf_counter() - start) * 1e3


def main() -> None:
    """Print the figures, one per line."""
    with tempfile.TemporaryDirectory() as folder:
        problems(Path(folder) / "solutions.sqlite3")
    warm_calls()


def problems(database: Path) -> None:
    """A new problem by the cost model alone, and the same from the database."""
    new, known = [], []
    for i in range(24):
        problem = ttc_llvm.Problem((2, 1, 0), (100 + i, 64, 96 + 3 * i), alpha=2, beta=i % 2)

        def solve(problem: ttc_llvm.Problem = problem) -> None:
            ttc_llvm.compile(problem, 1, database=database)

        new.append(milliseconds(solve))
        known.append(milliseconds(solve))
    print(f"new problem, cost model: median {statistics.median(new[2:]):.1f} ms, worst {max(new[2:]):.1f} ms")
    print(f"known problem, database: median {statistics.median(known):.2f} ms, worst {max(known):.2f} ms")


def warm_calls() -> None:
    """Warm calls on one thread, beside NumPy."""
    for n in (8, 64, 128, 256):
        x = np.random.default_rng(0).random((n, n), dtype=np.float32)
        out = np.empty_like(x)
        solution = ttc_llvm.compile(ttc_llvm.Problem((1, 0), (n, n)), 1, threads=1)
        solution(x, out)
        ttc_llvm.transpose(x, threads=1)
        ours = microseconds(lambda x=x, out=out, solution=solution: solution(x, out))
        door = microseconds(lambda x=x: ttc_llvm.transpose(x, threads=1))
        numpy = microseconds(lambda x=x: np.ascontiguousarray(x.T))
        print(f"{n}x{n} float: solution(a, b) {ours:.2f} us, transpose(x) {door:.2f} us, NumPy {numpy:.2f} us")


if __name__ == "__main__":
    main()
