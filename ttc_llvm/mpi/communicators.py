"""Communicators: what callers pass, and one for the messages of plans alone, so that none meets one of the caller's."""

from __future__ import annotations

from itertools import count
from typing import Any

from mpi4py import MPI

from ..arguments import shown
from ..errors import OptionError


def _free(_: Any, key: int, kept: Any) -> None:
    kept[0].Free()


TAGS = 32768  # that every MPI library has
_KEY = MPI.Comm.Create_keyval(delete_fn=_free, nopython=False)


def checked(comm: Any) -> Any:
    """A caller's communicator. Raises OptionError."""
    if not isinstance(comm, MPI.Intracomm) or comm == MPI.COMM_NULL:
        raise OptionError(f"comm {shown(comm)} is no communicator that this rank is in")
    return comm


def private(comm: Any) -> tuple[Any, int]:
    """The duplicate of a communicator that all plans on it share, made by the first, and a tag for one more plan.

    Collective. Tags differ, so that no plan receives what an interrupted call of another left behind.
    """
    found = comm.Get_attr(_KEY)
    if found is None:
        found = comm.Dup(), count()
        comm.Set_attr(_KEY, found)
    return found[0], next(found[1]) % TAGS
