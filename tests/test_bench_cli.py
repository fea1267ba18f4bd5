"""`ttc bench` on the command line: what it prints, writes, resumes and refuses."""

from __future__ import annotations

import json
import os
import pty
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from processes import PATIENCE

from ttc_llvm import cli
from ttc_llvm.bench import cpu_runner
from ttc_llvm.cli import bench_options as cli_options

ROOT = Path(__file__).parent.parent
QUICK = ("--bytes=32K", "--maxImplementations=2", "--rounds=3", "--numThreads=2", "--peers=none")
Run = tuple[int, str, str]

pytestmark = pytest.mark.usefixtures("own_place")


@pytest.fixture
def bench(capsys: pytest.CaptureFixture[str]) -> Any:
    """Run `ttc bench` in this process: status, stdout, stderr."""

    def call(*arguments: str) -> Run:
        status = cli.main(["bench", *arguments])
        out, err = capsys.readouterr()
        return status, out, err

    return call


def test_a_table_and_summaries(bench: Any) -> None:
    status, out, err = bench(*QUICK, "--cases=3,9")
    assert (status, err) == (0, "")
    lines = out.splitlines()
    assert lines[0].split() == ["case", "perm", "size", "type", "ms", "GiB/s", "ceiling", "ratio"]
    assert [line.split()[0] for line in lines[1:5]] == [
        "ttc57/03/copy", "ttc57/09/copy", "ttc57/03/update", "ttc57/09/update",
    ]  # fmt: skip
    assert "ttc57, beta = 0, cold, 2 threads" in lines
    assert any(line.startswith("  of SAXPY ") and line.endswith("2 cases") for line in lines)


def test_results_are_appended_and_not_measured_again(bench: Any) -> None:
    arguments = (*QUICK, "--cases=3", "--output=results.jsonl")
    status, first, _ = bench(*arguments, "--kind=copy")
    written = Path("results.jsonl").read_text()
    assert status == 0 and written.count("\n") == 1
    Path("results.jsonl").write_text(written + written[:40])  # killed while it wrote the second
    assert bench(*arguments)[0] == 0
    lines = Path("results.jsonl").read_text().splitlines()
    assert [json.loads(line)["kind"] for line in lines] == ["copy", "update"]
    assert lines[0] + "\n" == written
    status, again, _ = bench(*arguments, "--kind=copy")
    assert Path("results.jsonl").read_text().splitlines() == lines
    assert again == first
    facts = json.loads(lines[1])["facts"]
    assert {"machine", "cpu", "target", "versions", "date", "options", "peers"} <= set(facts)


def test_other_options_are_other_results(bench: Any) -> None:
    for rounds in ("3", "4"):
        assert bench(*QUICK, "--cases=3", "--kind=copy", "--output=results.jsonl", f"--rounds={rounds}")[0] == 0
    assert len(Path("results.jsonl").read_text().splitlines()) == 2


def test_a_report_of_what_is_there(bench: Any) -> None:
    status, out, _ = bench(*QUICK, "--cases=3", "--output=results.jsonl")
    assert bench("--report=results.jsonl") == (status, out, "")


def test_a_list_of_cases(bench: Any) -> None:
    status, out, err = bench("--suite=all", "--list", "--kind=copy", "--hptt=missing")
    assert (status, err) == (0, "")
    assert "ttc57/00/copy" in out and "bits26-reversed" in out
    status, out, _ = bench("--suite=dtypes", "--list", "--dataType=i8,sd")
    assert {line.split()[3] for line in out.splitlines()} == {"i8", "sd"}
    assert len(bench("--suite=ragged", "--list", "--sample=7")[1].splitlines()) == 7


def test_verbose_says_how_far_it_has_come(bench: Any) -> None:
    _, _, err = bench(*QUICK, "--cases=3", "--verbose")
    assert "ttc: 1 of 2: ttc57/03/copy " in err and "ttc: 2 of 2: ttc57/03/update " in err


def test_absent_peers_are_a_line_each(bench: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    quick = [argument for argument in QUICK if "peers" not in argument]
    _, out, err = bench(*quick, "--cases=3", "--kind=copy")
    assert "x numpy" in out
    assert [line for line in err.splitlines() if "mkl" not in line] == [
        "ttc: peer torch is left out: it is not installed",
        "ttc: peer jax is left out: it is not installed",
        "ttc: peer hptt is left out: --hptt=PATH names no shared library",
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--suite=ttc58",), "unknown suite 'ttc58': the choices are ttc57, ragged, pow2"),
        (("--suite=",), "--suite=: at least one name is expected"),
        (("--kind=beta",), "unknown kind 'beta': the choices are copy, update"),
        (("--cases=99",), "cases '99' match nothing"),
        (("--cases=::0",), "the step of a slice is 1 or more"),
        (("--dataType=q",), "unknown data type 'q'"),
        (("--dtype=bfloat16", "--suite=hot"), "no case is left to be measured"),
        (("--sample=0",), "--sample=0: a number of at least 1 is expected"),
        (("--sample=x",), "--sample=x: an integer is expected"),
        (("--sample=1_0",), "--sample=1_0: an integer is expected"),
        (("--bytes=12Q",), "--bytes=12Q: a size such as 500000, 512K, 8M or 1G is expected"),
        (("--bytes=0",), "--bytes=0: a size"),
        pytest.param((f"--bytes={'9' * 5000}",), f"--bytes={'9' * 40}: a size", id="more digits than int() takes"),
        (("--rounds=0",), "--rounds=0: a number of at least 1"),
        (("--threads=-1",), "--threads=-1: a number from 1 to 2147483647 is expected, or 0 for the default"),
        (("--maxImplementations=0",), "--maxImplementations=0: a count from 1"),
        (("--time-limit=x",), "--time-limit=x: a number of seconds is expected"),
        (("--time-limit=-1", "--cases=0"), "--time-limit=-1: a positive number of seconds is expected"),
        (("--affinity=left",), "affinity 'left' is malformed"),
        (("--peers=eigen",), "unknown peer 'eigen': the choices are numpy, torch, jax, hptt, hptt-measure, mkl"),
        (("--peers=hptt",), "peer hptt: --hptt=PATH names no shared library"),
        (("--peers=hptt-measure", "--hptt=missing.so"), "--hptt=missing.so is no file"),
        (("--hptt=missing.so",), "--hptt=missing.so is no file"),
        (("--report=missing.jsonl",), "missing.jsonl cannot be read"),
        (("--output=missing/x.jsonl",), "missing/x.jsonl cannot be written"),
        (("--unknown",), "unrecognized arguments: --unknown"),
    ],
)
def test_mistakes_are_one_line(bench: Any, arguments: tuple[str, ...], message: str) -> None:
    status, out, err = bench(*QUICK[1:2], *arguments)
    assert (status, out) == (2, "")
    assert err.count("\n") == 1 and message in err


def test_a_library_that_is_none_is_refused(bench: Any) -> None:
    Path("text.so").write_text("no library")
    for flag in ("hptt", "mkl"):
        status, _, err = bench(f"--{flag}=text.so", f"--peers={flag}")
        assert status == 2 and "text.so" in err and err.count("\n") == 1
        status, _, err = bench(f"--{flag}=\udc80", f"--peers={flag}")  # undecodable, as Python spells such bytes
        assert status == 2 and err.startswith("ttc: error: ") and err.count("\n") == 1


def test_other_files_are_not_appended_to(bench: Any) -> None:
    Path("notes.txt").write_text("notes\n")
    status, _, err = bench(*QUICK, "--output=notes.txt")
    assert status == 2 and "notes.txt, line 1: a line is no result" in err
    assert Path("notes.txt").read_text() == "notes\n"


def test_interrupted_it_prints_what_is_there(bench: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    measured = cpu_runner._Measured.result
    calls = []

    def second_is_interrupted(self: Any, key: str) -> Any:
        calls.append(self)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return measured(self, key)

    monkeypatch.setattr(cpu_runner._Measured, "result", second_is_interrupted)
    status, out, err = bench(*QUICK, "--cases=3,9")
    assert status == 0
    assert "ttc57/03/copy" in out and "ttc57/09/copy" not in out
    assert err == "ttc: 1 of 4 cases are measured\n"
    calls.append(None)
    monkeypatch.setattr(cpu_runner._Measured, "result", lambda self, key: (_ for _ in ()).throw(KeyboardInterrupt))
    status, out, err = bench(*QUICK, "--cases=3,9")
    assert (status, out) == (130, "")


def process(*arguments: str, **options: Any) -> subprocess.Popen[bytes]:
    """`ttc bench` as a process of its own."""
    environment = os.environ | {"PYTHONPATH": str(ROOT), "COLUMNS": "200"}
    return subprocess.Popen([sys.executable, "-m", "ttc_llvm", "bench", *arguments], env=environment, **options)


def test_ctrl_c_during_a_search_ends_it(tmp_path: Path) -> None:
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    running = process("--bytes=2M", "--maxImplementations=3000", "--peers=none", "--verbose",
                      "--output=results.jsonl", **pipes)  # fmt: skip
    deadline = time.monotonic() + PATIENCE
    while not (tmp_path / "results.jsonl").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(3)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=PATIENCE)
    assert running.returncode == 130, err
    assert out == b""
    assert err.splitlines()[-1] == b"ttc: interrupted before there was any result"


def test_a_terminal_sees_a_bar() -> None:
    master, slave = pty.openpty()
    running = process(*QUICK, "--cases=3", stdout=subprocess.PIPE, stderr=slave)
    os.close(slave)
    seen = b""
    while select.select([master], [], [], PATIENCE)[0]:
        try:
            chunk = os.read(master, 4096)
        except OSError:  # the other side is closed
            break
        if not chunk:
            break
        seen += chunk
    out, _ = running.communicate(timeout=PATIENCE)
    os.close(master)
    assert running.returncode == 0
    assert b"ttc57/03/update" in seen and b"\x1b[" in seen
    assert b"ttc57/03/update" in out and b"\x1b[" not in out


def test_sizes_are_read() -> None:
    assert [cli_options.size("--bytes", text) for text in ("1000", "4k", "8M", "1G")] == [
        1000, 4096, 8 << 20, 1 << 30,
    ]  # fmt: skip
