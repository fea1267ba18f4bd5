"""Plans for GPUs: the task that `solve` is given, and `ttc_llvm.compile` for GPUs. Only timing needs a device."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain

from .. import arguments
from ..errors import OptionError, ProblemError
from ..gpu import devices
from ..gpu import kernel as gpu_kernel
from ..gpu.devices import Device
from ..gpu.executable import ENTRY
from ..gpu.session import Session
from ..lazy_dataclasses import dataclass
from ..lowering.gpu import lower as gpu_lower
from ..lowering.gpu import plan as gpu_plan
from ..lowering.gpu.plan import GpuPlan
from ..lowering.plan import Plan
from ..machine.gpu_target import GpuTarget
from ..problem.canonical import Canonical, canonicalise
from ..problem.problem import Problem
from ..runtime.kernel import Objects
from ..tuning import efforts
from ..tuning.database.database import Database
from ..tuning.database.records import KIND
from ..tuning.gpu import candidates as gpu_candidates
from ..tuning.gpu import diversity as gpu_diversity
from ..tuning.gpu.forced import FREE as ANY
from ..tuning.gpu.forced import GpuForced
from ..tuning.search import buffers
from ..tuning.search.progress import Report
from ..tuning.space.choices import FREE, Forced
from . import solve as loop
from .gpu_solution import GpuSolution
from .gpu_tensors import MARGIN
from .gpu_trial import Built, Trial, ceiling_name
from .options import GpuOptions, plan_text, time_limit_of
from .stored_plans import Planned, asked_for, open_database
from .task import Candidates
from .trial import Mode, stand_in


@dataclass(frozen=True, slots=True)
class GpuTask:
    """A canonical form to be planned for a GPU (`task.Task`). scalars: alpha and beta of the timed runs; device: where
    they are, by default the one at hand; problem: that it is the form of, if any."""

    canonical: Canonical
    asked: GpuOptions
    scalars: tuple[complex, complex]
    device: Device | None = None
    problem: Problem | None = None

    @property
    def extra(self) -> str:
        """The problem as it was asked for."""
        return asked_for(self.problem)

    @property
    def kind(self) -> str:
        """Transpositions."""
        return KIND

    @property
    def versions(self) -> str:
        """The versions that code depends on."""
        return gpu_kernel.versions()

    def ceiling(self, place: str) -> str:
        """The name of what results are compared with."""
        name = ceiling_name(self.canonical)
        return f"{name} of {place}" if place else name

    def parsed(self, text: str) -> GpuPlan:
        """The plan of this text; PlanError where it does not fit."""
        found = gpu_plan.parse(text)
        gpu_lower.lower(self.canonical, found, self.asked.target)
        return found

    def modelled(self) -> GpuPlan:
        """The cost model's first choice."""
        return gpu_candidates.model_plan(self.canonical, self.asked.target, self.asked.forced)

    def candidates(self, timed: Canonical, hints: Iterator[GpuPlan]) -> Candidates[GpuPlan]:
        """Hints first, then the model's ranking; all of them also fit what is timed."""
        c, target, forced = self.canonical, self.asked.target, self.asked.forced

        def fits(found: GpuPlan) -> bool:
            return timed is c or gpu_diversity.fits(timed, found, target)

        return Candidates(
            filter(fits, chain(hints, gpu_candidates.plans(c, target, forced))),
            lambda found: filter(fits, gpu_candidates.neighbours(c, found, target, forced)),
            gpu_diversity.diversity_seeds(c, target, forced, fits),
        )

    @contextmanager
    def bench(self) -> Iterator[Trial]:
        """The device; GpuError or TargetError where there is none to time on."""
        session = Session(devices.timing(self.asked.target, None if self.device is None else self.device.ordinal))
        with session.active():
            form = self._timed(session.free - MARGIN)
            yield Trial(
                form, self.asked.target, session, self.asked.mode, *self.scalars, is_proxy=form is not self.canonical
            )

    def _timed(self, free: int) -> Canonical:
        """The form itself, or a stand-in where its tensors exceed so many bytes, and the model's plan fits it."""
        if buffers.footprint(self.canonical) <= free:
            return self.canonical
        small = stand_in(self.canonical, free)
        return small if gpu_diversity.fits(small, self.modelled(), self.asked.target) else self.canonical

    def code(self, plan: GpuPlan, built: Built | None = None) -> Objects:
        """The plan's kernel by its text."""
        image = gpu_kernel.build(self.canonical, plan, self.asked.target, ENTRY) if built is None else built.image
        return {str(plan): image.code}

    def fallback_code(self, plan: GpuPlan) -> Objects:
        """No code: kernels for addresses of single elements are compiled when they are needed."""
        return {}


def check_served(problem: Problem) -> None:
    """ProblemError for a problem that GPUs have no kernels for."""
    if problem.inplace:
        raise ProblemError("a problem in place is not served on GPUs: A and B are two tensors there")
    if problem.terms:
        raise ProblemError("a sum of permutations is not served on GPUs: its terms are on the host")


def solve(problem: Problem, options: GpuOptions, store: Database, progress: Report | None) -> GpuSolution:
    """`ttc_llvm.compile` for a GPU, its options checked. GpuError where there is no device to time on."""
    check_served(problem)
    canonical = canonicalise(problem).canonical
    found = loop.solve(GpuTask(canonical, options, (problem.alpha, problem.beta), problem=problem), store, progress)
    image = gpu_kernel.stored(canonical, found.plan, options.target, found.objects)
    return GpuSolution(problem, options.target, found.plan, found.measurement, image)


def plan(
    canonical: Canonical, target: GpuTarget, scalars: tuple[complex, complex], effort: int, device: Device
) -> Planned[GpuPlan]:
    """The plan of a layout on a device; effort: plans to consider, 1 = the cost model alone."""
    asked = GpuOptions(target, max_implementations=efforts.effort("effort", effort))
    return loop.solve(GpuTask(canonical, asked, scalars, device), open_database(None))


def checked(
    max_implementations: int | str,
    target: GpuTarget | str,
    time_limit: float | None = None,
    mode: Mode = Mode.COLD,
    *,
    verify: bool = True,
    forced: Forced | GpuForced = FREE,
    plan: Plan | str | None = None,
) -> GpuOptions:
    """Options that a user has given. Raises OptionError and TargetError for what makes no sense."""
    found = devices.resolve(target)
    if not isinstance(forced, GpuForced):
        if arguments.instance(Forced)("forced", forced, OptionError) != FREE:
            raise OptionError(f"decisions {forced} are a CPU's: a GPU's are ttc_llvm.GpuForced(threads, order)")
        forced = ANY
    count, limit = efforts.effort("max_implementations", max_implementations), time_limit_of(time_limit)
    return GpuOptions(found, 1, count, limit, mode, arguments.flag("verify", verify), forced, plan_text(plan, forced))
