"""The SQLite side of solutions: tables, connections, transactions. Errors are sqlite3's and the operating system's.

Tables' names carry the schema version, so that old and new versions of the program share one file. Version 2 is made
for all that is planned: one row per request, whatever the versions of the program, and code beside it for each set of
versions. The journal is SQLite's default (write-ahead logging needs shared memory, which network file systems lack),
transactions are short, and a connection lives for one transaction only: nothing is inherited by a forked child, and a
file that was replaced meanwhile is seen.

A file may be hostile: nothing that it defines itself is run (views, triggers, functions in its schema), a table or
index under our names that is not word for word ours is damage (see `connection.py`).
"""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

from ttc_llvm.errors import DatabaseError
from ttc_llvm.lazy_dataclasses import dataclass
from ttc_llvm.tuning.database import trust
from ttc_llvm.tuning.database.connection import connect, fetched, limit

VERSION = 2
APPLICATION = 0x54544331  # "TTC1" in the file's header: the mark of our own files
SOLUTIONS, CODE, OLDER = "solutions_v2", "code_v2", "solutions_v1"

_KEY = "problem TEXT, target TEXT, threads INTEGER, mode TEXT, options TEXT, versions TEXT"
_FOUND = "effort INTEGER, plan TEXT, seconds REAL, timings TEXT"
_TOLD = "created TEXT, ceiling_gibs REAL, note TEXT"
_SOLUTION = f"id TEXT PRIMARY KEY, kind TEXT, {_KEY}, {_FOUND}, provisional INTEGER, {_TOLD}, extra TEXT"
_CODE = "id TEXT, versions TEXT, plan TEXT, objects BLOB, image BLOB, digest BLOB, extra TEXT"
_OLDER = f"id TEXT PRIMARY KEY, {_KEY}, {_FOUND}, {_TOLD}"


def _names(columns: str) -> tuple[str, ...]:
    return tuple(column.split()[0] for column in columns.split(", "))


SOLUTION_COLUMNS, CODE_COLUMNS, OLDER_COLUMNS = map(_names, (_SOLUTION, _CODE, _OLDER))


def _index(table: str) -> str:
    return f"CREATE INDEX {table}_problem ON {table} (problem, target)"


_CREATE = {
    SOLUTIONS: f"CREATE TABLE {SOLUTIONS} ({_SOLUTION})",
    f"{SOLUTIONS}_problem": _index(SOLUTIONS),
    CODE: f"CREATE TABLE {CODE} ({_CODE}, PRIMARY KEY (id, versions))",
}
_OURS = _CREATE | {
    OLDER: f"CREATE TABLE {OLDER} ({_OLDER}, objects BLOB)",  # code of that schema is never run
    f"{OLDER}_problem": _index(OLDER),
}

# SQLite's words for what is wrong in a file, and around it.
_DAMAGE = ("not a database", "malformed")
_SURROUNDINGS = ("lock", "readonly", "disk is full", "unable to open", "disk i/o", "interrupted")

_MAGIC = b"SQLite format 3\0"
_MARK_AT = 68  # in the header
HEADER_BYTES = 100


@dataclass(frozen=True, slots=True)
class Transaction:
    """An open transaction. place: the file, all symbolic links resolved; tables: those of ours that it holds. No
    statement runs for ever, or fills the memory, whatever the file is like."""

    connection: sqlite3.Connection
    place: str
    tables: frozenset[str] = frozenset()

    def select(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        """All rows of a query."""
        return fetched(self.connection, self.place, statement, values)

    def change(self, statement: str, *values: Any) -> int:
        """The number of rows that a statement has changed."""
        limit(self.connection, self.place)
        return self.connection.execute(statement, values).rowcount


@contextmanager
def transaction(path: str, *, write: bool, patience: float) -> Iterator[Transaction | None]:
    """One transaction, committed at the end of a clean block and rolled back otherwise.

    None where there is nothing to read; a writing transaction creates folder, file and tables. patience: seconds to
    wait for other processes' locks. DatabaseError for another program's file, and for writing where others can.
    """
    place = real(path)
    if write:
        trust.make_folder(os.path.dirname(place))
        if not trust.standing(place).safe:
            raise DatabaseError(trust.shared(path))
        trust.make_file(place)
    found = _mode(place)
    if found is None:
        yield None
        return
    if not stat.S_ISREG(found):
        raise DatabaseError(f"solutions database {path} is not a regular file")
    with closing(connect(place, patience)) as connection:
        connection.execute("BEGIN IMMEDIATE" if write else "BEGIN")
        if not _is_ours(connection):  # before SQLite reads the schema, which may be sound and strike our limits
            raise foreign(path)
        tables = _admitted(Transaction(connection, place))
        if write and not tables >= {SOLUTIONS, CODE}:
            tables = _create(connection, tables)
        yield Transaction(connection, place, tables) if tables else None
        connection.execute("COMMIT")


def foreign(path: str) -> DatabaseError:
    """The error of another program's file."""
    return DatabaseError(f"solutions database {path} belongs to another program")


def _is_ours(connection: sqlite3.Connection) -> bool:
    """True for our mark in the file's header, and for none where there never was a table."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    if application == APPLICATION:
        return True
    (changes,) = connection.execute("PRAGMA schema_version").fetchone()
    return (application, changes) == (0, 0)


def is_marked(header: bytes) -> bool:
    """True for what a file of ours begins with, or none of SQLite's: `_is_ours` for what SQLite does not open."""
    at = _MARK_AT
    return not header.startswith(_MAGIC) or header[at : at + 4] == APPLICATION.to_bytes(4, "big")


def _mode(place: str) -> int | None:
    try:
        return os.stat(place).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None


def real(path: str) -> str:
    """The file that a path leads to; DatabaseError for a path that no file can have."""
    if not os.path.isabs(path):
        raise DatabaseError(f"solutions database {path} cannot be found: the current directory was gone")
    try:
        return os.path.realpath(path)
    except ValueError as error:  # a NUL character, or one that the file system cannot spell
        raise DatabaseError(f"solutions database {path!r} is no path of a file: {error}") from None


def is_damage(error: BaseException | None) -> bool:
    """True where the error says that the file's contents are beyond use, and not its surroundings or what is stored."""
    if is_refusal(error):
        return False
    if not isinstance(error, sqlite3.Error):
        return isinstance(error, (UnicodeDecodeError, OverflowError))  # SQLite quotes, or believes, a damaged file
    text = str(error).lower()
    return any(sign in text for sign in _DAMAGE) or not any(word in text for word in _SURROUNDINGS)


def is_contention(error: BaseException | None) -> bool:
    """True where waiting for other processes may help."""
    return isinstance(error, sqlite3.OperationalError) and "lock" in str(error)


def is_refusal(error: BaseException | None) -> bool:
    """True where SQLite takes no such values: they are too large, or no text."""
    return isinstance(error, (sqlite3.DataError, sqlite3.InterfaceError, UnicodeEncodeError))


def check(session: Transaction) -> None:
    """Raise sqlite3.DatabaseError where the file is not sound from end to end."""
    found = session.select("PRAGMA integrity_check(1)")
    if found != [("ok",)]:
        raise sqlite3.DatabaseError(f"malformed: {found[0][0]}")


def drop_older(session: Transaction) -> None:
    """Remove the tables of older schemas."""
    for (name,) in session.select("SELECT name FROM sqlite_master WHERE type = 'table'"):
        _, _, version = str(name).partition("solutions_v")
        if name == f"solutions_v{version}" and version.isdecimal() and int(version) < VERSION:
            session.change(f"DROP TABLE {name}")


def _admitted(session: Transaction) -> frozenset[str]:
    """Our tables in the file; refuses what pretends to be ours."""
    found = session.select("SELECT type, name, tbl_name, sql FROM sqlite_master")
    for kind, name, table, text in found:
        is_own_index = kind == "index" and text is None and str(name).startswith("sqlite_autoindex_")
        is_ours = name in _OURS and _OURS[name] == text
        if {str(name).lower(), str(table).lower()} & _OURS.keys() and not is_ours and not is_own_index:
            raise sqlite3.DatabaseError(f"malformed schema: {kind} {name} is not ours")
    return frozenset(name for kind, name, _, _ in found if kind == "table" and name in _OURS)


def _create(connection: sqlite3.Connection, tables: frozenset[str]) -> frozenset[str]:
    for name, statement in _CREATE.items():
        if name not in tables:
            connection.execute(statement)
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    connection.execute(f"PRAGMA application_id = {APPLICATION}")
    connection.execute(f"PRAGMA user_version = {max(version, VERSION)}")
    return tables | {SOLUTIONS, CODE}
