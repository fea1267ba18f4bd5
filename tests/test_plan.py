"""Plans: their text, and which do not fit."""

from __future__ import annotations

from dataclasses import replace

import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st

from ttc_llvm import dtypes, plan, plan_text, target
from ttc_llvm.canonical import COPY, Axis, Canonical, Param
from ttc_llvm.errors import PlanError
from ttc_llvm.plan import CpuPlan, Staging
from ttc_llvm.plan_text import Change

F32 = dtypes.dtype("i32")
FORM = Canonical((Axis(100, 64, 1), Axis(64, 1, 100)), F32, F32, COPY)
PLAN = CpuPlan((64, 64), (16, 16), (1, 0), (0, 1), 1, 2, True, Staging.A)
TEXT = (
    "cpu2 tile=64,64 block=16,16 order=1,0 inner=0,1 parallel=1 prefetch=2 streaming=1 staging=a fetch=blocks"
    " panel=none"
)


def test_the_text_form_is_stable() -> None:
    assert str(PLAN) == TEXT
    assert plan.parse(TEXT) == PLAN
    assert str(replace(PLAN, unaligned=Staging.NONE)) == TEXT + " unaligned=none"
    assert str(replace(PLAN, loads=16)) == TEXT + " loads=16"
    assert plan.parse("  " + TEXT.replace(" ", "\n")) == PLAN


def test_texts_of_the_first_version_are_plans_of_today() -> None:
    first = TEXT.replace("cpu2", "cpu1").removesuffix(" panel=none").removesuffix(" fetch=blocks")
    assert plan.parse(first) == PLAN
    with pytest.raises(PlanError, match="plan lacks prefetch"):
        plan.parse(first.replace(" prefetch=2", ""))


MERGED = Change(("streaming", "staging"), ("store",), {("0", "none"): ("cached",), ("1", "b"): ("buffered",)})
NEXT = {
    "x1": ("x2", (MERGED, Change(("loads",), ()))),
    "x2": ("x3", (Change(("unaligned",), ("fallback",)), Change((), ("far",), {(): ("0",)}))),
}


@pytest.mark.parametrize(
    ("text", "decisions"),
    [
        ("x1 streaming=1 staging=b tile=4", {"tile": "4", "store": "buffered", "far": "0"}),
        ("x1 staging=none loads=16 streaming=0", {"store": "cached", "far": "0"}),
        ("x1 unaligned=b", {"fallback": "b", "far": "0"}),
        ("x2 unaligned=b loads=16", {"loads": "16", "fallback": "b", "far": "0"}),
        ("x3 streaming=1", {"streaming": "1"}),
    ],
)
def test_decisions_of_earlier_versions_become_those_of_the_last(
    text: str, decisions: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plan_text, "FORMER", NEXT)
    assert plan_text.today(text) == ("x3", decisions)


def test_what_nothing_became_of_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan_text, "FORMER", NEXT)
    for text in ("x1 streaming=1 staging=a", "x1 streaming=1"):
        with pytest.raises(PlanError, match=r"'streaming=1 staging=a?' has no successor"):
            plan_text.today(text)


@st.composite
def forms_and_plans(draw: st.DrawFn) -> tuple[Canonical, CpuPlan]:
    """A canonical form and a plan for it."""
    c = draw(strategies.cases(500)).placed.canonical
    return c, draw(strategies.plans(c, target.find("avx2")))


@given(forms_and_plans())
def test_every_plan_survives_its_text(drawn: tuple[Canonical, CpuPlan]) -> None:
    c, p = drawn
    assert plan.parse(str(p)) == p
    assert plan.check(p, c) is p


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "plan version '' is not 'cpu2'"),
        ("cpu0 tile=1", "plan version 'cpu0' is not 'cpu2'"),
        (TEXT + " turbo=1", "unknown decision 'turbo' in plan: the choices are tile, block, order"),
        (TEXT + " tile=64,64", "plan decides tile twice"),
        (TEXT.replace("tile=64,64", "tile=64,x"), "plan decision tile='64,x' is malformed"),
        (TEXT.replace("tile=64,64", "tile=64,"), "plan decision tile='64,' is malformed"),
        (TEXT.replace("streaming=1", "streaming=7"), "plan decision streaming='7' is malformed"),
        (TEXT.replace("staging=a", "staging=c"), "plan decision staging='c' is malformed"),
        (TEXT + " unaligned=x", "plan decision unaligned='x' is malformed"),
        (TEXT + " loads=x", "plan decision loads='x' is malformed"),
        (TEXT.replace("prefetch=2", "prefetch"), "plan decision prefetch='' is malformed"),
        (TEXT.replace(" prefetch=2", "").replace(" inner=0,1", ""), "plan lacks inner, prefetch"),
    ],
)
def test_unreadable_texts_are_refused(text: str, sentence: str) -> None:
    with pytest.raises(PlanError) as refusal:
        plan.parse(text)
    assert sentence in str(refusal.value)


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
        (replace(PLAN, unaligned=Staging.A), "plan unaligned=a is no way to store"),
        (replace(PLAN, loads=8), "plan loads=8 is no length of a load: the choices are 16, 32"),
        (replace(PLAN, prefetch=-1), "plan prefetch=-1 is negative"),
    ],
)
def test_plans_that_do_not_fit_are_refused(changed: CpuPlan, sentence: str) -> None:
    with pytest.raises(PlanError) as refusal:
        plan.check(changed, FORM)
    assert sentence in str(refusal.value)


def test_a_tile_over_the_whole_axis_needs_no_multiple() -> None:
    assert plan.check(replace(PLAN, tile=(100, 64)), FORM)
    assert plan.check(replace(PLAN, tile=(1000, 70)), FORM)


def test_run_time_extents_are_never_spanned_and_not_staged() -> None:
    form = replace(FORM, axes=(Axis(Param(0, "n"), 64, 1), FORM.axes[1]))
    direct = replace(PLAN, staging=Staging.NONE)
    assert plan.check(direct, form) is direct
    with pytest.raises(PlanError, match="staging=a needs extents that are known"):
        plan.check(PLAN, form)
    with pytest.raises(PlanError, match="tile 100 is not a multiple"):
        plan.check(replace(direct, tile=(100, 64)), form)


def test_threads_share_no_axis_twice() -> None:
    shared = CpuPlan((16, 16), (16, 16), (0, 1), (0, 1), 3, panel=(256, 4096))
    assert shared.loops((4096, 4096)) == ((0, 256), (0, 16), (1, 16))
    assert shared.grid((4096, 4096)) == ((0, 256),)
    assert replace(shared, panel=()).grid((4096, 4096)) == ((0, 16), (1, 16))
