"""Databases of schema 1: their rows are read, translated, and keep effort and timings; their code is built anew.

`golden/solutions_v1.sqlite3` was written by the last program of that schema: a problem tuned with 6 candidates, once
more by an older version with 3, and one that was only planned, all for the CPU haswell.
"""

from __future__ import annotations

import hashlib
import io
import json
import pickle
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import ttc_llvm
from ttc_llvm import Problem, cli
from ttc_llvm.compiling.compiler import CpuTask
from ttc_llvm.compiling.options import checked
from ttc_llvm.compiling.solve import request_of
from ttc_llvm.lowering.plan_text import modern
from ttc_llvm.problem.canonical import canonicalise
from ttc_llvm.runtime import backend, kernel
from ttc_llvm.tuning.database.database import Database
from ttc_llvm.tuning.database.outcomes import Cleared, Stored
from ttc_llvm.tuning.database.records import Request
from ttc_llvm.tuning.database.solution_file import SolutionFile

V1 = Path(__file__).parent / "golden" / "solutions_v1.sqlite3"
TUNED, PLANNED = Problem((1, 0), (48, 40), "s"), Problem((2, 1, 0), (8, 6, 10), "d")
PLAN = "cpu2 tile=40,32 block=8,16 order=1,0 inner=1,0 parallel=1 prefetch=0 streaming=0 staging=none fetch=blocks"
PLAN += " panel=none"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return Path(shutil.copy(V1, tmp_path / "solutions.sqlite3"))


def execute(path: Path, statement: str, *values: object) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        return connection.execute(statement, values).fetchall()


def asked(problem: Problem, threads: int = 1) -> Request:
    return request_of(CpuTask(canonicalise(problem).canonical, checked(threads=threads, target="haswell")))


def as_old_programs(path: Path, wanted: Request, effort: int, plan: str) -> None:
    """Writes a row as the last program of schema 1 does."""
    key = [wanted.problem, wanted.target, wanted.threads, wanted.mode, wanted.options, wanted.versions]
    name = hashlib.sha256(json.dumps(key).encode()).hexdigest()[:32]
    rest = (effort, plan, 0.25, '[{"plan": "p", "seconds": [0.25]}]', "2024-05-06T07:08:09+00:00", 10.0, "", None)
    execute(path, f"INSERT OR REPLACE INTO solutions_v1 VALUES ({', '.join('?' * 15)})", name, *key, *rest)


def test_a_row_keeps_effort_and_timings(path: Path) -> None:
    found = SolutionFile(path).get(asked(TUNED))
    assert found is not None
    assert (found.request, found.effort, found.plan, found.objects) == (asked(TUNED), 6, PLAN, ())
    assert found.seconds is not None and found.ceiling_gibs is not None
    assert len(found.timings) == 6 and min(found.timings[0].seconds) == found.seconds
    assert found.made_by == "cpu2 code2 ttc0.1.0 llvm22.1.0" and found.provisional == 0


def test_of_several_versions_the_best_answers(path: Path) -> None:
    execute(path, "DELETE FROM solutions_v1 WHERE effort = 6")
    found = SolutionFile(path).get(asked(TUNED))
    assert found is not None
    assert (found.effort, found.note, found.made_by) == (3, "older", "cpu2 code1 ttc0.0.1 llvm20.1.8")


def test_a_compilation_is_answered_without_a_search(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ttc_llvm.compiling.solve.tuned", lambda *_: pytest.fail("it was searched anew"))
    solution = ttc_llvm.compile(TUNED, 6, threads=1, target="haswell", database=path)
    assert str(solution.plan) == modern(PLAN)
    assert solution.measurement is not None and len(solution.measurement.timings) == 6
    if backend.runs_here(solution.target):
        (code,) = execute(path, "SELECT plan FROM code_v2")
        assert code == (PLAN,), "its code is built and kept"
        text = pickle.dumps(solution)
        monkeypatch.setenv("TTC_DATABASE", str(path))
        monkeypatch.setattr(kernel, "cache", kernel.KernelCache())
        monkeypatch.setattr(backend, "compile_object", lambda *_: pytest.fail("it was compiled anew"))
        copy = pickle.loads(text)
        a, b = (np.arange(48 * 40, dtype="f4") + k for k in range(2))
        copy(a, b)
        assert np.array_equal(b.reshape(48, 40), a.reshape(40, 48).T)


def test_old_rows_are_shown_in_words_of_today(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = SolutionFile(path)
    file.put([row.record for row in file.rows()])
    assert cli.main(["database", "show", asked(TUNED).id, f"--database={path}"]) == 0
    shown = capsys.readouterr().out
    assert "staging=" not in shown and "cpu2 tile" not in shown
    assert shown.count("cpu3 tile=") == 7, "the plan, and six timings"
    assert shown.count("timing:       * ") == 1, "of which one is marked"


def test_old_code_is_never_unpacked(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    execute(path, "UPDATE solutions_v1 SET objects = x'00'")
    found = SolutionFile(path).get(asked(TUNED))
    assert found is not None and found.effort == 6


def test_listings_exports_and_hints_see_old_rows(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = SolutionFile(path)
    assert [row.record.effort for row in file.rows()] == [6, 1]
    assert {row.record.request.id for row in file.rows()} == {asked(TUNED).id, asked(PLANNED).id}
    assert Database(path).find(asked(TUNED, 2), 9).hints[:1] == (PLAN,)
    assert file.show(asked(TUNED).id[:9]).effort == 6
    stream = io.BytesIO()
    assert file.export(stream) == 2
    copy = SolutionFile(path.with_name("copy.sqlite3"))
    assert copy.import_(stream.getvalue().splitlines(), "copy") == [Stored(True)] * 2
    assert [row.record for row in copy.rows()] == [row.record for row in file.rows()]
    assert cli.main(["database", "list", f"--database={path}"]) == 0
    header, *rows = map(str.split, capsys.readouterr().out.splitlines())
    assert [row[header.index("effort")] for row in rows if "i32" in row] == ["6"]


def test_reading_changes_nothing_and_writing_leaves_old_rows(path: Path) -> None:
    before = path.read_bytes()
    file = SolutionFile(path)
    file.rows(), file.get(asked(TUNED)), file.look_up(asked(TUNED), None, -1)
    assert path.read_bytes() == before
    old = file.get(asked(TUNED))
    assert old is not None
    assert file.put([replace(old, effort=2, plan="worse")]) == [False], "more effort wins, whoever wrote it"
    assert file.put([replace(old, effort=9, plan="better")]) == [True]
    found = file.get(asked(TUNED))
    assert found is not None and found.plan == "better"
    assert execute(path, "SELECT count(*) FROM solutions_v1") == [(3,)]
    assert [row.record.effort for row in file.rows()] == [9, 1], "a row that both schemas have is listed once"


def test_old_programs_may_go_on_writing(path: Path) -> None:
    file = SolutionFile(path)
    old = file.get(asked(PLANNED))
    assert old is not None
    file.put([old])
    as_old_programs(path, asked(TUNED, 4), 50, "from an old program")
    found = file.get(asked(TUNED, 4))
    assert found is not None and (found.effort, found.plan) == (50, "from an old program")
    assert len(file.rows()) == 3


@pytest.mark.parametrize(
    ("remove", "count", "left"),
    [
        (lambda file: file.clear(), 2, 0),
        (lambda file: file.clear_older("cpu2 code2 ttc0.1.0 llvm22.1.0"), 2, 0),
        (lambda file: file.delete([asked(TUNED).id]), 1, 1),
    ],
)
def test_old_rows_are_removed_as_others_are(
    path: Path, remove: Callable[[SolutionFile], Cleared], count: int, left: int
) -> None:
    assert remove(SolutionFile(path)).rows == count
    assert len(SolutionFile(path).rows()) == left


def test_a_malformed_old_row_is_ignored(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    execute(path, "UPDATE solutions_v1 SET timings = '[' WHERE effort = 6")
    found = SolutionFile(path).get(asked(TUNED))
    assert found is not None and found.effort == 3
    assert "timings are not JSON" in caplog.text
