"""`mpi.Transfer` with mpi4py-fft, where it is asked for (the word "fft"), and without: ends with "right" on rank 0.

With it, transforms and redistributions are those of mpi4py-fft alone, bit for bit, forth and back.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from mpi4py import MPI
from random_permutations import part

from ttc_llvm import TtcError, mpi

COMM = MPI.COMM_WORLD
SHAPES = ((8, 9, 10), (7, 5, 11, 8), (9, 13))


def by_itself(seed: int) -> None:
    """Between pencils along two random axes, in both directions."""
    rng = random.Random(seed)
    shape = rng.choice(SHAPES)
    of, to = rng.sample(range(len(shape)), 2)
    dtype = np.dtype(rng.choice(("f4", "f8", "c8", "c16")))
    a, b = (mpi.Layout(COMM, shape, axes={axis: 0}) for axis in (to, of))
    whole = np.random.default_rng(seed).standard_normal(shape).astype(dtype)
    transfer = mpi.Transfer(COMM, shape, dtype, a.local_shape, of, b.local_shape, to - len(shape))
    moved = b.empty(dtype)
    transfer.forward(part(whole, a), moved)
    assert np.array_equal(moved, part(whole, b))
    back = np.asfortranarray(a.empty(dtype))
    transfer.backward(moved, back)
    assert np.array_equal(back, part(whole, a))
    transfer.destroy()


def refused() -> None:
    """A shape that is wrong on one rank."""
    shape = (8 * COMM.size, 6 * COMM.size)
    mine = (8, 6 * COMM.size + (COMM.rank == COMM.size - 1))
    try:
        mpi.Transfer(COMM, shape, "f8", mine, 1, (8 * COMM.size, 6), 0)
    except TtcError as error:
        assert str(error).startswith(f"on rank {COMM.size - 1}: the pencil of {shape} has shape (8, "), error
    else:
        raise AssertionError("not refused")


# --- with mpi4py-fft -------------------------------------------------------------------------------------


@contextmanager
def ours(pencil: Any) -> Iterator[list[Any]]:
    """Its transfers are ours, and noted."""
    made: list[Any] = []

    class Noted(mpi.Transfer):
        def __init__(self, *given: Any) -> None:
            super().__init__(*given)
            made.append(self)

    theirs = pencil.Transfer
    pencil.Transfer = Noted
    yield made
    pencil.Transfer = theirs


def transformed(fft: Any, shape: tuple[int, ...], dtype: str, seed: int) -> tuple[Any, Any]:
    """The spectrum's part, and the part of what it is transformed back into."""
    plan = fft.PFFT(COMM, shape, dtype=np.dtype(dtype))
    x = fft.newDistArray(plan, False)
    x[...] = np.random.default_rng(seed + COMM.rank).standard_normal(x.shape)
    spectrum = plan.forward(x).copy()
    back = plan.backward(spectrum).copy()
    plan.destroy()
    assert np.allclose(back, x, atol=1e-4)
    return np.array(spectrum), np.array(back)


def redistributed(fft: Any, shape: tuple[int, ...], seed: int) -> Any:
    """An array of vectors, aligned with another axis."""
    x = fft.DistArray(shape, rank=1, alignment=0)
    x[...] = np.random.default_rng(seed + COMM.rank).standard_normal(x.shape)
    return np.array(x.redistribute(1))


def with_mpi4py_fft() -> None:
    """What it computes with its own transfers and with ours."""
    import mpi4py_fft as fft
    from mpi4py_fft import pencil

    def all_of_it() -> list[Any]:
        found = [one for k, shape in enumerate(SHAPES) for one in transformed(fft, shape, "fdD"[k], k)]
        return [*found, redistributed(fft, (3, 8, 9, 10), 5)]

    wanted = all_of_it()
    with ours(pencil) as made:
        found = all_of_it()
    assert made
    assert all(x.dtype == y.dtype and np.array_equal(x, y) for x, y in zip(found, wanted, strict=True))


if __name__ == "__main__":
    if "fft" in sys.argv:
        with_mpi4py_fft()
    else:
        refused()
        for number in range(12):
            by_itself(number)
    COMM.Barrier()
    if COMM.rank == 0:
        print("right")
