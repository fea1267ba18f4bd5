"""The speeds of this machine for products and copies, kept in the solutions database, and measured where it lacks them.
"""

from __future__ import annotations

from contextlib import suppress

from .. import locks
from ..errors import PlanError
from ..runtime import backend
from ..runtime.once import once
from ..tuning.database.opened import open_database
from ..tuning.database.records import RETIMED, Record, Request
from . import blas
from .rates import Rates, from_text, to_text

KIND = "speeds"  # of rows in the database, whose objects are named by how often the machine was busy
REVISION = "speeds22"  # raised when what is measured, or its text, changes
_settled: set[Request] = set()  # what this process has found to be so


@once
def measured(dtype: str, threads: int) -> Rates:
    """The rates of a data type with so many threads of ours: from the solutions database, or measured, in two seconds,
    and stored. What was measured while the machine was busy is measured again by later processes, twice at most."""
    request = _request(dtype, threads)
    busy, known = _stored(request)
    if known is not None and not 0 < busy <= RETIMED:
        _settled.add(request)
        return known
    locks.imported("..runtime.meanwhile", __package__).settle()
    made, is_steady = locks.imported(".measuring", __package__).measured(dtype)
    name = str(0 if is_steady else busy + 1)
    record = Record(request, 1, request.versions, objects=((name, to_text(made).encode()),))
    open_database(None).keep_native(record)
    return made  # type: ignore[no-any-return]


def is_settled(dtype: str, threads: int) -> bool:
    """True where the speeds are stored, and no later process measures them again."""
    request = _request(dtype, threads)
    if request in _settled:
        return True
    busy, known = _stored(request)
    return known is not None and not 0 < busy <= RETIMED


def _request(dtype: str, threads: int) -> Request:
    how = f"{REVISION} {blas.settings()}"
    return Request(f"speeds of products of {dtype}", backend.host_target().key, threads, "hot-ab", "", how, KIND)


def _stored(request: Request) -> tuple[int, Rates | None]:
    """How often the machine was busy when the stored rates were measured, and the rates, if there are some."""
    for name, text in open_database(None).native(request, request.versions):
        with suppress(PlanError, ValueError):
            return int(name), from_text(text.decode())
    return 0, None
