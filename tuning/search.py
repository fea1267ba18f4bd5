"""The search: time the model's best plans, go on from the winners, time the finalists again, verify.

How to compile, run and verify a plan is handed in (`Subject`), so that a recorded or simulated machine can
stand in for a real one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from ttc_llvm.errors import VerificationError
from ttc_llvm.plan import Plan

K = TypeVar("K")
P = TypeVar("P", bound=Plan)  # CpuPlan or GpuPlan
P_in = TypeVar("P_in", bound=Plan, contravariant=True)

BATCH = 6  # candidates interleaved
ROUNDS = 3  # runs of a candidate that stays in
DROP = 1.15  # a candidate this much slower than the best so far is dropped after its first run
FINALISTS = 4
DRIFT = 1.25  # a change of the machine's pace by more than this, either way, is allowed for
EXPLORE = 0.4  # share of the budget that follows the model; the rest goes on from the best so far
PARENTS = 4


class Subject(Protocol[P_in, K]):
    """What is being tuned: how to build a plan, run it once, and check its result."""

    def build(self, plan: P_in) -> K:
        """Compile the plan."""

    def seconds(self, kernel: K) -> float:
        """One run, prepared as the mode asks (cold or hot), in seconds."""

    def verify(self, kernel: K) -> tuple[int, ...] | None:
        """None, or the index of a wrong element."""


@dataclass(frozen=True, slots=True)
class Limits:
    """candidates: plans to consider (-1 = all that are offered); seconds: of search, None = no limit;
    verify: check the finalists' results."""

    candidates: int
    seconds: float | None = None
    verify: bool = True


@dataclass(frozen=True, slots=True)
class Timed(Generic[P]):
    """A plan, the seconds of each of its runs, and what they would have been at the pace at which the search began.

    A shared machine may be twice as fast for some seconds: who was timed then must not win for it.
    """

    plan: P
    seconds: tuple[float, ...]
    fair: tuple[float, ...]

    @property
    def best(self) -> float:
        """Its fastest run."""
        return min(self.seconds)

    @property
    def score(self) -> float:
        """Its fastest run, allowing for the machine's pace."""
        return min(self.fair)


@dataclass(frozen=True, slots=True)
class Outcome(Generic[P, K]):
    """The winner, its kernel, and everything that was timed; interrupted: ended by the user or the time limit."""

    best: Timed[P]
    kernel: K
    timings: tuple[Timed[P], ...]
    interrupted: bool


@dataclass(frozen=True, slots=True)
class Progress:
    """What a progress display needs: plans timed, the total (-1 = unknown), best seconds so far."""

    done: int
    total: int
    best: float | None


Report = Callable[[Progress], None]


def search(
    plans: Iterable[P],
    more: Callable[[P], Iterable[P]],
    subject: Subject[P, K],
    limits: Limits,
    report: Report | None = None,
) -> Outcome[P, K]:
    """The fastest of the plans offered and of those that `more` derives from the best.

    Raises VerificationError if a finalist's result is wrong, and KeyboardInterrupt if it comes before any run.
    """
    state = _Search(subject, limits, report)
    interrupted = False
    try:
        interrupted = not state.explore(iter(plans), more)
        state.final()
    except KeyboardInterrupt:
        if not state.timings:
            raise
        interrupted = True
    best = state.verified() if limits.verify else state.ranked()[0]
    return Outcome(best, state.kernel(best.plan), tuple(state.ranked()), interrupted)


class _Search(Generic[P, K]):
    """Timings so far, and the kernels of the plans that may still win."""

    def __init__(self, subject: Subject[P, K], limits: Limits, report: Report | None) -> None:
        self.subject, self.limits, self.report = subject, limits, report
        self.timings: dict[P, Timed[P]] = {}
        self.kernels: dict[P, K] = {}
        self.pace = 1.0  # seconds of a run now, per second at the start
        self.yardstick: Timed[P] | None = None
        self.deadline = None if limits.seconds is None else time.monotonic() + limits.seconds

    def ranked(self) -> list[Timed[P]]:
        """Plans timed so far, the fastest first."""
        return sorted(self.timings.values(), key=lambda timed: timed.score)

    def kernel(self, plan: P) -> K:
        """The plan's kernel, compiled again if it was dropped."""
        if plan not in self.kernels:
            self.kernels[plan] = self.subject.build(plan)
        return self.kernels[plan]

    def _late(self) -> bool:
        """True after the time limit: one run of a huge problem may take seconds, so every run asks."""
        return self.deadline is not None and time.monotonic() > self.deadline

    def explore(self, plans: Iterator[P], more: Callable[[P], Iterable[P]]) -> bool:
        """Spend the budget; False if time ran out first."""
        for batch in self._batches(plans, more):
            self._batch(batch)
            if self._late():
                return False
        return True

    def _batches(self, plans: Iterator[P], more: Callable[[P], Iterable[P]]) -> Iterator[list[P]]:
        total = self.limits.candidates
        first = total if total < 0 else max(1, round(EXPLORE * total)) if total > BATCH else total
        while total < 0 or len(self.timings) < first:
            room = BATCH if total < 0 else min(BATCH, first - len(self.timings))
            batch = self._fresh(plans, room)
            if not batch:
                break
            yield batch
        while total >= 0 and len(self.timings) < total:
            room = min(BATCH, total - len(self.timings))
            batch = self._mutations(more, room) or self._fresh(plans, room)
            if not batch:
                return
            yield batch

    def _fresh(self, plans: Iterator[P], room: int) -> list[P]:
        batch: dict[P, None] = {}
        for plan in plans:
            if plan not in self.timings:
                batch[plan] = None
            if len(batch) == room:
                break
        return list(batch)

    def _mutations(self, more: Callable[[P], Iterable[P]], room: int) -> list[P]:
        """Untried neighbours of the best plans, the best's first."""
        batch: dict[P, None] = {}
        parents = self.ranked()[:PARENTS]
        for number, parent in enumerate(parents):
            share = max(1, (room - len(batch)) // (2 if number < len(parents) - 1 else 1))
            fresh = (plan for plan in more(parent.plan) if plan not in self.timings and plan not in batch)
            batch |= dict.fromkeys(plan for _, plan in zip(range(share), fresh, strict=False))
            if len(batch) >= room:
                break
        return list(batch)[:room]

    def _batch(self, batch: list[P]) -> None:
        """Interleaved rounds, once more if the machine's pace changed meanwhile."""
        self._rounds(batch)
        if self._drifted():
            for plan in batch:
                self.timings.pop(plan, None)
            self._rounds(batch)
        self._forget()
        if self.report is not None:
            self.report(Progress(len(self.timings), self.limits.candidates, self.ranked()[0].best))

    def _rounds(self, batch: list[P]) -> None:
        """Whoever is clearly slower than the best so far leaves after its first run."""
        alive = batch
        for _ in range(ROUNDS):
            for plan in alive:
                if self._late() and self.timings:
                    break
                self._run(plan)
            alive = [plan for plan in alive if plan in self.timings]
            bound = DROP * self.ranked()[0].score
            alive = [plan for plan in alive if self.timings[plan].score <= bound]

    def _run(self, plan: P) -> None:
        seconds = self.subject.seconds(self.kernel(plan))
        known = self.timings.get(plan, Timed(plan, (), ()))
        self.timings[plan] = Timed(plan, (*known.seconds, seconds), (*known.fair, seconds / self.pace))

    def _drifted(self) -> bool:
        """Run the best plan of the first batch again: True where the machine's pace has changed since last asked."""
        if self.yardstick is None:
            self.yardstick = self.ranked()[0]
            return False
        if self._late():
            return False
        seconds = self.subject.seconds(self.kernel(self.yardstick.plan))
        change = seconds / self.yardstick.best / self.pace
        if 1 / DRIFT < change < DRIFT:
            return False
        self.pace *= change
        return True

    def _forget(self) -> None:
        keep = {timed.plan for timed in self.ranked()[: 2 * FINALISTS]}
        if self.yardstick is not None:
            keep.add(self.yardstick.plan)
        self.kernels = {plan: kernel for plan, kernel in self.kernels.items() if plan in keep}

    def final(self) -> None:
        """The finalists again, interleaved: their lead must not be luck."""
        finalists = [timed.plan for timed in self.ranked()[:FINALISTS]]
        for _ in range(ROUNDS if len(self.timings) > 1 else 0):
            self._drifted()
            for plan in finalists:
                if self._late():
                    return
                self._run(plan)

    def verified(self) -> Timed[P]:
        """The fastest finalist, after its result has been checked element by element."""
        best = self.ranked()[0]
        wrong = self.subject.verify(self.kernel(best.plan))
        if wrong is not None:
            raise VerificationError(
                f"the kernel of plan {best.plan} computed a wrong element at index {wrong}"
            )
        return best
