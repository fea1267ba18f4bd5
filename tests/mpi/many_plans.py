"""Plans made, called and dropped in one random order on all ranks, while some come early and some late: COUNT."""

from __future__ import annotations

import random
import sys
import time

import numpy as np
from mpi4py import MPI
from random_permutations import COMM, layout, part

from ttc_llvm import mpi

Held = tuple[mpi.PermutePlan, np.ndarray, np.ndarray]  # a plan, a part of A, and B's part as it should be


def made(rng: random.Random) -> Held:
    """A plan on the world's communicator or on a duplicate."""
    shape = tuple(rng.randint(1, 6) for _ in range(rng.randint(1, 3)))
    perm = rng.sample(range(len(shape)), len(shape))
    of, to = layout(rng, shape), layout(rng, tuple(shape[k] for k in perm))
    whole = np.arange(float(np.prod(shape))).reshape(shape) + rng.random()
    return mpi.permute_plan(of, perm, to), part(whole, of), part(whole.transpose(perm), to)


def main(count: int) -> None:
    """Of a call's checks each takes part in a reduction: none is skipped."""
    rng, late = random.Random(count), random.Random(COMM.rank)
    held: list[Held] = []
    for _ in range(count):
        if late.random() < 0.02:
            time.sleep(0.002)
        held.append(made(rng))
        for plan, mine, wanted in rng.sample(held, min(len(held), 2)):
            assert np.array_equal(plan(mine), wanted)
        if len(held) > 20:
            held.pop(rng.randrange(len(held)))
    COMM.Barrier()
    if COMM.rank == 0:
        print(f"called: {count}")
    assert not COMM.Iprobe(MPI.ANY_SOURCE, MPI.ANY_TAG)


if __name__ == "__main__":
    main(int(sys.argv[1]))
