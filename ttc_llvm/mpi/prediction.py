"""Predicted times of permutations: of messages, the network's latency and bandwidth, and the rate of copies here."""

from __future__ import annotations

import time
from functools import cache
from math import prod
from typing import Any

import numpy as np

from ..arguments import between, optional, real, shown
from ..arrays.public import transpose
from ..errors import OptionError
from ..lazy_dataclasses import dataclass
from .distribution import WHOLE, Distribution, balanced
from .messages import Perm, size, traffic
from .splits import Axis, Block, Sizes

SAMPLE = 16 << 20  # bytes of the copy that is timed
ASKED = 8  # ranks whose messages are looked at, where there are more


@dataclass(frozen=True, slots=True)
class Prediction:
    """Of a call, for the rank that takes longest. seconds = latency + transfer + copies; messages, bytes: that it sends
    or receives, the more of the two. What is left out: that ranks share links and memory, that they wait for each
    other, and that copies run while messages are on their way."""

    ranks: int
    latency: float
    transfer: float
    copies: float
    messages: int
    bytes: int

    @property
    def seconds(self) -> float:
        """The sum of the three times."""
        return self.latency + self.transfer + self.copies


def predicted(
    a: Distribution, perm: Perm, b: Distribution, itemsize: int, ranks: Any, latency: Any, bandwidth: Any
) -> Prediction:
    """The slowest rank's time for B = A.transpose(perm). latency: seconds a message; bandwidth: bytes a second of one
    rank. Raises OptionError."""
    count = optional(between(1))("ranks", ranks, OptionError) or a.ranks
    delay, rate = real("latency", latency), real("bandwidth", bandwidth)
    if not delay >= 0 or not rate > 0:
        raise OptionError(f"latency {shown(latency)} must not be negative, and bandwidth {shown(bandwidth)} above 0")
    of, to = (_on(given, count) if count != a.ranks else given for given in (a, b))
    step = max(1, (count - 1) // (ASKED - 1))
    return max((_of_rank(of, perm, to, rank, itemsize, delay, rate) for rank in {*range(0, count, step), count - 1}),
               key=lambda one: one.seconds)  # fmt: skip


def _of_rank(
    a: Distribution, perm: Perm, b: Distribution, rank: int, itemsize: int, latency: float, bandwidth: float
) -> Prediction:
    own = traffic(a, perm, b, rank, max(1, prod(a.shape)))
    sent, received = (sum(one.size for one in messages) * itemsize for messages in (own.sends, own.receives))
    kept = sum(map(size, own.kept)) * itemsize
    messages = max(len(own.sends), len(own.receives))
    moved = max(sent, received)
    return Prediction(
        a.ranks, messages * latency, moved / bandwidth, (sent + received + kept) / copy_rate(), messages, moved
    )


def _on(given: Distribution, ranks: int) -> Distribution:
    """The same on another number of ranks: a grid as balanced as that number allows, sizes of one's own as blocks."""
    split = [k for k in given.dimensions if k != WHOLE]
    grid = [1] * len(given.grid)
    for k, extent in zip(split or [0], balanced(ranks, max(1, len(split))), strict=True):
        grid[k] = extent
    axes = tuple(
        Axis(axis.extent, 1 if k == WHOLE else grid[k], Block() if isinstance(axis.split, Sizes) else axis.split)
        for axis, k in zip(given.axes, given.dimensions, strict=True)
    )
    return Distribution(tuple(grid), given.dimensions, axes)


@cache
def copy_rate() -> float:
    """Bytes a second of a transposed copy on one thread here, measured once."""
    side = int((SAMPLE // 8) ** 0.5)
    x, y = np.zeros((side, side)), np.zeros((side, side))
    times = []
    for _ in range(4):
        start = time.perf_counter()
        transpose(x, (1, 0), out=y, threads=1)
        times.append(time.perf_counter() - start)
    return x.nbytes / min(times)
