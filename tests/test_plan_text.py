"""Texts of plans of earlier versions, and what was stored in them."""

from __future__ import annotations

import itertools
import shutil
from pathlib import Path

import numpy as np
import pytest

import ttc_llvm
from ttc_llvm import Problem
from ttc_llvm.errors import PlanError
from ttc_llvm.lowering import plan_text
from ttc_llvm.lowering.plan import DECISIONS, CpuPlan, Fetch, Store, parse
from ttc_llvm.lowering.plan_checks import check
from ttc_llvm.lowering.plan_text import Change
from ttc_llvm.problem.canonical import canonicalise
from ttc_llvm.runtime import backend, kernel

V1 = Path(__file__).parent / "golden" / "solutions_v1.sqlite3"
FORM = canonicalise(Problem((1, 0), (64, 100))).canonical
FRONT = "cpu2 tile=64,64 block=16,16 order=1,0 inner=0,1 parallel=1 prefetch=2"
BACK = "fetch=rows panel=none"
PLAIN = f"{FRONT} streaming=1 staging=none {BACK}"
STAGINGS = ("none", "a", "b", "carry", "shift")
STORES = dict(
    none=Store.ALIGNED, a=Store.ALIGNED, b=Store.COMBINED, carry=Store.COMBINED, shift=Store.PEELED,
)  # fmt: skip
FALLBACKS = {
    "": None, " unaligned=none": Store.CACHED, " unaligned=b": Store.BUFFERED, " unaligned=carry": Store.COMBINED,
    " unaligned=shift": Store.PEELED,
}  # fmt: skip
EVERY = list(itertools.product("01", STAGINGS, FALLBACKS, ("", " loads=16", " loads=32")))


@pytest.mark.parametrize(("streaming", "staging", "unaligned", "loads"), EVERY)
def test_every_plan_of_cpu2_is_one_of_today(streaming: str, staging: str, unaligned: str, loads: str) -> None:
    found = parse(f"{FRONT} streaming={streaming} staging={staging} {BACK}{unaligned}{loads}")
    store = STORES[staging] if streaming == "1" else Store.CACHED
    wanted = CpuPlan((64, 64), (16, 16), (1, 0), (0, 1), 1, 2, store, Fetch.ROWS, (), FALLBACKS[unaligned])
    assert check(found, FORM) == wanted
    assert found.store in DECISIONS
    assert str(found).startswith("cpu3 ") and parse(str(found)) == found


def test_texts_of_the_first_version_are_plans_of_today() -> None:
    text = f"cpu1{FRONT[4:]} streaming=1 staging=b"
    assert parse(text) == CpuPlan((64, 64), (16, 16), (1, 0), (0, 1), 1, 2, Store.COMBINED)
    with pytest.raises(PlanError, match="plan lacks prefetch"):
        parse(text.replace(" prefetch=2", ""))


MERGED = Change(("streaming", "staging"), ("store",), {("0", "none"): ("cached",), ("1", "b"): ("buffered",)})
NEXT = {
    "x1": ("x2", (MERGED, Change(("loads",), ()))),
    "x2": ("x3", (Change(("unaligned",), ("fallback",)), Change((), ("far",), {(): ("0",)}))),
}


@pytest.mark.parametrize(
    ("text", "decisions"),
    [
        ("x1 streaming=1 staging=b tile=4", {"tile": "4", "store": "buffered", "far": "0"}),
        ("x1 staging=none loads=16 streaming=0", {"store": "cached", "far": "0"}),
        ("x1 unaligned=b", {"fallback": "b", "far": "0"}),
        ("x2 unaligned=b loads=16", {"loads": "16", "fallback": "b", "far": "0"}),
        ("x3 streaming=1", {"streaming": "1"}),
    ],
)
def test_decisions_of_earlier_versions_become_those_of_the_last(
    text: str, decisions: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plan_text, "FORMER", NEXT)
    assert plan_text.today(text) == ("x3", decisions)


def test_what_nothing_became_of_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan_text, "FORMER", NEXT)
    for text in ("x1 streaming=1 staging=a", "x1 streaming=1"):
        with pytest.raises(PlanError, match=r"'streaming=1 staging=a?' has no successor"):
            plan_text.today(text)


def test_texts_of_today_and_of_gpus_stay() -> None:
    for text in (str(parse(PLAIN)), "gpu1 tile=1", "cpu2 loads=8", "cpu4", "", "  "):
        assert plan_text.modern(text) == text


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (PLAIN.replace("streaming=1", "streaming=7"), "'streaming=7 staging=none' has no successor"),
        (PLAIN.replace("staging=none", "staging=c"), "'streaming=1 staging=c' has no successor"),
        (PLAIN.replace("streaming=1 ", ""), "'streaming= staging=none' has no successor"),
        (PLAIN + " unaligned=a", "'unaligned=a' has no successor"),
        (PLAIN + " loads=x", "'loads=x' has no successor"),
        (PLAIN + " turbo=1", "unknown decision 'turbo'"),
        (PLAIN + " tile=64,64", "plan decides tile twice"),
        (PLAIN + " streaming=1", "plan decides streaming twice"),
        (PLAIN.replace(" prefetch=2", " prefetch"), "plan decision prefetch='' is malformed"),
        (PLAIN.replace(" inner=0,1", ""), "plan lacks inner"),
        (PLAIN + " store=cached", "plan decision 'store' is of a later version than the plan"),
        (PLAIN.replace("streaming=1 staging=none", "store=aligned"), "plan decision 'store' is of a later version"),
        (PLAIN + " fallback=cached", "plan decision 'fallback' is of a later version"),
        (PLAIN + " unaligned=b fallback=cached", "plan decision 'fallback' is of a later version"),
        (PLAIN.replace("cpu2", "cpu1"), "plan decision 'fetch' is of a later version"),
        ("cpu2", "plan lacks tile"),
        ("cpu0" + PLAIN[4:], "plan version 'cpu0' is not 'cpu3'"),
    ],
)
def test_malformed_texts_of_before_are_refused(text: str, sentence: str) -> None:
    with pytest.raises(PlanError) as refusal:
        parse(text)
    assert sentence in str(refusal.value)


# --- what was stored --------------------------------------------------------------------------------------------------


def test_stored_rows_answer_with_effort_and_timings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The plans that were timed are told in today's words; code that is built for the row is found again."""
    path = Path(shutil.copy(V1, tmp_path / "solutions.sqlite3"))
    monkeypatch.setattr("ttc_llvm.compiling.solve.tuned", lambda *_: pytest.fail("it was searched anew"))
    problem = Problem((1, 0), (48, 40), "s")
    for effort in (6, 3, 1):
        solution = ttc_llvm.compile(problem, effort, threads=1, target="haswell", database=path)
        assert solution.plan.store is Store.CACHED
        assert solution.measurement is not None and len(solution.measurement.timings) == 6
        assert str(solution.plan) in dict(solution.measurement.timings)
        assert all(str(parse(text)) == text for text, _ in solution.measurement.timings)
    if backend.runs_here(solution.target):
        monkeypatch.setattr(kernel, "cache", kernel.KernelCache())
        monkeypatch.setattr("ttc_llvm.runtime.backend.compile_object", lambda *_: pytest.fail("it was compiled anew"))
        again = ttc_llvm.compile(problem, 6, threads=1, target="haswell", database=path)
        a = np.random.default_rng(3).random((40, 48)).astype("f4")
        assert np.array_equal(np.asarray(again(a, np.empty(48 * 40, "f4"))).reshape(48, 40), a.T)
