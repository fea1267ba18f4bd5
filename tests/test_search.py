"""The search, on a simulated machine: budget, order, dropping, mutations, finalists, interruptions."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiers import examples

from ttc_llvm.errors import VerificationError
from ttc_llvm.lowering.plan import CpuPlan
from ttc_llvm.tuning.search.leaderboard import FINAL_ROUNDS, FINALISTS, SURE
from ttc_llvm.tuning.search.progress import Progress
from ttc_llvm.tuning.search.search import (
    BATCH,
    CUTS,
    PATIENCE,
    ROOM,
    Limits,
    Outcome,
    search,
)

BASE = CpuPlan((64, 64), (16, 16), (0, 1), (0, 1))


def plan(number: int) -> CpuPlan:
    """Plans that differ in their prefetch distance, which names them."""
    return replace(BASE, prefetch=number)


def plans(count: int) -> list[CpuPlan]:
    return [plan(number) for number in range(count)]


@dataclass
class Machine:
    """A `Subject` whose kernels are the plans themselves. cost: seconds of a plan's n-th run."""

    cost: Callable[[CpuPlan, int], float]
    wrong: frozenset[CpuPlan] = frozenset()
    stop_at: int | None = None  # the run that Ctrl-C interrupts
    built: list[CpuPlan] = field(default_factory=list)
    runs: list[CpuPlan] = field(default_factory=list)
    verified: list[CpuPlan] = field(default_factory=list)

    def build(self, plan: CpuPlan) -> CpuPlan:
        self.built.append(plan)
        return plan

    def seconds(self, kernel: CpuPlan) -> float:
        self.runs.append(kernel)
        if len(self.runs) == self.stop_at:
            raise KeyboardInterrupt
        return self.cost(kernel, self.runs.count(kernel))

    def verify(self, kernel: CpuPlan) -> tuple[int, ...] | None:
        self.verified.append(kernel)
        return (3, 1) if kernel in self.wrong else None


def steady(cost: Callable[[int], float]) -> Machine:
    return Machine(lambda p, _: cost(p.prefetch))


def none(_: CpuPlan) -> Iterable[CpuPlan]:
    return ()


def beside(p: CpuPlan) -> Iterator[CpuPlan]:
    yield plan(p.prefetch + 1)
    yield plan(max(0, p.prefetch - 1))


def timed(outcome: Outcome[CpuPlan, CpuPlan]) -> list[int]:
    return [t.plan.prefetch for t in outcome.timings]


# --- budget and winner -----------------------------------------------------------------------------------


@examples(100)
@given(st.lists(st.floats(0.1, 10), min_size=1, max_size=60), st.integers(1, 70), st.booleans())
def test_the_fastest_of_what_was_timed_wins(costs: list[float], budget: int, mutate: bool) -> None:
    machine = steady(lambda number: costs[number % len(costs)])
    outcome = search(plans(len(costs)), beside if mutate else none, machine, Limits(budget))
    assert outcome.best.best == min(costs[k % len(costs)] for k in timed(outcome))
    assert outcome.kernel == outcome.best.plan == outcome.timings[0].plan
    assert len(outcome.timings) == len(set(timed(outcome))) <= budget
    offered = min(budget, len(costs))
    assert len(outcome.timings) >= offered if mutate else len(outcome.timings) == offered
    assert [t.best for t in outcome.timings] == sorted(t.best for t in outcome.timings)
    assert not outcome.interrupted
    assert machine.verified == [outcome.best.plan]


def test_a_budget_without_bound_takes_all_that_is_offered() -> None:
    machine = steady(lambda number: 1 + (number * 37 % 101) / 100)
    outcome = search(plans(101), beside, machine, Limits(-1))
    assert sorted(timed(outcome)) == list(range(101))
    assert outcome.best.plan == plan(0)


def test_a_budget_without_bound_follows_the_ranking_however_slow_its_plans_are() -> None:
    machine = steady(lambda number: {0: 1.0, 60: 0.5}.get(number, 2.0))
    outcome = search(plans(100), none, machine, Limits(-1))
    assert len(outcome.timings) == 100
    assert outcome.best.plan == plan(60)


def test_offers_are_drawn_lazily() -> None:
    drawn = itertools.count()
    search((plan(next(drawn)) for _ in itertools.repeat(0)), none, steady(lambda _: 1.0), Limits(10))
    assert next(drawn) <= 10


def test_plans_offered_twice_are_timed_once() -> None:
    machine = steady(lambda number: 1 + number)
    outcome = search([plan(0), plan(1), plan(0), plan(1), plan(2)], none, machine, Limits(10))
    assert sorted(timed(outcome)) == [0, 1, 2]
    assert max(Counter(machine.built).values()) == 1


def test_searches_are_deterministic() -> None:
    runs = []
    for _ in range(2):
        machine = steady(lambda number: 1 + (number * 7919 % 31) / 30)
        search(plans(40), beside, machine, Limits(30))
        runs.append(machine.runs)
    assert runs[0] == runs[1]


# --- runs ------------------------------------------------------------------------------------------------


RUNS = len(CUTS) + 1  # of a candidate, before the last rounds


def test_clearly_slower_candidates_leave_after_one_run() -> None:
    (first, _), (second, _) = CUTS
    speed = {0: 1.0, 1: first * 1.01, 2: first * 1.02, 3: first * 1.03, 4: first * 0.99, 5: second * 0.99}
    machine = steady(speed.__getitem__)
    search(plans(6), none, machine, Limits(6))
    counts = Counter(p.prefetch for p in machine.runs)
    assert [counts[number] for number in (2, 3)] == [1, 1]
    assert counts[1] == 1 + SURE  # there are four finalists, and three good plans
    assert counts[4] == 2 + SURE  # the bound narrows
    assert counts[5] == RUNS + FINAL_ROUNDS  # it keeps up
    assert counts[0] == RUNS + 1 + FINAL_ROUNDS  # it also tells the machine's speed, before the last rounds


def test_few_of_those_that_are_as_fast_run_again() -> None:
    machine = steady(lambda number: 1 + (BATCH - number) / 1000)
    search(plans(BATCH), none, machine, Limits(BATCH))
    numbers = [p.prefetch for p in machine.runs]
    assert numbers[: BATCH + 5] == [*range(BATCH), 5, 4, 3, 5, 4]


def test_candidates_are_interleaved() -> None:
    machine = steady(lambda _: 1.0)
    search(plans(BATCH), none, machine, Limits(BATCH))
    numbers = [p.prefetch for p in machine.runs]
    assert numbers[: BATCH + 5] == [*range(BATCH), 0, 1, 2, 0, 1]


def test_a_lucky_run_does_not_decide() -> None:
    """Plan 1 is fast in one run of six only, plan 0 in all later ones a little faster."""
    machine = Machine(
        lambda p, run: {0: 1.0 if run <= RUNS else 0.9}.get(p.prefetch, 0.96 if run == 2 else 1.05)
    )
    outcome = search(plans(2), none, machine, Limits(2))
    assert outcome.best.plan == plan(0)
    assert len(outcome.best.seconds) == RUNS + SURE  # the other one has left


@pytest.mark.parametrize("change", [0.5, 2.0])
@pytest.mark.parametrize("best", [2, 50])
def test_the_machines_pace_does_not_decide(change: float, best: int) -> None:
    """From run 60 on, a run takes half (or twice) as long: neither the later nor the earlier plans win by that."""
    machine = Machine(lambda p, _: 1.0)
    machine.cost = lambda p, _: (1 + abs(p.prefetch - best) / 100) * (change if len(machine.runs) > 60 else 1)
    outcome = search(plans(60), none, machine, Limits(60))
    assert outcome.best.plan == plan(best)


def test_finalists_run_again_interleaved() -> None:
    machine = steady(lambda number: 1 + number / 100)
    search(plans(12), none, machine, Limits(12))
    last = [p.prefetch for p in machine.runs[-FINALISTS * FINAL_ROUNDS - 1 :]]
    assert last == [0, *list(range(FINALISTS)) * FINAL_ROUNDS]  # behind a look at the machine's speed


# --- a machine that changes its speed ---------------------------------------------------------------------


def bound_by_memory(machine: Machine, slow: Callable[[int], bool]) -> Callable[[CpuPlan, int], float]:
    """Seconds where memory is at first fast and then, in slow runs, needs two seconds whatever the plan; plan k's core
    needs 1 + k / 20 alone."""
    return lambda p, _: max(1 + p.prefetch / 20, 2.0 if slow(len(machine.runs)) else 0.0)


@pytest.mark.parametrize("slow_from", [10, 30, 60, 90])
def test_cores_that_are_too_slow_do_not_win_while_memory_is(slow_from: int) -> None:
    """While memory takes two seconds, plan 15 is as fast as plan 0, which does not make it faster than plan 0 was."""
    machine = Machine(lambda p, _: 1.0)
    machine.cost = bound_by_memory(machine, lambda run: run > slow_from)
    outcome = search(plans(40), none, machine, Limits(40), alone=lambda p: 2 + p.prefetch / 10)
    assert outcome.best.plan == plan(0)


def disturbed_once(machine: Machine, run: int) -> Callable[[CpuPlan, int], float]:
    """Seconds where one run, whoever's it is, takes three times as long."""
    return lambda p, _: (1 + p.prefetch / 20) * (3 if len(machine.runs) == run else 1)


def test_one_disturbed_run_does_not_change_the_pace() -> None:
    """Run 31 takes three times as long: it is the look at the speed, and the plans after it would seem fast."""
    for disturbed in range(13, 60):
        machine = Machine(lambda p, _: 1.0)
        machine.cost = disturbed_once(machine, disturbed)
        outcome = search(plans(40), none, machine, Limits(40))
        assert outcome.best.plan == plan(0)
        assert all(min(t.fair) == pytest.approx(min(t.seconds)) for t in outcome.timings if len(t.seconds) > 1)


def disturbed_often(seed: int, share: float) -> Callable[[CpuPlan, int], float]:
    """Seconds where this share of the runs, by lot, takes 1.4 times as long."""
    rng = random.Random(seed)
    return lambda p, _: (1 + p.prefetch / 100) * (1.4 if rng.random() < share else 1.0)


@pytest.mark.parametrize("seed", range(10))
def test_frequent_disturbances_do_not_add_up_to_a_change_of_pace(seed: int) -> None:
    """No run is faster than its plan is, so nothing would take back what was thought to be a slower machine: later
    plans would seem ever faster."""
    outcome = search(plans(100), none, Machine(disturbed_often(seed, 0.3)), Limits(100))
    assert all(t.fair == pytest.approx(t.seconds) for t in outcome.timings)


@pytest.mark.parametrize("seed", range(10))
def test_what_is_thought_of_the_pace_never_exceeds_what_disturbs(seed: int) -> None:
    """Most runs are disturbed, and the speed is misjudged again and again: by 1.4 at most, not by a power of it."""
    outcome = search(plans(200), none, Machine(disturbed_often(seed, 0.8)), Limits(200))
    assert min(fair / took for t in outcome.timings for fair, took in zip(t.fair, t.seconds, strict=True)) > 0.7


def slowed(machine: Machine, slow: range) -> Callable[[CpuPlan, int], float]:
    """Seconds where these runs take 1.5 times as long, and plan 45 less than others."""
    return lambda p, _: (0.8 if p.prefetch == 45 else 1.0) * (1.5 if len(machine.runs) in slow else 1.0)


@pytest.mark.parametrize("runs", [6, 12, 18, 24])
def test_a_slowdown_that_passes_leaves_no_plan_flattered(runs: int) -> None:
    """So many runs are slower, and who runs again is timed while they end: had it seemed fast by that, all
    later plans would lag behind, and plan 45 were never tried."""
    for start in range(20, 60):
        machine = Machine(lambda p, _: 1.0)
        machine.cost = slowed(machine, range(start, start + runs))
        outcome = search(plans(100), none, machine, Limits(100))
        assert outcome.best.plan == plan(45)
        assert all(t.score >= t.best / 1.5 and t.score > 0.79 for t in outcome.timings)


def test_one_threads_time_orders_plans_that_are_equally_fast() -> None:
    machine = steady(lambda number: 1.0 if number < 20 else 1.2)
    outcome = search(plans(40), none, machine, Limits(40), alone=lambda p: 2.0 - p.prefetch / 100)
    assert outcome.best.plan == plan(19)
    assert timed(outcome)[:4] == [19, 18, 17, 16]


def test_one_threads_time_does_not_outweigh_all_threads() -> None:
    outcome = search(plans(8), none, steady(lambda n: 1.0 + n / 10), Limits(8), alone=lambda p: 1.0 / (1 + p.prefetch))
    assert outcome.best.plan == plan(0)


def test_one_threads_time_decides_only_where_it_is_known_of_the_fastest(monkeypatch: pytest.MonkeyPatch) -> None:
    """Time runs out before plan 6, the fastest, ran alone; plan 0 had, and is within what counts as equally fast."""
    machine = steady(lambda number: {0: 1.03, 6: 1.0}.get(number, 1.5))
    monkeypatch.setattr("ttc_llvm.tuning.search.leaderboard.time.monotonic", lambda: float(plan(6) in machine.runs))
    outcome = search(plans(12), none, machine, Limits(12, seconds=0.5), alone=lambda p: 2.0)
    assert outcome.interrupted
    assert outcome.best.plan == plan(6)


def test_losers_kernels_are_dropped_and_winners_kept() -> None:
    machine = steady(lambda number: 100 - number)
    outcome = search(plans(60), none, machine, Limits(60))
    assert outcome.kernel == plan(59)
    assert Counter(machine.built)[plan(59)] == 1


# --- mutations -------------------------------------------------------------------------------------------


def test_the_second_half_goes_on_from_the_best() -> None:
    """The optimum, 500, is far from what is offered: only steps from the best so far lead there."""
    machine = steady(lambda number: 1 + abs(number - 500) / 1000)
    outcome = search(
        plans(400)[::20], lambda p: (plan(p.prefetch + d) for d in (40, 10, -10, 1)), machine, Limits(60)
    )
    assert outcome.best.plan.prefetch > 400
    assert len(outcome.timings) == 60


def test_a_ranking_that_is_wrong_here_is_not_followed_for_long() -> None:
    """The fourth plan, a neighbour of fast ones, is followed by none that comes near."""
    fast = (3, *range(200, 260))
    machine = steady(lambda number: 1.0 if number in fast else 2.0)
    offers = (plan(number) for number in range(100))
    outcome = search(offers, lambda _: (plan(number) for number in range(200, 260)), machine, Limits(60, verify=False))
    drawn = [number for number in timed(outcome) if number < 200]
    assert len(drawn) == (1 + PATIENCE) * BATCH
    assert len(outcome.timings) == 60


@pytest.mark.parametrize(("budget", "seeds"), [(5, 1), (10, 1), (12, 2), (30, 2), (40, 3), (60, 5)])
def test_each_exploring_batch_has_a_diversity_seed_even_after_the_ranking_was_given_up(budget: int, seeds: int) -> None:
    """Plans from 400 on are diversity seeds, and all slow, as is all but the first; those from 200 on are mutations."""
    machine = steady(lambda number: 1.0 if number == 0 else 2.0)
    offers, mutations = plans(100), [plan(number) for number in range(200, 260)]
    limits = Limits(budget, verify=False)
    outcome = search(offers, lambda _: mutations, machine, limits, diverse=lambda timed: untimed(400, timed))
    sent = sorted(number for number in timed(outcome) if number >= 400)
    assert sent == list(range(400, 400 + seeds))
    assert len(outcome.timings) == budget


@pytest.mark.parametrize(("budget", "offered"), [(1, 1), (6, 6), (10, 10), (12, 12), (13, 12), (24, 12), (60, 30)])
def test_a_dozen_candidates_follow_the_ranking_and_half_of_more_than_two_dozen(budget: int, offered: int) -> None:
    mutations = [plan(number) for number in range(200, 260)]
    outcome = search(plans(100), lambda _: mutations, steady(lambda number: 1.0), Limits(budget, verify=False))
    drawn = [number for number in timed(outcome) if number < 200]
    assert len(drawn) == offered


def untimed(start: int, timed: Collection[CpuPlan]) -> CpuPlan:
    return next(plan(number) for number in itertools.count(start) if plan(number) not in timed)


def test_a_diversity_seed_that_is_offered_as_well_is_timed_once() -> None:
    machine = steady(lambda number: 2.0 + number)
    outcome = search(plans(100), none, machine, Limits(24), diverse=lambda timed: untimed(3, timed))
    assert sorted(timed(outcome)) == list(range(24))


def test_a_search_goes_on_without_a_diversity_seed() -> None:
    outcome = search(plans(100), none, steady(lambda number: 2.0 + number), Limits(24), diverse=lambda _: None)
    assert sorted(timed(outcome)) == list(range(24))


def test_all_that_is_offered_is_timed_without_diversity_seeds() -> None:
    outcome = search(plans(20), none, steady(lambda number: 1.0), Limits(-1), diverse=lambda _: plan(400))
    assert sorted(timed(outcome)) == list(range(20))


def test_few_plans_have_no_diversity_seed() -> None:
    outcome = search(plans(100), none, steady(lambda number: 1.0), Limits(ROOM - 1), diverse=lambda _: plan(400))
    assert sorted(timed(outcome)) == list(range(ROOM - 1))


def test_offers_fill_up_where_mutations_end() -> None:
    outcome = search(plans(50), none, steady(lambda number: 1 + number), Limits(40))
    assert sorted(timed(outcome)) == list(range(40))


# --- ends ------------------------------------------------------------------------------------------------


def test_the_time_limit_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = itertools.count(0.0, 1.0)
    monkeypatch.setattr("ttc_llvm.tuning.search.leaderboard.time.monotonic", lambda: next(clock))
    outcome = search(plans(100), none, steady(lambda number: 1 + number), Limits(100, seconds=3.5))
    assert outcome.interrupted
    assert 1 <= len(outcome.timings) <= 4  # the clock is asked before every run, not once per batch
    assert sum(len(timing.seconds) for timing in outcome.timings) <= 4
    assert outcome.best.plan == plan(0)


def test_time_that_ends_among_the_finalists_is_an_interruption(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is stored as searched to its end would answer later requests."""
    machine = steady(lambda number: 1 + number)
    search(plans(12), none, machine, Limits(12))
    whole, machine.runs = len(machine.runs), []
    monkeypatch.setattr("ttc_llvm.tuning.search.leaderboard.time.monotonic", lambda: float(len(machine.runs)))
    assert search(plans(12), none, machine, Limits(12, seconds=whole - 4)).interrupted


@examples(60)
@given(st.integers(2, 200))
def test_ctrl_c_keeps_the_best_so_far(stop_at: int) -> None:
    machine = Machine(lambda p, _: 10.0 - p.prefetch / 10, stop_at=stop_at)
    outcome = search(plans(40), none, machine, Limits(40))
    assert outcome.interrupted == (len(machine.runs) >= stop_at)
    finished = machine.runs[: stop_at - 1]
    assert outcome.best.plan == max(finished, key=lambda p: p.prefetch)
    assert machine.verified == [outcome.best.plan]


def test_ctrl_c_before_the_first_result_is_passed_on() -> None:
    with pytest.raises(KeyboardInterrupt):
        search(plans(3), none, Machine(lambda p, _: 1.0, stop_at=1), Limits(3))


def test_a_wrong_winner_is_refused_unless_nobody_asks() -> None:
    machine = Machine(lambda p, _: 1.0 + p.prefetch, wrong=frozenset([plan(0)]))
    with pytest.raises(VerificationError, match=r"wrong element at index \(3, 1\)"):
        search(plans(3), none, machine, Limits(3))
    assert search(plans(3), none, machine, Limits(3, verify=False)).best.plan == plan(0)
    assert len(machine.verified) == 1


def test_progress_grows_to_the_budget() -> None:
    seen: list[Progress] = []
    search(plans(30), none, steady(lambda number: 31 - number), Limits(20), seen.append)
    assert [p.done for p in seen] == sorted(p.done for p in seen)
    assert seen[-1] == Progress(20, 20, 12.0, "verifying")
