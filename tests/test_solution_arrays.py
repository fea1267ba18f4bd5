"""Solutions and the arrays that callers have: A and B in every order, by strides or as storage, against NumPy and the
rules that docs/row_major.md states, spelled out here once more."""

from __future__ import annotations

import itertools
import os
import random
import re
import subprocess
import sys
import warnings
from collections.abc import Iterator
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import ttc_llvm
from ttc_llvm import ArrayError, OrderWarning, Problem, Solution, TargetError
from ttc_llvm.arrays import strided
from ttc_llvm.compiling import by_strides
from ttc_llvm.problem.layouts import column_major
from ttc_llvm.runtime import backend
from ttc_llvm.runtime.executable import Executable

Array = npt.NDArray[Any]
POISON = -12345.0


@pytest.fixture(autouse=True)
def _told() -> Iterator[None]:
    """The change in what cubes mean is told already; who tests that says so."""
    by_strides._told.add(by_strides.CUBE)
    yield
    by_strides._told.clear()


def solved(problem: Problem, threads: int = 1) -> Solution:
    """The cost model's plan."""
    return ttc_llvm.compile(problem, 1, threads=threads)


# --- the rules ------------------------------------------------------------------------------------------------


class Side:
    """A or B of a problem. size, outer: by index; axes: of arrays."""

    def __init__(self, problem: Problem, name: str) -> None:
        self.size, self.outer, axes = {
            "A": (problem.size, problem.outer_a, problem.axes_a),
            "B": (problem.size_b, problem.outer_b, problem.axes_b),
        }[name]
        self.axes = [*(axes or range(len(self.size)))]
        self.shape = tuple(self.size[self.axes.index(k)] for k in range(len(self.size)))
        self.least = problem.storage(name.lower())

    def place(self, x: Array) -> dict[tuple[int, ...], tuple[int, ...]] | None:
        """The array's index of every element of the tensor; None where the rules refuse the array."""
        indices = [*itertools.product(*map(range, self.size))]
        if x.shape == self.shape:
            return {i: tuple(i[self.axes.index(k)] for k in range(x.ndim)) for i in indices}
        storage = (x.shape == self.outer and x.flags.f_contiguous) or (
            x.shape == self.outer[::-1] and x.flags.c_contiguous
        )
        flat = x.ndim == 1 and x.flags.c_contiguous and x.size >= self.least
        if not storage and not flat:
            return None
        order: Any = "F" if x.flags.f_contiguous else "C"
        where = {i: sum(k * s for k, s in zip(i, column_major(self.outer), strict=True)) for i in indices}
        return {i: tuple(map(int, np.unravel_index(w, x.shape, order))) for i, w in where.items()}


def arrays(side: Side, draw: random.Random, dtype: str) -> Iterator[Array]:
    """Arrays that could be meant for a tensor, and some that could not: views of memory of one dimension."""

    def inside(shape: tuple[int, ...], order: Any, step: int, more: int) -> Array:
        outer = [step * n + more for n in shape]
        part: tuple[Any, ...] = (..., *(slice(more // 2, more // 2 + step * n, step) for n in shape))
        found: Array = np.empty(prod(outer), dtype).reshape(outer, order=order)[part]
        return found

    for shape, order in itertools.product({side.shape, side.outer, side.outer[::-1]}, "CF"):
        yield inside(shape, order, 1, 0)
        yield inside(shape, order, draw.choice((1, 2)), 2)
        backwards: tuple[Any, ...] = (..., *(slice(None, None, -1) for _ in shape))
        yield inside(shape, order, 1, 2)[backwards]
    for shape in ((side.least + draw.randint(0, 3),), (max(0, side.least - 1),), (1, *side.shape)):
        yield inside(shape, "C", 1, 0)


def memory(x: Array) -> Array:
    """All memory that x is a view of."""
    while isinstance(x.base, np.ndarray):
        x = x.base
    return x


def check(solution: Solution, x: Array, y: Array, alpha: float, beta: float) -> bool:
    """One call against the rules; all else that is in B's memory keeps its bytes. False where it had to be refused."""
    problem, rng = solution.problem, np.random.default_rng(1)
    of, to = Side(problem, "A").place(x), Side(problem, "B").place(y)
    memory(x)[...] = rng.integers(-99, 99, memory(x).shape)
    memory(y)[...] = rng.integers(-99, 99, memory(y).shape) if beta else POISON
    wanted = memory(y).copy()
    if of is None or to is None:
        with pytest.raises(ArrayError):
            solution(x, y, alpha, beta)
        assert np.array_equal(memory(y), wanted)
        return False
    start = y.__array_interface__["data"][0] - memory(y).__array_interface__["data"][0] if y.size else 0
    result: Array = np.ndarray(y.shape, y.dtype, wanted, start, y.strides)
    for index, place in of.items():
        target = to[tuple(index[p] for p in problem.perm)]
        result[target] = alpha * x[place] + (beta * result[target] if beta else 0)
    assert solution(x, y, alpha, beta) is y
    assert np.array_equal(memory(y), wanted)
    return True


def problems(rank: int, count: int) -> Iterator[Problem]:
    """Small problems of a rank, of every kind."""
    draw = random.Random(rank)
    for number in range(count):
        size = tuple(draw.randint(0, 3) for _ in range(rank)) if number % 3 else (draw.randint(1, 3),) * rank
        perm = tuple(draw.sample(range(rank), rank))
        made = Problem(perm, size, draw.choice(("s", "d", "sd", "i32")))
        size_b = made.size_b
        if number % 2:
            lda = tuple(n + draw.randint(0, 1) for n in size)
            ldb = tuple(n + draw.randint(0, 1) for n in size_b)
            made = Problem(perm, size, made.dtype, draw.choice((None, lda)), ldb)
        yield made if number % 4 < 2 else made.row_major


@pytest.mark.parametrize("rank", range(5))
def test_every_pair_of_arrays(rank: int) -> None:
    draw = random.Random(100 + rank)
    served = refused = 0
    for problem in problems(rank, 16 if rank else 3):
        solution = solved(problem)
        types = [{"s": "f4", "d": "f8", "i32": "i4"}[t.name] for t in (problem.a, problem.b)]
        pairs = itertools.product(*(
            [*arrays(Side(problem, name), draw, dtype)] for name, dtype in zip("AB", types, strict=True)
        ))  # fmt: skip
        for x, y in draw.sample([*pairs], 60):
            scalars = (1, 0) if problem.dtype == "i32" else draw.choice(((1, 0), (2, 0), (1, 3), (-2, 1), (0, 2)))
            done = check(solution, x, y, *scalars)
            served, refused = served + done, refused + (not done)
    assert served > 40 and (refused > 40 or rank == 0)


# --- what a user meets -------------------------------------------------------------------------------------------


def test_numpy_arrays_of_the_size_are_transposed_as_numpy_does() -> None:
    """C order is NumPy's default."""
    solution = solved(Problem((2, 1, 0), (8, 16, 12)))
    x = np.random.default_rng(0).random((8, 16, 12), dtype=np.float32)
    for a, b in itertools.product((x, np.asfortranarray(x)), "CF"):
        y = np.full((12, 16, 8), np.nan, np.float32, order=b)  # type: ignore[call-overload]
        solution(a, y)
        assert np.array_equal(y, x.transpose(2, 1, 0))


def test_a_problem_of_arrays_takes_these_arrays() -> None:
    """Cubes as well, which have one shape by any order of their axes."""
    rng = np.random.default_rng(0)
    for shape, axes in (((6, 6, 6), (1, 2, 0)), ((4, 5, 6), (2, 0, 1)), ((5, 5), (0, 1)), ((3, 3, 4, 3), (3, 0, 2, 1))):
        for x in (rng.random(shape), rng.random([n + 2 for n in shape])[tuple(slice(1, n + 1) for n in shape)]):
            for turned in itertools.permutations(range(x.ndim)):
                given = x.transpose(turned)
                out = np.full([given.shape[k] for k in axes], np.nan)
                solved(Problem.from_arrays(given, axes, out))(given, out)
                assert np.array_equal(out, given.transpose(axes))


def test_what_lies_as_the_problem_says_runs_the_solutions_own_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(*_: Any) -> None:
        raise AssertionError("served by strides")

    monkeypatch.setattr(strided, "assign", forbidden)
    monkeypatch.setattr("ttc_llvm.arrays.for_solutions.assign", forbidden)
    padded = Problem((2, 1, 0), (8, 16, 12), lda=(9, 17, 12))
    whole_a = np.ones((9, 17, 12), np.float32, order="F")
    b = np.zeros((12, 16, 8), np.float32, order="F")
    for a in (whole_a, whole_a[:8, :16], whole_a.T, whole_a.reshape(-1, order="A"), whole_a.data):
        b[...] = 0
        solved(padded)(a, b)
        assert (b == 1).all()
    square, out = np.random.default_rng(0).random((20, 20)), np.zeros((20, 20))
    solved(Problem((1, 0), (20, 20), "d"))(square, out)  # in C order both, which are the same loops
    assert np.array_equal(out, square.T)


def test_scalars_conjugation_and_threads_go_along() -> None:
    rng = np.random.default_rng(0)
    problem = Problem((2, 0, 1), (60, 50, 40), "c", alpha=2 + 1j, conjugate=True)
    x = (rng.integers(-9, 9, (60, 50, 40)) + 1j * rng.integers(-9, 9, (60, 50, 40))).astype(np.complex64)
    y = np.ones((40, 60, 50), np.complex64)
    solution = solved(problem, 2)
    for scalars in ({}, {"alpha": 1}, {"beta": 1 - 2j}, {"alpha": -1j, "beta": 3, "threads": 1}):
        start = y.copy()
        solution(x, y, **scalars)
        alpha, beta = scalars.get("alpha", 2 + 1j), scalars.get("beta", 0)
        assert np.allclose(y, alpha * x.conj().transpose(2, 0, 1) + beta * start)
        y = np.round(y)


def test_misaligned_memory_is_served_by_strides_too() -> None:
    raw = np.zeros(8 * 9 * 10 * 4 + 1, np.uint8)
    x = raw[1:].view(np.float32).reshape(8, 9, 10)
    x[...] = np.random.default_rng(0).random(x.shape)
    for beta in (0, 1):
        y = np.ones((10, 9, 8), np.float32)
        solved(Problem((2, 1, 0), (8, 9, 10)))(x, y, 1, beta)
        assert np.array_equal(y, x.transpose(2, 1, 0) + np.float32(beta))


def test_plain_moves_take_any_items_of_the_size_by_strides() -> None:
    solution = solved(Problem((1, 0), (16, 8), "i16"))
    for dtype in ("u2", "f2", ">i2"):
        x = np.arange(128).astype(dtype).reshape(16, 8)
        y = np.zeros((8, 16), dtype)
        solution(x, y)
        assert np.array_equal(y, x.T)


def test_refusals_speak_of_a_and_b() -> None:
    solution = solved(Problem((1, 2, 0), (6, 6, 6)))
    x = np.zeros((6, 6, 6), np.float32)
    with pytest.raises(ArrayError, match=r"^A and B overlap in memory"):
        solution(x, x)
    with pytest.raises(ArrayError, match=r"^elements of B share memory"):
        solution(x, np.lib.stride_tricks.as_strided(np.zeros(40, np.float32), (6, 6, 6), (4, 4, 4)))
    read_only = np.zeros((6, 6, 6), np.float32)
    read_only.flags.writeable = False
    for _ in range(2):
        with pytest.raises(ArrayError, match=r"^B is read-only"):
            solution(x, read_only)


def test_a_solution_of_another_machine_serves_no_strides_either() -> None:
    other = next(t for t in map(backend.resolve, ("avx512", "neon")) if not backend.runs_here(t))
    solution = ttc_llvm.compile(Problem((1, 2, 0), (4, 5, 6)), 1, target=other)
    x = np.zeros((4, 5, 6), np.float32)
    for a in (x, np.asfortranarray(x)):
        with pytest.raises(TargetError, match="cannot run here"):
            solution(a, np.zeros((5, 6, 4), np.float32, order="F"))


def test_arrays_of_other_libraries_are_read_by_the_same_rules() -> None:
    torch = pytest.importorskip("torch")
    solution = solved(Problem((2, 0, 1), (4, 5, 6)))
    x, y = torch.rand(4, 5, 6), torch.zeros(6, 4, 5)
    assert solution(x, y) is y
    assert torch.equal(y, x.permute(2, 0, 1))
    image = Problem.from_arrays(x, (2, 0, 1), y)
    y.zero_()
    solved(image)(x, y)
    assert torch.equal(y, x.permute(2, 0, 1))


def test_layouts_and_pairs_are_remembered_in_bounds() -> None:
    solution = solved(Problem((1, 2, 0), (2, 3, 4)))
    x = np.zeros((2, 3, 4), np.float32)
    for step in range(1, 200):
        y = np.zeros((3, 4, 2 * step), np.float32)[..., ::step]
        solution(x, y)
    assert len(solution._b._known) <= 64 and len(solution._by_strides._known) <= 64


# --- cubes ----------------------------------------------------------------------------------------------------


def test_cubes_tell_once_that_they_are_read_otherwise(tmp_path: Path) -> None:
    by_strides._told.clear()
    code = """
import numpy as np, ttc_llvm, warnings
for perm, n in (((1, 2, 0), 4), ((1, 2, 0), 5)):
    x, y = np.random.rand(n, n, n), np.empty((n, n, n))
    ttc_llvm.compile(ttc_llvm.Problem(perm, (n, n, n), "d"), 1)(x, y)
    assert np.array_equal(y, x.transpose(perm))
"""
    environment = os.environ | {"TTC_DATABASE": str(tmp_path / "solutions.sqlite3")}
    command = (sys.executable, "-W", "always", "-c", code)
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert done.stderr.count("OrderWarning") == 1
    assert re.search(r"<string>:5: OrderWarning: the axes of an array in C order whose shape", done.stderr)


@pytest.mark.parametrize(
    ("problem", "order"),
    [
        (Problem((1, 2, 0), (4, 4, 4), "d"), "F"),  # is what it was
        (Problem((2, 1, 0), (4, 4, 4), "d"), "C"),  # the same result by both readings
        (Problem((1, 2, 0), (4, 5, 6), "d"), "C"),  # not a cube: it was never right
        (Problem((1, 2, 0), (4, 4, 4), "d").row_major, "C"),  # says itself how it is read
    ],
)
def test_nothing_is_told_of_what_has_not_changed(problem: Problem, order: str) -> None:
    by_strides._told.clear()
    x = np.random.default_rng(0).random(problem.size).astype("f8", order=order)  # type: ignore[call-overload]
    y = np.zeros(problem.size_b, order=order)  # type: ignore[call-overload]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        solved(problem)(x, y)


def test_users_can_silence_it() -> None:
    assert issubclass(OrderWarning, UserWarning)
    by_strides._told.clear()
    x = np.zeros((4, 4, 4), np.float32)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        warnings.filterwarnings("ignore", category=OrderWarning)
        solved(Problem((1, 2, 0), (4, 4, 4)))(x, np.zeros_like(x))
    assert not seen


def test_the_solutions_own_kernel_is_what_runs_in_place(monkeypatch: pytest.MonkeyPatch) -> None:
    """And only then: `run` of its executable is called."""
    seen: list[Executable] = []
    run = Executable.run

    def watched(self: Executable, *given: Any) -> None:
        seen.append(self)
        run(self, *given)

    monkeypatch.setattr(Executable, "run", watched)
    solution = solved(Problem((1, 2, 0), (4, 5, 6)))
    own = solution._find(None, None).executable
    x, y = np.zeros((4, 5, 6), np.float32, order="F"), np.zeros((5, 6, 4), np.float32, order="F")
    solution(x, y)
    assert seen == [own]
    solution(np.zeros((4, 5, 6), np.float32), y)
    assert seen.count(own) == 1
