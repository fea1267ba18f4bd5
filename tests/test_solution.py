"""Solutions: called on any memory that fits, refusing any that does not, pickled, and quick when warm."""

from __future__ import annotations

import array
import ctypes
import dataclasses
import multiprocessing
import os
import pickle
import random
import sys
import threading
import time
import weakref
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st
from processes import PATIENCE, together
from strategies import plans, problems
from tiers import examples

import ttc_llvm
from ttc_llvm import locks
from ttc_llvm.compiling.solution import Solution
from ttc_llvm.errors import ArrayError, OptionError, PlanError, ProblemError, TargetError
from ttc_llvm.lowering import fallback, lower
from ttc_llvm.lowering.bodies import default_plan
from ttc_llvm.lowering.fallback import Fallback, for_misaligned_b
from ttc_llvm.lowering.items import placed
from ttc_llvm.lowering.plan import Store
from ttc_llvm.lowering.writing import resolve
from ttc_llvm.operands import addresses
from ttc_llvm.problem import dtypes
from ttc_llvm.problem.layouts import column_major
from ttc_llvm.problem.problem import Problem
from ttc_llvm.runtime import backend, executable, kernel
from ttc_llvm.runtime.executable import Executable

RNG = np.random.default_rng(11)


@pytest.fixture(autouse=True)
def database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TTC_DATABASE", str(tmp_path / "solutions"))
    yield


def solved(problem: Problem, **options: Any) -> Solution:
    """The cost model's solution."""
    found: Solution = ttc_llvm.compile(problem, 1, **options)
    return found


def small() -> Solution:
    """16 x 8 floats, reversed."""
    return solved(Problem((1, 0), (16, 8)), threads=1)


def storage(problem: Problem, side: str) -> np.ndarray[Any, Any]:
    """A flat tensor with numbers everywhere, padding included."""
    outer, t = (problem.outer_a, problem.a) if side == "a" else (problem.outer_b, problem.b)
    made: np.ndarray[Any, Any] = reference.sample(RNG, (int(np.prod(outer, dtype=np.int64)),), t)
    return made


def view(problem: Problem, side: str, memory: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The tensor inside its storage, in B's index order."""
    outer = problem.outer_a if side == "a" else problem.outer_b
    steps = [s * memory.itemsize for s in column_major(outer)]
    if side == "a":
        steps = [steps[p] for p in problem.perm]
    made: np.ndarray[Any, Any] = np.ndarray(problem.size_b, memory.dtype, memory, 0, steps)
    return made


def wanted(problem: Problem, a: Any, b: Any, alpha: complex, beta: complex) -> np.ndarray[Any, Any]:
    """B's storage as it must be after the call."""
    after: np.ndarray[Any, Any] = b.copy()
    types = problem.a, problem.b
    old = view(problem, "b", b)
    view(problem, "b", after)[...] = reference.combine(
        view(problem, "a", a), old, types, alpha, beta, problem.conjugate
    )
    return after


def agrees(problem: Problem, got: Any, after: Any, alpha: complex, beta: complex) -> bool:
    plain = reference.is_plain(problem.a, problem.b, alpha, beta, problem.conjugate)
    return reference.same(got, after, problem.b, plain)


# --- results ---------------------------------------------------------------------------------------------


@examples(60)
@given(problems(elements=3000, ranks=(0, 5)), st.data())
def test_calls_compute_the_problem_whatever_the_scalars(problem: Problem, data: st.DataObject) -> None:
    solution = Solution(problem, backend.host_target(), _plan(problem), 2)
    a, b = storage(problem, "a"), storage(problem, "b")
    given_: list[tuple[Any, Any]] = [(None, None)]
    if problem.compute.kind is not dtypes.Kind.OPAQUE:
        given_ += [
            (data.draw(st.sampled_from((None, 0, 1, 2.5))), data.draw(st.sampled_from((None, 0, 1, -0.5))))
        ]
    for alpha, beta in given_:
        scalars = problem.alpha if alpha is None else alpha, problem.beta if beta is None else beta
        after = wanted(problem, a, b, *scalars)
        assert solution(a, b, alpha, beta) is b
        assert agrees(problem, b, after, *scalars)


def _plan(problem: Problem) -> Any:
    from ttc_llvm.tuning.cost.model import model_plan

    return model_plan(placed(problem, backend.host_target()).canonical, backend.host_target(), 2)


def test_every_pair_of_scalar_kinds_from_one_solution() -> None:
    problem = Problem(
        (2, 0, 1), (7, 9, 20), "z", lda=(8, 9, 20), ldb=(20, 8, 9), alpha=2, beta=1j, conjugate=True
    )
    solution = solved(problem, threads=2)
    a = storage(problem, "a")
    for alpha in (0, 1, 2, 1j):
        for beta in (0, 1, 0.5j):
            b = storage(problem, "b")
            after = wanted(problem, a, b, alpha, beta)
            solution(a, b, alpha, beta, threads=1 + (beta == 1))
            assert agrees(problem, b, after, alpha, beta), (alpha, beta)


def test_streaming_plans_serve_unaligned_memory() -> None:
    problem = Problem((1, 0), (64, 128))
    plan = dataclasses.replace(_plan(problem), store=Store.ALIGNED)
    solution = Solution(problem, backend.host_target(), plan, 1)
    a, raw = storage(problem, "a"), np.zeros(64 * 128 + 64, "f4")
    first = -raw.ctypes.data % 64 // 4
    for start in (first, first + 1, first + 4):
        b = raw[start : start + 64 * 128]
        b[:] = np.nan
        solution(a, b)
        assert b.tobytes() == a.reshape(128, 64).T.tobytes()


@pytest.mark.parametrize("row", ["sse2", "avx2", "avx512"])
def test_items_longer_than_vectors_are_streamed_whole(row: str) -> None:
    """Without vectors an element of 16 bytes is one non-temporal store, but C aligns it to 8."""
    problem, target = Problem((1, 0), (32, 24), "z"), ttc_llvm.machine.lookup.scalar(ttc_llvm.machine.lookup.find(row))
    plan = dataclasses.replace(default_plan(placed(problem, target).canonical, target), store=Store.ALIGNED)
    solution = Solution(problem, target, plan, 1)
    assert solution.nest.alignment == 16
    a, raw = storage(problem, "a"), np.zeros(2 * 32 * 24 + 16)
    first = -raw.ctypes.data % 64 // 8
    for start in range(first, first + 8 if backend.runs_here(target) else 0):
        b = raw[start : start + 2 * 32 * 24]
        solution(a, b.ctypes.data)
        assert b.tobytes() == a.reshape(24, 32).T.tobytes()


def off_boundary_after(solution: Solution, shifts: Sequence[int]) -> executable.Executable | None:
    """What served calls, found right, whose B begins so many bytes behind a line."""
    problem = solution.problem
    a, inner = storage(problem, "a"), storage(problem, "b")
    after = wanted(problem, a, inner, 1, 0)
    for shift in shifts:
        raw = np.full(inner.nbytes + 256, 0xA5, np.uint8)
        start = -raw.ctypes.data % 64 + 64 + shift
        b = raw[start : start + inner.nbytes].view(inner.dtype)
        solution(a, b)
        assert agrees(problem, b, after, 1, 0)
        assert (raw[:start] == 0xA5).all()
        assert (raw[start + inner.nbytes :] == 0xA5).all()
    (ready,) = solution._ready.values()
    return ready.executable._for_misaligned_b


@pytest.mark.parametrize("dtype", ["s", "d", "c", "ds", "i16"])
def test_short_rows_are_put_together_wherever_b_begins(dtype: str) -> None:
    """Rows of half a KiB or less on vector boundaries, if only B were on one: they leave scratch several at a time,
    because micro-tiles of half a vector cannot be shifted."""
    problem = Problem((1, 0, 2), (70, 32, 6), dtype)
    plan = dataclasses.replace(_plan(problem), tile=(32, 16, 1), block=(4, 4, 1), store=Store.ALIGNED)
    solution = Solution(problem, backend.host_target(), plan, 1)
    other = off_boundary_after(solution, (1, 2, 4, 8, 16, 24, 62))
    if backend.host_target().vector_bits == 512:
        assert other is not None and other.plan.store is Store.COMBINED and other._non_temporal is not None


@pytest.mark.parametrize("dtype", ["s", "d", "c", "i16"])
def test_runs_go_on_wherever_b_begins(dtype: str) -> None:
    problem = Problem((2, 1, 0), (96, 160, 64), dtype)
    half = 32 // problem.b.itemsize  # of a vector: such micro-tiles cannot be shifted
    plan = dataclasses.replace(_plan(problem), tile=(half, 1, 96), block=(half, 1, 16), panel=(), store=Store.ALIGNED)
    solution = Solution(problem, backend.host_target(), plan, 2)
    other = off_boundary_after(solution, (4, 16, 56))
    if backend.host_target().vector_bits == 512:
        assert other is not None
        assert resolve(other.placed.canonical, other.plan, other.target).chain is not None
        assert other.plan.parallel > 0


def test_what_serves_b_off_the_boundary_is_planned_when_it_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    planned: list[object] = []

    def noted(*arguments: Any) -> Fallback:
        planned.append(arguments)
        return for_misaligned_b(*arguments)

    monkeypatch.setattr(fallback, "for_misaligned_b", noted)
    problem = Problem((1, 0, 2), (70, 32, 6))
    plan = dataclasses.replace(_plan(problem), tile=(32, 16, 1), block=(4, 4, 1), store=Store.ALIGNED)
    solution = Solution(problem, backend.host_target(), plan, 1)
    a, raw = storage(problem, "a"), np.zeros(problem.elements + 64, "f4")
    first = -raw.ctypes.data % 64 // 4
    for start, plans_made in ((first, 0), (first + 1, 1), (first + 2, 1), (first, 1)):
        b = raw[start : start + problem.elements]
        solution(a, b)
        assert agrees(problem, b, wanted(problem, a, b, 1, 0), 1, 0)
        assert len(planned) == plans_made


@examples(80)
@given(problems(elements=6000, ranks=(1, 5)), st.data())
def test_any_streaming_plan_serves_any_address_of_b(problem: Problem, data: st.DataObject) -> None:
    problem = dataclasses.replace(problem, beta=0)
    target = backend.host_target()
    canonical = placed(problem, target).canonical
    plan = data.draw(plans(canonical, target).filter(lambda plan: plan.non_temporal))
    solution = Solution(problem, target, plan, data.draw(st.integers(1, 2)))
    a, inner = storage(problem, "a"), storage(problem, "b")
    after = wanted(problem, a, inner, problem.alpha, 0)
    for shift in data.draw(st.lists(st.integers(0, 63), min_size=2, max_size=2)):
        raw = np.full(inner.nbytes + 256, 0xA5, np.uint8)
        start = -raw.ctypes.data % 64 + 64 + shift
        b = raw[start : start + inner.nbytes].view(inner.dtype)
        b[:] = inner
        solution(a, b)
        assert agrees(problem, b, after, problem.alpha, 0)
        assert (raw[:start] == 0xA5).all()
        assert (raw[start + inner.nbytes :] == 0xA5).all()


@pytest.mark.parametrize("dtype", ["s", "d", "z", "sd", "cz", "i16"])
@pytest.mark.parametrize("threads", [1, 2])
def test_long_rows_are_streamed_to_wherever_they_begin(dtype: str, threads: int) -> None:
    """Rows of 2 to 8 KiB and one vector of padding, which is not written, in front of and behind canaries."""
    problem = Problem((1, 0), (60, 512), dtype, lda=(61, 512), ldb=(640, 60))
    plan = dataclasses.replace(_plan(problem), store=Store.ALIGNED)
    solution = Solution(problem, backend.host_target(), plan, threads)
    a, inner = storage(problem, "a"), storage(problem, "b")
    after = wanted(problem, a, inner, 1, 0)
    for shift in (0, 2, 4, 8, 16, 24, 40, 62):
        raw = np.full(inner.nbytes + 256, 0xA5, np.uint8)
        start = -raw.ctypes.data % 64 + 64 + shift
        b = raw[start : start + inner.nbytes].view(inner.dtype)
        b[:] = inner
        solution(a, b)
        assert agrees(problem, b, after, 1, 0)
        assert (raw[:start] == 0xA5).all()
        assert (raw[start + inner.nbytes :] == 0xA5).all()
    (ready,) = solution._ready.values()
    other = ready.executable._for_misaligned_b
    if backend.host_target().vector_bits == 512:
        assert other is not None
        assert other.plan.store is Store.PEELED


def test_nothing_happens_to_empty_tensors(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = Problem((1, 0), (0, 8))
    solution = solved(problem)
    assert solution(np.empty(0, "f4"), np.empty(0, "f4")).size == 0
    assert solution(0, 0) == 0


def test_sides_may_hold_more_than_is_needed() -> None:
    solution, a, b = small(), RNG.random(500).astype("f4"), np.zeros(300, "f4")
    solution(a, b)
    assert (b[:128].reshape(16, 8) == a[:128].reshape(8, 16).T).all()
    assert not b[128:].any()


# --- memory ----------------------------------------------------------------------------------------------


def same_numbers(a: Any, b: Any) -> bool:
    left, right = np.frombuffer(a, "f4")[:128], np.frombuffer(b, "f4")[:128]
    return bool((right.reshape(16, 8) == left.reshape(8, 16).T).all())


def test_any_buffer_will_do() -> None:
    solution = small()
    numbers: Any = RNG.random(128).astype("f4")
    sources = (numbers.tobytes(), array.array("f", numbers), memoryview(numbers), numbers.reshape(8, 16))
    sinks = (
        bytearray(512),
        array.array("f", bytes(512)),
        (ctypes.c_float * 128)(),
        memoryview(bytearray(512)),
    )
    for a, b in zip(sources, sinks, strict=True):
        assert solution(a, b) is b
        assert same_numbers(a, b)


def test_fortran_matrices_and_subclasses() -> None:
    solution = small()
    a = np.asfortranarray(RNG.random((16, 8)), "f4")
    b = np.empty((8, 16), "f4", order="F")
    solution(a, b)
    assert (b == a.T).all()
    c: Any = np.rec.array(np.zeros(128, "f4"))
    solution(a, c)
    assert (b == np.asarray(c).reshape(16, 8).T).all()


def test_integer_addresses() -> None:
    solution, a, b = small(), RNG.random(128).astype("f4"), np.zeros(128, "f4")
    assert solution(a.ctypes.data, b.ctypes.data) == b.ctypes.data
    assert same_numbers(a, b)
    b[:] = 0
    solution(np.int64(a.ctypes.data), b)
    assert same_numbers(a, b)


def test_plain_moves_take_any_items_of_the_size() -> None:
    solution = solved(Problem((1, 0), (16, 8), "i16"), threads=1)
    for dtype in ("u2", "f2", "i2", "V2", ">i2"):
        a = RNG.integers(0, 1 << 15, 128).astype("u2").view(dtype)
        b = np.zeros(128, dtype)
        solution(a, b)
        assert b.view("u2").reshape(16, 8).T.tolist() == a.view("u2").reshape(8, 16).tolist()
    with pytest.raises(ArrayError, match="dtype float32"):
        solution(np.zeros(128, "f4"), np.zeros(128, "i2"))


def frozen(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    x.flags.writeable = False
    return x


FINE = np.zeros(128, "f4")
REFUSED: tuple[tuple[Any, Any, str], ...] = (
    (np.zeros(128), FINE.copy(), "A has dtype float64"),
    (FINE, np.zeros(128, ">f4"), "B has dtype >f4"),
    (FINE[:127], FINE.copy(), "A holds 127 elements"),
    (FINE, np.zeros(120, "f4"), "B holds 120 elements"),
    (FINE, np.zeros((8, 15), "f4"), r"B has shape \(8, 15\) in C order: the problem's has \(8, 16\), with any strides"),
    (np.zeros((8, 32), "f4")[:, ::2], FINE.copy(), r"A has shape \(8, 16\) and strides \(128, 8\)"),
    (memoryview(bytearray(1024)).cast("f")[::2], FINE.copy(), "A is not contiguous"),
    (FINE, np.zeros((8, 16, 1), "f4"), r"B has shape \(8, 16, 1\) in C order"),
    (FINE, frozen(np.zeros(128, "f4")), "B is read-only"),
    (FINE, bytes(512), "B is read-only"),
    (bytes(511), FINE.copy(), "A has dtype uint8"),
    (FINE, [0.0] * 128, "B is a list"),
    (None, FINE.copy(), "A is a NoneType"),
    (1.5, FINE.copy(), "A is a float"),
    (True, FINE.copy(), "A is a bool"),
    ("abc", FINE.copy(), "A is a str"),
    (np.float32(1), FINE.copy(), "A is a float32"),
    (0, FINE.copy(), "no address"),
    (FINE, -8, "no address"),
    (FINE, 1 << 64, "no address"),
    ((ctypes.c_void_p * 64)(), FINE.copy(), "A is a c_void_p_Array_64 that cannot be read: '<P' is not a valid"),
    (ctypes.pointer(ctypes.c_float()), FINE.copy(), "ctypes pointer"),
    (FINE, FINE, "overlap"),
)


@pytest.mark.parametrize(("a", "b", "message"), REFUSED)
def test_memory_that_does_not_fit(a: Any, b: Any, message: str) -> None:
    with pytest.raises(ArrayError, match=message):
        small()(a, b)


@pytest.mark.parametrize(("threads", "message"), [(0, "less than 1"), (2.5, "not an integer"), ("2", "not an")])
def test_threads_that_make_no_sense(threads: Any, message: str) -> None:
    b = np.ones(128, "f4")
    with pytest.raises(OptionError, match=message):
        small()(FINE, b, threads=threads)
    assert (b == 1).all()


def test_overlaps_are_found_by_the_byte() -> None:
    solution, memory = small(), np.zeros(400, "f4")
    for start in (127, 1, 64):
        with pytest.raises(ArrayError, match="overlap"):
            solution(memory[:128], memory[start:])
        with pytest.raises(ArrayError, match="overlap"):
            solution(memory[start:].ctypes.data, memory[:128].ctypes.data)
    solution(memory[:128], memory[128:])
    solution(memory[128:], memory[:128])


# --- scalars ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("alpha", [np.float32(2), np.array(2.0), 2, 2 + 0j, np.int8(2)])
def test_scalars_may_be_any_numbers(alpha: Any) -> None:
    a, b = RNG.random(128).astype("f4"), np.zeros(128, "f4")
    small()(a, b, alpha)
    assert same_numbers(2 * a, b)


@pytest.mark.parametrize("alpha", ["2", [2], np.ones(2), 1j, object(), "x"])
def test_scalars_that_are_no_numbers(alpha: Any) -> None:
    a, b = np.zeros(128, "f4"), np.ones(128, "f4")
    with pytest.raises(ProblemError):
        small()(a, b, alpha)
    with pytest.raises(ProblemError):
        small()(a, b, 1, alpha)
    assert (b == 1).all()


def test_plain_moves_take_no_scalars() -> None:
    solution = solved(Problem((1, 0), (16, 8), "i32"))
    with pytest.raises(ProblemError, match="plain moves only"):
        solution(np.zeros(128, "i4"), np.zeros(128, "i4"), 2)


def test_many_scalars_keep_memory_bounded() -> None:
    solution, a, b = small(), RNG.random(128).astype("f4"), np.zeros(128, "f4")
    for number in range(2, 100):
        solution(a, b, number, float("nan"))
        solution(a, b, number)
        assert (b.reshape(16, 8) == np.float32(number) * a.reshape(8, 16).T).all()
    assert len(solution._ready) <= 16


# --- machines, pickles, threads --------------------------------------------------------------------------


def test_foreign_code_is_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backend, "runs_here", lambda target: False)
    solution = solved(Problem((1, 0), (16, 8)), target="knl")
    assert "zmm" in solution.assembly
    with pytest.raises(TargetError, match="knl cannot run here"):
        solution(np.zeros(128, "f4"), np.zeros(128, "f4"))


def no_compilation(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: Any) -> bytes:
        raise AssertionError("LLVM was asked to compile")

    monkeypatch.setattr(kernel, "cache", kernel.KernelCache())
    monkeypatch.setattr(backend, "compile_object", refuse)


def test_a_pickled_solution_takes_its_code_from_the_database(monkeypatch: pytest.MonkeyPatch) -> None:
    solution = ttc_llvm.compile(small().problem, 1, threads=1)
    text = pickle.dumps(solution)
    no_compilation(monkeypatch)
    copy = pickle.loads(text)
    assert (copy.problem, copy.plan, copy.target, copy.threads, copy.measurement) == (
        solution.problem, solution.plan, solution.target, solution.threads, solution.measurement
    )  # fmt: skip
    a, b = RNG.random(128).astype("f4"), np.zeros(128, "f4")
    copy(a, b)
    assert same_numbers(a, b)


def test_copies_of_a_pickled_solution_share_the_code_for_misaligned_results(monkeypatch: pytest.MonkeyPatch) -> None:
    """The database has a row of its plan, and code of the fallback beside it."""
    text = pickle.dumps(ttc_llvm.compile(Problem((1, 0), (512, 512), "d"), 1, threads=1))
    a, memory = RNG.random((512, 512)), np.zeros(512 * 512 + 8)
    start = (16 - memory.ctypes.data) % 64 // 8
    b = memory[start : start + a.size]
    pickle.loads(text)(a.reshape(-1), b)
    b[:] = np.nan
    no_compilation(monkeypatch)
    pickle.loads(text)(a.reshape(-1), b)
    assert np.array_equal(b.reshape(a.shape), a.T)


def test_a_pickled_plan_of_another_program_is_planned_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    solution = small()
    text = str(solution.plan).encode()
    copy = pickle.loads(pickle.dumps(solution).replace(text, text.replace(b"cpu", b"xpu")))
    a, b = RNG.random(128).astype("f4"), np.zeros(128, "f4")
    copy(a, b)
    assert same_numbers(a, b) and copy.measurement is None


def test_problems_pickle() -> None:
    problem = Problem((1, 0), (3, 4), "cz", lda=(5, 6), alpha=2j, conjugate=True)
    assert pickle.loads(pickle.dumps(problem)) == problem


@pytest.mark.parametrize(
    ("more", "given"), [(-1, "{} values"), (1, "{} values"), (None, "a dict")], ids=["short", "long", "other"]
)
def test_pickles_of_other_revisions_are_refused(more: int | None, given: str, monkeypatch: pytest.MonkeyPatch) -> None:
    problem, count = Problem((1, 0), (3, 4)), len(dataclasses.fields(Problem))
    state = {"perm": (1, 0)} if more is None else [None] * (count + more)
    monkeypatch.setattr(Problem, "__getstate__", lambda self: state)
    text = pickle.dumps(problem)
    given = given.format(count + (more or 0))
    with pytest.raises(PlanError, match=f"version of ttc_llvm: its Problem is {given}, and must be a list of {count}"):
        pickle.loads(text)


def test_damaged_object_code_is_compiled_anew(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    solution = small()
    broken = Solution(solution.problem, solution.target, solution.plan, 1, None, {str(solution.plan): b"not an object"})
    monkeypatch.setattr(kernel, "cache", kernel.KernelCache())
    a, b = RNG.random(128).astype("f4"), np.zeros(128, "f4")
    broken(a, b)
    assert same_numbers(a, b)
    assert "stored object code is ignored" in caplog.text


def test_several_threads_call_one_solution() -> None:
    problem = Problem((2, 1, 0), (20, 30, 40), "d")
    solution = solved(problem, threads=2)
    wrong: list[int] = []
    gate = threading.Barrier(6)

    def work(number: int) -> None:
        a = np.random.default_rng(number).random(24000)
        b = np.zeros(24000)
        gate.wait()
        for turn in range(40):
            alpha = 1.0 + (number + turn) % 20
            solution(a, b, alpha, threads=1 + turn % 3)
            if not (b.reshape(20, 30, 40) == alpha * a.reshape(40, 30, 20).transpose(2, 1, 0)).all():
                wrong.append(number)

    together(work, range(6))
    assert not wrong


def _compile_in_child(queue: multiprocessing.Queue[bool]) -> None:
    a, b = np.arange(128, dtype="f4"), np.zeros(128, "f4")
    small()(a, b)
    queue.put(same_numbers(a, b))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork.*:DeprecationWarning")
def test_a_fork_waits_while_another_thread_makes_code() -> None:
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    begun = threading.Event()

    def make() -> None:
        with locks.CODE:
            begun.set()
            time.sleep(0.2)

    maker = threading.Thread(target=make)
    maker.start()
    begun.wait()
    child = context.Process(target=_compile_in_child, args=(queue,))
    child.start()
    assert queue.get(timeout=PATIENCE)
    maker.join()
    child.join(PATIENCE)
    assert child.exitcode == 0


def test_kernels_with_scratch_run_alone_and_shared() -> None:
    problem = Problem((1, 0), (512, 300))
    plan = dataclasses.replace(_plan(problem), store=Store.COMBINED)
    solution = Solution(problem, backend.host_target(), plan, 1)
    assert solution.nest.scratch > 0
    a = storage(problem, "a")
    for threads in (1, 2):
        b = storage(problem, "b")
        solution(a, b, threads=threads)
        assert b.tobytes() == a.reshape(300, 512).T.tobytes()


# --- inspection, speed -----------------------------------------------------------------------------------


def test_every_form_prints() -> None:
    solution = small()
    assert "define" in solution.llvm_ir
    assert "ret" in solution.assembly
    assert str(solution.nest) == str(
        lower.lower(placed(solution.problem, solution.target).canonical, solution.plan, solution.target)
    )
    assert "perm=(1, 0)" in repr(solution)
    assert str(solution.plan) in repr(solution)


def test_addresses_are_where_numpy_says() -> None:
    base = np.zeros((6, 7, 8), "f8")
    for x in (base, base[1:, ::-1], base.T, base[..., 3], np.ones(()), np.ma.array(base)[2:]):
        assert addresses.data_address(x) == x.__array_interface__["data"][0]
        assert addresses._published(x) == addresses.data_address(x)


def test_threads_are_checked() -> None:
    for bad in (0, -1, "2", 1.5):
        with pytest.raises(OptionError):
            solved(Problem((1, 0), (3, 3)), threads=bad)


class Picture:
    """What it shows is made when it is asked for, as images of PIL do."""

    class Bytes(bytearray):
        """Bytes that can be watched."""

    def __init__(self, shown: bytes) -> None:
        self.shown, self.made = shown, list[weakref.ref[bytearray]]()

    @property
    def __array_interface__(self) -> dict[str, Any]:
        data = self.Bytes(self.shown)
        self.made.append(weakref.ref(data))
        return {"shape": (len(data),), "typestr": "|i1", "data": data, "version": 3}


def test_memory_that_is_made_on_demand_lives_until_the_call_has_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    picture, result = Picture(RNG.bytes(30 * 40)), np.zeros(30 * 40, "i1")
    solution = ttc_llvm.compile(Problem((1, 0), (30, 40), "i8"), 1, threads=1)
    run, alive = Executable.run, list[bool]()

    def watched(*given: Any) -> None:
        alive.extend(reference() is not None for reference in picture.made)
        run(*given)

    monkeypatch.setattr(Executable, "run", watched)
    solution(picture, result)
    assert alive == [True]
    assert (result.reshape(30, 40) == np.frombuffer(picture.shown, "i1").reshape(40, 30).T).all()


def test_threads_share_a_solution_with_scalars_of_their_own() -> None:
    solution = ttc_llvm.compile(Problem((1, 0), (3, 4), "d"), 1, threads=1)
    a, errors, before = np.ones((3, 4), order="F"), list[BaseException](), sys.getswitchinterval()

    def work(seed: int) -> None:
        rng, b = random.Random(seed), np.zeros((4, 3), order="F")
        try:
            for _ in range(4000):
                solution(a, b, alpha=rng.random() + 2, beta=rng.choice((0, 0.5)))
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    try:
        sys.setswitchinterval(1e-6)
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    assert errors == []
