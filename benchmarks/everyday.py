"""Random everyday arrays beside NumPy: `python benchmarks/everyday.py [--count=200] [--seed=1] [--threads=2]`.

1 KiB to 256 MiB, ranks 1 to 6, all kinds of types; in C and Fortran order, sliced and mirrored; no tuning. For each,
how many times as fast as NumPy's copy a fresh result is, and one in `out=` as `numpy.copyto`: medians of pairs in one
process. Arrays that are slower than NumPy's are listed last.
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
Measured = tuple[float, float, str]


def main() -> None:
    """Print a line for each array, the geometric means, and the slowest."""
    parser = argparse.ArgumentParser()
    for name, default in (("count", 200), ("seed", 1), ("threads", 2), ("most", 28)):
        parser.add_argument(f"--{name}", type=int, default=default)
    given = parser.parse_args()
    ttc_llvm.set_num_threads(given.threads)
    made: list[Measured] = []
    for view, axes, name in arrays(given.count, random.Random(given.seed), given.most):
        made.append((*speeds(view, axes), name))
        print("fresh x{:.2f}  out x{:.2f}  {}".format(*made[-1]), flush=True)
    fresh, out = (math.exp(statistics.mean(math.log(one[k]) for one in made)) for k in (0, 1))
    print(f"{len(made)} arrays, {given.threads} threads: geometric means fresh x{fresh:.2f}, out x{out:.2f}")
    for one in sorted(made):
        if one[0] < 1:
            print("slower: fresh x{:.2f}  out x{:.2f}  {}".format(*one))


def arrays(count: int, draw: random.Random, most: int) -> Iterator[tuple[Any, tuple[int, ...], str]]:
    """Views, the axes of their transposition, and names. most: log2 of bytes."""
    for _ in range(count):
        kind, layout, rank = np.dtype(draw.choice(TYPES)), draw.choice(LAYOUTS), draw.randint(1, 6)
        shape = extents(2 ** draw.uniform(10, most) / kind.itemsize, rank, draw)
        axes = tuple(draw.sample(range(rank), rank))
        axis, step = draw.randrange(rank), 2 if layout == "sliced" else -1
        whole = [n * 2 if layout == "sliced" and k == axis else n for k, n in enumerate(shape)]
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


def speeds(view: Any, axes: tuple[int, ...]) -> tuple[float, float]:
    """How many times as fast as NumPy's we are, with a fresh result and with `out=`."""
    turned = view.transpose(axes)
    place, other = np.empty(turned.shape, view.dtype), np.empty(turned.shape, view.dtype)
    calls: tuple[Callable[[], Any], ...] = (
        lambda: turned.copy(), lambda: ttc_llvm.transpose(view, axes),
        lambda: np.copyto(other, turned), lambda: ttc_llvm.transpose(view, axes, out=place),
    )  # fmt: skip
    end = time.perf_counter() + WARM_SECONDS
    for _ in range(60):
        calls[1](), calls[3]()
        if time.perf_counter() > end:
            break
    start = time.perf_counter()
    assert calls[0]().tobytes() == calls[1]().tobytes() == place.tobytes()
    rounds = max(5, min(60, int(SECONDS / (time.perf_counter() - start))))
    seconds = [[timed(call) for call in calls] for _ in range(rounds)]
    return statistics.median(a / b for a, b, _, _ in seconds), statistics.median(a / b for _, _, a, b in seconds)


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
