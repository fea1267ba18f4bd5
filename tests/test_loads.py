"""Loads of A that are kept short, because longer ones are slow across lines on some machines."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from test_solution import storage

from ttc_llvm.ir_builders import module
from ttc_llvm.lowering.fallback import (
    Fallback,
    fallbacks,
    for_misaligned_a,
    for_misaligned_b,
    for_numpy_arrays,
)
from ttc_llvm.lowering.lower import lower
from ttc_llvm.lowering.plan import CpuPlan, Fetch, Store
from ttc_llvm.lowering.writing import resolve
from ttc_llvm.machine import lookup
from ttc_llvm.machine.target import Target
from ttc_llvm.problem.canonical import canonicalise
from ttc_llvm.problem.problem import Problem
from ttc_llvm.runtime import backend, kernel
from ttc_llvm.runtime.executable import Executable

ZEN4, AVX512 = lookup.find("znver4"), lookup.find("avx512")
SQUARE = Problem((1, 0), (256, 256))
ROWS = Problem((0, 2, 1), (64, 40, 50))
PLAN = CpuPlan((32, 32), (32, 16), (0, 1), (0, 1), 2, 2, Store.ALIGNED, fetch=Fetch.ROWS)


def loaded(problem: Problem, plan: CpuPlan, machine: Target, loads: int = 0) -> set[int]:
    """Bytes of the loads of vectors in a kernel."""
    text = str(module.build(lower(canonicalise(problem).canonical, plan, machine, loads), machine))
    found = re.findall(r"= load <(\d+) x (float|double|i\d+)>", text)
    sizes = {"float": 4, "double": 8, "i8": 1, "i16": 2, "i32": 4, "i64": 8}
    return {int(lanes) * sizes[lane] for lanes, lane in found}


@pytest.mark.parametrize("dtype", ["s", "d", "c", "z", "i16", "i8"])
@pytest.mark.parametrize("store", [Store.CACHED, Store.ALIGNED, Store.PEELED])
@pytest.mark.parametrize("loads", [16, 32])
def test_no_load_of_a_is_longer_than_is_asked_for(dtype: str, store: Store, loads: int) -> None:
    assert max(loaded(replace(SQUARE, dtype=dtype), replace(PLAN, store=store), AVX512, loads)) <= loads


def test_scratch_lies_on_lines_and_is_read_in_whole_registers() -> None:
    buffered = replace(PLAN, tile=(256, 32), store=Store.COMBINED)
    assert resolve(canonicalise(SQUARE).canonical, buffered, AVX512).store is Store.BUFFERED
    assert {16, 64} <= loaded(SQUARE, buffered, AVX512, 16)


def test_loads_are_as_long_as_registers_or_pieces_unless_shorter_ones_are_asked_for() -> None:
    assert loaded(SQUARE, PLAN, AVX512) == {32}


def test_b_is_read_in_whole_registers() -> None:
    update = replace(SQUARE, beta=1)
    assert loaded(update, PLAN, AVX512, 16) == {16, 64}


def test_what_runs_instead() -> None:
    """Plans whose stores find their own boundaries, or are ordinary ones, have no fallback for B."""
    form = canonicalise(SQUARE).canonical
    assert for_numpy_arrays(form, PLAN, ZEN4) == (for_misaligned_b(form, PLAN, ZEN4), Fallback(Store.ALIGNED, PLAN, 16))
    assert for_numpy_arrays(form, PLAN, AVX512) == (for_misaligned_b(form, PLAN, AVX512),)
    for plan in (PLAN.ordinary, replace(PLAN, store=Store.PEELED)):
        assert for_numpy_arrays(form, plan, ZEN4) == (Fallback(plan.store, plan, 16),)
    assert for_numpy_arrays(canonicalise(replace(SQUARE, beta=1)).canonical, PLAN, ZEN4) == ()


def test_machines_that_keep_them_short() -> None:
    assert ZEN4.across_lines == 16
    assert not AVX512.across_lines and not lookup.find("znver5").across_lines
    host = lookup.for_features("znver4", frozenset({"avx2"}), "+avx2", l2=1 << 19)
    assert (host.across_lines, host.l2) == (16, 1 << 19)


def test_off_the_lines_loads_are_short_where_rows_of_a_are_whole_lines_apart() -> None:
    form = canonicalise(SQUARE).canonical
    assert for_misaligned_a(form, PLAN, ZEN4) == Fallback(Store.ALIGNED, PLAN, 16)
    assert for_misaligned_a(form, PLAN, replace(ZEN4, across_lines=32)).loads == 32
    assert for_misaligned_a(form, PLAN, AVX512) == Fallback(Store.ALIGNED, PLAN)
    for other in (replace(SQUARE, beta=1), replace(SQUARE, alpha=0), replace(SQUARE, size=(255, 256))):
        assert for_misaligned_a(canonicalise(other).canonical, PLAN, ZEN4).loads == 0
    rows = CpuPlan((64, 4, 4), (64, 1, 1), (0, 1, 2), (0, 1, 2), 2, 2, Store.ALIGNED)
    assert for_misaligned_a(canonicalise(ROWS).canonical, rows, ZEN4) == Fallback(Store.ALIGNED, rows)


def test_fallbacks_off_the_boundary_have_short_loads_there() -> None:
    form = canonicalise(SQUARE).canonical
    assert for_misaligned_b(form, PLAN, ZEN4).loads == 16
    assert {one.loads for one in fallbacks(form, PLAN, ZEN4)} == {16}
    assert {one.loads for one in fallbacks(form, PLAN, AVX512)} == {0}


@pytest.mark.parametrize("name", ["sve256", "rvv256", "sse2"])
def test_registers_that_are_not_put_together_from_parts_are_loaded_as_ever(name: str) -> None:
    machine = lookup.find(name)
    form = canonicalise(SQUARE).canonical
    texts = {str(module.build(lower(form, PLAN, machine, loads), machine)) for loads in (0, 16)}
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
        assert (runner._for_misaligned_a is not None, runner._for_misaligned_b is not None) == made
        assert {other._loads for other in (runner._for_misaligned_a, runner._for_misaligned_b) if other} <= {16}


def test_a_machine_without_them_has_one_kernel() -> None:
    machine = replace(backend.host_target(), across_lines=0)
    runner = Executable(canonicalise(SQUARE), PLAN, machine)
    a, b = (np.zeros(256 * 256 + 64, "f4") for _ in range(2))
    runner.run(a.ctypes.data + 4, b.ctypes.data - b.ctypes.data % 64 + 64, 0, 1)
    assert runner._for_misaligned_a is None


def test_short_calls_have_one_kernel() -> None:
    """They are made directly, whatever A's address is."""
    small = Problem((1, 0), (64, 64))
    machine = replace(backend.host_target(), across_lines=16)
    runner = Executable(canonicalise(small), PLAN.ordinary, machine)
    assert runner.direct() is not None
    a, b = (np.zeros(64 * 64 + 64, "f4") for _ in range(2))
    runner.run(a.ctypes.data + 4, b.ctypes.data, 0, 1)
    assert runner._for_misaligned_a is None


def test_kernels_of_both_kinds_are_kept_apart() -> None:
    form = canonicalise(SQUARE).canonical
    host = backend.host_target()
    assert kernel.ir_text(form, PLAN, host) != kernel.ir_text(form, PLAN, host, 16)
    assert kernel.name_of(PLAN) == str(PLAN)
    assert kernel.name_of(PLAN, 16) == f"{PLAN} loads=16"
    own, short = (kernel.cache.obtain(form, PLAN, host, None, loads) for loads in (0, 16))
    assert own is kernel.cache.obtain(form, PLAN, host) is not short
