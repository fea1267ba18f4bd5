"""Transactions on one database file, tried until others let go of it; whatever goes wrong is a DatabaseError."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing, suppress
from typing import TypeVar

from ttc_llvm import locks
from ttc_llvm.errors import DatabaseError
from ttc_llvm.tuning.database import schema, trust
from ttc_llvm.tuning.database.connection import connect
from ttc_llvm.tuning.database.notices import one_line
from ttc_llvm.tuning.database.schema import Transaction

T = TypeVar("T")

PATIENCE = 5.0  # seconds to wait for other processes
# Beside errors of its own, sqlite3 raises what its texts and numbers lead to: a message that quotes a damaged name is
# no UTF-8, a damaged length asks for more memory than there is.
_RAISED = (sqlite3.Error, OSError, ValueError, OverflowError, MemoryError)


class FileAccess:
    """The file at `path`, which need not exist: reading finds nothing then, writing creates it and its folder.

    Raises DatabaseError where the file is damaged, locked for more than PATIENCE seconds, another program's, or not
    writable.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)
        with suppress(OSError):  # the current directory is gone: every transaction says so, wherever it is later
            self.path = os.path.join("" if os.path.isabs(path) else os.getcwd(), self.path)

    def standing(self) -> trust.Standing:
        """Who can write the file, and so what its code is worth."""
        return trust.standing(schema.real(self.path))

    def read(self, operation: Callable[[Transaction], T]) -> T | None:
        """The result of an operation that reads, in one transaction; None where there is nothing to read."""
        return self._patiently(lambda session: None if session is None else operation(session), write=False)

    def write(self, operation: Callable[[Transaction], T]) -> T:
        """The result of an operation that writes, once all that it changed is committed."""

        def required(session: Transaction | None) -> T:
            assert session is not None
            return operation(session)

        return self._patiently(required, write=True)

    def shrink(self) -> None:
        """Give the space of removed rows back; pointless to insist while others write."""
        with locks.DATABASE, suppress(*_RAISED), closing(connect(schema.real(self.path), 0.0)) as connection:
            connection.execute("VACUUM")

    def move_aside(self) -> str | None:
        """Rename a damaged file, which may be someone's document; returns where it went, None where another process has
        put a sound one in its place meanwhile."""
        place = schema.real(self.path)
        try:
            with locks.DATABASE, open(place, "rb") as held:
                if not schema.is_marked(held.read(schema.HEADER_BYTES)):
                    raise schema.foreign(self.path)
                if not self._is_damaged():
                    return None
                fcntl = locks.imported("fcntl")
                with suppress(OSError):  # others that move it wait; not every file system can do this
                    fcntl.flock(held, fcntl.LOCK_EX)
                return _renamed(place) if os.path.samestat(os.fstat(held.fileno()), os.stat(place)) else None
        except FileNotFoundError:
            return None
        except OSError as error:
            fact = f"damaged database {self.path} cannot be moved aside: {error.strerror}"
            raise DatabaseError(fact) from error

    def _is_damaged(self) -> bool:
        try:
            self.write(schema.check)
        except DatabaseError as error:
            return schema.is_damage(error.__cause__)
        return False

    def _patiently(self, operation: Callable[[Transaction | None], T], *, write: bool) -> T:
        deadline = time.monotonic() + PATIENCE
        while True:
            patience = deadline - time.monotonic()
            try:
                with locks.DATABASE, schema.transaction(self.path, write=write, patience=patience) as session:
                    return operation(session)
            except _RAISED as error:
                if patience <= 0 or not schema.is_contention(error):
                    raise self._failure(error, "written" if write else "read") from error
            time.sleep(0.005 + os.urandom(1)[0] / 5000)

    def _failure(self, error: BaseException, done: str) -> DatabaseError:
        fact = error.strerror if isinstance(error, OSError) else one_line(error) or "memory is short"
        fact = "it takes too long" if fact == "interrupted" else fact
        command = f"ttc database --database={locks.imported('shlex').quote(self.path)} clear --all"
        advice = f"; `{command}` moves it aside" if schema.is_damage(error) and self.standing().safe else ""
        return DatabaseError(f"solutions database {self.path} cannot be {done}: {fact}{advice}")


def _renamed(place: str) -> str:
    """Give a file and its journal another name, which no file has."""
    folder, own = os.path.split(place)
    prefix = f"{own}.damaged-{time.strftime('%Y%m%d-%H%M%S')}-"
    descriptor, name = locks.imported("tempfile").mkstemp(prefix=prefix, dir=folder)
    os.close(descriptor)
    journal = f"{place}-journal"
    if os.path.lexists(journal):  # first: left behind, it would be played into the next file of this name
        os.replace(journal, f"{name}-journal")
    os.replace(place, name)
    return str(name)
