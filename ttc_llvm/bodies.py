"""Which inner bodies an object holds: one per kinds of alpha and beta, specialised and any-size."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from . import any_size
from .canonical import COPY, UPDATE, Alpha, Beta, Canonical, Kinds, canonicalise, static
from .dtypes import Kind
from .lower import lower
from .nest import LoopNest
from .plan import CpuPlan
from .problem import Problem
from .target import Target

SCALE = Kinds(Alpha.ANY, Beta.ZERO)
ZERO = Kinds(Alpha.ZERO, Beta.ZERO)
SCALE_B = Kinds(Alpha.ZERO, Beta.ANY)

LANES = 16  # of the default plan's micro-tile's edge
BLOCKS = 4  # of its tile's edge

PlanFor = Callable[[Canonical], CpuPlan]


@dataclass(frozen=True, slots=True)
class Body:
    """A nest for given kinds. streaming: its twin with non-temporal stores, for a B on a vector boundary."""

    kinds: Kinds
    nest: LoopNest
    streaming: LoopNest | None = None


@dataclass(frozen=True, slots=True)
class Bodies:
    """All bodies of one object. specialised: for the generated leading dimensions; any_size: for all.

    Kinds that read A have both, unless the rank is below 2 and no leading dimension matters.
    factor: units per item, by which the any-size bodies' strides are scaled.
    """

    specialised: tuple[Body, ...]
    any_size: tuple[Body, ...]
    factor: int

    @property
    def scratch(self) -> int:
        """Bytes of scratch that the largest of them needs."""
        return max((body.nest.scratch for body in (*self.specialised, *self.any_size)), default=0)


def possible_kinds(problem: Problem) -> tuple[Kinds, ...]:
    """The kinds that run-time values of alpha and beta can take."""
    return (COPY,) if problem.compute.kind is Kind.OPAQUE else (COPY, SCALE, UPDATE, ZERO, SCALE_B)


def choose(problem: Problem, target: Target, plan: CpuPlan, plan_for: PlanFor | None = None) -> Bodies:
    """The bodies of a problem whose own kinds are best served by `plan`.

    Kinds whose canonical axes are those of the problem's own kinds share that plan; others get
    `plan_for(canonical)`, by default `default_plan`. Raises PlanError where a plan does not fit.
    """
    if problem.elements == 0:
        return Bodies((), (), 1)
    own = canonicalise(problem).canonical
    others = plan_for or (lambda form: default_plan(form, target))
    kinds = possible_kinds(problem)
    read = [k for k in kinds if k.alpha is not Alpha.ZERO or k == own.kinds]
    forms = [canonicalise(problem, k).canonical for k in read]
    specialised = tuple(_body(f, plan if f.axes == own.axes else others(f), target) for f in forms)
    general = tuple(_any_size(problem, k, target) for k in kinds if len(problem.perm) > 1 or k not in read)
    return Bodies(specialised, general, any_size.units(problem, COPY)[2])


def default_plan(canonical: Canonical, target: Target) -> CpuPlan:
    """A plain plan for a canonical form without parameters: square micro-tiles, tiles of a few of them."""
    lanes = min(LANES, target.lanes(canonical.compute.itemsize))
    axes = canonical.axes
    near = [abs(static(a.stride_a)) == 1 or a.stride_b == 1 for a in axes]
    block = tuple(max(1, min(lanes, e)) if n else 1 for n, e in zip(near, canonical.extents, strict=True))
    tile = tuple(BLOCKS * edge if n else 1 for n, edge in zip(near, block, strict=True))
    order = tuple(reversed(range(len(axes))))
    return CpuPlan(tile, block, order, order, len(order))


def _body(canonical: Canonical, plan: CpuPlan, target: Target) -> Body:
    ordinary = lower(canonical, replace(plan, streaming=False), target)
    if not plan.streaming or canonical.kinds.beta is not Beta.ZERO:
        return Body(canonical.kinds, ordinary)
    return Body(canonical.kinds, ordinary, lower(canonical, plan, target))


def _any_size(problem: Problem, kinds: Kinds, target: Target) -> Body:
    form = any_size.canonical(problem, kinds)
    return Body(kinds, lower(form, any_size.plan(form, target), target))
