"""Rows that stay rows and are as long as an item of the machine are moved as items."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest
import reference
from case import Case, expected, storages
from hypothesis import given
from hypothesis import strategies as st
from machine import Run, runnable
from machine import check as check_run
from tiers import examples

import ttc_llvm
from ttc_llvm import Problem
from ttc_llvm.bench.cases import Case as Benched
from ttc_llvm.bench.workspace import Memory, Workspace
from ttc_llvm.cli.decisions import to_axes
from ttc_llvm.compiling.solution import Solution
from ttc_llvm.lowering import items
from ttc_llvm.lowering.bodies import choose, default_plan
from ttc_llvm.lowering.lower import lower
from ttc_llvm.lowering.plan import CpuPlan, Store
from ttc_llvm.lowering.plan_checks import check
from ttc_llvm.machine import lookup
from ttc_llvm.problem.canonical import Axis, Placed, canonicalise, from_axes
from ttc_llvm.problem.dtypes import dtype
from ttc_llvm.problem.kinds import COPY
from ttc_llvm.runtime import backend
from ttc_llvm.tuning.cost.model import model_plan

AVX512, RISCV, SCALAR = lookup.find("avx512"), lookup.find("rvv"), lookup.scalar(lookup.find("avx512"))
PIXELS = Problem((0, 2, 1), (4, 30, 50))
ITEMS = (("s", 2), ("s", 4), ("i8", 2), ("i8", 4), ("i8", 8), ("i8", 16), ("f16", 2), ("f16", 4), ("d", 2), ("c", 2))


# --- which rows are items ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("problem", "form"),
    [
        (PIXELS, "v16>v16 one-zero 50:30:1 30:1:50"),
        (Problem((0, 2, 1), (2, 30, 50), "f16"), "i32>i32 one-zero 50:30:1 30:1:50"),
        (Problem((0, 1, 3, 2), (2, 4, 30, 50), "i8"), "i64>i64 one-zero 50:30:1 30:1:50"),  # two indices, one row
        (Problem((0, 2, 1), (4, 30, 50), lda=(8, 30, 50)), "v16>v16 one-zero 50:60:1 30:2:50"),
        (Problem((0, 2, 1), (4, 30, 50), ldb=(12, 50, 30)), "v16>v16 one-zero 50:30:3 30:1:150"),
        (Problem((0,), (4,)), "v16>v16 one-zero 1:1:1"),
    ],
)
def test_a_row_as_long_as_an_item_is_one(problem: Problem, form: str) -> None:
    assert str(items.placed(problem, AVX512).canonical) == form


@pytest.mark.parametrize(
    "problem",
    [
        Problem((0, 2, 1), (3, 30, 50)),  # no item has 12 bytes
        Problem((0, 2, 1), (8, 30, 50)),  # nor 32
        Problem((0, 2, 1), (4, 30, 50), lda=(5, 30, 50)),  # rows begin anywhere
        Problem((0, 2, 1), (4, 30, 50), ldb=(6, 50, 30)),
        Problem((0, 2, 1), (4, 30, 50), alpha=2.0),  # arithmetic needs the elements
        Problem((0, 2, 1), (4, 30, 50), beta=1.0),
        Problem((0, 2, 1), (4, 30, 50), alpha=0.0),
        Problem((0, 2, 1), (2, 30, 50), "c", conjugate=True),
        Problem((0, 2, 1), (2, 30, 50), "sd"),
        Problem((1, 0, 2), (4, 30, 50)),  # no row stays
        Problem((0, 2, 1), (4, 30, 0)),
        Problem((), ()),
    ],
)
def test_other_rows_are_not(problem: Problem) -> None:
    assert items.placed(problem, AVX512) == canonicalise(problem)


def test_items_are_no_longer_than_registers_and_need_no_alignment_of_their_own() -> None:
    assert items.placed(PIXELS, SCALAR) == canonicalise(PIXELS)
    assert items.placed(Problem((0, 2, 1), (2, 30, 50)), SCALAR).canonical.a == dtype("i64")
    assert RISCV.natural and items.placed(PIXELS, RISCV) == canonicalise(PIXELS)


def test_offsets_of_flipped_axes_count_items() -> None:
    s = dtype("s")
    flipped = from_axes([Axis(4, 1, 1), Axis(30, -4, 200), Axis(50, 120, -4)], s, s, COPY)
    found = items.as_items(flipped, AVX512)
    assert found.canonical.axes == (Axis(50, -30, 1), Axis(30, -1, 50))
    assert (found.offset_a * 4, found.offset_b * 4) == (flipped.offset_a, flipped.offset_b)
    assert items.as_items(from_axes([Axis(4, -1, 1), Axis(30, 4, 8)], s, s, COPY), AVX512).canonical.a == dtype("i32")


# --- plans ------------------------------------------------------------------------------------------------


def test_a_plan_for_items_is_one_for_rows() -> None:
    wide = CpuPlan((8, 64), (4, 8), (0, 1), (1, 0), 1, 2, Store.ALIGNED, panel=(48, 64))
    rows = items.as_rows(wide, 4)
    assert check(rows, canonicalise(PIXELS).canonical) == rows
    assert (rows.tile, rows.block, rows.panel) == ((4, 8, 64), (4, 4, 8), (4, 48, 64))
    assert (rows.order, rows.inner, rows.parallel, rows.prefetch) == ((1, 2, 0), (2, 1, 0), 1, 2)
    assert items.as_rows(wide, 1) is wide and items.as_rows(replace(wide, panel=()), 4).panel == ()


def test_objects_have_bodies_of_items_for_copies_and_of_elements_for_the_rest() -> None:
    plan = default_plan(items.placed(PIXELS, AVX512).canonical, AVX512)
    bodies = choose(PIXELS, AVX512, plan)
    assert [str(body.nest.canonical.a) for body in bodies.specialised] == ["v16", "s", "s"]
    assert [str(body.nest.canonical.a) for body in bodies.any_size] == ["i32", "s", "s", "s", "s"]
    assert "micro 4x" in str(bodies.any_size[0].nest)  # as the plan for items has it: a whole row at a time


def test_emitted_objects_have_the_models_plans_for_what_needs_elements() -> None:
    solution = ttc_llvm.compile(PIXELS, max_implementations=1, target="avx512", database=None)
    spec = solution.spec_for(solution.targets)
    bodies = choose(spec.problem, spec.target, spec.plan, spec.plan_for)
    own = [canonicalise(PIXELS, body.kinds).canonical for body in bodies.specialised[1:]]
    assert [str(body.nest) for body in bodies.specialised[1:]] == [
        str(lower(form, model_plan(form, AVX512, solution.threads).ordinary, AVX512)) for form in own
    ]


def test_a_pickled_solution_whose_plan_was_for_other_axes_is_planned_anew() -> None:
    narrow = default_plan(canonicalise(PIXELS).canonical, AVX512)
    form = items.placed(PIXELS, AVX512).canonical
    own = model_plan(form, AVX512, 1)
    pickled = pickle.dumps(Solution(PIXELS, AVX512, own, 1), protocol=0).decode()
    stale = pickle.loads(pickled.replace(str(own), str(narrow)).encode())
    assert stale.plan == model_plan(form, AVX512, 1) and "v16" in str(stale.nest.canonical)


def test_a_loop_order_has_no_loop_for_what_is_inside_an_item() -> None:
    problem = Problem((0, 1, 3, 2, 4), (2, 2, 30, 50, 7))
    form = items.placed(problem, AVX512).canonical
    assert str(form) == "v16>v16 one-zero 50:30:1 30:1:50 7:1500:1500"
    assert to_axes((4, 0, 2, 1, 3), problem, form) == (2, 1, 0)
    single = Problem((0, 1), (2, 2))
    assert to_axes((0, 1), single, items.placed(single, AVX512).canonical) == (0,)


def test_tensors_that_begin_inside_an_item_are_measured_by_elements() -> None:
    machine = backend.host_target()
    for offset, wanted in ((0, "v16"), (4, "v16"), (2, "i32")):
        case = Benched("x", "y", PIXELS, offset=offset)
        workspace = Workspace.of(case, machine, 1, Memory())
        assert str(workspace.canonical.a) == wanted
        assert workspace.a.address == workspace.base("a") and workspace.b.address == workspace.base("b")


def test_explanations_say_so() -> None:
    solution = Solution(PIXELS, AVX512, default_plan(items.placed(PIXELS, AVX512).canonical, AVX512), 1)
    stage = solution.explain(0).stage("merged")
    assert "3 indices -> 2 axes" in stage and "rows of 4 elements are moved as items of 16 bytes" in stage
    scaled = replace(PIXELS, alpha=2.0)
    other = Solution(scaled, AVX512, default_plan(items.placed(scaled, AVX512).canonical, AVX512), 1)
    assert "items" not in other.explain(0).stage("merged")


# --- the result -------------------------------------------------------------------------------------------


def test_rows_that_run_backwards_on_both_sides_end_where_the_arrays_begin() -> None:
    s = dtype("s")
    form = from_axes([Axis(4, -1, -1), Axis(30, 4, 200), Axis(50, 120, 4)], s, s, COPY)
    assert (form.offset_a, form.offset_b) == (-3, -3) and items.as_items(form, AVX512) is form
    x = np.arange(12, dtype=np.int8).reshape(2, 3, 2)
    room = np.full(64, 99, np.int8)
    out = room[16:28].reshape(3, 2, 2)
    ttc_llvm.transpose(x[..., ::-1], (1, 0, 2), out=out[..., ::-1])
    assert np.array_equal(out, x.transpose(1, 0, 2)) and (room[:16] == 99).all() and (room[28:] == 99).all()


@st.composite
def moves(draw: st.DrawFn) -> Case:
    """Moves of such rows: any order of the other axes, gaps of whole rows, axes that run backwards."""
    name, count = draw(st.sampled_from(ITEMS))
    extents = draw(st.lists(st.integers(1, 23), min_size=1, max_size=3))
    steps: list[list[int]] = []
    for _ in "ab":
        step, found = count * draw(st.integers(1, 3)), [0] * len(extents)
        for k in draw(st.permutations(range(len(extents)))):
            found[k] = step * draw(st.sampled_from((1, 1, -1)))
            step *= extents[k] + draw(st.integers(0, 1))
        steps.append(found)
    others = [Axis(extent, a, b) for extent, a, b in zip(extents, *steps, strict=True)]
    row = draw(st.sampled_from((1, 1, -1)))
    return Case((Axis(count, row, row), *others), dtype(name), dtype(name), seed=draw(st.integers(0, 99)))


class Wide(Case):
    """A case whose kernel sees items."""

    __slots__ = ()

    @property
    def placed(self) -> Placed:
        return items.as_items(from_axes(self.axes, self.a, self.b, self.kinds), AVX512)


@examples(80)
@given(moves(), st.data())
def test_kernels_of_items_move_every_element(case: Case, data: st.DataObject) -> None:
    wide = Wide(case.axes, case.a, case.b, seed=case.seed)
    machine = data.draw(st.sampled_from(runnable()))
    plan = default_plan(wide.placed.canonical, machine)
    shift = data.draw(st.integers(0, 3))  # elements: B begins inside an item
    check_run(wide, Run(plan, machine, data.draw(st.integers(1, 3)), shift=shift))


@pytest.mark.parametrize(("name", "count"), ITEMS)
@pytest.mark.parametrize("offset", [0, 1, 3])
def test_solutions_serve_all_scalars_and_addresses(name: str, count: int, offset: int) -> None:
    problem = Problem((0, 2, 1), (count, 67, 131), name, ldb=(2 * count, 131, 67))
    solution = ttc_llvm.compile(problem, max_implementations=1, database=None)
    scalars = [(1.0, 0.0)] if name in ("i8", "f16") else [(1.0, 0.0), (2.0, 0.0), (2.0, -1.5), (0.0, 0.0)]
    for alpha, beta in scalars:
        case = Case.of(Problem(problem.perm, problem.size, name, ldb=problem.ldb, alpha=alpha, beta=beta), seed=7)
        a, b = storages(case)
        wanted = expected(case, a, b)
        room_a, room_b = np.zeros(len(a) + offset, a.dtype), np.zeros(len(b) + offset, b.dtype)
        room_a[offset:], room_b[offset:] = a, b
        solution(room_a[offset:], room_b[offset:], alpha=alpha, beta=beta)
        assert reference.same(room_b[offset:], wanted, case.b, case.plain)


@pytest.mark.parametrize("effort", [1, 2])
@pytest.mark.parametrize("shape", [(40, 50, 4), (3, 7, 2), (300, 500, 4)])
def test_arrays_of_pixels(shape: tuple[int, ...], effort: int) -> None:
    rng = np.random.default_rng(3)
    for kind in (np.float32, np.uint8, np.int16):
        x = rng.integers(0, 200, shape).astype(kind)
        turned = x.transpose(1, 0, 2)
        assert np.array_equal(ttc_llvm.transpose(x, (1, 0, 2), effort=effort), turned)
        out = np.zeros((*turned.shape[:2], shape[2] + 1), kind)[..., 1:]  # rows that begin anywhere
        assert ttc_llvm.transpose(x, (1, 0, 2), out=out, effort=effort) is out and np.array_equal(out, turned)
        backwards = x[::-1, :, :]
        assert np.array_equal(ttc_llvm.transpose(backwards, (1, 0, 2), effort=effort), backwards.transpose(1, 0, 2))
