"""Signals that end a command: at fixed moments, where they once were swallowed, and a few at random."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import interrupts as campaign
import pytest
from interrupts import Attack
from processes import attempt

from ttc_llvm import cli
from ttc_llvm.bench import comparison
from ttc_llvm.compiling import trial
from ttc_llvm.runtime import interrupts

ROOT = campaign.ROOT
SAID = "ttc: interrupted before there was any result\n"
QUICK = ["bench", "--bytes=64K", "--maxImplementations=2", "--peers=none", "--kind=update", "--cases=3,9,12"]


@pytest.fixture(autouse=True)
def _own_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TTC_DATABASE", str(tmp_path / "solutions.db"))
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def struck_once(calls: list[None]) -> Any:
    """Something that is interrupted when it is called first, and says so to nobody."""

    def struck(found: Any, *_: Any) -> Any:
        calls.append(None)
        if len(calls) == 1:
            signal.raise_signal(signal.SIGINT)
        return found

    return struck


def test_ctrl_c_behind_a_search_ends_a_bench(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    """The search keeps its result; the bench must not go on to the next case."""
    calls: list[None] = []
    monkeypatch.setattr(trial, "decided", struck_once(calls))
    assert cli.main(QUICK) == 130
    assert len(calls) == 1
    assert capsys.readouterr().err == SAID


def test_ctrl_c_that_another_library_swallows_ends_a_bench(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    def swallowed(*_: Any, **options: bool) -> Any:
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            return comparison.Present((), {})

    monkeypatch.setattr(comparison.Present, "of", swallowed)
    assert cli.main(QUICK) == 130
    assert capsys.readouterr().err == SAID


STRUCK = """
import os, signal, sys

class Struck:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Struck())
"""
SCRIPT = "import sys\nfrom ttc_llvm.cli import main\nsys.exit(main())\n"
MODULES = [
    "ttc_llvm.interpreter", "ttc_llvm.locks", "logging", "ttc_llvm.cli", "ttc_llvm.cli.entry",
    "ttc_llvm.runtime.interrupts", "ttc_llvm.cli.command", "ttc_llvm.cli.bench", "numpy", "datetime",
]  # fmt: skip


@pytest.mark.parametrize("script", [False, True])
@pytest.mark.parametrize("module", MODULES)
def test_ctrl_c_while_modules_are_imported(tmp_path: Path, module: str, script: bool) -> None:
    """From the package's first import on. NumPy reports a broken installation where its import of datetime, in C, is
    interrupted."""
    (tmp_path / "sitecustomize.py").write_text(STRUCK.format(module=module))
    (tmp_path / "ttc").write_text(SCRIPT)
    program = [tmp_path / "ttc"] if script else ["-m", "ttc_llvm"]
    environment = {"PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])}
    done = attempt(sys.executable, *program, "bench", "--list", env=environment)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", SAID)


@pytest.mark.parametrize("words", [["-m", "other", "ttc_llvm"], ["other.py", "-m", "ttc_llvm"], ["ttc"]])
def test_other_programs_keep_their_signals(tmp_path: Path, words: list[str]) -> None:
    """Whatever they are called."""
    text = "import signal, ttc_llvm\nprint(signal.getsignal(signal.SIGINT) is signal.default_int_handler)\n"
    for name in ("other.py", "ttc"):
        (tmp_path / name).write_text(text)
    if words[0] != "-m":
        words = [str(tmp_path / words[0]), *words[1:]]
    environment = {"PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])}
    done = attempt(sys.executable, *words, env=environment)
    assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr


def program(text: str) -> subprocess.CompletedProcess[str]:
    """A program with our signals."""
    head = "import os, signal, sys, time\nfrom ttc_llvm.runtime import interrupts\n"
    environment = {"PYTHONPATH": str(ROOT)}
    return attempt(sys.executable, "-c", head + text, env=environment)


def test_ctrl_c_in_a_destructor_arrives_behind_it() -> None:
    done = program("""
class Struck:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.1)

interrupts.begin()
try:
    with interrupts.raised():
        Struck()
        time.sleep(20)
except KeyboardInterrupt:
    print("raised")
""")
    assert (done.returncode, done.stdout, done.stderr) == (0, "raised\n", "")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_what_is_left_is_undone_before_the_end(tmp_path: Path, number: signal.Signals) -> None:
    """Also while it is being undone already, by a second signal."""
    done = program(f"""
interrupts.begin()
with interrupts.Undo(lambda: print("undone", flush=True)):
    with interrupts.Undo(lambda: os.kill(os.getpid(), {number:d})):
        pass
    time.sleep(20)
""")
    assert done.returncode == (130 if number == signal.SIGINT else -number)
    assert done.stdout == "undone\n"


def test_held_signals_arrive_in_spite_of_an_error() -> None:
    with pytest.raises(KeyboardInterrupt), interrupts.held():
        signal.raise_signal(signal.SIGINT)
        raise ValueError
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_held_signals_all_arrive_though_the_first_one_raises() -> None:
    seen: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, _: seen.append(number))
    try:
        with pytest.raises(KeyboardInterrupt), interrupts.held():
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGTERM)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert seen == [signal.SIGTERM]


def test_signals_that_are_ignored_stay_so() -> None:
    done = program("""
signal.signal(signal.SIGINT, signal.SIG_IGN)
signal.signal(signal.SIGHUP, signal.SIG_IGN)
interrupts.begin()
os.kill(os.getpid(), signal.SIGINT)
os.kill(os.getpid(), signal.SIGHUP)
print("alive")
""")
    assert (done.returncode, done.stdout, done.stderr) == (0, "alive\n", "")


def test_callers_in_a_process_of_their_own_keep_their_signals(capsys: Any) -> None:
    before = [signal.getsignal(number) for number in interrupts.ENDING], sys.unraisablehook
    assert cli.main(["--version"]) == 0
    assert ([signal.getsignal(number) for number in interrupts.ENDING], sys.unraisablehook) == before


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_compilers_and_their_folders_go_with_the_command(tmp_path: Path, number: signal.Signals) -> None:
    compiler = tmp_path / "bin" / "g++"
    compiler.parent.mkdir()
    compiler.write_text(
        f"#!/bin/sh\ncase $1 in --version) echo g++ 99.0; exit;; esac\n"
        f"touch $TMPDIR/temporary.s; sleep 60 & echo $! > {tmp_path}/child; wait\n"
    )
    compiler.chmod(0o755)
    (tmp_path / "tmp").mkdir()
    environment = os.environ | {"PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path / "tmp"), "HOME": str(tmp_path)}
    command = [sys.executable, "-m", "ttc_llvm", "compare", f"--compiler={compiler}", "--cases=3,9", "--bytes=64K"]
    running = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
    child = tmp_path / "child"
    deadline = time.monotonic() + 60
    while not (child.exists() and child.read_text()) and time.monotonic() < deadline:
        time.sleep(0.02)
    running.send_signal(number)
    _, err = running.communicate(timeout=60)
    assert running.returncode == (130 if number == signal.SIGINT else -number)
    assert err == (SAID if number == signal.SIGINT else "")
    assert os.listdir(tmp_path / "tmp") == []
    stat = Path(f"/proc/{child.read_text().strip()}/stat")
    while stat.exists() and stat.read_text().split()[2] != "Z" and time.monotonic() < deadline:
        time.sleep(0.02)  # killed, and still to be told
    assert not stat.exists() or stat.read_text().split()[2] == "Z"


@pytest.mark.parametrize("number", range(8))
def test_a_few_at_random(tmp_path: Path, number: int) -> None:
    attack = Attack.drawn(11, number, ("compile", "generate", "gpu", "explain", "info", "list"))
    ended = campaign.run(attack, tmp_path)
    assert not list(campaign.faults(attack, ended, tmp_path)), attack
