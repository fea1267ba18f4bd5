"""Runs of B that go on from tile to tile: what lowering makes of them, and kernels against NumPy."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from math import prod
from textwrap import dedent, indent

import machine
import pytest
import reference
import strategies
from case import Case, expected, storages
from hypothesis import assume, given
from hypothesis import strategies as st
from interpreter import interpret
from machine import Run, check, runnable
from tiers import examples

from ttc_llvm.lowering.chain import Chain, run_of_b
from ttc_llvm.lowering.chain_plans import chained_plan
from ttc_llvm.lowering.fallback import for_misaligned_b
from ttc_llvm.lowering.lower import lower
from ttc_llvm.lowering.plan import CpuPlan, Fetch, Store
from ttc_llvm.lowering.writing import has_room, pays, resolve, room_depends_on
from ttc_llvm.machine import lookup
from ttc_llvm.machine.target import Target
from ttc_llvm.problem import dtypes
from ttc_llvm.problem.canonical import Axis, Canonical, canonicalise, static
from ttc_llvm.problem.kinds import COPY
from ttc_llvm.problem.problem import Problem
from ttc_llvm.tuning.cost.model import ranked
from ttc_llvm.tuning.space.blocks import blocks
from ttc_llvm.tuning.space.candidates import enumerate_plans, starts
from ttc_llvm.tuning.space.choices import FREE, Forced, allowed_stores
from ttc_llvm.tuning.space.neighbours import CHANGES

S = dtypes.dtype("s")
AVX2, AVX512 = (lookup.find(name) for name in ("avx2", "avx512"))
FORM = Canonical((Axis(101, 211, 1), Axis(211, 1, 101)), S, S, COPY)
PLAN = CpuPlan((32, 64), (16, 16), (0, 1), (0, 1), 1, store=Store.COMBINED, panel=(101, 128))


def chain(c: Canonical, plan: CpuPlan, wanted: Target) -> Chain | None:
    """How the plan's runs go on."""
    return resolve(c, plan, wanted).chain


def run_tile(c: Canonical, plan: CpuPlan, wanted: Target) -> tuple[int, ...]:
    """The plan's tile, with runs of a line of B at least where the extents allow it."""
    tile, length, elements = list(plan.tile), 1, max(1, wanted.line // c.b.itemsize)
    for k in c.along("b")[::-1]:
        if c.axes[k].stride_b != length or length >= elements:
            break
        tile[k] = min(-(-elements // (length * plan.block[k])), -(-c.extents[k] // plan.block[k])) * plan.block[k]
        length *= min(tile[k], c.extents[k])
    return tuple(tile)


@st.composite
def carried(draw: st.DrawFn, targets: tuple[Target, ...], elements: int) -> tuple[Case, CpuPlan, Target]:
    """A copy whose runs go on, by a random plan."""
    case = draw(strategies.cases(elements))
    case = replace(case, alpha=case.alpha or 1.0, beta=0.0)
    c, wanted = case.placed.canonical, draw(st.sampled_from(targets))
    assume(c.elements > 0 and c.axes[0].stride_b == 1)
    plan = draw(strategies.plans(c, wanted))
    tile = run_tile(c, plan, wanted)
    panels = st.tuples(*(st.sampled_from((size, 2 * size, 4 * size)) for size in tile))
    plan = replace(
        plan,
        tile=tile,
        panel=draw(st.just(()) | panels),
        parallel=draw(st.integers(0, 1)),
        store=Store.COMBINED,
    )
    assume(chain(c, plan, wanted) is not None)
    return case, plan, wanted


FEW = examples(100)


@FEW
@given(carried(tuple(map(lookup.find, machine.ROWS)), 3_000))
def test_whole_lines_are_written_once(found: tuple[Case, CpuPlan, Target]) -> None:
    case, plan, wanted = found
    nest = lower(case.placed.canonical, plan, wanted)
    assert "open slots" in str(nest)
    a, b = storages(case)
    got = interpret(case, nest, case.placed, a, b)
    assert reference.same(got, expected(case, a, b), case.b, case.plain), str(nest)


@FEW
@given(carried(runnable(), 12_000), st.integers(1, 3), st.sampled_from(("start", "end")), st.integers(0, 70))
def test_kernels_carry(found: tuple[Case, CpuPlan, Target], parts: int, flush: str, shift: int) -> None:
    check(found[0], Run(*found[1:], parts, flush, flush, False, shift))


@FEW
@given(carried((AVX2, AVX512), 12_000))
def test_tiles_follow_each_other_along_a_run(found: tuple[Case, CpuPlan, Target]) -> None:
    """Element by element: where one tile of a run ends in B, the next one begins."""
    c, plan, wanted = found[0].placed.canonical, *found[1:]
    handed = chain(c, plan, wanted)
    assert handed is not None
    strides, tile, panel = [static(axis.stride_b) for axis in c.axes], plan.box(c.extents), plan.panel or c.extents
    sizes = [min(p, n) if p > t else n for p, t, n in zip(panel, plan.tile, c.extents, strict=True)]
    end = 0
    for at in itertools.product(*(range(0, sizes[k], step) for k, step in handed.partial_line.loops)):
        box = dict(zip(dict(handed.partial_line.loops), at, strict=True))
        assert end == sum(start * strides[k] for k, start in box.items()), plan
        end += prod(min(tile[k], sizes[k] - box.get(k, 0)) for k in {*run_of_b(c, plan), *box})
    assert end == handed.run


@pytest.mark.parametrize("wanted", [AVX2, AVX512], ids=["avx2", "avx512"])
@pytest.mark.parametrize("fetch", ["none", "blocks", "far", "rows"])
def test_a_long_run(wanted: Target, fetch: str) -> None:
    if wanted not in runnable():
        pytest.skip(f"this machine has no {wanted.name}")
    plan = PLAN if fetch == "none" else replace(PLAN, prefetch=1 if fetch == "rows" else 4, fetch=Fetch(fetch))
    for kind in ("s", "ds", "sd", "c", "z"):
        check(Case.of(Problem((1, 0), (211, 101), kind, alpha=2.0)), Run(plan, wanted, 2, "start", "end", False))


def body_of(nest: str) -> str:
    """These lines as they stand below a nest's first one."""
    return indent(dedent(nest).strip(), "  ")


def test_the_nest_in_words() -> None:
    wanted = """
        for i1 in 211 step 128 task
          for i0 in 101 step 32 serial
            open slots s x 2048 strides (0, 16)
              for i1 in 211 step 64 serial
                stage s x 3072 strides (1, 48)
                  for i1 in 211 step 1 serial
                    load slot 16
        """
    text = str(lower(FORM, PLAN, AVX2)).partition("\n")[2]
    assert text.startswith(body_of(wanted))
    assert "row i0 scratch->b chained i0" in text


def test_the_nest_of_joined_lines_in_words() -> None:
    wanted = """
        for i1 in 211 step 128 task
          for i0 in 101 step 32 serial
            open slots s x 2048 strides (0, 16)
              for i1 in 211 step 64 serial
                for i0 in 101 step 16 serial
                  for i1 in 211 step 16 serial
                    micro 16x16 a->b streaming chained
                  tail i1
                    micro 16x3 a->b streaming chained
                tail i0
                  for i1 in 211 step 16 serial
                    micro 5x16 a->b streaming chained
                  tail i1
                    micro 5x3 a->b streaming chained
                at run end of i0
                  for i1 in 211 step 1 serial
                    flush slot
        fence
        """
    text = str(lower(FORM, PLAN, AVX512)).partition("\n")[2]
    assert text == body_of(wanted)


@pytest.mark.parametrize(("machine", "tile"), [(AVX2, 64 + 64 * 48 * 4), (AVX512, 0)], ids=["avx2", "avx512"])
def test_slots_are_part_of_scratch(machine: Target, tile: int) -> None:
    """All of it where lines are joined."""
    nest, handed = lower(FORM, PLAN, machine), chain(FORM, PLAN, machine)
    assert handed is not None
    assert handed.buffer.bytes == 128 * 64
    assert nest.scratch == 128 * 64 + tile
    assert nest.alignment == 4


@pytest.mark.parametrize(
    "plan",
    [
        replace(PLAN, tile=(8, 64), block=(8, 16), panel=(104, 128)),
        replace(PLAN, parallel=2, panel=()),
        replace(PLAN, tile=(101, 64), panel=()),
    ],
    ids=["runs shorter than a line", "other threads go on", "one tile is all"],
)
def test_runs_that_cannot_go_on_end_with_their_tile(plan: CpuPlan) -> None:
    writing = resolve(FORM, plan, AVX512)
    assert (writing.store, writing.chain, writing.by_rows) == (Store.BUFFERED, None, True)
    assert has_room(FORM, plan, AVX512)
    text = str(lower(FORM, plan, AVX512))
    assert re.search(r"row i0(,i1)? scratch->b\n", text) and "open slots" not in text and "chained" not in text


def test_without_streaming_nothing_waits() -> None:
    assert resolve(FORM, PLAN.ordinary, AVX512).chain is None
    nest = lower(FORM, PLAN.ordinary, AVX512)
    assert nest.scratch == 0 and "open slots" not in str(nest)


def test_a_run_may_go_on_in_the_innermost_loop() -> None:
    """Then a tile's own rows wait, and no others."""
    handed = chain(FORM, replace(PLAN, order=(1, 0), panel=()), AVX512)
    assert handed is not None
    assert handed.inside == 0
    assert handed.buffer.elements == 64 * 16


def test_slots_need_room() -> None:
    wide = Canonical((Axis(1001, 1 << 20, 1), Axis(1 << 20, 1, 1001)), S, S, COPY)
    plan = replace(PLAN, parallel=0, panel=())
    assert resolve(wide, plan, AVX512).store is Store.JOINED
    assert not has_room(wide, plan, AVX512)
    assert has_room(wide, replace(plan, panel=(1024, 512)), AVX512)


def test_runs_end_with_their_tile_where_slots_have_no_room() -> None:
    """Lines that are put together in scratch, which is still there."""
    wide = Canonical((Axis(1001, 1 << 20, 1), Axis(1 << 20, 1, 1001)), S, S, COPY)
    plan = replace(PLAN, parallel=0, panel=())
    assert resolve(wide, plan, AVX2).store is Store.BUFFERED
    assert has_room(wide, plan, AVX2)
    assert lower(wide, plan, AVX2).scratch <= AVX2.l2 // 2
    assert resolve(wide, replace(plan, panel=(1024, 512)), AVX2).store is Store.COMBINED


def variants(plans: Iterable[CpuPlan]) -> Iterator[CpuPlan]:
    """The plans, and some that have many slots, or much scratch."""
    for plan in plans:
        yield plan
        yield replace(plan, parallel=0, panel=())
        yield replace(plan, tile=tuple(32 * size for size in plan.tile), panel=())


def test_room_depends_on_nothing_else() -> None:
    """The walk over plans asks once for all plans that agree in these decisions."""
    asked = {True: 0, False: 0}
    for perm, size in (((1, 0), (4099, 4097)), ((0, 2, 1), (33, 1001, 999))):
        c = canonicalise(Problem(perm, size)).canonical
        known: dict[object, bool] = {}
        for plan in variants(itertools.islice(ranked(c, AVX512, 2), 40)):
            for other in itertools.chain(*(change(c, AVX512, FREE, plan) for change in CHANGES)):
                room = pays(c, other, AVX512)
                asked[room] += 1
                assert known.setdefault(room_depends_on(other), room) == room
    assert min(asked.values()) > 20  # both answers


def test_plans_that_are_forced_do_not_stand_for_others() -> None:
    """Scratch of such tiles has no room, in any plan: none but the seeds are offered."""
    c = canonicalise(Problem((1, 0), (4099, 4097))).canonical
    forced = Forced(blockings=((2048, 2048),), streaming=True)
    found = set(itertools.islice(enumerate_plans(c, AVX2, forced, lambda plans: [1.0] * len(plans)), 60))
    assert found == set(starts(c, AVX2, forced)) and not any(has_room(c, plan, AVX2) for plan in found)



def test_panels_end_runs() -> None:
    """Axis 2 comes in panels, whose tiles are walked inside of a run along axes 0 and 1: it ends there."""
    c = canonicalise(Problem((0, 2, 1), (65, 33, 2))).canonical
    plan = CpuPlan((65, 1, 1), (16, 1, 1), (1, 0, 2), (1, 2, 0), 0, 0, Store.COMBINED, panel=(65, 2, 4))
    for wanted in runnable():
        handed = chain(c, plan, wanted)
        assert handed is None or handed.partial_line.loops == ((1, 1),)
        check(Case.of(Problem((0, 2, 1), (65, 33, 2))), Run(plan, wanted, 1, "start", "end", False, 3))


@pytest.mark.parametrize("extents", [(7264, 7264), (1024, 65536), (384, 384, 384), (64, 704, 736)])
def test_many_threads_share_what_runs_go_on(extents: tuple[int, ...]) -> None:
    c = canonicalise(Problem(tuple(reversed(range(len(extents)))), extents)).canonical
    plan = chained_plan(c, blocks(c, AVX512)[0], (128, 256, 1024), Fetch.ROWS, 1)
    handed = chain(c, plan, AVX512)
    assert handed is not None
    assert handed.run * c.b.itemsize >= 512
    assert lower(c, plan, AVX512).tasks >= 24


def test_nothing_waits_where_there_is_nothing() -> None:
    c = canonicalise(Problem((1, 0), (0, 5))).canonical
    plan = CpuPlan((1,) * len(c.axes), (1,) * len(c.axes), c.along("b"), c.along("b"), store=Store.ALIGNED)
    assert for_misaligned_b(c, plan, AVX512).plan == plan.ordinary


def test_runs_never_go_on_where_b_is_read() -> None:
    c = canonicalise(Problem((1, 0), (7263, 7265), beta=2.0)).canonical
    assert allowed_stores(c, AVX512, Forced(streaming=True)) == (Store.ALIGNED,)
