"""What runs where B begins off the boundary: the tiles it has, what it asks for, and its results."""

from __future__ import annotations

from dataclasses import replace

import pytest
from case import Case
from machine import Run, check, runnable

from ttc_llvm.lowering import plan_checks
from ttc_llvm.lowering.fallback import AHEAD, LONG_READ, LONG_RUN, Fallback, fallbacks, for_misaligned_b
from ttc_llvm.lowering.lower import lower
from ttc_llvm.lowering.plan import DECISIONS, FALLBACKS, CpuPlan, Fetch, Store
from ttc_llvm.lowering.writing import resolve
from ttc_llvm.machine import lookup
from ttc_llvm.machine.target import Target
from ttc_llvm.problem.canonical import Canonical, canonicalise
from ttc_llvm.problem.problem import Problem

AVX2, AVX512 = (lookup.find(name) for name in ("avx2", "avx512"))
NARROW = CpuPlan((16, 1, 16), (16, 1, 16), (0, 1, 2), (0, 1, 2), 2, 1, Store.ALIGNED, fetch=Fetch.ROWS)


def planned(c: Canonical, plan: CpuPlan, machine: Target) -> CpuPlan:
    """What runs where B begins off the boundary."""
    return for_misaligned_b(c, plan, machine).plan


def reversal(*extents: int) -> Canonical:
    return canonicalise(Problem((2, 1, 0), extents)).canonical


def test_shifted_tiles_read_longer_pieces_of_a() -> None:
    c = reversal(384, 355, 384)
    found = planned(c, NARROW, AVX512)
    assert found.store is Store.PEELED
    assert found.tile == (16, 1, LONG_READ // 4)
    assert replace(found, tile=NARROW.tile, store=Store.ALIGNED) == NARROW


@pytest.mark.parametrize("asked", [(Fetch.ROWS, 2), (Fetch.BLOCKS, 1), (Fetch.BLOCKS, 6)])
def test_tiles_that_ask_further_ahead_keep_their_shape(asked: tuple[Fetch, int]) -> None:
    fetch, distance = asked
    found = planned(reversal(384, 355, 384), replace(NARROW, fetch=fetch, prefetch=distance), AVX512)
    assert found.store is Store.PEELED
    assert found.tile == NARROW.tile


def test_threads_keep_what_they_share() -> None:
    """A's unit axis is the only one that is shared: four times as long tiles would leave eight tasks of 32."""
    c = reversal(512, 2, 512)
    plan = replace(NARROW, order=(2, 0, 1), parallel=1)
    assert planned(c, plan, AVX512).tile == plan.tile
    assert planned(c, replace(plan, parallel=2), AVX512).tile == (16, 1, LONG_READ // 4)


PACKING = canonicalise(Problem((0, 2, 1), (6, 682, 12800))).canonical  # rows of 24 bytes
PACKED = CpuPlan((6, 10, 2), (6, 10, 1), (1, 2, 0), (0, 1, 2), 1, 0, Store.ALIGNED)


@pytest.mark.parametrize("size, narrow", [((5, 300_000), 1), ((300_000, 2), 0), ((20, 60_000), 1)])
def test_tiles_of_narrow_matrices_are_long_enough_to_prefetch_the_next(size: tuple[int, int], narrow: int) -> None:
    c = canonicalise(Problem((1, 0), size, "s")).canonical
    block = (32, size[0]) if narrow else (size[1], 32)
    (found,) = (
        one.plan
        for one in fallbacks(c, CpuPlan(block, block, (0, 1), (0, 1), 1, 2, Store.ALIGNED), AVX512)
        if one.store is Store.COMBINED
    )
    assert found.tile[narrow] == c.extents[narrow] and found.prefetch == 2  # as the plan: registers are joined
    assert AHEAD <= found.tile[0] * found.tile[1] * 4 < 2 * AHEAD


def test_ordinary_stores_have_long_runs_and_ask_for_rows() -> None:
    found = planned(PACKING, PACKED, AVX512)
    assert found.store is Store.CACHED
    assert (found.fetch, found.prefetch) == (Fetch.ROWS, 1)
    for side in "ab":
        rows = [k for k, axis in enumerate(PACKING.axes) if getattr(axis, f"stride_{side}") <= 6]
        run = 1
        for k in rows:
            run *= found.tile[k]
        assert run * 4 >= LONG_RUN * 3 // 4
    assert all(size % unit == 0 for size, unit in zip(found.tile, found.block, strict=True))


def test_rows_that_are_asked_for_stay() -> None:
    plan = replace(PACKED, prefetch=6)
    assert planned(PACKING, plan, AVX512) == plan.ordinary


def test_columns_have_long_runs_and_what_was_asked_for() -> None:
    """B's rows of 384 bytes have gaps, so that nothing streams."""
    c = canonicalise(Problem((1, 0, 2), (96, 96, 400), lda=(128, 128, 400), ldb=(112, 97, 400))).canonical
    plan = CpuPlan((32, 48, 1), (16, 16, 1), (2, 0, 1), (2, 1, 0), 2, 6, Store.ALIGNED)
    found = planned(c, plan, AVX512)
    assert (found.store, found.fetch, found.prefetch) == (Store.CACHED, Fetch.BLOCKS, 6)
    assert found.tile == (96, 96, 1)


def test_nothing_is_asked_for_where_no_instruction_does() -> None:
    blind = replace(AVX512, prefetches=False)
    assert planned(PACKING, PACKED, blind).prefetch == 0


def test_tiles_leave_half_of_l2() -> None:
    c = canonicalise(Problem((1, 0), (8192, 8192))).canonical
    plan = CpuPlan((2048, 16), (16, 16), (0, 1), (0, 1), 2, 1, Store.ALIGNED, fetch=Fetch.ROWS)
    assert planned(c, plan, AVX512).tile == (2048, 64)
    assert planned(c, plan, AVX2).tile == plan.tile  # of half a MiB: there is a quarter
    assert planned(c, replace(plan, tile=(4096, 16)), AVX512).tile == (4096, 16)


def test_tiles_that_fill_l2_are_not_asked_for() -> None:
    c = canonicalise(Problem((0, 2, 1), (15, 20000, 200))).canonical
    plan = CpuPlan((15, 1, 20000), (15, 1, 1), (1, 2, 0), (0, 1, 2), 1, 0, Store.ALIGNED)
    assert planned(c, plan, AVX512).prefetch == 0
    assert planned(c, replace(plan, tile=(15, 1, 16)), AVX512).prefetch == 1


@pytest.mark.parametrize(
    ("name", "apart", "wanted"),
    [
        ("avx512", 0, {15: "cached", 16: "combined", 127: "combined", 128: "peeled"}),
        ("avx512", 3, {63: "cached", 64: "combined", 127: "combined", 128: "peeled"}),
        ("avx2", 0, {31: "cached", 32: "combined", 255: "combined", 256: "peeled"}),
        ("avx2", 3, {127: "cached", 128: "combined", 255: "combined", 256: "peeled"}),
    ],
)
def test_rows_of_a_that_are_rows_of_b(name: str, apart: int, wanted: dict[int, str]) -> None:
    """They go on from row to row, in registers or, a KiB at a time, through scratch; long ones are streamed one by one,
    short ones are not, above all those that lie apart in A."""
    machine = lookup.find(name)
    for row, store in wanted.items():
        c = canonicalise(Problem((0, 2, 1), (row, 400, 200), lda=(row + apart, 400, 200))).canonical
        plan = CpuPlan((row, 1, 16), (min(row, 32), 1, 1), (1, 2, 0), (0, 1, 2), 1, 0, Store.ALIGNED)
        found = planned(c, plan, machine)
        assert found.store.value == store
        offered = [one.store for one in fallbacks(c, plan, machine)]
        assert len(offered) == len(set(offered))  # a plan's decision names one
        if store == "combined":
            line = 16 << (row.bit_length() - 5 if name == "avx512" else 0)
            assert (found.prefetch, found.block, found.tile[0]) == (0, (line, 1, 1), row)
            assert (resolve(c, found, machine).store is Store.JOINED) is (name == "avx512")
            assert found.tile[1] == 1 if name == "avx512" else 512 <= row * found.tile[1] * 4 <= 1024
        assert plan_checks.check(found, c) is found


def test_a_panel_goes_with_the_tiles_it_holds() -> None:
    c = reversal(384, 355, 384)
    panelled = replace(NARROW, panel=(128, 1, 128))
    assert planned(c, panelled, AVX512).panel == ()
    wide = replace(panelled, tile=(16, 1, 128), panel=(128, 1, 256))
    assert planned(c, wide, AVX512).panel == wide.panel


@pytest.mark.parametrize("store", FALLBACKS)
def test_a_plan_decides_for_a_fallback(store: Store) -> None:
    c = reversal(384, 355, 384)
    found = for_misaligned_b(c, replace(NARROW, fallback=store), AVX512)
    assert found.store is store
    assert found.plan.store is (Store.COMBINED if store is Store.BUFFERED else store)
    assert found.plan.fallback is None
    assert plan_checks.check(found.plan, c) is found.plan


def test_the_first_fallback_that_pays_goes_where_the_wanted_one_cannot() -> None:
    """Rows of B that are rows of A leave no scratch; 24 bytes of A at a time cannot be shifted."""
    plan = replace(PACKED, fallback=Store.COMBINED)
    assert for_misaligned_b(PACKING, plan, AVX512) == for_misaligned_b(PACKING, PACKED, AVX512)
    assert for_misaligned_b(PACKING, plan.ordinary, AVX512).plan == PACKED.ordinary


@pytest.mark.parametrize("store", [None, *FALLBACKS])
def test_plans_with_ordinary_stores_have_one_fallback(store: Store | None) -> None:
    plan = replace(PACKED, store=Store.CACHED, fallback=store)
    assert list(fallbacks(PACKING, plan, AVX512)) == [Fallback(Store.CACHED, PACKED.ordinary)]
    assert for_misaligned_b(PACKING, plan, AVX512).plan == PACKED.ordinary


@pytest.mark.parametrize("store", DECISIONS)
def test_what_reads_b_has_one_fallback(store: Store) -> None:
    c = canonicalise(Problem((2, 1, 0), (384, 35, 384), beta=1)).canonical
    assert list(fallbacks(c, replace(NARROW, store=store), AVX512)) == [Fallback(Store.CACHED, NARROW.ordinary)]


@pytest.mark.parametrize("rows", [7, 8])
def test_rows_that_follow_each_other_are_one_run(rows: int) -> None:
    """Rows of 128 bytes in groups of 7 or 8, then a gap: 896 bytes do not pay, a KiB does."""
    c = canonicalise(Problem((2, 1, 0), (40, rows, 32), ldb=(32, rows + 1, 40))).canonical
    first, *_ = fallbacks(c, NARROW, AVX512)
    assert (first.store, first.run, first.pays) == (Store.PEELED, 128 * rows, rows == 8)


TINY = [
    pytest.param(Problem((0, 2, 1), (6, 31, 47)), PACKED, id="packing"),
    pytest.param(Problem((2, 1, 0), (70, 3, 65)), NARROW, id="reversal"),
    pytest.param(Problem((2, 1, 0), (70, 3, 65), lda=(75, 3, 65), ldb=(65, 5, 70)), NARROW, id="gaps"),
]


@pytest.mark.parametrize("dtype", ["s", "z", "i8"])
@pytest.mark.parametrize(("problem", "plan"), TINY)
def test_results_are_right(problem: Problem, plan: CpuPlan, dtype: str) -> None:
    problem = Problem(problem.perm, problem.size, dtype, lda=problem.lda, ldb=problem.ldb)
    case = Case.of(problem)
    canonical = case.placed.canonical
    for wanted in runnable():
        for one in fallbacks(canonical, plan, wanted):
            assert lower(canonical, one.plan, wanted, one.loads).alignment <= canonical.b.itemsize
            check(case, Run(one.plan, wanted, 2, "end", "start", False, 1, one.loads))
