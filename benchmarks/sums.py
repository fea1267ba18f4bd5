"""Sums of permutations in one pass, beside one call of `transpose` for each term: ratios of times, in one run.

python benchmarks/sums.py [--mib=200] [--threads=1,2] [--rounds=7]
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import ttc_llvm

THREE = tuple(itertools.permutations(range(3)))
CASES: dict[
    str, tuple[tuple[int, ...], tuple[tuple[int, ...], ...], float]
] = {  # axes that count, terms, bar
    "2 t - t.T": ((0, 0), ((0, 1), (1, 0)), 0.65),
    "2 t - t.transpose(0, 1, 3, 2)": ((16, 16, 0, 0), ((0, 1, 2, 3), (0, 1, 3, 2)), 0.65),
    "2 t - t.transpose(1, 0, 2, 3)": ((0, 0, 16, 16), ((0, 1, 2, 3), (1, 0, 2, 3)), 0.65),
    "2 t - t.T, no whole lines": ((5119, 5119), ((0, 1), (1, 0)), 0.65),
    "P(ijk)": ((0, 0, 0), THREE, 0.45),
    "P(ijk), a": ((0, 0, 0, 24), tuple((*p, 3) for p in THREE), 0.45),
}
ALPHAS = (2.0, -1.0, 1.0, -1.0, 2.0, 1.0)


def shape_of(axes: tuple[int, ...], elements: int) -> tuple[int, ...]:
    """The shape whose extents of 0 are equal and make up so many elements."""
    fixed, free = int(np.prod([n for n in axes if n], initial=1)), axes.count(0)
    edge = round((elements / fixed) ** (1 / max(free, 1)))
    return tuple(n or edge for n in axes)


def seconds(calls: list[Callable[[], Any]], rounds: int) -> list[list[float]]:
    """The times of each call, in turns."""
    found: list[list[float]] = [[] for _ in calls]
    for _ in range(rounds):
        for times, call in zip(found, calls, strict=True):
            start = time.perf_counter()
            call()
            times.append(time.perf_counter() - start)
    return found


def one_by_one(x: Any, terms: list[tuple[float, tuple[int, ...]]], out: Any, threads: int) -> None:
    """A call for each term: a scaled copy, then updates."""
    for number, (alpha, axes) in enumerate(terms):
        ttc_llvm.transpose(x, axes, out=out, alpha=alpha, beta=float(number > 0), threads=threads)


def main() -> None:
    """Print a line for each case and number of threads."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mib", type=int, default=200)
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--dtype", default="f8")
    given = parser.parse_args()
    for name, (axes, perms, bar) in CASES.items():
        x = np.random.default_rng(1).random(shape_of(axes, (given.mib << 20) // np.dtype(given.dtype).itemsize))
        x = x.astype(given.dtype)
        one, other, terms = np.empty_like(x), np.empty_like(x), list(zip(ALPHAS, perms, strict=False))
        for threads in map(int, given.threads.split(",")):
            calls: list[Callable[[], Any]] = [
                partial(ttc_llvm.permute_sum, x, terms, out=one, threads=threads),
                partial(one_by_one, x, terms, other, threads),
                partial(ttc_llvm.transpose, x, range(x.ndim), out=other, threads=threads),
            ]
            seconds(calls[:2], 1)
            np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-6)
            ours, theirs, copy = (sorted(times)[len(times) // 2] for times in seconds(calls, given.rounds))
            print(
                f"{name:32} {x.shape!s:22} {threads} threads: {ours / theirs:.2f} of one call a term (bar {bar}),"
                f" {ours / copy:.2f} copies, {ours * 1e3:.0f} ms",
                flush=True,
            )


if __name__ == "__main__":
    main()
