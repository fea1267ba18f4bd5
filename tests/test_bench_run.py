"""Measuring for real, on tensors of a few KiB: every suite, resuming, memory, wrong peers, interruption."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ttc_llvm.bench import Case, Settings, cases, run, workspace
from ttc_llvm.bench import ours as own
from ttc_llvm.bench.array_peers import Numpy, views
from ttc_llvm.bench.cases import UPDATE, as_kind, select, shrunk
from ttc_llvm.bench.check import Check
from ttc_llvm.bench.comparison import Rounds, kept
from ttc_llvm.bench.contender import Contender
from ttc_llvm.bench.suites import SUITES
from ttc_llvm.bench.workspace import Memory, Workspace
from ttc_llvm.compiling.stored_plans import Planned
from ttc_llvm.errors import OptionError, VerificationError
from ttc_llvm.ir_builders.flush import BLOCK
from ttc_llvm.lowering.plan import CpuPlan
from ttc_llvm.problem import dtypes
from ttc_llvm.problem.canonical import canonicalise
from ttc_llvm.problem.problem import Problem
from ttc_llvm.runtime import backend
from ttc_llvm.tuning.cost.model import model_plan
from ttc_llvm.tuning.search import buffers
from ttc_llvm.tuning.search.speed import drifts

SMALL = 48 << 10


@pytest.fixture(autouse=True)
def _place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TTC_DATABASE", str(tmp_path / "solutions.sqlite3"))
    monkeypatch.setattr(workspace, "GRAIN", 1 << 16)
    monkeypatch.setattr(workspace, "FOREIGN_SECONDS", 0.0)


def quick(**changes: Any) -> Settings:
    """Few candidates and rounds, two threads, NumPy beside us."""
    return replace(Settings(2, max_implementations=2, rounds=4, peers=(Numpy(),)), **changes)


def tiny(suite: str, step: str) -> tuple[Case, ...]:
    """Some cases of a suite, shrunk."""
    return select(cases((suite,), threads=2), (step,), limit=SMALL)


@pytest.mark.parametrize("suite", list(SUITES))
def test_every_suite_runs(suite: str) -> None:
    chosen = tiny(suite, "::25")
    found = list(run(chosen, quick()))
    assert [result.id for result in found] == [case.id for case in chosen]
    for result, case in zip(found, chosen, strict=True):
        assert result.source == "tuned" and result.verified
        assert result.ratio is not None and result.ratio > 0
        assert result.threads == (case.threads or 2)
        assert result.mode == ("hot" if case.hot else "cold")
        assert 1 <= len(result.ours.seconds) <= 4  # rounds at another speed do not count
        foreign = any(map(dtypes.is_foreign, (case.problem.a, case.problem.b)))
        assert "numpy" in result.peers or (foreign and find_spec("ml_dtypes") is None)


def test_the_ceilings_of_a_case() -> None:
    copy, update = run(tiny("ttc57", "9"), quick(peers=()))
    assert (copy.ceiling, update.ceiling) == ("streaming copy", "SAXPY")
    assert set(copy.ceilings) == set(update.ceilings) == {"SAXPY", "streaming copy", "ordinary copy"}
    assert len(copy.ceilings["streaming copy"].seconds) == len(copy.ours.seconds)  # in every round
    assert 1 <= len(copy.ceilings["SAXPY"].seconds) <= 3  # in the first three
    item = canonicalise(Problem((2, 1, 0), tuple(copy.problem["size"]))).canonical.elements * 4
    assert copy.ours.bytes == copy.ceilings["streaming copy"].bytes == 2 * item
    assert update.ours.bytes == update.ceilings["SAXPY"].bytes == 3 * item


def test_mixed_types_have_mixed_ceilings() -> None:
    (case,) = (c for c in cases(("dtypes",), ("copy",)) if c.name == "09-sd")
    (result,) = run([shrunk(case, SMALL)], quick(peers=()))
    elements = int(np.prod(result.problem["size"]))
    assert result.ceilings["streaming copy"].bytes == elements * (4 + 8)
    assert result.ceilings["SAXPY"].bytes == elements * (4 + 2 * 8)


def test_moves_have_no_saxpy() -> None:
    (result,) = run([Case("x", "bytes", Problem((1, 0), (200, 90), "i8"))], quick())
    assert set(result.ceilings) == {"streaming copy", "ordinary copy"}


def test_hot_cases_are_compared_with_memcpy_and_their_own_tiles() -> None:
    copy, update = run(tiny("hot", "1"), quick())
    assert copy.ceiling == "memcpy"
    assert update.ceiling == "SAXPY"
    assert {"memcpy", "tiled copy", "ordinary copy"} <= set(copy.ceilings) & set(update.ceilings)
    assert copy.ours.best < 1e-3


def test_the_pattern_is_measured_where_asked_for() -> None:
    for result in run(tiny("ttc57", "9") + tiny("ld", "1"), quick(pattern=True, peers=())):
        assert {"tiled copy", "pattern"} <= set(result.ceilings)
        assert result.ceilings["pattern"].bytes == result.ours.bytes


def test_known_solutions_are_not_searched_again() -> None:
    chosen = tiny("ttc57", "9")[:1]
    (first,) = run(chosen, quick())
    (again,) = run(chosen, quick())
    (anew,) = run(chosen, quick(ignore_database=True))
    assert (first.source, again.source, anew.source) == ("tuned", "database", "tuned")
    assert again.plan == first.plan
    (modelled,) = run(chosen, quick(max_implementations=1, ignore_database=True))
    assert modelled.source == "cost model"


def test_what_is_done_is_left_out() -> None:
    chosen = tiny("ttc57", "9")
    settings = quick()
    (first, _) = run(chosen, settings)
    assert [result.kind for result in run(chosen, settings, {first.key})] == [UPDATE]


def test_keys_tell_cases_and_settings_apart() -> None:
    one, other = tiny("ttc57", "9")
    settings = [quick(), quick(rounds=5), quick(threads=1), quick(max_implementations=3), quick(peers=())]
    keys = {s.key(case, s.options(case)) for s in settings for case in (one, other, shrunk(one, 1 << 10))}
    assert len(keys) == 15
    assert quick().key(one, quick().options(one)) == quick().key(one, quick().options(one))


def test_what_does_not_fit_is_skipped_with_a_sentence(caplog: pytest.LogCaptureFixture) -> None:
    huge = Case("x", "huge", Problem((1, 0), (1 << 22, 1 << 20)))
    with caplog.at_level(logging.WARNING, "ttc_llvm"):
        assert not list(run([huge], quick()))
    assert "x/huge/copy is skipped: 1,0 4194304x1048576 s does not fit in memory" in caplog.text


def test_bad_settings_are_refused_before_anything_is_measured() -> None:
    with pytest.raises(OptionError, match="threads 0 is less than 1"):
        next(run(tiny("ttc57", "9"), quick(threads=0)))


# --- workspaces -----------------------------------------------------------------------------------------------


def workspace_of(case: Case, threads: int = 2) -> Workspace:
    """A workspace on memory of its own."""
    return Workspace.of(case, backend.host_target(), threads, Memory())


def planned(s: Workspace) -> Planned[CpuPlan]:
    """The cost model's plan."""
    return Planned(model_plan(s.canonical, s.target, s.threads))


OFFSET = Case("x", "offset", Problem((1, 0, 2), (24, 20, 6), lda=(30, 21, 6), ldb=(22, 25, 6)), offset=3)


@pytest.mark.parametrize("kind", ["copy", "update"])
@pytest.mark.parametrize("letter", ["s", "zc", "ds"])
def test_views_and_kernels_see_the_same_tensors(kind: str, letter: str) -> None:
    case = as_kind(Case("x", "y", Problem((1, 0, 2), (24, 20, 6), letter, (30, 21, 6), (22, 25, 6)), offset=3), kind)
    assert case is not None
    s = workspace_of(case)
    check = Check(s, own.solution(s, planned(s)), full=True)
    numpy = Numpy().contender(s)
    assert numpy is not None and check.agrees(numpy)


@pytest.mark.parametrize("name", ["i8", "i16", "d", "c"])
def test_plain_moves_of_every_size(name: str) -> None:
    s = workspace_of(Case("x", "y", Problem((2, 0, 1), (7, 9, 11), name), offset=1))
    check = Check(s, own.solution(s, planned(s)), full=True)
    numpy = Numpy().contender(s)
    assert numpy is not None and check.agrees(numpy)


def test_hot_tensors_lie_apart_and_results_are_right() -> None:
    s = workspace_of(Case("x", "y", Problem((1, 0), (48, 40)), hot=True), 1)
    assert (s.base("b") - s.base("a")) % 4096 == 2048
    check = Check(s, own.solution(s, planned(s)), full=True)
    numpy = Numpy().contender(s)
    assert numpy is not None and check.agrees(numpy)


def test_ceilings_of_hot_tensors_off_the_vectors_run() -> None:
    s = workspace_of(Case("x", "y", Problem((1, 0), (300, 500), "i8"), hot=True, offset=1), 1)
    walks = own.ceilings(s)
    assert {walk.name for walk in walks} >= {"streaming copy", "ordinary copy"}
    for walk in walks:
        walk.run(2)


def test_buffers_are_shared_by_cases_of_about_one_size() -> None:
    memory = Memory()
    first, second = (
        Workspace.of(Case("x", "y", Problem((1, 0), size)), backend.host_target(), 1, memory)
        for size in ((64, 60), (61, 60))
    )
    assert first.base("a") == second.base("a")
    assert first.base("b") == second.base("b")
    third = Workspace.of(Case("x", "y", Problem((1, 0), (64, 60), "d")), backend.host_target(), 1, memory)
    a, _ = views(third)
    assert np.all((a > 0.4) & (a < 1.6)), "doubles, not pairs of floats"
    assert memory.held < 1 << 20


def test_moves_get_numbers_of_the_problem_s_type() -> None:
    """A float moves as 32 bits, but other libraries compute with it: no NaN, no denormals."""
    s = workspace_of(Case("x", "y", Problem((1, 0), (64, 60))))
    a, b = views(s)
    assert a.dtype == np.float32
    assert np.all((a > 0.4) & (a < 1.6)) and np.all((b > 0.4) & (b < 1.6))


@pytest.mark.parametrize("size", [1, 100_000, (2 << 20) - 1, 2 << 20, (2 << 20) + 1, 5_000_000])
def test_whole_blocks_can_be_flushed(size: int) -> None:
    """The last block flushed ends behind the tensor; what is not mapped must not be touched."""
    memory = buffers.allocate(size)
    whole = memory.base
    assert isinstance(whole, np.ndarray)
    mapped = whole.ctypes.data + whole.nbytes - memory.ctypes.data
    assert mapped >= -(-size // BLOCK) * BLOCK


def test_our_wrong_results_are_an_error() -> None:
    s = workspace_of(OFFSET)
    with pytest.raises(VerificationError, match="wrong element"):
        Check(s, Contender("ttc", 1, lambda repeats: None), full=True)


class Wrong:
    """A peer that forgets the last element."""

    name, version = "wrong", "1"

    def contender(self, s: Workspace) -> Contender:
        """It at work."""
        a, b = views(s)

        def call(repeats: int) -> None:
            last = b.copy()[-1:, -1:]
            np.copyto(b, a)
            b[-1:, -1:] = last

        return Contender(self.name, s.canonical.bytes_moved, call)


class Broken(Wrong):
    """A peer that raises."""

    name = "broken"

    def contender(self, s: Workspace) -> Contender:
        """No."""
        raise ValueError("no such type")


def test_peers_that_compute_something_else_are_left_out(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "ttc_llvm"):
        (result,) = run(tiny("ttc57", "0")[:1], quick(peers=(Numpy(), Wrong(), Broken())))
    assert list(result.peers) == ["numpy"]
    assert "wrong is left out of ttc57/00/copy: its result differs" in caplog.text
    assert "broken is left out of ttc57/00/copy: ValueError: no such type" in caplog.text


def test_writing_into_padding_is_wrong() -> None:
    s = workspace_of(OFFSET)
    check = Check(s, own.solution(s, planned(s)), full=True)
    numpy = Numpy().contender(s)
    assert numpy is not None and check.agrees(numpy)
    a, b = views(s)

    def spill(repeats: int) -> None:
        np.copyto(b, a)
        s.b.memory[4 * OFFSET.offset + 4 * 20 : 4 * OFFSET.offset + 4 * 22] ^= 1  # behind the first row

    assert not check.agrees(Contender("spill", 1, spill))


# --- rounds -----------------------------------------------------------------------------------------------


class Clock:
    """A workspace on which contenders take the seconds that they are given, a round each."""

    def __init__(self, seconds: dict[tuple[str, int], list[float]]) -> None:
        self.turns: list[str] = []
        self._seconds: dict[tuple[str, int], Iterator[float]] = {key: iter(s) for key, s in seconds.items()}

    def seconds(self, contender: Contender) -> float:
        """The next."""
        self.turns.append(contender.name)
        return next(self._seconds[contender.name, contender.variant])


def test_rounds_at_another_speed_do_not_count() -> None:
    """The machine is twice as fast in three of eight rounds, in two of which we are not."""
    fast = (2, 3, 7)
    saxpy = [0.4 if i in fast else 0.8 for i in range(8)]
    own = [1.0, 1.01, 0.9, 0.9, 1.02, 1.03, 1.04, 0.5]
    clock = Clock({("ttc", 0): own, ("SAXPY", 0): saxpy, ("far", 0): [2.0] * 3})
    one, ceiling, far = (Contender(name, 8, lambda repeats: None, 0, name == "far") for name in ("ttc", "SAXPY", "far"))
    found = Rounds(clock, one, "SAXPY", [ceiling, far]).run(8)  # type: ignore[arg-type]
    assert found["ttc"].seconds == (1.0, 1.01, 1.02, 1.03, 1.04)
    assert found["SAXPY"].best == 0.8
    assert found["far"].seconds == (2.0, 2.0)
    assert drifts([1.0, 9.0]) == (1.0, 9.0)


def test_rounds_that_do_not_count_are_counted() -> None:
    saxpy = [0.8, 0.8, 0.4, 0.4, 0.8, 0.8]
    clock = Clock({("ttc", 0): [1.0] * 6, ("SAXPY", 0): saxpy})
    one, ceiling = (Contender(name, 8, lambda repeats: None) for name in ("ttc", "SAXPY"))
    rounds = Rounds(clock, one, "SAXPY", [ceiling])  # type: ignore[arg-type]
    rounds.run(6)
    assert rounds.off == 2


def test_whoever_left_at_another_speed_keeps_the_run_nearest_to_the_usual_one() -> None:
    assert kept((5.0, 4.0, 6.0), (2.0, 1.5, 1.6, 1.0, 1.0)) == (4.0,)
    assert kept((5.0, 4.0, 6.0), (2.0, 1.2, 1.1)) == (4.0, 6.0)


def test_everybody_takes_turns_and_only_the_near_stay() -> None:
    seconds = {
        ("ttc", 0): [1.0] * 6,
        ("SAXPY", 0): [0.9] * 6,
        ("SAXPY", 1): [0.8] * 6,
        ("ordinary copy", 0): [1.0] * 6,
        ("near", 0): [1.4] * 6,
        ("far", 0): [1.6] * 6,
    }
    clock = Clock(seconds)

    def contender(name: str, variant: int = 0, foreign: bool = False) -> Contender:
        return Contender(name, 8, lambda repeats: None, variant, foreign)

    others = [contender("SAXPY"), contender("SAXPY", 1), contender("ordinary copy"),
              contender("near", foreign=True), contender("far", foreign=True)]  # fmt: skip
    rounds = Rounds(clock, contender("ttc"), "SAXPY", others)  # type: ignore[arg-type]
    found = rounds.run(6)
    assert {name: len(timing.seconds) for name, timing in found.items()} == {
        "ttc": 6, "SAXPY": 6, "ordinary copy": 3, "near": 6, "far": 3,
    }  # fmt: skip
    assert found["SAXPY"].best == 0.8
    assert clock.turns[:2] == ["ttc", "SAXPY"] and clock.turns[6:8] == ["far", "near"]
    assert clock.turns[-3:] == ["near", "SAXPY", "ttc"]


def test_numpy_counts_as_a_peer_and_stays_where_it_is_near() -> None:
    (found,) = run(tiny("hot", "9")[:1], quick(rounds=5))
    far = (found.speedup("numpy") or 0) > 2
    assert 1 <= len(found.peers["numpy"].seconds) <= (3 if far else 5)
