"""The command line: every option does what it says, or is refused in one line; pipes, terminals, signals."""

from __future__ import annotations

import io
import json
import os
import re
import select
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import Ttc
from processes import PATIENCE, attempt

import ttc_llvm
from ttc_llvm import cli
from ttc_llvm.cli import command
from ttc_llvm.cli import compile as cli_compile
from ttc_llvm.cli import options as cli_options
from ttc_llvm.cli import report as cli_report
from ttc_llvm.runtime import backend
from ttc_llvm.tuning.search.leaderboard import CHOICE
from ttc_llvm.tuning.search.speed import SpeedLog

ROOT = Path(__file__).parent.parent
TINY = ("--perm=1,0", "--size=48,32")
FEW = "--maxImplementations=3"
PAPER = ("--perm=2,1,0", "--size=8,16,16", "--lda=32,32,32")
STEM = "sTranspose10_48x32"

pytestmark = pytest.mark.usefixtures("own_place")


def process(*arguments: str, **options: Any) -> subprocess.Popen[str]:
    """`python -m ttc_llvm` as a process of its own."""
    environment = os.environ | {"PYTHONPATH": str(ROOT), "COLUMNS": "300"} | options.pop("env", {})
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
    command = [sys.executable, "-m", "ttc_llvm", *arguments]
    return subprocess.Popen(command, text=True, env=environment, **pipes)


def decisions(plan: str) -> dict[str, str]:
    """The decisions of a plan's text by name."""
    return dict(part.split("=") for part in plan.split()[1:])


def plans_of(found: dict[str, Any]) -> list[dict[str, str]]:
    """The decisions of every candidate that was timed."""
    return [decisions(timing["plan"]) for timing in found["measurement"]["timings"]]


# --- the transposition ------------------------------------------------------------------------------------


def test_the_example_of_the_paper(ttc: Ttc) -> None:
    found = ttc(*PAPER, FEW)
    stem = "sTranspose210_8x16x16_lda32x32x32"
    assert found["files"] == [f"{stem}.o", f"{stem}.h"]
    assert Path(f"{stem}.o").read_bytes()[:4] == b"\x7fELF"
    assert f"void {stem}(" in Path(f"{stem}.h").read_text()
    assert found["merged"]["axes"] == [[16, 1024, 1], [16, 32, 16], [8, 1, 256]]
    assert found["source"] == "tuned"
    assert found["measurement"]["verified"] is True


def test_json_holds_what_the_summary_says(ttc: Ttc) -> None:
    found = ttc(*TINY, FEW)
    assert set(found) == {
        "schema", "version", "problem", "merged", "target", "others", "threads", "affinity", "plan", "source",
        "elapsed_s", "measurement", "comparison", "files",
    }  # fmt: skip
    assert found["version"] == ttc_llvm.__version__
    assert found["problem"] == {
        "perm": [1, 0], "size": [48, 32], "dataType": "s", "lda": None, "ldb": None, "alpha": 1.0, "beta": 0.0,
        "conjugate": False,
    }  # fmt: skip
    measured = found["measurement"]
    assert measured["candidates"] == len(measured["timings"]) == 3
    assert measured["bandwidth"] == "bytes of A + bytes of B"
    assert measured["gibs"] == pytest.approx(2 * 48 * 32 * 4 / measured["seconds"] / 2**30)
    assert measured["ratio"] == pytest.approx(measured["gibs"] / measured["ceiling_gibs"])
    assert measured["ceiling"] == "streaming copy"
    assert found["plan"] == measured["timings"][0]["plan"]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("--dataType=d",), {"dataType": "d"}),
        (("--dataType", "cz", "--conjugate"), {"dataType": "cz", "conjugate": True}),
        (("--dataType=v12",), {"dataType": "v12"}),
        (("--dataType=uint8,float32", "--alpha=1/255"), {"dataType": "u8,s", "alpha": float.fromhex("0x1.010102p-8")}),
        (("--dataType=float32,float8_e5m2", "--saturate"), {"dataType": "s,e5m2", "saturate": True}),
        (("--size=48,48", "--inplace", "--beta=1"), {"inplace": True, "lda": None, "ldb": None}),
        (("--size=48,48", "--inplace", "--lda=50,48"), {"inplace": True, "lda": [50, 48]}),
        (("--size=48,48", "--inplace", "--strides-a=1,50"), {"inplace": True, "lda": [50, 48]}),
        (("--alpha=-1.5e3", "--beta", "-2"), {"alpha": -1500.0, "beta": -2.0}),
        (("--dataType=z", "--alpha=1+2j", "--beta", "-1,.5"), {"alpha": [1.0, 2.0], "beta": [-1.0, 0.5]}),
        (("--alpha=inf",), {"alpha": "inf"}),
        (("--lda", "50,40", "--ldb=64,64"), {"lda": [50, 40], "ldb": [64, 64]}),
        (("--strides-a=1,50", "--strides-b", "1,64"), {"perm": [1, 0], "lda": [50, 32], "ldb": [64, 48]}),
        (("--strides-a=32,1",), {"perm": [0, 1], "size": [32, 48], "lda": None, "ldb": None}),
        (("--strides-b=64,1",), {"perm": [0, 1], "size": [48, 32], "lda": None, "ldb": [64, 32]}),
        (("--order=C", "--strides-a=50,1"), {"perm": [1, 0], "size": [32, 48], "lda": [50, 48]}),
        (("--order=C", "--strides-a=1,50"), {"perm": [0, 1], "size": [48, 32], "lda": [50, 32]}),
    ],
)
def test_options_of_the_problem(ttc: Ttc, arguments: tuple[str, ...], expected: dict[str, Any]) -> None:
    found = ttc(*TINY, *arguments, "--maxImplementations=2")
    assert found["problem"] == found["problem"] | expected
    assert found["measurement"]["verified"] is True


def test_sums_of_permutations(ttc: Ttc) -> None:
    found = ttc("--terms=2:0,1; -1/2:1,0;0,1", "--size=48,48", "--dataType=d", "--maxImplementations=2")
    terms = [[3.0, [0, 1]], [-0.5, [1, 0]]]
    assert found["problem"] == found["problem"] | {"terms": terms, "size": [48, 48], "dataType": "d"}
    assert found["measurement"]["verified"] is True
    assert [Path(name).name for name in found["files"]] == ["dSum3_01_m0p5_10_48x48.o", "dSum3_01_m0p5_10_48x48.h"]
    found = ttc("--terms=2:0,1", "--size=48,32", "--order=C", "--maxImplementations=1")
    assert found["problem"] == found["problem"] | {"perm": [0, 1], "alpha": 2.0}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--terms=x:0,1",), "--terms=x:0,1: a number such as"),
        (("--terms=;",), "--terms=;: factors and perms such as 2:0,1;-1:1,0 are expected"),
        (("--terms=0,1;1,1",), "perm 1,1 of a term is not a permutation of 0..1"),
        (("--terms=0,1;1,0", "--perm=1,0"), "--perm and --terms both say how A is permuted: give one of them"),
        (("--terms=0,1;1,0", "--size=3,4"), "terms give the sizes 3,4 and 4,3: a sum's are all the same"),
        (("--terms=0,1;1,0", "--inplace"), "inplace must be False"),
        (("--terms=0,1;1,0", "--dataType=i16"), "data type i16: sums are of float32"),
        (("--terms=0,1;1,0", "--strides-a=1,3"), "--strides-a and --strides-b are not taken beside --terms"),
    ],
)
def test_sums_that_are_none(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], message: str
) -> None:
    assert cli.main(["--size=3,3", *arguments, "--emit="]) == 2
    assert message in capsys.readouterr().err


def test_bandwidth_counts_b_twice_where_it_is_read(ttc: Ttc) -> None:
    measured = ttc(*TINY, "--beta=1", "--maxImplementations=2")["measurement"]
    assert measured["bandwidth"] == "bytes of A + 2 x bytes of B"
    assert measured["ceiling"] == "SAXPY"
    assert measured["gibs"] == pytest.approx(3 * 48 * 32 * 4 / measured["seconds"] / 2**30)


@pytest.mark.parametrize("size", ["0,4", "1,1", "1,7"])
def test_degenerate_extents(ttc: Ttc, size: str) -> None:
    assert ttc("--perm=1,0", f"--size={size}", "--maxImplementations=2")["files"]


def test_rank_zero(ttc: Ttc) -> None:
    assert ttc("--perm=", "--size=", "--maxImplementations=2")["problem"]["perm"] == []


# --- the search -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", [("--maxImplementations=2",), ("--maxImplementations", "2")])
def test_the_number_of_candidates(ttc: Ttc, form: tuple[str, ...]) -> None:
    assert ttc(*TINY, *form)["measurement"]["candidates"] == 2


def test_one_candidate_is_the_model_alone(ttc: Ttc) -> None:
    found = ttc(*TINY, "--maxImplementations=1")
    assert (found["source"], found["measurement"]) == ("cost model", None)


def test_the_whole_space_of_the_paper(ttc: Ttc) -> None:
    plans = plans_of(ttc(*TINY, "--maxImplementations", "-1", "--noTest"))
    assert {plan["order"] for plan in plans} == {"0,1", "1,0"}
    assert len(plans) > 6


def test_the_time_limit_ends_the_search(ttc: Ttc) -> None:
    found = ttc(*PAPER, "--maxImplementations=100000", "--time-limit=0.3")
    assert found["measurement"]["interrupted"] is True
    assert 0 < found["measurement"]["candidates"] < 100000


def test_generating_only_times_nothing(ttc: Ttc, monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(*_: Any) -> float:
        raise AssertionError("something was timed")

    monkeypatch.setattr("ttc_llvm.compiling.trial.Trial.seconds", forbidden)
    found = ttc(*TINY, "--generateOnly")
    assert (found["source"], found["measurement"]) == ("cost model", None)
    assert Path(f"{STEM}.o").exists()


def test_generating_only_takes_the_stored_plan(ttc: Ttc) -> None:
    tuned = ttc(*TINY, FEW)
    found = ttc(*TINY, "--generateOnly")
    assert (found["source"], found["plan"]) == ("database", tuned["plan"])


def test_no_test_checks_nothing(ttc: Ttc, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ttc_llvm.compiling.trial.Trial.verify", lambda *_: (0, 0))
    assert ttc(*TINY, FEW, "--noTest")["measurement"]["verified"] is False
    assert cli.main([*TINY, FEW, "--ignoreDatabase"]) == 2


@pytest.mark.parametrize(
    ("flags", "mode"),
    [((), "cold"), (("--hotA",), "hot-a"), (("--hotB",), "hot-b"), (("--hotA", "--hotB"), "hot-ab")],
)
def test_hot_tensors(ttc: Ttc, capsys: pytest.CaptureFixture[str], flags: tuple[str, ...], mode: str) -> None:
    ttc(*TINY, "--maxImplementations=2", *flags)
    assert cli.main(["database", "list", "--json"]) == 0
    assert [row["mode"] for row in json.loads(capsys.readouterr().out)["solutions"]] == [mode]


def test_threads_and_their_places(ttc: Ttc, monkeypatch: pytest.MonkeyPatch) -> None:
    placed = []
    monkeypatch.setattr("ttc_llvm.runtime.runtime.set_affinity", lambda wanted: placed.append(str(wanted)))
    first = str(min(os.sched_getaffinity(0)))
    assert ttc(*TINY, FEW)["affinity"] == "compact"
    found = ttc(*TINY, FEW, "--numThreads=1", "--affinity=none")
    assert (found["threads"], found["affinity"], found["source"]) == (1, "none", "tuned")
    assert ttc(*TINY, FEW, "--numThreads=2", f"--affinity={first}")["affinity"] == first
    assert placed == ["compact", "none", first]


def test_the_database_answers_unless_ignored(ttc: Ttc) -> None:
    sources = [ttc(*TINY, FEW, *flags)["source"] for flags in ((), (), ("--ignoreDatabase",))]
    assert sources == ["tuned", "database", "tuned"]


def test_a_busy_machine_is_said_beside_every_figure(
    ttc: Ttc, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SpeedLog, "is_busy", lambda self, gibs: True)
    for source, said, again in (
        ("tuned", "this machine is busy", "the next request times it again"),
        ("tuned", "this machine is busy", "the next request times it again"),
        ("tuned", "this machine is busy", "timed 3 times"),
        ("database", "this machine was busy", "timed 3 times"),
    ):
        assert cli.main([*TINY, FEW]) == 0
        rows = {line.split()[0]: line for line in capsys.readouterr().out.splitlines() if line[:1].strip()}
        for name in ("bandwidth", "ceiling") if "ratio" in rows["ceiling"] else ("bandwidth",):
            assert rows[name].endswith(f"({said})")
        assert source in rows["source"] and rows["source"].endswith(f"provisional: {again}")
    found = ttc(*TINY, FEW)["measurement"]
    assert (found["busy"], found["provisional"], found["candidates"]) == (True, 3, len(found["timings"]))
    assert cli.main(["database", "list"]) == 0
    assert capsys.readouterr().out.splitlines()[1].endswith("this machine was busy")
    (key,) = [line.split()[0] for line in _listed(capsys)]
    assert cli.main(["database", "show", key]) == 0
    assert "provisional:  3 (this machine was busy: not timed again)" in capsys.readouterr().out.splitlines()
    assert cli.main(["explain", *TINY, "--stage=plans"]) == 0
    assert "(this machine was busy):" in " ".join(capsys.readouterr().out.split())


def _listed(capsys: pytest.CaptureFixture[str]) -> list[str]:
    assert cli.main(["database", "list"]) == 0
    return capsys.readouterr().out.splitlines()[1:]


def test_a_quiet_machine_is_not_said_to_be_busy(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([*TINY, FEW, "--verbose"]) == 0
    found = capsys.readouterr().out
    assert "busy" not in found and "provisional" not in found


def test_ceilings_on_a_busy_machine(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ttc_llvm.cli.info.CEILING_BYTES", 1 << 20)
    for busy in (True, False):
        monkeypatch.setattr(SpeedLog, "is_busy", lambda self, gibs, busy=busy: busy)
        assert cli.main(["info", "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["busy"] is busy
        assert cli.main(["info"]) == 0
        assert ("ceilings (this machine is busy)" in capsys.readouterr().out) == busy


def test_another_database(ttc: Ttc, tmp_path: Path) -> None:
    ttc(*TINY, "--maxImplementations=2", "--database", str(tmp_path / "mine.sqlite3"))
    assert (tmp_path / "mine.sqlite3").exists()
    assert not (tmp_path / "solutions.sqlite3").exists()


def test_a_broken_database_is_reported_and_worked_around(capsys: pytest.CaptureFixture[str]) -> None:
    Path("broken").write_bytes(b"not a database at all" * 100)
    assert cli.main([*TINY, "--maxImplementations=2", "--database=broken"]) == 0
    out, err = capsys.readouterr()
    assert "source" in out
    assert err.startswith("ttc: warning: ") and err.count("\n") == 1


# --- the machine ------------------------------------------------------------------------------------------


def assembly() -> str:
    """What `--emit=asm` has written."""
    (path,) = Path().glob("*.s")
    return path.read_text()


@pytest.mark.parametrize(
    ("flags", "cpu", "widest"),
    [
        (("--architecture=sse2",), "x86-64", "xmm"),
        (("--architecture=avx",), "sandybridge", "ymm"),
        (("--cpu=haswell",), "haswell", "ymm"),
        (("--architecture=avx2", "--cpu=broadwell"), "broadwell", "ymm"),
        (("--architecture", "avx512"), "skylake-avx512", "zmm"),
        (("--architecture=knl",), "knl", "zmm"),
    ],
)
def test_code_for_any_machine(ttc: Ttc, flags: tuple[str, ...], cpu: str, widest: str) -> None:
    found = ttc("--perm=1,0", "--size=64,64", "--generateOnly", "--emit=asm", *flags)
    assert found["target"]["cpu"] == cpu
    assert max(set(re.findall(r"[xyz]mm", assembly()))) == widest


def test_the_native_cpu(ttc: Ttc) -> None:
    assert ttc(*TINY, "--cpu=native", "--generateOnly")["target"]["name"] == "host"


def test_no_vectors(ttc: Ttc) -> None:
    tuned = ttc(*TINY, FEW)
    found = ttc(*TINY, FEW, "--no-vec", "--emit=llvm")
    assert found["target"]["vector_bits"] == 64
    lanes = re.findall(r"<(\d+) x (?:float|i32)>", Path(f"{STEM}.ll").read_text())
    assert max(map(int, lanes), default=1) <= 2
    assert found["source"] == "tuned", "the database answered with the vector kernel"
    assert ttc(*TINY, FEW)["plan"] == tuned["plan"], "the scalar kernel took the vector kernel's place"


# --- forced decisions -------------------------------------------------------------------------------------


def test_rows_off_the_vector_boundary_are_streamed_through_scratch(ttc: Ttc) -> None:
    found = ttc("--perm=1,0", "--size=71,93", "--maxImplementations=2", "--streamingStores")
    assert {plan["store"] for plan in plans_of(found)} == {"combined"}


def test_streaming_stores(ttc: Ttc) -> None:
    found = ttc("--perm=1,0", "--size=64,64", "--maxImplementations=4", "--streamingStores", "--emit=asm")
    assert "cached" not in {plan["store"] for plan in plans_of(found)}
    assert "movnt" in assembly()


def test_no_alignment(ttc: Ttc) -> None:
    found = ttc("--perm=1,0", "--size=64,64", "--maxImplementations=4", "--no-align", "--emit=asm")
    assert {plan["store"] for plan in plans_of(found)} == {"cached"}
    assert "movnt" not in assembly()
    assert not re.search(r"\bv?movap[sd]\s.*\(%r(di|si)", assembly()), "an access to A or B assumes alignment"


def test_prefetch_distances(ttc: Ttc) -> None:
    found = ttc("--perm=1,0", "--size=64,64", "--maxImplementations=8", "--prefetchDistances=0,3")
    assert {plan["prefetch"] for plan in plans_of(found)} <= {"0", "3"}


def test_blockings(ttc: Ttc) -> None:
    found = ttc("--perm=1,0", "--size=256,256", "--maxImplementations=6", "--blockings=32x16,64x32")
    assert {plan["tile"] for plan in plans_of(found)} <= {"16,32", "32,64"}  # B's stride-1 axis comes first


def test_loop_orders(ttc: Ttc) -> None:
    found = ttc("--perm=2,1,0", "--size=16,16,16", "--maxImplementations=6", "--loopPerm=1,2,0")
    assert {plan["order"] for plan in plans_of(found)} == {"1,0,2"}  # index 2 of A is the canonical axis 0


def test_several_loop_orders(ttc: Ttc) -> None:
    found = ttc("--perm=2,1,0", "--size=16,16,16", "--maxImplementations=40", "--loopPerm=1,2,0-0,1,2")
    assert {plan["order"] for plan in plans_of(found)} == {"1,0,2", "2,1,0"}


# --- what comes out ---------------------------------------------------------------------------------------


def test_kinds_of_files_and_their_folder(ttc: Ttc) -> None:
    kinds = {"obj": ".o", "header": ".h", "asm": ".s", "llvm": ".ll", "bitcode": ".bc"}
    found = ttc(*TINY, "--generateOnly", f"--emit={','.join(kinds)}", "--output-dir=new/folder")
    assert found["files"] == [f"new/folder/{STEM}{end}" for end in kinds.values()]
    assert all(Path(path).stat().st_size for path in found["files"])


def test_no_files_where_none_are_wanted(ttc: Ttc, tmp_path: Path) -> None:
    assert ttc(*TINY, "--generateOnly", "--emit=", "--output-dir=nowhere")["files"] == []
    assert not (tmp_path / "nowhere").exists()


def test_files_of_others_are_replaced_by_force_only(
    ttc: Ttc, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    header = tmp_path / f"{STEM}.h"
    header.write_text("mine")
    assert cli.main([*TINY, FEW]) == 2
    assert "--force" in capsys.readouterr().err
    assert header.read_text() == "mine" and not (tmp_path / f"{STEM}.o").exists()
    ttc(*TINY, FEW, "--force")
    assert STEM in header.read_text()


@pytest.mark.parametrize("flags", [(), ("--generateOnly",)])
def test_keeping_the_candidates(ttc: Ttc, flags: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    folder = Path(f"{STEM}.candidates")
    folder.mkdir()
    (folder / "099.ll").write_text("from an earlier run")
    (folder / "2nd-try.ll").write_text("somebody's own")
    assert cli.main([*TINY, FEW, "--keep", *flags]) == 2
    capsys.readouterr()
    assert (folder / "099.ll").exists()
    found = ttc(*TINY, FEW, "--keep", "--force", *flags)
    assert found["files"][-1] == str(folder)
    assert sorted(path.name for path in folder.iterdir()) == ["001.ll", "002.ll", "003.ll", "2nd-try.ll", "plans.txt"]
    heading, best, *_ = (folder / "plans.txt").read_text().splitlines()
    assert heading.split("\t") == ["number", "seconds", "GiB/s", "plan"]
    assert best.split("\t")[3] == found["plan"]
    assert "define void @kernel" in (folder / "001.ll").read_text().replace('"', "")


def test_the_summary(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([*PAPER, FEW, "--beta=2"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    labels = [line.split()[0] for line in out.splitlines() if not line.startswith(" ")]
    assert labels == [
        "problem", "merged", "target", "threads", "plan", "bandwidth", "ceiling", "candidates", "source", "files",
    ]  # fmt: skip
    assert "B <- 1 * A + 2 * B: perm 2,1,0, size 8x16x16, type s, lda 32x32x32" in out
    assert "16:1024:1 16:32:16 8:1:256" in out
    assert re.search(r"GiB/s \(bytes of A \+ 2 x bytes of B, per second\)", out)
    assert re.search(r"GiB/s, SAXPY measured in the same run: ratio \d", out)
    assert "\x1b" not in out


def test_verbose_shows_candidates_and_logs(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([*TINY, FEW, "-v"]) == 0
    out, err = capsys.readouterr()
    assert len(re.findall(r"GiB/s [* ] cpu3 ", out)) == 3
    assert "ttc: merged problem: i32>i32" in err
    assert "ttc: 3 of 3 candidates timed" in err


# --- refusals ---------------------------------------------------------------------------------------------

REFUSALS: list[tuple[tuple[str, ...], str]] = [
    ((), "--perm and --size are missing"),
    (("--size=2,3",), "--perm is missing"),
    (("--perm=1,0",), "--size is missing"),
    (("--perm=1,x", "--size=2,3"), "'x' is not an integer"),
    (("--perm=1,1", "--size=2,3"), "not a permutation"),
    (("--perm=1,0", "--size=2"), "has 1 extents"),
    (("--perm=1,0", "--size=2x3"), "--size=2x3: '2x3' is not an integer, nor integers between commas"),
    (("database",), "required: ACTION: ttc database --help shows what is expected"),
    (("--perm=1,0", "--size=2,-3"), "negative"),
    (("--perm=1,0", f"--size={'9' * 30},2"), "exceeds 2^63 - 1 bytes"),
    (("--perm=1,0", f"--size={'9' * 50},2"), "is not an integer"),
    (("--perm",), "expected one argument"),
    (("--perm", "--size=2,3"), "--perm lacks its value"),
    ((*TINY, "--lda=8,9"), "lda[0] = 8 is less than"),
    ((*TINY, "--ldb=64"), "has 1 entries"),
    ((*TINY, "--dataType=q"), "unknown data type"),
    ((*TINY, "--dataType=i32", "--alpha=2"), "plain moves only"),
    ((*TINY, "--conjugate"), "needs a complex data type"),
    ((*TINY, "--alpha=two"), "a number such as"),
    ((*TINY, "--beta=1,2,3"), "a number such as"),
    ((*TINY, "--alpha=1/0"), "--alpha=1/0: a fraction of two numbers such as 1/255 is expected"),
    ((*TINY, "--dataType=complex64,uint8"), "data types complex64 -> uint8 cannot be combined"),
    ((*TINY, "--beta=1j"), "is complex"),
    ((*TINY, "--maxImplementations=0"), "--maxImplementations=0: a count from 1 to 2147483647, -1 (the whole"),
    ((*TINY, "--maxImplementations=many"), "or one of estimate, measure, patient, exhaustive is expected"),
    ((*TINY, "--time-limit=0"), "--time-limit=0: a positive number of seconds"),
    ((*TINY, "--time-limit=soon"), "a number of seconds"),
    ((*TINY, "--numThreads=-1"), "--numThreads=-1: a number from 1 to 2147483647 is expected, or 0"),
    ((*TINY, "--affinity=everywhere"), "affinity"),
    ((*TINY, "--affinity=granularity=core,compact"), "affinity"),
    ((*TINY, "--affinity=99999"), "CPU 99999"),
    ((*TINY, "--architecture=knc"), "knl"),
    ((*TINY, "--architecture=cuda"), "there is no "),
    ((*TINY, "--architecture=hip"), "code for gfx90a cannot run here"),
    ((*TINY, "--architecture=cuda", "--cpu=gfx90a"), "of different makers"),
    (("--terms=2:0,1;-1:1,0", "--size=8,8", "--architecture=cuda"), "not served on GPUs"),
    ((*TINY, "--architecture=avx2", "--cpu=sm_90"), "one is a GPU, the other is none"),
    ((*TINY, "--cpu=sm_90", "--generateOnly", "--threadsPerBlock=2000"), "exceeds 1024"),
    ((*TINY, "--cpu=sm_90", "--generateOnly", "--threadsPerBlock=0"), "--threadsPerBlock=0: numbers from 1"),
    ((*TINY, "--cpu=sm_90", "--generateOnly", "--numThreads=2"), "--numThreads is for CPUs"),
    ((*TINY, "--cpu=sm_90", "--generateOnly", "--streamingStores"), "--streamingStores is for CPUs"),
    ((*TINY, "--cpu=sm_90", "--generateOnly", "--emit=obj"), "the choices for an NVIDIA GPU are ptx, cubin"),
    ((*TINY, "--cpu=gfx90a", "--generateOnly", "--emit=ptx"), "the choices for an AMD GPU are hsaco"),
    ((*TINY, "--threadsPerBlock=64"), "--threadsPerBlock is for GPUs"),
    ((*TINY, "--architecture=power"), "cannot be timed here: this machine lacks its instructions"),
    ((*TINY, "--architecture=sve", "--generateOnly", "--cpu=pwr9"), "contradicts --cpu=pwr9"),
    ((*TINY, "--architecture=powerpc64-linux-gnu", "--cpu=a64fx"), "a64fx is no CPU of powerpc64-linux-gnu"),
    ((*TINY, "--architecture=riscv64-linux-gnux"), "unknown triple 'riscv64-linux-gnux': near matches are riscv64-"),
    ((*TINY, "--cpu=neoverse-v9"), "near matches are neoverse-v2, neoverse-v1"),
    ((*TINY, "--cpu=haswell,hasswell"), "near matches are haswell"),
    ((*TINY, "--cpu=haswell,neon"), "neon cannot share an object with other CPUs"),
    ((*TINY, "--cpu=haswell,,znver5"), "is empty"),
    ((*TINY, "--cpu=pwr9", "--streamingStores", "--generateOnly"), "pwr9 has no non-temporal stores"),
    ((*TINY, "--architecture=axv2"), "near matches are avx2"),
    ((*TINY, "--cpu="), "is empty"),
    ((*TINY, "--architecture=avx", "--cpu=haswell"), "contradicts"),
    ((*TINY, "--compiler=gcc"), "unknown compiler 'gcc': the choices are g++, clang++"),
    ((*TINY, "--compiler="), "--compiler=: at least one name is expected"),
    ((*TINY, "--architecture=avx", "--compiler=nvcc"), "compiler nvcc: it compiles for GPUs: --architecture=cuda sets"),
    ((*TINY, "--compiler=nvcc"), "there is no "),  # which means --architecture=cuda
    ((*TINY, "--against=my.cpp", "--generateOnly"), "--against=my.cpp cannot be compared with: --generateOnly"),
    ((*TINY, "--against=my.cpp", "--hotA"), "--hotA and --hotB have to come together"),
    ((*TINY, "--compiler=llvm", "--traverse=back"), "--traverse=back: the choices are output, input, both"),
    ((*TINY, "--against=missing.cpp"), "--against=missing.cpp cannot be read"),
    ((*TINY, "--compilerFlags=-O2"), "--compilerFlags without --compiler or --against"),
    (("--perm=1,0", "--size=0,4", "--compiler=llvm"), "has nothing to compare"),
    ((*TINY, "--streamingStores", "--beta=1"), "beta must be 0"),
    ((*TINY, "--streamingStores", "--no-align"), "contradicts --no-align"),
    ((*TINY, "--prefetchDistances=-1"), "distances of 0 or more"),
    ((*TINY, "--prefetchDistances="), "distances of 0 or more"),
    ((*TINY, "--blockings=32"), "positive sides"),
    ((*TINY, "--blockings=0x8"), "positive sides"),
    ((*TINY, "--loopPerm=0"), "not a permutation"),
    (("--perm=1,0", "--size=256,256", "--blockings=32x5"), "5 is no multiple of"),
    ((*TINY, "--cpu=sm_91", "--generateOnly"), "unknown GPU 'sm_91': near matches are sm_90"),
    ((*TINY, "--cpu=haswell,sm_90"), "it is a GPU"),
    ((*TINY, "--alpha=1e300"), "beyond the range of the data type s"),
    (("--perm=2,0,1", "--size=2,3,4", "--loopPerm=0,2,1"), "merged into one loop"),
    ((*TINY, "--emit=exe"), "the choices are obj"),
    ((*TINY, "--output-dir=/proc/nowhere/here"), "cannot be made"),
    ((*TINY, "--prem=1,0"), "near matches are --perm"),
    ((*TINY, "--hota"), "near matches are --hotA"),
    ((*TINY, "--versio"), "near matches are --version"),
    ((*TINY, "--max=3"), "near matches are --maxImplementations"),
    ((*TINY, "--strides-a=2,200"), "strides_a 2,200 of extents 48,32 is stated by no outer sizes"),
    ((*TINY, "--strides-b=1,31"), "strides_b 1,31 of extents 32,48"),
    ((*TINY, "--strides-a=1"), "strides_a 1 has 1 entries, but perm has 2 indices"),
    ((*TINY, "--strides-a=1,48", "--lda=48,32"), "--lda and --strides-a both say where A lies"),
    ((*TINY, "--zzzzzz"), "ttc --help lists all"),
    ((*TINY, "extra"), "unexpected argument 'extra'"),
    ((*TINY, "--json=yes"), "--json"),
    (("compile",), "--perm and --size are missing"),
    (("compile", "compile"), "unexpected argument 'compile'"),
    (("help", "me"), "help me: the commands are compile, bench, compare"),
    (("info", "--hotA"), "--hotA"),
    (("database",), "ACTION"),
    (("database", "drop"), "'drop'"),
    (("database", "show", "12"), "12"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "reason"), REFUSALS, ids=[" ".join(a)[-60:] or "-" for a, _ in REFUSALS]
)
def test_refusals_are_one_line_and_status_2(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, arguments: tuple[str, ...], reason: str
) -> None:
    assert cli.main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("ttc: error: ") and err.count("\n") == 1, err
    assert reason in err
    assert not list(tmp_path.glob("*.o"))


def test_what_cannot_run_here_cannot_be_timed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backend, "runs_here", lambda wanted: False)
    assert cli.main([*TINY, "--cpu=knl"]) == 2
    assert "--generateOnly takes the cost model's plan" in capsys.readouterr().err
    assert cli.main([*TINY, "--cpu=knl", "--generateOnly"]) == 0


def test_a_wrong_result_is_an_error(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ttc_llvm.compiling.trial.Trial.verify", lambda *_: (1, 2))
    assert cli.main([*TINY, FEW]) == 2
    assert "wrong element at index (1, 2)" in capsys.readouterr().err


def caused(error: Exception, cause: BaseException) -> Exception:
    """As Python up to 3.11 wraps what strikes while a dataclass is made."""
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("raised", "status", "said"),
    [
        (KeyboardInterrupt(), 130, "interrupted before there was any result"),
        (caused(RuntimeError("__set_name__"), KeyboardInterrupt()), 130, "interrupted before there was any result"),
        (MemoryError(), 2, "out of memory"),
        (OSError(28, "No space left on device"), 2, "No space left on device"),
        (ZeroDivisionError("x\ny"), 1, "internal error: ZeroDivisionError: x y"),
    ],
)
def test_whatever_happens_is_one_line(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    raised: BaseException,
    status: int,
    said: str,
) -> None:
    def fails(command: object) -> int:
        raise raised

    monkeypatch.setattr(cli_compile, "run", fails)
    assert cli.main(TINY) == status
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert said in err


def test_every_option_is_tested_and_explained(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["--help"]) == 0
    help = capsys.readouterr().out
    folder = Path(__file__).parent
    others = ("library", "cli_spellings", "row_major", "given_plan", "symbols", "emitted_contractions")
    names = (Path(__file__).name, *(f"test_{name}.py" for name in others))
    source = "".join((folder / name).read_text() for name in names)
    for option in cli_options.OPTIONS:
        for flag in cli_options.spellings_of(option.flag):
            assert re.search(rf"{flag}[\s=,]", help + " "), flag
            assert re.search(rf"{flag}\b", source), f"{flag} has no test"


# --- other commands, processes, pipes ---------------------------------------------------------------------


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["--version"]) == 0
    assert capsys.readouterr().out == f"ttc {ttc_llvm.__version__}\n"


def test_info_as_json(ttc: Ttc, tmp_path: Path) -> None:
    found = ttc("info", "--no-ceilings")
    assert found["ttc_llvm"] == ttc_llvm.__version__
    assert found["target"]["cpu"] == backend.host_target().cpu
    assert found["caches"]["l1"] >= 1024
    assert found["database"] == {"path": str(tmp_path / "solutions.sqlite3"), "solutions": 0}
    assert {"sse2", "haswell", "znver5"} <= set(found["architectures"])
    assert "ceilings_gibs" not in found


def test_info_measures_ceilings(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ttc_llvm.cli.info.CEILING_BYTES", 4 << 20)
    assert cli.main(["info"]) == 0
    out = capsys.readouterr().out
    for name in ("SAXPY", "streaming copy", "ordinary copy"):
        measured = re.search(rf"{name} ([0-9.]+) GiB/s", out)
        assert measured and float(measured[1]) > 0.1
    assert "llvmlite" in out and "database" in out


def test_info_survives_a_broken_database(ttc: Ttc) -> None:
    Path("broken").write_bytes(b"not a database at all" * 100)
    assert "error" in ttc("info", "--no-ceilings", "--database=broken")["database"]


def test_the_module_runs_as_a_program() -> None:
    run = process("--version")
    assert run.communicate(timeout=PATIENCE) == (f"ttc {ttc_llvm.__version__}\n", "")
    assert run.returncode == 0
    run = process("--perm=2,1")
    out, err = run.communicate(timeout=PATIENCE)
    assert (out, err.count("\n"), run.returncode) == ("", 1, 2)


def test_help_and_mistakes_need_no_llvm() -> None:
    code = (
        "import sys; from ttc_llvm import cli; status = [cli.main([a]) for a in ('--help', '--version', '--foo')];"
        "sys.exit(status != [0, 0, 2] or 'llvmlite.binding' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=False)
    assert done.returncode == 0


def test_importing_the_package_is_quick() -> None:
    code = "import sys, ttc_llvm; sys.exit(bool({'numpy', 'llvmlite', 'rich', 'sqlite3'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0


def test_every_public_name_can_be_had() -> None:
    for name in ttc_llvm.__all__:
        assert getattr(ttc_llvm, name) is not None
    assert set(ttc_llvm.__all__) <= set(dir(ttc_llvm))
    with pytest.raises(AttributeError, match="no attribute 'transposed'"):
        ttc_llvm.transposed  # noqa: B018


def test_a_reader_that_goes_away_is_no_error() -> None:
    run = process("--help", env={"PYTHONUNBUFFERED": "1"})
    assert run.stdout is not None and run.stderr is not None
    run.stdout.close()
    assert run.stderr.read() == ""
    assert run.wait(PATIENCE) == 141
    run.stderr.close()


def read_all(terminal: int) -> str:
    """Everything that a process writes to its terminal until it ends."""
    chunks = []
    while True:
        try:
            chunk = os.read(terminal, 65536)
        except OSError:  # Linux: the last process has closed the other end
            break
        if not chunk:
            break
        chunks.append(chunk)
    return b"".join(chunks).decode()


@pytest.mark.parametrize("environment", [{}, {"NO_COLOR": "1"}])
def test_a_terminal_gets_a_bar_and_colours(environment: dict[str, str]) -> None:
    ours, theirs = os.openpty()
    shown = {"TERM": "xterm-256color"} | environment
    run = process(*TINY, "--maxImplementations=8", env=shown, stdout=theirs, stderr=theirs)
    os.close(theirs)
    seen = read_all(ours)
    os.close(ours)
    assert run.wait(PATIENCE) == 0
    assert "tuning" in seen and "8/8" in seen
    assert "bandwidth" in seen
    assert bool(re.search(r"\x1b\[[0-9;]*3[0-9]", seen)) is not bool(environment)


def test_pipes_see_neither_bar_nor_colours() -> None:
    out, err = process(*TINY, "--maxImplementations=8").communicate(timeout=PATIENCE)
    assert err == ""
    assert "\x1b" not in out and "tuning" not in out


def test_interrupting_keeps_the_best_so_far() -> None:
    run = process(*PAPER, "--maxImplementations=1000000", "--verbose", "--json")
    assert run.stderr is not None
    for line in run.stderr:
        if "candidates timed" in line:
            break
    run.send_signal(signal.SIGINT)
    out, _ = run.communicate(timeout=PATIENCE)
    assert run.returncode == 0
    found = json.loads(out)
    assert found["measurement"]["interrupted"] is True
    assert found["source"] == "tuned"
    assert all(Path(path).exists() for path in found["files"])


def test_terminating_ends_at_once() -> None:
    run = process(*PAPER, "--maxImplementations=1000000", "--verbose")
    assert run.stderr is not None
    assert select.select([run.stderr], [], [], PATIENCE)[0]
    run.terminate()
    run.communicate(timeout=PATIENCE)
    assert run.returncode == -signal.SIGTERM
    assert not list(Path().glob("*.o"))


@pytest.mark.parametrize("closed", [(1,), (2,), (1, 2)])
def test_closed_streams_lose_no_result(tmp_path: Path, closed: tuple[int, ...]) -> None:
    shell = " ".join(f"{number}>&-" for number in closed)
    line = f"{sys.executable} -m ttc_llvm {' '.join(TINY)} --generateOnly --output-dir={tmp_path} {shell}"
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(["sh", "-c", line], env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert len(list(tmp_path.glob("*.o"))) == 1


def test_a_stand_in_is_small_and_its_speeds_are_its_own(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ttc_llvm.compiling.trial.PROXY_BYTES", 1 << 20)
    huge = ["--perm=1,0", "--size=2000000,2000000", "--maxImplementations=2", "--emit=", "--verbose"]
    assert cli.main(huge) == 0
    out = capsys.readouterr().out
    assert "on a smaller stand-in" in out
    (gibs,) = re.findall(r"bandwidth +([0-9.]+) GiB/s", out)
    (winner,) = re.findall(r"([0-9.]+) GiB/s \* cpu", out)
    assert float(winner) == pytest.approx(float(gibs), abs=0.06)


def test_the_best_are_sorted_by_what_is_shown_and_the_choice_is_told() -> None:
    for runs, told in (((3.0, 1.0, 2.0), True), ((1.0, 3.0, 2.0), False)):
        timings = tuple((f"cpu3 {seconds}", (seconds, 2 * seconds)) for seconds in runs)
        found = cli_report._best_lines(ttc_llvm.Measurement(runs[0], 6.0 / runs[0], None, "copy", timings))
        assert [line.split()[0] for line in found[:3]] == ["6.00", "3.00", "2.00"]
        assert ["*" in line for line in found[:3]] == [seconds == runs[0] for seconds in sorted(runs)]
        assert (found[-1] == CHOICE) == told


@pytest.mark.parametrize(("perm", "tiles"), [("1,0", {"16,32"}), ("0,2,1", {"32,1,1", "16,1,1"})])
def test_blockings_are_taken_as_they_are(ttc: Ttc, perm: str, tiles: set[str]) -> None:
    size = ",".join(["256"] * len(perm.split(",")))
    found = ttc(f"--perm={perm}", f"--size={size}", "--maxImplementations=3", "--blockings=32x16")
    assert {plan["tile"] for plan in plans_of(found)} <= tiles


def test_the_entry_point_loads_nothing_heavy_before_it_is_guarded() -> None:
    heavy = {"argparse", "numpy", "llvmlite"}
    program = f"import sys, ttc_llvm.cli; sys.exit({heavy} & set(sys.modules) or None)"
    command = [sys.executable, "-S", "-c", program]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, timeout=PATIENCE, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


STRUCK = """
import sys

class Struck:
    def find_spec(self, name, path=None, target=None):
        if name == sys.argv[1]:
            exec("raise KeyboardInterrupt")  # as one that strikes while a dataclass is made

sys.meta_path.insert(0, Struck())
from ttc_llvm.cli import main
sys.exit(main(["bench"]))
"""


@pytest.mark.parametrize("module", ["ttc_llvm.cli.command", "ttc_llvm.cli.options", "ttc_llvm.cli.bench", "numpy"])
def test_ctrl_c_while_modules_are_imported_is_one_line(tmp_path: Path, module: str) -> None:
    (tmp_path / "struck.py").write_text(STRUCK)  # run by -m: what is given by -c or as a file ends otherwise
    environment = {"PYTHONPATH": os.pathsep.join([str(ROOT), str(tmp_path)])}
    done = attempt(sys.executable, "-m", "struck", module, env=environment)
    said = "ttc: interrupted before there was any result\n"
    assert (done.returncode, done.stdout, done.stderr) == (130, "", said)


class Deaf(io.StringIO):
    """A stream whose reader is gone."""

    def write(self, text: str) -> int:
        raise BrokenPipeError


@pytest.mark.parametrize("stream", [None, Deaf()])
def test_ctrl_c_is_its_status_where_nobody_listens(monkeypatch: pytest.MonkeyPatch, stream: io.StringIO | None) -> None:
    def struck(arguments: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "run", struck)
    monkeypatch.setattr(sys, "stderr", stream)
    assert cli.main([]) == 130
