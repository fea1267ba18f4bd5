"""The solutions database as the compiler uses it: it answers and remembers, and never stops a compilation.

What is asked of a file explicitly (list, show, export, import, clear) goes to `Database.file`, which is
strict.
"""

from __future__ import annotations

import atexit
import os
import time
import weakref
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from typing import TypeVar

from ttc_llvm import locks
from ttc_llvm.errors import DatabaseError
from ttc_llvm.logs import Log
from ttc_llvm.tuning.database import schema, trust
from ttc_llvm.tuning.database.folders import user_path
from ttc_llvm.tuning.database.late_writer import LateWriter
from ttc_llvm.tuning.database.notices import warn_once
from ttc_llvm.tuning.database.packing import Objects, fits
from ttc_llvm.tuning.database.records import Answer, Record, Request, covers, merge
from ttc_llvm.tuning.database.signing import own_secret
from ttc_llvm.tuning.database.solution_file import IsPlan, SolutionFile

_log = Log(__name__)
T = TypeVar("T")

MAX_UNWRITTEN = 256  # records kept in memory where there is no usable file
RETRY_SECONDS = 30.0  # how long a file that failed is left alone


class Database:
    """Solutions by request. path=None: in memory only; read=False: nothing is found, everything is stored.

    `find` and `store` never raise for a damaged, locked, read-only or unwritable file: it is reported once
    per process in one warning of the logger "ttc_llvm", tried again after RETRY_SECONDS, and solutions stay
    in memory meanwhile, and are offered once more when the process ends. Safe in several threads and processes, and
    after fork. What no search has timed is written soon, by a thread: its caller waits for no disk.

    Where others can write the file, nothing is written into it: what is new goes to the user's own database. So does
    code that is built for solutions of a file that is not the user's. Both are read, the user's own first.
    """

    def __init__(self, path: str | os.PathLike[str] | None, *, read: bool = True) -> None:
        self.file = None if path is None else SolutionFile(path)
        self._reads = read
        self._unwritten: dict[str, Record] = {}
        self._refused: set[tuple[str, str]] = set()
        self._retry_at: dict[tuple[SolutionFile, str], float] = {}
        self._code: dict[tuple[str, str], tuple[Record, int | None]] = {}  # of no solution, to be written soon
        self._writer = LateWriter(self._flush)
        _open.add(self)

    @property
    def path(self) -> str | None:
        """The absolute path of the file, None for a database in memory."""
        return None if self.file is None else self.file.path

    def find(self, request: Request, effort: int) -> Answer:
        """The stored solution of this request, and whether it spares a search of this effort.

        effort: candidates to consider, -1 = all. Where it does not, hints are plans of the same problem and
        target under any threads, mode, options and versions.
        """
        answer = self._asked(request, effort, hints=True)
        if not answer.sufficient and self._reads:
            known = "unknown" if answer.record is None else f"of effort {answer.record.effort}"
            count = len(answer.hints)
            _log.debug("solution %s is %s, %s is asked for: %d plans to try", request.id, known, effort, count)
        return answer

    def known(self, request: Request, effort: int) -> Answer:
        """The same without hints."""
        return self._asked(request, effort, hints=False)

    def _asked(self, request: Request, effort: int, hints: bool) -> Answer:
        if not self._reads:
            return Answer()
        record, plans, wanted = self._unwritten.get(request.id), list[str](), effort if hints else None
        for one in self._files():
            found = self._try(one, "read", lambda file, known=record: file.look_up(request, known, wanted))  # type: ignore[misc]
            record, others = found or (record, ())
            if record is not None and covers(record.effort, effort) and not record.provisional:
                break
            plans += others
        if record is not None and covers(record.effort, effort):
            _log.debug("solution %s has effort %d, which suffices", request.id, record.effort)
            return Answer(record, True)
        return Answer(record, False, tuple(dict.fromkeys([record.plan, *plans] if record else plans)) if hints else ())

    def code(self, problem: str, target: str, is_plan: IsPlan, versions: str) -> Objects:
        """The code of a plan of a problem, whatever request it belongs to."""
        asked = (problem, target, is_plan, versions)
        found = (self._try(one, "read", lambda file: file.code_of(*asked)) for one in self._files())
        return next(filter(None, found), ())

    def native(self, request: Request, plan: str) -> Objects:
        """Code that belongs to no solution: what `keep_native` has stored under this request and plan."""
        waiting = self._code.get((request.id, plan))
        if waiting is not None and self._reads:
            return waiting[0].objects
        found = (self._try(one, "read", lambda file: file.native(request, plan)) for one in self._files())
        return next(filter(None, found), ()) if self._reads else ()

    def keep_native(self, record: Record, most: int | None = None) -> None:
        """Remember such code in a file of the user's own, soon, as `store` does. most: rows of this plan, of which the
        oldest give way."""
        if self.keeps_code and fits(record.objects):
            with locks.DATABASE:
                self._code[record.request.id, record.plan] = record, most
                self._writer.ask()

    def refuse(self, record: Record) -> None:
        """The plan of a record that was found is of no use to this program: any other replaces it."""
        self._refused.add((record.request.id, record.plan))

    @property
    def has_unwritten(self) -> bool:
        """True where solutions that were timed are kept in memory alone, which are no hints of an answer."""
        return any(record.seconds is not None for record in self._unwritten.values())

    @property
    def keeps_code(self) -> bool:
        """True where the code of a known solution, once built, will be found by later processes."""
        return own_secret() is not None and self._own() is not None

    def keep(self, record: Record) -> None:
        """Remember code that was built for a known solution. No file is changed for it but one of the user's own."""
        own = self._own()
        if not fits(record.objects):
            return
        if own is self.file:
            self.store(record)
        else:
            self._try(own, "write", lambda file: file.put([record]))

    def store(self, record: Record, soon: bool = False) -> None:
        """Remember a solution, unless a better one of its request is known (`merge` decides). soon: it is written by a
        thread, or as the process ends, together with others: nobody waits for a disk."""
        with locks.DATABASE:
            old = self._unwritten.pop(record.request.id, None)
            if old is not None and (old.request.id, old.plan) in self._refused:
                old = None
            self._unwritten[record.request.id] = merge(old, record)
            (self._writer.ask if soon else self._flush)()
            waits = record.request.id in self._unwritten
            while len(self._unwritten) > MAX_UNWRITTEN:
                del self._unwritten[next(iter(self._unwritten))]
        _log.debug("solution %s is %s", record.request.id, "kept in memory" if waits else "stored")

    def close(self) -> None:
        """Write what a busy file has refused so far. No file is held open: the database stays usable."""
        with locks.DATABASE:
            self._retry_at.clear()
            self._flush()

    def _flush(self) -> None:
        if self._unwritten:
            self._try(self._home(), "write", self._write)
        if self._code:
            waiting, self._code = [*self._code.values()], {}
            self._try(self._own(), "write", lambda file: file.put_native(waiting))

    def _write(self, file: SolutionFile) -> None:
        """Store what waits: all at once, or each that can be, where that fails for more than want of a lock."""
        try:
            file.put(self._unwritten.values(), self._refused)
            self._unwritten.clear()
        except DatabaseError as error:
            if not schema.is_contention(error.__cause__):
                for record in (*self._unwritten.values(),):
                    self._write_one(file, record)
            if self._unwritten:
                raise

    def _write_one(self, file: SolutionFile, record: Record) -> None:
        """Store a record, or give it up where the record itself is what fails."""
        try:
            file.put([record], self._refused)
        except DatabaseError as error:
            if not schema.is_refusal(error.__cause__):
                return
            warn_once(file.path, record.request.id, f"solution {record.request.id} is not stored: {error}")
        del self._unwritten[record.request.id]

    def _files(self) -> tuple[SolutionFile, ...]:
        """Where solutions are looked for."""
        return tuple(dict.fromkeys(filter(None, (self._own(), self.file))))

    def _home(self) -> SolutionFile | None:
        """Where new solutions go: this file, or where others can write it, the user's own."""
        if self.file is None or self._standing(self.file).safe:
            return self.file
        warn_once(self.file.path, "shared", trust.shared(self.file.path))
        return self._own()

    def _own(self) -> SolutionFile | None:
        """A file of the user's own: this one, or the one in his cache; None where neither is fit."""
        if self.file is None or self._standing(self.file).own:
            return self.file
        with suppress(DatabaseError):
            private = _file(user_path())
            return private if self._standing(private).own else None
        return None

    def _standing(self, file: SolutionFile) -> trust.Standing:
        try:
            return file.standing()
        except DatabaseError:  # no path of a file: whoever reads or writes there says so
            return trust.Standing(own=True, private=True, trusted=False)

    def _try(self, file: SolutionFile | None, access: str, operation: Callable[[SolutionFile], T]) -> T | None:
        if file is None or time.monotonic() < self._retry_at.get((file, access), 0.0):
            return None
        try:
            return operation(file)
        except DatabaseError as error:
            self._retry_at[file, access] = time.monotonic() + RETRY_SECONDS
            warn_once(file.path, "file", f"{error}; new solutions last as long as this process")
            return None


_open: weakref.WeakSet[Database] = weakref.WeakSet()


@atexit.register
def _close_all(pid: int = os.getpid()) -> None:
    """A child that a fork has made leaves what its parent could not write to its parent."""
    for database in (*_open,) if os.getpid() == pid else ():
        database.close()


@lru_cache(maxsize=8)
def _file(path: str) -> SolutionFile:
    return SolutionFile(path)
