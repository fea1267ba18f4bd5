"""The machine's speed through a search: runs of the ceiling before it, during it and behind it.

A busy machine shows itself in three ways. Its speed changes from one sample to the next; threads wait for a CPU, and
all samples may then be equally slow, or find the moments that no run of the winner found; or the winner, of whose many
runs one found the machine idle, is far above a ceiling that never did. Runs that are short enough fit in between.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from ttc_llvm.lazy_dataclasses import dataclass

DRIFT = 1.25  # a change of the machine's speed by more than this, in either direction, counts
WAITS = 0.1  # seconds per second that threads may have waited for a CPU, all of them together
NEAR = 1.1  # a sample within this of the fastest so far needs no second run
ROUNDS = 3  # runs of other samples, at least; what disturbs a machine briefly does not strike all of them
SETTLED = 5e-3  # seconds that such a sample takes, at least: runs of microseconds are easily disturbed
SLICE = 1e-3  # seconds that a run takes, at least, which other work cannot but interrupt
BRIEF = 2e-5  # seconds of a run that fits in between other work; longer ones may have to wait for a second thread
SPARING = 50  # a sample is taken during the search once this many times what a run costs have passed


def drifts(runs: Sequence[float]) -> tuple[float, ...]:
    """The factor by which each of these runs was faster or slower than usual: a shared machine's memory may be twice as
    fast for some of them, and best by best would compare our best with a ceiling of other rounds."""
    usual = sorted(runs)[(len(runs) - 1) // 2]  # `statistics` takes long to load
    return tuple(max(s / usual, usual / s) for s in runs)


@dataclass(frozen=True, slots=True)
class Run:
    """One run of the ceiling. gibs: GiB/s."""

    gibs: float
    seconds: float


Sampler = Callable[[], Run]


class SpeedLog:
    """Samples of the ceiling. samplers: runs of several methods, the fastest counts; without any, nothing is known.
    waited: seconds that threads have waited for a CPU so far."""

    def __init__(
        self, samplers: Sequence[Sampler], waited: Callable[[], float], clock: Callable[[], float] = time.perf_counter
    ) -> None:
        self._samplers, self._waited, self._clock = samplers, waited, clock
        self._began, self._waited_before = clock(), waited()
        self._samples: list[Run] = []
        self._fastest = samplers[:1]
        self._due = 0.0

    @property
    def _best(self) -> Run | None:
        return max(self._samples, key=lambda run: run.gibs, default=None)

    @property
    def ceiling(self) -> float | None:
        """GiB/s of the fastest run, None where there is none."""
        return None if self._best is None else self._best.gibs

    @property
    def drift(self) -> float:
        """The fastest sample by the slowest, at least 1."""
        speeds = [run.gibs for run in self._samples]
        return max(speeds) / min(speeds) if speeds else 1.0

    def is_busy(self, gibs: float) -> bool:
        """True where other work has changed what was measured. gibs: the winner's GiB/s."""
        best = self._best
        if best is None:
            return False
        waits = (self._waited() - self._waited_before) / (self._clock() - self._began)
        has_waited = best.seconds >= BRIEF and waits > WAITS
        is_lucky = best.seconds >= SLICE and gibs > DRIFT * best.gibs
        return has_waited or is_lucky or self.drift > DRIFT

    def measure(self) -> None:
        """A sample of all samplers."""
        self._sample(self._samplers)

    def glance(self) -> None:
        """A sample of the fastest sampler, if the search has taken long enough since the last."""
        if self._clock() >= self._due:
            self._sample(self._fastest)

    def _sample(self, samplers: Sequence[Sampler]) -> None:
        """The fastest run of some; one is enough that is as fast as ever."""
        if not samplers:
            return
        runs: list[tuple[Run, Sampler]] = []
        began = self._clock()
        while len(runs) < ROUNDS * len(samplers) or self._clock() - began < SETTLED:
            runs += [(sampler(), sampler) for sampler in samplers]
            run, sampler = max(runs, key=lambda pair: pair[0].gibs)
            if self._is_as_ever(run):
                break
        if len(samplers) > 1:
            self._fastest = [sampler]
        self._samples.append(run)
        now = self._clock()
        self._due = now + SPARING * (now - began) / len(runs)

    def _is_as_ever(self, run: Run) -> bool:
        return self.ceiling is not None and run.gibs * NEAR >= self.ceiling
