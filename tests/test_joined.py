"""Runs of B that go on without scratch: which plans join lines in registers, and kernels against NumPy."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
import reference
from case import Case, expected, storages
from emissions import module_text
from interpreter import interpret
from machine import Run, check, runnable

import ttc_llvm
from ttc_llvm.ir_builders import module
from ttc_llvm.lowering.fallback import for_misaligned_b
from ttc_llvm.lowering.lower import lower
from ttc_llvm.lowering.plan import CpuPlan, Fetch, Store
from ttc_llvm.lowering.writing import resolve
from ttc_llvm.machine import lookup
from ttc_llvm.machine.target import Target
from ttc_llvm.native import artifact
from ttc_llvm.problem import dtypes
from ttc_llvm.problem.canonical import Axis, Canonical, canonicalise
from ttc_llvm.problem.problem import Problem
from ttc_llvm.runtime import backend
from ttc_llvm.tuning.cost.model import model_plan

AVX2, AVX512 = (lookup.find(name) for name in ("avx2", "avx512"))


def line(problem: Problem) -> int:
    """Elements of B in a line."""
    return 64 // canonicalise(problem).canonical.b.itemsize


def plan_of(c: Canonical, count: int, length: int, rows: int) -> CpuPlan:
    """Tiles of `length` along B's run and `rows` of B's rows, micro-tiles a line long."""
    rank = len(c.axes)
    unit = c.along("a")[-1]
    tile = tuple(length if k == 0 else rows if k == unit else 1 for k in range(rank))
    block = tuple(count if k == 0 else min(rows, 16) if k == unit else 1 for k in range(rank))
    order = (*(k for k in c.along("b") if k != unit), unit)
    return CpuPlan(tile, block, order, c.along("b"), 0, store=Store.COMBINED)


def joins(c: Canonical, plan: CpuPlan, wanted: Target) -> bool:
    """Whether the plan's lines are joined in registers."""
    return resolve(c, plan, wanted).store is Store.JOINED


@pytest.mark.parametrize(
    ("problem", "wanted", "change", "joined"),
    [
        (Problem((1, 0), (97, 201)), AVX512, {}, True),
        (Problem((1, 0), (97, 201), "z"), AVX512, {}, True),
        (Problem((1, 0), (97, 201), "i16"), AVX512, {}, True),
        (Problem((1, 0), (97, 201), "i8"), AVX512, {}, False),
        (Problem((1, 0), (97, 201), "sd"), AVX512, {}, False),
        (Problem((1, 0), (97, 201), "sr,s"), AVX512, {}, True),
        (Problem((1, 0), (97, 201), "i32,s"), AVX512, {}, True),
        (Problem((1, 0), (97, 201), "i32,s", alpha=2.0), AVX512, {}, False),  # by way of double precision
        (Problem((1, 0), (97, 201), "c", conjugate=True), AVX512, {}, True),
        (Problem((1, 0), (97, 201), alpha=2.0), AVX512, {}, True),
        (Problem((1, 0), (97, 201)), AVX2, {}, False),
        (Problem((1, 0), (97, 201)), AVX512, {"block": (8, 16)}, False),
        (Problem((1, 0), (97, 201)), AVX512, {"store": Store.CACHED}, False),
        (Problem((1, 0), (97, 201)), AVX512, {"store": Store.PEELED}, False),
    ],
    ids=lambda value: str(value)[:40],
)
def test_which_plans_join(
    problem: Problem, wanted: Target, change: dict[str, object], joined: bool
) -> None:
    c = canonicalise(problem).canonical
    plan = replace(plan_of(c, 64 // c.b.itemsize, 2 * 64 // c.b.itemsize, 16), **change)  # type: ignore[arg-type]
    assert joins(c, plan, wanted) is joined
    assert ("flush slot" in str(lower(c, plan, wanted))) is joined


def test_micro_tiles_of_a_kernel_share_one_table_of_lanes() -> None:
    c = canonicalise(Problem((2, 1, 0), (101, 8, 99))).canonical
    text = str(module.build(lower(c, plan_of(c, 16, 32, 32), AVX512), AVX512))
    assert text.count("vpermi2var") > 2 and len(re.findall(r'^@"lanes', text, re.MULTILINE)) == 1


def test_a_panel_as_long_as_a_tile_ends_no_run() -> None:
    c = canonicalise(Problem((1, 0), (211, 101))).canonical
    plan = CpuPlan((16, 64), (16, 16), (0, 1), (0, 1), 0, store=Store.COMBINED, panel=(16, 128))
    assert joins(c, plan, AVX512)
    if AVX512 in runnable():
        check(Case.of(Problem((1, 0), (211, 101))), Run(plan, AVX512, 2, "start", "end", False, 3))


def test_every_panel_begins_runs_anew() -> None:
    """Panels of two tiles, each of which is a micro-tile: the second panel's first one has nothing that waits."""
    case = Case.of(Problem((1, 0), (2, 31), "c"))
    c = case.placed.canonical
    plan = CpuPlan((8, 2), (8, 2), (0, 1), (0, 1), 0, store=Store.COMBINED, panel=(16, 2))
    assert joins(c, plan, AVX512)
    a, b = storages(case)
    got = interpret(case, lower(c, plan, AVX512), case.placed, a, b)
    assert reference.same(got, expected(case, a, b), case.b, case.plain)
    for shift in range(8) if AVX512 in runnable() else ():
        check(case, Run(plan, AVX512, 1, "start", "end", False, shift))


def test_tiles_of_several_axes_of_a_run_go_through_scratch() -> None:
    c = canonicalise(Problem((2, 1, 0), (35, 7, 18))).canonical
    plan = CpuPlan((18, 2, 16), (16, 1, 16), (1, 0, 2), (0, 1, 2), 0, store=Store.COMBINED)
    assert joins(c, replace(plan, tile=(18, 1, 16)), AVX512)
    assert not joins(c, plan, AVX512)


@pytest.mark.parametrize(("extent", "joined"), [(96, True), (97, False), (111, False), (112, True)])
def test_runs_shorter_than_a_line_go_through_scratch(extent: int, joined: bool) -> None:
    """A panel is a run's end, and the last one has 0, 1, 15 or 16 elements of it."""
    c = canonicalise(Problem((1, 0), (40, extent))).canonical
    plan = CpuPlan((16, 8), (16, 8), (0, 1), (0, 1), 1, store=Store.COMBINED, panel=(32, 40))
    assert joins(c, plan, AVX512) is joined
    for shift in (0, 3) if AVX512 in runnable() else ():
        check(Case.of(Problem((1, 0), (40, extent))), Run(plan, AVX512, 2, "start", "end", False, shift))


@pytest.mark.parametrize("streaming", [True, False], ids=["the plan joins", "off the boundary it does"])
def test_objects_for_several_machines_join(streaming: bool) -> None:
    problem, least = Problem((1, 0), (1024, 248), ldb=(256, 1024)), lookup.find("x86-64")  # short rows
    c = canonicalise(problem).canonical
    direct = CpuPlan((64, 64), (16, 16), (0, 1), (1, 0), 2, 0, Store.ALIGNED)
    plan = plan_of(c, 16, 32, 32) if streaming else direct
    assert joins(c, plan if streaming else for_misaligned_b(c, direct, AVX512).plan, AVX512)
    spec = artifact.Spec(problem, AVX512, plan, others=((least, model_plan(c, least, 1)),))
    text = module_text(spec)
    assert "vpermi2var" in text
    backend.compile_object(text, spec.base)


SHAPES = [
    (Problem((1, 0), (50, 211)), (32, 16)),  # tiles along one axis, the last one short
    (Problem((1, 0), (50, 211)), (16, 50)),
    (Problem((2, 1, 0), (37, 9, 39)), (39, 37)),  # the whole of an axis, with a remainder of 7; the run goes on
    (Problem((2, 1, 0), (20, 11, 33)), (33, 20)),  # of 1
    (Problem((2, 1, 0), (16, 11, 47)), (47, 16)),  # of 15
    (Problem((2, 1, 0), (33, 5, 47)), (32, 32)),
]


@pytest.mark.parametrize(("problem", "sizes"), SHAPES, ids=lambda value: str(value)[:40])
def test_lines_are_joined_in_the_right_order(problem: Problem, sizes: tuple[int, int]) -> None:
    case = Case.of(problem)
    c = case.placed.canonical
    plan = plan_of(c, 16, *sizes)
    nest = lower(c, plan, AVX512)
    assert "flush slot" in str(nest)
    a, b = storages(case)
    assert reference.same(interpret(case, nest, case.placed, a, b), expected(case, a, b), case.b, case.plain), str(nest)


@pytest.mark.skipif(AVX512 not in runnable(), reason="this machine has no AVX-512")
@pytest.mark.parametrize(
    ("dtype", "alpha"),
    [
        *((dtype, 1.0) for dtype in ("s", "d", "c", "z", "i16", "f16", "i32", "i64")),
        ("s", 2.5),
        ("d", -1.5),
        ("c", 1 - 0.5j),
        ("z", 2j),
        ("sr,s", 1.0),
        ("sr,s", 2.5),
        ("i32,s", 1.0),
        ("f16,bf16", 1.0),
    ],
)
@pytest.mark.parametrize(("problem", "sizes"), SHAPES, ids=lambda value: str(value)[:40])
def test_kernels_join(problem: Problem, sizes: tuple[int, int], dtype: str, alpha: complex) -> None:
    problem = replace(problem, dtype=dtype, alpha=alpha, conjugate=dtype in "cz" and alpha != 1)
    count = line(problem)
    grown = replace(problem, size=tuple(extent * max(1, count // 16) for extent in problem.size))
    c = canonicalise(grown).canonical
    length, rows = (size * max(1, count // 16) for size in sizes)
    plan = plan_of(c, count, length, rows)
    assert joins(c, plan, AVX512)
    for shift, ahead in ((0, {}), (3, {"prefetch": 4}), (17, {"prefetch": 1, "fetch": Fetch.ROWS, "parallel": 1})):
        check(Case.of(grown), Run(replace(plan, **ahead), AVX512, 2, "start", "end", False, shift))


@pytest.mark.skipif(AVX512 not in runnable(), reason="this machine has no AVX-512")
@pytest.mark.parametrize(
    ("axes", "tile", "block", "order", "panel"),
    [
        (((97, 40, 1), (33, 1, 97)), (32, 16), (16, 16), (1, 0), ()),
        (((97, -40, 1), (33, 1, 97)), (32, 16), (16, 16), (0, 1), (97, 32)),
        (((97, 40, 1), (33, -1, 97), (5, 0, 3201)), (32, 16, 1), (16, 8, 1), (2, 0, 1), ()),
        (((33, 300, 1), (9, 0, 33), (20, 1, 297)), (33, 1, 10), (16, 1, 10), (2, 1, 0), ()),
        (((33, 700, 1), (9, 1, 33), (20, 10, 297)), (33, 1, 8), (16, 1, 8), (2, 1, 0), (33, 9, 16)),
        (((48, 700, 1), (9, 10, 48), (10, 1, 432)), (16, 3, 10), (16, 3, 4), (2, 1, 0), ()),
        (((50, 1100, 1), (6, 1, 50), (7, 7, 300), (17, 60, 2100)), (16, 2, 4, 3), (16, 2, 4, 3), (3, 2, 1, 0), ()),
    ],
)
def test_any_strides_panels_and_blocks(
    axes: tuple[tuple[int, int, int], ...],
    tile: tuple[int, ...],
    block: tuple[int, ...],
    order: tuple[int, ...],
    panel: tuple[int, ...],
) -> None:
    item = dtypes.dtype("s")
    case = Case(tuple(Axis(*axis) for axis in axes), item, item, 2.5, 0.0, False, 7)
    plan = CpuPlan(tile, block, order, tuple(range(len(tile))), 1, 2, Store.COMBINED, panel=panel)
    assert case.placed.canonical.axes == case.axes
    assert "flush slot" in str(lower(case.placed.canonical, plan, AVX512))
    for shift in (0, 5, 15):
        check(case, Run(plan, AVX512, 3, "start", "end", False, shift))


# Extents of A, type, micro-tile, tile: several lines of a row, and several whole rows that are no lines
LONGER = [
    ((301, 3), "d", (3, 8), (3, 32)),
    ((301, 10), "d", (10, 8), (10, 32)),
    ((299, 7), "s", (7, 16), (7, 64)),
    ((203, 20), "s", (20, 16), (20, 32)),
    ((130, 5), "z", (5, 4), (5, 16)),
    ((301, 12), "i16", (12, 32), (12, 64)),
    ((2, 301), "d", (16, 2), (32, 2)),
    ((3, 401), "s", (32, 3), (64, 3)),
]


@pytest.mark.parametrize("kind", ["copy", "scaled"])
@pytest.mark.parametrize(("size", "dtype", "block", "tile"), LONGER, ids=str)
def test_micro_tiles_of_several_lines_are_joined(
    size: tuple[int, int], dtype: str, block: tuple[int, int], tile: tuple[int, int], kind: str
) -> None:
    """A run's first register, its remainders, and its last line, wherever it begins; panels begin runs anew."""
    if kind == "scaled" and dtype == "i16":
        return
    case = Case.of(Problem((1, 0), size, dtype, alpha=2.0 if kind == "scaled" else 1.0))
    c = case.placed.canonical
    for panel in ((), tuple(e if t >= e else 2 * t for t, e in zip(tile, c.extents, strict=True))):
        plan = CpuPlan(tile, block, (0, 1), (0, 1), len(panel) // 2, 1, Store.COMBINED, Fetch.ROWS, panel)
        assert joins(c, plan, AVX512)
        a, b = storages(case)
        got = interpret(case, lower(c, plan, AVX512), case.placed, a, b)
        assert reference.same(got, expected(case, a, b), case.b, case.plain)
        for shift in (0, 1, 3) if AVX512 in runnable() else ():
            check(case, Run(plan, AVX512, 2, "start", "end", False, shift))


def test_rows_are_joined_only_where_micro_tiles_have_all_of_them_in_whole_lines() -> None:
    c = canonicalise(Problem((1, 0), (301, 10), "d")).canonical
    plan = CpuPlan((10, 32), (10, 8), (0, 1), (0, 1), 0, store=Store.COMBINED)
    assert joins(c, plan, AVX512)
    assert not joins(c, replace(plan, block=(8, 8)), AVX512)
    assert not joins(c, replace(plan, block=(10, 2)), AVX512)
    assert not joins(c, plan, AVX2)


@pytest.mark.usefixtures("own_place")
@pytest.mark.parametrize("block", [(32, 16), (32, 8)])
def test_panels_begin_runs_anew_on_this_machine(block: tuple[int, int]) -> None:
    plan = CpuPlan((32, 32), block, (0, 1), (0, 1), 1, 1, Store.COMBINED, panel=(64, 32))
    solution = ttc_llvm.compile(Problem((1, 0), (71, 93)), 1, 1, plan=plan)
    a = np.random.default_rng(2).standard_normal((93, 71)).astype("f4")
    b = np.zeros(71 * 93 + 3, "f4")[3:].reshape(71, 93)
    solution(a, b)
    assert np.array_equal(b, a.T)
