"""Diversity seeds of searches on GPUs: plans of every strategy class, also of those that the cost model puts last."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator

from ttc_llvm.errors import PlanError
from ttc_llvm.lazy_dataclasses import replace
from ttc_llvm.lowering.gpu.lower import lower
from ttc_llvm.lowering.gpu.plan import GpuPlan, Shared
from ttc_llvm.machine.gpu_target import GpuTarget
from ttc_llvm.problem.canonical import Canonical

from ..space.diversity import DiversitySeeds
from . import cost as gpu_cost
from .candidates import seeds
from .forced import FREE, GpuForced


def diversity_seeds(
    c: Canonical, target: GpuTarget, forced: GpuForced = FREE, also: Callable[[GpuPlan], bool] = lambda plan: True
) -> DiversitySeeds[GpuPlan]:
    """Seeds of every strategy class; what one costs is known well enough without a look at its accesses.

    also: what must hold for them besides.
    """
    every = (plan for seed in seeds(c, target, forced) for plan in _variants(seed))
    found = (plan for plan in every if fits(c, plan, target) and also(plan))
    return DiversitySeeds(found, lambda plans: [gpu_cost.at_least(c, plan, target) for plan in plans], strategy)


def strategy(plan: GpuPlan) -> Hashable:
    """A plan's strategy class: its way through shared memory or around it, and the widths of its accesses."""
    return plan.shared, max(plan.block, default=1) > 1, plan.vector


def fits(c: Canonical, plan: GpuPlan, target: GpuTarget) -> bool:
    """True where the plan can be lowered for this form and this GPU."""
    try:
        lower(c, plan, target)
    except PlanError:
        return False
    return True


def _variants(seed: GpuPlan) -> Iterator[GpuPlan]:
    """The seed, its tile without a register block, and each with accesses half as wide."""
    found = [seed]
    if max(seed.block, default=1) > 1:
        plain = replace(seed, block=(1,) * len(seed.block))
        found += [replace(plain, shared=shared) for shared in (Shared.A, Shared.B)]
    yield from found
    narrow = max(1, seed.vector[0] // 2), max(1, seed.vector[1] // 2)
    yield from (replace(plan, vector=narrow) for plan in found)
