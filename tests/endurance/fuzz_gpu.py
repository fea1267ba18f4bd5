"""Kernels for GPUs, run by the harness of fibres on this CPU: every GPU of the tables, every way through a tile; and
launches of groups."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

import fuzz_gpu_groups
from case import Case
from device import check, harness
from fuzz_draw import MIXED, TYPES, Met, asked, case
from fuzz_kernels import KINDS, of_case
from gpu_strategies import gpu_plans
from hypothesis import HealthCheck, Phase, assume, errors, given, seed, settings

from ttc_llvm.lowering.gpu.lower import lower, unaligned
from ttc_llvm.lowering.gpu.plan import GpuPlan, Shared
from ttc_llvm.machine import gpu_target as gpu_target
from ttc_llvm.machine.gpu_target import GpuTarget
from ttc_llvm.problem import dtypes
from ttc_llvm.problem.canonical import Canonical

TRIES = 12
GROUPS = 0.2  # of the rounds that chance makes are launches of groups
VECTOR_BYTES = 16
ELEMENTS = 3_000
ONE = settings(
    max_examples=1, database=None, deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck)
)
VECTORS = (1, 2, 4, 8, 16)


def goals() -> tuple[str, ...]:
    """Every feature that rounds are made for; none where no C compiler can build the harness."""
    if not (shutil.which("gcc") or shutil.which("cc")):
        return ()
    values = {
        "type": TYPES,
        "gpu": gpu_target.names(),
        "kinds": KINDS,
        "shared": [way.value for way in Shared],
        "vector-a": VECTORS,
        "vector-b": VECTORS,
        "group": fuzz_gpu_groups.GOALS,
        "tile": ("edge", "whole", "registers", "panel", "overshoot", "padding", "unaligned"),
    }
    return tuple(f"{what}={value}" for what, choices in values.items() for value in choices)


def attack(rng: Random, goal: str) -> Met:
    """Compile one kernel for this CPU, one that has what the goal asks for, if chance gives one, and run its blocks."""
    harness()
    target = gpu_target.find(asked(goal, "gpu") or rng.choice(gpu_target.names()))
    if goal.startswith("group") or (not goal and rng.random() < GROUPS):
        return fuzz_gpu_groups.attack(rng, asked(goal, "group"), target)
    tries = (_draw(rng, goal, target) for _ in range(TRIES))
    chosen = next((found for found in tries if goal in ("", *found.features)), None) or _draw(rng, goal, target)
    flush = rng.choice(("start", "end")), rng.choice(("start", "end"))
    check(chosen.case, chosen.plan, target, flush)
    return Met(tuple(chosen.features))


@dataclass(frozen=True, slots=True)
class Drawn:
    """A case, a plan for it, and what is in both."""

    case: Case
    plan: GpuPlan
    features: frozenset[str]


def _draw(rng: Random, goal: str, target: GpuTarget) -> Drawn:
    count = int(asked(goal, "vector-a") or asked(goal, "vector-b") or 1)
    narrow = [name for name in TYPES if dtypes.parse_pair(name)[0].itemsize * count <= VECTOR_BYTES]
    chosen = case(rng, goal, ELEMENTS, narrow if count > 1 else MIXED)
    c = chosen.placed.canonical
    if not c.elements:
        return _draw(rng, goal, target)
    plan = _plan(c, target, rng.getrandbits(30))
    plan = unaligned(c, plan) if goal == "tile=unaligned" or rng.random() < 0.1 else plan
    return Drawn(chosen, plan, frozenset((f"gpu={target}", *of_case(chosen), *_of_plan(c, plan, target))))


def _plan(c: Canonical, target: GpuTarget, number: int) -> GpuPlan:
    """A plan of the tests' strategy. Hypothesis begins with the simplest value, which is left out."""
    found: list[GpuPlan] = []

    @seed(number)
    @settings(ONE)
    @given(gpu_plans(c, target))
    def draw(plan: GpuPlan) -> None:
        found.append(plan)
        assume(len(found) > 1)

    with contextlib.suppress(errors.Unsatisfiable):  # where there is one plan only
        draw()
    return found[-1]


def _of_plan(c: Canonical, plan: GpuPlan, target: GpuTarget) -> Iterator[str]:
    nest = lower(c, plan, target)
    yield f"shared={plan.shared.value}"
    yield f"vector-a={plan.vector[0]}"
    yield f"vector-b={plan.vector[1]}"
    yield from ("tile=edge",) * (nest.edge is not None)
    yield from ("tile=whole",) * (nest.edge is None)
    yield from ("tile=registers",) * any(n > 1 for n in plan.block)
    yield from ("tile=panel",) * any(p > t for p, t in zip(plan.panel, plan.tile, strict=False))
    yield from ("tile=overshoot",) * bool(nest.overshoots)
    yield from ("tile=padding",) * bool(plan.padding)
    yield from ("tile=unaligned",) * (plan == unaligned(c, plan))
