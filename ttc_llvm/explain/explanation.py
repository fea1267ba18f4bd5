"""Every stage of one problem as a frozen value: from the problem to the instructions of its micro-tile."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from .. import arguments
from ..errors import OptionError, PlanError
from ..lazy_dataclasses import dataclass
from ..lowering import items
from ..lowering import plan as plans
from ..lowering.nest import LoopNest
from ..lowering.plan import CpuPlan
from ..lowering.plan_checks import check
from ..machine.target import Target
from ..problem.canonical import Canonical
from ..problem.problem import Problem
from ..tuning.cost.cost import Model, Terms
from ..tuning.cost.model import ranked
from . import machine_code, page, text
from .machine_code import MachineCode

if TYPE_CHECKING:
    from ..compiling.solution import Solution
    from ..tuning.measurement import Measurement

RANKED = 10
MOST = arguments.between(0, 10_000)  # plans of the ranking


@dataclass(frozen=True, slots=True)
class RankedPlan:
    """A plan and what the cost model says of it."""

    plan: CpuPlan
    terms: Terms


@dataclass(frozen=True, slots=True)
class Tried:
    """A candidate that was timed. seconds: its best run; runs: how many there were; expected: by the cost model, as of
    now."""

    plan: str
    seconds: float
    runs: int
    expected: float | None


@dataclass(frozen=True, slots=True)
class Explanation:
    """The forms of a problem, stage by stage; str() is text for a terminal, notebooks show the page's body.

    ranked: the model's best plans, the first expected to be fastest; chosen: the plan explained, with its terms;
    tried: what was timed, in the order in which the search left it (the winner first), empty where nothing was;
    ir: as built; assembly: of the whole kernel;
    code: its instructions by class, None where the machine's assembly is not known here or there is no kernel.
    """

    problem: Problem
    canonical: Canonical
    target: Target
    threads: int
    chosen: RankedPlan | None
    plan: CpuPlan
    measurement: Measurement | None
    ranked: tuple[RankedPlan, ...]
    tried: tuple[Tried, ...]
    nest: LoopNest
    ir: str
    assembly: str
    code: MachineCode | None

    def __str__(self) -> str:
        return text.render(self)

    def stage(self, name: str) -> str:
        """One form, whole: problem, merged, plans, loops, threads, ir, assembly, candidates. OptionError for others."""
        return text.stage(self, name)

    def html(self) -> str:
        """A page of its own: everything, with pictures; it needs no network."""
        return page.page(self)

    def _repr_html_(self) -> str:
        return page.fragment(self)


def explain(solution: Solution, count: int = RANKED) -> Explanation:
    """The way of a solution's problem to its plan and code. count: ranked plans to list; nothing is timed."""
    count = MOST("count", count, OptionError)
    problem, target, threads = solution.problem, solution.target, solution.threads
    canonical = items.placed(problem, target).canonical
    measured = solution.measurement
    model = Model(canonical, target, threads) if canonical.elements and not canonical.terms else None
    assembly = solution.assembly
    return Explanation(
        problem,
        canonical,
        target,
        threads,
        None if model is None else RankedPlan(solution.plan, model.terms(solution.plan)),
        solution.plan,
        measured,
        () if model is None else tuple(_ranked(canonical, target, threads, model, count)),
        () if measured is None else tuple(_tried(measured.timings, canonical, model)),
        solution.nest,
        solution.llvm_ir,
        assembly,
        machine_code.read(assembly, target.triple),
    )


def _ranked(canonical: Canonical, target: Target, threads: int, model: Model, count: int) -> list[RankedPlan]:
    offered = islice(ranked(canonical, target, threads), count)
    return [RankedPlan(plan, model.terms(plan)) for plan in offered]


def _tried(
    timings: tuple[tuple[str, tuple[float, ...]], ...], canonical: Canonical, model: Model | None
) -> list[Tried]:
    return [
        Tried(text, min(seconds), len(seconds), _expected(text, canonical, model))
        for text, seconds in timings
        if seconds
    ]


def _expected(text: str, canonical: Canonical, model: Model | None) -> float | None:
    """What the model says of a stored plan; None where this version does not know it any more."""
    if model is None:
        return None
    try:
        return model(check(plans.parse(text), canonical))
    except PlanError:
        return None
