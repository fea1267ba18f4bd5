"""Measure cases on this machine's CPU, one after the other."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from ..compiling import options
from ..compiling.compiler import CpuTask, plan_canonical
from ..compiling.options import Options
from ..compiling.stored_plans import open_database
from ..compiling.trial import Mode, check_runs_here
from ..errors import PlanError
from ..lazy_dataclasses import dataclass
from ..machine.target import Target
from ..runtime import interrupts, kernel, runtime
from ..tuning.measurement import GIB
from ..tuning.search import buffers
from ..tuning.search.available import available_memory
from ..tuning.search.progress import Progress
from . import facts, ours, sum_cases, two_passes
from .cases import Case, describe
from .check import Check
from .comparison import LEAST, CaseComparison, Ceilings, ComparisonSettings, Solved
from .contender import Peer
from .results import Result
from .workspace import Memory, Workspace

_log = logging.getLogger(__name__)
MAX_IMPLEMENTATIONS = 100
ROUNDS = 10
COPIES = 4  # of both tensors that have to fit: ours, the search's, and what results are compared with

Report = Callable[[Case, Progress], None]


@dataclass(frozen=True, slots=True)
class Settings(ComparisonSettings):
    """Settings of a measurement.

    target, threads: by default this machine and `ttc_llvm.num_threads()`; max_implementations, time_limit: of each
    search; rounds: of the final comparison; verify: check our results element by element, and peers against them;
    database, ignore_database: as in `ttc_llvm.compile`; peers: from `peers.find`; pattern: also measure what the
    plan's tiles reach without their permutation: over tensors of one layout, and over the problem's own; plan: the text
    of the only one that is measured.
    """

    threads: int | None = None
    target: Target | str | None = None
    max_implementations: int = MAX_IMPLEMENTATIONS
    time_limit: float | None = None
    rounds: int = ROUNDS
    verify: bool = True
    database: str | Path | None = None
    ignore_database: bool = False
    peers: tuple[Peer[Any], ...] = ()
    pattern: bool = False
    plan: str | None = None

    def options(self, case: Case) -> Options:
        """The checked options of a case's search. Raises OptionError or TargetError."""
        threads = self.threads if case.threads is None else case.threads
        mode = Mode.HOT if case.hot else Mode.COLD
        return options.checked(
            self.max_implementations, threads, self.target, self.time_limit, mode, verify=self.verify, plan=self.plan
        )

    def keys(self, cases: Sequence[Case]) -> dict[str, Case]:
        """Cases by the keys of their results. Raises OptionError or TargetError for settings that cannot be, PlanError
        for a plan that does not fit a case."""
        for case in cases:
            self._check_plan(case)
        return {self.key(case, self.options(case)): case for case in cases}

    def _check_plan(self, case: Case) -> None:
        try:
            if self.plan is not None:
                CpuTask(case.canonical, self.options(case)).parsed(self.plan)
        except PlanError as error:
            raise PlanError(f"{case.id}: {error}") from None

    def key(self, case: Case, chosen: Options) -> str:
        """A text that is equal for results of this case with these settings, on this machine and version."""
        return self.digest(
            case, chosen.target.key, chosen.threads, chosen.max_implementations, chosen.time_limit, chosen.verify,
            self.rounds, self.pattern, runtime.placement(), kernel.versions(), *filter(None, [self.plan]),
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
        start = time.perf_counter()
        with interrupts.noted() as seen:
            workspace = Workspace.of(case, chosen.target, chosen.threads, memory)
            result = _Measured(settings, chosen, workspace, report, start).result(key)
        if seen:  # the search, or whatever ran, went on with what there was
            raise KeyboardInterrupt
        yield result


def fits(case: Case, memory: Memory) -> bool:
    """True where there is room for a case's tensors and for what checking it takes."""
    free = available_memory()
    return free is None or COPIES * buffers.footprint(case.canonical) < free + memory.held


@dataclass(slots=True)
class _Measured:
    """One case on its way to a result. timed: candidates of our search, none where the plan was known."""

    settings: Settings
    options: Options
    workspace: Workspace
    report: Report | None
    start: float
    timed: int = 0

    def result(self, key: str) -> Result:
        """All stages, in order."""
        ceilings = self._ceilings()
        solved = self._solve()
        return CaseComparison(
            self.workspace, self.settings, key, self.options.threads, ceilings, solved,
            lambda: Check(self.workspace, solved.contender, full=not solved.checked).agrees,
            self._facts(), self.start, drifts=True,
        ).result()  # fmt: skip

    def _ceilings(self) -> Ceilings:
        """SAXPY, copies and memcpy; that which counts is measured at once."""
        found, main = ours.ceilings(self.workspace), ours.main_ceiling(self.workspace)
        counting = [contender for contender in found if contender.name == main]
        runs = [c.bytes_moved / self.workspace.seconds(c) / GIB for _ in range(LEAST) for c in counting]
        return Ceilings(main, max(runs, default=0.0), found)

    def _solve(self) -> Solved:
        """Our plan; KeyboardInterrupt where the user ended the search, which goes on with what it has found."""
        workspace, case = self.workspace, self.workspace.case
        store = open_database(self.settings.database, self.settings.ignore_database)
        with interrupts.noted() as seen:
            planned = plan_canonical(
                workspace.canonical, self.options, workspace.scalars, store, self._progress, case.problem
            )
            ways = two_passes.contenders, sum_cases.one_by_one
            passes = [one for way in ways for one in way(workspace, self.options, store)]
        if seen:
            raise KeyboardInterrupt
        measured = planned.measurement
        return Solved(
            ours.solution(workspace, planned),
            str(planned.plan),
            self._source(measured is None),
            0 if measured is None else measured.timed or len(measured.timings),
            self.timed > 0 and case.offset == 0,
            [
                *passes,
                *(ours.tiled(workspace, planned.plan) if self.settings.pattern or case.hot else ()),
                *(ours.pattern(workspace, planned.plan) if self.settings.pattern else ()),
            ],
            0 if measured is None else measured.provisional,
        )

    def _source(self, untimed: bool) -> str:
        if self.settings.plan is not None:
            return "given"
        return "cost model" if untimed else "tuned" if self.timed else "database"

    def _progress(self, progress: Progress) -> None:
        self.timed = max(self.timed, progress.done)
        if self.report is not None:
            self.report(self.workspace.case, progress)

    def _facts(self) -> dict[str, Any]:
        wanted = {"max_implementations": self.options.max_implementations, "time_limit": self.options.time_limit}
        return facts.machine(self.options.target) | {
            "affinity": str(runtime.placement()),
            "options": wanted | {"rounds": self.settings.rounds},
        }
