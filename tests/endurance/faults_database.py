"""Attacks on the file of the solutions database: damaged, foreign, locked, and with limits on its size."""

from __future__ import annotations

import random
import resource
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from database_user import RECORDS, SAID, a_user, computes, filled, sound, strictly, survives, ttc
from faults import Attack
from forks import forked

from ttc_llvm.tuning import file_access
from ttc_llvm.tuning.database import Database
from ttc_llvm.tuning.solution_file import SolutionFile

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
    "locked": Attack(locked),
    "full": Attack(full, 2),
}
