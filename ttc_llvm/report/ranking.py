"""Ranking quality: what the cost model expected of candidates against what they were measured at."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import StatisticsError, correlation, geometric_mean, median

import numpy as np

from ..compiling.trial import Mode
from ..errors import PlanError, ProblemError, TargetError
from ..lazy_dataclasses import dataclass
from ..lowering import plan as plans
from ..lowering.plan_checks import check
from ..machine.lookup import find as find_target
from ..machine.target import Target
from ..problem import canonical_text as forms
from ..problem.canonical import Canonical
from ..runtime import backend
from ..tuning.cost.cost import Model
from ..tuning.cost.features import kind
from ..tuning.database.records import Record
from ..tuning.measurement import GIB
from .charts import Cloud
from .inputs import Inputs

LEAST_BYTES = 1 << 20  # below it a run is mostly starting and ending, which the model leaves out
LEAST = 5  # candidates of a solution whose order says something


@dataclass(frozen=True, slots=True)
class Ranked:
    """The candidates of one stored solution. kind: of the problem; pairs: seconds expected and measured; bytes: that
    one run moves."""

    kind: str
    pairs: tuple[tuple[float, float], ...]
    bytes: int

    @property
    def correlation(self) -> float | None:
        """Spearman's rank correlation of both; None where one side does not vary."""
        return spearman([e for e, _ in self.pairs], [m for _, m in self.pairs])

    @property
    def first(self) -> float:
        """The best measured time as a share of that of the plan which the model would put first."""
        return min(m for _, m in self.pairs) / min(self.pairs)[1]


def clouds(inputs: Inputs) -> Iterator[Cloud]:
    """One cloud of all stored candidates, a colour for each class of problems."""
    found = [one for record in inputs.solutions if (one := ranked(record)) is not None]
    if not found:
        return
    known = [c for one in found if (c := one.correlation) is not None]
    candidates = sum(len(one.pairs) for one in found)
    words = f"Stored solutions: {len(found)}, with {candidates:,} candidates; the database keeps the fastest of each."
    words += f" Median rank correlation {median(known):.2f}." if known else ""
    first = geometric_mean(one.first for one in found)
    words += f" The model's first of them reaches {first:.2f} of the best (geomean)."
    bandwidths = [(one, [(one.bytes / e / GIB, one.bytes / m / GIB) for e, m in one.pairs]) for one in found]
    yield Cloud(
        "Bandwidth of candidates", words, "GiB/s measured", _by_kind(bandwidths), "GiB/s expected"
    )
    within = [(one, _within(one.pairs)) for one in found]
    words = "The same within each solution: 1 = the candidate that is best expected, and best measured."
    yield Cloud(
        "Candidates of one problem", words, "share of the best measured", _by_kind(within), "share of the best expected"
    )


Points = Sequence[tuple[float, float]]


def _by_kind(found: Sequence[tuple[Ranked, Points]]) -> tuple[tuple[str, tuple[tuple[float, float], ...]], ...]:
    series: dict[str, list[tuple[float, float]]] = {}
    for one, points in found:
        series.setdefault(one.kind, []).extend(points)
    return tuple((name, tuple(points)) for name, points in series.items())


def _within(pairs: Points) -> Points:
    expected, measured = min(e for e, _ in pairs), min(m for _, m in pairs)
    return [(expected / e, measured / m) for e, m in pairs]


def ranked(record: Record) -> Ranked | None:
    """A record's candidates with what the model, as it is now, expects of them; None where they are too few, were
    timed on a stand-in or in the caches, move less than LEAST_BYTES, or belong to a machine that is not known here."""
    target = _target(record.request.target)
    try:
        canonical = forms.parse(record.request.problem)
    except ProblemError:
        return None
    if target is None or record.note or canonical.bytes_moved < LEAST_BYTES or record.request.mode != Mode.COLD.value:
        return None
    model = Model(canonical, target, record.request.threads)
    pairs = tuple(pair for timing in record.timings if (pair := _pair(timing.plan, timing.seconds, canonical, model)))
    return Ranked(kind(canonical), pairs, canonical.bytes_moved) if len(pairs) >= LEAST else None


def _pair(text: str, seconds: Sequence[float], canonical: Canonical, model: Model) -> tuple[float, float] | None:
    best = min(seconds, default=0.0)
    if best <= 0:
        return None
    try:
        return model(check(plans.parse(text), canonical)), best
    except PlanError:
        return None


def _target(key: str) -> Target | None:
    """The machine behind a database key: this one, or a named one with the table's cache sizes."""
    try:
        host = backend.host_target()
        if host.key == key:
            return host
        named = find_target(key.split()[1])
    except (TargetError, IndexError):
        return None
    return named if key.endswith(f" {named.vector_bits}/{named.small_vector_bits}") else None


def spearman(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Rank correlation, ties sharing their mean rank; None where one side is constant."""
    try:
        return correlation(_ranks(first), _ranks(second))
    except StatisticsError:
        return None


def _ranks(values: Sequence[float]) -> list[float]:
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    ranks: list[float] = (np.cumsum(count) - (count + 1) / 2)[place].tolist()
    return ranks
