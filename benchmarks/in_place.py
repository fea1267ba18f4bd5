"""Permutations in place, beside memcpy and NumPy: `python benchmarks/in_place.py [--threads=N] [PATTERN ...]`.

`ttc_llvm.transpose(x, axes, out=x)` of square matrices and a batch, plain and symmetrising, in turns with memcpy to
another array (on one thread), our copy of the array (on all threads), and `x[...] = x.transpose(axes).copy()`. A
pattern such as `f8/*` or `*/4096` selects cases. The user's database is neither read nor written.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import resource
import statistics
import tempfile
import time
from collections.abc import Callable
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np

import ttc_llvm

Array = np.ndarray[Any, Any]
SHAPES = {
    "8": ((8, 8), (1, 0)), "64": ((64, 64), (1, 0)), "1000": ((1000, 1000), (1, 0)), "4096": ((4096, 4096), (1, 0)),
    "8191": ((8191, 8191), (1, 0)), "batch": ((64, 512, 512), (0, 2, 1)), "cube": ((400, 400, 400), (1, 2, 0)),
}  # fmt: skip
DTYPES = ("f4", "f8", "c16")
ROUNDS, NUMPYS = 9, 2  # in the latter NumPy takes part: it takes as long as all others together
SECONDS = 0.005  # of one contender's share of a round, at least one call


def seconds(call: Callable[[], object], repeats: int) -> float:
    """Of one call, out of so many."""
    start = time.perf_counter()
    for _ in range(repeats):
        call()
    return (time.perf_counter() - start) / repeats


def best(calls: dict[str, Callable[[], object]]) -> dict[str, float]:
    """The best seconds of each, in turns."""
    found = {name: [seconds(call, 1)] for name, call in calls.items()}
    repeats = {name: max(1, int(SECONDS / times[0])) for name, times in found.items()}
    for number in range(ROUNDS):
        for name, call in calls.items():
            if name != "numpy" or number < NUMPYS:
                found[name].append(seconds(call, repeats[name]))
    return {name: min(times) for name, times in found.items()}


def measured(name: str, threads: int) -> float:
    """Print a case's line; how many times as fast as NumPy we are."""
    dtype, shape = name.split("/")
    extents, axes = SHAPES[shape]
    x: Array = np.ones(extents, dtype)
    for scalars in ((1, 0), (0.5, 0.5)):  # code is compiled
        y: Array = np.ones((8,) * x.ndim, dtype)
        ttc_llvm.transpose(y, axes, out=y, alpha=scalars[0], beta=scalars[1])
    ttc_llvm.transpose(x, axes, out=x, threads=threads)
    before = _peak()
    ttc_llvm.transpose(x, axes, out=x, threads=threads)
    ttc_llvm.transpose(x, axes, out=x, alpha=0.5, beta=0.5, threads=threads)
    grown = _peak() - before
    y, same = np.ones_like(x), tuple(range(x.ndim))

    def by_numpy() -> None:
        x[...] = x.transpose(axes).copy()

    times = best(
        {
            "plain": lambda: ttc_llvm.transpose(x, axes, out=x, threads=threads),
            "symmetric": lambda: ttc_llvm.transpose(x, axes, out=x, alpha=0.5, beta=0.5, threads=threads),
            "memcpy": lambda: ctypes.memmove(y.ctypes.data, x.ctypes.data, x.nbytes),
            "copy": lambda: ttc_llvm.transpose(x, same, out=y, threads=threads),
            "numpy": by_numpy,
        }
    )
    plain, symmetric, memcpy, copy, numpy = times.values()
    print(
        f"{name:<10} {plain * 1e3:10.4f} ms  memcpys {plain / memcpy:5.2f}  copies {plain / copy:5.2f}"
        f"  symmetric: memcpys {symmetric / memcpy:5.2f}  x NumPy {numpy / plain:6.1f}  memory +{grown / x.nbytes:.1%}",
        flush=True,
    )
    return numpy / plain


def _peak() -> int:
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def main() -> None:
    """Measure the cases that the command line selects."""
    parser = argparse.ArgumentParser(description="permutations in place, beside memcpy and NumPy")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("patterns", nargs="*", default=["*"])
    asked = parser.parse_args()
    names = [f"{dtype}/{shape}" for dtype in DTYPES for shape in SHAPES]
    chosen = [name for name in names if any(fnmatchcase(name, pattern) for pattern in asked.patterns)]
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TTC_DATABASE"] = str(Path(folder) / "solutions.sqlite3")
        ratios = [measured(name, asked.threads) for name in chosen]
    print(f"x NumPy, geometric mean: {statistics.geometric_mean(ratios):.2f}")


if __name__ == "__main__":
    main()
