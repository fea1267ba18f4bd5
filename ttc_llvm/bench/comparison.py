"""The comparison of one case, on a CPU or on a GPU: all contenders in turns on the same memory, and the result."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from typing import Any

from ..errors import TtcError
from ..lazy_dataclasses import dataclass, replace
from ..problem.wording import problem_fields
from ..tuning.search.speed import DRIFT, drifts
from .cases import Case, run_bytes
from .contender import OURS, Agrees, Contender, NotBuilt, Peer, PreparedCase
from .results import Reference, Result, Timing

_log = logging.getLogger(__name__)
LEAST = 3  # rounds of contenders that are much slower than ours, and of the ceilings that do not count
NEAR = 1.5  # times as slow as we are: within it a peer runs in every round


class ComparisonSettings:
    """The settings that every measurement has."""

    __slots__ = ()
    rounds: int
    verify: bool
    peers: tuple[Peer[Any], ...]

    def digest(self, case: Case, *parts: object) -> str:
        """A text that is equal for results of this case, with these peers and with equal parts."""
        peers = [f"{peer.name} {peer.version}" for peer in self.peers]
        return sha256("\n".join(map(str, (case.id, case.text, *parts, *peers))).encode()).hexdigest()[:20]


@dataclass(frozen=True, slots=True)
class Ceilings:
    """The same bytes without a permutation. main: which of them counts; before: its GiB/s before the search, 0 = not
    measured; contenders: ways to all of them."""

    main: str
    before: float
    contenders: Sequence[Contender]


@dataclass(frozen=True, slots=True)
class Solved:
    """Our solution of a case. source: tuned, database or cost model; candidates: so many were timed; checked: every
    element of its result was right just now; ceilings: of this plan alone; provisional: as `Record` has
    it."""

    contender: Contender
    plan: str
    source: str
    candidates: int
    checked: bool
    ceilings: Sequence[Contender] = ()
    provisional: int = 0


@dataclass(frozen=True, slots=True)
class CaseComparison:
    """A case about to be compared. key: of its result; threads: that run a kernel; check: makes the check of peers'
    results, which raises VerificationError where ours is wrong; facts: machine, versions and options; start:
    time.perf_counter() when work on it began; drifts: other work changes the machine's speed, so that not every round
    counts, and contenders that are much slower than ours are dropped early."""

    workspace: PreparedCase
    settings: ComparisonSettings
    key: str
    threads: int
    ceilings: Ceilings
    solved: Solved
    check: Callable[[], Agrees]
    facts: Mapping[str, Any]
    start: float
    drifts: bool

    def result(self) -> Result:
        """The result, once all contenders have run in turns."""
        ceilings, solved, rounds = self.ceilings, self.solved, self.settings.rounds
        check = self.check if self.settings.verify else None
        present = Present.of(self.settings.peers, self.workspace, check, full=not solved.checked)
        main, least = (ceilings.main, LEAST) if self.drifts else ("", rounds)
        others = [*ceilings.contenders, *solved.ceilings, *present.contenders]
        return self._finished(present, Rounds(self.workspace, solved.contender, main, others, least).run(rounds))

    def _finished(self, present: Present, timings: Mapping[str, Timing]) -> Result:
        case, solved = self.workspace.case, self.solved
        peers = [contender.name for contender in present.contenders]
        return Result(
            key=self.key,
            suite=case.suite,
            name=case.name,
            kind=case.kind,
            mode="hot" if case.hot else "cold",
            threads=self.threads,
            case=case.text,
            problem=problem_fields(case.problem) | {"perm": case.problem.perm, "offset": case.offset},
            canonical=str(self.workspace.canonical),
            run_bytes=run_bytes(case.canonical),
            plan=solved.plan,
            source=solved.source,
            candidates=solved.candidates,
            verified=self.settings.verify,
            elapsed=time.perf_counter() - self.start,
            ours=timings[OURS],
            ceiling=self.ceilings.main,
            before=self.ceilings.before,
            ceilings={name: timing for name, timing in timings.items() if name not in (OURS, *peers)},
            peers={name: timings[name] for name in peers},
            facts={
                **self.facts,
                "peers": {peer.name: peer.version for peer in self.settings.peers},
                "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            },
            references=present.references,
            provisional=solved.provisional,
        )


# --- who takes part -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Present:
    """The peers present in a case. references: how they were compiled, and why some could not be."""

    contenders: tuple[Contender, ...]
    references: dict[str, Reference]

    @classmethod
    def of(
        cls, peers: Sequence[Peer[Any]], workspace: PreparedCase, check: Callable[[], Agrees] | None, full: bool = False
    ) -> Present:
        """Those who can do the case and do it right. check: makes the check of their results, None = there is none;
        full: made also where there is no peer, to check our own result."""
        references: dict[str, Reference] = {}
        found = [made for peer in peers if (made := _made(peer, workspace, references)) is not None]
        references |= {made.name: made.reference for made in found if made.reference is not None}
        if check is None or not (found or full):
            return cls(tuple(found), references)
        agrees = check()
        agreed = tuple(peer for peer in found if agrees(peer))
        for peer in (peer for peer in found if peer not in agreed):
            _log.warning("%s is left out of %s: its result differs", peer.name, workspace.case.id)
            if peer.name in references:
                references[peer.name] = replace(references[peer.name], message="its result differs")
        return cls(agreed, references)


def _made(peer: Peer[Any], workspace: PreparedCase, references: dict[str, Reference]) -> Contender | None:
    try:
        return peer.contender(workspace)
    except (TtcError, KeyboardInterrupt):
        raise
    except NotBuilt as failed:
        _log.info("%s is left out of %s: %s", peer.name, workspace.case.id, failed)
        references[peer.name] = failed.reference
    except Exception as error:  # another library's: whatever it is, the others go on
        _log.warning("%s is left out of %s: %s: %s", peer.name, workspace.case.id, type(error).__name__, error)
    return None


# --- rounds -------------------------------------------------------------------------------------------------


def kept(seconds: tuple[float, ...], drift: Sequence[float]) -> tuple[float, ...]:
    """The runs of the rounds at the usual speed; of a contender dropped before there was one, the run nearest to it."""
    found = tuple(s for s, d in zip(seconds, drift, strict=False) if d < DRIFT)
    return found or (min(zip(drift, seconds, strict=False))[1],)


class Rounds:
    """The final comparison: all contenders in turns, every other round in the opposite order.

    main: the ceiling that counts; least: rounds after which contenders that decide nothing are dropped.
    """

    def __init__(
        self, workspace: PreparedCase, mine: Contender, main: str, others: Sequence[Contender], least: int = LEAST
    ) -> None:
        self.workspace, self.mine, self.main, self.least = workspace, mine, main, least
        self.alive = [mine, *others]
        self.seconds: dict[tuple[str, int], list[float]] = {}
        self.bytes = {contender.name: contender.bytes_moved for contender in self.alive}
        self.off = 0  # rounds that did not count

    def run(self, rounds: int) -> dict[str, Timing]:
        """The runs of each contender by its name, of the rounds in which the machine had its usual speed."""
        for number in range(rounds):
            for contender in self.alive if number % 2 == 0 else reversed(self.alive):
                key = contender.name, contender.variant
                self.seconds.setdefault(key, []).append(self.workspace.seconds(contender))
            if number + 1 == self.least:
                self.alive = [contender for contender in self.alive if self._stays(contender)]
        runs = {name: self._runs(name) for name in self.bytes}
        drift = drifts(runs[self.main]) if self.main in runs else (1.0,) * rounds
        self.off = sum(d >= DRIFT for d in drift)
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
