"""Communicators: what callers pass, and one for the messages of plans alone, so that none meets one of the caller's."""

from __future__ import annotations

from typing import Any

from mpi4py import MPI

from ..arguments import shown
from ..errors import OptionError


def _free(_: Any, key: int, kept: Any) -> None:
    kept.Free()


_KEY = MPI.Comm.Create_keyval(delete_fn=_free, nopython=False)


def checked(comm: Any) -> Any:
    """A caller's communicator. Raises OptionError."""
    if not isinstance(comm, MPI.Intracomm) or comm == MPI.COMM_NULL:
        raise OptionError(f"comm {shown(comm)} is no communicator that this rank is in")
    return comm


def private(comm: Any) -> Any:
    """The duplicate of a communicator that all plans on it share, made by the first. Collective."""
    found = comm.Get_attr(_KEY)
    if found is None:
        found = comm.Dup()
        comm.Set_attr(_KEY, found)
    return found
