"""Kernels of plans that no row of solutions tells of: kept in the solutions database for later processes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..tuning.database.opened import open_database
from ..tuning.database.records import Record, Request

if TYPE_CHECKING:
    from .kernel import Objects

UNPICKLED = "unpickled solution"  # a kind of rows
MOST = 1024  # rows of a kind in a file: with one more, the one that was written first goes


def request_for(kind: str, canonical: str, target: str, versions: str, threads: int = 1, options: str = "") -> Request:
    """The key of a set of such kernels. kind: of the rows; options: whatever else their plan depends on."""
    return Request(canonical, target, threads, "hot-ab", options, versions, kind)


def stored(request: Request) -> dict[str, bytes]:
    """Code that earlier processes have kept under this request, by name."""
    return dict(open_database(None).native(request, request.kind))


def keep(request: Request, objects: Objects) -> None:
    """Store code, by `kernel.name_of`, and notes beside what is kept."""
    record = Record(request, 1, request.kind, objects=(*{**stored(request), **objects}.items(),))
    open_database(None).keep_native(record, MOST)


class Kept(dict[str, bytes]):
    """Code by `kernel.name_of`, and notes about it, as earlier processes have kept them under a request."""

    def __init__(self, request: Request) -> None:
        super().__init__(stored(request))
        self._request, self._added = request, dict[str, bytes]()

    def put(self, name: str, made: bytes) -> None:
        """Add code or a note, for `save`."""
        self[name] = self._added[name] = made

    def save(self) -> None:
        """Store what was added."""
        added, self._added = self._added, {}
        if added:
            keep(self._request, added)
