"""Connections to files of unknown origin: nothing that they define is run, and no statement runs for ever.

Where others can write, SQLite reads a file as it lies: undoing what a journal says would give whoever wrote that
journal the reader's rights.
"""

from __future__ import annotations

import os
import sqlite3
import time
from functools import partial
from typing import Any

from ttc_llvm.tuning.database import trust

SqlRow = tuple[Any, ...]

# What SQLite's page "Defense Against The Dark Arts" advises for files of unknown origin, as far as Python offers it.
_PRAGMAS = ("trusted_schema = OFF", "cell_size_check = ON", "mmap_size = 0")
_LIMITS = {
    "SQLITE_LIMIT_LENGTH": 32 << 20,
    "SQLITE_LIMIT_SQL_LENGTH": 100_000,
    "SQLITE_LIMIT_COLUMN": 100,
    "SQLITE_LIMIT_EXPR_DEPTH": 20,
    "SQLITE_LIMIT_COMPOUND_SELECT": 3,
    "SQLITE_LIMIT_VDBE_OP": 25_000,
    "SQLITE_LIMIT_FUNCTION_ARG": 8,
    "SQLITE_LIMIT_ATTACHED": 1,  # VACUUM's own
    "SQLITE_LIMIT_LIKE_PATTERN_LENGTH": 50,
    "SQLITE_LIMIT_VARIABLE_NUMBER": 32,
    "SQLITE_LIMIT_TRIGGER_DEPTH": 1,
}
# Bytes that are no UTF-8 become surrogates, which records refuse: one bad row, not a failed query.
_TEXT = partial(str, encoding="utf-8", errors="surrogateescape")
_CONFIGURATION = {"SQLITE_DBCONFIG_DEFENSIVE": True, "SQLITE_DBCONFIG_TRUSTED_SCHEMA": False}
_SECONDS = 5.0  # of computing that a statement may take, and for each _PER_SECOND bytes of the file one more
_PER_SECOND = 4 << 20
_OPERATIONS = 10_000  # of SQLite's machine between two looks at the clock
_ROOM = 32 << 20  # bytes that a query may yield, and _GROWTH times the file besides: a sound one yields less
_GROWTH = 8
_PLAIN = frozenset(b"/._-~" + "".join(map(chr, (*range(48, 58), *range(65, 91), *range(97, 123)))).encode())  # of URIs
_VALUE_BYTES = 50  # what Python needs for a value beside its content


def connect(place: str, patience: float) -> sqlite3.Connection:
    """An open file, for writing where permitted and safe: even a reader may have to undo a crashed writer's work. One
    that is not safe is read as it lies, without a look for journals."""
    mode = "mode=rw" if trust.standing(place).safe else "mode=ro&immutable=1"
    uri = f"file:{_quoted(place)}?{mode}"
    connection = sqlite3.connect(uri, uri=True, timeout=max(patience, 0.0), isolation_level=None)
    connection.text_factory = _TEXT
    limit(connection, place)
    _defend(connection)
    return connection


def limit(connection: sqlite3.Connection, place: str) -> int:
    """Bound what the next statement computes: a file of some pages can hold endless tables. Time of this thread's own
    counts, so that neither busy neighbours nor a sleeping machine end a statement. Returns the file's size in bytes."""
    size = os.stat(place).st_size
    end = time.thread_time() + _SECONDS + size / _PER_SECOND
    connection.set_progress_handler(lambda: time.thread_time() > end, _OPERATIONS)
    return size


def fetched(connection: sqlite3.Connection, place: str, statement: str, values: SqlRow) -> list[SqlRow]:
    """All rows of a query; sqlite3.DatabaseError where they are more than a sound file of this size can hold."""
    size = limit(connection, place)
    rows, room = [], _ROOM + _GROWTH * size
    for row in connection.execute(statement, values):
        room -= sum(_VALUE_BYTES + (len(value) if isinstance(value, (str, bytes)) else 0) for value in row)
        if room < 0:
            raise sqlite3.DatabaseError(f"malformed: it holds more than its {size} bytes have room for")
        rows.append(row)
    return rows


def _quoted(place: str) -> str:
    """A path as it stands in a URI."""
    return "".join(chr(byte) if byte in _PLAIN else f"%{byte:02X}" for byte in os.fsencode(place))


def _defend(connection: Any) -> None:
    for pragma in _PRAGMAS:
        connection.execute(f"PRAGMA {pragma}")
    if hasattr(connection, "setlimit"):  # since Python 3.11
        for name, limit in _LIMITS.items():
            connection.setlimit(vars(sqlite3)[name], limit)
    if hasattr(connection, "setconfig"):  # since Python 3.12
        for name, wanted in _CONFIGURATION.items():
            connection.setconfig(vars(sqlite3)[name], wanted)
