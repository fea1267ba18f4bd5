"""The cost model's network: what it sees of plans, and what it makes of it."""

from __future__ import annotations

import itertools
from math import isfinite

import numpy as np
import pytest

from ttc_llvm import Problem
from ttc_llvm import target as targets
from ttc_llvm.canonical import canonicalise
from ttc_llvm.tuning import network
from ttc_llvm.tuning.choices import FREE
from ttc_llvm.tuning.cost import NETWORK, Model
from ttc_llvm.tuning.features import Features
from ttc_llvm.tuning.inputs import MODES, Inputs, one_hot
from ttc_llvm.tuning.model import ranked
from ttc_llvm.tuning.network import DOUBT, TOGETHER, Network

PROBLEMS = [
    Problem((1, 0), (4000, 3001), alpha=2, beta=4),
    Problem((0, 2, 1), (9, 900, 700), "d"),
    Problem((2, 1, 0), (384, 355, 384), "c", alpha=2),
    Problem((3, 2, 0, 5, 1, 4), (39, 15, 15, 39, 15, 15)),
    Problem(tuple(reversed(range(22))), (2,) * 22, beta=1),
    Problem((0,), (1 << 24,), "d", beta=1),
]
ONE = Network(  # says the sum of its two inputs, in each of two networks, the second one more
    np.zeros(2),
    np.ones(2),
    (np.array([[[50.0], [50.0]]] * 2), np.full((2, 1, 1), 1 / 50)),  # SiLU(x) is x where x is large
    (np.zeros((2, 1, 1)), np.array([[[0.0]], [[1.0]]])),
)


@pytest.mark.parametrize("target", ["sse2", "haswell", "znver5", "cascadelake", "neoverse-v1", "riscv"])
@pytest.mark.parametrize("problem", PROBLEMS, ids=str)
def test_every_plan_has_the_inputs_that_the_network_was_trained_with(problem: Problem, target: str) -> None:
    canonical, machine = canonicalise(problem).canonical, targets.find(target)
    features = Features(canonical, machine)
    inputs = Inputs(features)
    for plan in itertools.islice(ranked(canonical, machine, 2), 30):
        numbers = inputs(plan)
        assert len(numbers) == len(network.network().mean)
        assert all(map(isfinite, numbers))


def test_inputs_differ_between_plans_and_are_the_same_for_equal_ones() -> None:
    canonical, machine = canonicalise(PROBLEMS[0]).canonical, targets.find("znver5")
    features = Features(canonical, machine)
    inputs = Inputs(features)
    plans = list(itertools.islice(ranked(canonical, machine, 2), 20))
    fresh = [Inputs(Features(canonical, machine))(plan) for plan in plans]
    assert [inputs(plan) for plan in plans] == fresh
    assert len({tuple(numbers) for numbers in fresh}) > 10


def test_a_decision_is_one_place_among_its_values() -> None:
    assert one_hot("b", ("a", "b", "c")) == (0.0, 1.0, 0.0)
    assert one_hot("", ("a", "b")) == (0.0, 0.0)
    assert len(set(MODES)) == len(MODES) == 8


def test_many_plans_cost_what_each_costs_alone() -> None:
    model = Model(canonicalise(PROBLEMS[0]).canonical, targets.find("znver5"), 2)
    plans = list(itertools.islice(ranked(model.canonical, model.target, 2, FREE), TOGETHER + 5))
    assert model.costs(plans) == pytest.approx([model(plan) for plan in plans], rel=1e-5)
    assert len(set(model.scores(plans))) > 5
    assert model.costs([]) == []


def test_the_share_of_the_network_is_what_terms_say() -> None:
    model = Model(canonicalise(PROBLEMS[0]).canonical, targets.find("znver5"), 2)
    plan = next(ranked(model.canonical, model.target, 2))
    features = Features(model.canonical, model.target)
    (said,) = network.network()([Inputs(features)(plan)])
    assert model.terms(plan).network == pytest.approx(NETWORK * said)


def test_networks_that_disagree_are_doubted() -> None:
    said = ONE([(1.0, 1.0), (1.0, 2.5)])
    assert said == pytest.approx([2.5 + DOUBT * 0.5, 4.0 + DOUBT * 0.5])


def test_what_was_never_seen_counts_as_the_furthest_that_was() -> None:
    assert ONE([(1e30, 1.0)]) == ONE([(network.FAR, 1.0)])


def test_more_plans_than_fit_together_keep_their_order() -> None:
    plans = [(1.0, 0.1 * number % 3) for number in range(2 * TOGETHER + 3)]
    assert ONE(plans) == pytest.approx([ONE([plan])[0] for plan in plans])
