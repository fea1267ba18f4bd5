"""The solutions database as the compiler uses it: it answers and remembers, and never stops a compilation.

What is asked of a file explicitly (list, show, export, import, clear) goes to `Database.file`, which is
strict.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

import platformdirs

from ttc_llvm import locks
from ttc_llvm.errors import DatabaseError
from ttc_llvm.tuning.code import Objects
from ttc_llvm.tuning.notices import warn_once
from ttc_llvm.tuning.records import EXHAUSTIVE, MODES, Answer, Record, Request, Timing, covers, merge
from ttc_llvm.tuning.signing import own_secret
from ttc_llvm.tuning.solution_file import SolutionFile

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
    """The default path of the solutions: $TTC_DATABASE (empty = unset), or the user's cache directory.

    Raises DatabaseError where neither is known.
    """
    given = environ.get(VARIABLE, "")
    return _expand(Path(given)) if given else user_path()


def user_path() -> Path:
    """The user's own database, wherever $TTC_DATABASE is; DatabaseError where there is no home directory."""
    folder = Path(platformdirs.user_cache_dir("ttc_llvm"))
    if not folder.is_absolute():
        raise DatabaseError(f"there is no home directory to keep solutions in: {VARIABLE} names another place")
    return folder / FILE_NAME


def choose_path(explicit: str | Path | None, environ: Mapping[str, str] = os.environ) -> Path:
    """The path given to a command or a call, else `default_path`; a leading ~ is the home directory."""
    return _expand(Path(explicit)) if explicit else default_path(environ)


class Database:
    """Solutions by request. path=None: in memory only; read=False: nothing is found, everything is stored.

    `find` and `store` never raise for a damaged, locked, read-only or unwritable file: it is reported once
    per process in one warning of the logger "ttc_llvm", tried again after RETRY_SECONDS, and solutions stay
    in memory meanwhile. Safe in several threads and processes, and after fork.

    Code of a file that others can write, or that is not the user's, is kept in the user's own database instead.
    """

    def __init__(self, path: Path | None, *, read: bool = True) -> None:
        self.file = None if path is None else SolutionFile(path)
        self._reads = read
        self._unwritten: dict[str, Record] = {}
        self._refused: set[tuple[str, str]] = set()
        self._retry_at: dict[tuple[SolutionFile, str], float] = {}

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
        stored = self._try(self.file, "read", lambda file: file.get(request))
        if stored is not None:
            record = stored if record is None else merge(stored, record)
        if record is not None and covers(record.effort, effort):
            return Answer(self._with_code(record), True)
        others = self._try(self.file, "read", lambda file: file.plans(request)) or ()
        own = () if record is None else (record.plan,)
        return Answer(record, False, tuple(dict.fromkeys((*own, *others))))

    def code(self, problem: str, target: str, plan: str, versions: str) -> Objects:
        """The code of this plan of a problem, whatever request it belongs to."""
        return self._try(self.file, "read", lambda file: file.code_of(problem, target, plan, versions)) or ()

    def refuse(self, record: Record) -> None:
        """The plan of a record that was found is of no use to this program: any other replaces it."""
        self._refused.add((record.request.id, record.plan))

    @property
    def keeps_code(self) -> bool:
        """True where the code of a known solution, once built, will be found by later processes."""
        return own_secret() is not None and self._code_file() is not None

    def keep(self, record: Record) -> None:
        """Remember code that was built for a known solution. No file is changed for it but one of the user's own."""
        file = self._code_file()
        if file is self.file:
            self.store(record)
        else:
            self._try(file, "write", lambda file: file.put_code([record]))

    def store(self, record: Record) -> None:
        """Remember a solution, unless a better one of its request is known (`merge` decides)."""
        with locks.DATABASE:
            old = self._unwritten.pop(record.request.id, None)
            if old is not None and (old.request.id, old.plan) in self._refused:
                old = None
            self._unwritten[record.request.id] = merge(old, record)
            self._flush()
            while len(self._unwritten) > MAX_UNWRITTEN:
                del self._unwritten[next(iter(self._unwritten))]

    def close(self) -> None:
        """Write what a busy file has refused so far. No file is held open: the database stays usable."""
        with locks.DATABASE:
            self._flush()

    def _flush(self) -> None:
        records = tuple(self._unwritten.values())
        if not records or self._try(self.file, "write", lambda file: file.put(records, self._refused)) is None:
            return
        self._unwritten.clear()
        if self.file is not None and not self.file.standing().keeps_code:
            self._try(self._code_file(), "write", lambda file: file.put_code(records))

    def _with_code(self, record: Record) -> Record:
        file = None if record.objects else self._code_file()
        if file is None or file is self.file:
            return record
        objects: Objects = self._try(file, "read", lambda file: file.code(record.request, record.plan)) or ()
        return replace(record, objects=objects)

    def _code_file(self) -> SolutionFile | None:
        """Where code goes that is built anew: this file, or the user's own; None where neither is fit."""
        if self.file is None or self._is_own(self.file):
            return self.file
        with suppress(DatabaseError):
            private = _file(user_path())
            return private if self._is_own(private) else None
        return None

    def _is_own(self, file: SolutionFile) -> bool:
        with suppress(DatabaseError):
            return file.standing().own
        return False

    def _try(self, file: SolutionFile | None, access: str, operation: Callable[[SolutionFile], T]) -> T | None:
        if file is None or time.monotonic() < self._retry_at.get((file, access), 0.0):
            return None
        try:
            return operation(file)
        except DatabaseError as error:
            self._retry_at[file, access] = time.monotonic() + RETRY_SECONDS
            warn_once(file.path, "file", f"{error}; new solutions last as long as this process")
            return None


@lru_cache(maxsize=8)
def _file(path: Path) -> SolutionFile:
    return SolutionFile(path)


def _expand(path: Path) -> Path:
    try:
        return path.expanduser()
    except RuntimeError:  # no home directory: a file of that very name is the best guess
        return path
