"""How a plan writes B: `resolve` is pure and total, and whatever it says is true of the nest."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st
from machine import ROWS, parametrised
from tiers import examples

from ttc_llvm.ir_builders import module
from ttc_llvm.lowering import peeling, writing
from ttc_llvm.lowering.lower import lower
from ttc_llvm.lowering.nest import LoopNest
from ttc_llvm.lowering.nodes import Micro, OpenSlots, Peeled, Row, Stage, every
from ttc_llvm.lowering.operands import Buffer, PartialLine, Space
from ttc_llvm.lowering.plan import DECISIONS, CpuPlan, Store
from ttc_llvm.lowering.plan_checks import check
from ttc_llvm.lowering.writing import resolve
from ttc_llvm.machine import lookup
from ttc_llvm.machine.target import Target
from ttc_llvm.problem.canonical import Canonical, canonicalise
from ttc_llvm.problem.kinds import Alpha, Beta
from ttc_llvm.problem.problem import Problem

AVX512 = lookup.find("avx512")
MACHINES = tuple(map(lookup.find, (*ROWS, "rvv", "sve256", "neon", "x86-64")))
# Which decision of a plan comes to each strategy.
DECIDED = {Store.ROWS: Store.PEELED, Store.BUFFERED: Store.COMBINED, Store.JOINED: Store.COMBINED} | {
    store: store for store in DECISIONS
}


@st.composite
def written(draw: st.DrawFn) -> tuple[Canonical, CpuPlan, Target]:
    """Any plan for any canonical form, extents and strides known or not, on any machine."""
    c, wanted = draw(strategies.cases(3_000)).placed.canonical, draw(st.sampled_from(MACHINES))
    parametric = draw(st.integers(0, 7)) == 7
    plan = draw(strategies.plans(c, wanted, parametric))
    return parametrised(c)[0] if parametric else c, plan, wanted


def buffers(nest: LoopNest, kind: type[Stage] | type[OpenSlots]) -> set[Buffer]:
    return {node.buffer for node in every(nest.body) if isinstance(node, kind)}


def partial_lines(nest: LoopNest) -> set[PartialLine]:
    found = (node.partial_line for node in every(nest.body) if isinstance(node, (Micro, Row)))
    return {line for line in found if line is not None}


@examples(150)
@given(written())
def test_every_plan_writes_b_somehow(drawn: tuple[Canonical, CpuPlan, Target]) -> None:
    """The same each time, whether it is remembered or not; and only how B is written differs from the plan."""
    c, plan, wanted = drawn
    found = resolve(c, plan, wanted)
    assert found == resolve.__wrapped__(c, plan, wanted)
    assert found.plan.non_temporal is (found.store is not Store.CACHED)
    assert replace(found.plan, store=plan.store, fallback=plan.fallback) == plan
    assert found.alignment == 1 or found.alignment >= c.b.itemsize
    if c.kinds.beta is not Beta.ZERO or plan.store is Store.CACHED:
        assert found.store is Store.CACHED
    else:
        assert found.plan.non_temporal
    if c.kinds.alpha is Alpha.ZERO:
        assert (found.chain, found.buffer, found.grain) == (None, None, 0)


@examples(150)
@given(written())
def test_the_nest_is_what_is_said_of_it(drawn: tuple[Canonical, CpuPlan, Target]) -> None:
    c, plan, wanted = drawn
    found, nest = resolve(c, plan, wanted), lower(c, plan, wanted)
    if not nest.body:
        return
    assert nest.alignment == found.alignment
    assert buffers(nest, Stage) == {found.buffer} - {None}
    assert buffers(nest, OpenSlots) == ({found.chain.buffer} if found.chain else set())
    assert partial_lines(nest) == ({found.chain.partial_line} if found.chain else set())
    assert nest.scratch == max((one.end for one in (*buffers(nest, Stage), *buffers(nest, OpenSlots))), default=0)
    assert any(isinstance(node, Row) for node in every(nest.body)) is found.by_rows
    assert {node.grain for node in every(nest.body) if isinstance(node, Peeled)} == {found.grain} - {0}
    assert ("fence" in str(nest)) is found.plan.non_temporal


@examples(150)
@given(written())
def test_a_plan_that_decides_for_what_serves_is_the_same_nest(drawn: tuple[Canonical, CpuPlan, Target]) -> None:
    c, plan, wanted = drawn
    decided = replace(plan, store=DECIDED[resolve(c, plan, wanted).store])
    assert lower(c, check(decided, c), wanted) == lower(c, plan, wanted)


# --- each strategy ---------------------------------------------------------------------------------------------------

SQUARE, RAGGED = Problem((1, 0), (64, 96)), Problem((0, 2, 1), (37, 9, 11))
TILED = CpuPlan((32, 32), (16, 16), (0, 1), (0, 1), 0)
CHAINED = replace(TILED, store=Store.COMBINED)
LONG = CpuPlan((37, 4, 4), (16, 1, 1), (2, 1, 0), (2, 1, 0), 0)
EXAMPLES = {
    # problem, machine, plan, what serves, bytes of alignment, scratch and slots that there are
    "ordinary stores": (SQUARE, "avx512", TILED, Store.CACHED, 1, ()),
    "whole micro-tiles": (SQUARE, "avx512", replace(TILED, store=Store.ALIGNED), Store.ALIGNED, 64, ()),
    "rows of A are ragged rows of B": (RAGGED, "avx512", replace(LONG, store=Store.ALIGNED), Store.ROWS, 4, ()),
    "or are to find their boundaries": (
        replace(RAGGED, size=(48, 9, 11)), "avx512", replace(LONG, tile=(48, 4, 4), store=Store.PEELED),
        Store.ROWS, 4, ()),
    "from B's first line on": (SQUARE, "avx512", replace(TILED, store=Store.PEELED), Store.PEELED, 4, ()),
    "rows that begin anywhere cannot be peeled": (
        replace(SQUARE, size=(64, 97)), "avx512", replace(TILED, store=Store.PEELED), Store.ALIGNED, 64, ()),
    "in scratch, with slots": (SQUARE, "avx2", CHAINED, Store.COMBINED, 4, (Stage, OpenSlots)),
    "in registers, with slots": (SQUARE, "avx512", CHAINED, Store.JOINED, 4, (OpenSlots,)),
    "a tile has whole runs": (
        replace(SQUARE, ldb=(112, 64)), "avx512", replace(TILED, tile=(96, 32), store=Store.COMBINED),
        Store.BUFFERED, 4, (Stage,)),
    "threads share the runs": (
        SQUARE, "avx512", replace(TILED, parallel=2, store=Store.COMBINED), Store.BUFFERED, 4, (Stage,)),
    "B is read": (replace(SQUARE, beta=1), "avx2", replace(TILED, store=Store.COMBINED), Store.CACHED, 1, ()),
    "A is not read": (replace(SQUARE, ldb=(112, 64), alpha=0), "avx2", replace(TILED, store=Store.COMBINED),
        Store.ALIGNED, 32, ()),
}  # fmt: skip


@pytest.mark.parametrize("name", EXAMPLES)
def test_each_strategy_serves(name: str) -> None:
    problem, machine, plan, store, alignment, kept = EXAMPLES[name]
    c, wanted = canonicalise(problem).canonical, lookup.find(machine)
    found, nest = resolve(c, plan, wanted), lower(c, plan, wanted)
    assert (found.store, found.alignment, nest.alignment) == (store, alignment, alignment)
    assert (found.buffer is not None, found.chain is not None) == (Stage in kept, OpenSlots in kept)
    kinds = (kind for kind in (Stage, OpenSlots) if any(isinstance(node, kind) for node in every(nest.body)))
    assert tuple(kinds) == kept
    spaces = {node.target.space for node in every(nest.body) if isinstance(node, Micro)}
    assert spaces == ({Space.SCRATCH} if Stage in kept else set() if found.store is Store.ROWS else {Space.B})


def test_every_strategy_has_an_example() -> None:
    assert {store for _, _, _, store, *_ in EXAMPLES.values()} == set(Store)
    assert set(DECIDED) == set(Store)


@pytest.mark.parametrize("page", ["design/stores.md", "reference/glossary.md"])
def test_pages_describe_every_strategy(page: str) -> None:
    text = (Path(__file__).parent.parent / "docs" / page).read_text()
    assert [store.name for store in Store if not re.search(rf"^(\| `)?{store.name}\b", text, re.MULTILINE)] == []


def test_what_is_asked_once_is_remembered() -> None:
    """Planning asks for the same plan many times."""
    c, wanted = canonicalise(SQUARE).canonical, lookup.find("avx512")
    plan = CHAINED
    assert resolve(c, plan, wanted) is resolve(c, plan, wanted)


@pytest.mark.parametrize("machine", ["x86-64", "rvv", "sve256"])
def test_machines_that_cannot_peel_or_join(machine: str) -> None:
    c, wanted = canonicalise(SQUARE).canonical, lookup.find(machine)
    assert peeling.peeled_grain(c, TILED, wanted) == 0 or machine == "sve256"
    assert resolve(c, replace(TILED, store=Store.COMBINED), wanted).store is not Store.JOINED


@pytest.mark.parametrize(
    ("size", "dtype", "block", "whole"),
    [
        ((301, 10), "d", (10, 8), True),
        ((301, 10), "d", (10, 4), True),
        ((301, 10), "d", (10, 2), False),
        ((301, 10), "d", (8, 8), False),
        ((301, 16), "d", (8, 8), True),
        ((301, 3), "i8", (3, 64), True),
        ((40, 5, 7), "s", (5, 1, 16), False),
    ],
)
def test_whole_short_rows_are_written_past_the_caches(
    size: tuple[int, ...], dtype: str, block: tuple[int, ...], whole: bool
) -> None:
    """Non-temporal stores are those of micro-tiles that `writes_vectors` says are whole vectors."""
    perm = (1, 0) if len(size) == 2 else (1, 2, 0)
    c = canonicalise(Problem(perm, size, dtype)).canonical
    block = (*block, *[1] * (len(c.axes) - len(block)))[: len(c.axes)]
    assert writing.writes_vectors(c, block, 64) is whole
    order = tuple(range(len(c.axes)))
    plan = CpuPlan(block, block, order, order, 0, store=Store.ALIGNED)
    assert ("!nontemporal" in str(module.build(lower(c, plan, AVX512), AVX512))) is whole


def test_short_rows_that_leave_scratch_alone_do_not_pay() -> None:
    c = canonicalise(Problem((1, 0), (3001, 1001))).canonical
    plan = CpuPlan((64, 64), (16, 16), (1, 0), (0, 1), 2, store=Store.COMBINED)
    assert resolve(c, plan, AVX512).store is Store.BUFFERED
    assert writing.has_room(c, plan, AVX512) and not writing.pays(c, plan, AVX512)
    assert writing.pays(c, replace(plan, tile=(128, 64)), AVX512)
