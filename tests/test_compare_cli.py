"""`ttc compare`, and `ttc ... --compiler` and `--against`: what they print, write, resume and refuse."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from native_build import compiler

from ttc_llvm import cli
from ttc_llvm.bench.result_file import ResultFile
from ttc_llvm.compare import rehearsal, single, source, table
from ttc_llvm.tuning.search.speed import SpeedLog

QUICK = ("--bytes=32K", "--maxImplementations=2", "--rounds=3", "--numThreads=2")
ONE = ("--perm=1,0", "--size=40,30", "--maxImplementations=2", "--emit=")
Run = tuple[int, str, str]
OWN = """extern "C" void sTranspose10_40x30(const float *A, float *B, float alpha, const int *lda, const int *ldb)
{
    for (int j = 0; j < 40; ++j)
        for (int i = 0; i < 30; ++i)
            B[i + j * ldb[0]] = alpha * A[j + i * lda[0]];
}
"""


@pytest.fixture(autouse=True)
def _place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test has a database, a cache and a current directory of its own."""
    monkeypatch.setenv("TTC_DATABASE", str(tmp_path / "solutions.sqlite3"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def ttc(capsys: pytest.CaptureFixture[str]) -> Any:
    """Run a command line in this process: status, stdout, stderr."""

    def call(*arguments: str) -> Run:
        status = cli.main(arguments)
        out, err = capsys.readouterr()
        return status, out, err

    return call


def test_a_table_a_file_and_a_spreadsheet(ttc: Any) -> None:
    compiler("g++")
    arguments = ("compare", *QUICK, "--cases=3,9", "--compiler=g++,llvm", "--output=r.jsonl", "--csv=r.csv")
    status, out, err = ttc(*arguments)
    assert (status, err) == (0, "")
    lines = out.splitlines()
    assert lines[0].split() == ["case", "perm", "size", "type", "ms", "GiB/s", "g++", "x", "g++", "llvm", "x", "llvm"]
    assert [line.split()[0] for line in lines[1:3]] == ["ttc57/03/update", "ttc57/09/update"]
    assert any(line.startswith("  x g++   geomean ") and line.endswith(", 2 cases") for line in lines)
    results = ResultFile("r.jsonl").read()
    assert [set(r.references) for r in results] == [{"g++", "llvm"}] * 2
    assert all(r.references["g++"].compile_s > 0 and r.references["g++"].message == "" for r in results)
    assert all(r.facts["affinity"] == "compact" for r in results)
    rows = list(csv.DictReader(Path("r.csv").read_text().splitlines()))
    assert tuple(rows[0]) == table.CSV_COLUMNS
    assert {row["contender"] for row in rows if row["role"] == "reference"} == {"g++", "llvm"}
    written = Path("r.jsonl").read_text()
    again = ttc(*arguments)
    assert Path("r.jsonl").read_text() == written  # nothing is measured again
    assert again == (0, ttc("compare", "--report=r.jsonl")[1], "")


def test_other_references_are_other_results(ttc: Any) -> None:
    for extra in ("--traverse=output", "--traverse=both", "--affinity=none"):
        assert ttc("compare", *QUICK, "--cases=3", "--compiler=llvm", "--output=r.jsonl", extra)[0] == 0
    first, second, third = ResultFile("r.jsonl").read()
    assert list(second.peers) == ["llvm", "llvm input"]
    assert second.references["llvm input"].traverse == "input"
    assert (first.facts["affinity"], third.facts["affinity"]) == ("compact", "none")


def test_auto_says_what_is_missing(ttc: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    status, out, err = ttc("compare", *QUICK, "--cases=3")
    assert status == 0 and "x llvm" in out
    assert "LLVM's own optimiser is the only reference" in err and err.count("\n") == 1


def test_a_compiler_that_fails_leaves_the_others(ttc: Any) -> None:
    compiler("g++")
    flags = "--compilerFlags=g++=-fno-such-flag"
    status, out, _ = ttc("compare", *QUICK, "--cases=3,9", "--compiler=g++,llvm", flags)
    assert status == 0 and "x llvm" in out
    (line,) = (line for line in out.splitlines() if line.startswith("  g++: 2 cases, first ttc57/03/update: "))
    assert "-fno-such-flag" in line


def test_cases_are_listed(ttc: Any) -> None:
    status, out, err = ttc("compare", "--list", "--compiler=icpx")
    assert (status, err) == (0, "") and len(out.splitlines()) == 57
    assert out.startswith("ttc57/00/update")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--compiler=gcc",), "unknown compiler 'gcc'"),
        (("--compiler=none",), "--compiler=none: no reference is left to compare with"),
        (("--compiler=llvm", "--traverse=x"), "--traverse=x: the choices are output, input, both"),
        (("--compiler=llvm", "--compile-limit=0"), "--compile-limit=0: a positive number of seconds"),
        (("--compiler=llvm", "--compile-limit=x"), "--compile-limit=x: a number of seconds is expected"),
        (("--compiler=llvm", "--compilerFlags='"), "are malformed"),
        (("--compiler=llvm", "--csv=missing/r.csv"), "--csv=missing/r.csv cannot be written"),
        (("--compiler=llvm", "--output=missing/r.jsonl"), "missing/r.jsonl cannot be written"),
        (("--compiler=llvm", "--cases=99"), "cases '99' match nothing"),
        (("--report=missing.jsonl",), "missing.jsonl cannot be read"),
    ],
)
def test_mistakes_are_one_line(ttc: Any, arguments: tuple[str, ...], message: str) -> None:
    status, out, err = ttc("compare", *QUICK, *arguments)
    assert (status, out) == (2, "")
    assert err.count("\n") == 1 and message in err


# --- one problem ------------------------------------------------------------------------------------------


def test_a_search_on_a_busy_machine_is_said_beside_the_speedup(ttc: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for busy in (True, False):
        monkeypatch.setattr(SpeedLog, "is_busy", lambda self, gibs, busy=busy: busy)
        monkeypatch.setattr(single, "OFF", 2.0)  # the rounds themselves are never at another speed
        status, out, _ = ttc(*ONE, "--compiler=llvm")
        (line,) = [line for line in out.splitlines() if line.startswith("speedup over llvm")]
        assert status == 0 and line.endswith("(this machine is busy)") == busy, out


def test_the_speedup_over_a_compiler(ttc: Any) -> None:
    compiler("g++")
    status, out, err = ttc(*ONE, "--compiler=g++,llvm", "--compilerFlags=-O2 -fopenmp")
    assert (status, err) == (0, "")
    labels = [line.split("  ")[0] for line in out.splitlines()]
    assert "speedup over g++" in labels and "speedup over llvm" in labels
    assert "-O2 -fopenmp, compiled in " in out and "on one thread" not in out
    out = ttc(*ONE, "--compiler=g++", "--compilerFlags=-O2")[1]
    assert "GiB/s) on one thread" in " ".join(out.split())


def test_the_speedup_in_json(ttc: Any) -> None:
    status, out, _ = ttc(*ONE, "--compiler=llvm", "--traverse=both", "--json", "--hotA", "--hotB")
    found = json.loads(out)["comparison"]
    assert status == 0 and set(found["references"]) == {"llvm", "llvm input"}
    one = found["references"]["llvm"]
    assert one["speedup"] == pytest.approx(min(one["seconds"]) / min(found["seconds"]))
    assert json.loads(ttc(*ONE, "--json")[1])["comparison"] is None


def test_a_source_of_ones_own(ttc: Any) -> None:
    compiler("g++")
    Path("own.cpp").write_text(OWN)
    status, out, _ = ttc(*ONE, "--against=own.cpp")
    assert status == 0 and "speedup over own.cpp" in out and "left out" not in out
    status, _, err = ttc("--perm=1,0", "--size=40,31", "--emit=", "--against=own.cpp")
    assert status == 2 and err.count("\n") == 1
    assert 'own.cpp does not define extern "C" void sTranspose10_40x31(const float *A, float *B, float alpha,' in err
    Path("own.cpp").write_text(OWN.replace('extern "C"', ""))
    assert "left out" not in ttc(*ONE, "--against=own.cpp")[1], "the declaration before it says so"
    Path("own.cpp").write_text("nonsense")
    status, _, err = ttc(*ONE, "--against=own.cpp")
    assert status == 2 and "error" in err and err.count("\n") == 1


WRONG = {
    "conflicting declaration": OWN.replace("float alpha", "double alpha"),
    "its code ended by SIGABRT": "#include <stdlib.h>\n" + OWN.replace("{\n", "{\n    abort();\n", 1),
}


@pytest.mark.parametrize("words", WRONG)
def test_a_source_with_another_prototype_or_a_crash_is_refused(ttc: Any, words: str) -> None:
    compiler("g++")
    Path("own.cpp").write_text(WRONG[words])
    status, out, err = ttc(*ONE, "--against=own.cpp")
    assert (status, out) == (2, "") and words in err and err.count("\n") == 1


def test_a_source_that_hangs_is_refused(ttc: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    compiler("g++")
    monkeypatch.setattr(rehearsal, "LIMIT_SECONDS", 0.5)
    Path("own.cpp").write_text(OWN.replace("{\n", "{\n    for (volatile int i = 0;;) i = 1;\n", 1))
    status, _, err = ttc(*ONE, "--against=own.cpp")
    assert status == 2 and "its code ran for more than 0.5 s" in err


def test_code_that_crashes_does_not_take_us_along(ttc: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As with --compilerFlags=-march=.. of a machine that has more than this one."""
    compiler("g++")
    right = source.reference
    trap = "{\n    __builtin_trap();\n"
    crashing = lambda *given: right(*given).replace("{\n    (void)", f"{trap}    (void)", 1)  # noqa: E731
    monkeypatch.setattr(source, "reference", crashing)
    status, out, _ = ttc("compare", *QUICK, "--cases=3,4", "--compiler=g++,llvm", "--output=found.jsonl")
    found = [json.loads(line) for line in Path("found.jsonl").read_text().splitlines()]
    assert status == 0 and [list(one["peers"]) for one in found] == [["llvm"], ["llvm"]]
    assert "g++: 2 cases, first ttc57/03/update: its code ended by SIGILL" in out


def test_a_source_in_a_suite(ttc: Any) -> None:
    compiler("g++")
    Path("own.cpp").write_text("int nothing;")
    status, _, err = ttc("compare", *QUICK, "--cases=3", "--compiler=llvm", "--against=own.cpp")
    assert status == 2 and "--against=own.cpp cannot be compared with: own.cpp does not define" in err


def test_libraries_are_not_compared(ttc: Any) -> None:
    status, _, err = ttc("--perm=1,0", "--size=40,30", "--emit=static", "--compiler=llvm")
    assert status == 2 and "--compiler compares a single problem's solution" in err
    Path("list.txt").write_text("--perm=1,0 --size=40,30 --compiler=llvm\n")
    status, _, err = ttc("--manifest=list.txt", "--name=some")
    assert status == 2 and "list.txt:1: --compiler holds for a whole run" in err
