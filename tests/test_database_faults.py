"""The solutions database among other processes, and with files that are damaged, locked or not writable."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from processes import PATIENCE, together

import ttc_llvm
from ttc_llvm.errors import DatabaseError
from ttc_llvm.tuning.database import database as database_module
from ttc_llvm.tuning.database import file_access, notices, schema
from ttc_llvm.tuning.database.connection import connect
from ttc_llvm.tuning.database.database import Database
from ttc_llvm.tuning.database.records import Record, Request
from ttc_llvm.tuning.database.solution_file import SolutionFile

REQUEST = Request("s 8:1:256", "x86_64 haswell", 2, "cold", "", "cpu1")
RECORD = Record(REQUEST, effort=20, plan="cpu1 tile=8", seconds=0.25, objects=(("kernel", b"code" * 999),))
OTHER = replace(RECORD, request=replace(REQUEST, threads=1))

ROOT = str(Path(next(iter(ttc_llvm.__path__))).parent)
WRITER = """
import sys
from pathlib import Path
from ttc_llvm.tuning.database.database import Database
from ttc_llvm.tuning.database.records import Record, Request
path, who, count = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
print("ready", flush=True)
sys.stdin.readline()
database = Database(path)
for n in range(count):
    request = Request(f"{who} {n}", "target", 1, "cold", "", "cpu1")
    database.store(Record(request, 1, "plan", objects=(("kernel", bytes(4000)),)))
database.close()
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "solutions.sqlite3"


def execute(path: Path, statement: str, values: tuple[object, ...] = ()) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        return connection.execute(statement, values).fetchall()


def with_pragma(monkeypatch: pytest.MonkeyPatch, pragma: str) -> None:
    """Every connection from now on obeys this pragma: SQLite's own way to a read-only or a full file."""

    def limited(place: str, patience: float) -> sqlite3.Connection:
        connection = connect(place, patience)
        connection.execute(f"PRAGMA {pragma}")
        return connection

    monkeypatch.setattr(schema, "connect", limited)


# ---- other processes


def start_writer(path: Path, who: str, count: int) -> subprocess.Popen[str]:
    environ = os.environ | {"PYTHONPATH": os.pathsep.join([ROOT, os.environ.get("PYTHONPATH", "")])}
    command = [sys.executable, "-c", WRITER, str(path), who, str(count)]
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True, env=environ)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def release(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


def test_many_processes_store_at_once_and_nothing_is_lost(path: Path) -> None:
    writers = [start_writer(path, f"writer {n}", 30) for n in range(4)]
    for writer in writers:
        release(writer)
    for writer in writers:
        _, errors = writer.communicate(timeout=PATIENCE)
        assert (writer.returncode, errors) == (0, "")
    found = {row.record.request.problem for row in SolutionFile(path).rows()}
    assert found == {f"writer {n} {k}" for n in range(4) for k in range(30)}
    assert execute(path, "PRAGMA integrity_check") == [("ok",)]


def test_a_killed_writer_leaves_a_sound_file(path: Path) -> None:
    for pause in (0.02, 0.05):
        writer = start_writer(path, f"victim {pause}", 10**6)
        release(writer)
        while not path.exists():
            time.sleep(0.001)
        time.sleep(pause)
        writer.send_signal(signal.SIGKILL)
        writer.communicate()
        rows = SolutionFile(path).rows()
        SolutionFile(path).put([RECORD])
        assert len(SolutionFile(path).rows()) >= len(rows)
        assert execute(path, "PRAGMA integrity_check") == [("ok",)]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_children_forked_while_another_thread_stores_can_store_too(path: Path) -> None:
    database, stop = Database(path), threading.Event()

    def busy() -> None:
        n = 0
        while not stop.wait(0.002):  # SQLite keeps no queue: others hardly get the lock from one that never pauses
            n += 1
            database.store(replace(RECORD, request=replace(REQUEST, problem=f"parent {n % 9}"), effort=n))

    thread = threading.Thread(target=busy)
    thread.start()
    try:
        children = [fork_and_store(database, n) for n in range(6)]
        assert [os.waitpid(child, 0)[1] for child in children] == [0] * 6
    finally:
        stop.set()
        thread.join()
    found = {row.record.request.problem for row in SolutionFile(path).rows()}
    assert {f"child {n}" for n in range(6)} <= found


def fork_and_store(database: Database, number: int) -> int:
    child = os.fork()
    if child:
        return child
    try:
        signal.alarm(30)
        request = replace(REQUEST, problem=f"child {number}")
        database.store(replace(RECORD, request=request))
        os._exit(0 if SolutionFile(database.path or Path()).get(request) is not None else 1)
    finally:
        os._exit(2)


def test_threads_share_one_database(path: Path) -> None:
    database = Database(path)
    missing: list[int] = []

    def work(first: int) -> None:
        for n in range(first, 40, 4):
            request = replace(REQUEST, threads=n + 1)
            database.store(replace(RECORD, request=request))
            if not database.find(request, 20).sufficient:
                missing.append(n)

    together(work, range(4))
    assert missing == []
    assert len(SolutionFile(path).rows()) == 40


def test_a_locked_file_is_waited_for(path: Path) -> None:
    SolutionFile(path).put([RECORD])
    with closing(sqlite3.connect(path, isolation_level=None, check_same_thread=False)) as holder:
        holder.execute("BEGIN EXCLUSIVE")
        timer = threading.Timer(0.2, holder.execute, ["COMMIT"])
        timer.start()
        assert SolutionFile(path).get(REQUEST) == RECORD
        timer.join()


def test_solutions_wait_in_memory_for_a_file_that_stays_locked(
    path: Path, monkeypatch: pytest.MonkeyPatch, lines: Callable[[], list[str]]
) -> None:
    monkeypatch.setattr(file_access, "PATIENCE", 1.0)
    SolutionFile(path).put([RECORD])
    database = Database(path)
    with closing(sqlite3.connect(path, isolation_level=None)) as holder:
        holder.execute("BEGIN EXCLUSIVE")
        database.store(OTHER)
        start = time.perf_counter()
        for _ in range(20):
            assert database.find(OTHER.request, 20).record == OTHER
            assert database.find(REQUEST, 20).record is None
        assert time.perf_counter() - start < 20, (
            "a file that is not available is not waited for again and again"
        )
        (message,) = lines()
        assert "is locked" in message and str(path) in message
    monkeypatch.setattr(time, "monotonic", lambda now=time.monotonic: now() + 60)
    assert database.find(REQUEST, 20).record == RECORD
    database.close()
    assert SolutionFile(path).get(OTHER.request) == OTHER


# ---- files that cannot be used


def random_bytes(path: Path) -> None:
    path.write_bytes(os.urandom(5000))


def truncated(path: Path) -> None:
    SolutionFile(path).put(
        replace(RECORD, request=replace(REQUEST, threads=n), objects=(("kernel", os.urandom(9000)),))
        for n in range(1, 9)
    )
    path.write_bytes(path.read_bytes()[:9000])


def overwritten(path: Path) -> None:
    SolutionFile(path).put([RECORD])
    path.write_bytes(path.read_bytes()[:100] + os.urandom(path.stat().st_size - 100))


def document(path: Path) -> None:
    path.write_text("Dear diary, this is not a database.\n" * 40)


def a_folder(path: Path) -> None:
    path.mkdir()


def another_program(path: Path) -> None:
    execute(path, "CREATE TABLE bookmarks (url)")


DAMAGED = [random_bytes, truncated, overwritten, document]


@pytest.mark.parametrize("spoil", [*DAMAGED, a_folder, another_program])
def test_an_unusable_file_is_reported_once_and_worked_around(
    path: Path, lines: Callable[[], list[str]], spoil: Callable[[Path], None]
) -> None:
    spoil(path)
    before = path.read_bytes() if path.is_file() else b""
    for database in (Database(path), Database(path)):
        database.store(RECORD)
        assert database.find(REQUEST, 20).record == RECORD
        assert database.find(OTHER.request, 20).record is None
        database.close()
    (message,) = lines()
    assert str(path) in message and "\n" not in message
    assert (path.read_bytes() if path.is_file() else b"") == before, "a user's file must not be touched"
    with pytest.raises(DatabaseError, match="solutions database"):
        SolutionFile(path).put([RECORD])


@pytest.mark.parametrize("spoil", DAMAGED)
def test_clear_moves_a_damaged_file_aside(path: Path, spoil: Callable[[Path], None]) -> None:
    spoil(path)
    content = path.read_bytes()
    cleared = SolutionFile(path).clear()
    assert cleared.moved is not None
    assert Path(cleared.moved).parent == path.parent
    assert Path(cleared.moved).read_bytes() == content
    assert not path.exists()
    SolutionFile(path).put([RECORD])
    assert SolutionFile(path).get(REQUEST) == RECORD


def test_clear_leaves_another_programs_file_alone(path: Path) -> None:
    another_program(path)
    with pytest.raises(DatabaseError, match="another program"):
        SolutionFile(path).clear()
    assert execute(path, "SELECT count(*) FROM bookmarks") == [(0,)]


@pytest.mark.parametrize(
    "place", ["/proc/none/x/s.sqlite3", "{file}/s.sqlite3", "/dev/null/s.sqlite3", "/dev/full"]
)
def test_a_folder_that_cannot_be_made(
    path: Path, tmp_path: Path, lines: Callable[[], list[str]], place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "file").touch()
    database = Database(Path(place.format(file=tmp_path / "file")))
    notices._warned.clear()
    database.store(RECORD)
    assert database.find(REQUEST, 20).record == RECORD
    assert len(lines()) == 1


@pytest.mark.parametrize(
    ("pragma", "fact"),
    [("query_only = 1", "readonly"), ("max_page_count = 1", "full")],
    ids=["read-only", "full"],
)
def test_a_file_that_cannot_be_written_is_still_read(
    path: Path,
    monkeypatch: pytest.MonkeyPatch,
    lines: Callable[[], list[str]],
    pragma: str,
    fact: str,
) -> None:
    SolutionFile(path).put([RECORD])
    with_pragma(monkeypatch, pragma)
    big = replace(OTHER, objects=(("kernel", os.urandom(100_000)),))
    database = Database(path)
    database.store(big)
    assert database.find(REQUEST, 20).record == RECORD
    assert database.find(big.request, 20).record == big
    (message,) = lines()
    assert fact in message and "last as long as this process" in message
    monkeypatch.undo()
    assert [row.record.request for row in SolutionFile(path).rows()] == [REQUEST]


def test_memory_stays_bounded_without_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database_module, "MAX_UNWRITTEN", 10)
    database = Database(None)
    for n in range(1, 31):
        database.store(replace(RECORD, request=replace(REQUEST, threads=n)))
    known = [n for n in range(1, 31) if database.find(replace(REQUEST, threads=n), 1).record]
    assert known == list(range(21, 31))


# ---- one bad row


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("provisional", -1),
        ("extra", "[]"),
        ("extra", None),
        ("kind", 7),
        ("timings", "{"),
        ("timings", "[1]"),
        ("timings", None),
        ("effort", "x"),
        ("plan", None),
        ("plan", b"\xff\xfe"),
        ("created", ""),
        ("threads", 7),
    ],
)
def test_a_corrupt_row_is_ignored_and_can_be_replaced(
    path: Path, lines: Callable[[], list[str]], column: str, value: object
) -> None:
    SolutionFile(path).put([RECORD, OTHER])
    execute(path, f"UPDATE {schema.SOLUTIONS} SET {column} = ? WHERE id = ?", (value, REQUEST.id))
    if isinstance(value, bytes) and column == "plan":
        execute(path, f"UPDATE {schema.SOLUTIONS} SET plan = CAST(plan AS TEXT)")
    database = Database(path)
    assert not database.find(REQUEST, 1).sufficient
    assert not database.find(REQUEST, 1).sufficient
    assert database.find(OTHER.request, 1).record == OTHER
    (message,) = lines()
    assert REQUEST.id in message and "ignored" in message
    database.store(RECORD)
    assert database.find(REQUEST, 1).record == RECORD
