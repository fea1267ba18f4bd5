"""Micro-tiles that begin where B's lines do, wherever B begins."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import reference
from case import Case, expected, fill, windows
from hypothesis import given, settings
from hypothesis import strategies as st
from interpreter import interpret

from ttc_llvm import Problem, backend, target
from ttc_llvm.canonical import Axis, Canonical, canonicalise
from ttc_llvm.dtypes import parse_pair
from ttc_llvm.executable import Executable
from ttc_llvm.lower import lower
from ttc_llvm.plan import CpuPlan, Fetch, Staging, parse
from ttc_llvm.shift import following, shifts
from ttc_llvm.unaligned import off_boundary

AVX512, AVX2 = target.find("skylake-avx512"), target.find("haswell")
HOST = backend.host_target()
RNG = np.random.default_rng(5)


def plan_of(c: Canonical, block: tuple[int, ...], tile: tuple[int, ...], **change: Any) -> CpuPlan:
    """Loops in B's order, micro-tiles along A's."""
    plan = CpuPlan(tile, block, c.along("b"), c.along("a"), 1, 1, True, Staging.SHIFT)
    return replace(plan, **change)


# --- which plans ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("problem", "block", "wanted", "on"),
    [
        (Problem((2, 1, 0), (40, 5, 64)), (16, 1, 16), True, (1, 2)),
        (Problem((2, 1, 0), (40, 5, 64)), (32, 1, 8), True, (1, 2)),
        (Problem((2, 1, 0), (40, 5, 64), ldb=(64, 6, 40)), (16, 1, 16), True, (1,)),
        (Problem((2, 1, 0), (40, 5, 64), ldb=(80, 5, 40)), (16, 1, 16), True, ()),
        (Problem((2, 0, 1), (40, 5, 64)), (16, 16, 1), True, (1,)),
        (Problem((2, 1, 0), (40, 5, 48)), (32, 1, 16), False, None),  # rows are no whole number of micro-tiles
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
    assert shifts(c, plan, AVX512) is wanted
    nest = lower(c, plan, AVX512)
    assert ("shifted" in str(nest)) is wanted
    assert not wanted or (following(c, plan) == on and nest.alignment == c.b.itemsize and nest.scratch == 0)
    assert not shifts(c, plan.ordinary, AVX512)
    assert not shifts(c, replace(plan, staging=Staging.NONE), AVX512)


def test_a_shift_that_cannot_be_is_none() -> None:
    c = canonicalise(Problem((1, 0), (50, 96), beta=1)).canonical
    plan = plan_of(c, (16, 16), (32, 16))
    assert lower(c, plan, AVX512) == lower(c, replace(plan, staging=Staging.NONE), AVX512)
    c = canonicalise(Problem((1, 0), (50, 97))).canonical
    assert lower(c, plan, AVX512) == lower(c, replace(plan, staging=Staging.NONE), AVX512)


def test_machines_without_masks_do_not_shift() -> None:
    c = canonicalise(Problem((1, 0), (48, 96))).canonical
    assert not shifts(c, plan_of(c, (16, 16), (32, 16)), target.find("x86-64"))
    assert shifts(c, plan_of(c, (16, 16), (32, 16)), AVX2)


def test_a_plan_of_shifted_micro_tiles_is_read_as_it_is_written() -> None:
    c = canonicalise(Problem((1, 0), (48, 96))).canonical
    plan = plan_of(c, (16, 16), (32, 16))
    assert parse(str(plan)) == plan
    assert "staging=shift" in str(plan)


@pytest.mark.parametrize(
    ("problem", "block", "staging"),
    [
        (Problem((2, 1, 0), (40, 5, 64)), (16, 1, 16), Staging.SHIFT),
        (Problem((2, 1, 0), (40, 5, 48)), (32, 1, 16), Staging.SHIFT),  # with micro-tiles of a line
        (Problem((1, 0), (48, 512), ldb=(528, 48)), (16, 16), Staging.SHIFT),  # long rows, although none follows
        (Problem((1, 0), (48, 64), ldb=(80, 48)), (16, 16), Staging.NONE),
        (Problem((0, 2, 1), (512, 20, 20)), (64, 1, 1), Staging.SHIFT),  # rows that find their own boundaries
        (Problem((0, 2, 1), (64, 200, 20)), (64, 1, 1), Staging.CARRY),
    ],
)
def test_what_runs_off_the_boundary(problem: Problem, block: tuple[int, ...], staging: Staging) -> None:
    c = canonicalise(problem).canonical
    direct = plan_of(c, block, block, staging=Staging.NONE)
    other = off_boundary(c, direct, AVX512)
    assert other.staging is staging
    assert other.streaming is (staging is not Staging.NONE)
    assert lower(c, other, AVX512).alignment in (1, c.b.itemsize)


# --- every element, once ----------------------------------------------------------------------------------


@st.composite
def shapes(draw: st.DrawFn) -> tuple[Case, CpuPlan]:
    """Cases whose rows of B all begin alike, in any order, dense or with gaps, and a plan that can be shifted."""
    rank = draw(st.integers(2, 4))
    lanes = 16
    extents = [lanes * draw(st.integers(1, 4)), *(draw(st.integers(1, 5)) for _ in range(rank - 1))]
    unit = draw(st.integers(1, rank - 1))  # A's own axis
    extents[unit] = draw(st.integers(2, 37))
    strides_b = _strides(draw, extents, range(rank), lanes)
    others = draw(st.permutations([k for k in range(rank) if k != unit]))
    strides_a = _strides(draw, extents, [unit, *others], 1)
    axes = tuple(Axis(*axis) for axis in zip(extents, strides_a, strides_b, strict=True))
    case = Case(axes, *parse_pair("s"), 1, 0, False, draw(st.integers(0, 1 << 30)))
    return case, draw(_plans(case.placed.canonical))


def _strides(draw: st.DrawFn, extents: list[int], order: Any, unit: int) -> tuple[int, ...]:
    strides, step = [0] * len(extents), 1
    for k in order:
        strides[k] = step
        step = (step * extents[k] + unit - 1) // unit * unit + draw(st.sampled_from((0, 0, 0, unit)))
    return tuple(strides)


@st.composite
def _plans(draw: st.DrawFn, c: Canonical) -> CpuPlan:
    block: list[int] = []
    tile: list[int] = []
    for axis, extent in zip(c.axes, c.extents, strict=True):
        choices = [n for n in (16, 32) if extent % n == 0] if axis.stride_b == 1 else [1]
        if axis.stride_a == 1 and axis.stride_b != 1:
            choices = [4, 8, 16]
        block.append(min(draw(st.sampled_from(choices or [1])), extent))
        tile.append(block[-1] * draw(st.sampled_from((1, 1, 2, 40))))
    order, inner = (tuple(draw(st.permutations(range(len(c.axes))))) for _ in range(2))
    parallel, distance = draw(st.integers(0, len(c.axes))), draw(st.sampled_from((0, 1, 3)))
    fetch = draw(st.sampled_from(Fetch))
    return CpuPlan(tuple(tile), tuple(block), order, inner, parallel, distance, True, Staging.SHIFT, fetch)


@settings(max_examples=300)
@given(shapes())
def test_every_element_is_written_once(drawn: tuple[Case, CpuPlan]) -> None:
    case, plan = drawn
    placed = case.placed
    nest = lower(placed.canonical, plan, AVX512)
    a = np.zeros(windows(case)[0].span, reference.numpy_type(case.a))
    b = np.zeros(windows(case)[1].span, reference.numpy_type(case.b))
    fill(case, a, b)
    for start in (0, 1, 5, 15):
        shifted = Case(case.axes, case.a, case.b, 1, 0, False, case.seed)
        got = interpret(shifted, nest, placed, a, b, start=start)
        assert reference.same(got, expected(case, a, b), case.b, case.plain), str(nest)


# --- machine code -----------------------------------------------------------------------------------------

SHAPES = [
    (Problem((2, 1, 0), (40, 5, 64)), (16, 1, 16), (16, 1, 32)),
    (Problem((2, 1, 0), (33, 7, 32)), (16, 1, 16), (32, 4, 33)),
    (Problem((2, 1, 0), (33, 7, 32), ldb=(32, 9, 33)), (16, 1, 16), (32, 4, 33)),
    (Problem((2, 1, 0), (33, 7, 32), ldb=(48, 7, 33)), (16, 1, 16), (32, 4, 33)),
    (Problem((2, 1, 0), (33, 7, 32), lda=(35, 8, 32)), (32, 1, 16), (32, 1, 33)),
    (Problem((1, 0), (50, 96)), (16, 16), (32, 16)),
    (Problem((1, 0), (37, 32)), (32, 16), (32, 37)),
    (Problem((1, 0), (5, 32), lda=(6, 32)), (32, 5), (32, 5)),
    (Problem((1, 0), (16, 16), lda=(17, 16)), (16, 16), (16, 16)),
    (Problem((3, 0, 2, 1), (20, 3, 2, 64)), (16, 16, 1, 1), (16, 20, 1, 1)),
    (Problem((3, 2, 1, 0), (20, 3, 2, 64)), (16, 1, 1, 4), (32, 1, 2, 20)),
]


def _check(problem: Problem, plan: CpuPlan) -> None:
    """At every place in a line, between canaries."""
    placed = canonicalise(problem)
    executable = Executable(placed, plan, HOST)
    size, lda, ldb = problem.b.itemsize, problem.outer_a, problem.outer_b
    kind = reference.numpy_type(problem.b)
    a = np.frombuffer(RNG.bytes(int(np.prod(lda)) * size), kind)
    window: npt.NDArray[Any] = a.reshape(lda, order="F")[tuple(slice(n) for n in problem.size)]
    wanted = np.transpose(window, problem.perm).view(f"V{size}")
    for off in range(0, 2 * 64, max(size, 8)):
        raw = np.full(int(np.prod(ldb)) * size + 512, 0xA5, np.uint8)
        first = -raw.ctypes.data % 128 + 128 + off
        b = raw[first : first + int(np.prod(ldb)) * size].view(f"V{size}").reshape(ldb, order="F")
        executable.run(a.ctypes.data, b.ctypes.data, 0, 2)
        inner = tuple(slice(n) for n in wanted.shape)
        assert (b[inner] == wanted).all(), off
        b[inner] = np.full(1, 0xA5A5A5A5A5A5A5A5, "u8").repeat(2).view(np.uint8)[:size].view(f"V{size}")[0]
        assert (raw == 0xA5).all(), off


@pytest.mark.parametrize("dtype", ["s", "d", "c", "z", "f16", "i8"])
@pytest.mark.parametrize(("problem", "block", "tile"), SHAPES, ids=lambda value: str(value)[:40])
def test_kernels_write_whole_lines_wherever_b_begins(
    problem: Problem, block: tuple[int, ...], tile: tuple[int, ...], dtype: str
) -> None:
    problem = replace(problem, dtype=dtype)
    c = canonicalise(problem).canonical
    whole = 64 // c.b.itemsize
    if whole < 16:
        block, tile = (whole, *block[1:]), (whole * 2, *tile[1:])
    for fetch in Fetch:
        plan = plan_of(c, block, tile, fetch=fetch, parallel=len(c.axes) - 1)
        _check(problem, plan)


@pytest.mark.parametrize(("problem", "block", "tile"), SHAPES, ids=lambda value: str(value)[:40])
def test_what_is_tested_here_is_shifted(
    problem: Problem, block: tuple[int, ...], tile: tuple[int, ...]
) -> None:
    c = canonicalise(problem).canonical
    assert "shifted to 16 of i0" in str(lower(c, plan_of(c, block, tile), AVX512))
