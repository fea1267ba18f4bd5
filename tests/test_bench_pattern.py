"""The pattern ceiling: the same memory accesses as the plan's kernel, and no permutation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ttc_llvm.bench.ours import straightened
from ttc_llvm.ir_builders import module
from ttc_llvm.ir_builders.straight import straight
from ttc_llvm.lowering.layout import HOLE, RegisterLayout, register_layout
from ttc_llvm.lowering.lower import lower
from ttc_llvm.lowering.nest import LoopNest
from ttc_llvm.lowering.plan import CpuPlan, Store
from ttc_llvm.machine import lookup
from ttc_llvm.problem.canonical import Canonical, canonicalise
from ttc_llvm.problem.problem import Problem
from ttc_llvm.tuning.cost.model import model_plan

AVX512 = replace(lookup.find("avx512"), insert_bits=0)  # straight rows are loaded whole


def nest_of(form: Canonical, plan: CpuPlan) -> tuple[LoopNest, LoopNest]:
    """A plan's nest, and the same without permutation."""
    nest = lower(form, plan, AVX512)
    return nest, replace(nest, body=tuple(map(straightened, nest.body)))


def counts(nest: LoopNest) -> dict[str, int]:
    """How many instructions of a kind the kernel's IR has."""
    text = str(module.build(nest, AVX512))
    words = {"load": " = load ", "store": "  store ", "masked load": "call <16 x float> @\"llvm.masked.load",
             "masked store": "@\"llvm.masked.store", "shuffle": " = shufflevector "}  # fmt: skip
    return {name: text.count(word) for name, word in words.items()}


@pytest.mark.parametrize(
    ("problem", "store"),
    [
        (Problem((1, 0), (64, 64), alpha=2, beta=4), Store.CACHED),
        (Problem((1, 0), (64, 64), alpha=2, beta=4), Store.COMBINED),
        (Problem((2, 1, 0), (48, 5, 32), alpha=2, beta=4), Store.CACHED),
        (Problem((1, 0), (67, 61), alpha=2, beta=4), Store.CACHED),
    ],
)
def test_accesses_stay_and_shuffles_go(problem: Problem, store: Store) -> None:
    form = canonicalise(problem).canonical
    plan = replace(model_plan(form, AVX512, 1), store=store)
    real, bare = (counts(nest) for nest in nest_of(form, plan))
    assert real["shuffle"] > 32
    # Two scalars are spread by shuffles, and constants may need some; a 16x16 tile's 64 are gone.
    assert bare["shuffle"] <= real["shuffle"] - 64
    for access in ("load", "store", "masked load", "masked store"):
        assert bare[access] == real[access], access


def test_tiles_that_hand_runs_on_are_straight_too() -> None:
    form = canonicalise(Problem((1, 0), (211, 101))).canonical
    order = (0, 1)
    plan = CpuPlan((32, 64), (16, 16), order, order, 0, store=Store.COMBINED, panel=(101, 128))
    real, bare = nest_of(form, plan)
    assert "chained" in str(real)
    assert "a->b streaming straight chained" in str(bare)
    assert "vpermi2var" in str(module.build(bare, AVX512))
    assert counts(bare)["shuffle"] <= counts(real)["shuffle"] - 64
    assert all("straight" in line for line in str(bare).splitlines() if "micro" in line)


def test_shifted_micro_tiles_are_straight_too() -> None:
    form = canonicalise(Problem((2, 1, 0), (48, 5, 32))).canonical
    order = (0, 1, 2)
    plan = CpuPlan((16, 1, 16), (16, 1, 16), order, order, 0, store=Store.PEELED)
    real, bare = nest_of(form, plan)
    assert "peeled" in str(real)
    assert counts(bare)["shuffle"] <= counts(real)["shuffle"] - 64
    assert all("straight" in line for line in str(bare).splitlines() if "micro" in line)


def test_the_nest_says_so() -> None:
    form = canonicalise(Problem((1, 0), (64, 64))).canonical
    real, bare = nest_of(form, model_plan(form, AVX512, 1))
    assert "straight" not in str(real)
    assert all("straight" in line for line in str(bare).splitlines() if "micro" in line)


def contents(a: RegisterLayout, b: RegisterLayout) -> list[list[int]]:
    """What the network leaves in B's registers, by simulation: lanes of A's registers numbered in order."""
    net = straight(a, b)
    numbers = iter(range(10_000))
    values = [[next(numbers) for _ in r.elements] + [HOLE] * (a.lanes - len(r.elements)) for r in a.registers]
    for step in net.steps:
        both = values[step.left] + values[step.right]
        values.append([HOLE if m == HOLE else both[m] for m in step.mask])
    return [values[out][: len(r.elements)] for out, r in zip(net.outputs, b.registers, strict=True)]


@pytest.mark.parametrize(
    ("block", "a", "b", "steps"),
    [
        ((16, 16), (1, 64), (64, 1), 0),
        ((4, 16), (1, 4), (100, 1), None),  # A is one run of 64, B has rows of 16
        ((16, 4), (1, 100), (100, 1), None),  # B's rows are shorter
        ((5, 7), (1, 100), (100, 1), None),
        ((16, 3), (1, 0), (100, 1), None),  # a broadcast
    ],
)
def test_all_of_a_is_stored_in_order(
    block: tuple[int, int], a: tuple[int, int], b: tuple[int, int], steps: int | None
) -> None:
    sides = register_layout(block, a, 16), register_layout(block, b, 16)
    stored = [number for register in contents(*sides) for number in register]
    elements = sum(len(register.elements) for register in sides[0].registers)
    assert stored == [number % elements for number in range(int(np.prod(block)))]
    if steps is not None:
        assert len(straight(*sides).steps) == steps
