"""The leaderboard of a search: timings of plans, made comparable while the machine changes its speed.

A shared machine may be twice as fast for some seconds, and while it is slow its memory, not the plan, decides: plans
that differ by a third on a fast machine then take the same time. So timings allow for the speed, plans that are equally
fast on all threads are ordered by their time on one, and the last word have rounds in which the finalists run side
by side.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterable
from math import inf
from statistics import median
from typing import Generic, Protocol, TypeVar

from ttc_llvm.lazy_dataclasses import dataclass

from .speed import DRIFT

CHOICE = (
    "The winner was the fastest in the last rounds, in which the best candidates run side by side (median of its time"
    " by each round's fastest; within 2 %, also its time on one thread). A single run of another may be faster."
)

K = TypeVar("K")
P = TypeVar("P")  # a hashable plan, whose str() is its text
P_in = TypeVar("P_in", contravariant=True)

LEADERS = 3  # plans whose runs tell the speed
RERUNS = 4  # of each, before it is believed to be slower
FINALISTS = 4  # by allowing for the speed, and as many by the clock
FINAL_ROUNDS = 5
SURE = 3  # rounds after which plans that lag behind leave
ROUNDS_ALONE = 2
TIE = 1.05  # plans within this of the fastest may be as fast: they are timed further, and on one thread
LEVEL = 1.02  # the same of finalists, whose medians are surer: where they are as fast, one thread's time counts as well


class Subject(Protocol[P_in, K]):
    """The subject of a search: it builds a plan, runs it once, and checks its result."""

    def build(self, plan: P_in) -> K:
        """Compile the plan."""

    def seconds(self, kernel: K) -> float:
        """One run, prepared as the mode asks (cold or hot), in seconds."""

    def verify(self, kernel: K) -> tuple[int, ...] | None:
        """None, or the index of a wrong element."""


@dataclass(frozen=True, slots=True)
class Timed(Generic[P]):
    """A plan, the seconds of each of its runs, and what they would have been at the speed at which the search began."""

    plan: P
    seconds: tuple[float, ...]
    fair: tuple[float, ...]

    @property
    def best(self) -> float:
        """Its fastest run."""
        return min(self.seconds)

    @property
    def score(self) -> float:
        """Its fastest run, allowing for the machine's speed."""
        return min(self.fair)


class Leaderboard(Generic[P, K]):
    """Timings so far, the kernels of the plans that may still win, and the order among them.

    seconds: of the whole search, None = no limit; alone: seconds of a kernel's run on one thread.
    """

    def __init__(
        self, subject: Subject[P, K], seconds: float | None, alone: Callable[[K], float] | None
    ) -> None:
        self.subject, self._time_alone = subject, alone
        self.timings: dict[P, Timed[P]] = {}
        self._kernels: dict[P, K] = {}
        self._drift = 1.0  # seconds of a run now, per second at the start
        self._alone: dict[P, float] = {}
        self._lag: dict[P, float] = {}  # finalists: seconds by those of their rounds' fastest
        self._deadline = None if seconds is None else time.monotonic() + seconds

    def late(self) -> bool:
        """True after the time limit: one run of a huge problem may take seconds, so every run asks."""
        return self._deadline is not None and time.monotonic() > self._deadline

    def kernel(self, plan: P) -> K:
        """The plan's kernel, compiled again if it was dropped."""
        if plan not in self._kernels:
            self._kernels[plan] = self.subject.build(plan)
        return self._kernels[plan]

    def forget(self, kept: int) -> None:
        """Drop the kernels of all but the best plans and those that tell the speed."""
        keep = {timed.plan for timed in (*self.ranked()[:kept], *self._first_timed()[:LEADERS])}
        self._kernels = {plan: kernel for plan, kernel in self._kernels.items() if plan in keep}

    # --- order -------------------------------------------------------------------------------------------

    def fastest(self) -> Timed[P]:
        """The plan with the fastest run, allowing for the speed."""
        return min(self.timings.values(), key=lambda timed: timed.score)

    def ranked(self) -> list[Timed[P]]:
        """Plans timed so far, best first; once there are finalists, these before the others."""
        others = [timed for plan, timed in self.timings.items() if plan not in self._lag]
        finalists = (self.timings[plan] for plan in self._lag)
        first = self._ordered(finalists, lambda timed: self._lag[timed.plan], LEVEL)
        return first + self._ordered(others, lambda timed: timed.score, TIE)

    def _ordered(self, entries: Iterable[Timed[P]], figure: Callable[[Timed[P]], float], tie: float) -> list[Timed[P]]:
        """By this figure; those as fast as the first, but for this, also by their time on one thread, where that is
        known."""
        ordered = sorted(entries, key=figure)
        if ordered and ordered[0].plan not in self._alone:
            return ordered
        level = [t for t in ordered if t.plan in self._alone and figure(t) <= tie * figure(ordered[0])]
        level.sort(key=lambda timed: figure(timed) * self._alone[timed.plan])
        front = {timed.plan for timed in level}
        return level + [timed for timed in ordered if timed.plan not in front]

    def compare_alone(self) -> None:
        """Time those on one thread that are as fast as the best, and were not."""
        best = self.fastest().score
        self._run_alone(t.plan for t in self.timings.values() if t.score <= TIE * best and t.plan not in self._alone)

    def _run_alone(self, plans: Iterable[P], runs: int = 1) -> None:
        for plan, _ in itertools.product(list(plans), range(runs)):
            if self._time_alone is None or self.late():
                return
            seconds = self._time_alone(self.kernel(plan))
            self._alone[plan] = min(seconds, self._alone.get(plan, seconds))

    # --- runs --------------------------------------------------------------------------------------------

    def run(self, plan: P) -> float:
        """One run, which counts."""
        seconds = self.subject.seconds(self.kernel(plan))
        known = self.timings.get(plan, Timed(plan, (), ()))
        self.timings[plan] = Timed(plan, (*known.seconds, seconds), (*known.fair, seconds / self._drift))
        return seconds

    def withdraw(self, plans: Iterable[P]) -> None:
        """Forget the timings of plans."""
        for plan in plans:
            self.timings.pop(plan, None)

    def drifted(self, new: Iterable[P] = ()) -> bool:
        """Run leaders among the older plans again: True where the machine's speed has changed since last asked.

        One of them may be disturbed, or limited by its core, which knows no speed; most of them are not. Leaders are
        those that were timed at the first speed: what is thought of a speed in between cannot add up.
        """
        fresh = set(new)
        changes: list[float] = []
        for timed in [timed for timed in self._first_timed() if timed.plan not in fresh][:LEADERS]:
            if self.late():
                return False
            changes.append(self._change(timed))
            if 1 / DRIFT < changes[0] < DRIFT:
                return False
        if not changes or 1 / DRIFT < median(changes) < DRIFT:
            return False
        speed = self._drift * median(changes)
        self._drift = 1.0 if 1 / DRIFT < speed < DRIFT else speed
        return True

    def _first_timed(self) -> list[Timed[P]]:
        """Plans all of whose runs were at the speed at which the search began, the fastest first."""
        return sorted((t for t in self.timings.values() if t.fair == t.seconds), key=lambda timed: timed.best)

    def _change(self, timed: Timed[P]) -> float:
        """The machine-speed drift since the last estimate, by re-timing one plan: some runs, for a single one is slower
        than the plan's best as often as something disturbs it."""
        found = inf
        for _ in range(RERUNS):
            seconds = self.subject.seconds(self.kernel(timed.plan))
            found = min(found, seconds / timed.score / self._drift)
            if found < DRIFT or self.late():
                break
        return found

    def final(self) -> None:
        """Time the finalists again side by side, so that neither luck nor the machine's speed makes the winner. Plans
        that lag behind after some rounds leave."""
        if not self.timings:
            return
        by_clock = sorted(self.timings.values(), key=lambda timed: timed.best)
        alive = list(dict.fromkeys(t.plan for t in (*self.ranked()[:FINALISTS], *by_clock[:FINALISTS])))
        lags: dict[P, list[float]] = {plan: [] for plan in alive}
        self.drifted()
        for number in range(FINAL_ROUNDS):
            if self.late() or (number >= SURE and len(alive) < 2):
                break
            found = {plan: self.run(plan) for plan in alive}
            for plan, seconds in found.items():
                lags[plan].append(seconds / min(found.values()))
            self._lag = {plan: median(lag) for plan, lag in lags.items()}
            if number + 1 >= SURE:
                alive = [plan for plan in self._level() if plan in alive]
        self._run_alone(self._level(), ROUNDS_ALONE)

    def _level(self) -> list[P]:
        """Finalists that keep up with the first."""
        least = min(self._lag.values(), default=0.0)
        return [plan for plan, lag in self._lag.items() if lag <= TIE * least]
