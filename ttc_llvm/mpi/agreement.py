"""Agreement of all ranks before any of them sends a message: then all go on, or all raise the same error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from mpi4py import MPI

from ..errors import ArrayError, TtcError
from ..tuning.database.digests import sha256

T = TypeVar("T")
Facts = dict[str, str]  # by name


def agreed(comm: Any, checked: Callable[[], tuple[T, Facts]]) -> T:
    """The value of `checked`, called on every rank, where it returns equal facts with it on all. Collective.

    Where it raises on some rank, all raise what the first of them did; where a fact differs, all raise ArrayError.
    """
    return agreed_with(comm, checked, 0)[0]


def agreed_with(comm: Any, checked: Callable[[], tuple[T, Facts]], number: int) -> tuple[T, int]:
    """The same, and the most of the ranks' numbers."""
    if comm == MPI.COMM_NULL:
        raise ArrayError("the layouts' communicator was freed")
    error: TtcError | None = None
    facts: Facts = {}
    try:
        value, facts = checked()
    except TtcError as one:
        error = one
    digest = int.from_bytes(sha256(repr(facts).encode()).digest()[:7], "little")
    mine = np.array([error is not None, digest, -digest, number], np.int64)
    most = np.empty_like(mine)
    comm.Allreduce(mine, most, MPI.MAX)
    if most[0] or most[1] != -most[2]:
        raise _difference(comm.allgather((error, facts)))
    return value, int(most[3])


def _difference(given: list[tuple[TtcError | None, Facts]]) -> TtcError:
    for rank, (error, _) in enumerate(given):
        if error is not None:
            return type(error)(f"on rank {rank}: {error}")
    first = given[0][1]
    rank, name = next((k, name) for k, (_, other) in enumerate(given) for name in first if other[name] != first[name])
    return ArrayError(f"ranks disagree on {name}: rank 0 has {first[name]}, rank {rank} has {given[rank][1][name]}")
