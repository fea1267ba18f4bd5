"""The search: time the model's best plans, go on from the winners, time the finalists again, verify.

The functions that compile, run and verify a plan are an argument (`leaderboard.Subject`), so that a recorded or
simulated machine can stand in for a real one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Generic

from ttc_llvm.errors import VerificationError
from ttc_llvm.lazy_dataclasses import dataclass, replace
from ttc_llvm.logs import DEBUG, Log

from .leaderboard import K, Leaderboard, P, Subject, Timed
from .progress import COMPILING, TIMING, VERIFYING, Progress, Report

_log = Log(__name__)
BATCH = 6  # candidates interleaved
CUTS = ((1.1, 3), (1.05, 2))  # cut-off ratio to the best so far, and survivors, after a batch's first and second
# run: without a number of survivors, plans that are all about as fast would spend most of the time on second runs
EXPLORE = 0.5  # share of the budget for the ranking and diversity seeds; the rest is for neighbours of the best
FIRST = 2 * BATCH  # so many explore, however few there are: neighbours of the best of five were no faster than these
ROOM = 5  # plans of an exploring batch, at least, one of which is a diversity seed
FAR = 1.25  # times the best so far: where all plans of a batch up the ranking are slower, the model may be wrong here
PATIENCE = 2  # such batches in turn, after which the ranking is followed no further
AGAIN = 3  # times that a batch is timed anew, at most
PARENTS = 4
KEPT = 8  # kernels of the best so far stay compiled


@dataclass(frozen=True, slots=True)
class Limits:
    """candidates: plans to consider (-1 = all that are offered); seconds: of search, None = no limit;
    verify: check the winner's result."""

    candidates: int
    seconds: float | None = None
    verify: bool = True

    def after(self, spent: float) -> Limits:
        """The limits that are left so many seconds later."""
        return self if self.seconds is None else replace(self, seconds=self.seconds - spent)


@dataclass(frozen=True, slots=True)
class Outcome(Generic[P, K]):
    """The winner, its kernel, and everything that was timed; interrupted: ended by the user or the time limit."""

    best: Timed[P]
    kernel: K
    timings: tuple[Timed[P], ...]
    interrupted: bool


Diverse = Callable[[Collection[P]], P | None]  # given what was timed: a plan that was not, or None


def search(
    plans: Iterable[P],
    more: Callable[[P], Iterable[P]],
    subject: Subject[P, K],
    limits: Limits,
    report: Report | None = None,
    alone: Callable[[K], float] | None = None,
    diverse: Diverse[P] | None = None,
) -> Outcome[P, K]:
    """The fastest of the plans offered and of those that `more` derives from the best.

    alone: seconds of a run on one thread, which decides between plans that are equally fast on all threads;
    diverse: gives the diversity seeds, one of which is tried in every batch, however the plans offered fare.
    Raises VerificationError if the winner's result is wrong, and KeyboardInterrupt if it comes before any run.
    """
    table = Leaderboard(subject, limits.seconds, alone)
    state = _Search(table, limits, report, diverse)
    interrupted = False
    try:
        interrupted = not state.explore(iter(plans), more)
        table.final()
        interrupted = interrupted or table.late()
    except KeyboardInterrupt:
        if not table.timings:
            raise
        interrupted = True
    best = state.verified() if limits.verify else table.ranked()[0]
    return Outcome(best, table.kernel(best.plan), tuple(table.ranked()), interrupted)


class _Search(Generic[P, K]):
    """The budget, and what it is spent on."""

    def __init__(
        self, table: Leaderboard[P, K], limits: Limits, report: Report | None, diverse: Diverse[P] | None
    ) -> None:
        self.table, self.limits, self.report, self.diverse = table, limits, report, diverse
        self._told = 0

    def explore(self, plans: Iterator[P], more: Callable[[P], Iterable[P]]) -> bool:
        """Spend the budget; False if time ran out first."""
        for batch in self._batches(plans, more):
            self._batch(batch)
            if self.table.late():
                return False
        return True

    def _batches(self, plans: Iterator[P], more: Callable[[P], Iterable[P]]) -> Iterator[list[P]]:
        """Explore by a diversity seed, and the ranking if it does not lag behind; then by neighbours of the best."""
        lagging = 0
        room, explores = self._room()
        while room > 0:
            seed = self._diversity_seed() if explores and room >= ROOM else []
            follows = explores and (lagging < PATIENCE or self.limits.candidates < 0)
            batch = self._fresh(plans, room - len(seed), seed) if follows else []
            if not batch and self.limits.candidates >= 0:
                batch = self._mutations(more, room - len(seed), seed) or self._fresh(plans, room - len(seed), seed)
            if not (batch or seed):
                return
            yield batch + seed
            if follows:
                lagging = lagging + 1 if self._lag_behind(batch) else 0
            room, explores = self._room()

    def _room(self) -> tuple[int, bool]:
        """How many plans the next batch has, and whether it explores."""
        total, done = self.limits.candidates, len(self.table.timings)
        if total < 0:
            return BATCH, True
        first = max(min(FIRST, total), round(EXPLORE * total))
        return (min(BATCH, first - done), True) if done < first else (min(BATCH, total - done), False)

    def _diversity_seed(self) -> list[P]:
        """A list of the next diversity seed; empty where there is none, and where everything offered is timed."""
        if self.diverse is None or self.limits.candidates < 0:
            return []
        plan = self.diverse(self.table.timings)
        return [] if plan is None else [plan]

    def _lag_behind(self, batch: list[P]) -> bool:
        """True where none of these plans comes near the best so far."""
        scores = [self.table.timings[plan].score for plan in batch if plan in self.table.timings]
        return bool(scores) and min(scores) > FAR * self.table.fastest().score

    def _fresh(self, plans: Iterator[P], room: int, taken: Collection[P] = ()) -> list[P]:
        """The next of these plans that are neither timed nor taken."""
        batch: dict[P, None] = {}
        for plan in plans:
            if plan not in self.table.timings and plan not in taken:
                batch[plan] = None
            if len(batch) == room:
                break
        return list(batch)

    def _mutations(self, more: Callable[[P], Iterable[P]], room: int, taken: Collection[P]) -> list[P]:
        """Untried neighbours of the best plans, the best's first."""
        batch: dict[P, None] = {}
        known = self.table.timings
        parents = self.table.ranked()[:PARENTS]
        for number, parent in enumerate(parents):
            share = max(1, (room - len(batch)) // (2 if number < len(parents) - 1 else 1))
            fresh = (p for p in more(parent.plan) if p not in known and p not in batch and p not in taken)
            batch |= dict.fromkeys(plan for _, plan in zip(range(share), fresh, strict=False))
            if len(batch) >= room:
                break
        return list(batch)[:room]

    def _batch(self, batch: list[P]) -> None:
        """Interleaved rounds, again if the machine's speed changed meanwhile: a batch that was timed partly at another
        speed than it is thought of would mislead all that follows."""
        self._rounds(batch)
        for _ in range(AGAIN):
            if not self.table.drifted(batch) or self.table.late():
                break
            self.table.withdraw(batch)
            self._rounds(batch)
        self.table.compare_alone()
        self.table.forget(KEPT)
        timings, most = self.table.timings, "all" if self.limits.candidates < 0 else self.limits.candidates
        _log.info("%d of %s candidates timed, best %.4g ms", len(timings), most, self.table.fastest().best * 1e3)
        for plan in batch if _log.is_enabled_for(DEBUG) else ():
            if plan in timings:
                _log.debug("%.4g ms, best of %d: %s", timings[plan].best * 1e3, len(timings[plan].seconds), plan)
        self.tell(TIMING)

    def tell(self, phase: str) -> None:
        """Say what comes next."""
        if self.report is not None:
            known = self.table.timings
            self._told = max(self._told, len(known))  # a batch that is timed again has been there before
            best = self.table.fastest().best if known else None
            self.report(Progress(self._told, self.limits.candidates, best, phase))

    def _rounds(self, batch: list[P]) -> None:
        """Time a batch up to three times. After each run only the first few plans go on, and none that is clearly
        slower than the best so far; both bounds narrow as timings become surer."""
        alive = batch
        self.tell(COMPILING)
        for slower, room in CUTS:
            self._run(alive)
            self.tell(TIMING)
            timed = [self.table.timings[plan] for plan in alive if plan in self.table.timings]
            timed.sort(key=lambda one: one.score)
            bound = slower * self.table.fastest().score
            alive = [one.plan for one in timed[:room] if one.score <= bound]
        self._run(alive)

    def _run(self, plans: list[P]) -> None:
        for plan in plans:
            if self.table.late() and self.table.timings:
                return
            self.table.run(plan)

    def verified(self) -> Timed[P]:
        """The winner, after its result has been checked."""
        best = self.table.ranked()[0]
        self.tell(VERIFYING)
        check_result(self.table.subject, best.plan, self.table.kernel(best.plan))
        return best


def check_result(subject: Subject[P, K], plan: P, kernel: K) -> None:
    """VerificationError if any element of the kernel's result is wrong."""
    wrong = subject.verify(kernel)
    if wrong is not None:
        raise VerificationError(f"the kernel of plan {plan} computed a wrong element at index {wrong}")
