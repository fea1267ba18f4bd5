"""A user of the solutions database, and what must hold for him whatever is done to the file.

Every way to the file ends in a result or in one line, and a compilation computes what it should.
"""

from __future__ import annotations

import io
import logging
import os
import random
import shutil
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from unittest import mock

import numpy as np

import ttc_llvm
from ttc_llvm import Problem, cli
from ttc_llvm.errors import DatabaseError
from ttc_llvm.runtime import kernel
from ttc_llvm.tuning.database import late_writer, notices, trust
from ttc_llvm.tuning.database.database import Database
from ttc_llvm.tuning.database.records import Record, Request, Timing
from ttc_llvm.tuning.database.solution_file import SolutionFile

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
    """A user whose home is the folder; yields the path of the database, which is written at once."""
    wanted = {"HOME": folder, "XDG_STATE_HOME": folder / "state", "XDG_CACHE_HOME": folder / "cache"}
    before = dict(os.environ)
    os.environ.update({name: str(value) for name, value in wanted.items()})
    for name in ("TTC_DATABASE", trust.VARIABLE):
        os.environ.pop(name, None)
    notices._warned.clear()
    SAID.clear()
    folder.chmod(0o755)
    (folder / "data").mkdir(mode=0o700)
    try:
        with mock.patch.object(late_writer, "SOON", 0):
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


def sound(path: Path) -> set[str]:
    """IDs of the solutions in a file that passes SQLite's check."""
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    return {row.record.request.id for row in SolutionFile(path).rows()}
