"""Calls of solutions that native code serves: which, with whose kernel, and what is left to Python."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import tiers
from known_layouts import NATIVE
from processes import together

import ttc_llvm
from ttc_llvm import ArrayError, OptionError, OrderWarning, Problem, ProblemError, Solution
from ttc_llvm.arrays import builtin_functions
from ttc_llvm.arrays.layouts import layouts
from ttc_llvm.compiling import by_strides
from ttc_llvm.compiling.ready import OFTEN
from ttc_llvm.runtime.array_arguments import Storage

Array = np.ndarray[Any, Any]
RNG = np.random.default_rng(7)
POISON = -77
pytestmark = NATIVE


def filled(shape: tuple[int, ...], dtype: str, order: Any = "C") -> Array:
    values = RNG.integers(-99, 99, shape) + (1j * RNG.integers(-99, 99, shape) if dtype[0] == "c" else 0)
    return np.array(values.astype(dtype), order=order)


def gapped(x: Array) -> Array:
    """The same values, each behind two others, the last axis backwards."""
    room = np.full((*x.shape[:-1], 3 * x.shape[-1]), POISON, x.dtype)
    room[..., ::-3] = x
    return room[..., ::-3]


def placed(x: Array) -> list[tuple[Array, Array]]:
    """A tensor's values as arrays of each kind, and what an array of that kind holds as an array of its shape."""
    reverse = np.ascontiguousarray(x.T)
    flat = np.concatenate([x.ravel("F"), np.full(3, POISON, x.dtype)])
    ways = [(np.asfortranarray(x), ...), (np.ascontiguousarray(x), ...), (gapped(x), ...)]
    found = [(array, array[index]) for array, index in ways]
    return [*found, (reverse, reverse.T), (flat, flat[:-3].reshape(x.shape, order="F"))]


@pytest.fixture
def native(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """From its call on, Python reads no array of a call."""

    def begin() -> None:
        monkeypatch.setattr(Storage, "address", lambda *_: pytest.fail("Python served a call"))

    yield begin


def warmed(solution: Solution, a: Array, b: Array, *scalars: Any) -> Solution:
    """With native code for these arrays, if it ever has any."""
    for _ in range(OFTEN + 1):
        solution(a, b, *scalars)
    return solution


# Of the problem, of A and of B; items of the last two are only moved.
TYPES = [("s", "f4", "f4"), ("ds", "f8", "f4"), ("z", "c16", "c16"), ("i16", "i2", "i2"), ("i64", "M8[s]", "f8")]


@pytest.mark.parametrize(
    ("type", "of", "to", "alpha"),
    [(*types, alpha) for types in TYPES for alpha in (None, 2.0) if alpha is None or types[0][0] != "i"],
)
def test_arrays_of_each_kind_are_served(type: str, of: str, to: str, alpha: float | None, native: Any) -> None:
    problem = Problem((2, 0, 1), (5, 7, 3), type)
    solution = ttc_llvm.compile(problem, 1, threads=1)
    x = filled((5, 7, 3), of) if type[0] != "i" else filled((5, 7, 3), "i8").astype(of)
    scalars = () if alpha is None else (alpha,)
    pairs = [(a, b) for a in placed(x) for b in placed(np.full((3, 5, 7), POISON, to))]
    both = [(a, b) for a, b in pairs if {a[0].shape, b[0].shape} == {(5, 7, 3), (3, 5, 7)} or a[0].shape != (5, 7, 3)]
    storage = [(a, b) for a, b in both if (a[0].shape == (5, 7, 3)) == (b[0].shape == (3, 5, 7))]
    for (a, _), (b, _) in storage:
        warmed(solution, a, b, *scalars)
    native()
    for (a, _), (b, seen) in storage:
        b[...] = POISON
        assert solution(a, b, *scalars) is b
        wanted = x.transpose(2, 0, 1)
        if type[0] == "i":
            assert np.array_equal(np.ascontiguousarray(seen).view("i1"), np.ascontiguousarray(wanted).view("i1"))
        else:
            assert np.array_equal(seen, (alpha or 1) * wanted)
        if b.ndim == 1:
            assert (b[-3:] == np.full(3, POISON, to)).all()
        elif b.base is not None:
            assert b.base[..., 1::3].tolist() == np.full_like(b.base[..., 1::3], POISON).tolist()


def test_arrays_in_place_take_the_solution_s_kernel_and_others_that_of_their_layout(native: Any) -> None:
    solution = ttc_llvm.compile(Problem((1, 0), (24, 40), "s", lda=(32, 40)), 1, threads=1)
    storage = filled((40, 32), "f4")
    part = storage.T[:24]  # of which the loops are the problem's
    b = np.empty((40, 24), "f4", order="F")
    warmed(solution, part, b)
    warmed(solution, storage, b)
    layouts().clear()
    native()
    for a in (part, storage):
        b[...] = POISON
        solution(a, b)
        assert np.array_equal(b, part.T)
    assert len(layouts()) == 0


def test_loops_in_another_order_are_the_problem_s(native: Any) -> None:
    by_strides._told.add(by_strides.CUBE)
    solution = ttc_llvm.compile(Problem((2, 1, 0), (4, 6, 4), "d"), 1, threads=1)
    a, b = filled((4, 6, 4), "f8"), np.empty((4, 6, 4))
    warmed(solution, np.asfortranarray(a), np.asfortranarray(b))
    layouts().clear()
    native()
    assert np.array_equal(solution(a, b), a.T) and len(layouts()) == 0
    assert np.array_equal(solution(gapped(a), b), a.T) and len(layouts()) == 1
    by_strides._told.clear()


def test_shapes_that_only_look_alike_are_refused() -> None:
    solution = ttc_llvm.compile(Problem((1, 0, 2), (4, 4, 6), "s", lda=(5, 5, 6)), 1, threads=1)
    a, b = filled((4, 4, 6), "f4"), np.empty((4, 4, 6), "f4")
    warmed(solution, a, b)
    for wrong in (filled((4, 4, 5), "f4"), filled((5, 5, 6), "f4"), filled((4, 24), "f4"), filled((4, 4, 6), "f8")):
        for _ in range(3):
            with pytest.raises(ArrayError):
                solution(wrong, b)
            with pytest.raises(ArrayError):
                solution(a, wrong)
    locked = b.copy()
    locked.flags.writeable = False
    with pytest.raises(ArrayError, match="read-only"):
        solution(a, locked)
    both = filled((2, 4, 4, 6), "f4")
    with pytest.raises(ArrayError, match="overlap"):
        solution(both[0], both.reshape(-1)[48:144].reshape(4, 4, 6))
    with pytest.raises(OptionError):
        solution(a, b, threads=0)
    with pytest.raises(ProblemError):
        solution(a, b, alpha="x")  # type: ignore[arg-type]
    b[...] = POISON
    assert np.array_equal(solution(a, b), a.transpose(1, 0, 2))


def test_b_of_elements_that_share_memory_is_never_taken_for_the_problem_s() -> None:
    solution = ttc_llvm.compile(Problem((1, 0), (3, 3), "s"), 1, threads=1)
    by_strides._told.add(by_strides.CUBE)
    a, b = filled((3, 3), "f4", "F"), np.empty((3, 3), "f4", order="F")
    warmed(solution, a, b)
    same = np.lib.stride_tricks.as_strided(b, (3, 3), (4, 4))
    with pytest.raises(ArrayError):
        solution(np.lib.stride_tricks.as_strided(a, (3, 3), (12, 12)), same)
    by_strides._told.clear()


def test_the_first_cube_is_told_of_however_often_others_came() -> None:
    by_strides._told.clear()
    solution = ttc_llvm.compile(Problem((1, 0), (8, 8), "s"), 1, threads=1)
    a, b = filled((8, 8), "f4", "F"), np.empty((8, 8), "f4", order="F")
    warmed(warmed(solution, a, b), gapped(a), b)
    with pytest.warns(OrderWarning):
        solution(a.copy(order="C"), b)
    assert np.array_equal(b, a.T)
    by_strides._told.clear()


@pytest.mark.parametrize(("order", "turned"), ["CF", "FC"])
def test_squares_in_one_order_are_served_natively_before_anything_was_told(
    order: Any, turned: Any, native: Any
) -> None:
    """A C-ordered one beside one in Fortran's order still tells of what changed; afterwards native code serves it."""
    by_strides._told.clear()
    solution = ttc_llvm.compile(Problem((1, 0), (8, 8), "s"), 1, threads=1)
    a, b = filled((8, 8), "f4", order), np.empty((8, 8), "f4", order=order)
    warmed(solution, a, b)
    other = np.array(a, order=turned)
    with pytest.warns(OrderWarning):
        solution(other, b)
    warmed(solution, other, b)
    native()
    for x in (a, other):
        b[...] = POISON
        assert np.array_equal(solution(x, b), a.T)
    by_strides._told.clear()


def test_row_major_problems_and_misaligned_elements() -> None:
    x = filled((3, 8, 5), "f8")
    problem = Problem.from_arrays(x, (1, 2, 0))
    solution, y = ttc_llvm.compile(problem, 1, threads=1), np.empty((8, 5, 3))
    warmed(solution, x, y)
    for a, b in ((x, y), (gapped(x), gapped(y)), (x, gapped(y)), (np.asfortranarray(x), y)):
        for _ in range(2):
            b[...] = POISON
            assert np.array_equal(solution(a, b), x.transpose(1, 2, 0))
    odd = np.frombuffer(bytearray(x.nbytes + 1), np.uint8)[1:].view("f8").reshape(x.shape)
    odd[...] = x
    for _ in range(2):
        y[...] = POISON
        assert np.array_equal(solution(odd, y), x.transpose(1, 2, 0))


def test_scalars_have_calls_of_their_own_in_any_thread() -> None:
    solution = ttc_llvm.compile(Problem((2, 1, 0), (6, 5, 4), "d", alpha=3), 1, threads=1)
    x = filled((6, 5, 4), "f8")
    failures: list[Any] = []
    start = threading.Barrier(4)

    def calls(k: int) -> None:
        start.wait()
        y = np.empty((4, 5, 6))
        for n in range(tiers.count(600)):
            alpha = None if n % 3 == 0 else float(k + n % 40)  # more than are kept
            y[...] = 1
            solution(x if n % 2 else gapped(x), y, alpha, 0.0 if n % 5 else 2.0)
            wanted = (3 if alpha is None else alpha) * x.T + (0 if n % 5 else 2)
            if not np.array_equal(y, wanted):
                failures.append((k, n))

    together(calls, range(4))
    assert failures == []


def test_scalars_that_change_in_place_count_as_they_are(native: Any) -> None:
    """The last scalars are known again by being the same object: only numbers of Python's are the same for good."""
    solution = ttc_llvm.compile(Problem((1, 0), (9, 11), "d"), 1, threads=1)
    x, y = filled((9, 11), "f8"), np.empty((11, 9))
    alpha: Any = np.array(2.0)
    warmed(solution, x, y, alpha)
    for value in (3.0, 0.0, -1.0):
        alpha[...] = value
        assert np.array_equal(solution(x, y, alpha), value * x.T)
    fixed = 2.5
    warmed(solution, x, y, fixed)
    native()
    assert np.array_equal(solution(x, y, alpha=fixed, threads=1), 2.5 * x.T)


@pytest.mark.parametrize("threads", [0, -1, 1 << 31, 1.5, "2"])
def test_bad_threads_are_refused_however_often_it_was_called(threads: Any) -> None:
    solution = ttc_llvm.compile(Problem((1, 0), (9, 11), "d"), 1, threads=1)
    x, y = filled((9, 11), "f8"), np.empty((11, 9))
    warmed(solution, x, y)
    with pytest.raises(ttc_llvm.OptionError, match="threads"):
        solution(x, y, threads=threads)


def test_a_solution_that_is_gone_leaves_nothing() -> None:
    solution = ttc_llvm.compile(Problem((1, 0), (9, 11), "s"), 1, threads=1)
    warmed(solution, filled((9, 11), "f4"), np.empty((11, 9), "f4"))
    known = weakref.ref(solution)
    moves = solution._last[2]
    assert moves is not by_strides.left
    before = len(builtin_functions._natives)
    del solution
    gc.collect()
    assert known() is None
    b = np.empty((11, 9), "f4")
    a = filled((9, 11), "f4")
    assert moves(a, b) and np.array_equal(b, a.T)  # it keeps what it needs
    assert len(builtin_functions._natives) == before
