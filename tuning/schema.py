"""The SQLite side of solutions: tables, rows, transactions. Errors are sqlite3's and the operating system's.

The table's name carries the schema version, so that a change of schema is a cache miss and old and new
versions of the program share one file. The journal is SQLite's default (write-ahead logging needs shared
memory, which network file systems lack), transactions are short, and a connection lives for one transaction
only: nothing is inherited by a forked child, and a file that was replaced meanwhile is seen.
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from ttc_llvm.errors import DatabaseError
from ttc_llvm.tuning.exchange import timings
from ttc_llvm.tuning.records import Record, Request

VERSION = 1
APPLICATION = 0x54544331  # "TTC1" in the file's header: the mark of our own files
TABLE = f"solutions_v{VERSION}"

_TYPES = {
    "id": "TEXT PRIMARY KEY",
    "problem": "TEXT",
    "target": "TEXT",
    "threads": "INTEGER",
    "mode": "TEXT",
    "options": "TEXT",
    "versions": "TEXT",
    "effort": "INTEGER",
    "plan": "TEXT",
    "seconds": "REAL",
    "timings": "TEXT",
    "created": "TEXT",
    "ceiling_gibs": "REAL",
    "note": "TEXT",
    "objects": "BLOB",
}
COLUMNS = ", ".join(_TYPES)
BARE_COLUMNS = COLUMNS.replace(", objects", ", NULL")  # a row without its objects
REPLACE = f"INSERT OR REPLACE INTO {TABLE} VALUES ({', '.join('?' * len(_TYPES))})"
_CREATE = (
    f"CREATE TABLE {TABLE} ({', '.join(f'{name} {kind}' for name, kind in _TYPES.items())})",
    f"CREATE INDEX {TABLE}_problem ON {TABLE} (problem, target)",
)
_DAMAGE = ("not a database", "malformed")


@contextmanager
def transaction(path: Path, *, write: bool, patience: float) -> Iterator[sqlite3.Connection | None]:
    """A connection inside one transaction, committed at the end of a clean block and rolled back otherwise.

    None where there is nothing to read; a writing transaction creates file and table. patience: seconds to
    wait for other processes' locks.
    """
    if path.exists() and not path.is_file():
        raise DatabaseError(f"solutions database {path} is not a regular file")
    if not write and not path.exists():
        yield None
        return
    with closing(connect(path, write, patience)) as connection:
        connection.execute("BEGIN IMMEDIATE" if write else "BEGIN")
        present = _admit(connection, path)
        if write and not present:
            _create(connection)
        yield connection if write or present else None
        connection.execute("COMMIT")


def connect(path: Path, create: bool, patience: float) -> sqlite3.Connection:
    """An open file, for writing where permitted: even a reader may have to undo a crashed writer's work."""
    uri = f"{path.absolute().as_uri()}?mode={'rwc' if create else 'rw'}"
    connection = sqlite3.connect(uri, uri=True, timeout=max(patience, 0.0), isolation_level=None)
    connection.text_factory = _text
    return connection


def tables(connection: sqlite3.Connection) -> tuple[str, ...]:
    """Names of all tables in the file."""
    found = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    return tuple(name for (name,) in found)


def is_older(table: str) -> bool:
    """True for a solutions table of an older schema."""
    _, _, version = table.partition("solutions_v")
    return version.isdecimal() and int(version) < VERSION


def is_damage(error: BaseException | None) -> bool:
    """True where SQLite says that the file's contents are beyond use."""
    return isinstance(error, sqlite3.DatabaseError) and any(sign in str(error) for sign in _DAMAGE)


def is_contention(error: BaseException) -> bool:
    """True where waiting for other processes may help."""
    return isinstance(error, sqlite3.OperationalError) and "lock" in str(error)


def encode(record: Record) -> tuple[Any, ...]:
    """The record as the values of one row."""
    r = record.request
    runs = json.dumps([{"plan": t.plan, "seconds": t.seconds} for t in record.timings])
    return (
        *(r.id, r.problem, r.target, r.threads, r.mode, r.options, r.versions),
        *(record.effort, record.plan, record.seconds, runs, record.created, record.ceiling_gibs, record.note),
        _pack(record.plan, record.objects),
    )


def decode(row: tuple[Any, ...]) -> Record:
    """The inverse of `encode`; DatabaseError names what is malformed."""
    key, problem, target, threads, mode, options, versions, *rest = row
    effort, plan, seconds, runs, created, ceiling, note, packed = rest
    request = Request(problem, target, threads, mode, options, versions)
    if request.id != key:
        raise DatabaseError(f"id = {key!r} does not belong to its request")
    try:
        parsed = timings(json.loads(runs))
    except (ValueError, TypeError, RecursionError):
        raise DatabaseError("timings are not JSON") from None
    return Record(request, effort, plan, seconds, parsed, _unpack(plan, packed), created, ceiling, note)


def _admit(connection: sqlite3.Connection, path: Path) -> bool:
    found = tables(connection)
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    if found and application != APPLICATION:
        raise DatabaseError(f"solutions database {path} belongs to another program")
    return TABLE in found


def _create(connection: sqlite3.Connection) -> None:
    for statement in _CREATE:
        connection.execute(statement)
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    connection.execute(f"PRAGMA application_id = {APPLICATION}")
    connection.execute(f"PRAGMA user_version = {max(version, VERSION)}")


def _text(raw: bytes) -> str:
    # Bytes that are no UTF-8 become surrogates, which records refuse: one bad row, not a failed query.
    return raw.decode("utf-8", "surrogateescape")


def _pack(plan: str, objects: tuple[tuple[str, bytes], ...]) -> bytes | None:
    # A line of JSON with the plan, names and sizes, then all bytes; zlib's checksum guards the machine code, and
    # that it is this plan's: run with another plan's task grid, it would write wherever it pleases.
    if not objects:
        return None
    head = json.dumps([plan, [(name, len(data)) for name, data in objects]]).encode()
    return zlib.compress(b"\n".join((head, b"".join(data for _, data in objects))))


def _unpack(plan: str, packed: bytes | None) -> tuple[tuple[str, bytes], ...]:
    if packed is None:
        return ()
    try:
        head, _, body = zlib.decompress(packed).partition(b"\n")
        packed_plan, pairs = json.loads(head)
        sizes = [(str(name), int(size)) for name, size in pairs]
    except (zlib.error, ValueError, TypeError) as error:
        raise DatabaseError(f"objects are damaged ({error})") from None
    if packed_plan != plan:
        raise DatabaseError("objects are not those of the plan")
    if min((size for _, size in sizes), default=0) < 0:
        raise DatabaseError("objects are damaged (a size is negative)")
    if sum(size for _, size in sizes) != len(body):
        raise DatabaseError(f"objects are damaged ({len(body)} bytes do not fill their sizes)")
    out, at = [], 0
    for name, size in sizes:
        out.append((name, body[at : at + size]))
        at += size
    return tuple(out)
