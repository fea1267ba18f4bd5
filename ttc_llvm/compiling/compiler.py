"""Plans for CPUs: the task that `solve` is given, and `ttc_llvm.compile` for CPUs."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext

from ..lazy_dataclasses import dataclass
from ..lowering import items
from ..lowering import plan as plans
from ..lowering.fallback import for_numpy_arrays
from ..lowering.plan import CpuPlan
from ..lowering.plan_checks import check
from ..problem.canonical import Canonical
from ..problem.problem import Problem
from ..runtime import backend, kernel
from ..runtime.kernel import Kernel, Objects
from ..tuning.cost.model import diversity_seeds, model_plan, onwards, ranked
from ..tuning.database.database import Database
from ..tuning.database.records import KIND
from ..tuning.search.progress import Report
from ..tuning.space import candidates, peak
from . import solve as loop
from .options import Options
from .solution import Solution
from .stored_plans import Planned, asked_for
from .task import Candidates
from .trial import Mode, Trial, check_runs_here


@dataclass(frozen=True, slots=True)
class CpuTask:
    """A canonical form to be planned for a CPU (`task.Task`). scalars: alpha and beta of the timed runs; problem: that
    it is the form of, if any."""

    canonical: Canonical
    asked: Options
    scalars: tuple[complex, complex] = (1.0, 0.0)
    problem: Problem | None = None

    @property
    def kind(self) -> str:
        """Transpositions."""
        return KIND

    @property
    def versions(self) -> str:
        """The versions that object code depends on."""
        return kernel.versions()

    @property
    def extra(self) -> str:
        """The problem as it was asked for."""
        return asked_for(self.problem)

    def ceiling(self, place: str) -> str:
        """The name of what results are compared with."""
        return peak.of(self.canonical, hot=self.asked.mode is Mode.HOT).value

    def parsed(self, text: str) -> CpuPlan:
        """The plan of this text; PlanError where it does not fit."""
        return check(plans.parse(text), self.canonical)

    def modelled(self) -> CpuPlan:
        """The cost model's first choice."""
        return model_plan(self.canonical, self.asked.target, self.asked.threads, self.asked.forced)

    def candidates(self, timed: Canonical, hints: Iterator[CpuPlan]) -> Candidates[CpuPlan]:
        """Hints by rule first, then the model's ranking, or the paper's whole space."""
        place = self.canonical, self.asked.target, self.asked.threads, self.asked.forced
        if self.asked.max_implementations == -1:
            offered = candidates.paper_space(self.canonical, self.asked.target, self.asked.forced)
        else:
            offered = itertools.chain((plan.without_fallback for plan in hints), ranked(*place))
        return Candidates(offered, onwards(*place), diversity_seeds(*place))

    def bench(self) -> AbstractContextManager[Trial]:
        """This machine; TargetError where it lacks the target's instructions."""
        asked = self.asked
        check_runs_here(asked.target)
        return nullcontext(Trial(self.canonical, asked.target, asked.threads, asked.mode, *self.scalars))

    def code(self, plan: CpuPlan, built: Kernel | None = None) -> Objects:
        """The plan's object code by its text; none where this machine does not run it."""
        if built is None and not backend.runs_here(self.asked.target):
            return {}
        made = built or kernel.cache.obtain(self.canonical, plan, self.asked.target)
        return {str(plan): made.code}

    def fallback_code(self, plan: CpuPlan) -> Objects:
        """Object code of the fallback plans for the usual addresses of NumPy's arrays."""
        canonical, target = self.canonical, self.asked.target
        return {
            kernel.name_of(one.plan, one.loads): kernel.cache.obtain(canonical, one.plan, target, None, one.loads).code
            for one in for_numpy_arrays(canonical, plan, target)
        }


def solve(problem: Problem, options: Options, store: Database, progress: Report | None) -> Solution:
    """`ttc_llvm.compile` for CPUs, its options checked."""
    canonical = items.placed(problem, options.target).canonical
    found = plan_canonical(canonical, options, (problem.alpha, problem.beta), store, progress, problem)
    return Solution(
        problem, options.target, found.plan, options.threads, found.measurement, found.objects, options.others
    )


def plan_canonical(
    canonical: Canonical,
    options: Options,
    scalars: tuple[complex, complex],
    store: Database,
    progress: Report | None = None,
    problem: Problem | None = None,
) -> Planned[CpuPlan]:
    """The best plan of a canonical form, as `solve.solve` finds it. scalars: alpha and beta of the timed runs; problem:
    that it is the form of, if any."""
    return loop.solve(CpuTask(canonical, options, scalars, problem), store, progress)
