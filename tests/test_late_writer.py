"""What the database writes soon: by a thread, together, at the end of the process, after a fork, without threads."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Collection
from dataclasses import replace
from pathlib import Path

import pytest
from processes import attempt

from ttc_llvm.tuning.database import late_writer
from ttc_llvm.tuning.database.database import Database
from ttc_llvm.tuning.database.records import Record, Request
from ttc_llvm.tuning.database.solution_file import SolutionFile

REQUEST = Request("s 8:1:256,16:8:1 one-zero", "x86_64 haswell +avx2", 2, "cold", "", "cpu1 llvm22.1")
RECORDS = [Record(replace(REQUEST, threads=n), 1, "cpu1 tile=8", objects=(("kernel", b"code"),)) for n in (1, 2, 3)]
PATIENCE = 20.0


@pytest.fixture
def database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Database:
    monkeypatch.setattr(late_writer, "SOON", 0.3)
    return Database(tmp_path / "solutions.sqlite3")


def stored(database: Database) -> list[int]:
    """Threads of the solutions in the file."""
    return sorted(row.record.request.threads for row in SolutionFile(str(database.path)).rows())


def until(is_so: Callable[[], bool]) -> bool:
    end = time.monotonic() + PATIENCE
    while not is_so() and time.monotonic() < end:
        time.sleep(0.02)
    return is_so()


def test_solutions_answer_at_once_and_are_written_together(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    put, written = SolutionFile.put, list[int]()

    def counted(file: SolutionFile, given: Collection[Record], refused: Collection[tuple[str, str]] = ()) -> list[bool]:
        written.append(len(given))
        return put(file, given, refused)

    monkeypatch.setattr(SolutionFile, "put", counted)
    for record in RECORDS:
        database.store(record, soon=True)
        assert database.find(record.request, 1).record == record
    assert stored(database) == written == []
    assert until(lambda: stored(database) == [1, 2, 3])
    assert written == [3]
    assert until(lambda: not any(thread.name == "ttc-database" for thread in threading.enumerate()))
    database.store(replace(RECORDS[0], request=replace(REQUEST, threads=4)), soon=True)
    assert until(lambda: stored(database) == [1, 2, 3, 4])


def test_what_is_written_at_once_takes_the_others_along(database: Database) -> None:
    database.store(RECORDS[0], soon=True)
    database.store(RECORDS[1])
    assert stored(database) == [1, 2]


def test_code_of_no_solution_is_found_at_once(database: Database) -> None:
    for record in RECORDS:
        database.keep_native(record, 2)
        assert database.native(record.request, record.plan) == record.objects
    later = Database(database.path)
    assert later.native(REQUEST, "cpu1 tile=8") == ()
    database.close()
    assert [bool(later.native(record.request, record.plan)) for record in RECORDS] == [False, True, True]


STORE = """
import sys
from ttc_llvm.tuning.database.database import Database
from ttc_llvm.tuning.database.records import Record, Request
database = Database(sys.argv[1])
database.store(Record(Request("p", "t", 7, "cold", "", "v"), 1, "plan"), soon=True)
"""


def test_the_end_of_a_process_writes(database: Database) -> None:
    assert attempt(sys.executable, "-c", STORE, str(database.path)).returncode == 0
    assert stored(database) == [7]


def test_without_threads_it_is_written_at_once(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refused)
    for record in RECORDS:
        database.store(record, soon=True)
        assert record.request.threads in stored(database)


@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
def test_a_forked_child_writes_what_it_finds(database: Database) -> None:
    database.store(RECORDS[0], soon=True)
    child = os.fork()
    if child == 0:
        database.store(RECORDS[1], soon=True)
        until(lambda: 2 in stored(database))
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert until(lambda: stored(database) == [1, 2])
