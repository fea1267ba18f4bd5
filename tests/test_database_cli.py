"""`ttc database`: every action, in a pipe and on a terminal, and its errors of one line."""

from __future__ import annotations

import argparse
import io
import json
import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from ttc_llvm import cli
from ttc_llvm.cli import database as database_cli
from ttc_llvm.errors import TtcError
from ttc_llvm.runtime import kernel
from ttc_llvm.tuning.database.field_rules import EXHAUSTIVE
from ttc_llvm.tuning.database.records import Record, Request, Timing
from ttc_llvm.tuning.database.solution_file import SolutionFile

REQUEST = Request("s 8:1:256", "x86_64 haswell", 2, "hot-a", "streamingStores=off", "cpu1")
RECORD = Record(
    REQUEST,
    effort=EXHAUSTIVE,
    plan="cpu1 tile=8",
    seconds=0.0125,
    timings=(Timing("slow", (0.5,)), Timing("cpu1 tile=8", (0.0125, 0.02)), Timing("not run", ())),
    objects=(("kernel", b"code" * 99),),
    created="2024-05-06T07:08:09+00:00",
    note="evil \x1b[31m[bold]\tnote",
)
OLD = replace(
    RECORD, request=replace(REQUEST, threads=3, versions="cpu0"), made_by="cpu0", effort=1, seconds=None, objects=()
)


@pytest.fixture(autouse=True)
def versions(monkeypatch: pytest.MonkeyPatch) -> None:
    """The versions that the records of these tests have."""
    monkeypatch.setattr(kernel, "versions", lambda: "cpu1")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "solutions.sqlite3"
    SolutionFile(path).put([RECORD, OLD])
    return path


def ttc(*words: str | Path) -> int:
    """What the command line does with this sub-command."""
    parser = argparse.ArgumentParser(prog="ttc")
    database_cli.add_parser(parser.add_subparsers(dest="command"))
    try:
        return database_cli.run(parser.parse_args(["database", *map(str, words)]))
    except TtcError as error:
        print(f"ttc: {error}", file=sys.stderr)
        return 2


def on_terminal(monkeypatch: pytest.MonkeyPatch, answer: str) -> None:
    stdin = io.StringIO(answer)
    monkeypatch.setattr(stdin, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stdin", stdin)


def test_list_in_a_pipe_is_a_table(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert ttc("list", "--database", path) == 0
    heading, *lines = capsys.readouterr().out.splitlines()
    assert heading.split() == ["id", "perm", "size", "type", "mode", "options", "cpu", "threads", "effort", "ms"]
    rows = {line.split()[0]: line.split() for line in lines}
    row = rows[REQUEST.id[:10]]
    assert row[1:] == ["-", "s", "8:1:256", "-", "hot-a", "streamingStores=off", "haswell", "2", "all", "12.5"]
    assert rows[OLD.request.id[:10]][-2:] == ["1", "-"]


def test_list_counts_code_for_any_extents(
    path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What transpose keeps for its own use is many rows, which no user has asked for."""
    monkeypatch.setenv("COLUMNS", "80")
    family = [replace(RECORD, request=replace(REQUEST, problem=f"s>s any-zero n0:{k}:1 n1:1:sb1")) for k in (2, 3)]
    only = path.with_name("only.sqlite3")
    SolutionFile(path).put(family)
    SolutionFile(only).put(family)
    note = "2 kernels for arrays of any extents, which transpose keeps: --all lists them,\ntoo.\n"
    assert ttc("list", "--database", path) == 0
    shown = capsys.readouterr().out
    assert shown.endswith(f"\n\n{note}") and "n0:" not in shown and shown.count("haswell") == 2
    assert ttc("list", "--database", only) == 0
    assert capsys.readouterr().out == note
    for extra in ("--all", "--json"):
        assert ttc("list", extra, "--database", path) == 0
        shown = capsys.readouterr().out
        assert shown.count("n0:2:1") == shown.count("n0:3:1") == 1 and note not in shown


def test_list_on_a_terminal_is_a_table(
    path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "60")
    assert ttc("list", f"--database={path}") == 0
    output = capsys.readouterr().out
    assert REQUEST.id[:10] in output, "however narrow the terminal, IDs stay whole"
    assert "\t" not in output and "…" not in output


def test_list_as_json_holds_everything_but_objects(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert ttc("--database", path, "list", "--json") == 0
    rows = {row["id"]: row for row in json.loads(capsys.readouterr().out)["solutions"]}
    row = rows[REQUEST.id]
    assert row["packed_object_bytes"] > 0 and "objects" not in row
    assert (row["effort"], row["seconds"], row["note"]) == (EXHAUSTIVE, 0.0125, RECORD.note)
    assert row["timings"][1] == {"plan": "cpu1 tile=8", "seconds": [0.0125, 0.02]}


def test_an_empty_database_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    missing = tmp_path / "none.sqlite3"
    assert ttc("list", "--database", missing) == 0
    assert capsys.readouterr().out == f"no solutions in {missing}\n"
    assert ttc("list", "--json", "--database", missing) == 0
    assert json.loads(capsys.readouterr().out)["solutions"] == []
    assert not missing.exists()


def test_show_prints_timings_best_first_and_no_control_sequences(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ttc("show", REQUEST.id[:8], "--database", path) == 0
    output = capsys.readouterr().out
    assert "object:       kernel (396 bytes)" in output
    assert "note:         evil ?[31m[bold]?note" in output
    timings = [line for line in output.splitlines() if line.startswith("timing:")]
    assert timings == [
        "timing:       * 12.5 ms (best of 2 runs) cpu3 tile=8 fetch=blocks panel=none",  # in words of today
        "timing:         500 ms (best of 1 run) slow",
        "timing:         - ms (best of 0 runs) not run",
    ]


def test_show_as_json(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert ttc("show", REQUEST.id, "--json", "--database", path) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["object_bytes"] == {"kernel": 396}
    assert shown["plan"] == "cpu1 tile=8"


@pytest.mark.parametrize("left_out", ["--no-objects", None])
@pytest.mark.parametrize("taken", ["--with-code", None])
def test_export_and_import_through_a_file(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], left_out: str | None, taken: str | None
) -> None:
    export, copy = tmp_path / "all.jsonl", tmp_path / "copy.sqlite3"
    assert ttc("export", export, *filter(None, [left_out]), "--database", path) == 0
    assert ttc("import", export, *filter(None, [taken]), "--database", copy) == 0
    assert ttc("import", export, *filter(None, [taken]), "--database", copy) == 0
    carried = taken and not left_out
    coded = [f", {count} stored with code" if taken else "" for count in (1 if carried else 0, 0)]
    assert capsys.readouterr().out.splitlines() == [
        f"exported 2 solutions to {export}",
        f"read 2 solutions, 2 of them new or better than what was stored{coded[0]}",
        f"read 2 solutions, 0 of them new or better than what was stored{coded[1]}",
    ]
    assert SolutionFile(copy).get(REQUEST) == (RECORD if carried else replace(RECORD, objects=()))


def test_export_and_import_through_pipes(
    path: Path,
    tmp_path: Path,
    capfdbinary: pytest.CaptureFixture[bytes],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert ttc("export", "-", "--database", path) == 0
    lines = capfdbinary.readouterr().out
    assert len(lines.splitlines()) == 2
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(lines)))
    assert ttc("import", "-", "--database", tmp_path / "copy.sqlite3") == 0
    assert SolutionFile(tmp_path / "copy.sqlite3").get(REQUEST) == replace(RECORD, objects=())


@pytest.mark.parametrize(
    ("words", "left"),
    [
        (("--all",), set()),
        (("--older",), {REQUEST.id}),
        ((OLD.request.id[:9],), {REQUEST.id}),
        ((OLD.request.id[:9], REQUEST.id), set()),
    ],
)
def test_clear(
    path: Path, words: tuple[str, ...], left: set[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert ttc("clear", *words, "--database", path) == 0
    assert {row.record.request.id for row in SolutionFile(path).rows()} == left
    removed = "1 solution" if left else "2 solutions"
    assert capsys.readouterr().out == f"removed {removed} from {path}\n"


@pytest.mark.parametrize(
    ("answer", "words", "status", "left"),
    [("n\n", (), 1, 2), ("", (), 1, 2), ("Yes\n", (), 0, 0), ("", ("--yes",), 0, 0)],
)
def test_clear_asks_on_a_terminal(
    path: Path,
    monkeypatch: pytest.MonkeyPatch,
    answer: str,
    words: tuple[str, ...],
    status: int,
    left: int,
) -> None:
    on_terminal(monkeypatch, answer)
    assert ttc("clear", "--all", *words, "--database", path) == status
    assert len(SolutionFile(path).rows()) == left


def test_clear_moves_a_damaged_file_aside(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "damaged.sqlite3"
    path.write_bytes(os.urandom(3000))
    assert ttc("clear", "--all", "--database", path) == 0
    assert capsys.readouterr().out.startswith(f"{path} was damaged and is now {path}.damaged-")
    assert not path.exists()


def test_path_follows_the_variable_and_the_option(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TTC_DATABASE", "/some/where.db")
    assert ttc("path") == 0
    assert ttc("path", "--database=/else.db") == 0
    assert ttc("--database=/else.db", "path") == 0
    assert capsys.readouterr().out.splitlines() == ["/some/where.db", "/else.db", "/else.db"]


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("show", "0" * 33), "exactly one must"),
        (("show", "x"), "hexadecimal"),
        (("clear",), "exactly one of"),
        (("clear", "--all", "--older"), "exactly one of"),
        (("clear", "--all", "abc"), "exactly one of"),
        (("clear", "0" * 33), "exactly one must"),
        (("import", "{folder}/missing"), "import of"),
        (("import", "--no-objects", "{folder}/missing"), "leave --no-objects out"),
        (("import", "{folder}"), "import of"),
        (("import", "{folder}/solutions.sqlite3"), "line 1: the line is not JSON"),
        (("export", "{folder}"), "export to"),
        (("export", "/dev/full"), "export to"),
        (("export", "{folder}/./solutions.sqlite3"), "is the database itself"),
    ],
)
def test_errors_are_one_line_and_change_nothing(
    path: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], complaint: str
) -> None:
    given = [word.format(folder=path.parent) for word in words]
    assert ttc(*given, "--database", path) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("ttc: ") and captured.err.count("\n") == 1
    assert complaint in captured.err
    assert len(SolutionFile(path).rows()) == 2


def test_an_export_does_not_replace_the_database_under_another_name(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for other in (path.parent / "hard", path.parent / "soft"):
        (other.hardlink_to if other.name == "hard" else other.symlink_to)(path)
        assert ttc("export", other, "--database", path) == 2
        assert "is the database itself" in capsys.readouterr().err
        assert len(SolutionFile(path).rows()) == 2


def test_a_damaged_file_costs_no_older_export(path: Path, tmp_path: Path) -> None:
    backup = tmp_path / "backup.jsonl"
    assert ttc("export", backup, "--database", path) == 0
    before = backup.read_bytes()
    path.write_bytes(os.urandom(3000))
    assert ttc("export", backup, "--database", path) == 2
    assert backup.read_bytes() == before != b""


def test_a_closed_standard_input_is_an_empty_one(
    path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for words, outcome in ((("import", "-"), "read 0 solutions"), (("clear", "--all"), "removed 2 solutions")):
        monkeypatch.setattr(sys, "stdin", None)
        assert cli.main(["database", *words, f"--database={path}"]) == 0
        assert outcome in capsys.readouterr().out


@pytest.mark.parametrize(
    "action", [("list",), ("show", "a"), ("export", "-"), ("clear", "--older"), ("clear", "a")]
)
def test_explicit_actions_fail_on_a_damaged_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], action: tuple[str, ...]
) -> None:
    path = tmp_path / "damaged.sqlite3"
    path.write_bytes(os.urandom(3000))
    assert ttc(*action, "--database", path) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "not a database" in error and f"`ttc database --database={path} clear --all` moves it aside" in error


def test_a_list_names_the_cpu_and_leaves_the_features_to_show(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    request = replace(REQUEST, target="x86_64-unknown-linux-gnu haswell +avx,+avx2 256/128")
    path = tmp_path / "solutions.sqlite3"
    SolutionFile(path).put([replace(RECORD, request=request)])
    assert ttc("list", "--database", path) == 0
    out = capsys.readouterr().out
    assert "haswell" in out and "+avx2" not in out
    assert ttc("show", request.id, "--database", path) == 0
    assert "+avx2" in capsys.readouterr().out
