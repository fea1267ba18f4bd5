"""Measure cases, one after the other: ceilings, our search, then everybody in turns on the same memory."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from .. import interrupts, kernel, options, runtime
from ..compiler import plan_canonical
from ..measurement import GIB
from ..options import Options
from ..stored_plans import Planned, open_database
from ..target import Target
from ..trial import Mode, check_runs_here
from ..tuning import buffers
from ..tuning.available import available_memory
from ..tuning.search import Progress
from ..wording import problem_fields
from . import facts, ours
from .cases import Case, describe, run_bytes
from .guests import Guests
from .peers import Peer
from .results import Result, Timing
from .rounds import LEAST, in_turns
from .stand import Contender, Memory, Stand

_log = logging.getLogger(__name__)
MAX_IMPLEMENTATIONS = 100
ROUNDS = 10
COPIES = 4  # of both tensors that have to fit: ours, the search's, and what results are compared with

Report = Callable[[Case, Progress], None]


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of a measurement.

    target, threads: by default this machine and `ttc_llvm.num_threads()`; max_implementations, time_limit: of each
    search; rounds: of the final comparison; verify: check our results element by element, and peers against them;
    database, ignore_database: as in `ttc_llvm.compile`; peers: from `peers.find`; pattern: also measure what the
    plan's tiles reach without their permutation: over tensors of one layout, and over the problem's own.
    """

    threads: int | None = None
    target: Target | str | None = None
    max_implementations: int = MAX_IMPLEMENTATIONS
    time_limit: float | None = None
    rounds: int = ROUNDS
    verify: bool = True
    database: str | Path | None = None
    ignore_database: bool = False
    peers: tuple[Peer, ...] = ()
    pattern: bool = False

    def options(self, case: Case) -> Options:
        """The checked options of a case's search. Raises OptionError or TargetError."""
        threads = self.threads if case.threads is None else case.threads
        mode = Mode.HOT if case.hot else Mode.COLD
        return options.checked(
            self.max_implementations, threads, self.target, self.time_limit, mode, verify=self.verify
        )

    def keys(self, cases: Iterable[Case]) -> dict[str, Case]:
        """Cases by the keys of their results. Raises OptionError or TargetError for settings that cannot be."""
        return {self.key(case, self.options(case)): case for case in cases}

    def key(self, case: Case, chosen: Options) -> str:
        """A text that is equal for results of this case with these settings, on this machine and version."""
        peers = [f"{peer.name} {peer.version}" for peer in self.peers]
        parts = (
            case.id, case.text, chosen.target.key, chosen.threads, chosen.max_implementations, chosen.time_limit,
            chosen.verify, self.rounds, self.pattern, runtime.placement(), kernel.versions(), *peers,
        )  # fmt: skip
        return sha256("\n".join(map(str, parts)).encode()).hexdigest()[:20]


def run(
    cases: Iterable[Case], settings: Settings, done: Collection[str] = (), report: Report | None = None
) -> Iterator[Result]:
    """Measure cases and yield their results, one by one; those whose key is in `done` are left out.

    report: called between batches of candidates. A case that does not fit in memory, and a peer that computes
    something else, is left out with a warning. Ctrl-C ends it: KeyboardInterrupt. Raises TtcError subclasses.
    """
    memory = Memory()
    for case in cases:
        chosen = settings.options(case)
        check_runs_here(chosen.target)
        if settings.key(case, chosen) in done:
            continue
        if not fits(case, memory):
            _log.warning("%s is skipped: %s does not fit in memory", case.id, describe(case.problem))
            continue
        with interrupts.noted() as seen:
            result = _Measured(case, settings, chosen, memory, report).result()
        if seen:  # the search, or whatever ran, went on with what there was
            raise KeyboardInterrupt
        yield result


def fits(case: Case, memory: Memory) -> bool:
    """True where there is room for a case's tensors and for what checking it takes."""
    free = available_memory()
    return free is None or COPIES * buffers.footprint(case.canonical) < free + memory.held


@dataclass(slots=True)
class _Measured:
    """One case on its way to a result."""

    case: Case
    settings: Settings
    options: Options
    memory: Memory
    report: Report | None
    start: float = field(default_factory=time.perf_counter)
    batches: int = 0  # of candidates timed by our search: none where the plan was known

    def result(self) -> Result:
        """All stages, in order."""
        stand = Stand.of(self.case, self.options.target, self.options.threads, self.memory)
        ceilings = ours.ceilings(stand)
        main = ours.main_ceiling(stand)
        before = _best_gibs(stand, [ceiling for ceiling in ceilings if ceiling.name == main])
        planned = self._planned(stand)
        mine = ours.solution(stand, planned)
        if self.settings.pattern or self.case.hot:
            ceilings += ours.tiled(stand, planned.plan)
        if self.settings.pattern:
            ceilings += ours.pattern(stand, planned.plan)
        verified = self.batches > 0 and self.case.offset == 0  # the search has just checked our result
        guests = Guests.of(self.settings.peers, stand, mine, self.settings.verify, full=not verified)
        timings = in_turns(stand, mine, [*ceilings, *guests.contenders], self.settings.rounds, main)
        return self._finished(stand, planned, timings, (main, before), guests)

    def _planned(self, stand: Stand) -> Planned:
        """Our plan; KeyboardInterrupt where the user ended the search, which goes on with what it has found."""
        store = open_database(self.settings.database, self.settings.ignore_database)
        with interrupts.noted() as seen:
            planned = plan_canonical(stand.canonical, self.options, stand.scalars, store, self._progress)
        if seen:
            raise KeyboardInterrupt
        return planned

    def _progress(self, progress: Progress) -> None:
        self.batches += 1
        if self.report is not None:
            self.report(self.case, progress)

    def _finished(
        self,
        stand: Stand,
        planned: Planned,
        timings: dict[str, Timing],
        ceiling: tuple[str, float],
        guests: Guests,
    ) -> Result:
        case, chosen = self.case, self.options
        peers = [contender.name for contender in guests.contenders]
        measured = planned.measurement
        return Result(
            key=self.settings.key(case, chosen),
            suite=case.suite,
            name=case.name,
            kind=case.kind,
            mode="hot" if case.hot else "cold",
            threads=chosen.threads,
            case=case.text,
            problem=problem_fields(case.problem) | {"offset": case.offset},
            canonical=str(stand.canonical),
            run_bytes=run_bytes(stand.case.canonical),
            plan=str(planned.plan),
            source="cost model" if measured is None else "tuned" if self.batches else "database",
            candidates=0 if measured is None else len(measured.timings),
            verified=chosen.verify,
            elapsed=time.perf_counter() - self.start,
            ours=timings[ours.OURS],
            ceiling=ceiling[0],
            before=ceiling[1],
            ceilings={name: t for name, t in timings.items() if name not in (ours.OURS, *peers)},
            peers={name: timings[name] for name in peers},
            facts=self._facts(),
            references=guests.references,
        )

    def _facts(self) -> dict[str, Any]:
        chosen = self.options
        wanted = {"max_implementations": chosen.max_implementations, "time_limit": chosen.time_limit}
        return facts.machine(chosen.target) | {
            "affinity": str(runtime.placement()),
            "peers": {peer.name: peer.version for peer in self.settings.peers},
            "options": wanted | {"rounds": self.settings.rounds},
            "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        }


def _best_gibs(stand: Stand, contenders: Sequence[Contender]) -> float:
    """The best of some runs of the best of these; 0 for none."""
    runs = [c.bytes_moved / stand.seconds(c) / GIB for _ in range(LEAST) for c in contenders]
    return max(runs, default=0.0)
