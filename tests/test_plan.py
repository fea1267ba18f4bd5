"""Plans: their text, and which do not fit."""

from __future__ import annotations

from dataclasses import replace

import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st

from ttc_llvm.errors import PlanError
from ttc_llvm.lowering import plan
from ttc_llvm.lowering.plan import DECISIONS, FALLBACKS, CpuPlan, Store
from ttc_llvm.lowering.plan_checks import check
from ttc_llvm.machine import lookup
from ttc_llvm.problem import dtypes
from ttc_llvm.problem.canonical import Axis, Canonical, Param
from ttc_llvm.problem.kinds import COPY

F32 = dtypes.dtype("i32")
FORM = Canonical((Axis(100, 64, 1), Axis(64, 1, 100)), F32, F32, COPY)
PLAN = CpuPlan((64, 64), (16, 16), (1, 0), (0, 1), 1, 2, Store.COMBINED)
TEXT = (
    "cpu3 tile=64,64 block=16,16 order=1,0 inner=0,1 parallel=1 prefetch=2 store=combined fetch=blocks panel=none"
)


def test_the_text_form_is_stable() -> None:
    assert str(PLAN) == TEXT
    assert plan.parse(TEXT) == PLAN
    for store in FALLBACKS:
        assert str(replace(PLAN, fallback=store)) == f"{TEXT} fallback={store.value}"
    assert plan.parse("  " + TEXT.replace(" ", "\n")) == PLAN


DECIDED = "cached, aligned, peeled, combined"


@st.composite
def forms_and_plans(draw: st.DrawFn) -> tuple[Canonical, CpuPlan]:
    """A canonical form and a plan for it."""
    c = draw(strategies.cases(500)).placed.canonical
    return c, draw(strategies.plans(c, lookup.find("avx2")))


@given(forms_and_plans())
def test_every_plan_survives_its_text(drawn: tuple[Canonical, CpuPlan]) -> None:
    c, p = drawn
    assert plan.parse(str(p)) == p
    assert check(p, c) is p


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "plan version '' is not 'cpu3'"),
        ("cpu0 tile=1", "plan version 'cpu0' is not 'cpu3'"),
        (TEXT + " turbo=1", "unknown decision 'turbo' in plan: the choices are tile, block, order"),
        (TEXT + " tile=64,64", "plan decides tile twice"),
        (TEXT.replace("tile=64,64", "tile=64,x"), "plan decision tile='64,x' is malformed"),
        (TEXT.replace("tile=64,64", "tile=64,"), "plan decision tile='64,' is malformed"),
        (TEXT.replace("store=combined", "store=7"), "plan decision store='7' is malformed"),
        (TEXT + " fallback=x", "plan decision fallback='x' is malformed"),
        (TEXT + " streaming=1", "unknown decision 'streaming' in plan"),
        (TEXT + " loads=16", "unknown decision 'loads' in plan"),
        (TEXT.replace("prefetch=2", "prefetch"), "plan decision prefetch='' is malformed"),
        (TEXT.replace(" prefetch=2", "").replace(" inner=0,1", ""), "plan lacks inner, prefetch"),
    ],
)
def test_unreadable_texts_are_refused(text: str, sentence: str) -> None:
    with pytest.raises(PlanError) as refusal:
        plan.parse(text)
    assert sentence in str(refusal.value)


def test_a_plan_has_no_other_decisions() -> None:
    with pytest.raises(PlanError, match="'turbo' is no decision of a plan: the choices are tile, block, order"):
        PLAN.changed(prefetch=2, turbo=1)
    assert PLAN.changed(prefetch=2) == replace(PLAN, prefetch=2)


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        (replace(PLAN, tile=(64,)), "plan tile=64 needs 2 positive extents"),
        (replace(PLAN, block=(16, 0)), "plan block=16,0 needs 2 positive extents"),
        (replace(PLAN, order=(0, 0)), "plan order=0,0 is not a permutation of 2 axes"),
        (replace(PLAN, inner=(1, 2)), "plan inner=1,2 is not a permutation of 2 axes"),
        (replace(PLAN, tile=(40, 64)), "plan tile 40 is not a multiple of its block 16"),
        (
            replace(PLAN, tile=(200, 200), block=(100, 100)),
            "plan block=100,100 has 10000 elements, more than 8192",
        ),
        (replace(PLAN, parallel=3), "plan parallel=3 exceeds the 2 loops"),
        (replace(PLAN, parallel=-1), "plan parallel=-1 exceeds the 2 loops"),
        *(
            (replace(PLAN, store=store), f"plan store={store.value} is not decided by plans: the choices are {DECIDED}")
            for store in Store
            if store not in DECISIONS
        ),
        *(
            (replace(PLAN, fallback=store), f"plan fallback={store.value} is not decided by plans: the choices are")
            for store in Store
            if store not in FALLBACKS
        ),
        (replace(PLAN, prefetch=-1), "plan prefetch=-1 is negative"),
        (replace(PLAN, tile=(1 << 63, 64)), "plan tile=9223372036854775808,64 has an extent above 2^63 - 1"),
        (replace(PLAN, panel=(64, 1 << 63)), "plan panel=64,9223372036854775808 has an extent above 2^63 - 1"),
    ],
)
def test_plans_that_do_not_fit_are_refused(changed: CpuPlan, sentence: str) -> None:
    with pytest.raises(PlanError) as refusal:
        check(changed, FORM)
    assert sentence in str(refusal.value)


def test_rows_of_huge_tiles_are_not_prefetched() -> None:
    """Their lines would be tables of megabytes in the code."""
    wide = Canonical((Axis(64, 1 << 20, 1), Axis(1 << 20, 1, 64)), F32, F32, COPY)
    text = "cpu3 tile=64,{} block=16,16 order=1,0 inner=1,0 parallel=1 prefetch={} store=cached fetch={} panel=none"
    for extent, prefetch, fetch in ((1 << 16, 2, "rows"), (1 << 20, 0, "rows"), (1 << 20, 2, "blocks")):
        check(plan.parse(text.format(extent, prefetch, fetch)), wide)
    with pytest.raises(PlanError) as refusal:
        check(plan.parse(text.format(1 << 17, 2, "rows")), wide)
    assert str(refusal.value) == "plan tile=64,131072 has 33554432 bytes: fetch=rows takes tiles of 16777216 at most"


def test_a_tile_over_the_whole_axis_needs_no_multiple() -> None:
    assert check(replace(PLAN, tile=(100, 64)), FORM)
    assert check(replace(PLAN, tile=(1000, 70)), FORM)


@pytest.mark.parametrize("store", DECISIONS)
def test_run_time_extents_are_never_spanned(store: Store) -> None:
    form = replace(FORM, axes=(Axis(Param(0, "n"), 64, 1), FORM.axes[1]))
    direct = replace(PLAN, store=store)
    assert check(direct, form) is direct
    with pytest.raises(PlanError, match="tile 100 is not a multiple"):
        check(replace(direct, tile=(100, 64)), form)


def test_threads_share_no_axis_twice() -> None:
    shared = CpuPlan((16, 16), (16, 16), (0, 1), (0, 1), 3, panel=(256, 4096))
    assert shared.loops((4096, 4096)) == ((0, 256), (0, 16), (1, 16))
    assert shared.grid((4096, 4096)) == ((0, 256),)
    assert replace(shared, panel=()).grid((4096, 4096)) == ((0, 16), (1, 16))
