"""The table of the start page: `python benchmarks/when_it_pays.py`, in about half a minute.

Transpositions of C-ordered arrays of float64, from 8 x 8 up, as one thread of NumPy copies them and as ours do, by the
cost model alone: fresh results, and results in memory that is there. Both run in turns; a figure is the median of
pairs. Prints rows of Markdown. The user's database is neither read nor written.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import timeit
from collections.abc import Callable
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

import ttc_llvm

CASES: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...] = (
    *(((side, side), (1, 0)) for side in (8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096)),
    ((30, 40, 50), (2, 0, 1)),
    ((720, 1280, 3), (2, 0, 1)),
    ((64, 256, 256), (2, 1, 0)),
    ((16, 1024, 12, 64), (0, 2, 1, 3)),
    ((2048, 4096), (0, 1)),
)
SECONDS, PAIRS = 0.02, 15  # of one run; how many of them


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--threads", type=int, default=2)
    ttc_llvm.set_num_threads(parser.parse_args().threads)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TTC_DATABASE"] = str(Path(folder) / "solutions.sqlite3")
        for shape, axes in CASES:
            print(row(shape, axes), flush=True)


def row(shape: tuple[int, ...], axes: tuple[int, ...]) -> str:
    """Shape, axes, and microseconds of NumPy, of ours and times as fast: fresh, then in `out=`."""
    x = np.random.default_rng(1).random(shape)
    view = x.transpose(axes)
    out = np.zeros(view.shape)
    fresh = turns(view.copy, lambda: ttc_llvm.transpose(x, axes))
    given = turns(lambda: np.copyto(out, view), lambda: ttc_llvm.transpose(x, axes, out=out))
    assert np.array_equal(out, view)
    cells = (" x ".join(map(str, shape)), ", ".join(map(str, axes)), size(prod(shape) * 8), *fresh, *given)
    return f"| {' | '.join(cells)} |"


def turns(theirs: Callable[[], Any], ours: Callable[[], Any]) -> tuple[str, str, str]:
    """Microseconds of a call of each, and the median of their ratios in pairs, behind a warm-up of both."""
    timeit.timeit(ours, number=5000 if timeit.timeit(ours, number=1) < 1e-4 else 3)
    calls = [max(1, int(SECONDS / max(min(timeit.repeat(call, number=1, repeat=3)), 1e-7))) for call in (theirs, ours)]
    pairs = []
    for _ in range(PAIRS):
        pairs.append([timeit.timeit(call, number=n) / n for call, n in zip((theirs, ours), calls, strict=True)])
    ratio = statistics.median(there / here for there, here in pairs)
    return (*(micro(statistics.median(side)) for side in zip(*pairs, strict=True)), f"{ratio:.2f}")


def micro(seconds: float) -> str:
    """Microseconds with three digits."""
    return f"{seconds * 1e6:,.{2 if seconds < 1e-5 else 0}f}"


def size(count: int) -> str:
    """Bytes in a unit that suits them."""
    return f"{count} B" if count < 1 << 10 else f"{count >> 10} KiB" if count < 1 << 20 else f"{count >> 20} MiB"


if __name__ == "__main__":
    main()
