"""Sums of permutations: nests, arrays, and what is refused."""

from __future__ import annotations

import ctypes
import itertools
import pickle
from collections.abc import Callable, Sequence
from typing import Any

import machine
import numpy as np
import pytest
import reference
from case import Case, expected, storages
from guards import Guarded
from hypothesis import given
from hypothesis import strategies as st
from interpreter import interpret
from test_entries import compiled
from tiers import examples

import ttc_llvm
from ttc_llvm import ArrayError, CpuPlan, ProblemError, TtcError
from ttc_llvm.arrays import assignment
from ttc_llvm.lowering import items
from ttc_llvm.lowering.lower import lower
from ttc_llvm.lowering.nodes import Tour, every
from ttc_llvm.lowering.plan import Fetch, Store
from ttc_llvm.lowering.plan_checks import check
from ttc_llvm.lowering.writing import resolve
from ttc_llvm.machine import lookup
from ttc_llvm.problem import canonical_text, dtypes, sums
from ttc_llvm.problem import names as problem_names
from ttc_llvm.problem.canonical import Axis, Canonical, Placed, canonicalise
from ttc_llvm.problem.kinds import Alpha, Kinds
from ttc_llvm.problem.layouts import column_major
from ttc_llvm.tuning.cost.model import ranked

P3 = list(itertools.permutations(range(3)))
SHAPES: dict[tuple[int, ...], list[tuple[int, ...]]] = {  # axes of the terms by shape
    (67, 67): [(0, 1), (1, 0)],
    (7, 50, 50): [(0, 1, 2), (0, 2, 1)],
    (50, 3, 50): [(2, 1, 0), (0, 1, 2)],
    (37, 37, 5): [(1, 0, 2), (0, 1, 2)],
    (19, 19, 19): P3,
    (16, 16, 16): [P3[3], P3[0], P3[4]],
    (6, 7, 6, 7): [(0, 1, 2, 3), (2, 3, 0, 1), (2, 1, 0, 3), (0, 3, 2, 1)],
    (5, 5, 3, 3, 3): [(0, 1, 2, 3, 4), (1, 0, 3, 4, 2)],
    (1, 8, 1, 8): [(2, 3, 0, 1), (0, 1, 2, 3)],
    (300, 300): [(0, 1), (1, 0)],
}
ALPHAS = (2, -1, 1, 3, -2, 4)


@st.composite
def moves(draw: st.DrawFn) -> tuple[Case, Placed, CpuPlan, tuple[tuple[int, ...], ...]]:
    """A small tensor, two to four of its permutations that give one shape, scalars, and a plan."""
    rank = draw(st.integers(2, 4))
    sizes = [draw(st.integers(1, 7 if rank > 2 else 23)) for _ in range(2)]
    extents = tuple(sizes[draw(st.integers(0, 1))] for _ in range(rank))
    perms = [
        p
        for p in itertools.permutations(range(rank))
        if all(extents[k] == n for k, n in zip(p, extents, strict=True))
    ]
    chosen = draw(st.lists(st.sampled_from(perms), min_size=2, max_size=4))
    steps_a, steps_b = (column_major(tuple(n + draw(st.integers(0, 1)) for n in extents)) for _ in range(2))
    signs = [draw(st.sampled_from([1, 1, -1])) for _ in extents]
    walks = [
        sums.Walks(n, s * steps_b[k], tuple(steps_a[p[k]] for p in chosen))
        for k, (n, s) in enumerate(zip(extents, signs, strict=True))
    ]
    t = dtypes.dtype(draw(st.sampled_from(["s", "d", "c", "z"])))
    beta = draw(st.sampled_from([0, 0, 1, 0.5]))
    axes = tuple(Axis(x.extent, x.strides_a[0], x.stride_b) for x in walks)
    case = Case(axes, t, t, 2, beta, t.name in "cz" and draw(st.booleans()), draw(st.integers(0, 99)))
    kinds = Kinds(Alpha.ANY, Kinds.of(2, beta).beta)
    placed = sums.from_walks(walks, t, t, kinds, case.conjugate)
    return case, placed, draw(plans(placed.canonical)), tuple(x.strides_a for x in walks)


@st.composite
def plans(draw: st.DrawFn, form: Canonical) -> CpuPlan:
    """Any plan of a sum."""
    rank = len(form.axes)
    block = [draw(st.sampled_from([1, 2, 4])) for _ in range(rank)]
    tile = [4 * draw(st.integers(1, 3))] * rank
    tile[0] = 4 * draw(st.integers(1, 3))
    order, inner = (tuple(draw(st.permutations(range(rank)))) for _ in range(2))
    store = draw(st.sampled_from([Store.CACHED, Store.PEELED, Store.COMBINED]))
    return check(
        CpuPlan(tuple(tile), tuple(block), order, inner, draw(st.integers(0, rank)), store=store), form
    )


def total(case: Case, strides: Sequence[tuple[int, ...]], a: Any, b: Any) -> Any:
    """B's storage after the sum, one term after the other."""
    found, beta = b, case.beta
    for n, alpha in zip(range(len(strides[0])), ALPHAS, strict=False):
        axes = tuple(Axis(x.extent, s[n], x.stride_b) for x, s in zip(case.axes, strides, strict=True))
        found = expected(Case(axes, case.a, case.b, alpha, beta, case.conjugate), a, found)
        beta = 1
    return found


@examples(150)
@given(moves(), st.sampled_from(machine.ROWS))
def test_a_nest_adds_permutations(
    move: tuple[Case, Placed, CpuPlan, tuple[tuple[int, ...], ...]], row: str
) -> None:
    case, placed, plan, strides = move
    nest = lower(placed.canonical, plan, lookup.find(row))
    rng = np.random.default_rng(case.seed)
    a, b = (rng.integers(-9, 9, x.shape).astype(x.dtype) for x in storages(case))
    got = interpret(case, nest, placed, a, b, start=case.seed % 16, alphas=ALPHAS[1:])
    assert reference.same(got, total(case, strides, a, b), case.b, False), str(nest)
    assert canonical_text.parse(str(placed.canonical)) == placed.canonical


@pytest.mark.parametrize(
    ("row", "block"), [("skylake-avx512", (8, 8)), ("skylake-avx512", (16, 8)), ("haswell", (8, 4))]
)
def test_tiles_begin_with_lines_of_b_wherever_it_begins(row: str, block: tuple[int, ...]) -> None:
    walks = [sums.Walks(128, 1, (1, 128)), sums.Walks(128, 128, (128, 1))]
    d, target = dtypes.dtype("d"), lookup.find(row)
    placed = sums.from_walks(walks, d, d, Kinds.of(2, 0))
    plan = CpuPlan((32, 32), block, (1, 0), (1, 0), 2, store=Store.PEELED)
    assert resolve(placed.canonical, plan, target).store is Store.PEELED
    nest = lower(placed.canonical, plan, target)
    case = Case(tuple(Axis(x.extent, x.strides_a[0], x.stride_b) for x in walks), d, d, 2, 0, False, 1)
    a, b = (np.random.default_rng(1).integers(-9, 9, x.shape).astype(x.dtype) for x in storages(case))
    result = total(case, [x.strides_a for x in walks], a, b)
    for start in (0, 1, 6, 13):
        got = interpret(case, nest, placed, a, b, start=start, alphas=ALPHAS[1:])
        assert reference.same(got, result, d, False), start


def test_micro_tiles_without_runs_of_every_term_begin_with_tiles() -> None:
    """No masks would keep what lies before B's first line from being read."""
    walks = [sums.Walks(128, 1, (1, 128)), sums.Walks(128, 128, (128, 1))]
    form = sums.from_walks(walks, dtypes.dtype("d"), dtypes.dtype("d"), Kinds.of(2, 0)).canonical
    plan = CpuPlan((32, 32), (8, 1), (1, 0), (1, 0), 2, store=Store.PEELED)
    assert resolve(form, plan, lookup.find("skylake-avx512")).store is Store.CACHED


def wanted(x: Any, terms: Sequence[tuple[complex, Any]], out: Any, beta: complex) -> Any:
    """The sum in NumPy's arithmetic, which is exact for small integers."""
    found = sum(alpha * np.transpose(x, axes) for alpha, axes in terms)
    return found + beta * out if beta else found


def between_guards(shape: tuple[int, ...], dtype: str, seed: int) -> tuple[Any, Guarded]:
    """A random array that ends where its memory ends."""
    rng = np.random.default_rng(seed)
    values = rng.integers(-50, 50, (2, *shape))
    memory = Guarded(values[0].size * np.dtype(dtype).itemsize)
    x = memory.elements(dtype).reshape(shape)
    x[...] = values[0] + (1j * values[1] if np.dtype(dtype).kind == "c" else 0)
    return x, memory


@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16"])
@pytest.mark.parametrize("shape", SHAPES)
def test_permutations_of_arrays_are_added(shape: tuple[int, ...], dtype: str) -> None:
    terms = list(zip(ALPHAS, SHAPES[shape], strict=False))
    for number, beta in enumerate((0, 0.5)):
        (x, memory_x), (out, memory) = between_guards(shape, dtype, 1), between_guards(shape, dtype, 2)
        result = wanted(x, terms, out, beta)
        if not beta:
            out[...] = np.nan
        assert ttc_llvm.permute_sum(x, terms, out=out, beta=beta, threads=1 + number) is out
        np.testing.assert_array_equal(out, result)
        assert memory.intact() and memory_x.intact()


def test_terms_that_turn_registers_along_many_axes_share_a_micro_tile() -> None:
    x = np.random.default_rng(0).integers(0, 99, (4,) * 8).astype("f4")
    perms = ((7, 2, 4, 6, 1, 0, 5, 3), (3, 2, 5, 1, 7, 0, 4, 6), (2, 7, 5, 0, 6, 3, 1, 4), (3, 7, 5, 4, 1, 6, 0, 2))
    result = sum(alpha * x.transpose(axes) for alpha, axes in enumerate(perms, 1))
    np.testing.assert_array_equal(ttc_llvm.permute_sum(x, list(enumerate(perms, 1))), result)


@pytest.mark.parametrize("dtype", ["f4", "f8", "c16"])
def test_results_in_memory_begin_anywhere(dtype: str) -> None:
    n = 640
    x = np.random.default_rng(8).integers(-9, 9, (n, n)).astype(dtype)
    for ahead in (0, 16, 48):
        memory = np.full(n * n * x.itemsize + 128, 7, "u1")
        start = -memory.ctypes.data % 64 + ahead
        out = memory[start : start + x.nbytes].view(dtype).reshape(n, n)
        ttc_llvm.permute_sum(x, [(2, (0, 1)), (-1, (1, 0))], out=out, threads=2)
        np.testing.assert_array_equal(out, 2 * x - x.T)
        assert (memory[:start] == 7).all() and (memory[start + x.nbytes :] == 7).all()


def test_conjugates_gaps_and_backward_walks() -> None:
    rng = np.random.default_rng(3)
    x = (rng.integers(-9, 9, (40, 50)) + 1j * rng.integers(-9, 9, (40, 50)))[::-1, 5:45]
    out = np.zeros((60, 80), complex)
    before = out.copy()
    part = out[10:50, 70:30:-1]
    ttc_llvm.permute_sum(x, [(2, (0, 1)), (1j, (1, 0))], out=part, conjugate=True)
    np.testing.assert_array_equal(part, 2 * x.conj() + 1j * x.conj().T)
    part[...] = 0
    np.testing.assert_array_equal(out, before)


def test_terms_of_equal_axes_add_up_and_those_of_0_read_nothing() -> None:
    x = np.random.default_rng(4).random((30, 30))
    twice = ttc_llvm.permute_sum(x, [(1, (0, 1)), (1, (1, 0)), (2, (-2, -1))])
    np.testing.assert_allclose(twice, 3 * x + x.T)
    nothing = np.full((30, 30), np.nan)
    assert (ttc_llvm.permute_sum(nothing, [(0, (0, 1)), (2, (1, 0)), (-2, None)]) == 0).all()
    out = x.copy()
    ttc_llvm.permute_sum(nothing, [(0, (0, 1)), (0, (1, 0))], out=out, beta=2)
    np.testing.assert_array_equal(out, 2 * x)
    single = ttc_llvm.permute_sum(x.astype("i4"), [(1, (1, 0))])  # what transpose does
    np.testing.assert_array_equal(single, x.astype("i4").T)


def test_nothing_that_is_not_a_number_spreads() -> None:
    x = np.ones((20, 20))
    x[3, 5] = np.inf
    found = ttc_llvm.permute_sum(x, [(1, (0, 1)), (-1, (1, 0))], out=np.full((20, 20), np.nan))
    assert found[3, 5] == np.inf and found[5, 3] == -np.inf and np.isfinite(found).sum() == 398


@pytest.mark.parametrize("pair", [("f4", "f8"), ("f8", "f4"), ("c16", "c8")])
def test_sums_round_once_into_other_types(pair: tuple[str, str]) -> None:
    x = np.random.default_rng(5).random((65, 65)).astype(pair[0])
    out = ttc_llvm.permute_sum(x, [(2, (0, 1)), (0.25, (1, 0))], out=np.empty((65, 65), pair[1]))
    wide = x.astype("c16" if pair[0][0] == "c" else "f8")
    np.testing.assert_array_equal(out, (2 * wide + 0.25 * wide.T).astype(pair[1]))


def test_elements_that_lie_askew_and_other_orders() -> None:
    order: Any
    memory = np.zeros(30 * 30 * 8 + 4, "u1")
    x = memory[4:].view("f8").reshape(30, 30)
    x[...] = np.random.default_rng(6).integers(0, 9, (30, 30))
    terms = [(2, (0, 1)), (-1, (1, 0))]
    for order in ("C", "F"):
        found = ttc_llvm.permute_sum(x, terms, order=order)
        np.testing.assert_array_equal(found, 2 * x - x.T)
        assert found.flags.c_contiguous is (order == "C")
    assert ttc_llvm.permute_sum(np.zeros((0, 0)), terms).shape == (0, 0)


def test_numpy_adds_where_there_are_no_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.random.default_rng(7).integers(-9, 9, (9, 9)).astype("c8")
    monkeypatch.setattr(assignment, "has_kernels", lambda: False)
    found = ttc_llvm.permute_sum(x, [(2, (0, 1)), (1j, (1, 0))], out=x.copy(), beta=3)
    np.testing.assert_array_equal(found, 2 * x + 1j * x.T + 3 * x)


def test_tiles_that_read_the_same_tiles_are_visited_together() -> None:
    n = 64
    steps = (1, n, n * n)
    walks = [sums.Walks(n, steps[k], tuple(steps[p[k]] for p in P3)) for k in range(3)]
    d = dtypes.dtype("d")
    form = sums.from_walks(walks, d, d, Kinds.of(2, 0)).canonical
    assert sorted(sums.group(form)) == P3
    target = lookup.find("skylake-avx512")
    tours = [
        node
        for node in every(lower(form, next(ranked(form, target, 1)), target).body)
        if isinstance(node, Tour)
    ]
    assert [len(tour.images) for tour in tours] == [6]


@pytest.mark.parametrize("steps", [(1, 1202), (2, 2404), (3, 5)])
def test_plans_of_odd_rows_fit(steps: tuple[int, int]) -> None:
    walks = [sums.Walks(1201, 1, steps), sums.Walks(1201, 1201, steps[::-1])]
    d, target = dtypes.dtype("d"), lookup.find("skylake-avx512")
    form = sums.from_walks(walks, d, d, Kinds.of(2, 0)).canonical
    offered = [check(plan, form) for plan in ranked(form, target, 2)]
    joined = [plan for plan in offered if resolve(form, plan, target).store is Store.JOINED]
    assert offered and bool(joined) is (abs(steps[0]) == 1)
    for plan in joined[:2]:
        assert sum(isinstance(node, Tour) for node in every(lower(form, plan, target).body)) == 1


@pytest.mark.parametrize(("panel", "store"), [(8, Store.BUFFERED), (16, Store.JOINED)])
def test_panels_that_are_visited_in_turns_end_runs(panel: int, store: Store) -> None:
    """A panel of one tile, too: the tile after it in a run of B is not the next one that is written."""
    form = canonicalise(ttc_llvm.Problem(size=(156, 156), dtype="c", terms=[(2, (0, 1)), (1, (1, 0))])).canonical
    plan = CpuPlan((8, 8), (8, 8), (1, 0), (0, 1), store=Store.COMBINED, panel=(panel, panel))
    assert resolve(form, plan, lookup.find("skylake-avx512")).store is store


@pytest.mark.parametrize(
    ("n", "distance", "fetch"), [(1201, 10, Fetch.BLOCKS), (1535, 6, Fetch.BLOCKS), (1537, 1, Fetch.ROWS)]
)
def test_rows_that_share_sets_of_l1_are_prefetched_otherwise(n: int, distance: int, fetch: Fetch) -> None:
    form = canonicalise(ttc_llvm.Problem(size=(n, n), dtype="d", terms=[(2, (0, 1)), (-1, (1, 0))])).canonical
    plan = next(ranked(form, lookup.find("skylake-avx512"), 1))
    assert (plan.prefetch, plan.fetch) == (distance, fetch)


def stated(dtype: str, **more: Any) -> ttc_llvm.Problem:
    """A sum of three terms, of tensors in F order."""
    return ttc_llvm.Problem(
        size=(24, 24, 24), dtype=dtype, terms=[(2, (0, 1, 2)), (-1, (1, 0, 2)), (3, (2, 0, 1))], **more
    )


@pytest.mark.filterwarnings("ignore::ttc_llvm.OrderWarning")
@pytest.mark.parametrize("dtype", ["f4", "c16"])
def test_problems_of_terms_are_solved(dtype: str, tmp_path: Any) -> None:
    solution = ttc_llvm.compile(stated(dtype, beta=1), 4, database=tmp_path / "solutions.sqlite", threads=2)
    assert solution.measurement is not None and solution.measurement.timings
    again = ttc_llvm.compile(stated(dtype, beta=1), 4, database=tmp_path / "solutions.sqlite", threads=2)
    assert again.plan == solution.plan and again.measurement is not None
    rng = np.random.default_rng(9)
    x = rng.integers(-9, 9, (24, 24, 24)).astype(dtype)
    for order, solved in (("F", solution), ("C", pickle.loads(pickle.dumps(solution)))):
        a, b = np.array(x, order=order), np.ones(x.shape, dtype, order="F")  # type: ignore[call-overload]
        result = 2 * x - x.transpose(1, 0, 2) + 3 * x.transpose(2, 0, 1)
        for alpha, beta in ((1, 1), (2, 0), (0, 0), (-1, 0.5)):
            before = b.copy()
            assert solved(a, b, alpha=alpha, beta=beta) is b
            np.testing.assert_array_equal(b, alpha * result + (beta * before if beta else 0))
    with pytest.raises(ArrayError, match="overlap"):
        solution(b, b)
    text = str(solution.explain())
    assert "in term 1  in term 2" in text and "alpha1 * A[" in text
    with pytest.raises(ProblemError, match="not served on GPUs"):
        ttc_llvm.compile(stated(dtype), 1, target="sm_90")


@pytest.mark.parametrize("dtype", ["f8", "c8"])
@pytest.mark.parametrize("target", ["host", "sse2"])
def test_entries_add_permutations(dtype: str, target: str) -> None:
    problem, machine_of = stated(dtype), machine.found(target)
    plan = next(ranked(items.placed(problem, machine_of).canonical, machine_of, 1))
    loaded = compiled(problem, machine_of, plan)
    x = np.asfortranarray(np.random.default_rng(10).integers(-9, 9, (24, 24, 24)).astype(dtype))
    out = np.full(x.shape, np.nan, dtype, order="F")
    result = 2 * x - x.transpose(1, 0, 2) + 3 * x.transpose(2, 0, 1)
    name = problem_names.stem(problem)
    assert name == f"{problem.dtype}Sum2_012_m1_102_3_201_24x24x24"
    alpha, beta = np.array([2], dtype), np.array([-1], dtype)

    def call(ends: str, scalars: Sequence[Any], *numbers: int) -> None:
        kind: Any = ctypes.c_void_p if problem.dtype == "c" else ctypes.c_double
        given = [value.ctypes.data if problem.dtype == "c" else value[0] for value in scalars]
        types = [*[ctypes.c_void_p] * 2, *[kind] * len(given), *[ctypes.c_int] * len(numbers)]
        function = ctypes.CFUNCTYPE(None, *types)(loaded.address(name + ends))
        function(x.ctypes.data, out.ctypes.data, *given, *numbers)

    call("", [alpha])
    np.testing.assert_array_equal(out, 2 * result)
    call("_beta", [alpha, beta])
    np.testing.assert_array_equal(out, 0 * result)
    for part in range(3):
        call("_beta_part", [alpha, alpha], part, 3)
    np.testing.assert_array_equal(out, 2 * result)
    x[...] = np.nan
    call("", [alpha * 0])
    assert (out == 0).all()


def _add(x: Any, terms: Any) -> Any:
    return ttc_llvm.permute_sum(x, terms)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: ttc_llvm.permute_sum(x, []), "terms is empty"),
        (lambda x: ttc_llvm.permute_sum(x, [(1, (0, 1)), (1, (1, 0))]), r"the shapes \(8, 5\) and \(5, 8\)"),
        (lambda x: ttc_llvm.permute_sum(x, [(1, (0, 0))]), "do not permute the 2 axes"),
        (lambda x: _add(x, [(1, (0, 1), 3)]), "3 values where a pair"),
        (lambda x: _add(x, [1]), "terms"),
        (
            lambda x: ttc_llvm.permute_sum(x[:5], [(1, (0, 1)), (1, (1, 0))], out=x[:5]),
            "shares memory with x",
        ),
        (lambda x: ttc_llvm.permute_sum(x[:5], [(1, (0, 1)), (1, (1, 0))], out=x), r"out has shape \(8, 5\)"),
        (lambda x: ttc_llvm.permute_sum(x[:5], [(1, (0, 1)), (1, (1, 0))], beta=1), "without out"),
        (lambda x: ttc_llvm.permute_sum(x[:5], [(1, (0, 1)), (1j, (1, 0))]), "is complex"),
        (
            lambda x: ttc_llvm.permute_sum(x[:5].astype("i4"), [(1, (0, 1)), (1, (1, 0))]),
            "dtype int32: sums are of",
        ),
    ],
)
def test_what_is_refused(call: Callable[[Any], Any], message: str) -> None:
    with pytest.raises((ArrayError, ProblemError), match=message):
        call(np.zeros((8, 5)))


def test_plans_that_do_not_fit() -> None:
    walks = [sums.Walks(64, 1, (1, 64)), sums.Walks(64, 64, (64, 1))]
    form = sums.from_walks(walks, dtypes.dtype("d"), dtypes.dtype("d"), Kinds.of(2, 0)).canonical
    plan = CpuPlan((16, 16), (8, 8), (1, 0), (1, 0))
    assert check(plan, form) is plan
    with pytest.raises(TtcError, match="plans of sums"):
        check(plan.changed(store=Store.ALIGNED), form)
