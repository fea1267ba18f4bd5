"""What a search shows: on terminals, in notebooks, in logs; nothing in pipes, nor where nobody wants it."""

from __future__ import annotations

import logging
import os
import pty
import re
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import pytest
from processes import PATIENCE, terminal_text

import ttc_llvm
from ttc_llvm import OptionError, Problem, Progress
from ttc_llvm.compiling import display
from ttc_llvm.runtime.once import Recent
from ttc_llvm.tuning.search.progress import COMPILING, PHASES, PLANNING, WRITING

ROOT = Path(__file__).parent.parent
PROBLEM = Problem((1, 0), (48, 32))
pytestmark = pytest.mark.usefixtures("own_place")

SCRIPT = """
import logging, sys, ttc_llvm
from ttc_llvm import Problem
from ttc_llvm.tuning.search.speed import SpeedLog
SpeedLog.is_busy = lambda self, gibs: False  # the second call answers at once, whatever runs beside it
def mark(word): print(f"<{word}>", file=sys.stderr, flush=True)
mark("shown")
ttc_llvm.compile(Problem((1, 0), (48, 32)), 8)
mark("known")
ttc_llvm.compile(Problem((1, 0), (48, 32)), 8)
mark("off")
ttc_llvm.compile(Problem((1, 0), (48, 33)), 3, progress=False)
mark("function")
ttc_llvm.compile(Problem((1, 0), (48, 34)), 3, progress=lambda progress: None)
mark("log")
logging.basicConfig(level=logging.INFO, format="LOG %(message)s")
ttc_llvm.compile(Problem((1, 0), (48, 35)), 3)
mark("end")
"""


def parts_of(seen: str) -> dict[str, str]:
    """What was written behind each mark."""
    pieces = re.split(r"<(\w+)>\r?\n", seen)
    return dict(zip(pieces[1::2], pieces[2::2], strict=True))


def test_terminals_see_the_phases_unless_somebody_else_tells_them() -> None:
    master, terminal = pty.openpty()
    environment = os.environ | {"PYTHONPATH": str(ROOT), "TERM": "xterm"}
    run = subprocess.Popen([sys.executable, "-c", SCRIPT], stdout=subprocess.PIPE, stderr=terminal, env=environment)
    os.close(terminal)
    seen = terminal_text(master)
    assert run.communicate(timeout=PATIENCE)[0] == b""
    found = parts_of(seen.decode())
    assert run.returncode == 0 and list(found) == ["shown", "known", "off", "function", "log", "end"]
    shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", found["shown"])
    phases = [word for word in re.findall(r"planning|compiling|timing|verifying|writing", shown)]
    assert list(dict.fromkeys(phases)) == ["planning", "compiling", "timing", "verifying", "writing"]
    assert "8/8" in shown and re.search(r"timing, best [\d.e-]+ ms", shown)
    assert found["known"] == found["off"] == found["function"] == ""
    assert "LOG 3 of 3 candidates timed" in found["log"] and "\x1b" not in found["log"]


def test_pipes_see_nothing() -> None:
    run = subprocess.run(
        [sys.executable, "-c", SCRIPT.replace("logging.basic", "0 and logging.basic")],
        capture_output=True, text=True, env=os.environ | {"PYTHONPATH": str(ROOT)}, timeout=PATIENCE, check=True,
    )  # fmt: skip
    assert run.stdout == "" and set(parts_of(run.stderr).values()) == {""}


# --- notebooks --------------------------------------------------------------------------------------------


class Cell:
    """A display handle of IPython's, which remembers what it shows."""

    def __init__(self, first: dict[str, str]) -> None:
        self.shown = [first]

    def update(self, data: dict[str, str], raw: bool) -> None:
        assert raw
        self.shown.append(data)


@pytest.fixture
def cells(monkeypatch: pytest.MonkeyPatch) -> list[Cell]:
    """The displays of a notebook, as IPython makes them; its shell has a kernel."""
    made: list[Cell] = []

    def show(data: dict[str, str], *, raw: bool, display_id: bool) -> Cell:
        assert raw and display_id
        made.append(Cell(data))
        return made[-1]

    package, module = types.ModuleType("IPython"), types.ModuleType("IPython.display")
    vars(package).update(get_ipython=lambda: types.SimpleNamespace(kernel=object()), display=module)
    vars(module).update(display=show)
    monkeypatch.setitem(sys.modules, "IPython", package)
    monkeypatch.setitem(sys.modules, "IPython.display", module)
    return made


def test_notebooks_see_a_bar_that_goes_away(cells: list[Cell], capfd: pytest.CaptureFixture[str]) -> None:
    ttc_llvm.compile(PROBLEM, 8)
    (cell,) = cells
    lines = [one["text/plain"] for one in cell.shown]
    assert any(re.fullmatch(r"tuning 8/8, \d+ s, verifying, best [\d.e-]+ ms", line) for line in lines)
    assert '<progress value="8" max="8"></progress>' in cell.shown[-2]["text/html"]
    assert cell.shown[-1] == {"text/plain": "", "text/html": ""}
    ttc_llvm.compile(PROBLEM, 8)
    ttc_llvm.compile(Problem((1, 0), (48, 33)), 1)
    assert len(cells) == 1, "nothing is shown of what is known or ready at once"
    assert capfd.readouterr() == ("", "")


def test_the_shell_of_a_terminal_is_no_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    package = types.ModuleType("IPython")
    monkeypatch.setitem(sys.modules, "IPython", package)
    assert not display.is_notebook()
    vars(package).update(get_ipython=lambda: types.SimpleNamespace())
    assert not display.is_notebook()
    vars(package).update(get_ipython=lambda: None)
    assert not display.is_notebook()


def test_one_search_is_shown_at_a_time(cells: list[Cell]) -> None:
    with display.SearchDisplay(True) as first, display.SearchDisplay(True) as second:
        first.report(Progress(1, 8, 0.1))
        second.report(Progress(2, 8, 0.1))
    assert len(cells) == 1
    with display.SearchDisplay(True) as third:
        third.report(Progress(1, 8, 0.1, COMPILING))
    assert len(cells) == 2


def test_a_terminal_that_went_away_ends_no_search(cells: list[Cell], monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(self: Cell, data: Any, raw: bool) -> None:
        raise BrokenPipeError

    monkeypatch.setattr(Cell, "update", gone)
    assert ttc_llvm.compile(PROBLEM, 3).measurement is not None


def test_whatever_stands_for_stderr_is_asked_with_care(monkeypatch: pytest.MonkeyPatch) -> None:
    for stream in (None, object(), types.SimpleNamespace(isatty=lambda: 1 / 0)):
        monkeypatch.setattr(sys, "stderr", stream)
        assert display.is_terminal() is False


# --- who is told ------------------------------------------------------------------------------------------


def test_a_function_hears_every_phase() -> None:
    heard: list[Progress] = []
    ttc_llvm.compile(PROBLEM, 8, progress=heard.append)
    assert list(dict.fromkeys(one.phase for one in heard)) == list(PHASES)
    assert heard[0] == Progress(0, 8, None, PLANNING)
    assert heard[-1].done == 8 and heard[-1].best and heard[-1].phase is WRITING
    heard.clear()
    ttc_llvm.compile(Problem((1, 0), (48, 33)), 1, progress=heard.append)
    assert [one.phase for one in heard] == [PLANNING, COMPILING, WRITING]
    ttc_llvm.compile(PROBLEM, 8, progress=heard.append)
    assert len(heard) == 3, "a known problem has no phases"


def test_a_progress_is_checked() -> None:
    for wrong in ({"done": -1}, {"total": "x"}, {"best": "fast"}, {"phase": "resting"}):
        with pytest.raises(OptionError, match=f"progress {next(iter(wrong))}"):
            Progress(**{"done": 1, "total": 2} | wrong)


# --- the log ----------------------------------------------------------------------------------------------


def test_the_log_tells_the_stages(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "ttc_llvm")
    solution = ttc_llvm.compile(PROBLEM, 8)
    told = caplog.messages
    assert told[0].startswith("merged problem: i32>i32 one-zero 48:1:32 32:48:1"[:26])
    assert told[1].startswith("target host") and "caches cold" in told[1]
    assert any(line.startswith("8 of 8 candidates timed, best ") for line in told)
    assert any("GiB/s; winner of 8: cpu3 " in line for line in told)
    caplog.clear()
    ttc_llvm.compile(PROBLEM, 8)
    answer = rf"stored solution \w+, of effort 8, answers: {solution.plan}"
    assert any(re.fullmatch(answer, line) for line in caplog.messages)
    caplog.clear()
    ttc_llvm.compile(Problem((1, 0), (48, 33)), 1)
    assert any("nothing is timed" in line for line in caplog.messages)


def test_details_are_for_those_who_debug(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "ttc_llvm")
    ttc_llvm.compile(PROBLEM, 3)
    told = [(one.name, one.getMessage()) for one in caplog.records if one.levelno == logging.DEBUG]
    timed = [line for name, line in told if name.endswith("search") and re.match(r"\S+ ms, best of \d: cpu3", line)]
    assert len(timed) == 3
    assert any("compiled" in line and name == "ttc_llvm.runtime.kernel" for name, line in told)
    assert any("is unknown, 3 is asked for" in line and name.endswith("database") for name, line in told)
    assert any(line.endswith("is stored") for _, line in told)
    assert {name.partition(".")[0] for name, _ in told} == {"ttc_llvm"}


def test_evictions_are_told(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "ttc_llvm")
    recent: Recent[str] = Recent(4)
    for key in range(5):
        recent.put(key, "value")
    assert caplog.messages == ["2 values of str that were not used lately are evicted"]


def test_nothing_is_formatted_where_nobody_listens(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> str:
        pytest.fail("a message was made")

    monkeypatch.setattr(logging.LogRecord, "__init__", fail)
    assert logging.getLogger("ttc_llvm").getEffectiveLevel() > logging.INFO
    ttc_llvm.compile(PROBLEM, 3)
