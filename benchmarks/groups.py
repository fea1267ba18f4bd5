"""Groups of blocks beside loops over their arrays: `python benchmarks/groups.py`.

Nanoseconds for a block, the fastest of several rounds in turn, on one thread and on two. The user's database is neither
read nor written.
"""

from __future__ import annotations

import ctypes
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

ROUNDS = 15
WARM_SECONDS = 3.0
THREADS = (1, 2)
Shape = tuple[int, ...]


def few_shapes(rng: np.random.Generator) -> tuple[list[Shape], Shape]:
    """4,000 blocks of 64 shapes: powers of two."""
    return [tuple(rng.choice([2, 4, 8, 16], 3).tolist()) for _ in range(4000)], (2, 1, 0)


def many_shapes(rng: np.random.Generator) -> tuple[list[Shape], Shape]:
    """3,000 blocks of 2,790 shapes: sectors of a tensor."""
    return [tuple(rng.integers(1, 13, 4).tolist()) for _ in range(3000)], (2, 0, 3, 1)


def large_blocks(rng: np.random.Generator) -> tuple[list[Shape], Shape]:
    """200 blocks of 20 shapes, some of which are large."""
    shapes = [tuple(rng.integers(8, 65, 3).tolist()) for _ in range(20)]
    return [shapes[k % 20] for k in range(200)], (2, 0, 1)


def times(calls: dict[str, Callable[[], Any]]) -> dict[str, float]:
    """Seconds of the fastest round of each."""
    best = dict.fromkeys(calls, float("inf"))
    for turn in range(ROUNDS + 2):
        for name, call in calls.items():
            start = time.perf_counter()
            call()
            if turn > 1:
                best[name] = min(best[name], time.perf_counter() - start)
    return best


def native_copies() -> Callable[[int, int], int]:
    """A loop of memcpy over (target, source, bytes), whose address and number it takes."""
    from ttc_llvm.ir_builders import integer_code, module
    from ttc_llvm.ir_builders.words import call, load64
    from ttc_llvm.runtime import backend, linking

    memcpy = ctypes.cast(ctypes.CDLL(None).memcpy, ctypes.c_void_p).value or 0

    def copy_each(blocks: int, count: int, function: int) -> int:
        for place in range(blocks, blocks + 24 * count, 24):
            call(function, load64(place), load64(place + 8), load64(place + 16))
        return 0

    target = backend.host_target()
    made = module.new_module(target)
    integer_code.add_functions(made, [copy_each])
    loaded = linking.load(backend.compile_scalar(str(made), target), ("copy_each",))
    found = loaded.function("copy_each", ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * 3))
    return lambda blocks, count: found(blocks, count, memcpy)


def measure(ttc_llvm: Any, group: Callable[[np.random.Generator], tuple[list[Shape], Shape]]) -> None:
    """Print a line for each number of threads."""
    rng = np.random.default_rng(0)
    shapes, axes = group(rng)
    ttc_llvm.grouped(shapes, axes, "f8")  # kernels of all blocks are there
    list_a = [rng.random(shape) for shape in shapes]
    list_b = [np.empty([shape[k] for k in axes]) for shape in shapes]
    start = time.perf_counter()
    plan = ttc_llvm.grouped(shapes, axes, "f8")
    planning = time.perf_counter() - start
    other_a, other_b = ([x.copy() for x in arrays] for arrays in (list_a, list_b))  # pages of their own
    places = [np.array([x.ctypes.data for x in arrays]) for arrays in (list_a, list_b, other_a, other_b)]
    copies = np.array([(y.ctypes.data, x.ctypes.data, x.nbytes) for x, y in zip(list_a, list_b, strict=True)])
    copied, total = native_copies(), sum(x.nbytes for x in list_a)
    for threads in THREADS:
        ttc_llvm.set_num_threads(threads)

        def others(threads: int = threads) -> None:
            plan.run(*places[2:], threads=threads)
            plan.run(*places[:2], threads=threads)

        def numpy_loop(*lists: Any) -> None:
            for x, y in zip(*lists, strict=True):
                np.copyto(y, x.transpose(axes))

        def numpy_others() -> None:  # the same memory in turn
            numpy_loop(other_a, other_b)
            numpy_loop(list_a, list_b)

        def loop() -> None:
            for x, y in zip(list_a, list_b, strict=True):
                ttc_llvm.transpose(x, axes, out=y)

        end = time.monotonic() + WARM_SECONDS
        while time.monotonic() < end:  # layouts that move much get kernels of their own
            plan(list_a, list_b, threads=threads)
            loop()
        found = times({
            "grouped": lambda threads=threads: plan(list_a, list_b, threads=threads),
            "addresses": lambda threads=threads: plan.run(places[0], places[1], threads=threads),
            "new addresses": others,
            "numpy": lambda: numpy_loop(list_a, list_b),
            "numpy, new addresses": numpy_others,
            "transpose": loop,
            "memcpy": lambda: copied(copies.ctypes.data, len(copies)),
        })  # fmt: skip
        found |= {name: found[name] / 2 for name in ("new addresses", "numpy, new addresses")}
        plan.run(places[0], places[1])  # the last call copied
        for x, y in zip(list_a, list_b, strict=True):
            assert np.array_equal(x.transpose(axes), y)
        print(f"{group.__doc__} {total >> 20} MiB; {threads} threads; ns a block: {each(found, len(shapes))}")
        print(f"  {ratios(found)}; planning {planning / found['numpy']:.2f} x NumPy's loop")


def each(found: dict[str, float], blocks: int) -> str:
    """Nanoseconds of a block, by name."""
    return ", ".join(f"{name} {seconds / blocks * 1e9:.0f}" for name, seconds in found.items())


def ratios(found: dict[str, float]) -> str:
    """Calls beside NumPy's loop, a loop of ours and a copy of each block."""
    per_numpy, per_copy = ({name: found[other] / found[name] for name in found} for other in ("numpy", "memcpy"))
    return (
        f"{per_numpy['grouped']:.2f} x NumPy's loop, {per_numpy['addresses']:.2f} by addresses,"
        f" {found['numpy, new addresses'] / found['new addresses']:.2f} by new ones;"
        f" {found['transpose'] / found['addresses']:.2f} x a loop of ours;"
        f" {1 / per_copy['grouped']:.2f} x memcpy's time, {1 / per_copy['addresses']:.2f} by addresses"
    )


def main() -> None:
    """Measure all groups."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TTC_DATABASE"] = str(Path(folder) / "solutions.sqlite3")
        import ttc_llvm

        for group in (few_shapes, many_shapes, large_blocks):
            measure(ttc_llvm, group)


if __name__ == "__main__":
    main()
