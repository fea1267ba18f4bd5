"""Attacks on the solutions database: damaged, foreign, locked and full files, others' homes, imports, planted code.

Whatever is done to a file, every way to it ends in a result or in one line, a compilation computes what it should, and
no code comes out of it but what this user has signed.
"""

from __future__ import annotations

import io
import json
import logging
import os
import random
import re
import resource
import shutil
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import replace
from pathlib import Path

import numpy as np
from faults import Attack
from forks import forked

import ttc_llvm
from ttc_llvm import Problem, backend, cli, kernel
from ttc_llvm.errors import DatabaseError
from ttc_llvm.stored_plans import open_database
from ttc_llvm.tuning import exchange, file_access, notices, signing, trust
from ttc_llvm.tuning.database import Database
from ttc_llvm.tuning.records import Record, Request, Timing
from ttc_llvm.tuning.solution_file import SolutionFile

GOLDEN = Path(__file__).parents[1] / "golden" / "solutions_v1.sqlite3"
NOBODY = 65534
PROBLEM = Problem((1, 0), (24, 40), "s")
RECORDS = tuple(
    Record(
        Request(f"s {8 * n}:1:256 16:8:1", "x86_64 haswell", 2, "cold", "", "cpu1"),
        n,
        f"cpu1 tile={n}",
        0.25,
        (Timing(f"cpu1 tile={n}", (0.25, 0.5)),),
        (("kernel", bytes([n]) * 3000),),
    )
    for n in range(1, 9)
)
PLANTED = "define void @kernel(ptr %a, ptr %b, ptr %s, ptr %p, ptr %x, i64 %begin, i64 %end) {\n  ret void\n}\n"
SAID: list[str] = []


class _Listener(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        SAID.append(record.getMessage())


logging.getLogger("ttc_llvm").addHandler(_Listener())


# ---- what must hold


def survives(chance: random.Random, path: Path) -> Iterable[str]:
    """Every way to the file ends in a result or in one line."""
    for record in RECORDS[:2]:
        database = Database(path)
        found = database.find(record.request, 1).record
        assert found is None or found.objects in ((), record.objects), "code came out that was never signed"
        database.store(record)
        assert database.find(record.request, record.effort).sufficient, "a solution was forgotten"
    file = SolutionFile(path)
    for operation in (
        lambda: [file.get(record.request) for record in RECORDS],
        lambda: [file.show(row.record.request.id) for row in file.rows()],
        lambda: file.export(io.BytesIO()),
        lambda: file.delete([RECORDS[3].request.id]),
        lambda: file.clear_older("cpu2"),
    ):
        strictly(operation)
    yield from commands(chance, path)
    assert all(line.isprintable() for line in SAID), SAID
    assert len(SAID) == len(set(SAID)), "a line was said twice"


def strictly(operation: Callable[[], object]) -> None:
    """It works, or fails with one line."""
    try:
        operation()
    except DatabaseError as error:
        assert str(error).isprintable(), f"{error!r} is not one line"


def commands(chance: random.Random, path: Path) -> Iterator[str]:
    """The command line, which ends by removing everything, or by moving the file aside."""
    export = path.with_name("export.jsonl")
    for words in (["list"], ["list", "--json"], ["export", str(export)], ["import", str(export)], ["clear", "--older"]):
        ttc("database", *words, f"--database={path}")
    if chance.random() < 0.02:  # it measures the machine, too
        assert ttc("info", "--json", f"--database={path}")[0] == 0
        yield "info"
    status, said = ttc("database", "clear", "--all", f"--database={path}")
    yield "moved aside" if "was damaged and is now" in said else "cleared" if status == 0 else "refused"
    if status == 0:
        SolutionFile(path).put(RECORDS[:1])
        assert SolutionFile(path).get(RECORDS[0].request) == RECORDS[0], "a fresh file forgets"


def ttc(*words: str) -> tuple[int, str]:
    """One command in this process: its status, and what it said."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        status = cli.main(list(words))
    assert status in (0, 2), f"ttc {words} ended with {status}: {err.getvalue()}"
    assert err.getvalue().count("\n") == (status != 0), f"ttc {words} said {err.getvalue()!r}"
    return status, out.getvalue() + err.getvalue()


def computes(path: Path) -> None:
    """A compilation with this database gives the right result."""
    kernel.cache = kernel.KernelCache()
    a, b = np.arange(960, dtype="f4"), np.zeros(960, "f4")
    ttc_llvm.compile(PROBLEM, 1, threads=1, database=path)(a, b)
    assert np.array_equal(b.reshape(24, 40), a.reshape(40, 24).T), "a wrong element"


@contextmanager
def a_user(folder: Path) -> Iterator[Path]:
    """A user whose home is the folder; yields the path of the database."""
    wanted = {"HOME": folder, "XDG_STATE_HOME": folder / "state", "XDG_CACHE_HOME": folder / "cache"}
    before = dict(os.environ)
    os.environ.update({name: str(value) for name, value in wanted.items()})
    for name in ("TTC_DATABASE", trust.VARIABLE):
        os.environ.pop(name, None)
    notices.forget()
    SAID.clear()
    folder.chmod(0o755)
    (folder / "data").mkdir(mode=0o700)
    try:
        yield folder / "data" / "solutions.sqlite3"
    finally:
        os.environ.clear()
        os.environ.update(before)


def filled(path: Path, chance: random.Random) -> bytes:
    """A sound database, some with rows of the older schema; its bytes."""
    if chance.random() < 0.5:
        shutil.copy(GOLDEN, path)
    SolutionFile(path).put(RECORDS)
    return path.read_bytes()


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


def another_user(chance: random.Random, folder: Path) -> Iterator[str]:
    """No home, a home of another's, a file of another's, as a user without rights."""
    if os.geteuid() != 0:
        yield "skipped: only root can be another user"
        return
    with a_user(folder) as path:
        filled(path, chance)
        path.chmod(chance.choice((0o600, 0o644, 0o666)))
        path.parent.chmod(chance.choice((0o700, 0o755, 0o777)))
        owner = chance.choice((0, NOBODY, 1234))
        os.chown(path, owner, owner)
        home = chance.choice(("own", "root's", "none"))
        if home == "own":
            (folder / "home").mkdir()
            os.chown(folder / "home", NOBODY, NOBODY)
        before = path.read_bytes()

        def check() -> bool:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
            for name in ("HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"):
                os.environ.pop(name, None)
            os.environ.update({} if home == "none" else {"HOME": str(folder / "home" if home == "own" else folder)})
            signing._secret.cache_clear()
            for record in RECORDS:
                found = open_database(path).find(record.request, 1)
                assert found.record is None or found.record.objects == ()
                open_database(path).store(record)
                assert open_database(path).find(record.request, 1).sufficient
            strictly(SolutionFile(path).rows)
            return all(map(str.isprintable, SAID))

        assert forked(check) == 0, f"mode {path.stat().st_mode:o}, owner {owner}, home {home}"
        assert owner != 0 or path.stat().st_mode & 0o002 or path.read_bytes() == before
        yield f"home {home}"


def sound(path: Path) -> set[str]:
    """IDs of the solutions in a file that passes SQLite's check."""
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    return {row.record.request.id for row in SolutionFile(path).rows()}


# ---- hostile imports and planted code


def hostile_import(chance: random.Random, folder: Path) -> Iterator[str]:
    """An export whose values, names or bytes were changed."""
    with a_user(folder) as path:
        line = exchange.to_fields(chance.choice(RECORDS))
        kind = chance.choice(("value", "name", "bytes", "nested"))
        name = chance.choice(list(line))
        if kind == "value":
            line[name] = chance.choice((None, 7, -1, 1e308, "", "x" * 70_000, [], {}, [[]], {"a": 1}, -(10**400), True))
        elif kind == "name":
            line["evil\x1b"] = line.pop(name)
        text = bytearray(json.dumps(line).encode())
        if kind == "bytes":
            for _ in range(chance.randrange(1, 4)):
                text[chance.randrange(len(text))] = chance.randrange(256)
        elif kind == "nested":
            text = bytearray(b'{"extra":' + b"[" * 100_000)
        export = path.with_name("export.jsonl")
        export.write_bytes(exchange.to_line(RECORDS[0]) + bytes(text) + b"\n")
        words = chance.choice(([], ["--with-code"]))
        status, _ = ttc("database", "import", str(export), *words, f"--database={path}")
        assert status == 0 or not SolutionFile(path).rows(), "an import that failed left rows"
        assert words or not any(row.packed_bytes for row in SolutionFile(path).rows()), "code was taken"
        yield f"{kind}: {'taken' if status == 0 else 'refused'}"


def planted(chance: random.Random, folder: Path) -> Iterator[str]:
    """Code that does nothing, well formed, signed by somebody else or lying where others can write."""
    with a_user(folder) as path:
        computes(path)
        (row,) = (one for one in SolutionFile(path).rows() if one.packed_bytes)
        code = backend.compile_object(PLANTED, backend.host_target())
        SolutionFile(path).put([replace(row.record, effort=7, objects=((kernel.NAME, code),))])
        how = chance.choice(("signature", "mode", "folder", "owner") if os.geteuid() == 0 else ("signature", "mode"))
        {
            "signature": lambda: os.environ.update(XDG_STATE_HOME=str(folder / "another")),
            "mode": lambda: path.chmod(chance.choice((0o660, 0o602, 0o666))),
            "folder": lambda: path.parent.chmod(chance.choice((0o770, 0o1777))),
            "owner": lambda: os.chown(path, NOBODY, NOBODY),
        }[how]()
        computes(path)
        (row,) = (one for one in SolutionFile(path).rows() if one.record.effort == 7)
        yield how


NUMBERS = ("0", "1", "2", "3", "16", "24", "40", str(1 << 20), str(1 << 40), str((1 << 63) - 1), str(1 << 64), "9" * 30)
WORDS = ("b", "carry", "shift", "rows", "far")


def hostile_plans(chance: random.Random, folder: Path) -> Iterator[str]:
    """Numbers and words in a plan are changed: it is refused, or gives the right result."""
    with a_user(folder) as path:
        computes(path)
        (row,) = (one for one in SolutionFile(path).rows() if one.packed_bytes)
        words = row.record.plan.split()
        for _ in range(chance.randrange(1, 4)):
            at = chance.randrange(1, len(words))
            words[at] = re.sub(r"\d+", lambda _: chance.choice(NUMBERS), words[at])
            words[at] = re.sub("none|blocks", lambda _: chance.choice(WORDS), words[at])
        SolutionFile(path).put([replace(row.record, plan=" ".join(words), effort=7)])
        computes(path)
        yield "refused" if any("stored plan is ignored" in line for line in SAID) else "taken"


ATTACKS = {
    "damaged": Attack(damaged, 10),
    "foreign": Attack(foreign, 4),
    "locked": Attack(locked),
    "full": Attack(full, 2),
    "another-user": Attack(another_user, 2),
    "import": Attack(hostile_import, 3),
    "planted": Attack(planted, 2),
    "plans": Attack(hostile_plans, 2),
}
