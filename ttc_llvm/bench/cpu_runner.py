"""Measure cases on this machine's CPU, one after the other."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .. import interrupts, kernel, options, runtime
from ..compiler import plan_canonical
from ..measurement import GIB
from ..options import Options
from ..stored_plans import open_database
from ..target import Target
from ..trial import Mode, check_runs_here
from ..tuning import buffers
from ..tuning.available import available_memory
from ..tuning.search import Progress
from . import facts, ours
from .cases import Case, describe
from .check import Check
from .contender import Agrees
from .results import Result
from .rounds import LEAST
from .runner import Ceilings, Comparing, Runner, Solved
from .workspace import Memory, Workspace

_log = logging.getLogger(__name__)
MAX_IMPLEMENTATIONS = 100
ROUNDS = 10
COPIES = 4  # of both tensors that have to fit: ours, the search's, and what results are compared with

Report = Callable[[Case, Progress], None]


@dataclass(frozen=True, slots=True)
class Settings(Comparing):
    """Settings of a measurement.

    target, threads: by default this machine and `ttc_llvm.num_threads()`; max_implementations, time_limit: of each
    search; database, ignore_database: as in `ttc_llvm.compile`; pattern: also measure what the plan's tiles reach
    without their permutation: over tensors of one layout, and over the problem's own. Results are checked element by
    element, and peers against them.
    """

    threads: int | None = None
    target: Target | str | None = None
    max_implementations: int = MAX_IMPLEMENTATIONS
    time_limit: float | None = None
    database: str | Path | None = None
    ignore_database: bool = False
    pattern: bool = False
    rounds: int = field(default=ROUNDS, kw_only=True)

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
        return self.digest(
            case, chosen.target.key, chosen.threads, chosen.max_implementations, chosen.time_limit, chosen.verify,
            self.rounds, self.pattern, runtime.placement(), kernel.versions(),
        )  # fmt: skip


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
        key = settings.key(case, chosen)
        if key in done:
            continue
        if not fits(case, memory):
            _log.warning("%s is skipped: %s does not fit in memory", case.id, describe(case.problem))
            continue
        with interrupts.noted() as seen:
            result = CpuRunner(case, settings, chosen.threads, key, chosen, memory, report).result()
        if seen:  # the search, or whatever ran, went on with what there was
            raise KeyboardInterrupt
        yield result


def fits(case: Case, memory: Memory) -> bool:
    """True where there is room for a case's tensors and for what checking it takes."""
    free = available_memory()
    return free is None or COPIES * buffers.footprint(case.canonical) < free + memory.held


@dataclass(slots=True)
class CpuRunner(Runner[Workspace]):
    """A case on this machine's CPU. batches: of candidates timed by our search, none where the plan was known."""

    drifts = True
    settings: Settings
    options: Options
    memory: Memory
    report: Report | None
    batches: int = 0

    def _workspace(self) -> Workspace:
        """Tensors on shared memory."""
        return Workspace.of(self.case, self.options.target, self.threads, self.memory)

    def _ceilings(self, workspace: Workspace) -> Ceilings:
        """SAXPY, copies and memcpy; that which counts is measured at once."""
        ways, main = ours.ceilings(workspace), ours.main_ceiling(workspace)
        known = [way for way in ways if way.name == main]
        runs = [way.bytes_moved / workspace.seconds(way) / GIB for _ in range(LEAST) for way in known]
        return Ceilings(main, max(runs, default=0.0), ways)

    def _solve(self, workspace: Workspace) -> Solved:
        """Our plan; KeyboardInterrupt where the user ended the search, which goes on with what it has found."""
        store = open_database(self.settings.database, self.settings.ignore_database)
        with interrupts.noted() as seen:
            planned = plan_canonical(workspace.canonical, self.options, workspace.scalars, store, self._progress)
        if seen:
            raise KeyboardInterrupt
        measured = planned.measurement
        return Solved(
            ours.solution(workspace, planned),
            str(planned.plan),
            "cost model" if measured is None else "tuned" if self.batches else "database",
            0 if measured is None else len(measured.timings),
            self.batches > 0 and self.case.offset == 0,
            [
                *(ours.tiled(workspace, planned.plan) if self.settings.pattern or self.case.hot else ()),
                *(ours.pattern(workspace, planned.plan) if self.settings.pattern else ()),
            ],
        )

    def _progress(self, progress: Progress) -> None:
        self.batches += 1
        if self.report is not None:
            self.report(self.case, progress)

    def _check(self, workspace: Workspace, solved: Solved) -> Agrees:
        """Peers compute what we compute, byte by byte where nothing is added up."""
        return Check(workspace, solved.contender, not solved.checked).agrees

    def _facts(self, workspace: Workspace) -> dict[str, Any]:
        """This machine, the placement of threads, and the search's limits."""
        wanted = {"max_implementations": self.options.max_implementations, "time_limit": self.options.time_limit}
        return facts.machine(self.options.target) | {
            "affinity": str(runtime.placement()),
            "options": wanted | {"rounds": self.settings.rounds},
        }
