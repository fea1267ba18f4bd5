"""The final comparison: everybody in turns on the same memory, and which rounds and runs of it count."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median_low

from .contender import Contender, Timed
from .results import Timing

LEAST = 3  # rounds of whoever is far from us, and of the ceilings that do not count
DRIFT = 1.25  # a round whose ceiling is this much faster or slower than usual does not count
NEAR = 1.5  # times as slow as we are: within it a peer runs in every round


def drifts(ceiling: Sequence[float]) -> tuple[float, ...]:
    """The factor by which the ceiling was faster or slower than usual in each round: a shared machine's memory may be
    twice as fast for some of them, and best by best would compare our best with a ceiling of other rounds."""
    usual = median_low(ceiling)
    return tuple(max(s / usual, usual / s) for s in ceiling)


def kept(seconds: tuple[float, ...], drift: Sequence[float]) -> tuple[float, ...]:
    """The runs of the rounds at the usual pace; of whoever left before there was one, the run nearest to it."""
    found = tuple(s for s, d in zip(seconds, drift, strict=False) if d < DRIFT)
    return found or (min(zip(drift, seconds, strict=False))[1],)


class Rounds:
    """The final comparison: everybody in turns, every other round in the opposite order.

    main: the ceiling that counts; least: rounds after which whoever decides nothing leaves.
    """

    def __init__(
        self, workspace: Timed, mine: Contender, main: str, others: Sequence[Contender], least: int = LEAST
    ) -> None:
        self.workspace, self.mine, self.main, self.least = workspace, mine, main, least
        self.alive = [mine, *others]
        self.seconds: dict[tuple[str, int], list[float]] = {}
        self.bytes = {contender.name: contender.bytes_moved for contender in self.alive}

    def run(self, rounds: int) -> dict[str, Timing]:
        """The runs of each contender by its name, of the rounds in which the machine had its usual pace."""
        for number in range(rounds):
            for contender in self.alive if number % 2 == 0 else reversed(self.alive):
                key = contender.name, contender.variant
                self.seconds.setdefault(key, []).append(self.workspace.seconds(contender))
            if number + 1 == self.least:
                self.alive = [contender for contender in self.alive if self._stays(contender)]
        runs = {name: self._runs(name) for name in self.bytes}
        drift = drifts(runs[self.main]) if self.main in runs else (1.0,) * rounds
        return {name: Timing(size, kept(runs[name], drift)) for name, size in self.bytes.items()}

    def _stays(self, contender: Contender) -> bool:
        """Only near peers, and the best way to the ceiling that counts, decide anything after the first rounds."""
        if contender is self.mine:
            return True
        own = self.seconds[contender.name, contender.variant]
        if contender.name == self.main:
            return tuple(own) == self._runs(contender.name)
        return min(own) <= NEAR * min(self.seconds[self.mine.name, 0]) and contender.foreign

    def _runs(self, name: str) -> tuple[float, ...]:
        """Those of the fastest variant."""
        return tuple(min((s for (n, _), s in self.seconds.items() if n == name), key=min))
