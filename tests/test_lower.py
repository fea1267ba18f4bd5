"""Lowering: the nests of small plans as text, and the rules that all nests keep."""

from __future__ import annotations

import re
from dataclasses import replace
from textwrap import dedent

import pytest
from machine import part_range

from ttc_llvm.errors import PlanError
from ttc_llvm.lowering.lower import lower
from ttc_llvm.lowering.nest import LoopNest
from ttc_llvm.lowering.nodes import Micro, Row, every
from ttc_llvm.lowering.plan import CpuPlan, Fetch, Store
from ttc_llvm.machine import lookup
from ttc_llvm.problem import dtypes
from ttc_llvm.problem.canonical import Axis, Canonical, Param
from ttc_llvm.problem.canonical_text import parse as parse_form
from ttc_llvm.problem.kinds import COPY, UPDATE, Alpha, Beta, Kinds

I32 = dtypes.dtype("i32")
S = dtypes.dtype("s")
AVX2, AVX512, SSE2 = (lookup.find(n) for n in ("avx2", "avx512", "sse2"))


def form(m: int | Param = 128, n: int | Param = 128, kinds: Kinds = COPY) -> Canonical:
    """A two-dimensional transposition with outer sizes of 1000."""
    t = I32 if kinds == COPY else S
    return Canonical((Axis(m, 1000, 1), Axis(n, 1, 1000)), t, t, kinds)


PLAN = CpuPlan((32, 64), (8, 8), (1, 0), (0, 1), 1)


def body(nest: LoopNest) -> str:
    """The nest's text without its headline."""
    return str(nest).partition("\n")[2]


def lines(text: str) -> str:
    """An indented literal as the nest prints it."""
    return "\n".join("  " + line for line in dedent(text).strip().splitlines())


def test_whole_tiles() -> None:
    assert body(lower(form(), PLAN, AVX2)) == lines("""
        for i1 in 128 step 64 task
          for i0 in 128 step 32 serial
            for i0 in 128 step 8 serial
              for i1 in 128 step 8 serial
                micro 8x8 a->b
        """)


def test_one_static_remainder_gets_its_own_micro_tile() -> None:
    assert body(lower(form(131, 128), PLAN, AVX2)) == lines("""
        for i1 in 128 step 64 task
          for i0 in 131 step 32 serial
            for i0 in 131 step 8 serial
              for i1 in 128 step 8 serial
                micro 8x8 a->b
            tail i0
              for i1 in 128 step 8 serial
                micro 3x8 a->b
        """)


def test_two_remainders_get_micro_tiles_of_their_own() -> None:
    assert body(lower(form(131, 129), replace(PLAN, store=Store.ALIGNED, parallel=2), AVX512)) == lines("""
        for i1 in 129 step 64 task
          for i0 in 131 step 32 task
            for i0 in 131 step 8 serial
              for i1 in 129 step 8 serial
                micro 8x8 a->b streaming
              tail i1
                micro 8x1 a->b streaming
            tail i0
              for i1 in 129 step 8 serial
                micro 3x8 a->b streaming
              tail i1
                micro 3x1 a->b streaming
        fence
        """)


def test_three_remainders_share_one_masked_micro_tile() -> None:
    axes = (Axis(11, 100, 1), Axis(7, 10, 12), Axis(9, 1, 90))
    nest = lower(
        Canonical(axes, S, S, UPDATE), CpuPlan((11, 7, 9), (4, 4, 8), (0, 1, 2), (0, 1, 2), 0), AVX512
    )
    edges = [micro.remainder_axes for micro in _micros(nest) if micro.remainder_axes]
    assert edges == [(2,), (1,), (1, 2), (0,), (0, 2), (0, 1), (0, 1, 2)]
    assert all(micro.block == (4, 4, 8) for micro in _micros(nest))


def test_copies_step_back_where_tiles_hold_a_block() -> None:
    axes = (Axis(37, 20, 1), Axis(20, 1, 37))
    plan = CpuPlan((37, 8), (8, 8), (0, 1), (0, 1), 1)
    nest = lower(Canonical(axes, I32, I32, COPY), plan, AVX2)
    assert body(nest) == lines("""
        for i1 in 20 step 8 task
          for i0 in 37 step 8 serial back
            for i1 in 20 step 8 serial
              micro 8x8 a->b
            tail i1
              micro 8x4 a->b
        """)
    assert {micro.grain for micro in _micros(nest)} == {(1, 8)}
    assert " back" not in str(lower(Canonical(axes, S, S, UPDATE), plan, AVX2))
    aligned = Canonical((Axis(20, 48, 1), Axis(37, 1, 48)), S, S, COPY)
    streaming = CpuPlan((20, 37), (8, 8), (0, 1), (0, 1), store=Store.ALIGNED)
    assert " back" not in str(lower(aligned, streaming, AVX2))
    assert " back" in str(lower(aligned, streaming.ordinary, AVX2))


@pytest.mark.parametrize(("extent", "back"), [(33, False), (35, False), (36, True), (39, True), (40, False)])
def test_blocks_step_back_over_half_a_block_or_less(extent: int, back: bool) -> None:
    axes = (Axis(extent, 16, 1), Axis(16, 1, extent))
    nest = lower(Canonical(axes, I32, I32, COPY), CpuPlan((extent, 16), (8, 8), (0, 1), (0, 1), 1), AVX2)
    assert (" back" in str(nest)) is back


def test_run_time_remainders_without_masks_shrink_by_halves() -> None:
    plan = CpuPlan((8, 4), (4, 4), (0, 1), (0, 1), 2)
    assert body(lower(form(Param(0, "n"), 4), plan, SSE2)) == lines("""
        for i0 in n step 8 task
          for i0 in n step 4 serial
            micro 4x4 a->b
          tail i0
            for i0 in n step 2 serial
              micro 2x4 a->b
            tail i0
              for i0 in n step 1 serial
                micro 1x4 a->b
        """)


# Nothing of a run of B that one tile has the whole of goes on.
BUFFERED = replace(PLAN, tile=(128, 64), store=Store.COMBINED)


def test_tiles_are_permuted_into_scratch_and_leave_it_in_rows() -> None:
    nest = lower(form(), BUFFERED, AVX2)
    assert "stage i32 x 9216 strides (1, 144)" in str(nest)
    assert nest.scratch == 9216 * 4
    assert "micro 8x8 a->scratch\n" in str(nest)
    assert "row i0 scratch->b" in str(nest) and "streaming" not in str(nest)


def test_tiles_leave_scratch_in_micro_tiles_where_b_has_no_rows() -> None:
    apart = Canonical((Axis(128, 1000, 2), Axis(128, 1, 1000)), I32, I32, COPY)
    nest = lower(apart, BUFFERED, AVX2)
    assert nest.alignment == 32
    assert "micro 8x8 a->scratch\n" in str(nest)
    assert re.search(r"micro \d+x\d+ scratch->b streaming", str(nest)) and "row" not in str(nest)


def test_arithmetic_happens_on_the_way_out_of_scratch() -> None:
    nest = lower(form(kinds=Kinds(Alpha.ANY, Beta.ZERO)), BUFFERED, AVX2)
    (fill,), (drain,) = _micros(nest), [node for node in every(nest.body) if isinstance(node, Row)]
    assert (fill.op.alpha, fill.op.beta) == (Alpha.ONE, Beta.ZERO)
    assert (fill.source.dtype, drain.op.alpha, drain.op.beta) == (S, Alpha.ANY, Beta.ZERO)


def _micros(nest: LoopNest) -> list[Micro]:
    return [node for node in every(nest.body) if isinstance(node, Micro)]


@pytest.mark.parametrize(
    ("kinds", "staged", "streaming"),
    [
        (COPY, True, True),
        (Kinds(Alpha.ANY, Beta.ZERO), True, True),
        (Kinds(Alpha.ANY, Beta.ANY), False, False),
        (Kinds(Alpha.ZERO, Beta.ZERO), False, True),
        (Kinds(Alpha.ZERO, Beta.ANY), False, False),
    ],
)
@pytest.mark.parametrize("store", [Store.ALIGNED, Store.COMBINED])
def test_one_plan_serves_every_kind(kinds: Kinds, staged: bool, streaming: bool, store: Store) -> None:
    """alpha = 0 must not read A into scratch; beta != 0 reads B, which non-temporal stores would evict."""
    staged &= store is Store.COMBINED
    nest = lower(form(kinds=kinds), replace(BUFFERED, store=store), AVX2)
    assert ("stage" in str(nest), "streaming" in str(nest)) == (staged, streaming and not staged)
    assert (nest.scratch > 0) == staged
    assert ("fence" in str(nest)) == streaming


def test_remainders_remember_where_they_may_start() -> None:
    """12 x 4 bytes are no multiple of a vector: a remainder of 8 must not believe that it starts on one."""
    micros = _micros(lower(form(20, 4), CpuPlan((12, 4), (12, 4), (0, 1), (0, 1), 0, 0, Store.ALIGNED), AVX512))
    assert [(m.block, m.grain) for m in micros] == [((12, 4), (12, 0)), ((8, 4), (12, 0))]


@pytest.mark.parametrize("parallel", [0, 1])
def test_empty_problems_have_an_empty_body(parallel: int) -> None:
    empty = Canonical((Axis(0, 1, 1),), I32, I32, COPY)
    nest = lower(empty, CpuPlan((1,), (1,), (0,), (0,), parallel), AVX2)
    assert (nest.body, nest.tasks, nest.scratch) == ((), 1, 0)


def test_a_plan_for_other_axes_is_refused() -> None:
    with pytest.raises(PlanError, match="needs 2 positive extents"):
        lower(form(), CpuPlan((8,), (8,), (0,), (0,)), AVX2)


def test_task_counts() -> None:
    assert lower(form(131, 129), replace(PLAN, parallel=2), AVX2).tasks == 5 * 3
    assert lower(form(131, 129), replace(PLAN, parallel=0), AVX2).tasks == 1
    with pytest.raises(TypeError, match="n is known at run time only"):
        assert (
            lower(form(Param(0, "n")), PLAN, AVX2).tasks and lower(form(8, Param(0, "n")), PLAN, AVX2).tasks
        )


@pytest.mark.parametrize("tasks", [0, 1, 7, 64])
@pytest.mark.parametrize("parts", [1, 2, 3, 100])
def test_parts_cover_the_tasks_once_and_evenly(tasks: int, parts: int) -> None:
    ranges = [part_range(tasks, part, parts) for part in range(parts)]
    assert [t for begin, end in ranges for t in range(begin, end)] == list(range(tasks))
    assert max(end - begin for begin, end in ranges) - min(end - begin for begin, end in ranges) <= 1


@pytest.mark.parametrize(("step", "fetch", "store", "backwards"), [
    (-3, Fetch.ROWS, Store.ALIGNED, True), (-3, Fetch.ROWS, Store.PEELED, True), (3, Fetch.ROWS, Store.ALIGNED, False),
    (-3, Fetch.BLOCKS, Store.ALIGNED, False), (-3, Fetch.ROWS, Store.CACHED, False),
])  # fmt: skip
def test_mirrored_rows_whose_next_ones_are_prefetched_are_written_backwards(
    step: int, fetch: Fetch, store: Store, backwards: bool
) -> None:
    c = parse_form(f"i32>i32 one-zero 3:1:1 160:{step}:3 9:480:480")
    plan = CpuPlan((3, 160, 1), (3, 16, 1), (2, 1, 0), (0, 2, 1), 1, store=store, fetch=fetch, prefetch=1)
    assert ("for i1 in 160 step 16 serial backwards\n" in str(lower(c, plan, AVX512))) is backwards


def test_long_rows_in_reverse_are_written_backwards() -> None:
    """The last row of B first: then rows of A are read forwards."""
    plan = CpuPlan((4096, 1), (16, 1), (1, 0), (1, 0), 1, store=Store.ALIGNED)
    for row, wanted in ((4096, " by 59"), (512, "")):
        c = parse_form(f"i32>i32 one-zero {row}:1:1 60:-{row}:{row}")
        assert f"for i1 in 60 step 1 task{wanted}\n" in str(lower(c, plan, AVX512))
