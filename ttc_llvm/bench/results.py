"""The measurement of one case as a frozen value."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import median
from typing import Any

from ..lazy_dataclasses import dataclass, field
from ..tuning.measurement import GIB
from ..tuning.search.speed import DRIFT, SLICE, drifts

OFF = 0.25  # share of the rounds that may be off on a machine that is not busy


@dataclass(frozen=True, slots=True)
class Timing:
    """The runs of one contender. bytes: moved by one; seconds: of each, in the order of the rounds."""

    bytes: int
    seconds: tuple[float, ...]

    @property
    def best(self) -> float:
        """The fastest run."""
        return min(self.seconds)

    @property
    def median(self) -> float:
        """Half of the runs took no longer."""
        return median(self.seconds)

    @property
    def gibs(self) -> float:
        """GiB/s of the fastest run."""
        return self.bytes / self.best / GIB


def rounds_off(ceiling: Timing) -> int:
    """The rounds in which the machine's speed was not what it was in the others."""
    return sum(drift >= DRIFT for drift in drifts(ceiling.seconds))


@dataclass(frozen=True, slots=True)
class Reference:
    """The origin of a case's reference: the naive loop nest by a compiler, or a source file of the user's own.

    compiler: its name in tables; version: as it tells itself; flags: as they were given to it; traverse: `output`
    (B is written linearly), `input` (A is read linearly), or the source file's name; compile_s: seconds that compiling
    took; cached: in an earlier run; message: why there is no timing, "" where there is one.
    """

    compiler: str
    version: str
    flags: tuple[str, ...]
    traverse: str
    compile_s: float
    cached: bool = False
    message: str = ""


@dataclass(frozen=True, slots=True)
class Result:
    """One case, measured.

    key: of the case, the options and the versions, for resuming; case: what was measured, in one line;
    run_bytes: what lies together in both tensors, at least; source: tuned, database or cost model;
    ceiling: which of the ceilings counts; before: its GiB/s before the search (0 = not measured);
    ceilings, peers: by name; facts: machine, versions, options, affinity, date; references: by name, how those peers
    were compiled, and what could not be compiled or was wrong, which is not among the peers; provisional: how often the
    search was run while the machine was busy.
    """

    key: str
    suite: str
    name: str
    kind: str
    mode: str
    threads: int
    case: str
    problem: Mapping[str, Any]
    canonical: str
    run_bytes: int
    plan: str
    source: str
    candidates: int
    verified: bool
    elapsed: float
    ours: Timing
    ceiling: str
    before: float
    ceilings: Mapping[str, Timing]
    peers: Mapping[str, Timing]
    facts: Mapping[str, Any] = field(default_factory=dict)
    references: Mapping[str, Reference] = field(default_factory=dict)
    provisional: int = 0

    @property
    def id(self) -> str:
        """The case's name: suite, name and kind."""
        return f"{self.suite}/{self.name}/{self.kind}"

    @property
    def bound(self) -> Timing | None:
        """The runs of the ceiling that counts; None where it could not be measured."""
        return self.ceilings.get(self.ceiling)

    @property
    def ratio(self) -> float | None:
        """Our bandwidth as a share of the ceiling's; None where the ceiling could not be measured."""
        return self.ratio_to(self.ceiling)

    def ratio_to(self, ceiling: str) -> float | None:
        """Our bandwidth as a share of this ceiling's, None where it was not measured."""
        timing = self.ceilings.get(ceiling)
        return None if timing is None else self.ours.gibs / timing.gibs

    @property
    def drift(self) -> float | None:
        """The ceiling in the final rounds by what it was before the search."""
        return self.bound.gibs / self.before if self.bound is not None and self.before else None

    @property
    def busy(self) -> bool:
        """True where other work has touched these figures: the search's, the ceiling's before and in the rounds, or our
        own, one of which found the machine faster than the ceiling did."""
        beyond = self.bound is not None and self.bound.best >= SLICE and (self.ratio or 0.0) > DRIFT
        if beyond or self.provisional or not 1 / DRIFT <= (self.drift or 1.0) <= DRIFT:
            return True
        options = self.facts.get("options")
        rounds = options.get("rounds") if isinstance(options, Mapping) else None
        counted = len(self.ours.seconds)
        asked = max(counted, rounds if isinstance(rounds, int) else 0)
        return asked - counted + (rounds_off(self.bound) if self.bound is not None else 0) > OFF * asked

    def speedup(self, peer: str) -> float | None:
        """The speedup over a peer, best run by best run; None where it did not take part."""
        return self.peers[peer].best / self.ours.best if peer in self.peers else None

    def pairs(self, peer: str) -> float | None:
        """The same, as the median over the rounds in which both ran one after the other."""
        if peer not in self.peers:
            return None
        return median(p / o for p, o in zip(self.peers[peer].seconds, self.ours.seconds, strict=False))
