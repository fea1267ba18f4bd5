"""The solutions database as the compiler uses it: it answers and remembers, and never stops a compilation.

What is asked of a file explicitly (list, show, export, import, clear) goes to `Database.file`, which is
strict.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

import platformdirs

from ttc_llvm.errors import DatabaseError
from ttc_llvm.tuning.records import EXHAUSTIVE, MODES, Answer, Record, Request, Timing, covers, merge
from ttc_llvm.tuning.solution_file import GUARD, SolutionFile, warn_once

__all__ = [
    "EXHAUSTIVE",
    "MODES",
    "Answer",
    "Database",
    "Record",
    "Request",
    "SolutionFile",
    "Timing",
    "choose_path",
    "covers",
    "default_path",
    "merge",
]

T = TypeVar("T")

VARIABLE = "TTC_DATABASE"
FILE_NAME = "solutions.sqlite3"
MAX_UNWRITTEN = 256  # records kept in memory where there is no usable file
RETRY_SECONDS = 30.0  # how long a file that failed is left alone


def default_path(environ: Mapping[str, str] = os.environ) -> Path:
    """Where solutions are kept unless told: $TTC_DATABASE (empty = unset), or the user's cache directory."""
    given = environ.get(VARIABLE, "")
    return _expand(Path(given)) if given else Path(platformdirs.user_cache_dir("ttc_llvm")) / FILE_NAME


def choose_path(explicit: str | Path | None, environ: Mapping[str, str] = os.environ) -> Path:
    """The path given to a command or a call, else `default_path`; a leading ~ is the home directory."""
    return _expand(Path(explicit)) if explicit else default_path(environ)


class Database:
    """Solutions by request. path=None: in memory only; read=False: nothing is found, everything is stored.

    `find` and `store` never raise for a damaged, locked, read-only or unwritable file: it is reported once
    per process in one warning of the logger "ttc_llvm", tried again after RETRY_SECONDS, and solutions stay
    in memory meanwhile. Safe in several threads and processes, and after fork.
    """

    def __init__(self, path: Path | None, *, read: bool = True) -> None:
        self.file = None if path is None else SolutionFile(path)
        self._reads = read
        self._unwritten: dict[str, Record] = {}
        self._retry_at = {"read": 0.0, "write": 0.0}

    @property
    def path(self) -> Path | None:
        """The absolute path of the file, None for a database in memory."""
        return None if self.file is None else self.file.path

    def find(self, request: Request, effort: int) -> Answer:
        """The stored solution of this request, and whether it spares a search of this effort.

        effort: candidates to consider, -1 = all. Where it does not, hints are plans of the same problem and
        target under any threads, mode, options and versions.
        """
        if not self._reads:
            return Answer()
        record = self._unwritten.get(request.id)
        stored = self._try("read", lambda file: file.get(request))
        if stored is not None:
            record = stored if record is None else merge(stored, record)
        if record is not None and covers(record.effort, effort):
            return Answer(record, True)
        others = self._try("read", lambda file: file.plans(request)) or ()
        own = () if record is None else (record.plan,)
        return Answer(record, False, tuple(dict.fromkeys((*own, *others))))

    def store(self, record: Record) -> None:
        """Remember a solution, unless a better one of its request is known (`merge` decides)."""
        with GUARD:
            old = self._unwritten.pop(record.request.id, None)
            self._unwritten[record.request.id] = merge(old, record)
            self._flush()
            while len(self._unwritten) > MAX_UNWRITTEN:
                del self._unwritten[next(iter(self._unwritten))]

    def close(self) -> None:
        """Write what a busy file has refused so far. No file is held open: the database stays usable."""
        with GUARD:
            self._flush()

    def _flush(self) -> None:
        records = tuple(self._unwritten.values())
        if records and self._try("write", lambda file: file.put(records)) is not None:
            self._unwritten.clear()

    def _try(self, access: str, operation: Callable[[SolutionFile], T]) -> T | None:
        if self.file is None or time.monotonic() < self._retry_at[access]:
            return None
        try:
            return operation(self.file)
        except DatabaseError as error:
            self._retry_at[access] = time.monotonic() + RETRY_SECONDS
            warn_once(self.file.path, "file", f"{error}; new solutions last as long as this process")
            return None


def _expand(path: Path) -> Path:
    try:
        return path.expanduser()
    except RuntimeError:  # no home directory: a file of that very name is the best guess
        return path
