"""Loads of A that are kept short, because longer ones are slow across lines on some machines."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
from test_solution import storage

from ttc_llvm import backend, kernel, target
from ttc_llvm.canonical import canonicalise
from ttc_llvm.executable import Executable
from ttc_llvm.ir_builders import module
from ttc_llvm.lower import lower
from ttc_llvm.plan import CpuPlan, Fetch, Staging
from ttc_llvm.problem import Problem
from ttc_llvm.tuning.model import onwards, ranked
from ttc_llvm.unaligned import instead, off_boundary, off_lines, ways

ZEN4, AVX512 = target.find("znver4"), target.find("avx512")
SQUARE = Problem((1, 0), (256, 256))
ROWS = Problem((0, 2, 1), (64, 40, 50))
PLAN = CpuPlan((32, 32), (32, 16), (0, 1), (0, 1), 2, 2, True, fetch=Fetch.ROWS)


def loaded(problem: Problem, plan: CpuPlan, machine: target.Target) -> set[int]:
    """Bytes of the loads of vectors in a kernel."""
    text = str(module.build(lower(canonicalise(problem).canonical, plan, machine), machine))
    found = re.findall(r"= load <(\d+) x (float|double|i\d+)>", text)
    sizes = {"float": 4, "double": 8, "i8": 1, "i16": 2, "i32": 4, "i64": 8}
    return {int(lanes) * sizes[lane] for lanes, lane in found}


@pytest.mark.parametrize("dtype", ["s", "d", "c", "z", "i16", "i8"])
@pytest.mark.parametrize("staging", [Staging.NONE, Staging.SHIFT])
@pytest.mark.parametrize("loads", [16, 32])
def test_no_load_of_a_is_longer_than_the_plan_says(dtype: str, staging: Staging, loads: int) -> None:
    assert max(loaded(replace(SQUARE, dtype=dtype), replace(PLAN, loads=loads, staging=staging), AVX512)) <= loads


def test_scratch_lies_on_lines_and_is_read_in_whole_registers() -> None:
    plan = replace(PLAN, loads=16, staging=Staging.A, streaming=False)
    assert {16, 32} <= loaded(SQUARE, plan, AVX512)


def test_loads_are_as_long_as_registers_or_pieces_unless_the_plan_says_otherwise() -> None:
    assert loaded(SQUARE, PLAN, AVX512) == {32}


def test_b_is_read_in_whole_registers() -> None:
    update = replace(SQUARE, beta=1)
    assert loaded(update, replace(PLAN, loads=16), AVX512) == {16, 64}


def test_what_runs_instead() -> None:
    """Plans whose stores find their own boundaries, or that do not stream, have no other way for B."""
    form, short = canonicalise(SQUARE).canonical, replace(PLAN, loads=16)
    assert instead(form, PLAN, ZEN4) == (off_boundary(form, PLAN, ZEN4), short)
    assert instead(form, PLAN, AVX512) == (off_boundary(form, PLAN, AVX512),)
    assert instead(form, replace(PLAN, streaming=False), ZEN4) == (replace(short, streaming=False),)
    shifted = replace(PLAN, staging=Staging.SHIFT)
    assert instead(form, shifted, ZEN4) == (replace(shifted, loads=16),)
    assert instead(canonicalise(replace(SQUARE, beta=1)).canonical, PLAN, ZEN4) == ()


def test_machines_that_keep_them_short() -> None:
    assert ZEN4.across_lines == 16
    assert not AVX512.across_lines and not target.find("znver5").across_lines
    host = target.for_features("znver4", frozenset({"avx2"}), "+avx2", l2=1 << 19)
    assert (host.across_lines, host.l2) == (16, 1 << 19)


def test_off_the_lines_loads_are_short_where_rows_of_a_are_whole_lines_apart() -> None:
    form = canonicalise(SQUARE).canonical
    assert off_lines(form, PLAN, ZEN4) == replace(PLAN, loads=16)
    assert off_lines(form, replace(PLAN, loads=32), ZEN4).loads == 32
    assert off_lines(form, PLAN, AVX512) == PLAN
    for other in (replace(SQUARE, beta=1), replace(SQUARE, alpha=0), replace(SQUARE, size=(255, 256))):
        assert off_lines(canonicalise(other).canonical, PLAN, ZEN4) == PLAN
    rows = CpuPlan((64, 4, 4), (64, 1, 1), (0, 1, 2), (0, 1, 2), 2, 2, True)
    assert off_lines(canonicalise(ROWS).canonical, rows, ZEN4) == rows


def test_ways_off_the_boundary_have_short_loads_there() -> None:
    form = canonicalise(SQUARE).canonical
    assert off_boundary(form, PLAN, ZEN4).loads == 16
    assert {way.plan.loads for way in ways(form, PLAN, ZEN4)} == {16}
    assert {way.plan.loads for way in ways(form, PLAN, AVX512)} == {None}


def test_a_search_goes_on_to_them_on_the_line_as_well() -> None:
    """From plans that proved fast: the cost model, which does not see them, offers none."""
    form = canonicalise(Problem((1, 0), (4096, 4096))).canonical
    short = replace(PLAN, loads=16)
    assert [plan for plan in onwards(form, ZEN4, 2)(PLAN) if plan.loads] == [short]
    assert PLAN in onwards(form, ZEN4, 2)(short)
    assert all(plan.loads is None for plan in onwards(form, AVX512, 2)(PLAN))
    assert all(plan.loads is None for plan in islice(ranked(form, ZEN4, 2), 60))
    rows = CpuPlan((64, 4, 4), (64, 1, 1), (0, 1, 2), (0, 1, 2), 2, 2, True)
    assert all(plan.loads is None for plan in onwards(canonicalise(ROWS).canonical, ZEN4, 2)(rows))


@pytest.mark.parametrize("name", ["sve256", "rvv256", "sse2"])
def test_registers_that_are_not_put_together_from_parts_are_loaded_as_ever(name: str) -> None:
    machine = target.find(name)
    form = canonicalise(SQUARE).canonical
    texts = {str(module.build(lower(form, replace(PLAN, loads=loads), machine), machine)) for loads in (None, 16)}
    assert len(texts) == 1


def test_what_runs_where_a_is_off_the_lines() -> None:
    """One kernel each for A on a line and off it, and B off the boundary; all are right."""
    machine = replace(backend.host_target(), across_lines=16)
    a = storage(SQUARE, "a")
    own, lines, boundary = (False, False), (True, False), (False, True)
    for shift_a, shift_b, made in (
        (0, 0, own), (16, 0, lines), (4, 0, lines), (32, 0, lines), (0, 16, boundary), (16, 16, boundary),
        (2, 6, lines), (0, 6, own), (8, 1, lines),
    ):  # fmt: skip
        runner = Executable(canonicalise(SQUARE), PLAN, machine)
        raw_a, raw_b = np.zeros(a.nbytes + 128, np.uint8), np.full(a.nbytes + 128, 0xA5, np.uint8)
        first_a, first_b = -raw_a.ctypes.data % 64 + shift_a, -raw_b.ctypes.data % 64 + shift_b
        raw_a[first_a : first_a + a.nbytes] = a.view(np.uint8)
        runner.run(raw_a.ctypes.data + first_a, raw_b.ctypes.data + first_b, 0, 2)
        result = raw_b[first_b : first_b + a.nbytes]
        assert result.tobytes() == a.reshape(256, 256).T.tobytes()
        assert (raw_b[:first_b] == 0xA5).all() and (raw_b[first_b + a.nbytes :] == 0xA5).all()
        assert (runner._off_lines is not None, runner._off_boundary is not None) == made
        assert {other.plan.loads for other in (runner._off_lines, runner._off_boundary) if other} <= {16}


def test_a_machine_without_them_has_one_kernel() -> None:
    machine = replace(backend.host_target(), across_lines=0)
    runner = Executable(canonicalise(SQUARE), PLAN, machine)
    a, b = (np.zeros(256 * 256 + 64, "f4") for _ in range(2))
    runner.run(a.ctypes.data + 4, b.ctypes.data - b.ctypes.data % 64 + 64, 0, 1)
    assert runner._off_lines is None


def test_short_calls_have_one_kernel() -> None:
    """They are made directly, whatever A's address is."""
    small = Problem((1, 0), (64, 64))
    machine = replace(backend.host_target(), across_lines=16)
    runner = Executable(canonicalise(small), replace(PLAN, streaming=False), machine)
    assert runner.direct() is not None
    a, b = (np.zeros(64 * 64 + 64, "f4") for _ in range(2))
    runner.run(a.ctypes.data + 4, b.ctypes.data, 0, 1)
    assert runner._off_lines is None


def test_kernels_of_both_kinds_are_kept_apart() -> None:
    form = canonicalise(SQUARE).canonical
    host = backend.host_target()
    assert kernel.ir_text(form, PLAN, host) != kernel.ir_text(form, replace(PLAN, loads=16), host)
