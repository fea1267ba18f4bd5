"""Lowering without LLVM: random plans of random cases, interpreted, against the oracle."""

from __future__ import annotations

import machine
import reference
import strategies
from case import Case, expected, storages
from hypothesis import given
from hypothesis import strategies as st
from interpreter import interpret
from tiers import examples

from ttc_llvm.lowering.lower import lower
from ttc_llvm.lowering.plan import CpuPlan
from ttc_llvm.machine import lookup
from ttc_llvm.machine.target import Target

TARGETS = tuple(map(lookup.find, machine.ROWS))


@st.composite
def lowerings(draw: st.DrawFn) -> tuple[Case, CpuPlan, Target, bool]:
    """A small case, a plan, a target, and whether its sizes are run-time values."""
    case = draw(strategies.cases(1_500))
    chosen = draw(st.sampled_from(TARGETS))
    parametric = draw(st.booleans())
    return case, draw(strategies.plans(case.placed.canonical, chosen, parametric)), chosen, parametric


@examples(250)
@given(lowerings())
def test_a_lowered_plan_transposes(lowering: tuple[Case, CpuPlan, Target, bool]) -> None:
    case, plan, chosen, parametric = lowering
    placed = case.placed
    c, values = machine.parametrised(placed.canonical) if parametric else (placed.canonical, ())
    nest = lower(c, plan, chosen)
    a, b = storages(case)
    got = interpret(case, nest, placed, a, b, values)
    assert reference.same(got, expected(case, a, b), case.b, case.plain), str(nest)
