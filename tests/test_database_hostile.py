"""Whatever SQLite raises or returns is a damaged file: one line, worked around, wherever the file is met."""

from __future__ import annotations

import io
import itertools
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import numpy as np
import pytest

import ttc_llvm
from ttc_llvm import Problem, cli
from ttc_llvm.errors import DatabaseError
from ttc_llvm.tuning.database import exchange, notices
from ttc_llvm.tuning.database.connection import connect
from ttc_llvm.tuning.database.database import Database
from ttc_llvm.tuning.database.records import Record, Request
from ttc_llvm.tuning.database.solution_file import SolutionFile

REQUEST = Request("s 8:1:256", "x86_64 haswell", 2, "cold", "", "cpu1")
RECORD = Record(REQUEST, effort=20, plan="cpu1 tile=8", seconds=0.25, objects=(("kernel", b"code" * 999),))


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "solutions.sqlite3"
    monkeypatch.setenv("TTC_DATABASE", str(path))
    notices._warned.clear()
    SolutionFile(path).put([RECORD])
    return path


def execute(path: Path, statements: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.executescript(statements)


def flip(path: Path, word: bytes) -> None:
    """One byte of a word inside the file becomes one that no text in UTF-8 has there."""
    data = bytearray(path.read_bytes())
    assert word in data
    data[data.index(word)] ^= 0x80
    path.write_bytes(data)


NEW = itertools.count(7)
NAMES = [b"TABLE solutions_v", b"solutions_v", b"INDEX solutions_v", b"problem TEXT", b"table"]


def solved() -> bool:
    a, b = np.arange(960, dtype="f4"), np.zeros(960, "f4")
    ttc_llvm.compile(Problem((1, 0), (24, 40), "s"), 1, threads=1)(a, b)
    return np.array_equal(b.reshape(24, 40), a.reshape(40, 24).T)


def transposed() -> bool:
    x = np.random.default_rng(1).random((3, 5, next(NEW)))  # layouts that were seen before need no database
    return np.array_equal(ttc_llvm.transpose(x, (2, 0, 1), effort=2, threads=1), x.transpose(2, 0, 1))


@pytest.mark.parametrize("run", [solved, transposed])
@pytest.mark.parametrize("word", NAMES)
def test_a_flipped_byte_in_a_name_is_worked_around(
    path: Path, lines: Callable[[], list[str]], word: bytes, run: Callable[[], bool]
) -> None:
    flip(path, word)
    before = path.read_bytes()
    assert run()
    (message,) = lines()
    assert str(path) in message and message.isprintable() and "moves it aside" in message
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "words",
    [
        ("database", "list"),
        ("database", "list", "--json"),
        ("database", "show", "a"),
        ("database", "export", "{folder}/out"),
        ("database", "import", "{folder}/in"),
        ("database", "clear", "a"),
        ("database", "clear", "--older"),
        ("report", "{path}"),
    ],
)
@pytest.mark.parametrize("word", NAMES)
def test_commands_say_one_line(
    path: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], word: bytes
) -> None:
    path.with_name("in").write_bytes(exchange.to_line(RECORD))
    flip(path, word)
    assert cli.main([one.format(folder=path.parent, path=path) for one in words]) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1 and err.startswith("ttc: ")


@pytest.mark.parametrize("word", NAMES)
def test_clear_moves_it_aside_and_info_says_so(
    path: Path, capsys: pytest.CaptureFixture[str], word: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    flip(path, word)
    from ttc_llvm.cli import info

    assert "cannot be read" in info._database(None)["error"]
    assert cli.main(["database", "clear", "--all"]) == 0
    assert f"{path} was damaged and is now" in capsys.readouterr().out
    SolutionFile(path).put([RECORD])
    assert SolutionFile(path).get(REQUEST) == RECORD


# ---- schemas that are not ours


PLANTED = {
    "view": "DROP TABLE solutions_v2; CREATE VIEW solutions_v2 AS SELECT 1 AS id",
    "view in capitals": "ALTER TABLE solutions_v2 RENAME TO x; CREATE VIEW SOLUTIONS_V2 AS SELECT * FROM x",
    "trigger": "CREATE TRIGGER evil AFTER INSERT ON solutions_v2 BEGIN DELETE FROM code_v2; END",
    "trigger on code": "CREATE TRIGGER evil BEFORE DELETE ON code_v2 BEGIN SELECT 1; END",
    "index with a function": "CREATE INDEX evil ON solutions_v2 (upper(plan))",
    "fewer columns": "DROP TABLE code_v2; CREATE TABLE code_v2 (id)",
    "more columns": "ALTER TABLE solutions_v2 ADD COLUMN more DEFAULT 'x'",
    "another version 1": "CREATE TABLE solutions_v1 (id)",
    "virtual table": "DROP TABLE code_v2; CREATE VIRTUAL TABLE code_v2 USING fts5(id)",
}


@pytest.mark.parametrize("name", PLANTED)
def test_what_pretends_to_be_our_table_is_damage(path: Path, lines: Callable[[], list[str]], name: str) -> None:
    try:
        execute(path, PLANTED[name])
    except sqlite3.OperationalError as error:
        pytest.skip(f"this SQLite has no such table ({error})")
    before = path.read_bytes()
    database = Database(path)
    assert database.find(REQUEST, 1).record is None
    database.store(RECORD)
    assert database.find(REQUEST, 1).sufficient
    (message,) = lines()
    assert "malformed schema" in message
    assert path.read_bytes() == before
    assert SolutionFile(path).clear().moved is not None


def test_other_programs_tables_beside_ours_are_left_alone(path: Path) -> None:
    execute(path, "CREATE TABLE other (x); CREATE VIEW seen AS SELECT * FROM other; INSERT INTO other VALUES (7)")
    assert SolutionFile(path).get(REQUEST) == RECORD
    assert SolutionFile(path).clear().rows == 1
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT x FROM seen").fetchall() == [(7,)]


def test_an_index_that_lost_its_rows_is_damage_for_clear(path: Path) -> None:
    """Rows can be removed, and the next could not be stored."""
    execute(path, "PRAGMA writable_schema = ON; UPDATE sqlite_master SET rootpage = 2 WHERE name LIKE '%_problem'")
    cleared = SolutionFile(path).clear()
    assert cleared.moved is not None
    SolutionFile(path).put([RECORD])


def test_no_function_of_the_schema_is_trusted(path: Path) -> None:
    with closing(connect(str(path), 1.0)) as connection:
        for pragma, value in (("trusted_schema", 0), ("cell_size_check", 1), ("mmap_size", 0)):
            assert connection.execute(f"PRAGMA {pragma}").fetchone() == (value,)


# ---- paths


@pytest.mark.parametrize("name", ["a\0b", "a\ud800b", "x" * 300, "/dev/null/x", "/dev/zero", "."])
def test_paths_that_no_file_can_have(
    tmp_path: Path, lines: Callable[[], list[str]], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path.with_name("cache")))
    notices._warned.clear()
    database = Database(Path(name))
    database.store(RECORD)
    assert database.find(REQUEST, 1).record == RECORD
    (message,) = lines()
    assert message.isprintable()
    assert list(tmp_path.iterdir()) == []
    for method in (SolutionFile.rows, SolutionFile.clear):
        with suppress(DatabaseError):
            method(SolutionFile(Path(name)))


def test_a_pipe_is_no_database_and_nobody_waits_for_it(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(DatabaseError, match="not a regular file"):
        SolutionFile(tmp_path / "pipe").rows()


def test_a_current_directory_that_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    database = Database(Path("solutions.sqlite3"))
    database.store(RECORD)
    assert database.find(REQUEST, 1).record == RECORD
    monkeypatch.chdir(tmp_path)
    database.close()
    assert list(tmp_path.iterdir()) == [], "another directory is not meant"


# ---- hostile exports


@pytest.mark.parametrize(
    "line",
    [
        b'{"extra": ' + b"[" * 100_000,
        b'{"a": ' * 2000,
        b"1" * 5000,
        b'{"format": 1e999}',
        b"null",
        b'{"evil\\u001b[31m": 1}',
    ],
)
def test_hostile_lines_are_refused_in_one_line(path: Path, line: bytes) -> None:
    with pytest.raises(DatabaseError) as caught:
        SolutionFile(path).import_([line], "evil.jsonl")
    assert str(caught.value).isprintable() and len(str(caught.value)) < 400


def test_a_line_without_an_end_is_not_read_to_its_end(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exchange, "MAX_LINE", 1000)
    stream = io.BytesIO(b" " * 1_000_000)
    with pytest.raises(DatabaseError, match="line 1: it is longer than 1000 bytes"):
        SolutionFile(path).import_(exchange.lines_of(stream), "endless")
    assert stream.tell() == 1001
