"""`ttc_llvm.export_solutions` and `import_solutions`: what they write and read, and how they refuse."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import ttc_llvm
from ttc_llvm import DatabaseError, OptionError, Problem, cli
from ttc_llvm.compiling.stored_plans import open_database

PROBLEM = Problem((1, 0), (48, 32))
pytestmark = pytest.mark.usefixtures("own_place")


@pytest.fixture
def tuned() -> ttc_llvm.Solution:
    return ttc_llvm.compile(PROBLEM, 3)


def test_solutions_go_to_another_database(tuned: ttc_llvm.Solution) -> None:
    assert ttc_llvm.export_solutions("all.jsonl") == 1
    (row,) = map(json.loads, Path("all.jsonl").read_text().splitlines())
    assert row["plan"] == str(tuned.plan) and len(row["timings"]) == 3 and "objects" not in row
    found = ttc_llvm.import_solutions(Path("all.jsonl"), database="other.sqlite3")
    assert found == ttc_llvm.Imported(read=1, changed=1, coded=0)
    assert ttc_llvm.import_solutions("all.jsonl", database="other.sqlite3").changed == 0
    again = ttc_llvm.compile(PROBLEM, 3, database="other.sqlite3", progress=lambda _: pytest.fail("it is known"))
    assert again.plan == tuned.plan and again.measurement is not None


def test_code_comes_along_where_both_sides_say_so(tuned: ttc_llvm.Solution) -> None:
    assert ttc_llvm.export_solutions("all.jsonl", with_code=True) == 1
    assert "objects" in json.loads(Path("all.jsonl").read_text())
    assert ttc_llvm.import_solutions("all.jsonl", database="without.sqlite3").coded == 0
    assert ttc_llvm.import_solutions("all.jsonl", database="with.sqlite3", with_code=True).coded == 1
    sizes = [open_database(name).file.rows()[0].packed_bytes for name in ("without.sqlite3", "with.sqlite3")]  # type: ignore[union-attr]
    assert sizes[0] == 0 < sizes[1]


def test_the_command_and_the_functions_speak_one_format(
    tuned: ttc_llvm.Solution, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ttc_llvm.export_solutions("a.jsonl") == 1
    assert cli.main(["database", "export", "b.jsonl", "--no-objects"]) == 0
    assert Path("a.jsonl").read_bytes() == Path("b.jsonl").read_bytes()
    assert cli.main(["database", "import", "a.jsonl", "--database=c.sqlite3"]) == 0
    assert "read 1 solution, 1 of them new" in capsys.readouterr().out


def test_what_cannot_be_done_is_said(tuned: ttc_llvm.Solution) -> None:
    with pytest.raises(OptionError, match="is the database itself"):
        ttc_llvm.export_solutions("solutions.sqlite3")
    Path("mine.txt").write_text("a letter")
    with pytest.raises(OptionError, match=r"mine.txt is there, and not written by ttc_llvm: .* overwrite=True"):
        ttc_llvm.export_solutions("mine.txt")
    assert Path("mine.txt").read_text() == "a letter"
    assert ttc_llvm.export_solutions("mine.txt", overwrite=True) == 1
    with pytest.raises(DatabaseError, match="export to no/where failed: No such file"):
        ttc_llvm.export_solutions("no/where")
    with pytest.raises(DatabaseError, match="import of missing failed: No such file"):
        ttc_llvm.import_solutions("missing")
    Path("mine.txt").write_text("a letter")
    with pytest.raises(DatabaseError, match=r"mine.txt, line 1: the line is not JSON"):
        ttc_llvm.import_solutions("mine.txt")
    with pytest.raises(OptionError, match="path 7 is no path"):
        ttc_llvm.export_solutions(7)  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="with_code = 'x' is neither"):
        ttc_llvm.import_solutions("all.jsonl", with_code="x")  # type: ignore[arg-type]
