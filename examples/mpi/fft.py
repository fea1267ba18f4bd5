"""A three-dimensional FFT of a tensor that no rank has whole: mpiexec -n 4 python -m mpi4py fft.py 64 48 80

Each rank transforms lines that it has whole (pencils), of the last axis. Between the three transforms a plan makes the
next axis the last one, and the one that is whole on every rank. Prints how far the result is from NumPy's.
"""

from __future__ import annotations

import sys

import numpy as np
from mpi4py import MPI

from ttc_llvm import mpi

COMM = MPI.COMM_WORLD
TURN = (2, 0, 1)  # the last axis becomes the first one


def pencils(shape: tuple[int, ...]) -> mpi.Layout:
    """The first two axes over a grid of the ranks, the last one whole."""
    return mpi.Layout(COMM, shape, axes={0: 0, 1: 1})


def turned(shape: tuple[int, ...]) -> tuple[int, ...]:
    """A shape after TURN."""
    return tuple(shape[k] for k in TURN)


def plans(shape: tuple[int, ...]) -> list[mpi.PermutePlan]:
    """Three turns, after which the axes have their first order again."""
    found = []
    for _ in range(3):
        found.append(mpi.permute_plan(pencils(shape), TURN, pencils(turned(shape)), "c16"))
        shape = turned(shape)
    return found


def fft(part: np.ndarray, turns: list[mpi.PermutePlan]) -> np.ndarray:
    """The transform's part on this rank, distributed as the tensor is."""
    for turn in turns:
        part = turn(np.fft.fft(part))
    return part


def main(shape: tuple[int, ...]) -> None:
    """A random tensor, transformed by all ranks and by NumPy on the first."""
    whole = np.random.default_rng(0).standard_normal(shape).astype("c16") if COMM.rank == 0 else None
    layout, turns = pencils(shape), plans(shape)
    part = layout.scatter(whole)
    fft(part, turns)
    COMM.Barrier()
    start = MPI.Wtime()
    result = fft(part, turns)
    COMM.Barrier()
    seconds = MPI.Wtime() - start
    found = layout.gather(result)
    if whole is not None:
        error = abs(found - np.fft.fftn(whole)).max() / abs(found).max()
        print(f"{COMM.size} ranks, grid {layout.grid}: {seconds * 1e3:.1f} ms, largest error {error:.1e}")


if __name__ == "__main__":
    main(tuple(map(int, sys.argv[1:4])) or (64, 48, 80))
