"""Measure cases on a device, one after the other: prepared candidates, then everybody in turns on the same tensors."""

from __future__ import annotations

import logging
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from typing import Any

from .. import interrupts
from ..canonical import Canonical
from ..errors import GpuError, VerificationError
from ..gpu import compiling
from ..gpu.devices import Device
from ..gpu.plan import GpuPlan
from ..gpu.session import Session
from ..gpu.stage import boxes
from ..gpu.target import GpuTarget
from ..gpu.trial import Built, Trial, ceiling_name
from ..trial import Mode
from ..tuning.search import Limits, Outcome, search
from ..wording import problem_fields
from . import facts
from .cases import Case, run_bytes
from .gpu_guests import CHECKED, CHECKED_ELEMENTS, Guests, in_turns
from .gpu_peers import GpuPeer, GpuReference, Run
from .gpu_prepare import Prepared, prepared
from .results import Reference, Result, Timing

_log = logging.getLogger(__name__)
MAX_IMPLEMENTATIONS = 10
ROUNDS = 3
BUDGET = 450.0  # seconds: device time is short, and the last case and the way there take some, too
HOPELESS = 3  # cases that fail one after the other: the device, not the case, is at fault


@dataclass(frozen=True, slots=True)
class GpuSettings:
    """Settings of a measurement on a GPU.

    max_implementations: candidates of a case, the model's first; rounds: of the final comparison, a median of many
    runs each; verify: check parts of our result, and that peers compute the same; budget: seconds after which no
    case is begun; jobs: processes that make kernels ahead, 0 = none; assembled: they make cubins; peers: other
    libraries; references: naive kernels by compilers.
    """

    device: Device
    target: GpuTarget
    max_implementations: int = MAX_IMPLEMENTATIONS
    rounds: int = ROUNDS
    verify: bool = True
    budget: float | None = BUDGET
    jobs: int = 0
    assembled: bool = True
    peers: tuple[GpuPeer, ...] = ()
    references: tuple[GpuReference, ...] = ()

    def key(self, case: Case) -> str:
        """A text that is equal for results of this case with these settings, on this machine and version."""
        peers = [f"{one.name} {one.version}" for one in self.peers]
        peers += [f"{one.name} {one.version}" for one in self.references]
        parts = (
            case.id, case.text, str(self.device), self.target.key, self.max_implementations, self.rounds, self.verify,
            compiling.versions(), *peers,
        )  # fmt: skip
        return sha256("\n".join(map(str, parts)).encode()).hexdigest()[:20]


def run(cases: Sequence[Case], settings: GpuSettings, done: Collection[str] = ()) -> Iterator[Result]:
    """Measure cases and yield their results, one by one; those whose key is in `done` are left out, and all that come
    after the budget. A case that does not fit in the device's memory, whose result is wrong or which the driver
    refuses, and a peer that computes something else or fails, is left out with a warning: device time is short, and the
    others go on. Raises TtcError subclasses, those of a case where HOPELESS ones have failed in a row."""
    end = None if settings.budget is None else time.monotonic() + settings.budget
    todo = [case for case in cases if settings.key(case) not in done]
    attempts = _Attempts(settings, Session(settings.device))
    made = prepared(todo, settings.target, settings.max_implementations, settings.jobs, settings.assembled)
    for number, (case, kernels) in enumerate(made):
        if end is not None and time.monotonic() > end:
            _log.warning("the time is up: %d of %d cases are left", len(todo) - number, len(todo))
            return
        with interrupts.noted() as seen:
            result = attempts.result(case, kernels)
        if seen:  # the search went on with what it had found
            raise KeyboardInterrupt
        if result is not None:
            yield result


@dataclass(slots=True)
class _Attempts:
    """Cases tried one after the other. failed: how many of the last ones."""

    settings: GpuSettings
    session: Session
    failed: int = 0

    def result(self, case: Case, kernels: Prepared) -> Result | None:
        """The case's result; None, and a warning, where it has none."""
        try:
            with self.session.active():
                found = _Measured(case, self.settings, self.session, kernels).result()
        except (GpuError, VerificationError) as error:
            self.failed += "too little memory" not in str(error)
            if self.failed == HOPELESS:
                raise
            _log.warning("%s is skipped: %s", case.id, error)
            return None
        self.failed = 0
        return found


@dataclass(slots=True)
class _Measured:
    """One case on its way to a result."""

    case: Case
    settings: GpuSettings
    session: Session
    kernels: Prepared
    canonical: Canonical = field(init=False)
    trial: Trial = field(init=False)
    start: float = field(default_factory=time.perf_counter)

    def __post_init__(self) -> None:
        problem = self.case.problem
        self.canonical = self.case.canonical
        self.trial = Trial(
            self.canonical, self.settings.target, self.session, Mode.COLD, problem.alpha, problem.beta,
            self.kernels.images, (problem.a, problem.b),
        )  # fmt: skip

    def result(self) -> Result:
        """All stages, in order."""
        limits = Limits(len(self.kernels.plans), verify=False)
        outcome: Outcome[GpuPlan, Built] = search(self.kernels.plans, lambda plan: (), self.trial, limits)
        own = partial(self.trial.launch, outcome.kernel)
        if self.settings.verify:
            self._check(outcome)
        settings, problem = self.settings, self.case.problem
        guests = Guests.of(
            self.trial, problem, settings.peers, settings.references, settings.verify, self.case.id
        )
        ceilings = self.trial.ceilings()
        contenders: list[Run] = [own, *(run for _, run in ceilings), *guests.runs.values()]
        seconds = in_turns(self.trial, contenders, settings.rounds)
        moved = self.canonical.bytes_moved
        mine, walks, others = seconds[0], seconds[1 : 1 + len(ceilings)], seconds[1 + len(ceilings) :]
        best = [Timing(size, times) for (size, _), times in zip(ceilings, walks, strict=True)]
        ceiling = {} if not best else {ceiling_name(self.canonical): max(best, key=lambda timing: timing.gibs)}
        return self._finished(
            outcome, Timing(moved, mine), ceiling,
            {name: Timing(moved, times) for name, times in zip(guests.runs, others, strict=True)},
            guests.references,
        )  # fmt: skip

    def _check(self, outcome: Outcome[GpuPlan, Built]) -> None:
        wrong = self.trial.wrong(outcome.kernel, boxes(self.canonical, CHECKED, CHECKED_ELEMENTS))
        if wrong is not None:
            raise VerificationError(
                f"{self.case.id}: the kernel of plan {outcome.best.plan} computed a wrong element at index {wrong}"
            )

    def _finished(
        self,
        outcome: Outcome[GpuPlan, Built],
        ours: Timing,
        ceilings: Mapping[str, Timing],
        peers: Mapping[str, Timing],
        references: Mapping[str, Reference],
    ) -> Result:
        case, settings = self.case, self.settings
        first = next(timed for timed in outcome.timings if timed.plan == self.kernels.plans[0])
        return Result(
            key=settings.key(case),
            suite=case.suite,
            name=case.name,
            kind=case.kind,
            mode="cold",
            threads=1,
            case=case.text,
            problem=problem_fields(case.problem) | {"offset": 0},
            canonical=str(self.canonical),
            run_bytes=run_bytes(self.canonical),
            plan=str(outcome.best.plan),
            source="tuned" if len(outcome.timings) > 1 else "cost model",
            candidates=len(outcome.timings),
            verified=settings.verify,
            elapsed=time.perf_counter() - self.start,
            ours=ours,
            ceiling=ceiling_name(self.canonical),
            before=0.0,
            ceilings=ceilings,
            peers=peers,
            facts=self._facts() | {"model_first": min(t.score for t in outcome.timings) / first.score},
            references=references,
        )

    def _facts(self) -> dict[str, Any]:
        settings = self.settings
        device = settings.device
        return facts.versions() | {
            "device": device.name,
            "capability": list(device.capability),
            "driver": self.session.driver.version,
            "target": str(settings.target),
            "sets": len(self.trial.stage.sets),
            "peers": {peer.name: peer.version for peer in settings.peers},
            "options": {"max_implementations": settings.max_implementations, "rounds": settings.rounds},
            "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        }


