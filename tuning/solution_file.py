"""One file of solutions, strictly: whatever goes wrong is a DatabaseError of one line."""

from __future__ import annotations

import logging
import random
import re
import shlex
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

from ttc_llvm import locks
from ttc_llvm.errors import DatabaseError
from ttc_llvm.tuning import exchange, schema
from ttc_llvm.tuning.records import Record, Request, merge
from ttc_llvm.tuning.schema import BARE_COLUMNS, COLUMNS, TABLE

T = TypeVar("T")
Connection = sqlite3.Connection

PATIENCE = 5.0  # seconds to wait for other processes
MAX_HINTS = 8
_BY_ID = f"SELECT {COLUMNS} FROM {TABLE} WHERE id = ?"
_BARE_BY_ID = f"SELECT {BARE_COLUMNS} FROM {TABLE} WHERE id = ?"
_LOGGER = logging.getLogger("ttc_llvm")
_warned: set[tuple[Path, str]] = set()

GUARD = locks.DATABASE


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a listing: a record without its objects, and the bytes that those take in the file."""

    record: Record
    packed_bytes: int


@dataclass(frozen=True, slots=True)
class Cleared:
    """What a clear did. rows: solutions removed; moved: where a damaged file went, None if it was sound."""

    rows: int
    moved: Path | None = None


def warn_once(path: Path, topic: str, message: str) -> None:
    """One line of logging per path and topic, in this process."""
    if (path, topic) not in _warned:
        _warned.add((path, topic))
        _LOGGER.warning("%s", " ".join(message.split()))


class SolutionFile:
    """The SQLite file at `path`, which need not exist: reading finds nothing then, writing creates it.

    Every method is one or more short transactions, safe with other processes and threads at work, and raises
    DatabaseError where the file is damaged, locked for more than PATIENCE seconds, another program's, or not
    writable.
    """

    def __init__(self, path: Path) -> None:
        self.path = path.absolute()

    def get(self, request: Request) -> Record | None:
        """The stored solution of this request; a malformed row counts as none, with one warning."""
        return next(self._sound(self._select(_BY_ID, request.id)), None)

    def plans(self, request: Request) -> tuple[str, ...]:
        """Up to MAX_HINTS different plans of the same problem and target, the most similar requests first."""
        query = (
            f"SELECT plan FROM {TABLE} WHERE problem = ? AND target = ? "
            "ORDER BY id != ?, versions != ?, mode != ?, abs(threads - ?), effort = -1 DESC, effort DESC "
            "LIMIT 64"
        )
        r = request
        rows = self._select(query, r.problem, r.target, r.id, r.versions, r.mode, r.threads)
        return tuple(dict.fromkeys(plan for (plan,) in rows if isinstance(plan, str)))[:MAX_HINTS]

    def put(self, records: Iterable[Record]) -> list[bool]:
        """Merge records into the file, all or none; says for each whether it changed what is stored."""
        encoded = [(record, schema.encode(record)) for record in records]
        if not encoded:
            return []
        self._make_folder()
        return self._write(lambda c: [self._merge(c, *pair) for pair in encoded])

    def rows(self) -> list[Row]:
        """Every solution, by problem, without objects."""
        size = "coalesce(length(objects), 0)"
        query = f"SELECT {BARE_COLUMNS}, {size} FROM {TABLE} ORDER BY problem, target, id"
        return [Row(rec, row[-1]) for row in self._select(query) for rec in self._sound([row[:-1]])]

    def show(self, prefix: str) -> Record:
        """The solution whose ID begins so; DatabaseError for none or several."""
        (key,) = self._resolve([prefix])
        for row in self._select(_BY_ID, key):
            return schema.decode(row)
        raise DatabaseError(f"solution {key} was removed from {self.path} meanwhile")

    def export(self, stream: BinaryIO, *, objects: bool = True) -> int:
        """Write every solution as a JSON line; returns how many. A slow stream keeps no lock on the file."""
        count = 0
        for key in self._keys():
            for record in self._sound(self._select(_BY_ID if objects else _BARE_BY_ID, key)):
                stream.write(exchange.to_line(record, objects=objects))
                count += 1
        return count

    def import_(self, lines: Iterable[bytes], source: str, *, objects: bool = True) -> list[bool]:
        """Merge an export into the file, all or nothing; says for each whether it changed what is stored.

        Objects are machine code that later runs: objects=False takes the plans only. DatabaseError names
        source, line and field of the first malformed line.
        """
        return self.put(list(exchange.from_lines(lines, source, objects=objects)))

    def delete(self, prefixes: Sequence[str]) -> Cleared:
        """Remove the solutions with these IDs, or none if one of them is not found."""
        keys = [(key,) for key in self._resolve(prefixes)]
        statement = f"DELETE FROM {TABLE} WHERE id = ?"
        return Cleared(self._remove(lambda c: c.executemany(statement, keys).rowcount))

    def clear_older(self, versions: str) -> Cleared:
        """Remove what other versions of the program made: their rows, and tables of older schemas."""

        def remove(connection: Connection) -> int:
            _drop_older(connection)
            return connection.execute(f"DELETE FROM {TABLE} WHERE versions != ?", (versions,)).rowcount

        return Cleared(self._remove(remove))

    def clear(self) -> Cleared:
        """Remove every solution. A damaged file is moved aside, not deleted: it may be someone's document."""

        def remove(connection: Connection) -> int:
            _drop_older(connection)
            return connection.execute(f"DELETE FROM {TABLE}").rowcount

        try:
            return Cleared(self._remove(remove))
        except DatabaseError as error:
            if not schema.is_damage(error.__cause__):
                raise
            return Cleared(0, self._move_aside())

    def _merge(self, connection: Connection, record: Record, row: tuple[Any, ...]) -> bool:
        old = next(self._sound(connection.execute(_BY_ID, row[:1]).fetchall()), None)
        kept = merge(old, record)
        if kept is not old and kept != old:
            connection.execute(schema.REPLACE, row if kept is record else schema.encode(kept))
        return kept != old

    def _sound(self, rows: Iterable[tuple[Any, ...]]) -> Iterator[Record]:
        for row in rows:
            try:
                yield schema.decode(row)
            except DatabaseError as error:
                message = f"solutions database {self.path}: row {row[0]!r} is ignored: {error}"
                warn_once(self.path, str(row[0]), message)

    def _keys(self) -> list[str]:
        return [key for (key,) in self._select(f"SELECT id FROM {TABLE} ORDER BY problem, target, id")]

    def _resolve(self, prefixes: Sequence[str]) -> list[str]:
        keys = self._keys()
        return [self._one(prefix, [key for key in keys if key.startswith(prefix)]) for prefix in prefixes]

    def _one(self, prefix: str, matches: list[str]) -> str:
        if not re.fullmatch("[0-9a-f]+", prefix):
            raise DatabaseError(f"{prefix!r} is not the ID of a solution: IDs are hexadecimal digits")
        if len(matches) != 1:
            count = len(matches) or "no"
            raise DatabaseError(f"{count} solutions in {self.path} have an ID {prefix}...: exactly one must")
        return matches[0]

    def _remove(self, operation: Callable[[Connection], int]) -> int:
        if self._read(lambda c: True) is None:
            return 0
        removed = self._write(operation)
        with GUARD, suppress(sqlite3.Error), closing(schema.connect(self.path, False, 0.0)) as connection:
            connection.execute("VACUUM")  # gives the space back; pointless to insist while others write
        return removed

    def _move_aside(self) -> Path:
        target = self.path.with_name(f"{self.path.name}.damaged-{time.strftime('%Y%m%d-%H%M%S')}")
        journal = self.path.with_name(f"{self.path.name}-journal")
        try:
            if journal.exists():  # first: left behind, it would be played into the next file of this name
                journal.replace(target.with_name(f"{target.name}-journal"))
            self.path.replace(target)
        except OSError as error:
            fact = f"damaged database {self.path} cannot be moved aside: {error.strerror}"
            raise DatabaseError(fact) from error
        return target

    def _make_folder(self) -> None:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise self._failure(error, "written") from error

    def _select(self, query: str, *values: str | int) -> list[tuple[Any, ...]]:
        return self._read(lambda c: c.execute(query, values).fetchall()) or []

    def _read(self, operation: Callable[[Connection], T]) -> T | None:
        return self._patiently(lambda c: None if c is None else operation(c), write=False)

    def _write(self, operation: Callable[[Connection], T]) -> T:
        def required(connection: Connection | None) -> T:
            assert connection is not None
            return operation(connection)

        return self._patiently(required, write=True)

    def _patiently(self, operation: Callable[[Connection | None], T], *, write: bool) -> T:
        deadline = time.monotonic() + PATIENCE
        while True:
            patience = deadline - time.monotonic()
            try:
                with GUARD, schema.transaction(self.path, write=write, patience=patience) as connection:
                    return operation(connection)
            except (sqlite3.Error, OSError) as error:
                if patience <= 0 or not schema.is_contention(error):
                    raise self._failure(error, "written" if write else "read") from error
            time.sleep(random.uniform(0.005, 0.05))

    def _failure(self, error: Exception, done: str) -> DatabaseError:
        fact = error.strerror if isinstance(error, OSError) else str(error)
        command = f"ttc database --database={shlex.quote(str(self.path))} clear --all"
        advice = f"; `{command}` moves it aside" if schema.is_damage(error) else ""
        return DatabaseError(f"solutions database {self.path} cannot be {done}: {fact}{advice}")


def _drop_older(connection: Connection) -> None:
    for table in filter(schema.is_older, schema.tables(connection)):
        connection.execute(f"DROP TABLE {table}")
