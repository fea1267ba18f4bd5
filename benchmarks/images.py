"""Images, beside OpenCV: `python benchmarks/images.py [PATTERN ...]` needs `opencv-python-headless`.

Mirrored, turned, transposed, split and merged images of 8-, 16- and 32-bit channels at three sizes, by
`ttc_llvm.transpose(view, out=)` and by OpenCV into the same memory, one thread each, in turns. A pattern such as
`flip*` or `*/u8/vga` selects cases. The user's database is neither read nor written.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import Any

import cv2
import numpy as np

import ttc_llvm

Array = np.ndarray[Any, Any]
SIZES = {"vga": (480, 640), "hd": (1080, 1920), "4k": (2160, 3840)}
DTYPES = {"u8": np.uint8, "u16": np.uint16, "f32": np.float32}
ROUNDS = 16
SECONDS = 0.01  # of one contender's share of a round
WARM_UP = 80 << 20  # bytes: a layout then has a kernel of its own


@dataclass(frozen=True, slots=True)
class Operation:
    """What is done to an image. view: of the source, with the axes of the result; peer: OpenCV's call, from an array
    into another; planes: the source's planes lie apart; bar: the least speed beside OpenCV that we want."""

    view: Callable[[Array], Array]
    peer: Callable[[Array, Array], object]
    channels: tuple[int, ...] = (3,)
    planes: bool = False
    bar: float = 0.95


COPY_LIKE = 0.97
OPERATIONS = {
    "flip-h": Operation(lambda x: x[:, ::-1], lambda x, y: cv2.flip(x, 1, y)),
    "flip-v": Operation(lambda x: x[::-1], lambda x, y: cv2.flip(x, 0, y), bar=COPY_LIKE),
    "rot180": Operation(lambda x: x[::-1, ::-1], lambda x, y: cv2.rotate(x, cv2.ROTATE_180, y)),
    "rot90": Operation(partial(np.rot90, k=-1), lambda x, y: cv2.rotate(x, cv2.ROTATE_90_CLOCKWISE, y)),
    "rot270": Operation(partial(np.rot90, k=1), lambda x, y: cv2.rotate(x, cv2.ROTATE_90_COUNTERCLOCKWISE, y)),
    "transpose": Operation(lambda x: x.swapaxes(0, 1), lambda x, y: cv2.transpose(x, y)),
    "bgr": Operation(lambda x: x[..., ::-1], lambda x, y: cv2.cvtColor(x, cv2.COLOR_BGR2RGB, y)),
    "split": Operation(lambda x: x.transpose(2, 0, 1), lambda x, y: cv2.split(x, list(y)), (3, 4)),
    "merge": Operation(lambda x: x.transpose(1, 2, 0), lambda x, y: cv2.merge(list(x), y), (3, 4), planes=True),
    "channel": Operation(lambda x: x[..., 1], lambda x, y: cv2.extractChannel(x, 1, y), bar=COPY_LIKE),
}


@dataclass(frozen=True, slots=True)
class Case:
    """One operation on one image."""

    name: str
    operation: Operation
    shape: tuple[int, ...]
    dtype: type[np.generic]


def cases() -> Iterator[Case]:
    """Every operation, number of channels, type and size."""
    for name, operation in OPERATIONS.items():
        for channels in operation.channels:
            for letter, dtype in DTYPES.items():
                for size, place in SIZES.items():
                    shape = (channels, *place) if operation.planes else (*place, channels)
                    yield Case(f"{name}{channels}/{letter}/{size}", operation, shape, dtype)


def image(shape: tuple[int, ...], dtype: type[np.generic]) -> Array:
    """Random content."""
    made = np.random.default_rng(0).integers(0, 255, shape, np.uint8)
    return made.astype(dtype)


def seconds(call: Callable[[], object], repeats: int) -> float:
    """Of one call, out of so many, after one that pays for what others left in the caches."""
    call()
    start = time.perf_counter()
    for _ in range(repeats):
        call()
    return (time.perf_counter() - start) / repeats


def measured(case: Case) -> tuple[list[float], list[float], float]:
    """Per round: our speed over OpenCV's, and over our straight copy of as many bytes; and our seconds."""
    x = image(case.shape, case.dtype)
    view = case.operation.view(x)
    ours, theirs, (flat, copied) = np.zeros_like(view, order="C"), np.zeros_like(view, order="C"), flat_pair(view)
    axes = tuple(range(view.ndim))
    calls: list[Callable[[], object]] = [
        lambda: ttc_llvm.transpose(view, axes, out=ours, threads=1),
        lambda: case.operation.peer(x, ours),  # where a result lies modulo 4 KiB decides about a sixth of the time
        lambda: ttc_llvm.transpose(flat, (0,), out=copied, threads=1),
    ]
    for _ in range(max(3, WARM_UP // view.nbytes)):
        calls[0](), calls[2]()
    case.operation.peer(x, theirs)
    if not (np.array_equal(ours, view) and np.array_equal(theirs, view)):
        raise SystemExit(f"{case.name}: the results differ")
    repeats = [max(1, int(SECONDS / min(seconds(call, 2) for _ in range(3)))) for call in calls]
    pairs, turns = list(zip(calls, repeats, strict=True)), list[list[float]]()
    for step in (1, -1) * (ROUNDS // 2):  # who comes after the copy finds nothing in the last cache
        turns.append([seconds(call, count) for call, count in pairs[::step]][::step])
    own = statistics.median(turn[0] for turn in turns)
    return [turn[1] / turn[0] for turn in turns], [turn[2] / turn[0] for turn in turns], own


def flat_pair(view: Array) -> tuple[Array, Array]:
    """As many bytes as a view has, and room for them."""
    return np.ones(view.nbytes, np.uint8), np.zeros(view.nbytes, np.uint8)


def main(patterns: list[str]) -> None:
    """Print a line per case, and what is below its bar."""
    cv2.setNumThreads(1)
    speeds: dict[str, float] = {}
    below: list[str] = []
    for case in cases():
        if patterns and not any(fnmatchcase(case.name, pattern) for pattern in patterns):
            continue
        peer, copy, own = measured(case)
        speeds[case.name] = found = statistics.median(peer)
        low, *_, high = statistics.quantiles(peer, n=5)
        below += [case.name] if found < case.operation.bar else []
        print(f"{case.name:18} x OpenCV {found:5.2f} ({low:.2f} to {high:.2f}), x copy {statistics.median(copy):5.2f},"
              f" {own * 1e6:8.1f} us", flush=True)  # fmt: skip
    if speeds:
        print(f"{len(speeds)} cases: geometric mean {statistics.geometric_mean(speeds.values()):.2f}, least"
              f" {min(speeds.values()):.2f}; below their bars: {', '.join(below) or 'none'}")  # fmt: skip


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TTC_DATABASE"] = str(Path(folder) / "solutions.sqlite3")
        main(sys.argv[1:])
