"""The cost model's networks: what they see of plans, and what they make of it; where searches go on."""

from __future__ import annotations

import itertools
from dataclasses import replace
from math import isfinite

import numpy as np
import pytest

from ttc_llvm import Problem
from ttc_llvm.lowering.plan import VERSION, parse
from ttc_llvm.machine import lookup as targets
from ttc_llvm.problem import dtypes
from ttc_llvm.problem.canonical import Axis, canonicalise, from_axes
from ttc_llvm.problem.kinds import COPY, UPDATE
from ttc_llvm.tuning.cost import networks
from ttc_llvm.tuning.cost.cost import NETWORKS_SHARE, Model
from ttc_llvm.tuning.cost.features import Features
from ttc_llvm.tuning.cost.fitted import fitted
from ttc_llvm.tuning.cost.groups import one_hot
from ttc_llvm.tuning.cost.model import onwards, ranked
from ttc_llvm.tuning.cost.networks import DOUBT, TOGETHER, Networks
from ttc_llvm.tuning.space.choices import FREE, Forced
from ttc_llvm.tuning.space.neighbours import neighbours, twins

PROBLEMS = [
    Problem((1, 0), (4000, 3001), alpha=2, beta=4),
    Problem((0, 2, 1), (9, 900, 700), "d"),
    Problem((2, 1, 0), (384, 355, 384), "c", alpha=2),
    Problem((3, 2, 0, 5, 1, 4), (39, 15, 15, 39, 15, 15)),
    Problem(tuple(reversed(range(22))), (2,) * 22, beta=1),
    Problem((0,), (1 << 24,), "d", beta=1),
]
ONE = Networks(  # says the sum of its two inputs, in each of two networks, the second one more
    ("left", "right"),
    np.zeros(2),
    np.ones(2),
    (np.array([[[50.0], [50.0]]] * 2), np.full((2, 1, 1), 1 / 50)),  # SiLU(x) is x where x is large
    (np.zeros((2, 1, 1)), np.array([[[0.0]], [[1.0]]])),
)

# Plans that were measured: machine, problem, the fastest of some hundred, and one that took about twice as long.
MEASURED = [
    (
        "graniterapids",
        Problem((2, 1, 0), (1245, 93, 291), "s", alpha=2, beta=4),
        "tile=128,1,16 block=16,1,8 "
        "order=1,0,2 inner=0,1,2 parallel=2 prefetch=2 store=cached fetch=rows panel=none",
        "tile=291,16,4 block=16,1,4 "
        "order=0,1,2 inner=0,1,2 parallel=2 prefetch=2 store=cached fetch=rows panel=none",
    ),
    (
        "graniterapids",
        Problem((0, 3, 2, 1), (114, 113, 120, 22), "s", alpha=1, beta=0),
        "tile=114,8,1,16 block=64,1,1,1 "
        "order=2,1,3,0 inner=1,2,0,3 parallel=1 prefetch=0 store=cached fetch=blocks panel=none",
        "tile=114,16,1,2 block=4,1,1,1 "
        "order=1,2,3,0 inner=1,2,3,0 parallel=1 prefetch=12 store=cached fetch=blocks panel=none",
    ),
    (
        "znver5",
        Problem((2, 1, 0), (69, 778, 311), "d", alpha=1, beta=0),
        "tile=311,2,4 block=4,1,4 "
        "order=1,2,0 inner=2,0,1 parallel=2 prefetch=2 store=combined fetch=rows panel=none",
        "tile=16,8,69 block=8,1,4 "
        "order=2,1,0 inner=2,1,0 parallel=3 prefetch=4 store=cached fetch=blocks panel=none",
    ),
    (
        "znver5",
        Problem((0, 3, 2, 1), (44, 52, 112, 128), "s", alpha=2, beta=4),
        "tile=44,64,1,4 block=44,1,1,1 "
        "order=2,1,3,0 inner=0,2,1,3 parallel=2 prefetch=0 store=cached fetch=blocks panel=none",
        "tile=44,8,1,8 block=32,1,1,1 "
        "order=1,2,3,0 inner=3,2,0,1 parallel=1 prefetch=12 store=cached fetch=blocks panel=none",
    ),
    (
        "emeraldrapids",
        Problem((1, 0, 2), (240, 848, 80), "d", alpha=1, beta=0),
        "tile=32,240,1 block=16,8,1 "
        "order=2,0,1 inner=2,0,1 parallel=2 prefetch=0 store=aligned fetch=blocks panel=none",
        "tile=8,4,1 block=8,2,1 "
        "order=0,2,1 inner=0,2,1 parallel=2 prefetch=0 store=aligned fetch=blocks panel=none",
    ),
    (
        "emeraldrapids",
        Problem((1, 0, 2), (240, 848, 80), "d", alpha=2, beta=4),
        "tile=8,16,1 block=8,16,1 "
        "order=2,1,0 inner=0,1,2 parallel=1 prefetch=1 store=cached fetch=rows panel=none",
        "tile=8,4,1 block=4,4,1 "
        "order=2,1,0 inner=2,1,0 parallel=2 prefetch=1 store=cached fetch=rows panel=none",
    ),
    (
        "cascadelake",
        Problem((0, 3, 2, 1), (30, 19, 56, 534), "d", alpha=1, beta=0),
        "tile=30,1,1,19 block=30,1,1,1 "
        "order=2,1,0,3 inner=0,1,2,3 parallel=1 prefetch=1 store=cached fetch=rows panel=none",
        "tile=30,8,56,1 block=16,1,1,1 "
        "order=0,3,2,1 inner=3,2,1,0 parallel=3 prefetch=4 store=combined fetch=blocks panel=none",
    ),
    (
        "cascadelake",
        Problem((1, 0), (8937, 3753), "s", alpha=2, beta=4),
        "tile=32,192 block=4,4 "
        "order=1,0 inner=1,0 parallel=1 prefetch=1 store=cached fetch=rows panel=256,192",
        "tile=8,256 block=8,16 "
        "order=0,1 inner=0,1 parallel=1 prefetch=0 store=cached fetch=blocks panel=256,256",
    ),
]


@pytest.mark.parametrize("target", ["sse2", "haswell", "znver5", "cascadelake", "neoverse-v1", "riscv"])
@pytest.mark.parametrize("problem", PROBLEMS, ids=str)
def test_every_plan_has_the_inputs_that_the_network_was_trained_with(problem: Problem, target: str) -> None:
    canonical, machine = canonicalise(problem).canonical, targets.find(target)
    inputs = Features(canonical, machine).numbers
    for plan in itertools.islice(ranked(canonical, machine, 2), 30):
        numbers = inputs(plan)
        assert len(numbers) == len(fitted().networks.mean)
        assert all(map(isfinite, numbers))


def test_inputs_differ_between_plans_and_are_the_same_for_equal_ones() -> None:
    canonical, machine = canonicalise(PROBLEMS[0]).canonical, targets.find("znver5")
    inputs = Features(canonical, machine).numbers
    plans = list(itertools.islice(ranked(canonical, machine, 2), 20))
    fresh = [Features(canonical, machine).numbers(plan) for plan in plans]
    assert [inputs(plan) for plan in plans] == fresh
    assert len({tuple(numbers) for numbers in fresh}) > 10


def test_a_decision_is_one_place_among_its_values() -> None:
    assert one_hot("inner", "b", ("a", "b", "c")) == {"inner a": 0.0, "inner b": 1.0, "inner c": 0.0}
    assert one_hot("inner", "", ("a", "b")) == {"inner a": 0.0, "inner b": 0.0}


def test_many_plans_cost_what_each_costs_alone() -> None:
    model = Model(canonicalise(PROBLEMS[0]).canonical, targets.find("znver5"), 2)
    plans = list(itertools.islice(ranked(model.canonical, model.target, 2, FREE), TOGETHER + 5))
    assert model.costs(plans) == pytest.approx([model(plan) for plan in plans], rel=1e-5)
    assert len(set(model.scores(plans))) > 5
    assert model.costs([]) == []


def test_the_share_of_the_network_is_what_terms_say() -> None:
    model = Model(canonicalise(PROBLEMS[0]).canonical, targets.find("znver5"), 2)
    plan = next(ranked(model.canonical, model.target, 2))
    (said,) = fitted().networks([Features(model.canonical, model.target, 2).numbers(plan)])
    assert model.terms(plan).networks == pytest.approx(NETWORKS_SHARE[model._kind] * said)


def test_networks_that_disagree_are_doubted() -> None:
    said = ONE([(1.0, 1.0), (1.0, 2.5)])
    assert said == pytest.approx([2.5 + DOUBT * 0.5, 4.0 + DOUBT * 0.5])


def test_what_was_never_seen_counts_as_the_furthest_that_was() -> None:
    assert ONE([(1e30, 1.0)]) == ONE([(networks.FAR, 1.0)])


def test_more_plans_than_fit_together_keep_their_order() -> None:
    plans = [(1.0, 0.1 * number % 3) for number in range(2 * TOGETHER + 3)]
    assert ONE(plans) == pytest.approx([ONE([plan])[0] for plan in plans])


def test_equal_plans_tie_wherever_they_stand() -> None:
    canonical, machine = canonicalise(PROBLEMS[0]).canonical, targets.find("znver5")
    numbers = Features(canonical, machine).numbers(next(ranked(canonical, machine, 2)))
    said = [value for count in (1, 2, 5, 7, TOGETHER + 1) for value in fitted().networks([numbers] * count)]
    assert len(set(said)) == 1


@pytest.mark.parametrize(("cpu", "problem", "fast", "slow"), MEASURED)
def test_plans_that_took_twice_as_long_are_told_apart(cpu: str, problem: Problem, fast: str, slow: str) -> None:
    canonical, machine = canonicalise(problem).canonical, targets.find(cpu)
    inputs = Features(canonical, machine).numbers
    pair = [parse(f"{VERSION} {text}") for text in (fast, slow)]
    first, second = fitted().networks([inputs(plan) for plan in pair])
    assert second - first > 0.2
    assert Model(canonical, machine, 1)(pair[0]) < Model(canonical, machine, 1)(pair[1])


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("problem", PROBLEMS[:4], ids=str)
def test_a_search_goes_on_to_the_likeliest_neighbours_first(problem: Problem, threads: int) -> None:
    canonical, machine = canonicalise(problem).canonical, targets.find("znver5")
    plan = next(ranked(canonical, machine, threads))
    found = onwards(canonical, machine, threads)(plan)
    assert set(found) == {*neighbours(canonical, machine, FREE, plan), *twins(machine, plan)}
    alike = [other for other in found if replace(other, parallel=plan.parallel) == plan]
    rest = [other for other in found if other not in alike]
    for group in (alike, rest):
        costs = Model(canonical, machine, threads).costs(group)
        assert costs == pytest.approx(sorted(costs), rel=2e-4)
    if threads == 1:  # loops to share make no difference: such plans come last
        assert found == (*rest, *alike)


def test_a_search_keeps_what_is_forced() -> None:
    canonical, machine = canonicalise(PROBLEMS[0]).canonical, targets.find("znver5")
    forced = Forced(orders=((1, 0),), prefetch=(5,))
    plan = next(ranked(canonical, machine, 2, forced))
    found = onwards(canonical, machine, 2, forced)(plan)
    assert found
    assert {(other.order, other.prefetch) for other in found} == {((1, 0), 5)}


@pytest.mark.parametrize("rank", range(1, 5))
@pytest.mark.parametrize("name", ["sapphirerapids", "znver4", "haswell"])
def test_tensors_in_every_cache_have_a_plan(name: str, rank: int) -> None:
    """Also those of which an axis has gaps in A or in B, be it the only one."""
    target = targets.find(name)
    for bytes_, size, gap, side, kinds in itertools.product((1 << 13, 1 << 19), (1, 8), (1, 3), "ab", (COPY, UPDATE)):
        dtype = dtypes.dtype({1: "i8", 8: "d"}[size])
        extent = round((bytes_ // size) ** (1 / rank))
        steps = [gap * extent**k for k in range(rank)]
        plain = [extent**k for k in range(rank)][::-1]
        of, to = (steps, plain) if side == "a" else (plain, steps)
        axes = [Axis(extent, *strides) for strides in zip(of, to, strict=True)]
        canonical = from_axes(axes, dtype, dtype, kinds).canonical
        plan = next(ranked(canonical, target, 1, FREE))
        assert isfinite(Model(canonical, target, 1)(plan)) and plan.tile
