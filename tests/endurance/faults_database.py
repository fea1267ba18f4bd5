"""Attacks on the file of the solutions database: damaged, foreign, locked, and with limits on its size."""

from __future__ import annotations

import random
import resource
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import hostile_files
from database_user import RECORDS, SAID, a_user, commands, computes, filled, sound, strictly, survives, ttc
from faults import Attack
from forks import forked

from ttc_llvm.tuning.database import connection, file_access
from ttc_llvm.tuning.database.database import Database
from ttc_llvm.tuning.database.solution_file import SolutionFile

# ---- damage


def flipped(chance: random.Random, data: bytearray) -> None:
    data[chance.randrange(0, len(data), 50)] ^= chance.choice((0xFF, 1 << chance.randrange(8)))


def flipped_schema(chance: random.Random, data: bytearray) -> None:
    """In the first page, which names tables and columns."""
    data[chance.randrange(100, 4096)] ^= 0x80


def flipped_everywhere(chance: random.Random, data: bytearray) -> None:
    for at in range(chance.randrange(100, 150), len(data), 50):
        data[at] ^= 0xFF


def truncated(chance: random.Random, data: bytearray) -> None:
    del data[chance.randrange(len(data)) :]


def page_lost(chance: random.Random, data: bytearray) -> None:
    at = chance.randrange(1, len(data) // 4096) * 4096
    data[at : at + 4096] = chance.choice((bytes(4096), chance.randbytes(4096)))


def pages_swapped(chance: random.Random, data: bytearray) -> None:
    one, other = (chance.randrange(1, len(data) // 4096) * 4096 for _ in range(2))
    data[one : one + 4096], data[other : other + 4096] = data[other : other + 4096], data[one : one + 4096]


def chance_only(chance: random.Random, data: bytearray) -> None:
    data[:] = chance.randbytes(chance.randrange(20_000))


def header_of_chance(chance: random.Random, data: bytearray) -> None:
    at = chance.randrange(16, 96)
    data[at : at + 4] = chance.randbytes(4)


DAMAGES = (
    *(flipped, flipped, flipped_schema, flipped_everywhere, truncated, page_lost, pages_swapped, chance_only),
    header_of_chance,
)


def damaged(chance: random.Random, folder: Path) -> Iterator[str]:
    """Bytes are changed; sometimes a journal of chance lies beside the file."""
    with a_user(folder) as path:
        data = bytearray(filled(path, chance))
        damage = chance.choice(DAMAGES)
        damage(chance, data)
        path.write_bytes(data)
        if chance.random() < 0.1:
            path.with_name(f"{path.name}-journal").write_bytes(chance.randbytes(700))
        yield damage.__name__
        if chance.random() < 0.1:
            computes(path)
            yield "compiled"
        yield from survives(chance, path)


VALUES = (None, 7, -1, 1e308, "", "text", "[" * 5000, b"\xff\xfe", b"", bytes(70_000), "x" * 70_000, 1 << 62)
STATEMENTS = (
    "DROP TABLE solutions_v2; CREATE VIEW solutions_v2 AS SELECT * FROM code_v2",
    "CREATE TRIGGER evil AFTER INSERT ON solutions_v2 BEGIN DELETE FROM code_v2; END",
    "CREATE TRIGGER evil AFTER DELETE ON solutions_v2 BEGIN INSERT INTO solutions_v2 (id) VALUES (1); END",
    "DROP TABLE code_v2; CREATE TABLE code_v2 (id)",
    "ALTER TABLE solutions_v2 ADD COLUMN more TEXT DEFAULT 'x'",
    "ALTER TABLE solutions_v2 RENAME TO elsewhere; CREATE VIEW SOLUTIONS_V2 AS SELECT * FROM elsewhere",
    "CREATE INDEX evil ON solutions_v2 (upper(plan))",
    "DROP TABLE IF EXISTS solutions_v1; CREATE TABLE solutions_v1 (id)",
    "CREATE TABLE solutions_v3 (id); PRAGMA user_version = 3",
    "CREATE TABLE \"evil\x1b[31m\" (id)",
    "PRAGMA application_id = 7",
    "PRAGMA user_version = -1",
)


def foreign(chance: random.Random, folder: Path) -> Iterator[str]:
    """Tables, values and programs that are not ours."""
    with a_user(folder) as path:
        filled(path, chance)
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            if chance.random() < 0.5:
                connection.executescript(chance.choice(STATEMENTS))
                yield "schema"
            else:
                table = chance.choice(("solutions_v2", "code_v2"))
                names = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
                where = "rowid % 2" if chance.random() < 0.5 else "1"
                connection.execute(f"UPDATE OR IGNORE {table} SET {chance.choice(names)} = ? WHERE {where}",
                                   (chance.choice(VALUES),))  # fmt: skip
                yield "values"
        yield from survives(chance, path)


POISONS = (b'{"a":"\xff"}', b'{"a":"\xed\xa0\x80"}', b"\0", b'{"a":' + b"[" * 970 + b"]" * 970 + b"}")


def poisoned(chance: random.Random, folder: Path) -> Iterator[str]:
    """A text that is none in one row: every other solution is stored all the same, and all that is exported is read."""
    with a_user(folder) as path:
        filled(path, chance)
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            column = chance.choice(("extra", "note", "plan", "options", "timings", "versions"))
            where = (chance.choice(POISONS), RECORDS[0].request.id)
            connection.execute(f"UPDATE solutions_v2 SET {column} = CAST(? AS TEXT) WHERE id = ?", where)
            connection.execute("DELETE FROM code_v2")
        database = Database(path)
        for record in RECORDS:
            found = database.find(record.request, 1).record
            if found is not None:
                database.keep(replace(found, objects=record.objects))
        database.store(replace(RECORDS[1], request=replace(RECORDS[1].request, threads=9)))
        assert len(sound(path)) >= len(RECORDS), "a solution was lost"
        yield column
        yield from survives(chance, path)


def pages(chance: random.Random, folder: Path) -> Iterator[str]:
    """Pages that are used again and again make tables without an end, and texts that take more than the file."""
    seconds, connection._SECONDS = connection._SECONDS, 0.2
    try:
        with a_user(folder) as path:
            SolutionFile(path).put(RECORDS[:1])
            name = chance.choice(list(hostile_files.HOSTILE))
            hostile_files.HOSTILE[name](path)
            began, before = time.thread_time(), memory()
            Database(path).find(replace(RECORDS[0].request, threads=9), 1)
            Database(path).store(RECORDS[1])  # into a file whose damage SQLite need not notice: it may be lost
            strictly(lambda: SolutionFile(path).look_up(RECORDS[0].request, None, -1))
            strictly(SolutionFile(path).rows)
            yield from commands(chance, path)
            assert time.thread_time() - began < 60, "it took too long"
            assert memory() - before < 300 << 20, "it took too much memory"
            yield name
    finally:
        connection._SECONDS = seconds


def memory() -> int:
    """The most bytes that this process has held so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


def another_program(chance: random.Random, folder: Path) -> Iterator[str]:
    """A database of another program's, sound or not, of any width: it is neither changed nor moved."""
    with a_user(folder) as path:
        with closing(sqlite3.connect(path, isolation_level=None)) as made:
            columns = chance.choice((1, 99, 150, 1500))
            made.execute(f"CREATE TABLE wide ({','.join(f'c{n}' for n in range(columns))})")
            if chance.random() < 0.5:
                made.execute(f"PRAGMA application_id = {chance.randrange(1 << 31)}")
        data = bytearray(path.read_bytes())
        if chance.random() < 0.5:
            data[chance.randrange(100, len(data))] ^= 1 << chance.randrange(8)
        path.write_bytes(data)
        for words in (["list"], ["clear", "--older"], ["clear", "--all"]):
            assert ttc("database", *words, f"--database={path}")[0] == 2
        Database(path).store(RECORDS[0])
        assert path.read_bytes() == data and len(list(path.parent.iterdir())) == 1
        yield f"{columns} columns"


# ---- surroundings


def locked(chance: random.Random, folder: Path) -> Iterator[str]:
    """Another program holds the lock for ever."""
    with a_user(folder) as path:
        filled(path, chance)
        before, file_access.PATIENCE = file_access.PATIENCE, 0.02
        try:
            with closing(sqlite3.connect(path, isolation_level=None)) as holder:
                holder.execute("BEGIN EXCLUSIVE")
                database = Database(path)
                database.store(RECORDS[0])
                assert database.find(RECORDS[0].request, 1).sufficient
                strictly(SolutionFile(path).rows)
                assert ttc("database", "list", f"--database={path}")[0] == 2
                assert len(SAID) == 1, SAID
        finally:
            file_access.PATIENCE = before
        assert sound(path) >= {record.request.id for record in RECORDS}
    yield "said once"


def full(chance: random.Random, folder: Path) -> Iterator[str]:
    """Files cannot grow beyond a limit: nothing that was committed is lost."""
    with a_user(folder) as path:
        filled(path, chance)
        limit = chance.choice((0, 100, path.stat().st_size, chance.randrange(1 << 17)))
        more = [replace(one, request=replace(one.request, threads=9)) for one in RECORDS]

        def check() -> bool:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
            for record in more:
                database = Database(path)
                database.store(replace(record, objects=(("kernel", chance.randbytes(20_000)),)))
                assert database.find(record.request, 1).sufficient
            strictly(lambda: SolutionFile(path).clear_older("cpu1"))
            return len(SAID) <= 2 and all(map(str.isprintable, SAID))

        assert forked(check) == 0, f"a limit of {limit} bytes"
        assert sound(path) >= {record.request.id for record in RECORDS}
        yield from survives(chance, path)


ATTACKS = {
    "damaged": Attack(damaged, 10),
    "foreign": Attack(foreign, 4),
    "poisoned": Attack(poisoned, 2),
    "pages": Attack(pages),
    "another-program": Attack(another_program),
    "locked": Attack(locked),
    "full": Attack(full, 2),
}
