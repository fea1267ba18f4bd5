"""Texts fit their terminal: tables lose nothing, and the lines of every command are as wide as it is."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import made_results
import pytest
from hypothesis import given
from hypothesis import strategies as st
from processes import PATIENCE, terminal_text

from ttc_llvm import cli
from ttc_llvm.cli import database_list
from ttc_llvm.cli.options import SUBCOMMANDS
from ttc_llvm.compiling.stored_plans import open_database
from ttc_llvm.problem import tables
from ttc_llvm.problem.tables import aligned, folded, labelled, wrapped
from ttc_llvm.tuning.database.outcomes import Listed
from ttc_llvm.tuning.database.records import Record, Request
from ttc_llvm.tuning.measurement import BUSY

ROOT = Path(__file__).parent.parent
WIDE = ("--perm=5,3,1,0,2,4", "--size=4,6,2,8,3,12", "--dataType=d")
words = st.text(st.sampled_from("ab1,x_-: "), max_size=60)


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    return lambda width: monkeypatch.setenv("COLUMNS", str(width))


def bare(text: str) -> str:
    return re.sub(r"\s", "", text)


# --- texts ------------------------------------------------------------------------------------------------


@given(words, st.integers(1, 50))
def test_folded_texts_lose_nothing(text: str, room: int) -> None:
    pieces = folded(text, room)
    assert max(map(len, pieces)) <= room
    assert bare("".join(pieces)) == bare(text)


def test_texts_are_broken_behind_separators() -> None:
    assert folded("24x16x20x8x10x12", 12) == ["24x16x20x8x", "10x12"]
    assert folded("+avx512bw,+avx512dq,+fma", 16) == ["+avx512bw,", "+avx512dq,+fma"]
    assert folded("abcdef", 4) == ["abcd", "ef"]


@given(words, st.integers(40, 90), st.sampled_from(["", "plan:   "]))
def test_wrapped_texts_fit(text: str, width: int, first: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", str(width))
        lines = wrapped(text, first, " " * len(first))
    assert max(map(len, lines)) <= width
    assert bare("".join(lines)) == bare(first + text)


def test_paths_stay_whole(narrow: Callable[[int], None]) -> None:
    narrow(40)
    path = "/a/rather/long/path/to/some/folder/that/somebody/may/copy"
    assert wrapped(f"written to {path} just now", "", "  ") == ["written to", f"  {path}", "  just now"]


def test_labels_stand_beside_their_first_line(narrow: Callable[[int], None]) -> None:
    narrow(40)
    found = list(labelled([("plan", ["cpu3 tile=8,16,8 block=8,1,8 order=0,1,2"]), ("files", []), ("x", ["a", "b"])]))
    assert found == [
        ("plan ", "cpu3 tile=8,16,8 block=8,1,8"),
        ("     ", "order=0,1,2"),
        ("files", "-"),
        ("x    ", "a"),
        ("     ", "b"),
    ]


# --- tables -----------------------------------------------------------------------------------------------


@given(
    st.integers(1, 12).flatmap(lambda n: st.lists(st.lists(words, min_size=n, max_size=n), min_size=1, max_size=5)),
    st.integers(0, 5),
    st.integers(0, 1),
    st.integers(40, 100),
)
def test_tables_fit_and_lose_nothing(rows: Sequence[Sequence[str]], texts: int, remarks: int, width: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", str(width))
        lines = aligned(rows, texts, min(remarks, len(rows[0]) - 1))
    assert max(map(len, lines)) <= width
    found = bare("".join(lines))
    for row in rows:
        for mark in "ab1":
            assert found.count(mark) >= sum(cell.count(mark) for cell in row)


def test_a_table_that_fits_is_one_table(narrow: Callable[[int], None]) -> None:
    narrow(80)
    assert aligned([("name", "n"), ("x", "12")], 1) == ["name   n", "x     12"]


def test_texts_are_folded_before_a_table_is_parted(narrow: Callable[[int], None]) -> None:
    narrow(40)
    rows = [("case", "size", "GiB/s"), ("ttc57/45/update", "24x16x20x8x10x12", "12.3")]
    assert aligned(rows, 2) == [
        "case             size              GiB/s",
        "ttc57/45/update  24x16x20x8x10x12   12.3",
    ]
    narrow(41)
    assert aligned([(*row, "9" * 6) for row in rows], 2) == [
        "case             size              GiB/s",
        "ttc57/45/update  24x16x20x8x10x12   12.3",
        "",
        "case             999999",
        "ttc57/45/update  999999",
    ]
    rows = [("case", "size", "x"), ("ttc57/45/update", "24x16x20x8x10x12", "1234567890")]
    assert aligned(rows, 2) == [
        "case             size                   x",
        "ttc57/45/update  24x16x20x8x   1234567890",
        "                 10x12",
    ]


def test_each_part_of_a_table_ends_with_the_remarks(narrow: Callable[[int], None]) -> None:
    narrow(40)
    rows = [("case", "GiB/s", "x g++", "x clang++", ""), ("ttc57/45", "12.3", "2.00", "3.00", BUSY)]
    rows += [("ttc57/46", "12.5", "2.10", "3.10", "")]
    assert aligned(rows, 1, 1) == [
        "case      GiB/s  x g++",
        "ttc57/45   12.3   2.00  this machine",
        "                        is busy",
        "ttc57/46   12.5   2.10",
        "",
        "case      x clang++",
        "ttc57/45       3.00  this machine",
        "                     is busy",
        "ttc57/46       3.10",
    ]


@pytest.mark.parametrize(("given", "columns"), [("60", 60), ("", 80), ("0", 80), ("many", 80), ("7", 40)])
def test_a_pipe_has_80_columns_or_what_is_said(
    narrow: Callable[[int], None], monkeypatch: pytest.MonkeyPatch, given: str, columns: int
) -> None:
    monkeypatch.setenv("COLUMNS", given)
    assert tables.columns() == columns


# --- commands ---------------------------------------------------------------------------------------------

COMMANDS = {
    "compile": (*WIDE, "--emit=", "--maxImplementations=2", "--verbose"),
    "library": ("--manifest=all.txt", "--emit=", "--maxImplementations=1"),
    "info": ("info", "--no-ceilings"),
    "targets": ("info", "--targets"),
    "list": ("database", "list"),
    "show": ("database", "show", "ID"),
    "cases": ("bench", "--list"),
    "bench": ("bench", "--report=bench.jsonl"),
    "compare": ("compare", "--report=bench.jsonl"),
    "explain": ("explain", *WIDE, "--stage=problem,merged,plans,loops,candidates"),
}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a database, results and a manifest."""
    folder = tmp_path_factory.mktemp("place")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("TTC_DATABASE", "solutions.sqlite3")
        assert cli.main([*WIDE, "--lda=5,6,2,8,3,13", "--emit=", "--maxImplementations=3", "--hotA", "--quiet"]) == 0
    made_results.write(folder / "bench.jsonl", made_results.made(step=9, efforts=(10,), affinities=("compact",)))
    long = "--perm=9,8,7,6,5,4,3,2,1,0 --size=2,3,4,5,6,7,2,3,4,5"
    (folder / "all.txt").write_text(f"--perm=2,1,0 --size=8,16,16\n{' '.join(WIDE)}\n{long}\n")
    return folder


@pytest.mark.parametrize("width", [60, 80, 120, None])
@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_fits(
    name: str, width: int | None, place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(place)
    monkeypatch.setenv("TTC_DATABASE", "solutions.sqlite3")
    monkeypatch.delenv("COLUMNS")
    if width is not None:
        monkeypatch.setenv("COLUMNS", str(width))
    ids = [row.record.request.id for row in open_database("solutions.sqlite3").file.rows()]  # type: ignore[union-attr]
    assert cli.main([ids[0] if word == "ID" else word for word in COMMANDS[name]]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if len(line) > (width or 80) and not is_path(line)] == []
    assert lines


@pytest.mark.parametrize("command", ["compile", *SUBCOMMANDS])
def test_help_fits(command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert cli.main(["help", command]) == 0
    assert [line for line in capsys.readouterr().out.splitlines() if len(line) > 80] == []


def test_a_terminal_tells_its_own_width(place: Path) -> None:
    master, terminal = pty.openpty()
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    environment |= {"PYTHONPATH": str(ROOT), "TERM": "xterm"}
    script = "import fcntl, struct, sys, termios; fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack('4H', 24, 52, 0, 0));"
    script += "from ttc_llvm.cli import main; sys.exit(main(['info', '--no-ceilings']))"
    done = subprocess.Popen([sys.executable, "-c", script], stdout=terminal, env=environment, cwd=place)
    os.close(terminal)
    out = terminal_text(master)
    assert done.wait(PATIENCE) == 0
    assert b"\x1b[1m" in out, "labels are bold"
    lines = re.sub(r"\x1b\[[0-9;]*m", "", out.decode()).splitlines()
    assert 45 < max(len(line) for line in lines if not is_path(line)) <= 52


def is_path(line: str) -> bool:
    """Whether a line holds a path alone, which stays whole to be copied."""
    return line.split()[-1].startswith("/") and line.startswith("  ")


# --- the list of solutions ----------------------------------------------------------------------------------


def listed(extra: str, problem: str = "i64>i64 one-zero 6:20:1 4:1:6 5:4:24", **options: str) -> list[str]:
    """The listing of one solution."""
    options = {"mode": "cold", "options": ""} | options
    request = Request(problem, "x86_64 znver4 +avx 512/512", 2, options["mode"], options["options"], "v")
    return database_list.lines([Listed(Record(request, 20, "plan", 0.005, extra=extra), 0)])


def test_problems_are_listed_as_they_were_asked_for(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["database", "list", f"--database={place / 'solutions.sqlite3'}"]) == 0
    head, *rows = capsys.readouterr().out.splitlines()
    assert head.split() == ["id", "perm", "size", "type", "with", "mode", "cpu", "threads", "effort", "ms"]
    (row,) = [row for row in rows if "lda" in row]
    assert row.split()[1:7] == ["5,3,1,0,2,4", "4x6x2x8x3x12", "d", "lda", "5x6x2x8x3x13", "hot-a"]
    assert cli.main(["database", "show", row.split()[0], f"--database={place / 'solutions.sqlite3'}"]) == 0
    first = capsys.readouterr().out.splitlines()[0]
    assert first == "asked:        perm 5,3,1,0,2,4, size 4x6x2x8x3x12, type d, lda 5x6x2x8x3x13"


@pytest.mark.usefixtures("own_place")
def test_types_and_orders_are_listed_as_typed(capsys: pytest.CaptureFixture[str]) -> None:
    few = "--emit=", "--maxImplementations=1", "--quiet"
    assert cli.main(["--perm=2,0,1", "--size=3,4,5", "--dataType=float64", "--order=C", *few]) == 0
    assert cli.main(["database", "list"]) == 0
    row = capsys.readouterr().out.splitlines()[1]
    assert row.split()[1:6] == ["2,0,1", "3x4x5", "float64", "order", "C"]


def test_rows_that_do_not_tell_show_an_equal_problem() -> None:
    head, row = listed("{}")
    assert head.split() == ["id", "perm", "size", "type", "cpu", "threads", "effort", "ms"]
    assert row.split()[1:] == ["2,0,1", "4x5x6", "i64", "znver4", "2", "20", "5"]


@pytest.mark.parametrize(
    "asked", ["1", '"x"', "[]", '{"perm": 1}', '{"perm": ["a"], "size": [1], "dataType": "s"}', '{"size": [1]}']
)
def test_whatever_a_file_says_can_be_listed(asked: str) -> None:
    assert listed(f'{{"asked": {asked}}}')[1].split()[1] in ("2,0,1", "-")
    assert "8:1:256" in listed("{}", "s 8:1:256")[1]
    evil = '{"asked": {"perm": [0], "size": [1], "dataType": "\\u001b[31m"}}'
    assert "\x1b" not in "".join(listed(evil))


def test_columns_that_say_nothing_are_left_out() -> None:
    assert "mode" in listed("{}", mode="hot-a")[0] and "options" in listed("{}", options="blockings=8x8")[0]


def test_ids_stay_whole(narrow: Callable[[int], None]) -> None:
    narrow(40)
    assert all(len(line.split()[0]) == 10 for line in listed("{}", mode="hot-b") if line.startswith(("0", "1", "a")))


def test_the_terms_of_a_row_survive_a_better_one() -> None:
    record = Record(Request("p", "t", 1, "cold", "", "v"), 1, "plan", extra='{"asked": 1}')
    assert replace(record, effort=2).extra == record.extra
