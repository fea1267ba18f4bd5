"""The fuzzing itself: it finds what is wrong, survives what dies, and meets what chance does not."""

from __future__ import annotations

import ctypes
import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import campaign
import children
import fuzz
import fuzz_arrays
import fuzz_calls
import fuzz_fused
import fuzz_kernels
import fuzz_plans
import machine
import pytest
from known_layouts import forgotten
from machine import part_range

import ttc_llvm
from ttc_llvm.arrays import own_plans
from ttc_llvm.contractions.fused.execution import FusedExecution
from ttc_llvm.machine.lookup import find
from ttc_llvm.runtime.backend import runs_here

# A child whose rounds do as their goal says.
STUB = """
import os, signal, time, children
def attack(number, goal):
    if goal == "die":
        os.kill(os.getpid(), signal.SIGSEGV)
    time.sleep(600 if goal == "stick" else 0)
    assert goal != "fail", "B is wrong"
    return {"features": [goal], "problems": 3}
children.serve(attack)
"""

class Hasty(children.Child):
    """A child whose patience is at an end as soon as a round begins that never ends; no other is short of time."""

    def answer(self) -> dict[str, Any]:
        found = super().answer()
        self.until = -math.inf if self.goal == "stick" else self.until
        return found


FAULTS = {
    "die": "the process died: SIGSEGV",
    "stick": "the process died: SIGKILL",
    "fail": "AssertionError: B is wrong",
}


@pytest.mark.parametrize(("bad", "fault"), FAULTS.items())
def test_a_bad_round_is_a_fault_and_the_others_go_on(bad: str, fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fuzz.Run, "_goal", lambda run, number, chance: bad if number in (2, 3) else "good")
    run = fuzz.Run(campaign.Campaign("fuzz", 1, None), [Hasty((sys.executable, "-c", STUB))], ["kernels"])
    run.rounds(7, 100.0)
    run.children[0].stop()
    assert run.campaign.done == 7
    assert run.campaign.counts == {"good": 5, "problems": 15}
    again = f"again: make fuzz ARGS=\"--seed=1 --only={{}} '--goal={bad}'\""
    assert run.campaign.failures == [f"fuzz --seed=1 round {n}: {fault}; {again.format(n)}" for n in (2, 3)]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_rounds_and_what_was_met_is_counted(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def goal(*_: Any) -> str:
        os.kill(os.getpid(), number)
        return "good"

    monkeypatch.setattr(fuzz.Run, "_goal", goal)
    before = signal.getsignal(number)
    run = fuzz.Run(campaign.Campaign("fuzz", 1, None), [children.Child((sys.executable, "-c", STUB))], ["kernels"])
    with run.campaign.ended_by_signals():
        run.rounds(100, 100.0)
    run.children[0].stop()
    assert (run.campaign.counts, run.campaign.failures) == ({"good": 1, "problems": 3}, [])
    assert signal.getsignal(number) is before


def test_the_feature_that_was_met_least_is_next(monkeypatch: pytest.MonkeyPatch) -> None:
    """What cannot be met takes no more rounds than its share."""
    monkeypatch.setattr(fuzz, "goals", lambda: ["kernels easy", "kernels hopeless"])
    run, chance = fuzz.Run(campaign.Campaign("fuzz", 1, None), [], ["kernels"]), Random(1)
    for number in range(0, 400, 2):
        goal = run._goal(number, chance)
        run.campaign.met(*(goal,) * (goal == "kernels easy"))
    assert 40 <= run.campaign.counts["kernels easy"] <= 60


@pytest.fixture(autouse=True)
def restored(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """What rounds set in this process ends with the test."""
    monkeypatch.setenv("TTC_DATABASE", str(tmp_path / "solutions.sqlite3"))
    monkeypatch.setattr(own_plans, "SMALL", own_plans.SMALL)
    with forgotten():
        yield


def attacked(kind: Any, seed: int = 3, rounds: int = 12) -> None:
    for number in range(rounds):
        kind.attack(Random(f"{seed}/{number}"), "")


def test_a_task_that_is_left_out_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "part_range", lambda tasks, part, parts: part_range(max(tasks - 1, 0), part, parts))
    with pytest.raises(AssertionError, match="B is wrong"):
        attacked(fuzz_kernels)


@pytest.mark.parametrize(("which", "fault"), [(0, "the array was written"), (1, "the result is wrong")])
def test_one_wrong_bit_shows(which: int, fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    transpose = ttc_llvm.transpose

    def careless(x: Any, *arguments: Any, **options: Any) -> Any:
        result = transpose(x, *arguments, **options)
        if x.size:
            ctypes.c_ubyte.from_address((x, result)[which].ctypes.data).value ^= 1
        return result

    monkeypatch.setattr(ttc_llvm, "transpose", careless)
    with pytest.raises(AssertionError, match=fault):
        attacked(fuzz_arrays)


def test_a_wrong_sum_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    """An element that is off by a thousandth, as a term that is left out."""
    run = FusedExecution.run

    def careless(self: FusedExecution, a: Any, b: Any, c: Any, *scalars: complex) -> None:
        run(self, a, b, c, *scalars)
        if c.size:
            c[(-1,) * c.ndim] *= 1.001

    monkeypatch.setattr(FusedExecution, "run", careless)
    with pytest.raises(AssertionError, match="1 wrong elements"):
        attacked(fuzz_fused)


@pytest.mark.skipif(not runs_here(find("avx512")), reason="this machine cannot run AVX-512")
@pytest.mark.parametrize("kind", [fuzz_kernels, fuzz_calls])
def test_what_chance_hardly_reaches_is_met(kind: Any) -> None:
    for goal in (goal for goal in fuzz_plans.HARD if goal in kind.goals() and goal != "loads=off-lines"):
        assert any(goal in kind.attack(Random(f"{goal}{seed}"), goal).features for seed in range(8)), goal


def test_a_slice(tmp_path: Path) -> None:
    """Rounds of all kinds, none of which fails, and the file from which the next ones go on."""
    state, there = tmp_path / "state.json", os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, fuzz.__file__, "--count=24", "--seed=5", "--jobs=1", f"--state={state}"]
    ran = subprocess.run(command, capture_output=True, text=True, env=there)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "fuzz: 24 rounds, 0 failed (seed 5)" in ran.stdout
    known = campaign.Campaign.resumed("fuzz", 5, state)
    assert known.done == 24 and known.counts["problems"] >= 24
    assert {feature.split()[0] for feature in known.counts} >= {"kernels", "arrays", "casts"}


def test_a_round_is_not_short_of_time_because_neighbours_are_busy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Five minutes of waiting for a processor are none of its seconds."""
    child = children.Child((sys.executable, "-c", STUB))
    monkeypatch.setattr(Path, "read_text", lambda path: "7 300000000000 1")
    assert child.clock() <= time.monotonic() - 300
    child.stop()
