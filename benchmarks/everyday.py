"""Random everyday arrays beside NumPy: `python benchmarks/everyday.py [--count=200] [--seed=1] [--threads=2]`.

1 KiB to 256 MiB, ranks 1 to 6, all kinds of types; in C and Fortran order, sliced and mirrored; no tuning. For each,
how many times as fast as NumPy's transposition and copy a fresh result is, and one in `out=` as `numpy.copyto`; and
both against the ceiling, the faster of NumPy's and our copy of as many bytes in a row: medians of rounds in one
process. Arrays that are slower than NumPy's are listed last. `--part=2/3` measures the second third of the arrays.
"""

from __future__ import annotations

import argparse
import math
import random
import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import ttc_llvm

TYPES = ("u1", "?", "i2", "f2", "i4", "f4", "i8", "f8", "c8", "c16", "M8[s]", "S3", "S5", "V6", "V12", "U8")
LAYOUTS = ("C", "F", "sliced", "mirrored")
WARM_SECONDS, SECONDS = 0.25, 0.3
ORDERS = (0, 1, 2, 3, 4, 5, 6, 7), (2, 3, 0, 1, 6, 7, 4, 5)  # of `calls`
LINE = "fresh x{:.2f}  out x{:.2f}  of the ceiling {:.2f}  {:.2f}"
Speeds = tuple[float, float, float, float]  # over NumPy's and of the ceiling: fresh, out


def main() -> None:
    """Print a line for each array, the geometric means, and the slowest."""
    parser = argparse.ArgumentParser()
    for name, default in (("count", 200), ("seed", 1), ("threads", 2), ("most", 28)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--part", default="1/1")
    given = parser.parse_args()
    ttc_llvm.set_num_threads(given.threads)
    part, parts = map(int, given.part.split("/"))
    chosen = range((part - 1) * given.count // parts, part * given.count // parts)
    made: list[tuple[Speeds, str]] = []
    for view, axes, name in arrays(chosen, random.Random(given.seed), given.most):
        made.append((speeds(view, axes), name))
        print(LINE.format(*made[-1][0]), name, flush=True)
    means = [math.exp(statistics.mean(math.log(found[k]) for found, _ in made)) for k in range(4)]
    print(f"{len(made)} arrays, {given.threads} threads, geometric means:", LINE.format(*means))
    for found, name in sorted(made):
        if found[0] < 1:
            print("slower:", LINE.format(*found), name)


def arrays(chosen: range, draw: random.Random, most: int) -> Iterator[tuple[Any, tuple[int, ...], str]]:
    """Views, the axes of their transposition, and names. chosen: which of all; most: log2 of bytes."""
    for number in range(chosen.stop):
        kind, layout, rank = np.dtype(draw.choice(TYPES)), draw.choice(LAYOUTS), draw.randint(1, 6)
        shape = extents(2 ** draw.uniform(10, most) / kind.itemsize, rank, draw)
        axes = tuple(draw.sample(range(rank), rank))
        axis, step = draw.randrange(rank), 2 if layout == "sliced" else -1
        whole = [n * 2 if layout == "sliced" and k == axis else n for k, n in enumerate(shape)]
        if number not in chosen:
            continue
        view = filled(whole, kind, "F" if layout == "F" else "C")
        if layout in ("sliced", "mirrored"):
            view = view[tuple(slice(None, None, step if k == axis else 1) for k in range(rank))]
        at = f" at {axis}" if layout in ("sliced", "mirrored") else ""
        yield view, axes, f"{kind.str} {'x'.join(map(str, shape))} {layout}{at} axes {axes}, {view.nbytes >> 10} KiB"


def extents(size: float, rank: int, draw: random.Random) -> tuple[int, ...]:
    """A shape of about so many elements: some extents even, some not."""
    shares = [draw.uniform(0.2, 1) for _ in range(rank)]
    found = [max(1, round(size ** (share / sum(shares)))) for share in shares]
    return tuple(n if draw.random() < 0.5 or n < 8 else -(-n // 8) * 8 for n in found)


def filled(shape: list[int], kind: np.dtype[Any], order: str) -> Any:
    """An array with bytes that are not all the same."""
    array = np.zeros(shape, kind, order)  # type: ignore[call-overload]
    flat = array.reshape(-1, order="A").view(np.uint8)
    flat[:] = 1
    flat[::7] = 0
    return array


def speeds(view: Any, axes: tuple[int, ...]) -> Speeds:
    """How many times as fast as NumPy's, and as copies of rows of bytes, we are. Each writes into both places in turns,
    and comes first in turns: who had the pages that fit the caches worse, or came where the last cache was full of
    what others had written, took up to 1.3 times as long, NumPy's copy in our stead, too."""
    shape = view.transpose(axes).shape
    one, other = np.empty(shape, view.dtype), np.empty(shape, view.dtype)
    row, row_place = np.ones(view.nbytes, np.uint8), np.ones(view.nbytes, np.uint8)
    turns = [calls(view, axes, row, row_place, *places) for places in ((one, other), (other, one))]
    end = time.perf_counter() + WARM_SECONDS
    for turn in range(60):
        for k in (2, 3, 6, 7):
            turns[turn % 2][k]()
        if time.perf_counter() > end:
            break
    start = time.perf_counter()
    for turn, place in zip(turns, (one, other), strict=True):
        place.view(np.uint8)[...] = 77
        turn[3]()
        assert turn[0]().tobytes() == turn[2]().tobytes() == place.tobytes()
    rounds = max(3, min(30, int(SECONDS / (time.perf_counter() - start))))
    seconds = [_both(turns) for _ in range(rounds)]
    fresh, out = (statistics.median(one[k] / one[k + 2] for one in seconds) for k in (0, 1))
    ceilings = [statistics.median(min(one[k + 4], one[k + 6]) / one[k + 2] for one in seconds) for k in (0, 1)]
    return fresh, out, ceilings[0], ceilings[1]


def _both(turns: list[tuple[Callable[[], Any], ...]]) -> list[float]:
    """Seconds of each call, NumPy's before ours in the first turn, behind it in the second."""
    first, second = ({k: timed(turn[k]) for k in order} for turn, order in zip(turns, ORDERS, strict=True))
    return [first[k] + second[k] for k in ORDERS[0]]


def calls(
    view: Any, axes: tuple[int, ...], row: Any, row_place: Any, place: Any, other: Any
) -> tuple[Callable[[], Any], ...]:
    """NumPy's fresh copy and one into `other`, ours, into `place`; and the same of as many bytes in a row."""
    return (
        lambda: view.transpose(axes).copy(), lambda: np.copyto(other, view.transpose(axes)),
        lambda: ttc_llvm.transpose(view, axes), lambda: ttc_llvm.transpose(view, axes, out=place),
        lambda: row.copy(), lambda: np.copyto(row_place, row),
        lambda: ttc_llvm.transpose(row), lambda: ttc_llvm.transpose(row, out=row_place),
    )  # fmt: skip


def timed(call: Callable[[], Any]) -> float:
    """Seconds of a call; short ones are repeated."""
    for repeats in (1, 20):
        start = time.perf_counter()
        for _ in range(repeats):
            call()
        seconds = (time.perf_counter() - start) / repeats
        if seconds > 50e-6:
            break
    return seconds


if __name__ == "__main__":
    main()
