"""Axes that take each other's places: nests, arrays, problems and solutions, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import entry_calls
import known_layouts
import machine
import numpy as np
import pytest
import reference
from case import Case, expected, storages
from guards import Guarded
from hypothesis import given
from hypothesis import strategies as st
from interpreter import interpret
from numpy.lib.stride_tricks import as_strided
from test_entries import compiled
from tiers import examples

import ttc_llvm
from ttc_llvm import ArrayError, Problem, ProblemError, TtcError
from ttc_llvm.arrays import own_kernels, without_kernels
from ttc_llvm.arrays.layouts import PAYBACK_BYTES
from ttc_llvm.arrays.pairs import scaling
from ttc_llvm.arrays.scalings import PLAIN
from ttc_llvm.cli import entry as cli
from ttc_llvm.lowering.lower import lower
from ttc_llvm.lowering.nest import trips
from ttc_llvm.lowering.plan import CpuPlan, Fetch, Store
from ttc_llvm.lowering.plan_checks import check
from ttc_llvm.machine import lookup
from ttc_llvm.machine.target import Target
from ttc_llvm.problem import canonical_text, dtypes, orbits
from ttc_llvm.problem.canonical import Axis, Canonical, Placed
from ttc_llvm.problem.in_place import images, in_place
from ttc_llvm.problem.kinds import Kinds
from ttc_llvm.problem.layouts import column_major
from ttc_llvm.runtime import backend
from ttc_llvm.tuning.cost.model import ranked
from ttc_llvm.tuning.space.candidates import paper_space

SHAPES: dict[tuple[int, ...], tuple[int, ...]] = {  # axes by shape
    (67, 67): (1, 0),
    (3, 50, 50): (0, 2, 1),
    (50, 3, 50): (2, 1, 0),
    (37, 37, 5): (1, 0, 2),
    (19, 19, 19): (1, 2, 0),
    (9, 9, 11, 11): (1, 0, 3, 2),
    (6, 7, 6, 7): (2, 3, 0, 1),
    (4, 3, 4, 3, 4, 3): (2, 3, 4, 5, 0, 1),
    (5, 5, 3, 3, 3): (1, 0, 3, 4, 2),
    (1, 8, 1, 8): (2, 3, 0, 1),
}
SCALARS = [(1, 0, False), (2, 0, True), (0.5, 0.5, False), (1, 1, True), (0, 3, False)]


@st.composite
def moves(draw: st.DrawFn) -> tuple[Case, Placed, CpuPlan]:
    """A small tensor with gaps, a permutation that keeps its shape, scalars, and a plan."""
    image = draw(st.permutations(range(draw(st.integers(1, 4)))))
    sizes = {cycle: draw(st.integers(1, 7 if len(image) > 2 else 23)) for cycle in orbits.cycles(image)}
    extents = tuple(next(n for cycle, n in sizes.items() if k in cycle) for k in range(len(image)))
    steps = column_major(tuple(n + draw(st.integers(0, 1)) for n in extents))
    axes = tuple(Axis(extents[k], steps[k], steps[j]) for k, j in enumerate(image))
    t = dtypes.dtype(draw(st.sampled_from(["s", "d", "c", "z"])))
    alpha, beta, conjugate = draw(st.sampled_from(SCALARS[:-1]))
    case = Case(axes, t, t, alpha, beta, conjugate and t.name in "cz", draw(st.integers(0, 99)), in_place=True)
    return case, case.placed, draw(plans(case.placed.canonical))


@st.composite
def plans(draw: st.DrawFn, form: Canonical) -> CpuPlan:
    """Any plan in place."""
    rank, image = len(form.axes), images(form.axes)
    assert image is not None
    block = [draw(st.sampled_from([1, 2, 4])) for _ in range(rank)]
    tile = [4 * draw(st.integers(1, 3))] * rank
    for cycle in orbits.cycles(image):
        edge = 4 * draw(st.integers(1, 3))
        for k in cycle:
            tile[k] = edge
    order, inner = (tuple(draw(st.permutations(range(rank)))) for _ in range(2))
    prefetch, fetch = draw(st.sampled_from([(0, Fetch.BLOCKS), (2, Fetch.BLOCKS), (1, Fetch.ROWS)]))
    decisions = draw(st.integers(0, rank)), prefetch
    return check(CpuPlan(tuple(tile), tuple(block), order, inner, *decisions, fetch=fetch), form)


@examples(150)
@given(moves(), st.sampled_from(machine.ROWS))
def test_a_nest_permutes_in_place(move: tuple[Case, Placed, CpuPlan], row: str) -> None:
    case, placed, plan = move
    nest = lower(placed.canonical, plan, lookup.find(row))
    x, _ = storages(case)  # B would be NaN where it is not read
    got = interpret(case, nest, placed, x, x)
    assert reference.same(got, expected(case, x, x), case.b, case.plain), str(nest)


@st.composite
def squares(draw: st.DrawFn) -> tuple[Case, CpuPlan, Target, int]:
    """Squares whose rows lie alike on lines, or half of them, a plan, a machine with masks and without room in L2,
    and the elements from a line to the tensor."""
    t = dtypes.dtype(draw(st.sampled_from(["s", "d", "c", "z"])))
    line, half = 64 // t.itemsize, 32 // t.itemsize
    n, edge = half * draw(st.integers(3, 9)), line * draw(st.integers(1, 2))
    count, outside = draw(st.integers(1, 2)), draw(st.booleans())
    axes = (Axis(n, 1, n), Axis(n, n, 1), Axis(count, n * n, n * n))
    alpha, beta, conjugate = draw(st.sampled_from(SCALARS[:-1]))
    case = Case(axes, t, t, alpha, beta, conjugate and t.name in "cz", draw(st.integers(0, 99)), in_place=True)
    rank = len(case.placed.canonical.axes)
    order = tuple(draw(st.permutations(range(rank))))
    block = draw(st.sampled_from([(2, 4), (4, 4), (half, line)]))
    plan = CpuPlan((edge, edge, 1)[:rank], (*block, 1)[:rank], order, order, 1 + outside)
    target = replace(lookup.find(draw(st.sampled_from(["avx2", "avx512"]))), l2=1)
    return case, check(plan, case.placed.canonical), target, draw(st.integers(0, line - 1))


@examples(60)
@given(squares())
def test_tiles_begin_on_lines(square: tuple[Case, CpuPlan, Target, int]) -> None:
    case, plan, target, start = square
    nest, (x, _) = lower(case.placed.canonical, plan, target), storages(case)
    extents = case.placed.canonical.extents
    assert str(nest).count("from lines") == (2 if plan.tile[0] < extents[0] else 0)
    got = interpret(case, nest, case.placed, x, x, start=start)
    assert reference.same(got, expected(case, x, x), case.b, case.plain), str(nest)
    if backend.runs_here(target):
        machine.check(case, machine.Run(plan, target, 2, shift=start))


@pytest.mark.parametrize("residue", [0, 4, 60])
def test_objects_have_tiles_that_begin_on_lines(residue: int) -> None:
    problem, target = Problem((1, 0), (80, 80), inplace=True), replace(backend.host_target(), l2=1)
    plan = CpuPlan((16, 16), (4, 4), (1, 0), (1, 0), 2)
    loaded = compiled(problem, target, plan)
    for parts in (0, 3):
        entry_calls.check(loaded.address, problem, entry_calls.Call(parts=parts, residue=residue))


def wanted(x: Any, axes: tuple[int, ...], alpha: float, beta: float, conjugate: bool) -> Any:
    """What becomes of x."""
    moved = x.transpose(axes)
    moved = np.conj(moved) if conjugate else moved
    return moved if (alpha, beta) == (1, 0) else alpha * moved + beta * x


def between_guards(shape: tuple[int, ...], dtype: str, seed: int) -> tuple[Any, Guarded]:
    """A random array that ends where its memory ends."""
    rng = np.random.default_rng(seed)
    values = rng.integers(-50, 50, (2, *shape))
    made = values[0] + (1j * values[1] if np.dtype(dtype).kind == "c" else 0)
    memory = Guarded(made.size * np.dtype(dtype).itemsize)
    x = memory.elements(dtype).reshape(shape)
    x[...] = made
    return x, memory


@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16"])
@pytest.mark.parametrize("shape", SHAPES)
def test_arrays_are_permuted_in_place(shape: tuple[int, ...], dtype: str) -> None:
    """By kernels of any size, and by the layouts' own."""
    known_layouts.forget(PAYBACK_BYTES if dtype in ("f8", "c8") else 0)
    for number, (alpha, beta, conjugate) in enumerate(SCALARS):
        x, memory = between_guards(shape, dtype, number)
        before, axes = x.copy(), SHAPES[shape]
        out = ttc_llvm.transpose(
            x, axes, out=x, alpha=alpha, beta=beta, conjugate=conjugate, threads=1 + number % 2
        )
        assert out is x
        np.testing.assert_array_equal(x, wanted(before, axes, alpha, beta, conjugate))
        assert memory.intact()


def test_kernels_of_any_size_serve_first_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_kernels, "planned", None)
    with known_layouts.forgotten():
        for shape, axes in SHAPES.items():
            for alpha, beta in ((1, 0), (0.5, 0.5)):
                x, memory = between_guards(shape, "f4", 8)
                before = x.copy()
                for _ in range(2):
                    ttc_llvm.transpose(x, axes, out=x, alpha=alpha, beta=beta)
                    before = wanted(before, axes, alpha, beta, False)
                np.testing.assert_allclose(x, before)
                assert memory.intact()
        assert {served for served, _, _ in known_layouts.everything()} == {"family"}


def test_tasks_of_kernels_of_any_size() -> None:
    """The outermost loops are those of axes that one tile spans."""
    shape, strides, axes = (4, 3, 3, 3, 3, 3, 4), (8, 1460, 4380, 486, 2, 162, 40), (0, 4, 3, 5, 2, 1, 6)
    memory = np.random.default_rng(4).integers(0, 99, 13200).astype("u1").view("u2")
    x, last = as_strided(memory, shape, strides), sum((n - 1) * s for n, s in zip(shape, strides, strict=True))
    assert last < memory.nbytes
    before = x.copy()
    with known_layouts.forgotten():
        ttc_llvm.transpose(x, axes, out=x)
    np.testing.assert_array_equal(x, before.transpose(axes))


def test_layouts_get_kernels_of_their_own_once_these_pay() -> None:
    x = np.random.default_rng(9).random((70, 70))
    before = x.copy()
    with known_layouts.forgotten(payback=4 * 2 * x.nbytes):
        ways = []
        for number in range(1, 7):
            ttc_llvm.transpose(x, out=x)
            np.testing.assert_array_equal(x, before.T if number % 2 else before)
            ways += [served for served, _, _ in known_layouts.everything()]
    assert ways == ["family"] * 4 + ["own"] * 2


@pytest.mark.parametrize("item", ["u1", "i2", "S3", "S5", "S16", "S24", "M8[s]"])
def test_items_of_any_size_move_in_place(item: str) -> None:
    rng = np.random.default_rng(1)
    for shape, axes in SHAPES.items():
        x = rng.integers(1, 255, (*shape, np.dtype(item).itemsize), dtype="u1").view(item)[..., 0]
        x = np.ascontiguousarray(x)
        before = x.copy()
        ttc_llvm.transpose(x, axes, out=x)
        assert (x == before.transpose(axes)).all()


def test_python_objects_change_places() -> None:
    x = np.array([[i, str(i), None] for i in range(3)], object)
    before = x.copy()
    ttc_llvm.transpose(x, out=x)
    assert (x == before.T).all()


@pytest.mark.parametrize("dtype", ["f4", "c16"])
def test_scaled_elements_that_lie_askew(dtype: str) -> None:
    """Off the boundary of their type, and at strides that are no multiples of their size."""
    record = np.zeros((9, 9), [("before", "u1"), ("x", dtype), ("behind", "u2")])
    x = record["x"]
    x[...] = np.arange(81).reshape(9, 9)
    before = x.copy()
    for _ in range(2):
        ttc_llvm.transpose(x, out=x, alpha=2, beta=-1)
        np.testing.assert_array_equal(x, before := 2 * before.T - before)
    assert not record["before"].any() and not record["behind"].any()


def test_the_table_tells_places_apart() -> None:
    """Arrays of one layout, into themselves and into others, by turns: native code serves both from the second on."""
    x = np.random.default_rng(6).random((24, 24))
    y, z, before = x.copy(), np.zeros_like(x), x.copy()
    for number in range(6):
        ttc_llvm.transpose(x, out=x)
        ttc_llvm.transpose(y, out=z)
        np.testing.assert_array_equal(x, before.T if number % 2 == 0 else before)
        np.testing.assert_array_equal(z, before.T)
        np.testing.assert_array_equal(y, before)


def test_tensors_with_gaps_and_odd_addresses_keep_what_lies_between() -> None:
    memory = np.random.default_rng(2).integers(0, 99, 90 * 100 * 8 + 1).astype("u1")
    x = memory[1:].view("f8").reshape(90, 100)[5:75, 20:90]
    before, all_before = x.copy(), memory.copy()
    ttc_llvm.transpose(x, out=x)
    np.testing.assert_array_equal(
        np.ascontiguousarray(x).view("u8"), np.ascontiguousarray(before.T).view("u8")
    )
    x[...] = before
    np.testing.assert_array_equal(memory, all_before)


@pytest.mark.parametrize("threads", [1, 2, 3, 7])
def test_threads_share_orbits(threads: int) -> None:
    for n in (100, 257, 700):
        x = np.random.default_rng(n).random((n, n))
        before = x.copy()
        ttc_llvm.transpose(x, out=x, threads=threads)
        np.testing.assert_array_equal(x, before.T)


def test_parts_of_a_triangle_are_even() -> None:
    form = in_place([Axis(6400, 1, 6400), Axis(6400, 6400, 1)], dtypes.dtype("d"), Kinds.of(1, 0)).canonical
    target = lookup.find("skylake-avx512")
    nest = lower(form, next(ranked(form, target, 2)), target)
    loop, count = nest.grid[0], trips(nest.grid[0])
    rows = [t * loop.stride % count for t in range(count)]
    assert sorted(rows) == [*range(count)]
    half = sum(row + 1 for row in rows[: count // 2]) / sum(row + 1 for row in rows)
    assert 0.45 < half < 0.55


def into_itself(x: Any) -> Any:
    return ttc_llvm.transpose(x, out=x)


def solved(x: Any) -> Any:
    return ttc_llvm.compile(Problem((1, 0), (8, 8), "d", inplace=True), 1)(x)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda x: ttc_llvm.transpose(x[:6, :6], out=x[1:7, 1:7]),
            "out shares memory with the array: in place",
        ),
        (lambda x: ttc_llvm.transpose(x[:, :5], out=x[:5]), "out shares memory with the array: in place"),
        (
            lambda x: ttc_llvm.transpose(x[::-1, ::-1], out=x[::-1, ::-1]),
            "in place, strides must be positive",
        ),
        (lambda x: ttc_llvm.transpose(x[:4, :4], out=x[::2, ::2]), "out shares memory with the array: in place"),
        (lambda x: ttc_llvm.transpose(x.astype("O"), out=x), "holds Python objects|no array of dtype"),
        (lambda x: into_itself(as_strided(x, (5, 5), (0, 8))), "elements of out share memory"),
        (lambda x: ttc_llvm.transpose(x, out=x.view("f4")[:, ::2]), "out shares memory with the array: in place"),
        (lambda x: solved(x.T[::-1]), "in place, strides must be positive"),
        (lambda x: solved(np.broadcast_to(x, x.shape)), "read-only"),
        (lambda x: ttc_llvm.transpose(x[:, :5], out=x[:, :5]), r"out has shape \(8, 5\)"),
        (lambda x: ttc_llvm.transpose(x, out=np.broadcast_to(x, x.shape)), "read-only"),
    ],
)
def test_what_is_refused(call: Callable[[Any], Any], message: str) -> None:
    x = np.zeros((8, 8))
    with pytest.raises(ArrayError, match=message):
        call(x)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"size": (3, 4)}, "size 3,4 and permuted size 4,3 must be equal"),
        ({"size": (3, 3), "lda": (5, 3), "ldb": (4, 3)}, "lda 5,3 and ldb 4,3 must be equal"),
        ({"size": (3, 3), "dtype": "sd"}, "one data type, not sd"),
        ({"size": (3, 3), "inplace": 2}, "inplace"),
    ],
)
def test_problems_that_cannot_be_in_place(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ProblemError, match=message):
        Problem((1, 0), **{"inplace": True, **given})


def test_long_cycles_are_refused() -> None:
    perm = (1, 2, 3, 4, 5, 6, 0, 8, 9, 10, 11, 7)
    with pytest.raises(ProblemError, match="35 permutations"):
        Problem(perm, (2,) * 12, inplace=True)


@pytest.mark.parametrize(("perm", "size", "dtype"), [((1, 0), (90, 90), "s"), ((1, 2, 0), (30,) * 3, "z")])
def test_solutions_in_place(perm: tuple[int, ...], size: tuple[int, ...], dtype: str) -> None:
    problem = Problem(perm, size, dtype, alpha=2, beta=0.5, inplace=True)
    solution = ttc_llvm.compile(problem, 3, threads=2, time_limit=5, progress=False)
    for alpha, beta in ((None, None), (1, 0), (0, 2), (3, 0)):
        x = np.asfortranarray(
            np.random.default_rng(3).integers(-9, 9, size).astype(dtypes.to_numpy(problem.a))
        )
        before = x.copy()
        assert solution(x, alpha=alpha, beta=beta) is x
        scales = 2 if alpha is None else alpha, 0.5 if beta is None else beta
        np.testing.assert_array_equal(x, wanted(before, perm, *scales, False))
        with pytest.raises(ArrayError, match="two tensors"):
            solution(x, x.copy(order="F"))
    assert "orbit" in str(solution.explain(1)) + str(solution.nest)
    assert canonical_text.parse(str(solution.nest.canonical)) == solution.nest.canonical


@pytest.mark.parametrize(("perm", "size"), [((2, 0, 1), (8, 8, 8)), ((1, 3, 4, 2, 0), (5,) * 5)])
def test_cycles_of_odd_items_are_not_merged(perm: tuple[int, ...], size: tuple[int, ...]) -> None:
    """An item's bytes are an axis of their own, behind which two others would follow each other, and take no place."""
    x = np.asfortranarray(np.random.default_rng(7).integers(1, 255, (*size, 3), "u1").view("S3")[..., 0])
    before = x.copy()
    ttc_llvm.compile(Problem(perm, size, "v3", inplace=True), 1)(x)
    assert (x == before.transpose(perm)).all()


def test_libraries_hold_problems_in_place_beside_others(tmp_path: Path) -> None:
    """Plans of other shapes take types of both, and run entries that have two tensors."""
    problems = [Problem((1, 0), (9, 9), "d", inplace=kept) for kept in (True, False)]
    made = ttc_llvm.Library("mine", [ttc_llvm.compile(problem, 1) for problem in problems])
    made.write(tmp_path, ("static", "plan", "fortran"))
    header = (tmp_path / "include" / "mine.h").read_text()
    assert "dTranspose10_9x9_inplace(double *A, double alpha, const int *lda);" in header
    assert "dTranspose10_9x9(const double *TTC_RESTRICT A, double *TTC_RESTRICT B," in header


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("--streamingStores", "streaming stores cannot be had in place"),
        ("--blockings=32x64", "blockings of 32x64 cannot be had in place"),
    ],
)
def test_decisions_that_cannot_be_had(
    option: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["--perm=1,0", "--size=90,90", "--inplace", "--effort=2", f"--output-dir={tmp_path}", option]
    assert cli.main(command) == 2
    assert message in capsys.readouterr().err


def test_decisions_hold() -> None:
    form = in_place([Axis(640, 1, 640), Axis(640, 640, 1)], dtypes.dtype("d"), Kinds.of(1, 0)).canonical
    target = lookup.find("avx512")
    forced = ttc_llvm.Forced(blockings=[(32, 32)], orders=[(0, 1)], prefetch=[4])
    found = [*ranked(form, target, 1, forced)]
    assert {(plan.tile, plan.order, plan.prefetch) for plan in found} == {((32, 32), (0, 1), 4)}
    paper = [*paper_space(form, target, ttc_llvm.Forced())]
    orders, edges = ((0, 1), (1, 0)), (8, 16, 24, 32)
    assert {(plan.tile, plan.order) for plan in paper} == {((n, n), order) for n in edges for order in orders}
    assert all(check(plan, form) is plan for plan in paper)


@pytest.mark.parametrize("option", ["--compiler=g++", "--against=mine.cpp"])
def test_references_are_out_of_place(option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["--perm=1,0", "--size=9,9", "--inplace", "--maxImplementations=2", f"--output-dir={tmp_path}", option]
    assert cli.main(command) == (2 if "against" in option else 0)
    assert "references are loops out of place" in capsys.readouterr().err


def test_other_solutions_say_that_they_are_out_of_place() -> None:
    x = np.zeros((20, 20), "f4", order="F")
    with pytest.raises(ArrayError, match="out of place, unless its problem has inplace=True"):
        ttc_llvm.compile(Problem((1, 0), (20, 20)), 1)(x, x)


def test_from_arrays_with_the_array_itself_is_in_place() -> None:
    x = np.random.default_rng(4).random((2, 40, 40))
    before = x.copy()
    ttc_llvm.compile(Problem.from_arrays(x, (0, 2, 1), x), 1)(x)
    np.testing.assert_array_equal(x, before.transpose(0, 2, 1))


@pytest.mark.parametrize(
    "changes",
    [{"tile": (8, 16)}, {"store": Store.ALIGNED}, {"panel": (32, 32)}, {"tile": (256, 256)}],
)
def test_plans_that_do_not_fit(changes: dict[str, Any]) -> None:
    form = in_place([Axis(640, 1, 640), Axis(640, 640, 1)], dtypes.dtype("d"), Kinds.of(1, 0)).canonical
    plan = CpuPlan((16, 16), (8, 8), (1, 0), (1, 0))
    text = " ".join(str(plan).split())
    assert check(plan, form) is plan
    with pytest.raises(TtcError):
        check(ttc_llvm.lowering.plan.parse(_changed(text, changes)), form)


def _changed(text: str, changes: dict[str, Any]) -> str:
    words = dict(word.split("=") for word in text.split()[1:])
    for name, value in changes.items():
        words[name] = getattr(
            value, "value", ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
        )
    return " ".join([text.split()[0], *(f"{name}={value}" for name, value in words.items())])


def test_numpy_permutes_in_place_where_there_are_no_kernels() -> None:
    x = np.random.default_rng(5).random((9, 9))
    before = x.copy()
    without_kernels.assign(x.T, x, PLAIN, 1, 1)
    np.testing.assert_array_equal(x, before.T)
    without_kernels.assign(x.T, x, scaling(x.dtype, x.dtype, 2, 1, False), 1, 1)
    np.testing.assert_array_equal(x, 2 * before + before.T)
