"""Kernels of plans that no row of solutions tells of: kept in the solutions database for later processes."""

from __future__ import annotations

from ..tuning.database.opened import open_database
from ..tuning.database.records import Record, Request
from .kernel import Objects

MOST = 1024  # rows of a kind in a file: with one more, the one that was written first goes


def request_for(kind: str, canonical: str, target: str, versions: str, threads: int = 1, options: str = "") -> Request:
    """The key of a set of such kernels. kind: of the rows; options: whatever else their plan depends on."""
    return Request(canonical, target, threads, "hot-ab", options, versions, kind)


def stored(request: Request) -> dict[str, bytes]:
    """Code that earlier processes have kept under this request, by name."""
    return dict(open_database(None).native(request, request.kind))


def keep(request: Request, notes: Objects, name: str, made: bytes) -> None:
    """Store code, by `kernel.name_of`, beside what is kept. notes: stored with it."""
    known = stored(request)
    if known.get(name) != made:
        objects = {**known, **notes, name: made}
        open_database(None).keep_native(Record(request, 1, request.kind, objects=(*objects.items(),)), MOST)
