"""One case measured, on a CPU or on a GPU: ceilings, our solution, then everybody in turns on the same memory."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, ClassVar, Generic, TypeVar

from ..wording import problem_fields
from .cases import Case, run_bytes
from .contender import OURS, Agrees, Contender, Peer, Timed
from .present import Present
from .results import Result, Timing
from .rounds import LEAST, Rounds

T = TypeVar("T", bound=Timed)


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparing:
    """Settings of every comparison. rounds: of the final one; verify: check our results and those of peers; peers:
    other libraries and references, as `peers.find` and `references.find` give them."""

    rounds: int
    verify: bool = True
    peers: tuple[Peer[Any], ...] = ()

    def digest(self, case: Case, *parts: object) -> str:
        """A text that is equal for results of this case, with these peers and with equal parts."""
        peers = [f"{peer.name} {peer.version}" for peer in self.peers]
        return sha256("\n".join(map(str, (case.id, case.text, *parts, *peers))).encode()).hexdigest()[:20]


@dataclass(frozen=True, slots=True)
class Ceilings:
    """The same bytes without a permutation. main: which of them counts; before: its GiB/s before the search, 0 = not
    measured; ways: to all of them."""

    main: str
    before: float
    ways: Sequence[Contender]


@dataclass(frozen=True, slots=True)
class Solved:
    """Our solution of a case. source: tuned, database or cost model; candidates: so many were timed; checked: every
    element of its result was right just now; ceilings: of this plan alone; facts: for the result."""

    contender: Contender
    plan: str
    source: str
    candidates: int
    checked: bool
    ceilings: Sequence[Contender] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class Runner(ABC, Generic[T]):
    """One case on its way to a result; subclasses are its way on this machine's CPU, and on a GPU.

    threads: that run a kernel; key: of the result. drifts: other work changes the machine's speed, so that rounds in
    which it does not count, and whoever is far from us leaves early.
    """

    drifts: ClassVar[bool]
    case: Case
    settings: Comparing
    threads: int
    key: str

    @abstractmethod
    def _workspace(self) -> T:
        """The case's tensors."""

    @abstractmethod
    def _ceilings(self, workspace: T) -> Ceilings:
        """The ceilings, before anything is searched."""

    @abstractmethod
    def _solve(self, workspace: T) -> Solved:
        """Our solution, searched or looked up. Raises TtcError subclasses."""

    @abstractmethod
    def _check(self, workspace: T, solved: Solved) -> Agrees:
        """The check of peers' results. VerificationError where ours is not checked yet, and wrong."""

    @abstractmethod
    def _facts(self, workspace: T) -> dict[str, Any]:
        """The machine, versions and options."""

    def result(self) -> Result:
        """All stages, in order."""
        start = time.perf_counter()
        workspace = self._workspace()
        ceilings = self._ceilings(workspace)
        solved = self._solve(workspace)
        check = (lambda: self._check(workspace, solved)) if self.settings.verify else None
        present = Present.of(self.settings.peers, workspace, check, full=not solved.checked)
        main, least = (ceilings.main, LEAST) if self.drifts else ("", self.settings.rounds)
        others = [*ceilings.ways, *solved.ceilings, *present.contenders]
        timings = Rounds(workspace, solved.contender, main, others, least).run(self.settings.rounds)
        return self._finished(workspace, ceilings, solved, present, timings, time.perf_counter() - start)

    def _finished(
        self, workspace: T, ceilings: Ceilings, solved: Solved, present: Present, timings: dict[str, Timing],
        elapsed: float,
    ) -> Result:  # fmt: skip
        case, peers = self.case, [contender.name for contender in present.contenders]
        facts = self._facts(workspace) | dict(solved.facts)
        return Result(
            key=self.key,
            suite=case.suite,
            name=case.name,
            kind=case.kind,
            mode="hot" if case.hot else "cold",
            threads=self.threads,
            case=case.text,
            problem=problem_fields(case.problem) | {"offset": case.offset},
            canonical=str(workspace.canonical),
            run_bytes=run_bytes(case.canonical),
            plan=solved.plan,
            source=solved.source,
            candidates=solved.candidates,
            verified=self.settings.verify,
            elapsed=elapsed,
            ours=timings[OURS],
            ceiling=ceilings.main,
            before=ceilings.before,
            ceilings={name: timing for name, timing in timings.items() if name not in (OURS, *peers)},
            peers={name: timings[name] for name in peers},
            facts=facts
            | {
                "peers": {peer.name: peer.version for peer in self.settings.peers},
                "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            },
            references=present.references,
        )
