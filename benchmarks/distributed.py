"""Distributed permutations beside what others do: mpiexec -n 4 python -m mpi4py benchmarks/distributed.py 320 256 256

Axis 0 of A and of B is split over all ranks, and all axes are reversed. Rounds run every contender once, in turn.
Printed are medians of the rounds' times, in units of one `np.copyto` of the whole tensor by one process and thread in
the same round, with the spread (the middle half of the rounds). Short calls are repeated in every round.

plan: `ttc_llvm.mpi`. packed: messages packed and unpacked by NumPy, Alltoallv. alltoallw: MPI's datatypes move axes as
they are, as mpi4py-fft's redistributions do, then NumPy's copy. alltoallw, ttc: the same with our copy. The last line
has what the plan predicts, with the latency and the bandwidth between the first two ranks.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from mpi4py import MPI

import ttc_llvm
from ttc_llvm import mpi

COMM = MPI.COMM_WORLD
ROUNDS = 15
LONG = 4 << 20  # bytes
SHORT = 0.01  # seconds: calls are repeated until they take as long, else the barriers and the system's clock decide
WARM = 11  # calls before the first round: after as many a plan has chosen its way
Array = np.ndarray[Any, Any]


class Slabs:
    """A's part and B's part on this rank, of a tensor whose element's value is its number."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.perm = tuple(reversed(range(len(shape))))
        self.a_layout = mpi.Layout(COMM, shape)
        self.b_layout = mpi.Layout(COMM, shape[::-1])
        self.a, self.b = self.a_layout.empty(), self.b_layout.empty()
        steps = np.cumprod((1, *shape[:0:-1]))[::-1]
        self.a[...] = numbers(self.a_layout, steps)
        self.wanted = numbers(self.b_layout, steps[::-1])
        self.rows = self.a_layout.distribution.axes[0].bounds()  # of A's axis 0, B's last
        self.columns = self.b_layout.distribution.axes[0].bounds()  # of A's last axis, B's axis 0


def numbers(layout: mpi.Layout, steps: Array) -> Array:
    """The numbers of this rank's elements. steps: from index to index of each axis."""
    every = (step * layout.indices(k) for k, step in enumerate(steps))
    found: Array = sum(np.ix_(*every), start=np.zeros(1))
    return found


def contenders(slabs: Slabs, plan: mpi.PermutePlan) -> dict[str, Callable[[], Any]]:
    """A call of each fills B's part."""
    moved = np.empty((*slabs.a_layout.shape[:-1], slabs.b.shape[0]))  # A's axes, split as B is
    return {
        "plan": lambda: plan(slabs.a, slabs.b),
        "packed": packed(slabs),
        "alltoallw": redistributed(slabs, moved, lambda: np.copyto(slabs.b, moved.T)),
        "alltoallw, ttc": redistributed(slabs, moved, lambda: ttc_llvm.transpose(moved, out=slabs.b)),
    }


def pairs(bounds: Array) -> list[tuple[int, int]]:
    """Begin and end of every rank's part."""
    return [(int(begin), int(end)) for begin, end in pairwise(bounds)]


def packed(slabs: Slabs) -> Callable[[], None]:
    """NumPy's copies into one message a rank, and out of it."""
    of = [slabs.a[..., begin:end] for begin, end in pairs(slabs.columns)]
    to = [slabs.b[..., begin:end] for begin, end in pairs(slabs.rows)]
    sent, received = ([np.empty(view.shape) for view in views] for views in (of, to))

    def call() -> None:
        requests = [COMM.Irecv(buffer, peer) for peer, buffer in enumerate(received)]
        for peer, (view, buffer) in enumerate(zip(of, sent, strict=True)):
            np.copyto(buffer, view)
            requests.append(COMM.Isend(buffer, peer))
        MPI.Request.Waitall(requests)
        for view, buffer in zip(to, received, strict=True):
            np.copyto(view, buffer.reshape(view.shape[::-1]).T)

    return call


def redistributed(slabs: Slabs, moved: Array, copy: Callable[[], Any]) -> Callable[[], None]:
    """Alltoallw with subarrays, then a local copy."""

    def subarray(x: Array, axis: int, begin: int, end: int) -> Any:
        extents, start = list(x.shape), [0] * x.ndim
        extents[axis], start[axis] = end - begin, begin
        return MPI.DOUBLE.Create_subarray(list(x.shape), extents, start).Commit()

    of = [subarray(slabs.a, slabs.a.ndim - 1, *part) for part in pairs(slabs.columns)]
    to = [subarray(moved, 0, *part) for part in pairs(slabs.rows)]
    counts = [1] * COMM.size, [0] * COMM.size

    def call() -> None:
        COMM.Alltoallw([slabs.a, counts, of], [moved, counts, to])
        copy()

    return call


def network() -> tuple[float, float]:
    """Seconds of a message of one byte between the first two ranks, and bytes a second of one of 4 MiB."""

    def one_way(size: int) -> float:
        buffer, times = np.zeros(size, np.uint8), []
        for _ in range(ROUNDS):
            start = time.perf_counter()
            if COMM.rank == 0:
                COMM.Send(buffer, 1)
                COMM.Recv(buffer, 1)
            elif COMM.rank == 1:
                COMM.Recv(buffer, 0)
                COMM.Send(buffer, 0)
            times.append((time.perf_counter() - start) / 2)
        COMM.Barrier()
        return min(times)

    latency, long = one_way(1), one_way(LONG)
    return latency, LONG / max(long - latency, 1e-9)


def unit(shape: tuple[int, ...]) -> Callable[[], float]:
    """Seconds of a copy of the whole tensor on rank 0, while the others wait without work."""
    x, y = (np.ones(shape), np.zeros(shape)) if COMM.rank == 0 else (np.ones(1), np.zeros(1))

    def call() -> float:
        start = time.perf_counter()
        np.copyto(y, x)
        return time.perf_counter() - start

    return call


def seconds(call: Callable[[], Any], repeats: int) -> float:
    """Of one of so many calls, from barrier to barrier."""
    COMM.Barrier()
    start = time.perf_counter()
    for _ in range(repeats):
        call()
    COMM.Barrier()
    return (time.perf_counter() - start) / repeats


def main(shape: tuple[int, ...]) -> None:
    """One table."""
    ttc_llvm.set_num_threads(1)
    slabs, copy = Slabs(shape), unit(shape)
    plan = mpi.permute_plan(slabs.a_layout, slabs.perm, slabs.b_layout)
    calls = contenders(slabs, plan)
    for name, call in calls.items():
        slabs.b[...] = -1
        for _ in range(WARM):
            call()
        assert np.array_equal(slabs.b, slabs.wanted), name
    times: dict[str, list[float]] = {name: [] for name in calls}
    latency, bandwidth = network() if COMM.size > 1 else (0.0, 1.0)
    repeats = COMM.bcast(math.ceil(SHORT / seconds(calls["plan"], 1)))
    units = []
    for _ in range(ROUNDS):
        COMM.Barrier()
        one = COMM.bcast(min(copy() for _ in range(repeats)))
        units.append(one)
        for name, call in calls.items():
            times[name].append(seconds(call, repeats) / one)
    if COMM.rank == 0:
        print(f"{COMM.size} ranks, {' x '.join(map(str, shape))} of f8, {MPI.Get_library_version().splitlines()[0]}")
        for name, ratios in times.items():
            low, middle, high = np.quantile(ratios, (0.25, 0.5, 0.75))
            print(f"{name:16s} {middle:6.2f}  ({low:.2f} to {high:.2f})")
        predicted = plan.predict(latency=latency, bandwidth=bandwidth).seconds / float(np.median(units))
        print(f"{'predicted':16s} {predicted:6.2f}  ({latency * 1e6:.1f} us, {bandwidth / 1e9:.1f} GB/s)")


if __name__ == "__main__":
    main(tuple(map(int, sys.argv[1:])) or (320, 256, 256))
