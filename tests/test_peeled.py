"""Micro-tiles that begin where B's lines do, wherever B begins."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import reference
from case import Case, expected, storages
from hypothesis import given
from hypothesis import strategies as st
from interpreter import interpret
from machine import Run, check, runnable
from tiers import examples

import ttc_llvm
from ttc_llvm import Problem
from ttc_llvm.lowering.fallback import for_misaligned_b
from ttc_llvm.lowering.lower import lower
from ttc_llvm.lowering.peeling import following
from ttc_llvm.lowering.plan import CpuPlan, Fetch, Store, parse
from ttc_llvm.lowering.writing import resolve
from ttc_llvm.machine import lookup
from ttc_llvm.machine.target import Target
from ttc_llvm.problem.canonical import Axis, Canonical, canonicalise
from ttc_llvm.problem.canonical_text import parse as parse_form
from ttc_llvm.problem.dtypes import Kind, parse_pair
from ttc_llvm.runtime import backend

AVX512 = lookup.find("avx512")
TYPES = ("s", "s", "s", "d", "c", "z", "f16", "i8", "i16", "sd", "ds", "zc")
OFFSETS = st.sets(st.integers(0, 128), min_size=3, max_size=3)  # bytes
MACHINES = (AVX512, lookup.find("avx2"))
RNG = np.random.default_rng(5)


def plan_of(c: Canonical, block: tuple[int, ...], tile: tuple[int, ...], **change: Any) -> CpuPlan:
    """Loops in B's order, micro-tiles along A's."""
    plan = CpuPlan(tile, block, c.along("b"), c.along("a"), 1, 1, Store.PEELED)
    return replace(plan, **change)


def peels(c: Canonical, plan: CpuPlan, machine: Target) -> bool:
    """Whether the plan's micro-tiles begin where B's lines do."""
    return resolve(c, plan, machine).store is Store.PEELED


# --- which plans ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("problem", "block", "wanted", "on"),
    [
        (Problem((2, 1, 0), (40, 5, 64)), (16, 1, 16), True, (1, 2)),
        (Problem((2, 1, 0), (40, 5, 64)), (32, 1, 8), True, (1, 2)),
        (Problem((2, 1, 0), (40, 5, 64), ldb=(64, 6, 40)), (16, 1, 16), True, (1,)),
        (Problem((2, 1, 0), (40, 5, 64), ldb=(80, 5, 40)), (16, 1, 16), True, ()),
        (Problem((2, 0, 1), (40, 5, 64)), (16, 16, 1), True, (1,)),
        (Problem((2, 1, 0), (40, 5, 48)), (32, 1, 16), False, None),  # rows are no whole number of micro-tiles,
        (Problem((2, 1, 0), (40, 5, 40), ldb=(48, 5, 40)), (16, 1, 16), True, ()),  # but none follows
        (Problem((2, 1, 0), (40, 5, 64)), (8, 1, 16), False, None),  # half a vector
        (Problem((2, 1, 0), (40, 5, 65)), (16, 1, 16), False, None),  # each row begins elsewhere
        (Problem((2, 1, 0), (40, 5, 64), beta=1), (16, 1, 16), False, None),
        (Problem((2, 1, 0), (40, 5, 64), alpha=0), (16, 1, 1), False, None),
        (Problem((0, 2, 1), (64, 5, 9)), (16, 1, 1), False, None),  # rows of A are rows of B
    ],
)
def test_which_plans_can_be_shifted(problem: Problem, block: tuple[int, ...], wanted: bool, on: Any) -> None:
    c = canonicalise(problem).canonical
    plan = plan_of(c, block[: len(c.axes)], block[: len(c.axes)])
    assert peels(c, plan, AVX512) is wanted
    nest = lower(c, plan, AVX512)
    assert ("peeled" in str(nest)) is wanted
    assert not wanted or (following(c, plan) == on and nest.alignment == c.b.itemsize and nest.scratch == 0)
    assert not peels(c, plan.ordinary, AVX512)
    assert not peels(c, replace(plan, store=Store.ALIGNED), AVX512)


def test_a_shift_that_cannot_be_is_none() -> None:
    c = canonicalise(Problem((1, 0), (50, 96), beta=1)).canonical
    plan = plan_of(c, (16, 16), (32, 16))
    assert lower(c, plan, AVX512) == lower(c, replace(plan, store=Store.ALIGNED), AVX512)
    c = canonicalise(Problem((1, 0), (50, 97))).canonical
    assert lower(c, plan, AVX512) == lower(c, replace(plan, store=Store.ALIGNED), AVX512)


@pytest.mark.parametrize(("name", "wanted"), [("x86-64", False), ("haswell", True), ("rvv", False)])
def test_machines_that_shift(name: str, wanted: bool) -> None:
    """Those with masks, unless they transpose while they store."""
    c = canonicalise(Problem((1, 0), (48, 96))).canonical
    assert peels(c, plan_of(c, (16, 16), (32, 16)), lookup.find(name)) is wanted


def test_rows_of_a_that_go_on_along_rows_of_b_are_not_shifted() -> None:
    """Not even at an edge, whose micro-tiles are narrower; but where micro-tiles have them whole."""
    plan = CpuPlan((16, 16), (16, 16), (1, 0), (1, 0), 0, 0, Store.PEELED)
    assert not peels(parse_form("i32>i32 one-zero 64:7:1 7:1:64"), plan, AVX512)
    assert not peels(parse_form("i32>i32 one-zero 64:4:1 20:1:64"), plan, AVX512)
    assert peels(parse_form("i32>i32 one-zero 64:7:1 7:1:64"), replace(plan, tile=(16, 7), block=(16, 7)), AVX512)
    assert peels(parse_form("i32>i32 one-zero 64:8:1 7:1:64"), plan, AVX512)


def test_no_alignment_is_promised_that_no_kernel_keeps() -> None:
    c = canonicalise(Problem((0,), (1024,), alpha=0)).canonical
    plan = CpuPlan((1024,), (64,), (0,), (0,), 0, 0, Store.PEELED)
    assert resolve(c, plan, AVX512).alignment == lower(c, plan, AVX512).alignment == 64


def test_a_plan_of_shifted_micro_tiles_is_read_as_it_is_written() -> None:
    c = canonicalise(Problem((1, 0), (48, 96))).canonical
    plan = plan_of(c, (16, 16), (32, 16))
    assert parse(str(plan)) == plan
    assert "store=peeled" in str(plan)


@pytest.mark.parametrize(
    ("problem", "block", "store"),
    [
        (Problem((2, 1, 0), (40, 5, 64)), (16, 1, 16), Store.PEELED),
        (Problem((2, 1, 0), (40, 5, 48)), (32, 1, 16), Store.PEELED),  # with micro-tiles of a line
        (Problem((1, 0), (48, 512), ldb=(528, 48)), (16, 16), Store.PEELED),  # long rows, although none follows
        (Problem((1, 0), (48, 64), ldb=(80, 48)), (16, 16), Store.CACHED),
        (Problem((0, 2, 1), (520, 20, 20)), (64, 1, 1), Store.PEELED),  # rows that find their own boundaries
        (Problem((0, 2, 1), (64, 200, 20)), (64, 1, 1), Store.COMBINED),  # shorter ones go on from tile to tile
        (Problem((0, 2, 1), (12, 200, 20)), (12, 1, 1), Store.CACHED),  # ordinary stores do as well
    ],
)
def test_what_runs_off_the_boundary(problem: Problem, block: tuple[int, ...], store: Store) -> None:
    c = canonicalise(problem).canonical
    direct = plan_of(c, block, block, store=Store.ALIGNED)
    other = for_misaligned_b(c, direct, AVX512)
    assert other.store is other.plan.store is store
    assert lower(c, other.plan, AVX512, other.loads).alignment in (1, c.b.itemsize)


# --- every element, once ----------------------------------------------------------------------------------


@st.composite
def shapes(draw: st.DrawFn, names: tuple[str, ...] = ("s",)) -> tuple[Case, CpuPlan]:
    """Cases whose rows of B all begin alike, in any order, dense or with gaps, and a plan that may be shifted."""
    rank, types = draw(st.integers(2, 4)), draw(st.sampled_from(names))
    a, b = parse_pair(types)
    lanes = 64 // b.itemsize
    extents = [lanes * draw(st.integers(1, 4)), *(draw(st.integers(1, 5)) for _ in range(rank - 1))]
    unit = draw(st.integers(1, rank - 1))  # A's own axis
    extents[unit] = draw(st.integers(2, 37))
    strides_b = _strides(draw, extents, range(rank), lanes)
    if draw(st.integers(0, 4)) == 4 and strides_b[1] > extents[0]:
        extents[0] = max(1, extents[0] - draw(st.integers(1, lanes - 1)))  # rows end anywhere, where none follows
    others = draw(st.permutations([k for k in range(rank) if k != unit]))
    strides_a = [
        stride * draw(st.sampled_from((1, 1, 1, 1, -1, 0))) if k != unit else stride
        for k, stride in enumerate(_strides(draw, extents, [unit, *others], 1))
    ]
    axes = tuple(Axis(*axis) for axis in zip(extents, strides_a, strides_b, strict=True))
    alpha = draw(st.sampled_from((1, 2))) if a.kind is not Kind.OPAQUE else 1
    conjugate = a.kind is Kind.COMPLEX and draw(st.booleans())
    case = Case(axes, a, b, alpha, 0, conjugate, draw(st.integers(0, 1 << 30)))
    return case, draw(_plans(case.placed.canonical, lanes))


def _strides(draw: st.DrawFn, extents: list[int], order: Any, unit: int) -> tuple[int, ...]:
    strides, step = [0] * len(extents), 1
    for k in order:
        strides[k] = step
        step = (step * extents[k] + unit - 1) // unit * unit + draw(st.sampled_from((0, 0, 0, unit)))
    return tuple(strides)


@st.composite
def _plans(draw: st.DrawFn, c: Canonical, lanes: int) -> CpuPlan:
    block: list[int] = []
    tile: list[int] = []
    for axis in c.axes:
        choices = [lanes, lanes, 2 * lanes] if axis.stride_b == 1 else [1, 1, 1, 2]
        if axis.stride_a == 1 and axis.stride_b != 1:
            choices = [4, 8, 16]
        block.append(draw(st.sampled_from(choices)))
        tile.append(block[-1] * draw(st.sampled_from((1, 1, 2, 40))))
    order, inner = (tuple(draw(st.permutations(range(len(c.axes))))) for _ in range(2))
    parallel, distance = draw(st.integers(0, len(c.axes))), draw(st.sampled_from((0, 1, 3)))
    fetch, panel = draw(st.sampled_from(Fetch)), draw(st.sampled_from(((), tuple(2 * size for size in tile))))
    return CpuPlan(tuple(tile), tuple(block), order, inner, parallel, distance, Store.PEELED, fetch, panel)


@examples(150)
@given(shapes(), st.integers(0, 15))
def test_every_element_is_written_once(drawn: tuple[Case, CpuPlan], start: int) -> None:
    case, plan = drawn
    placed = case.placed
    nest = lower(placed.canonical, plan, AVX512)
    if nest.alignment > placed.canonical.b.itemsize:
        return
    a, b = storages(case)
    got = interpret(case, nest, placed, a, b, start=start)
    assert reference.same(got, expected(case, a, b), case.b, case.plain), str(nest)


@st.composite
def pixels(draw: st.DrawFn) -> tuple[Case, CpuPlan]:
    """Rows of pixels, mirrored or with their channels in reverse, or out of planes, whose rows of B all begin alike."""
    t = parse_pair(draw(st.sampled_from(("s", "f16", "i8", "d"))))[0]
    channels, lanes = draw(st.sampled_from((2, 3, 5, 6))), 64 // t.itemsize
    unit = lanes // (channels & -channels)  # pixels of whole lines, at least
    width, height = draw(st.integers(unit, 4 * unit)), draw(st.integers(1, 5))
    row = -(-width * channels // lanes) * lanes + draw(st.sampled_from((0, lanes)))
    back = draw(st.sampled_from((1, -1)))
    down = draw(st.sampled_from((1, -1))) * (width * channels + draw(st.integers(0, 7)))
    planes = abs(down) * height + draw(st.integers(0, 7)), back, down
    steps = draw(st.sampled_from(((-back, back * channels, down), planes)))
    axes = tuple(map(Axis, (channels, width, height), steps, (1, channels, row)))
    case = Case(axes, t, t, seed=draw(st.integers(0, 1 << 30)))
    extents = case.placed.canonical.extents
    block = (channels, unit * draw(st.integers(1, min(2, width // unit))), 1)[: len(extents)]
    tile = tuple(size * draw(st.integers(1, 3)) for size in block)
    tile = (channels, *tile[1:])
    order, inner = (tuple(draw(st.permutations(range(len(extents))))) for _ in range(2))
    distance, fetch = draw(st.sampled_from((0, 1, 3))), draw(st.sampled_from(Fetch))
    return case, CpuPlan(tile, block, order, inner, draw(st.integers(0, 2)), distance, Store.PEELED, fetch)


@st.composite
def planes(draw: st.DrawFn) -> tuple[Case, CpuPlan]:
    """Planes out of pixels, whose rows of B all begin alike and whose micro-tiles have whole pixels."""
    t = parse_pair(draw(st.sampled_from(("s", "f16", "i8", "d"))))[0]
    channels, lanes = draw(st.sampled_from((2, 3, 4, 5))), 64 // t.itemsize
    width, height = draw(st.integers(lanes, 4 * lanes)), draw(st.integers(1, 4))
    row = -(-width // lanes) * lanes + draw(st.sampled_from((0, lanes)))
    down = draw(st.sampled_from((1, -1))) * (width * channels + draw(st.integers(0, 7)))
    axes = tuple(map(Axis, (width, height, channels), (channels, down, 1), (1, row, row * height)))
    case = Case(axes, t, t, seed=draw(st.integers(0, 1 << 30)))
    c = case.placed.canonical
    block = tuple(channels if axis.stride_a == 1 else 1 for axis in c.axes[1:])
    block = lanes * draw(st.integers(1, 2)), *block
    tile = tuple(size * draw(st.integers(1, 3)) if k == 0 else size for k, size in enumerate(block))
    order, inner = (tuple(draw(st.permutations(range(len(block))))) for _ in range(2))
    distance, fetch = draw(st.sampled_from((0, 1, 3))), draw(st.sampled_from(Fetch))
    return case, CpuPlan(tile, block, order, inner, draw(st.integers(0, 2)), distance, Store.PEELED, fetch)


@examples(150)
@given(st.one_of(pixels(), planes()), st.integers(0, 63))
def test_pixels_are_written_once(drawn: tuple[Case, CpuPlan], start: int) -> None:
    case, plan = drawn
    placed = case.placed
    if not peels(placed.canonical, plan, AVX512):
        return
    nest = lower(placed.canonical, plan, AVX512)
    a, b = storages(case)
    start -= start % max(1, nest.alignment // placed.canonical.b.itemsize)
    got = interpret(case, nest, placed, a, b, start=start)
    assert reference.same(got, expected(case, a, b), case.b, case.plain), str(nest)


@examples(80)
@given(st.one_of(pixels(), planes()), st.sampled_from(("start", "end")), OFFSETS)
def test_kernels_write_pixels_wherever_b_begins(
    drawn: tuple[Case, CpuPlan], side: str, offsets: set[int]
) -> None:
    case, plan = drawn
    size = resolve(case.placed.canonical, plan, AVX512).alignment if peels(case.placed.canonical, plan, AVX512) else 64
    for offset in sorted(offsets):
        check(case, Run(plan, AVX512, 2, side, side, shift=offset // size * size // case.b.itemsize))


def test_mirrored_rows_off_the_boundary_are_peeled() -> None:
    """Where a boundary of B is one of pixels; tiles with rows of several pixels beside each other are not."""
    c = parse_form("i8>i8 one-zero 3:1:1 640:-3:3 480:1920:1920")
    plan = CpuPlan((3, 640, 4), (3, 64, 1), (2, 1, 0), (0, 2, 1), store=Store.ALIGNED)
    other = for_misaligned_b(c, plan, AVX512)
    assert other.store is Store.PEELED and "peeled to 64 of i1" in str(lower(c, other.plan, AVX512))
    assert not peels(c, replace(plan, block=(3, 64, 2), store=Store.PEELED), AVX512)
    assert not peels(c, replace(plan, block=(3, 32, 1), store=Store.PEELED), AVX512)
    assert resolve(parse_form("i16>i16 one-zero 6:-1:1 640:6:6"), plan_of(
        parse_form("i16>i16 one-zero 6:-1:1 640:6:6"), (6, 16), (6, 64)), AVX512).alignment == 4


def test_planes_become_pixels_off_the_boundary() -> None:
    """Micro-tiles of whole pixels are peeled, of parts of them or of several rows are not."""
    c = parse_form("i16>i16 one-zero 3:8000:1 640:1:3")
    plan = CpuPlan((3, 640), (3, 64), (1, 0), (0, 1), store=Store.ALIGNED)
    other = for_misaligned_b(c, plan, AVX512)
    assert other.store is Store.PEELED and "peeled to 32 of i1" in str(lower(c, other.plan, AVX512))
    assert resolve(c, other.plan, AVX512).alignment == 2
    for block in ((2, 64), (3, 16)):
        assert not peels(c, replace(plan, block=block, store=Store.PEELED), AVX512)
    rows = parse_form("s>s one-zero 4:8000:1 40:1:4 5:50:160")
    assert peels(rows, CpuPlan((4, 32, 1), (4, 16, 1), (2, 1, 0), (0, 1, 2), store=Store.PEELED), AVX512)
    assert not peels(rows, CpuPlan((4, 32, 2), (4, 16, 2), (2, 1, 0), (0, 1, 2), store=Store.PEELED), AVX512)


def test_a_peeled_plan_has_another_fallback() -> None:
    """Where B may begin within a step that leads to a boundary."""
    for text in ("v16>v16 one-zero 2:1:1 33:-2:2", "v16>v16 one-zero 2:33:1 33:1:2"):
        c = parse_form(text)
        plan = plan_of(c, (2, 8), (2, 33))
        assert resolve(c, plan, AVX512).alignment == 32
        assert resolve(c, for_misaligned_b(c, plan, AVX512).plan, AVX512).alignment <= 16


# --- machine code -----------------------------------------------------------------------------------------


@examples(30)
@given(shapes(TYPES), st.sampled_from(MACHINES), st.sampled_from(("start", "end")), OFFSETS)
def test_kernels_write_every_element_wherever_b_begins(
    drawn: tuple[Case, CpuPlan], machine: Target, flush: str, offsets: set[int]
) -> None:
    """A begins or ends at a page that must not be touched."""
    case, plan = drawn
    if not backend.runs_here(machine) or not peels(case.placed.canonical, plan, machine):
        return
    for off in {0, *(offset // case.b.itemsize for offset in offsets)}:
        check(case, Run(plan, machine, 2, flush, "start", False, off))


@pytest.mark.skipif(AVX512 not in runnable(), reason="this machine has no AVX-512")
@pytest.mark.parametrize("strides", [(0, 4, 1), (-4, 128, 1), (40, 1, 0)])
def test_broadcast_and_mirrored_rows(strides: tuple[int, ...]) -> None:
    """Along B's own axis all elements of a row may be one of A."""
    axes = tuple(Axis(*axis) for axis in zip((32, 4, 16), strides, (1, 32, 128), strict=True))
    case = Case(axes, *parse_pair("s"))
    c = case.placed.canonical
    block = tuple(16 if 1 in (axis.stride_a, axis.stride_b) else 1 for axis in c.axes)
    for off in range(16):
        check(case, Run(plan_of(c, block, (16,) * len(block)), AVX512, 1, "end", "start", False, off))


@pytest.mark.skipif(AVX512 not in runnable(), reason="this machine has no AVX-512")
@pytest.mark.parametrize("row", [32, 48])
@pytest.mark.parametrize("gap", [2, 3, -2])
def test_elements_with_gaps(gap: int, row: int) -> None:
    """Where rows of B follow each other, no register holds the end of one and the start of the next."""
    case = Case((Axis(32, gap, 1), Axis(5, 101, row)), *parse_pair("s"))
    c = case.placed.canonical
    plan = plan_of(c, (16, 1), (32, 2))
    assert peels(c, plan, AVX512) is (row == 48)
    served = plan if row == 48 else for_misaligned_b(c, plan, AVX512).plan
    for off in range(16):
        check(case, Run(served, AVX512, 1, "end", "start", False, off))


def test_windows_that_numpy_broadcasts() -> None:
    column = RNG.random((64, 512)).astype("f4").T
    x = np.broadcast_to(column[:, :, None], (512, 64, 256))
    raw = np.empty(x.size + 32, "f4")
    for off in (0, 4, 8):
        out = raw[-raw.ctypes.data % 64 // 4 + off :][: x.size].reshape(x.shape)
        ttc_llvm.transpose(x, (0, 1, 2), out=out)
        assert (out == x).all()


SHAPES = [
    (Problem((2, 1, 0), (40, 5, 64)), (16, 1, 16), (16, 1, 32)),
    (Problem((2, 1, 0), (33, 7, 32), ldb=(32, 9, 33)), (16, 1, 16), (32, 4, 33)),
    (Problem((2, 1, 0), (33, 7, 32), ldb=(48, 7, 33)), (16, 1, 16), (32, 4, 33)),
    (Problem((2, 1, 0), (33, 7, 40), ldb=(48, 7, 33)), (16, 1, 16), (32, 4, 33)),
    (Problem((2, 1, 0), (33, 7, 32), lda=(35, 8, 32)), (32, 1, 16), (32, 1, 33)),
    (Problem((1, 0), (50, 96)), (16, 16), (32, 16)),
    (Problem((1, 0), (5, 32), lda=(6, 32)), (32, 5), (32, 5)),
    (Problem((3, 0, 2, 1), (20, 3, 2, 64)), (16, 16, 1, 1), (16, 20, 1, 1)),
    (Problem((3, 2, 1, 0), (20, 3, 2, 64)), (16, 1, 1, 4), (32, 1, 2, 20)),
]


@pytest.mark.parametrize("off", range(16))
@pytest.mark.parametrize(("problem", "block", "tile"), SHAPES, ids=lambda value: str(value)[:40])
def test_every_place_in_a_line(problem: Problem, block: tuple[int, ...], tile: tuple[int, ...], off: int) -> None:
    case = Case.of(problem, 7)
    nest = lower(case.placed.canonical, plan_of(case.placed.canonical, block, tile), AVX512)
    assert "peeled to 16 of i0" in str(nest)
    a, b = storages(case)
    assert reference.same(interpret(case, nest, case.placed, a, b, start=off), expected(case, a, b), case.b, True)
