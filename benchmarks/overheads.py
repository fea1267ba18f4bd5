"""What a call costs beyond moving the data: `python benchmarks/overheads.py`.

New problems, layouts that are seen for the first time, thousands of layouts in turn, and warm calls; each figure stands
beside its bar. The user's database is neither read nor written.
"""

from __future__ import annotations

import os
import random
import statistics
import tempfile
import time
import timeit
from collections.abc import Callable, Iterator
from functools import partial
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

import ttc_llvm
from ttc_llvm.arrays.layouts import layouts
from ttc_llvm.compiling import compiler
from ttc_llvm.problem.canonical import canonicalise
from ttc_llvm.runtime import backend, kernel, runtime
from ttc_llvm.runtime.pool import Call
from ttc_llvm.tuning.database.opened import open_database

CALLS, ROUNDS = 20_000, 7
SHAPES = 200  # of the first transpositions
SMALL = 4096  # elements of a small shape, at most
IN_TURN = (3_000, 20_000)  # layouts
PAIRS = 5  # rounds of all of them, each beside NumPy's
WARM_UP = 5000  # calls: enough for a layout to get a kernel of its own
DTYPES = (np.float32, np.float64, np.complex64, np.int8)


def microseconds(
    call: str | Callable[[], Any], calls: int = CALLS, names: dict[str, Any] | None = None
) -> float:
    """The fastest round's time per call. names: what a call given as text refers to."""
    return min(timeit.repeat(call, number=calls, repeat=ROUNDS, globals=names)) / calls * 1e6


def milliseconds(call: Callable[[], Any]) -> float:
    """One call."""
    start = time.perf_counter()
    call()
    return (time.perf_counter() - start) * 1e3


class Spent:
    """Milliseconds spent in a function of a module, by call."""

    def __init__(self, module: Any, name: str) -> None:
        self._times, function = list[float](), getattr(module, name)

        def timed(*given: Any) -> Any:
            found = list[Any]()
            self._times.append(milliseconds(lambda: found.append(function(*given))))
            return found[0]

        setattr(module, name, timed)

    def taken(self) -> list[float]:
        """Those of the calls since the last question."""
        times, self._times[:] = [*self._times], []
        return times


def show(what: str, times: list[float], bar: str) -> None:
    """One line: median and worst, in milliseconds."""
    print(f"{what}: median {statistics.median(times):.2f} ms, worst {max(times):.2f} ms (bar {bar})")


def main() -> None:
    """Print the figures, one per line."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TTC_DATABASE"] = str(Path(folder) / "solutions.sqlite3")
        problems()
        first_transpositions()
        for count in IN_TURN:
            layouts_in_turn(count)
        warm_calls()
        pooled_calls()


# --- new problems ---------------------------------------------------------------------------------------


def even() -> Iterator[ttc_llvm.Problem]:
    """Problems whose extents registers divide."""
    for i in range(12):
        yield ttc_llvm.Problem((2, 1, 0), (96 + 16 * i, 64, 160), "sdcs"[i % 4], alpha=2, beta=i % 2)
        yield ttc_llvm.Problem((3, 1, 0, 2), (32, 16 + i, 48, 64), "sd"[i % 2])


def ragged() -> Iterator[ttc_llvm.Problem]:
    """Problems whose extents registers do not divide, on either side."""
    for i in range(12):
        yield ttc_llvm.Problem((2, 1, 0), (101 + 2 * i, 64, 99 + 2 * i), "sdcs"[i % 4], alpha=2, beta=i % 2)
        yield ttc_llvm.Problem((3, 1, 0, 2), (33, 16 + i, 47, 61), "sd"[i % 2])


def problems() -> None:
    """A new problem by the cost model alone, its parts (the choice of a plan, LLVM), and the same from the database."""
    ttc_llvm.compile(ttc_llvm.Problem((1, 0), (70, 90)), 1)
    parts = {"choice": Spent(compiler, "model_plan"), "LLVM": Spent(backend, "compile_object")}
    known = []
    for name, made, bars in (("even", even(), ("30", "10")), ("ragged", ragged(), ("60", "20"))):
        new, rows = [], []
        for problem in made:
            new.append(milliseconds(partial(ttc_llvm.compile, problem, 1)))
            rows.append(milliseconds(open_database(None).close))
            known.append(milliseconds(partial(ttc_llvm.compile, problem, 1)))
        show(f"new problem, {name} extents, cost model", new, bars[0])
        chosen, compiled = (part.taken() for part in parts.values())
        show("  of which all but LLVM", [whole - llvm for whole, llvm in zip(new, compiled, strict=True)], bars[1])
        show("  of which the choice of its plan", chosen, "none")
        show("  of which LLVM", compiled, "none")
        show("  its row, which a thread would write behind it", rows, "none")
    show("known problem, from the database", known, "5")
    bytewise = [ttc_llvm.Problem((1, 0), (1000 + i, 999 + i), "i8") for i in range(4)]
    show("new problem, bytes", [milliseconds(partial(ttc_llvm.compile, p, 1)) for p in bytewise], "60")


# --- new layouts ----------------------------------------------------------------------------------------


def small_arrays(count: int) -> Iterator[tuple[np.ndarray[Any, Any], tuple[int, ...]]]:
    """Random small arrays of rank 2 to 6, and axes."""
    rng = random.Random(1)
    for _ in range(count):
        rank = rng.randint(2, 6)
        shape = [rng.randint(2, 40) for _ in range(rank)]
        while prod(shape) > SMALL:
            shape[rng.randrange(rank)] = rng.randint(2, 6)
        yield np.ones(shape, rng.choice(DTYPES)), tuple(rng.sample(range(rank), rank))


def first_transpositions() -> None:
    """`transpose` of shapes that this process has not seen: with kernels of families that it has, and has not, used."""
    for what in ("code of the family compiled", "code in memory"):
        times = [milliseconds(partial(ttc_llvm.transpose, x, axes)) for x, axes in small_arrays(SHAPES)]
        slowest = statistics.mean(sorted(times)[-5:])
        show(
            f"first transpose of {SHAPES} small shapes, {what} (mean of the worst five {slowest:.1f})",
            times,
            "1",
        )
        layouts().clear()  # every shape is new again


def layouts_in_turn(count: int) -> None:
    """Transpose many small arrays in turn, all of different layouts, beside NumPy."""
    cases = {(x.shape, x.dtype, axes): (x, axes) for x, axes in small_arrays(2 * count)}
    arrays = [*cases.values()][:count]
    ratios, ours = list[float](), 0.0
    for _ in range(PAIRS + 1):  # in the first all are new
        ours = milliseconds(lambda: [ttc_llvm.transpose(x, axes) for x, axes in arrays])
        ratios.append(ours / milliseconds(lambda: [x.transpose(axes).copy() for x, axes in arrays]))
    size, each, known = layouts().nbytes / len(layouts()), ours / len(arrays) * 1e3, ratios[1:]
    print(
        f"{len(arrays)} layouts in turn: {each:.2f} us a call, {statistics.median(known):.2f} of NumPy's"
        f" ({min(known):.2f} to {max(known):.2f}; bar 2), {size:.0f} bytes each"
    )


# --- warm calls -----------------------------------------------------------------------------------------


SPELLINGS = {  # of a transposition of x, a square of f8, by `t` and by NumPy
    "axes a tuple": ("t(x, (1, 0))", "x.transpose((1, 0)).copy()"),
    "axes a list": ("t(x, [1, 0])", "x.transpose([1, 0]).copy()"),
    "axes None": ("t(x)", "x.transpose().copy()"),
    "ascontiguousarray": ("contiguous(x.T)", "np.ascontiguousarray(x.T)"),
    "order='F'": ("t(x, order='F')", "x.T.copy('F')"),
    "alpha=2": ("t(x, alpha=2)", "y = x.T.copy(); y *= 2"),
    "out": ("t(x, (1, 0), out=out)", "np.copyto(out, x.transpose((1, 0)))"),
    "out, axes a list": ("t(x, [1, 0], out=out)", "np.copyto(out, x.transpose([1, 0]))"),
    "out, axes None": ("t(x, out=out)", "np.copyto(out, x.T)"),
    "out, alpha=2": ("t(x, out=out, alpha=2)", "np.copyto(out, x.T); np.multiply(out, 2, out)"),
    "out in F order": ("t(x, out=out_f)", "np.copyto(out_f, x.T)"),
}


def warm_calls() -> None:
    """Warm calls beside NumPy's, round by round in pairs; then solutions."""
    for n in (4, 8, 16, 32, 64):
        out = np.empty((n, n))
        names = {"t": ttc_llvm.transpose, "contiguous": ttc_llvm.ascontiguousarray, "np": np, "out": out}
        names |= {"x": np.random.default_rng(0).random((n, n)), "out_f": np.asfortranarray(out)}
        for what, pair in SPELLINGS.items():
            ours, numpys = paired(pair, names, CALLS if n < 32 else CALLS // 4)
            print(
                f"{n}x{n} double, {what}: {ours:.2f} us, NumPy {numpys:.2f}, difference {ours - numpys:.2f}, speedup"
                f" {numpys / ours:.2f}"
            )
    for n in (8, 16, 32, 64, 128, 256):
        x = np.random.default_rng(0).random((n, n), dtype=np.float32)
        solution = ttc_llvm.compile(ttc_llvm.Problem((1, 0), (n, n)), 1, threads=1)
        names = {"x": x, "a": np.asfortranarray(x), "out": np.empty_like(x, order="F"), "c": np.empty_like(x)}
        names["solution"] = solution
        calls = CALLS if n < 128 else 1000
        ours, in_c = (microseconds(f"solution({given})", calls, names) for given in ("a, out", "x, c"))
        print(f"{n}x{n} float: solution(a, b) {ours:.2f} us, in C order {in_c:.2f} us")


def paired(pair: tuple[str, str], names: dict[str, Any], calls: int) -> tuple[float, float]:
    """The fastest round of each of two calls, which take turns: microseconds per call."""
    timers = [timeit.Timer(call, globals=names) for call in pair]
    for timer in timers:
        timer.timeit(WARM_UP)
    rounds = [[timer.timeit(calls) for timer in timers] for _ in range(ROUNDS)]
    ours, numpys = (min(times) / calls * 1e6 for times in zip(*rounds, strict=True))
    return ours, numpys


def pooled_calls() -> None:
    """What handing a call to two threads costs, while the worker polls: four tasks of 16 x 16 elements."""
    solution = ttc_llvm.compile(ttc_llvm.Problem((1, 0), (32, 32)), 1, threads=1)
    form = canonicalise(solution.problem).canonical
    made = kernel.cache.obtain(form, solution.plan, solution.target)
    a, b = np.ones((32, 32), np.float32), np.empty((32, 32), np.float32)
    call = Call(made.address, a.ctypes.data, b.ctypes.data, 0, 0, made.scratch, made.tasks)
    one, two = (microseconds(partial(runtime.run, call, threads)) for threads in (1, 2))
    print(
        f"{made.tasks} tasks on one thread {one:.2f} us, on two {two:.2f} us, difference {two - one:.2f} us (bar 10)"
    )


if __name__ == "__main__":
    main()
