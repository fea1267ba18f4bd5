"""Plan objects of native libraries, which know no extents, beside kernels of one shape:

    python benchmarks/plans.py --suite=ttc57 [--off=BYTES] [CASE ...]
    python benchmarks/plans.py --suite=random --seed=1 --count=20 [CASE ...]
    python benchmarks/plans.py --small

The first two print, case by case, the median of ratios of neighbouring calls in turns on one thread, and their
quartiles: the time of a plan whose library has the very problem, which is that kernel, by that of the plan of any size.
`--small` has a C program call 16 x 16 floats, and create plans. The user's database is neither read nor
written.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from ranking import draws

import ttc_llvm
from ttc_llvm.bench import suites
from ttc_llvm.compiling.library import Library
from ttc_llvm.problem import dtypes

ROUNDS = 9
TYPES = ("s", "d", "c", "z")
PROGRAM = """
#include <stdio.h>
#include <time.h>
#include "any.h"
#include "own.h"
enum { CALLS = 200000, CREATED = 20000, ROUNDS = 15 };
static double now(void) { struct timespec t; timespec_get(&t, TIME_UTC); return 1e9 * (double)t.tv_sec + t.tv_nsec; }
static float a[4096], b[4096];
static int perm[][6] = {{1, 0}, {5, 4, 3, 2, 1, 0}};
static int64_t size[][6] = {{16, 16}, {30, 5, 15, 110, 15, 15}};
#define CREATE(rank, k) \\
    any_plan_create(&any, rank, perm[k], size[k], NULL, NULL, "s", 2), any_plan_destroy(any)
#define BEST(name, count, call) do { double best = 1e30; for (int r = 0; r < ROUNDS; r++) { double start = now(); \\
    for (int k = 0; k < count; k++) { call; } double t = (now() - start) / count; if (t < best) best = t; } \\
    printf("%s: %.0f ns\\n", name, best); } while (0)
int main(void) {
    any_plan *any; own_plan *own;
    if (any_plan_create(&any, 2, perm[0], size[0], NULL, NULL, "s", 1)) return 1;
    if (own_plan_create(&own, 2, perm[0], size[0], NULL, NULL, "s", 1)) return 1;
    BEST("16 x 16, the entry", CALLS, sTranspose10_16x16(a, b, 1.0f, NULL, NULL));
    BEST("16 x 16, a plan that runs the entry", CALLS, own_plan_execute(own, a, b, NULL, NULL));
    BEST("16 x 16, a plan of any size", CALLS, any_plan_execute(any, a, b, NULL, NULL));
    BEST("create a plan of rank 2", CREATED, CREATE(2, 0));
    BEST("create a plan of rank 6", CREATED, CREATE(6, 1));
    return 0;
}
"""  # fmt: skip


class Plans:
    """The plans of a library."""

    def __init__(self, folder: Path, name: str) -> None:
        library = ctypes.CDLL(str(folder / "lib" / f"lib{name}.so"))
        self._create, self._execute = library[f"{name}_plan_create"], library[f"{name}_plan_execute"]
        self._execute.argtypes = [ctypes.c_void_p] * 5

    def create(self, problem: ttc_llvm.Problem) -> ctypes.c_void_p:
        """A plan of one thread."""
        plan, rank = ctypes.c_void_p(), len(problem.perm)
        perm, size = (ctypes.c_int * rank)(*problem.perm), (ctypes.c_int64 * rank)(*problem.size)
        kinds = dtypes.pair_name(problem.a, problem.b).encode()
        assert self._create(ctypes.byref(plan), rank, perm, size, None, None, kinds, 1) == 0
        return plan

    def seconds(self, plan: ctypes.c_void_p, a: Any, b: Any) -> float:
        """Of one execution."""
        start = time.perf_counter()
        assert self._execute(plan, a.ctypes.data, b.ctypes.data, None, None) == 0
        return time.perf_counter() - start


def library(folder: Path, name: str, problems: list[ttc_llvm.Problem]) -> Plans:
    """A library of these problems, with plans."""
    Library(name, [ttc_llvm.compile(one, 1, threads=1) for one in problems]).write(folder, ("shared", "plan"))
    return Plans(folder, name)


def problems(asked: argparse.Namespace) -> Iterator[tuple[str, ttc_llvm.Problem]]:
    """Those that the command line selects."""
    if asked.suite == "random":
        draws.BYTES = suites.TENSOR
        found = draws.problems(asked.seed, asked.count, "copy")
    else:
        found = (case.problem for case in suites.SUITES[asked.suite](1))
    for number, problem in enumerate(found):
        if not asked.cases or str(number) in asked.cases:
            yield str(number), problem


def filled(count: int, dtype: Any, off: int) -> Any:
    """Memory as NumPy takes it, or so many bytes behind a line."""
    memory = np.empty(count * dtype.itemsize + 128, np.uint8)
    first = -memory.ctypes.data % 64 + off if off >= 0 else 0
    x = memory[first : first + count * dtype.itemsize].view(dtype)
    x.view(np.uint8)[:] = 5
    return x


def measured(name: str, problem: ttc_llvm.Problem, plans: Plans, folder: Path, off: int) -> float:
    """Print a case's line; the median of ratios."""
    own_name = f"own{name}"
    own = library(folder, own_name, [problem])
    contenders = [(one, one.create(problem)) for one in (own, plans)]
    dtype = np.dtype({"s": "f4", "d": "f8", "c": "c8", "z": "c16"}[problem.a.name])
    count = int(np.prod(problem.size))
    a, b = filled(count, dtype, off), filled(count, dtype, off)
    a.view("u4")[:] = np.random.default_rng(0).integers(0, 1 << 30, a.view("u4").size, "u4")
    own.seconds(contenders[0][1], a, b)
    wanted, b[:] = b.copy(), 0
    plans.seconds(contenders[1][1], a, b)
    assert np.array_equal(b.view("u4"), wanted.view("u4")), problem
    ratios, times = [], []
    for number in range(ROUNDS):
        pair = [one.seconds(plan, a, b) for one, plan in contenders[:: 1 if number % 2 else -1]]
        pair = pair[:: 1 if number % 2 else -1]
        ratios.append(pair[0] / pair[1])
        times.append(pair)
    low, middle, high = statistics.quantiles(ratios, n=4)
    best = [min(column) * 1e3 for column in zip(*times, strict=True)]
    told = f"{','.join(map(str, problem.perm))} of {'x'.join(map(str, problem.size))} {problem.a.name}"
    print(f"{name:>4} {told:<50} {middle:.2f} ({low:.2f} to {high:.2f}), ms {best[0]:.1f} {best[1]:.1f}", flush=True)
    return middle


def small(folder: Path) -> None:
    """Print what calls of a C program take."""
    for name, extents in (("own", (16, 16)), ("any", (9, 7))):
        library(folder, name, [ttc_llvm.Problem((1, 0), extents)])
    (folder / "program.c").write_text(PROGRAM)
    libraries = [f"-L{folder}/lib", f"-Wl,-rpath,{folder}/lib", "-lown", "-lany"]
    build = ["cc", "-O2", f"-I{folder}/include", str(folder / "program.c"), *libraries, "-o", str(folder / "program")]
    subprocess.run(build, check=True)
    subprocess.run([folder / "program"], check=True)


def main() -> None:
    """Measure what the command line selects."""
    parser = argparse.ArgumentParser(description="plan objects beside kernels of one shape")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--suite", default="ttc57", choices=("ttc57", "ragged", "random"))
    parser.add_argument("--off", type=int, default=-1, help="bytes of A and B behind a line, -1 = as NumPy has them")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("cases", nargs="*")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ["TTC_DATABASE"] = str(folder / "solutions.sqlite3")
        if asked.small:
            return small(folder)
        plans = library(folder, "any", [ttc_llvm.Problem((1, 0), (9, 7), one) for one in TYPES])
        ratios = [measured(*one, plans, folder, asked.off) for one in problems(asked)]
        print(f"geometric mean {statistics.geometric_mean(ratios):.2f}, least {min(ratios):.2f}")


if __name__ == "__main__":
    main()
