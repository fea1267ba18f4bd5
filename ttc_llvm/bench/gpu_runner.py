"""Measure cases on a device, one after the other: prepared candidates, then all in turns on the same tensors."""

from __future__ import annotations

import logging
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from statistics import median
from typing import Any

from ..compiling.gpu_tensors import boxes
from ..compiling.gpu_trial import Built, Trial, ceiling_name
from ..compiling.trial import Mode
from ..errors import GpuError, TtcError, VerificationError
from ..gpu import kernel
from ..gpu.devices import Device
from ..gpu.session import Session
from ..lazy_dataclasses import dataclass
from ..lowering.gpu.launch import GpuImage
from ..lowering.gpu.plan import GpuPlan
from ..machine.gpu_target import GpuTarget
from ..problem.canonical import Canonical
from ..runtime import interrupts
from ..tuning.search.search import Limits, Outcome, search
from . import facts
from .cases import Case
from .comparison import CaseComparison, Ceilings, ComparisonSettings, Solved
from .contender import OURS, Contender, Peer
from .gpu_prepare import Prepared, prepared
from .results import Result

_log = logging.getLogger(__name__)
MAX_IMPLEMENTATIONS = 10
ROUNDS = 3
BUDGET = 450.0  # seconds: device time is short, and the last case and the way there take some, too
HOPELESS = 3  # cases that fail one after the other: the device, not the case, is at fault
CHECKED, CHECKED_ELEMENTS = 8, 1 << 16  # boxes of a result that are compared, and elements of each


@dataclass(frozen=True, slots=True)
class GpuSettings(ComparisonSettings):
    """Settings of a measurement on a GPU.

    max_implementations: candidates of a case, the model's first; rounds: of the final comparison, a median of many
    runs each; verify: check parts of our result, and that peers compute the same; budget: seconds after which no
    case is begun; jobs: processes that make kernels ahead, 0 = none; assembled: they make cubins; peers: other
    libraries, and naive kernels by compilers.
    """

    device: Device
    target: GpuTarget
    max_implementations: int = MAX_IMPLEMENTATIONS
    rounds: int = ROUNDS
    verify: bool = True
    budget: float | None = BUDGET
    jobs: int = 0
    assembled: bool = True
    peers: tuple[Peer[Any], ...] = ()

    def keys(self, cases: Iterable[Case]) -> dict[str, Case]:
        """Cases by the keys of their results."""
        return {self.key(case): case for case in cases}

    def key(self, case: Case) -> str:
        """A text that is equal for results of this case with these settings, on this machine and version."""
        return self.digest(
            case, self.device, self.target.key, self.max_implementations, self.rounds, self.verify, kernel.versions()
        )


def run(cases: Sequence[Case], settings: GpuSettings, done: Collection[str] = ()) -> Iterator[Result]:
    """Measure cases and yield their results, one by one; those whose key is in `done` are left out, and all that come
    after the budget. A case that does not fit in the device's memory, whose result is wrong or which the driver
    refuses, and a peer that computes something else or fails, is left out with a warning: device time is short, and the
    others go on. Raises TtcError subclasses, those of a case where HOPELESS ones have failed in a row."""
    end = None if settings.budget is None else time.monotonic() + settings.budget
    todo = [case for case in cases if settings.key(case) not in done]
    session, failed = Session(settings.device), 0  # cases that have failed one after the other
    made = prepared(todo, settings.target, settings.max_implementations, settings.jobs, settings.assembled)
    for number, (case, kernels) in enumerate(made):
        if end is not None and time.monotonic() > end:
            _log.warning("the time is up: %d of %d cases are left", len(todo) - number, len(todo))
            return
        with interrupts.noted() as seen:
            found = _attempt(case, kernels, settings, session)
        if isinstance(found, TtcError):
            failed += "too little memory" not in str(found)
            if failed == HOPELESS:
                raise found
            _log.warning("%s is skipped: %s", case.id, found)
        if seen:  # the search went on with what it had found
            raise KeyboardInterrupt
        if isinstance(found, Result):
            failed = 0
            yield found


def _attempt(case: Case, kernels: Prepared, settings: GpuSettings, session: Session) -> Result | TtcError:
    """The case's result, or why it has none."""
    start = time.perf_counter()
    try:
        with session.active():
            workspace = GpuWorkspace.of(case, settings.target, session, kernels.images)
            return _Measured(settings, workspace, kernels, start).result()
    except (GpuError, VerificationError) as error:
        return error


@dataclass(frozen=True, slots=True)
class GpuWorkspace:
    """One case ready to be measured on a device."""

    case: Case
    trial: Trial

    @classmethod
    def of(
        cls, case: Case, target: GpuTarget, session: Session, prepared: Mapping[str, GpuImage], mode: Mode = Mode.COLD
    ) -> GpuWorkspace:
        """A case's tensors. prepared: images that were compiled beforehand, as `Trial` has them."""
        problem = case.problem
        filled = problem.a, problem.b
        trial = Trial(case.canonical, target, session, mode, problem.alpha, problem.beta, prepared, filled)
        return cls(case, trial)

    @property
    def canonical(self) -> Canonical:
        """The case's canonical form."""
        return self.trial.canonical

    def seconds(self, contender: Contender) -> float:
        """The median of some runs, each on tensors that have left the caches."""
        return median(self.trial.runs(contender.run))

    def ours(self, built: Built) -> Contender:
        """A kernel of ours."""
        return Contender(OURS, self.canonical.bytes_moved, partial(self.trial.launch, built))

    def ceilings(self) -> list[Contender]:
        """The ways to the ceiling that counts."""
        main, ways = ceiling_name(self.canonical), enumerate(self.trial.ceilings())
        return [Contender(main, size, run, number) for number, (size, run) in ways]

    def agrees(self, peer: Contender) -> bool:
        """Run once on fresh data: whether parts of the result are right, sums up to their rounding."""
        peer.run(self.trial.tensors.prepare())
        found = boxes(self.canonical, CHECKED, CHECKED_ELEMENTS)
        return self.trial.tensors.wrong((self.trial.alpha, self.trial.beta), found, loose=True) is None


@dataclass(frozen=True, slots=True)
class _Measured:
    """One case on its way to a result."""

    settings: GpuSettings
    workspace: GpuWorkspace
    kernels: Prepared
    start: float

    def result(self) -> Result:
        """All stages, in order."""
        workspace, settings = self.workspace, self.settings
        solved, model_first = self._solve()
        ceilings = Ceilings(ceiling_name(workspace.canonical), 0.0, workspace.ceilings())
        return CaseComparison(
            workspace, settings, settings.key(workspace.case), 1, ceilings, solved, lambda: workspace.agrees,
            self._facts() | {"model_first": model_first}, self.start, drifts=False,
        ).result()  # fmt: skip

    def _solve(self) -> tuple[Solved, float]:
        """The fastest of the prepared candidates, parts of whose result are checked where that is asked for; and its
        time as a share of that of the model's first."""
        plans, limits = self.kernels.plans, Limits(len(self.kernels.plans), verify=False)
        outcome: Outcome[GpuPlan, Built] = search(plans, lambda plan: (), self.workspace.trial, limits)
        if self.settings.verify:
            self._verify(outcome)
        first = next(timed for timed in outcome.timings if timed.plan == plans[0])
        count = len(outcome.timings)
        source = "tuned" if count > 1 else "cost model"
        solved = Solved(self.workspace.ours(outcome.kernel), str(outcome.best.plan), source, count, checked=True)
        return solved, min(timed.score for timed in outcome.timings) / first.score

    def _verify(self, outcome: Outcome[GpuPlan, Built]) -> None:
        trial = self.workspace.trial
        wrong = trial.wrong(outcome.kernel, boxes(trial.canonical, CHECKED, CHECKED_ELEMENTS))
        if wrong is not None:
            fact = f"the kernel of plan {outcome.best.plan} computed a wrong element at index {wrong}"
            raise VerificationError(f"{self.workspace.case.id}: {fact}")

    def _facts(self) -> dict[str, Any]:
        settings, device, trial = self.settings, self.settings.device, self.workspace.trial
        return facts.versions() | {
            "device": device.name,
            "capability": list(device.capability),
            "driver": trial.session.driver.version,
            "target": str(settings.target),
            "sets": len(trial.tensors.sets),
            "options": {"max_implementations": settings.max_implementations, "rounds": settings.rounds},
        }
