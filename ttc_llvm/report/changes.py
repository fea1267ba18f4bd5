"""Two runs compared case by case, each with the noise band of its own rounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from math import comb
from statistics import geometric_mean, median

from ..bench.setting import Measured, affinity, day, effort, effort_name
from ..lazy_dataclasses import dataclass
from ..problem.tables import aligned, wrapped
from ..problem.wording import count
from ..tuning.measurement import BUSY
from .charts import Cases, Series

Key = tuple[object, ...]
SURE = 0.95  # how probable it is, at least, that a band holds the median
LEAST = 3  # rounds of a run, below which nothing is told apart
LISTED = 6  # cases that one run lacks, in text
RULE = (
    "A and B: the median over the rounds of our bandwidth as a share of the ceiling's in the same round (contractions:"
    " of our speed as a share of the plain product's), so that the machine's speed cancels out (runs per second where"
    " there is no ceiling). In brackets: the noise band, which holds the median with a probability of at least 95 %,"
    " computed from the order of the run's own rounds (fewer than six: all of them). A case is faster or slower where"
    " both bands lie apart, else within noise; change: B's median by A's."
)


class Verdict(Enum):
    """The outcome of a case; the value is its word in reports, in the order in which they are listed."""

    SLOWER = "slower"
    FASTER = "faster"
    NOISE = "within noise"


@dataclass(frozen=True, slots=True)
class Band:
    """The figure of a case in one run: the median of its rounds, and the noise band around it."""

    middle: float
    low: float
    high: float
    rounds: int

    def __str__(self) -> str:
        digits = ".2f" if self.high < 10 else ".3g"
        return f"{self.middle:{digits}} [{self.low:{digits}}, {self.high:{digits}}]"


@dataclass(frozen=True, slots=True)
class Change:
    """A case that both runs have. first, second: of A and B; busy: other work has touched one of them."""

    result: Measured
    first: Band
    second: Band
    busy: bool

    @property
    def factor(self) -> float:
        """B's median by A's."""
        return self.second.middle / self.first.middle

    @property
    def band(self) -> tuple[float, float]:
        """The least and the most that the factor may be within both bands."""
        return self.second.low / self.first.high, self.second.high / self.first.low

    @property
    def verdict(self) -> Verdict:
        """B against A."""
        low, high = self.band
        if min(self.first.rounds, self.second.rounds) < LEAST:
            return Verdict.NOISE
        return Verdict.FASTER if low > 1 else Verdict.SLOWER if high < 1 else Verdict.NOISE


@dataclass(frozen=True, slots=True)
class Changes:
    """Two runs. names: of A and B, with what they were measured with; found: the cases that both have, in A's order;
    alone: those that one has."""

    names: tuple[str, str]
    found: tuple[Change, ...]
    alone: tuple[tuple[str, ...], tuple[str, ...]]

    def of(self, verdict: Verdict) -> list[Change]:
        """The cases of one outcome, in the order of their change, the largest first."""
        found = [c for c in self.found if c.verdict is verdict]
        return sorted(found, key=lambda c: max(c.factor, 1 / c.factor), reverse=True)

    @property
    def summary(self) -> str:
        """The number of cases that are faster, slower and within noise, and the mean change."""
        words = ", ".join(f"{len(self.of(verdict))} {verdict.value}" for verdict in Verdict)
        mean = geometric_mean(c.factor for c in self.found)
        busy = sum(c.busy for c in self.found)
        said = f"{count(len(self.found), 'case')}: {words}; geometric mean of the changes {mean:.3f}"
        return said + (f"; {busy} of them while {BUSY}: measure again" if busy else "")


def band(rounds: Sequence[float]) -> Band:
    """The median of some rounds, and the narrowest pair of them, one as far from the least as the other from the most,
    between which the median of all possible rounds lies with a probability of SURE (by the binomial distribution)."""
    ordered, n = sorted(rounds), len(rounds)
    inside = [k for k in range((n + 1) // 2) if 1 - 2 * sum(comb(n, j) for j in range(k + 1)) / 2**n >= SURE]
    k = max(inside, default=0)
    return Band(median(ordered), ordered[k], ordered[n - 1 - k], n)


def compared(names: tuple[str, str], first: Sequence[Measured], second: Sequence[Measured]) -> Changes | None:
    """Two runs, case by case; None where they have no case in common.

    Where a file has several results of a case, those of equal search size and affinity are compared, of these the last.
    """
    alike = [{(*_case(r), effort(r), affinity(r)): r for r in run} for run in (first, second)]
    single = [{_case(r): r for r in run} for run in (first, second)]
    a, b = single if all(map(_same_size, alike, single)) else alike
    both = [key for key in a if key in b]
    if not both:
        return None
    told = [f"{name} ({_settings([one[key] for key in both])})" for name, one in zip(names, (a, b), strict=True)]
    alone = [tuple(one[key].id for key in one if key not in other) for one, other in ((a, b), (b, a))]
    return Changes((told[0], told[1]), tuple(_change(a[k], b[k]) for k in both), (alone[0], alone[1]))


def _case(one: Measured) -> Key:
    return one.id, one.mode, one.threads, one.case


def _same_size(one: Mapping[Key, Measured], other: Mapping[Key, Measured]) -> bool:
    return len(one) == len(other)


def _settings(results: Sequence[Measured]) -> str:
    facts = (lambda r: effort_name(effort(r)), lambda r: f"affinity {affinity(r) or 'unknown'}", day)
    return "; ".join(", ".join(dict.fromkeys(filter(None, map(fact, results)))) for fact in facts)


def _change(first: Measured, second: Measured) -> Change:
    figure = _shares if first.bound is not None and second.bound is not None else _speeds
    return Change(second, band(figure(first)), band(figure(second)), first.busy or second.busy)


def _shares(one: Measured) -> list[float]:
    """Our bandwidth by the ceiling's in each round."""
    bound = one.bound
    if bound is None:
        return []
    pairs = zip(one.ours.seconds, bound.seconds, strict=False)
    return [theirs / own * one.ours.bytes / bound.bytes for own, theirs in pairs]


def _speeds(one: Measured) -> list[float]:
    return [1 / seconds for seconds in one.ours.seconds]


def lines(changes: Changes) -> list[str]:
    """The comparison as text: what changed most first, then what is within noise."""
    a, b = changes.names
    found = [*wrapped(f"A: {a}", rest="   "), *wrapped(f"B: {b}", rest="   "), "", *aligned(table(changes), 2)]
    found += ["", *wrapped(changes.summary)]
    for name, ids in zip("AB", changes.alone, strict=True):
        found += wrapped(f"only in {name}: {_listed(ids)}", rest="  ") if ids else []
    return [*found, "", *wrapped(RULE)]


def _listed(ids: Sequence[str]) -> str:
    return ", ".join(ids[:LISTED]) + (f" and {len(ids) - LISTED} more" if len(ids) > LISTED else "")


def table(changes: Changes) -> list[tuple[str, ...]]:
    """A heading and a row a case."""
    rows = [c for verdict in Verdict for c in changes.of(verdict)]
    remarks = [f" ({BUSY})" if c.busy else "" for c in rows]
    cells = [
        (c.result.id, c.verdict.value + remark, f"{c.factor:.3f}", str(c.first), str(c.second))
        for c, remark in zip(rows, remarks, strict=True)
    ]
    return [("case", "verdict", "change", "A", "B"), *cells]


def chart(changes: Changes) -> Cases:
    """The change of every case with its band, a colour for each verdict."""
    cases = changes.found
    series = tuple(
        Series(
            verdict.value,
            tuple(c.factor if c.verdict is verdict else None for c in cases),
            tuple(c.busy for c in cases),
            tuple(c.band if c.verdict is verdict else None for c in cases),
        )
        for verdict in Verdict
        if changes.of(verdict)
    )
    several = len({c.result.kind for c in cases}) > 1
    names, (a, b) = tuple(c.result.name + f"/{c.result.kind}" * several for c in cases), changes.names
    words = f"{changes.summary}. A: {a}. B: {b}. Lines: what both noise bands leave open. {RULE}"
    return Cases("B by A, case by case", words, "times A", names, series, base=1, log=True)


