"""Solutions of contractions as what objects are made from."""

from __future__ import annotations

from collections.abc import Sequence

from ..compiling.options import checked
from ..compiling.trial import Mode
from ..lazy_dataclasses import dataclass
from ..machine.cpu_features import by_demand, checkable
from ..machine.target import Target
from ..native.contraction_artifact import ContractionSpec
from ..problem.contraction import Contraction
from ..runtime import backend
from ..tuning.measurement import Measurement
from .explaining import flops
from .fused import emitted
from .fused.plan import Fused, FusedPlan
from .merged import merge
from .plans import Plan, check
from .task import ContractionTask


@dataclass(frozen=True, slots=True)
class Planned:
    """A contraction that objects are made from. plan, measurement, threads: of this machine, None where nothing was
    planned or timed; targets: the machines that they are for."""

    problem: Contraction
    plan: Plan | None
    measurement: Measurement | None
    threads: int
    targets: tuple[Target, ...]

    def spec_for(self, targets: Sequence[Target]) -> ContractionSpec:
        """The description of its artifacts for these machines."""
        return spec(self.problem, self.plan, targets, self.measurement)


AT_RUN_TIME = "as calls of other extents and strides are planned"


def spec(
    stated: Contraction, plan: Plan | None, targets: Sequence[Target], measured: Measurement | None = None
) -> ContractionSpec:
    """The description of a solution's object for these machines. The plan is that of this machine; others have the one
    that their code makes."""
    machines = {checkable(target) if len(targets) > 1 else target: target for target in targets}
    ordered = by_demand(tuple(machines)) if len(targets) > 1 else tuple(machines)
    own = None if plan is None else _own(stated, plan)
    versions = [emitted.version(stated, one, own if is_here(machines[one]) else None) for one in ordered]
    own = own if any(map(is_here, targets)) else None
    jobs = tuple((one.target, one.job) for one in versions)
    text = AT_RUN_TIME if own is None else str(own.plan)
    speed = "" if measured is None or own is None or own.plan != plan else _speed(stated, measured)
    return ContractionSpec(stated, jobs, text, speed, emitted.scratch(versions), emitted.tasks(versions))


def is_here(target: Target) -> bool:
    """True for this machine, of which alone plans are timed."""
    return backend.runs_here(target) and target.key == backend.host_target().key


def holds(plan: Plan) -> bool:
    """True for a plan that calls no BLAS and copies nothing."""
    return isinstance(plan, FusedPlan) and not any(order is not None for order in plan.copies)


def _own(stated: Contraction, plan: Plan) -> Fused | None:
    """The plan, if an object can hold it, else the first such one by what is predicted; None where there is none."""
    if holds(plan):
        applied = check(plan, merge(stated))
        return applied if isinstance(applied, Fused) else None
    ranked = ContractionTask(stated, checked(1, 1, mode=Mode.HOT), emitted=True).ranked()
    return next((applied for _, applied in ranked if isinstance(applied, Fused)), None)


def _speed(stated: Contraction, measured: Measurement) -> str:
    return f"{flops(stated) / measured.seconds / 1e9:.4g} GFlop/s, {measured.seconds * 1e3:.4g} ms"
