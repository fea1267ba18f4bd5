"""Loads of A that are kept short, because longer ones are slow across lines on some machines."""

from __future__ import annotations

import re
from dataclasses import replace

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
from ttc_llvm.tuning.choices import FREE
from ttc_llvm.tuning.neighbours import neighbours
from ttc_llvm.unaligned import off_boundary, off_lines, ways

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


def test_machines_that_keep_them_short() -> None:
    assert ZEN4.apart == 16
    assert not AVX512.apart and not target.find("znver5").apart
    host = target.for_features("znver4", frozenset({"avx2"}), "+avx2", l2=1 << 19)
    assert (host.apart, host.l2) == (16, 1 << 19)


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


def test_a_search_tries_them_on_the_line_as_well() -> None:
    form = canonicalise(SQUARE).canonical
    short = replace(PLAN, loads=16)
    assert short in neighbours(form, ZEN4, FREE, PLAN)
    assert PLAN in neighbours(form, ZEN4, FREE, short)
    assert all(other.loads is None for other in neighbours(form, AVX512, FREE, PLAN))
    rows = CpuPlan((64, 4, 4), (64, 1, 1), (0, 1, 2), (0, 1, 2), 2, 2, True)
    assert all(other.loads is None for other in neighbours(canonicalise(ROWS).canonical, ZEN4, FREE, rows))


def test_what_runs_where_a_is_off_the_lines() -> None:
    """One kernel each for A on a line and off it, both right wherever A and B begin."""
    machine = replace(backend.host_target(), apart=16)
    placed = canonicalise(SQUARE)
    runner = Executable(placed, PLAN, machine)
    a, made = storage(SQUARE, "a"), set()
    for shift_a, shift_b in ((0, 0), (16, 0), (4, 0), (0, 16), (16, 16), (2, 6), (8, 1)):
        raw_a, raw_b = np.zeros(a.nbytes + 128, np.uint8), np.full(a.nbytes + 128, 0xA5, np.uint8)
        first_a, first_b = -raw_a.ctypes.data % 64 + shift_a, -raw_b.ctypes.data % 64 + shift_b
        raw_a[first_a : first_a + a.nbytes] = a.view(np.uint8)
        runner.run(raw_a.ctypes.data + first_a, raw_b.ctypes.data + first_b, 0, 2)
        result = raw_b[first_b : first_b + a.nbytes]
        assert result.tobytes() == a.reshape(256, 256).T.tobytes()
        assert (raw_b[:first_b] == 0xA5).all() and (raw_b[first_b + a.nbytes :] == 0xA5).all()
        made.add(runner._off_lines is not None)
    assert made == {False, True}
    assert runner._off_lines is not None and runner._off_lines.plan.loads == 16
    assert runner.plan.loads is None


def test_a_machine_without_them_has_one_kernel() -> None:
    machine = replace(backend.host_target(), apart=0)
    runner = Executable(canonicalise(SQUARE), PLAN, machine)
    a, b = (np.zeros(256 * 256 + 64, "f4") for _ in range(2))
    runner.run(a.ctypes.data + 4, b.ctypes.data - b.ctypes.data % 64 + 64, 0, 1)
    assert runner._off_lines is None


def test_short_calls_have_one_kernel() -> None:
    """They are made directly, whatever A's address is."""
    small = Problem((1, 0), (64, 64))
    runner = Executable(canonicalise(small), replace(PLAN, streaming=False), replace(backend.host_target(), apart=16))
    assert runner.direct() is not None
    a, b = (np.zeros(64 * 64 + 64, "f4") for _ in range(2))
    runner.run(a.ctypes.data + 4, b.ctypes.data, 0, 1)
    assert runner._off_lines is None


def test_kernels_of_both_kinds_are_kept_apart() -> None:
    form = canonicalise(SQUARE).canonical
    host = backend.host_target()
    assert kernel.ir_text(form, PLAN, host) != kernel.ir_text(form, replace(PLAN, loads=16), host)
