"""compile(): which way a solution comes about, what is remembered, and what happens when things go wrong."""

from __future__ import annotations

import logging
import pickle
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from known_layouts import forget
from processes import PATIENCE

import ttc_llvm
from ttc_llvm.compiling.compiler import CpuTask
from ttc_llvm.compiling.options import checked
from ttc_llvm.compiling.solution import Solution
from ttc_llvm.compiling.solve import request_of
from ttc_llvm.compiling.stored_plans import open_database
from ttc_llvm.compiling.trial import Mode, Trial
from ttc_llvm.compiling.tuned import STORED_TIMINGS
from ttc_llvm.errors import OptionError, OutOfMemoryError, TargetError, TtcError, VerificationError
from ttc_llvm.lowering.fallback import for_numpy_arrays
from ttc_llvm.lowering.plan import CpuPlan, Store
from ttc_llvm.problem.canonical import Axis, canonicalise
from ttc_llvm.problem.problem import Problem
from ttc_llvm.runtime import backend, kernel
from ttc_llvm.runtime.kernel import Kernel
from ttc_llvm.tuning.cost.model import model_plan
from ttc_llvm.tuning.database.records import Record
from ttc_llvm.tuning.search import available, buffers, verify
from ttc_llvm.tuning.search.search import Outcome
from ttc_llvm.tuning.search.speed import SpeedLog
from ttc_llvm.tuning.space.choices import Forced

SMALL = Problem((1, 0), (70, 45))
UPDATE = Problem((2, 1, 0), (20, 30, 25), "d", alpha=2, beta=-0.5)


@pytest.fixture(autouse=True)
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A database of the test's own."""
    monkeypatch.setenv("TTC_DATABASE", str(tmp_path / "solutions"))
    return tmp_path / "solutions"


def rows(path: Path) -> list[Record]:
    file = open_database(path).file
    assert file is not None
    return [row.record for row in file.rows()]


def objects_of(path: Path) -> list[str]:
    """Names of the only row's objects."""
    file = open_database(path).file
    assert file is not None
    (row,) = rows(path)
    return [name for name, _ in file.show(row.request.id).objects]


def is_right(solution: Solution) -> bool:
    """One call against NumPy; the tensors are not padded."""
    problem = solution.problem
    dtype = {"s": "f4", "d": "f8"}[problem.dtype]
    a = np.random.default_rng(1).random(problem.size[::-1]).astype(dtype)
    old = np.random.default_rng(2).random(problem.size_b[::-1]).astype(dtype)
    b = old.copy()
    solution(a, b)
    rank = len(problem.perm)
    moved = a.transpose([rank - 1 - p for p in reversed(problem.perm)])
    return np.allclose(b, problem.alpha * moved + problem.beta * old)


def forbid(monkeypatch: pytest.MonkeyPatch, *targets: str) -> None:
    """Calling any of these fails the test."""
    for target in targets:
        monkeypatch.setattr(target, lambda *_, target=target, **__: pytest.fail(f"{target} was called"))


# --- ways to a solution ----------------------------------------------------------------------------------


def test_one_implementation_is_the_models_and_nothing_is_timed(
    monkeypatch: pytest.MonkeyPatch, path: Path
) -> None:
    forbid(monkeypatch, "ttc_llvm.compiling.compiler.Trial")
    solution = ttc_llvm.compile(SMALL, 1, threads=1)
    assert solution.measurement is None
    assert solution.plan == model_plan(canonicalise(SMALL).canonical, backend.host_target(), 1)
    assert is_right(solution)
    (row,) = rows(path)
    assert (row.effort, row.seconds, row.plan) == (1, None, str(solution.plan))


@pytest.mark.parametrize("problem", [SMALL, UPDATE])
@pytest.mark.parametrize("threads", [1, 2])
def test_tuning_times_candidates_and_keeps_the_fastest(problem: Problem, threads: int, path: Path) -> None:
    solution = ttc_llvm.compile(problem, 8, threads=threads)
    measured = solution.measurement
    assert measured is not None
    assert 1 <= len(measured.timings) <= 8
    best = min(measured.timings[0][1])
    assert measured.timings[0] == (str(solution.plan), measured.timings[0][1])
    assert measured.seconds == best
    assert measured.gibs == pytest.approx(problem.bytes_moved() / best / (1 << 30))
    assert measured.ceiling == ("SAXPY" if problem.beta else "streaming copy")
    assert measured.ceiling_gibs is not None
    assert measured.ratio == measured.gibs / measured.ceiling_gibs
    assert not measured.proxy
    assert not measured.interrupted
    assert is_right(solution)


@pytest.mark.parametrize("problem", [Problem((1, 0), (0, 4)), Problem((), ()), Problem((0,), (1,))])
def test_problems_of_one_element_or_none(problem: Problem) -> None:
    for effort in (1, 4):
        solution = ttc_llvm.compile(problem, effort, ignore_database=True)
        a, b = np.ones(max(1, problem.elements), "f4"), np.zeros(max(1, problem.elements), "f4")
        solution(a, b)
        assert (b[: problem.elements] == 1).all()
        assert problem.elements or not b.any()


def test_the_whole_paper_space_of_a_matrix(path: Path) -> None:
    problem = Problem((1, 0), (96, 80))
    solution = ttc_llvm.compile(problem, -1, threads=1, hot_a=True, hot_b=True)
    assert solution.measurement is not None
    assert 16 <= len(solution.measurement.timings) <= 32
    assert {row.effort for row in rows(path)} == {-1}
    assert is_right(solution)


@pytest.mark.parametrize("mode", list(Mode))
def test_modes_are_timed_and_remembered_apart(mode: Mode, path: Path) -> None:
    hot_a, hot_b = mode in (Mode.HOT_A, Mode.HOT), mode in (Mode.HOT_B, Mode.HOT)
    for _ in range(2):
        solution = ttc_llvm.compile(SMALL, 3, threads=1, hot_a=hot_a, hot_b=hot_b)
        assert solution.measurement is not None
        assert 0 < solution.measurement.seconds < 1
    assert [row.request.mode for row in rows(path)] == [mode.value]


def test_forced_decisions_are_kept(path: Path) -> None:
    forced = Forced(streaming=False, prefetch=(4,))
    for effort in (1, 6):
        solution = ttc_llvm.compile(SMALL, effort, forced=forced)
        assert (solution.plan.non_temporal, solution.plan.prefetch) == (False, 4)
        assert is_right(solution)
    assert len(rows(path)) == 1
    ttc_llvm.compile(SMALL, 1)
    assert len(rows(path)) == 2


def test_progress_is_reported() -> None:
    seen: list[Any] = []
    ttc_llvm.compile(SMALL, 9, progress=seen.append)
    assert [p.total for p in seen] == [9] * len(seen)
    assert [p.done for p in seen] == sorted(p.done for p in seen)
    assert seen[-1].done <= 9
    assert seen[-1].best > 0


# --- remembering -----------------------------------------------------------------------------------------


def test_a_known_problem_needs_neither_search_nor_llvm(monkeypatch: pytest.MonkeyPatch) -> None:
    first = ttc_llvm.compile(UPDATE, 5, threads=1)
    monkeypatch.setattr(kernel, "cache", kernel.KernelCache())
    forbid(
        monkeypatch,
        "ttc_llvm.compiling.compiler.Trial",
        "ttc_llvm.compiling.compiler.model_plan",
        "ttc_llvm.runtime.backend.compile_object",
    )
    again = ttc_llvm.compile(UPDATE, 5, threads=1)
    assert again.plan == first.plan
    assert first.measurement is not None
    assert again.measurement is not None
    assert again.measurement.gibs == pytest.approx(first.measurement.gibs)
    assert again.measurement.timings[0] == first.measurement.timings[0]
    assert is_right(again)


def test_less_effort_is_answered_and_more_is_not(monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
    ttc_llvm.compile(SMALL, 5, threads=1)
    with monkeypatch.context() as patch:
        forbid(patch, "ttc_llvm.compiling.compiler.Trial")
        assert ttc_llvm.compile(SMALL, 2, threads=1).measurement is not None
        assert ttc_llvm.compile(SMALL, 1, threads=1).measurement is not None
    ttc_llvm.compile(SMALL, 7, threads=1)
    assert [row.effort for row in rows(path)] == [7]


def test_the_fallback_off_the_boundary_is_remembered(monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
    def fallback_found(outcome: Outcome[CpuPlan, Kernel], *_: object) -> Outcome[CpuPlan, Kernel]:
        return replace(outcome, best=replace(outcome.best, plan=replace(outcome.best.plan, fallback=Store.BUFFERED)))

    monkeypatch.setattr("ttc_llvm.compiling.trial.decided", fallback_found)
    found = ttc_llvm.compile(SMALL, 3, threads=1).plan
    assert found.fallback is Store.BUFFERED
    assert rows(path)[0].plan == str(found)
    timed = ttc_llvm.compile(SMALL, 4, threads=1).measurement
    assert timed is not None
    assert str(found.without_fallback) in dict(timed.timings)
    assert str(found) not in dict(timed.timings)
    found = ttc_llvm.compile(SMALL, 4, threads=1).plan
    forbid(monkeypatch, "ttc_llvm.compiling.compiler.Trial")
    assert ttc_llvm.compile(SMALL, 3, threads=1).plan == found
    assert found.fallback is Store.BUFFERED


def test_a_search_remembers_what_runs_where_arrays_of_numpy_begin(
    monkeypatch: pytest.MonkeyPatch, path: Path
) -> None:
    """Object code of the plan, and of its fallbacks: where A is off the lines or B off the boundary."""
    problem, machine = Problem((1, 0), (256, 512)), replace(backend.host_target(), across_lines=16)
    asked: dict[str, Any] = {"threads": 1, "target": machine, "forced": Forced(streaming=True)}
    plan = ttc_llvm.compile(problem, 3, **asked).plan
    found = for_numpy_arrays(canonicalise(problem).canonical, plan, machine)
    others = [kernel.name_of(other.plan, other.loads) for other in found]
    assert others
    assert objects_of(path) == [kernel.NAME, *others]
    monkeypatch.setattr(kernel, "cache", kernel.KernelCache())
    forbid(monkeypatch, "ttc_llvm.runtime.backend.compile_object")
    again = ttc_llvm.compile(problem, 2, **asked)
    a, raw = np.random.default_rng(5).random(problem.elements + 64).astype("f4"), np.empty(problem.elements + 64, "f4")
    on_a, on_b = (-x.ctypes.data % 64 // 4 for x in (a, raw))
    for ahead_a, ahead_b in ((0, 0), (4, 0), (0, 4), (4, 4)):
        b = raw[on_b + ahead_b :][: problem.elements]
        b[:] = np.nan
        source = a[on_a + ahead_a :][: problem.elements]
        again(source, b)
        assert np.array_equal(b.reshape(256, 512), source.reshape(512, 256).T)


@pytest.mark.parametrize("where", ["trial.decided", "compiler.CpuTask.fallback_code"])
def test_ctrl_c_behind_a_search_keeps_its_result(monkeypatch: pytest.MonkeyPatch, path: Path, where: str) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(f"ttc_llvm.compiling.{where}", interrupted)
    ttc_llvm.compile(Problem((1, 0), (256, 512)), 3, threads=1, forced=Forced(streaming=True))
    assert objects_of(path) == [kernel.NAME]


def test_an_interrupted_search_compiles_nothing_more(monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
    monkeypatch.setattr("ttc_llvm.compiling.trial.decided", lambda outcome, *_: replace(outcome, interrupted=True))
    ttc_llvm.compile(Problem((1, 0), (256, 512)), 3, threads=1, forced=Forced(streaming=True))
    assert objects_of(path) == [kernel.NAME]


def test_tuned_arrays_are_linked_wherever_they_begin(monkeypatch: pytest.MonkeyPatch) -> None:
    """Large enough for streaming stores: a layout's kernels come out of the database."""
    x, out = (np.random.default_rng(3).random((1024, 2048 + 4), dtype=np.float32) for _ in range(2))
    source, result = x[:, :2048], out.reshape(-1)[: 2048 * 1024].reshape(2048, 1024)
    ttc_llvm.transpose(source, out=result, effort=2, threads=1)
    assert np.array_equal(result, source.T)
    result[:] = np.nan
    monkeypatch.setattr(kernel, "cache", kernel.KernelCache())
    forget()
    forbid(monkeypatch, "ttc_llvm.runtime.backend.compile_object")
    ttc_llvm.transpose(source, out=result, effort=2, threads=1)
    assert np.array_equal(result, source.T)


def test_a_model_s_plan_is_remembered_alone(path: Path) -> None:
    """What runs elsewhere is compiled when it is needed: the first solution is not to wait for it."""
    ttc_llvm.compile(Problem((1, 0), (256, 512)), 1, threads=1, forced=Forced(streaming=True))
    assert objects_of(path) == [kernel.NAME]


def test_a_known_plan_is_a_candidate_of_a_longer_search(monkeypatch: pytest.MonkeyPatch) -> None:
    odd = ttc_llvm.compile(SMALL, 1, threads=1).plan
    odd = CpuPlan((70, 45), (1, 1), odd.order, odd.inner, 1)
    request = rows_request(1)
    open_database(None).store(Record(request, 2, str(odd)))
    timed = ttc_llvm.compile(SMALL, 3, threads=1).measurement
    assert timed is not None
    assert str(odd) in dict(timed.timings)


@pytest.mark.parametrize(
    ("change", "seconds", "taken"),
    [
        ({"options": "unverified"}, 1.0, True),
        ({"options": "unverified"}, None, False),
        ({"options": "streaming=False"}, 1.0, False),
        ({"threads": 2}, 1.0, False),
        ({"mode": "hot-ab"}, 1.0, False),
    ],
)
def test_where_nothing_is_timed_a_plan_that_was_is_preferred_to_the_models(
    change: dict[str, Any], seconds: float | None, taken: bool
) -> None:
    """Of a search under options that say nothing against it."""
    model = model_plan(canonicalise(SMALL).canonical, backend.host_target(), 1)
    odd = CpuPlan((70, 45), (1, 1), model.order, model.inner, 1)
    open_database(None).store(Record(replace(rows_request(1), **change), 20, str(odd), seconds))
    solution = ttc_llvm.compile(SMALL, 1, threads=1)
    assert solution.plan == (odd if taken else model)
    assert solution.measurement is None
    assert is_right(solution)
    forced = ttc_llvm.compile(SMALL, 1, threads=1, forced=Forced(prefetch=(4,)))
    assert forced.plan not in (odd, model)


def test_what_was_timed_with_cold_caches_is_preferred_for_warm_ones(path: Path) -> None:
    """The model knows of cold caches alone."""
    model = model_plan(canonicalise(SMALL).canonical, backend.host_target(), 1)
    odd = CpuPlan((70, 45), (1, 1), model.order, model.inner, 1)
    open_database(None).store(Record(rows_request(1), 20, str(odd), 1.0))
    assert ttc_llvm.compile(SMALL, 1, threads=1, hot_a=True, hot_b=True).plan == odd
    found = {row.request.mode: (row.effort, row.seconds) for row in rows(path)}
    assert found == {"cold": (20, 1.0), "hot-ab": (1, None)}


def rows_request(threads: int) -> Any:
    return request_of(CpuTask(canonicalise(SMALL).canonical, checked(threads=threads)))


def test_threads_and_targets_have_solutions_of_their_own(path: Path) -> None:
    for threads in (1, 2):
        ttc_llvm.compile(SMALL, 1, threads=threads)
    ttc_llvm.compile(SMALL, 1, threads=1, target="sse2")
    assert len(rows(path)) == 3


def test_problems_with_one_canonical_form_share_a_row(path: Path) -> None:
    ttc_llvm.compile(Problem((1, 0), (6, 20)), 1, threads=1)
    ttc_llvm.compile(Problem((2, 0, 1), (2, 3, 20)), 1, threads=1)
    assert len(rows(path)) == 1


def test_ignoring_the_database_searches_anew_and_stores(monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
    calls: list[CpuPlan] = []
    build = Trial.build

    def counted(self: Trial, plan: CpuPlan) -> Any:
        calls.append(plan)
        return build(self, plan)

    monkeypatch.setattr(Trial, "build", counted)
    for _ in range(2):
        ttc_llvm.compile(SMALL, 2, threads=1, ignore_database=True)
    assert len(calls) == 4
    ttc_llvm.compile(SMALL, 2, threads=1)
    assert len(calls) == 4
    assert len(rows(path)) == 1


@pytest.mark.parametrize("text", ["cpu0 nonsense", "cpu1 tile=1 block=1 order=0 inner=0", "\x00"])
def test_unusable_rows_are_worked_around(text: str, caplog: pytest.LogCaptureFixture) -> None:
    open_database(None).store(Record(rows_request(1), 200, text, objects=((kernel.NAME, b"junk"),)))
    solution = ttc_llvm.compile(SMALL, 1, threads=1)
    assert is_right(solution)
    assert "ignored" in caplog.text


def test_a_damaged_database_stops_nothing(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path.write_bytes(b"this is no database" * 100)
    assert is_right(ttc_llvm.compile(SMALL, 2, threads=1))
    assert path.read_bytes().startswith(b"this is no database")
    assert len([r for r in caplog.records if "solutions database" in r.getMessage()]) == 1


def test_solutions_and_measurements_pickle() -> None:
    solution = ttc_llvm.compile(UPDATE, 2, threads=1)
    copy = pickle.loads(pickle.dumps(solution))
    assert copy.measurement == solution.measurement
    assert is_right(copy)


def test_pickles_of_other_versions_are_read_or_refused_in_a_sentence() -> None:
    solution = ttc_llvm.compile(UPDATE, 2, threads=1)
    function, (state,) = solution.__reduce__()
    given: tuple[object, ...]
    assert function((*state, "what later versions add")).plan == solution.plan
    older = (solution.problem, solution.target, str(solution.plan), 1, None, ())
    for given in (older, ("rev", *older, {}), (older,), (state[:3],), ()):
        with pytest.raises(ttc_llvm.TtcError, match="another version of ttc_llvm: compile its problem anew"):
            function(*given)


# --- a busy machine --------------------------------------------------------------------------------------


def busy(monkeypatch: pytest.MonkeyPatch, *states: bool) -> None:
    """The machine is busy, or not, in each of the next searches; another one fails the test."""
    left = iter(states)
    monkeypatch.setattr(SpeedLog, "is_busy", lambda self, gibs: next(left))


def timed(solution: Solution) -> tuple[int, int]:
    """How often a solution was timed while the machine was busy, and of how many plans it is the best."""
    assert solution.measurement is not None
    return solution.measurement.provisional, solution.measurement.timed or 0


def test_what_was_timed_on_a_busy_machine_is_timed_again_twice_at_most(
    monkeypatch: pytest.MonkeyPatch, path: Path
) -> None:
    busy(monkeypatch, True, True, True)
    for count in (1, 2, 3, 3, 3):  # three searches, each busy; then it answers
        assert timed(ttc_llvm.compile(SMALL, 4, threads=1)) == (count, 4)
    (row,) = rows(path)
    assert (row.provisional, row.effort) == (3, 4)
    forbid(monkeypatch, "ttc_llvm.compiling.compiler.Trial")
    assert is_right(ttc_llvm.compile(SMALL, 4, threads=1))


def test_a_quiet_machine_makes_a_provisional_solution_well_founded(
    monkeypatch: pytest.MonkeyPatch, path: Path
) -> None:
    busy(monkeypatch, True, False)
    assert timed(ttc_llvm.compile(SMALL, 4, threads=1)) == (1, 4)
    (row,) = rows(path)
    assert (row.provisional, row.is_due) == (1, True)
    assert timed(ttc_llvm.compile(SMALL, 4, threads=1)) == (0, 4)
    assert [row.provisional for row in rows(path)] == [0]
    assert timed(ttc_llvm.compile(SMALL, 4, threads=1)) == (0, 4)  # from the database: nothing is timed


def test_a_provisional_solution_is_replaced_however_fast_it_looked(
    monkeypatch: pytest.MonkeyPatch, path: Path
) -> None:
    busy(monkeypatch, True, False)
    ttc_llvm.compile(SMALL, 4, threads=1)
    database = open_database(path)
    (row,) = rows(path)
    database.store(replace(row, seconds=1e-9))
    assert timed(ttc_llvm.compile(SMALL, 4, threads=1))[0] == 0
    (row,) = rows(path)
    assert row.seconds is not None and row.seconds > 1e-9


def test_timing_again_keeps_the_effort_and_tries_the_known_plans(monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
    busy(monkeypatch, True, False)
    ttc_llvm.compile(SMALL, 12, threads=1)
    (before,) = rows(path)
    ttc_llvm.compile(SMALL, 3, threads=1)
    (after,) = rows(path)
    assert (after.effort, after.provisional, after.timed) == (12, 0, 3)
    assert {t.plan for t in after.timings} <= {t.plan for t in before.timings}


def test_nothing_is_timed_again_for_a_request_of_one_candidate(monkeypatch: pytest.MonkeyPatch) -> None:
    busy(monkeypatch, True)
    plan = ttc_llvm.compile(SMALL, 4, threads=1).plan
    forbid(monkeypatch, "ttc_llvm.compiling.compiler.Trial")
    solution = ttc_llvm.compile(SMALL, 1, threads=1)
    assert (solution.plan, timed(solution)[0]) == (plan, 1)


def test_where_nothing_can_be_timed_a_provisional_solution_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    busy(monkeypatch, True)
    plan = ttc_llvm.compile(SMALL, 4, threads=1).plan

    def refuse(*_: object) -> None:
        raise TargetError("not here")

    monkeypatch.setattr("ttc_llvm.compiling.compiler.check_runs_here", refuse)
    assert ttc_llvm.compile(SMALL, 4, threads=1).plan == plan


def test_ctrl_c_while_it_is_timed_again_leaves_it_provisional(monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
    busy(monkeypatch, True, True, False)
    ttc_llvm.compile(SMALL, 12, threads=1)
    with monkeypatch.context() as patch:
        patch.setattr(Trial, "seconds", interrupting(3))
        again = ttc_llvm.compile(SMALL, 12, threads=1).measurement
    assert again is not None and again.interrupted
    assert [(row.effort, row.is_due) for row in rows(path)] == [(12, True)]
    assert timed(ttc_llvm.compile(SMALL, 12, threads=1))[0] == 0


def test_ignoring_the_database_replaces_what_is_less_well_founded(
    monkeypatch: pytest.MonkeyPatch, path: Path
) -> None:
    busy(monkeypatch, True, False, True)
    ttc_llvm.compile(SMALL, 4, threads=1)
    database = open_database(path)
    (row,) = rows(path)
    database.store(replace(row, seconds=1e-9))
    ttc_llvm.compile(SMALL, 4, threads=1, ignore_database=True)
    (found,) = rows(path)
    assert (found.provisional, found.seconds != 1e-9) == (0, True)
    ttc_llvm.compile(SMALL, 4, threads=1, ignore_database=True)  # busy: it does not replace the other
    assert rows(path) == [found]


def test_a_stored_solution_tells_how_many_were_timed(path: Path) -> None:
    first = ttc_llvm.compile(SMALL, 60, threads=1).measurement
    assert first is not None and first.timed == len(first.timings) > STORED_TIMINGS
    again = ttc_llvm.compile(SMALL, 60, threads=1).measurement
    assert again is not None
    assert (len(again.timings), again.timed, again.count) == (STORED_TIMINGS, first.timed, str(first.timed))
    (row,) = rows(path)
    open_database(path).refuse(row)
    open_database(path).store(replace(row, extra="{}"))  # a row of an older version
    older = ttc_llvm.compile(SMALL, 60, threads=1).measurement
    assert older is not None
    assert (older.timed, older.count) == (None, f"at least {STORED_TIMINGS}")


# --- limits and interruptions ----------------------------------------------------------------------------


def slowed(seconds: float) -> Callable[[Trial, Any], float]:
    measure = Trial.seconds

    def run(self: Trial, built: Any) -> float:
        time.sleep(seconds)
        return measure(self, built)

    return run


def test_the_time_limit_ends_the_search(monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
    monkeypatch.setattr(Trial, "seconds", slowed(0.02))
    solution = ttc_llvm.compile(SMALL, 200, threads=1, time_limit=0.3)
    assert solution.measurement is not None
    assert solution.measurement.interrupted
    assert len(solution.measurement.timings) < 50
    (row,) = rows(path)
    assert row.effort == len(solution.measurement.timings)
    assert is_right(solution)


def interrupting(turn: int) -> Callable[[Trial, Any], float]:
    """Ctrl-C in the middle of that run."""
    measure, runs = Trial.seconds, iter(range(1, 1 << 30))

    def run(self: Trial, built: Any) -> float:
        if next(runs) == turn:
            raise KeyboardInterrupt
        return measure(self, built)

    return run


@pytest.mark.parametrize("turn", [2, 9, 23])
def test_ctrl_c_keeps_the_best_so_far(turn: int, monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
    monkeypatch.setattr(Trial, "seconds", interrupting(turn))
    solution = ttc_llvm.compile(SMALL, 12, threads=1)
    assert solution.measurement is not None
    assert solution.measurement.interrupted
    assert rows(path)[0].effort == len(solution.measurement.timings) <= 12
    assert is_right(solution)


def test_ctrl_c_before_any_run_is_passed_on(monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
    monkeypatch.setattr(Trial, "seconds", interrupting(1))
    with pytest.raises(KeyboardInterrupt):
        ttc_llvm.compile(SMALL, 12, threads=1)
    assert not path.exists() or not rows(path)


def test_ctrl_c_after_the_search_loses_nothing(monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
    measure, calls = SpeedLog.measure, iter(range(10))

    def run(self: SpeedLog) -> None:
        if next(calls) == 1:
            raise KeyboardInterrupt
        measure(self)

    monkeypatch.setattr(SpeedLog, "measure", run)
    solution = ttc_llvm.compile(SMALL, 2, threads=1)
    assert solution.measurement is not None
    assert solution.measurement.ceiling_gibs is not None
    assert [row.effort for row in rows(path)] == [2]


def test_an_interrupted_search_is_not_taken_for_a_full_one(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(Trial, "seconds", interrupting(3))
        ttc_llvm.compile(SMALL, 12, threads=1)
    again = ttc_llvm.compile(SMALL, 12, threads=1).measurement
    assert again is not None
    assert not again.interrupted
    assert len(again.timings) > 2


# --- verification ----------------------------------------------------------------------------------------


def build_wrong(
    canonical: Any, plan: CpuPlan, target: Any, code: bytes | None = None, loads: int = 0
) -> kernel.Kernel:
    """A kernel of another permutation, wherever one is asked for."""
    m, n = (axis.extent for axis in canonical.axes) if len(canonical.axes) == 2 else (1, 1)
    axes = (Axis(m, 1, 1), Axis(n, m, m)) if m * n > 1 else canonical.axes
    changed = replace(canonical, axes=axes)
    return BUILD(changed, plan, target, code, loads)


BUILD = kernel.build


def test_a_wrong_kernel_never_wins(monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
    monkeypatch.setattr("ttc_llvm.compiling.trial.kernel.build", build_wrong)
    with pytest.raises(VerificationError, match="computed a wrong element at index"):
        ttc_llvm.compile(SMALL, 3, threads=1)
    assert not path.exists() or not rows(path)
    assert ttc_llvm.compile(SMALL, 3, threads=1, verify=False).measurement is not None


def test_unverified_solutions_do_not_answer_for_verified_ones(
    monkeypatch: pytest.MonkeyPatch, path: Path
) -> None:
    ttc_llvm.compile(SMALL, 2, threads=1, verify=False)
    ttc_llvm.compile(SMALL, 2, threads=1)
    assert len(rows(path)) == 2


# --- tensors that do not fit -----------------------------------------------------------------------------


def test_huge_problems_are_tuned_on_a_stand_in(
    monkeypatch: pytest.MonkeyPatch, path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    problem = Problem((2, 1, 0), (64, 50, 96), lda=(64, 64, 96))
    monkeypatch.setattr(available, "available_memory", lambda: 1 << 20)
    solution = ttc_llvm.compile(problem, 4, threads=1)
    measured = solution.measurement
    assert measured is not None
    assert measured.proxy
    assert "stand-in" in caplog.text
    (row,) = rows(path)
    assert row.objects == ()
    again = ttc_llvm.compile(problem, 4, threads=1).measurement
    assert again is not None
    assert again.proxy
    assert again.gibs == pytest.approx(measured.gibs)
    a = np.random.default_rng(1).random((96, 64, 64)).astype("f4")
    b = np.zeros((64, 50, 96), "f4")
    solution(a, b)
    assert (b == a[:, :50].transpose(2, 1, 0)).all()


def test_where_memory_is_less_than_said_the_stand_in_shrinks(monkeypatch: pytest.MonkeyPatch) -> None:
    allocate, limit = buffers.allocate, 3 << 20

    def little(size: int) -> buffers.Bytes:
        if size > limit:
            raise OutOfMemoryError("no room")
        return allocate(size)

    monkeypatch.setattr(buffers, "allocate", little)
    problem = Problem((1, 0), (2000, 2000))
    measured = ttc_llvm.compile(problem, 2, threads=1, ignore_database=True).measurement
    assert measured is not None
    assert measured.proxy
    limit = 1000
    with pytest.raises(OutOfMemoryError, match="no room"):
        ttc_llvm.compile(problem, 2, threads=1, ignore_database=True)


def test_out_of_memory_anywhere_is_one_of_our_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> Any:
        raise MemoryError

    monkeypatch.setattr(verify, "mismatch", refuse)
    with pytest.raises(OutOfMemoryError, match=r"^compile: out of memory$") as caught:
        ttc_llvm.compile(SMALL, 2, threads=1, ignore_database=True)
    assert isinstance(caught.value, MemoryError)


def test_what_fits_is_tuned_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    for memory in (1 << 30, None):
        monkeypatch.setattr(available, "available_memory", lambda memory=memory: memory)
        measured = ttc_llvm.compile(SMALL, 2, threads=1, ignore_database=True).measurement
        assert measured is not None
        assert not measured.proxy


# --- refusals --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_implementations": 0}, "max_implementations 0 is neither"),
        ({"max_implementations": -2}, "max_implementations -2"),
        ({"max_implementations": 1.5}, "not an integer"),
        ({"threads": 0}, "threads 0"),
        ({"threads": "all"}, "not an integer"),
        ({"time_limit": 0}, "not positive"),
        ({"time_limit": float("nan")}, "not positive"),
        ({"time_limit": "long"}, "time_limit = 'long' is not a number"),
    ],
)
def test_options_that_make_no_sense(options: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        ttc_llvm.compile(SMALL, **options)


def test_unknown_and_foreign_targets(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(TargetError, match="near matches"):
        ttc_llvm.compile(SMALL, target="haswel")
    monkeypatch.setattr(backend, "runs_here", lambda target: False)
    solution = ttc_llvm.compile(SMALL, 1, target="avx512")
    assert "zmm" in solution.assembly
    with pytest.raises(TargetError, match="cannot be timed here"):
        ttc_llvm.compile(SMALL, 2, target="avx512")


def test_nothing_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    logging.getLogger("ttc_llvm").setLevel(logging.WARNING)
    ttc_llvm.compile(SMALL, 2)
    assert capfd.readouterr() == ("", "")


def test_a_damaged_database_is_one_line_for_every_program(path: Path) -> None:
    program = """
        import logging, sys
        import ttc_llvm
        if sys.argv[1:]:
            logging.basicConfig(stream=sys.stdout, format="%(name)s %(levelname)s")
        ttc_llvm.compile(ttc_llvm.Problem((1, 0), (3, 4)), 1)
    """
    path.write_bytes(b"this is no database" * 100)
    for arguments, stdout, lines in (([], "", 1), (["listen"], "ttc_llvm WARNING\n", 0)):
        command = [sys.executable, "-c", textwrap.dedent(program), *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
        assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (0, stdout, lines)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"target": 5}, TargetError, "target 5 is neither a Target nor the name of one"),
        ({"forced": None}, OptionError, "forced is a NoneType"),
        ({"problem": "2,1,0"}, TtcError, "problem is a str: it must be a Problem"),
    ],
)
def test_arguments_of_wrong_types(options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        arguments: dict[str, Any] = {"problem": Problem((1, 0), (3, 4)), "max_implementations": 1}
        ttc_llvm.compile(**(arguments | options))


def test_another_release_does_not_run_stored_code(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = Problem((1, 0), (19, 23))
    ttc_llvm.compile(problem, 1, database=path)
    stored = open_database(path)
    (before,) = [row.record.request.versions for row in stored.file.rows()] if stored.file else []
    assert f"ttc{ttc_llvm.__version__} " in before
    monkeypatch.setattr(kernel, "REVISION", kernel.REVISION + 1)
    assert kernel.versions() != before
    monkeypatch.undo()
    monkeypatch.setattr(kernel, "__version__", "99.0")
    assert kernel.versions() != before


@pytest.mark.parametrize(
    ("beta", "hot", "ceiling"), [(0, False, "streaming copy"), (0, True, "ordinary copy"), (2, True, "SAXPY")]
)
def test_hot_tensors_are_compared_with_a_copy_that_stays_in_the_caches(
    beta: float, hot: bool, ceiling: str
) -> None:
    problem = replace(SMALL, alpha=1.0, beta=beta)
    for _ in range(2):  # tuned, then from the database
        measured = ttc_llvm.compile(problem, 2, threads=1, hot_a=hot, hot_b=hot).measurement
        assert measured is not None
        assert measured.ceiling == ceiling
