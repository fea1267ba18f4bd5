"""The inner bodies that an object holds: one per kinds of alpha and beta, specialised and any-size."""

from __future__ import annotations

from collections.abc import Callable

from ..lazy_dataclasses import dataclass
from ..machine.target import Target
from ..problem import orbits
from ..problem.canonical import Canonical, static
from ..problem.dtypes import Kind
from ..problem.kinds import COPY, UPDATE, Alpha, Beta, Kinds
from ..problem.problem import Problem
from . import any_size, items
from .fallback import for_misaligned_b
from .lower import lower
from .nest import LoopNest
from .plan import CpuPlan
from .tile_sizes import alike
from .writing import resolve

SCALE = Kinds(Alpha.ANY, Beta.ZERO)
ZERO = Kinds(Alpha.ZERO, Beta.ZERO)
SCALE_B = Kinds(Alpha.ZERO, Beta.ANY)

LANES = 16  # extent of the default plan's micro-tile
BLOCKS = 4  # micro-tiles along each axis of its tile

PlanFor = Callable[[Canonical, Target], CpuPlan]


@dataclass(frozen=True, slots=True)
class Body:
    """A nest for given kinds and any address of B.

    non_temporal: nests with non-temporal stores, the most demanding first: B on a vector boundary, then anywhere.
    """

    kinds: Kinds
    nest: LoopNest
    non_temporal: tuple[LoopNest, ...] = ()

    @property
    def nests(self) -> tuple[LoopNest, ...]:
        """All of them, in the order in which they are preferred."""
        return (*self.non_temporal, self.nest)


@dataclass(frozen=True, slots=True)
class Bodies:
    """All bodies of one object. specialised: for the generated shape, of the kinds that read A, and of sums all;
    any_size: for all extents and outer sizes, and all kinds; strided: the same for all strides; none of sums. factor:
    units per item, by which the strides of the latter two are scaled."""

    specialised: tuple[Body, ...]
    any_size: tuple[Body, ...]
    strided: tuple[Body, ...]
    factor: int

    @property
    def scratch(self) -> int:
        """Bytes of scratch that the largest of them is passed; any-size bodies need none."""
        return max((nest.passed for body in self.specialised for nest in body.nests), default=0)

    @property
    def stack(self) -> int:
        """Bytes of the stack that a call takes for scratch."""
        every = (*self.specialised, *self.any_size, *self.strided)
        return max((nest.scratch for body in every for nest in body.nests), default=0)


@dataclass(frozen=True, slots=True)
class Version:
    """The code of an object for one machine."""

    target: Target
    bodies: Bodies


def possible_kinds(problem: Problem) -> tuple[Kinds, ...]:
    """The kinds that run-time values of alpha and beta can take."""
    if problem.terms:
        return SCALE, UPDATE, ZERO, SCALE_B
    return (COPY,) if problem.compute.kind is Kind.OPAQUE else (COPY, SCALE, UPDATE, ZERO, SCALE_B)


def choose(problem: Problem, target: Target, plan: CpuPlan, plan_for: PlanFor | None = None) -> Bodies:
    """The bodies of a problem whose own kinds are best served by `plan`.

    Kinds whose canonical axes are those of the problem's own kinds share that plan; others get
    `plan_for(canonical, target)`, by default `default_plan`. Raises PlanError where a plan does not fit.
    """
    if problem.inplace:
        orbits.check_order(problem.perm, [2] * len(problem.perm))
    kinds = possible_kinds(problem)
    if problem.terms:
        return Bodies(_of_sum(problem, target, plan, plan_for or default_plan), (), (), 1)
    factor = any_size.units(problem, COPY)[2]
    strided = tuple(_strided(problem, k, target) for k in kinds) if problem.perm else ()
    if problem.elements == 0:
        return Bodies((), tuple(_any_size(problem, k, target) for k in kinds), strided, factor)
    own = items.placed(problem, target).canonical
    others = plan_for or default_plan
    read = [k for k in kinds if k.alpha is not Alpha.ZERO or k == own.kinds]
    forms = {k: items.placed(problem, target, k).canonical for k in read}
    plans = {k: plan if form.axes == own.axes else others(form, target) for k, form in forms.items()}
    specialised = tuple(_body(forms[k], plans[k], target) for k in read)
    counts = {k: forms[k].a.itemsize // any_size.units(problem, k)[0].itemsize for k in read}
    rows = {k: items.as_rows(plans[k], count) for k, count in counts.items()}
    any_sizes = tuple(_any_size(problem, k, target, rows.get(k)) for k in kinds)
    return Bodies(specialised, any_sizes, strided, factor)


def _of_sum(problem: Problem, target: Target, plan: CpuPlan, others: PlanFor) -> tuple[Body, ...]:
    """The bodies of a sum, all of them of its own shape."""
    if problem.elements == 0:
        return ()
    own, found = items.placed(problem, target).canonical, []
    for kinds in possible_kinds(problem):
        form = items.placed(problem, target, kinds).canonical
        same = (form.axes, form.terms) == (own.axes, own.terms)
        found.append(_body(form, plan if same else others(form, target), target))
    return tuple(found)


def default_plan(canonical: Canonical, target: Target) -> CpuPlan:
    """A plain plan for a canonical form without parameters: square micro-tiles, tiles of a few of them."""
    lanes = min(LANES, target.lanes(canonical.widest))
    axes = canonical.axes
    near = [abs(static(a.stride_a)) == 1 or a.stride_b == 1 for a in axes]
    block = tuple(max(1, min(lanes, e)) if n else 1 for n, e in zip(near, canonical.extents, strict=True))
    tile = tuple(BLOCKS * edge if n else 1 for n, edge in zip(near, block, strict=True))
    order = tuple(reversed(range(len(axes))))
    if canonical.in_place:
        tile, block = alike(canonical, tile, block)
    return CpuPlan(tile, block, order, order, len(order))


def _body(canonical: Canonical, plan: CpuPlan, target: Target) -> Body:
    nest = lower(canonical, plan, target)
    if not resolve(canonical, plan, target).plan.non_temporal:
        return Body(canonical.kinds, nest)
    ordinary = lower(canonical, plan.ordinary, target)
    if nest.params or nest.alignment <= canonical.b.itemsize:
        return Body(canonical.kinds, ordinary, (nest,))
    found = for_misaligned_b(canonical, plan, target)
    other = lower(canonical, found.plan, target, found.loads)
    if found.plan.non_temporal:
        return Body(canonical.kinds, ordinary, (nest, other))
    return Body(canonical.kinds, other, (nest,))


def _strided(problem: Problem, kinds: Kinds, target: Target) -> Body:
    form = any_size.strided(problem, kinds)
    return _body(form, any_size.strided_plan(form, target), target)


def _any_size(problem: Problem, kinds: Kinds, target: Target, own: CpuPlan | None = None) -> Body:
    """own: the plan of the specialised body, where there is one."""
    form = any_size.canonical(problem, kinds)
    if own is None or kinds.alpha is Alpha.ZERO or form.in_place:
        return _body(form, any_size.plan(form, target), target)
    return _body(form, any_size.plan_like(own, problem, form, target), target)
