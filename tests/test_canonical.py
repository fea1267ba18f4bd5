"""The canonical form: what is dropped, flipped, sorted and merged, and that it addresses the same elements."""

from __future__ import annotations

import itertools
import pickle

import pytest
import strategies
from case import Case, windows
from hypothesis import given
from tiers import examples

from ttc_llvm.errors import ProblemError
from ttc_llvm.problem import dtypes
from ttc_llvm.problem.canonical import Axis, Placed, canonicalise, from_axes, static
from ttc_llvm.problem.kinds import COPY, Alpha, Beta, Kinds
from ttc_llvm.problem.problem import Problem

S, D, C, V12 = (dtypes.dtype(n) for n in ("s", "d", "c", "v12"))
ANY = Kinds(Alpha.ANY, Beta.ANY)


def text(placed: Placed) -> str:
    """The canonical form and its offsets, as one line."""
    return f"{placed.canonical} @{placed.offset_a},{placed.offset_b}"


PROBLEMS = [
    (Problem((), ()), "i32>i32 one-zero 1:1:1"),
    (Problem((0,), (5,)), "i32>i32 one-zero 5:1:1"),
    (Problem((0, 1, 2), (2, 3, 4)), "i32>i32 one-zero 24:1:1"),
    (Problem((0, 1, 2), (2, 3, 4), lda=(2, 3, 9)), "i32>i32 one-zero 24:1:1"),
    (Problem((0, 1, 2), (2, 3, 4), lda=(2, 5, 4)), "i32>i32 one-zero 6:1:1 4:10:6"),
    (Problem((1, 0), (2, 3)), "i32>i32 one-zero 3:2:1 2:1:3"),
    (Problem((1, 2, 0), (2, 3, 4)), "i32>i32 one-zero 12:2:1 2:1:12"),
    (Problem((1, 2, 0), (2, 3, 4), ldb=(5, 4, 2)), "i32>i32 one-zero 3:2:1 4:6:5 2:1:20"),
    (Problem((2, 1, 0), (3, 1, 4)), "i32>i32 one-zero 4:3:1 3:1:4"),
    (Problem((2, 1, 0), (3, 1, 4), lda=(3, 2, 4)), "i32>i32 one-zero 4:6:1 3:1:4"),
    (Problem((2, 1, 0), (3, 0, 4)), "i32>i32 one-zero 0:1:1"),
    (Problem((1, 0), (2, 3), "c", conjugate=True), "c>c one-zero conj 3:2:1 2:1:3"),
    (Problem((1, 0), (2, 3), "sd"), "s>d one-zero 3:2:1 2:1:3"),
    (Problem((1, 0), (2, 3), "d", alpha=2, beta=1), "d>d any-any 3:2:1 2:1:3"),
    (Problem((1, 0), (2, 3), "d", beta=1), "d>d any-any 3:2:1 2:1:3"),
    (Problem((1, 0), (2, 3), "d", alpha=0), "d>d zero-zero 6:1:1"),
    (Problem((1, 0), (2, 3), "z", alpha=0, beta=2, conjugate=True), "z>z zero-any 6:1:1"),
    (Problem((1, 0), (2, 3), "v3"), "i8>i8 one-zero 3:1:1 3:6:3 2:3:9"),
    (Problem((1, 0), (2, 3), "v12"), "i32>i32 one-zero 3:1:1 3:6:3 2:3:9"),
    (Problem((0, 1), (2, 3), "v24", ldb=(4, 3)), "i64>i64 one-zero 6:1:1 3:6:12"),
    (Problem((0, 1), (2, 3), "v24"), "i64>i64 one-zero 18:1:1"),
    (Problem((1, 0), (2, 3), "v16"), "v16>v16 one-zero 3:2:1 2:1:3"),
    (Problem((1, 0), (2, 3), "z"), "v16>v16 one-zero 3:2:1 2:1:3"),
]


@pytest.mark.parametrize(("problem", "wanted"), PROBLEMS)
def test_problems(problem: Problem, wanted: str) -> None:
    assert text(canonicalise(problem)) == f"{wanted} @0,0"


AXES = [
    ("reversed B is walked forwards", [Axis(4, 1, -1)], "4:-1:1 @3,-3"),
    ("both reversed is a copy", [Axis(4, -1, -1)], "4:1:1 @-3,-3"),
    ("two flips merge", [Axis(3, -1, -1), Axis(4, -3, -3)], "12:1:1 @-11,-11"),
    ("a flip that cannot merge", [Axis(3, -1, 1), Axis(4, -3, -3)], "3:-1:1 4:3:3 @-9,-9"),
    ("a broadcast", [Axis(3, 1, 1), Axis(4, 0, 3)], "3:1:1 4:0:3 @0,0"),
    ("neighbouring broadcasts merge", [Axis(3, 0, 1), Axis(4, 0, 3)], "12:0:1 @0,0"),
    ("gaps on both sides merge", [Axis(3, 2, 5), Axis(4, 6, 15)], "12:2:5 @0,0"),
    ("order does not matter", [Axis(4, 3, 7), Axis(7, 12, 1), Axis(3, 1, 28)], "7:12:1 4:3:7 3:1:28 @0,0"),
    (
        "extent 1 is dropped, whatever its strides",
        [Axis(1, 0, 0), Axis(2, 1, 1), Axis(1, -9, -9)],
        "2:1:1 @0,0",
    ),
    ("three merge to one", [Axis(2, 1, 1), Axis(3, 2, 2), Axis(4, 6, 6)], "24:1:1 @0,0"),
    ("an empty axis empties all", [Axis(5, 3, 2), Axis(0, 0, 0)], "0:1:1 @0,0"),
]


@pytest.mark.parametrize(("axes", "wanted"), [row[1:] for row in AXES], ids=[row[0] for row in AXES])
def test_general_strides(axes: list[Axis], wanted: str) -> None:
    assert text(from_axes(axes, S, S, ANY)) == f"s>s any-any {wanted}"
    assert text(from_axes(axes[::-1], S, S, ANY)) == f"s>s any-any {wanted}"


def test_odd_items_scale_offsets_and_strides() -> None:
    assert text(from_axes([Axis(4, 1, -2)], V12, V12, COPY)) == "i32>i32 one-zero 3:1:1 4:-3:6 @9,-18"


def test_zero_alpha_forgets_a_altogether() -> None:
    placed = from_axes([Axis(4, -7, -1), Axis(3, 0, 4)], C, C, Kinds(Alpha.ZERO, Beta.ANY), True)
    assert text(placed) == "c>c zero-any 12:1:1 @-3,-3"


def test_overlapping_results_are_refused() -> None:
    with pytest.raises(
        ProblemError, match="B has stride 0 along an axis of extent 3: its elements would overlap"
    ):
        from_axes([Axis(3, 1, 0)], S, S, COPY)


@pytest.mark.parametrize(
    ("alpha", "beta", "kinds"),
    [
        (1, 0, "one-zero"), (1, 1, "any-any"), (2, 0, "any-zero"), (0, 0, "zero-zero"), (0, 1, "zero-any"),
        (-0.0, -0.0, "zero-zero"), (float("nan"), 0, "any-zero"), (1 + 0j, 0j, "one-zero"), (1j, 0, "any-zero"),
        (1, float("nan"), "any-any"),
    ],
)  # fmt: skip
def test_kinds_of_values(alpha: complex, beta: complex, kinds: str) -> None:
    assert str(Kinds.of(alpha, beta)) == kinds


def test_bytes_moved_count_what_is_touched() -> None:
    axes = [Axis(10, 1, 1)]
    moved = {str(k): from_axes(axes, S, D, k).canonical.bytes_moved for k in _every_kind()}
    assert moved == {
        "zero-zero": 80,
        "zero-any": 160,
        "one-zero": 120,
        "one-any": 200,
        "any-zero": 120,
        "any-any": 200,
    }


def _every_kind() -> list[Kinds]:
    return [Kinds(alpha, beta) for alpha in Alpha for beta in (Beta.ZERO, Beta.ANY)]


def addresses(axes: tuple[Axis, ...], offset_a: int, offset_b: int, units: int) -> set[tuple[int, int]]:
    """(A's, B's) address of every moved unit."""
    ranges = [range(static(axis.extent)) for axis in axes]
    pairs = set()
    for index in itertools.product(*ranges):
        at_a = offset_a + sum(i * static(axis.stride_a) for i, axis in zip(index, axes, strict=True))
        at_b = offset_b + sum(i * static(axis.stride_b) for i, axis in zip(index, axes, strict=True))
        pairs |= {(at_a * units + u, at_b * units + u) for u in range(units)}
    return pairs


@examples(300)
@given(strategies.cases(300))
def test_the_same_elements_are_moved(case: Case) -> None:
    placed = case.placed
    c = placed.canonical
    units = case.b.itemsize // c.b.itemsize
    at_a, at_b = (w.origin for w in windows(case))
    moved = addresses(c.axes, at_a * units + placed.offset_a, at_b * units + placed.offset_b, 1)
    asked = addresses(case.axes, at_a, at_b, units)
    if c.kinds.alpha is Alpha.ZERO:  # A is not read: only B's addresses count
        moved, asked = {(0, b) for _, b in moved}, {(0, b) for _, b in asked}
    assert moved == asked
    assert c.elements == len(asked) if 0 not in c.extents else not asked


@examples(300)
@given(strategies.cases(300))
def test_the_form_is_canonical(case: Case) -> None:
    c = case.placed.canonical
    again = from_axes(c.axes, c.a, c.b, c.kinds, c.conjugate)
    assert (again.canonical, again.offset_a, again.offset_b) == (c, 0, 0)
    assert all(static(axis.stride_b) > 0 for axis in c.axes)
    assert [static(s) for s in c.strides("b")] == sorted(static(s) for s in c.strides("b"))
    assert 1 not in c.extents or c.extents == (1,)
    assert from_axes(case.axes[::-1], case.a, case.b, case.kinds, case.conjugate) == case.placed


def test_what_a_form_keeps_does_not_travel() -> None:
    """Hashes are of one process only."""
    form = canonicalise(Problem((2, 1, 0), (9, 8, 7))).canonical
    assert (hash(form), form.extents, form.along("a")) == (hash(form), (7, 8, 9), (0, 1, 2))
    assert "_hash" in vars(form)
    there = pickle.loads(pickle.dumps(form))
    assert set(vars(there)) == {"axes", "a", "b", "kinds", "conjugate", "in_place", "terms"}
    assert there == form
    assert hash(there) == hash(form)
