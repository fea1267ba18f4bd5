"""One rank raises, while the others wait for it."""

from __future__ import annotations

from mpi4py import MPI

from ttc_llvm import mpi

comm = MPI.COMM_WORLD
layout = mpi.Layout(comm, (8, 8))
plan = mpi.permute_plan(layout, (1, 0), layout)
if comm.rank == comm.size - 1:
    raise SystemError("this rank dies")
plan(layout.empty())
