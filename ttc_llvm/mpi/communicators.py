"""A communicator for the messages of plans alone, so that none of them meets a message of the caller's."""

from __future__ import annotations

from typing import Any

from mpi4py import MPI


def _free(_: Any, key: int, kept: Any) -> None:
    kept.Free()


_KEY = MPI.Comm.Create_keyval(delete_fn=_free, nopython=False)


def private(comm: Any) -> Any:
    """The duplicate of a communicator that all plans on it share, made by the first. Collective."""
    found = comm.Get_attr(_KEY)
    if found is None:
        found = comm.Dup()
        comm.Set_attr(_KEY, found)
    return found
