"""One plan, given by its caller: it is timed, checked and returned, and nothing that is stored changes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Ttc

import ttc_llvm
from ttc_llvm import CpuPlan, Forced, OptionError, PlanError, Problem, VerificationError, cli
from ttc_llvm.compiling.stored_plans import open_database
from ttc_llvm.compiling.trial import Trial

PROBLEM = Problem((1, 0), (48, 32))
PLAN = CpuPlan((32, 48), (8, 8), (1, 0), (0, 1))
SLOW = CpuPlan((32, 48), (1, 1), (0, 1), (0, 1))
TINY = ("--perm=1,0", "--size=48,32", "--emit=")
pytestmark = pytest.mark.usefixtures("own_place")


def stored() -> list[Any]:
    """All that the database holds."""
    return [row.record for row in open_database(None).file.rows()]  # type: ignore[union-attr]


@pytest.mark.parametrize("form", [lambda plan: plan, str], ids=["value", "text"])
def test_exactly_this_plan_is_timed(form: Callable[[CpuPlan], Any]) -> None:
    solution = ttc_llvm.compile(PROBLEM, plan=form(PLAN))
    measured = solution.measurement
    assert solution.plan == PLAN and measured is not None
    assert [text for text, _ in measured.timings] == [str(PLAN)]
    assert len(measured.timings[0][1]) > 3 and measured.ratio is not None
    a, b = np.arange(48 * 32, dtype=np.float32), np.zeros(48 * 32, np.float32)
    solution(a, b)
    assert np.array_equal(b.reshape(48, 32), a.reshape(32, 48).T)


def test_what_is_stored_stays_as_it_is() -> None:
    best = ttc_llvm.compile(PROBLEM, 6)
    before = stored()
    assert ttc_llvm.compile(PROBLEM, plan=SLOW).plan == SLOW
    assert ttc_llvm.compile(PROBLEM, 6, plan=SLOW, ignore_database=True).plan == SLOW
    assert stored() == before
    assert ttc_llvm.compile(PROBLEM, 6).plan == best.plan
    ttc_llvm.compile(Problem((1, 0), (48, 33)), plan=str(PLAN))
    assert stored() == before, "nor is a new problem's"


def test_each_call_times_anew() -> None:
    first, second = (ttc_llvm.compile(PROBLEM, plan=PLAN).measurement for _ in range(2))
    assert first is not None and second is not None
    assert first.timings != second.timings


def test_one_candidate_times_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Trial, "seconds", lambda *_: pytest.fail("it was timed"))
    solution = ttc_llvm.compile(PROBLEM, 1, plan=PLAN)
    assert (solution.plan, solution.measurement) == (PLAN, None)


def test_a_wrong_result_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Trial, "verify", lambda *_: (3, 4))
    with pytest.raises(VerificationError, match=r"wrong element at index \(3, 4\)"):
        ttc_llvm.compile(PROBLEM, plan=PLAN)
    assert ttc_llvm.compile(PROBLEM, plan=PLAN, verify=False).plan == PLAN


@pytest.mark.parametrize(
    ("plan", "error", "message"),
    [
        ("cpu3", PlanError, "plan"),
        ("gpu9 tile=1", PlanError, "plan version 'gpu9' is not 'cpu3'"),
        (CpuPlan((8,), (8,), (0,), (0,)), PlanError, "needs 2 positive extents"),
        (CpuPlan((12, 8), (8, 8), (0, 1), (0, 1)), PlanError, "tile 12 is not a multiple of its block 8"),
        (7, OptionError, "plan is a int: it must be a CpuPlan, a GpuPlan or the text of one"),
    ],
)
def test_plans_that_do_not_fit_are_refused(plan: Any, error: type[Exception], message: str) -> None:
    for effort in (1, 3):
        with pytest.raises(error, match=message) as caught:
            ttc_llvm.compile(PROBLEM, effort, plan=plan)
        assert "\n" not in str(caught.value)


def test_a_plan_takes_every_decision() -> None:
    with pytest.raises(OptionError, match="a plan takes every decision"):
        ttc_llvm.compile(PROBLEM, plan=PLAN, forced=Forced(prefetch=(2,)))


def test_plans_of_gpus(gpu: Any) -> None:
    found = ttc_llvm.compile(PROBLEM, 1, target="sm_80")
    again = ttc_llvm.compile(PROBLEM, 1, target="sm_80", plan=found.plan)
    assert again.plan == found.plan
    with pytest.raises(PlanError, match="plan version 'cpu3' is not"):
        ttc_llvm.compile(PROBLEM, 1, target="sm_80", plan=PLAN)
    many = str(found.plan).replace(f"threads={found.plan.threads}", "threads=4096")
    with pytest.raises(PlanError, match=r"threads=4096 is not in 1\.\.1024"):
        ttc_llvm.compile(PROBLEM, 1, target="sm_80", plan=many)


# --- the command line ---------------------------------------------------------------------------------------


def test_the_command_times_a_plan(ttc: Ttc) -> None:
    found = ttc(*TINY, f"--plan={PLAN}")
    assert (found["plan"], found["source"]) == (str(PLAN), "given")
    assert found["measurement"]["candidates"] == 1 and found["measurement"]["verified"] is True
    assert stored() == []
    untimed = ttc(*TINY, "--plan", str(PLAN), "--generateOnly")
    assert (untimed["plan"], untimed["source"], untimed["measurement"]) == (str(PLAN), "given", None)


def test_the_summary_says_where_the_plan_is_from(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([*TINY, f"--plan={PLAN}"]) == 0
    out = capsys.readouterr().out
    assert "source      given\n" in out and "candidates  1 timed in " in out


def test_a_wrapped_plan_can_be_pasted(ttc: Ttc) -> None:
    wrapped = str(PLAN).replace(" ", "\n            ")
    assert ttc(*TINY, f"--plan={wrapped}", "--generateOnly")["plan"] == str(PLAN)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ((*TINY, "--plan=cpu9"), "plan version 'cpu9' is not 'cpu3'"),
        ((*TINY, f"--plan={PLAN}", "--prefetchDistances=2"), "a plan takes every decision: leave out the plan, or pre"),
        (("bench", "--cases=0", "--bytes=9K", f"--plan={CpuPlan((8,), (8,), (0,), (0,))}"), "ttc57/00/copy: plan tile"),
        (("bench", "--architecture=cuda", "--plan=x"), "--plan is for CPUs"),
        (("--manifest=m.txt", "--plan=x"), "--plan contradicts --manifest"),
        (("explain", *TINY[:2], "--plan=cpu3 tile=1"), "plan"),
    ],
)
def test_the_command_refuses_in_one_line(
    arguments: tuple[str, ...], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(list(arguments)) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1 and complaint in err


def test_a_manifest_has_a_plan_for_each_problem(ttc: Ttc) -> None:
    Path("t.txt").write_text(f"--perm=1,0 --size=48,32 --plan='{PLAN}'\n--perm=1,0 --size=48,33\n")
    problems = ttc("--manifest=t.txt", "--emit=", "--maxImplementations=1")["problems"]
    assert [one["source"] for one in problems] == ["given", "cost model"]
    Path("t.json").write_text(json.dumps([{"perm": [1, 0], "size": [48, 32], "plan": str(PLAN)}]))
    assert ttc("--manifest=t.json", "--emit=", "--maxImplementations=1")["problems"][0]["plan"] == str(PLAN)


def test_a_benchmark_measures_a_plan(capsys: pytest.CaptureFixture[str]) -> None:
    few = ("--cases=0", "--kind=copy", "--bytes=32K", "--rounds=3", "--peers=none", "--output=r.jsonl")
    assert cli.main(["bench", *few, f"--plan={SLOW}"]) == 0
    assert cli.main(["bench", *few, "--maxImplementations=2"]) == 0
    given, searched = map(json.loads, Path("r.jsonl").read_text().splitlines())
    assert (given["plan"], given["source"], given["verified"]) == (str(SLOW), "given", True)
    assert searched["source"] == "tuned" and given["key"] != searched["key"]


def test_an_explanation_takes_a_plan(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["explain", *TINY[:2], f"--plan={PLAN}", "--stage=plans"]) == 0
    assert " ".join(str(PLAN).split()) in " ".join(capsys.readouterr().out.split())


# --- a measurement in one line --------------------------------------------------------------------------------


def test_a_measurement_prints_as_one_line() -> None:
    measured = ttc_llvm.compile(PROBLEM, 3).measurement
    text = repr(measured)
    assert text.startswith("Measurement(") and "\n" not in text and len(text) < 120
    made = ttc_llvm.Measurement(0.005, 37.25, 40.0, "streaming copy", (("cpu3", (0.005, 0.006)),), True, True)
    expected = "5 ms, 37.2 GiB/s, 0.93 of streaming copy at 40.0 GiB/s, 1 timed, on a smaller stand-in, interrupted"
    assert repr(made) == str(made) == f"Measurement({expected})"
    assert repr(ttc_llvm.Measurement(1.0, 2.0, None, "")) == "Measurement(1000 ms, 2.0 GiB/s)"
