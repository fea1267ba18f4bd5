"""Lines of micro-tiles that are asked for into L2 only."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import islice

import pytest

from ttc_llvm import Problem
from ttc_llvm.explain.pseudo import lines
from ttc_llvm.ir_builders import module
from ttc_llvm.lowering.lower import lower
from ttc_llvm.lowering.plan import DECISIONS, CpuPlan, Fetch, Store
from ttc_llvm.machine import lookup
from ttc_llvm.machine.target import Target
from ttc_llvm.problem.canonical import canonicalise
from ttc_llvm.tuning.cost.cost import Model
from ttc_llvm.tuning.cost.model import onwards, ranked
from ttc_llvm.tuning.space.candidates import seeds
from ttc_llvm.tuning.space.choices import FREE, Forced, fetches
from ttc_llvm.tuning.space.neighbours import neighbours, settled, twins

ZEN4, AVX512 = lookup.find("znver4"), lookup.find("avx512")
UPDATE, COPY = Problem((2, 1, 0), (400, 30, 400), beta=1), Problem((2, 1, 0), (400, 30, 400))
NEAR = CpuPlan((32, 1, 16), (16, 1, 16), (0, 1, 2), (0, 1, 2), 2, prefetch=4)
FAR = replace(NEAR, fetch=Fetch.FAR)
REQUEST = re.compile(r'call void @"llvm.prefetch\.p0"\(ptr (\S+), i32 0, i32 (\d), i32 1\)')


def built(problem: Problem, plan: CpuPlan) -> str:
    return str(module.build(lower(canonicalise(problem).canonical, plan, AVX512), AVX512))


@pytest.mark.parametrize("problem", [UPDATE, COPY, replace(UPDATE, size=(401, 31, 399))], ids=["update", "copy", "odd"])
@pytest.mark.parametrize("store", DECISIONS)
def test_the_same_lines_are_prefetched_into_l2(problem: Problem, store: Store) -> None:
    near, far = (built(problem, replace(plan, store=store)) for plan in (NEAR, FAR))
    levels = [{level for _, level in REQUEST.findall(text)} for text in (near, far)]
    rows = {"3"} if "row" in str(lower(canonicalise(problem).canonical, replace(FAR, store=store), AVX512)) else set()
    assert levels == [{"3"}, {"2", *rows}]  # ends of rows of B are asked for one at a time
    assert REQUEST.sub(r"\1", near) == REQUEST.sub(r"\1", far)


def test_the_cache_level_is_told() -> None:
    form = canonicalise(UPDATE).canonical
    told = ["\n".join(lines(lower(form, plan, AVX512))) for plan in (NEAR, FAR)]
    assert "prefetch what comes 4 micro-tiles later, into L1" in told[0]
    assert "prefetch what comes 4 micro-tiles later, into L2" in told[1]
    assert "prefetch 4 far" in str(lower(form, FAR, AVX512))


def test_machines_that_ask_into_l2() -> None:
    """Where columns are read: rows that stay gain nothing."""
    columns, rows = canonicalise(UPDATE).canonical, canonicalise(replace(UPDATE, perm=(0, 2, 1))).canonical
    assert fetches(columns, ZEN4) == ((Fetch.ROWS, 1), (Fetch.FAR, 8))
    for form, machine in ((columns, AVX512), (rows, ZEN4), (rows, AVX512)):
        assert fetches(form, machine) == ((Fetch.ROWS, 1), (Fetch.BLOCKS, 6))
    host = lookup.for_features("znver4", frozenset({"avx2"}), "+avx2")
    assert host.far and not lookup.find("znver5").far


@pytest.mark.parametrize(("machine", "asked"), [(ZEN4, Fetch.FAR), (AVX512, Fetch.BLOCKS)], ids=str)
def test_what_seeds_ask_for(machine: Target, asked: Fetch) -> None:
    ragged = Problem((2, 1, 0), (401, 301, 401))
    for problem in (UPDATE, ragged):
        offered = list(seeds(canonicalise(problem).canonical, machine, FREE))
        for how in {plan.store for plan in offered}:
            found = {plan.fetch for plan in offered if plan.prefetch and plan.store is how}
            assert found == {asked, Fetch.ROWS}
    form = canonicalise(UPDATE).canonical
    assert {plan.prefetch for plan in seeds(form, ZEN4, FREE) if plan.fetch is Fetch.FAR} >= {4, 8}
    for distances in ((5,), (0, 4)):
        forced = islice(ranked(form, machine, 1, Forced(prefetch=distances)), 40)
        assert {(plan.prefetch, plan.fetch) for plan in forced if plan.prefetch} == {(distances[-1], asked)}


def test_whether_anything_is_prefetched_is_a_change_both_ways() -> None:
    form = canonicalise(UPDATE).canonical
    silent = settled(form.extents, FREE, replace(NEAR, prefetch=0))
    assert silent in neighbours(form, ZEN4, FREE, settled(form.extents, FREE, FAR))
    asked = {plan.prefetch for plan in neighbours(form, ZEN4, FREE, silent) if plan.fetch is Fetch.FAR}
    assert asked == {2, 4, 6, 8, 12, 16}


@pytest.mark.parametrize("machine", [ZEN4, AVX512], ids=str)
def test_searches_try_the_other_cache(machine: Target) -> None:
    """From plans that proved fast, on any machine."""
    form = canonicalise(replace(UPDATE, size=(4000, 30, 400))).canonical
    assert FAR in onwards(form, machine, 1)(NEAR)
    assert NEAR in onwards(form, machine, 1)(FAR)
    for plan in (replace(NEAR, prefetch=8), replace(FAR, prefetch=6)):
        found = onwards(form, machine, 1)(plan)
        assert len(found) == len(set(found))
    silent = replace(NEAR, prefetch=0)
    assert replace(silent, fetch=Fetch.FAR) not in onwards(form, machine, 1)(silent)


def test_the_model_knows_the_difference_where_it_was_measured() -> None:
    form = canonicalise(replace(UPDATE, size=(4000, 30, 400))).canonical
    assert Model(form, AVX512, 1)(NEAR) == Model(form, AVX512, 1)(FAR)
    assert Model(form, ZEN4, 1)(NEAR) > Model(form, ZEN4, 1)(FAR)


def test_machines_that_cannot_ask_have_no_other_cache() -> None:
    assert list(twins(AVX512, NEAR)) == [FAR]
    assert list(twins(lookup.find("rvv"), NEAR)) == []
