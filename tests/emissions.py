"""Problems whose files the tests emit, and what is emitted of them."""

from __future__ import annotations

from typing import Any

from ttc_llvm.ir_builders import module
from ttc_llvm.lowering.bodies import default_plan
from ttc_llvm.lowering.items import placed
from ttc_llvm.lowering.lower import lower
from ttc_llvm.lowering.plan import CpuPlan
from ttc_llvm.machine.target import Target
from ttc_llvm.native import artifact
from ttc_llvm.native.artifact import Spec
from ttc_llvm.problem.canonical import canonicalise
from ttc_llvm.problem.kinds import COPY, Kinds
from ttc_llvm.problem.problem import Problem
from ttc_llvm.runtime import backend

PAPER = Problem((2, 1, 0), (8, 16, 16), "s", (32, 32, 32))

# Each problem with the C types of A's, B's and the scalars' parts.
PROGRAMS = [
    (PAPER, ("float", "float", "float")),
    (Problem((2, 0, 1), (60, 70, 80), "s"), ("float", "float", "float")),
    (Problem((1, 0), (33, 65), "d", None, (70, 33)), ("double", "double", "double")),
    (Problem((0, 2, 1), (9, 33, 40), "c"), ("float", "float", "float")),
    (Problem((3, 1, 0, 2), (6, 5, 7, 8), "z", (7, 5, 7, 8)), ("double", "double", "double")),
    (Problem((1, 2, 0), (17, 6, 30), "sd"), ("float", "double", "double")),
    (Problem((2, 1, 0), (11, 12, 13), "zc"), ("double", "float", "double")),
    (Problem((1, 0), (300, 500), "i8"), ("int8_t", "int8_t", "")),
    (Problem((2, 0, 1), (3, 40, 50), "uint8"), ("uint8_t", "uint8_t", "")),
    (Problem((1, 0), (30, 20), "uint16"), ("uint16_t", "uint16_t", "")),
]


def spec(problem: Problem, target: Target | None = None, **facts: Any) -> Spec:
    """What would be emitted for a solution with the default plan."""
    machine = target or backend.host_target()
    return Spec(problem, machine, default_plan(placed(problem, machine).canonical, machine), **facts)


def module_text(wanted: Spec) -> str:
    """The LLVM IR of the object: all bodies and the C entries, before optimisation."""
    ((_, content),) = artifact.parts(wanted, ("llvm",)).files
    return content.decode()


def shared_text(machine: Target, dtype: str, edge: int, kinds: Kinds = COPY) -> str:
    """IR of three axes with remainders, whose seven edges share one masked micro-tile of edge x 2 x edge elements."""
    size = (13 * edge - 1, 7, 9 * edge - 1)  # the last tiles are shorter than a block: no block can step back
    c = canonicalise(Problem((2, 1, 0), size, dtype), kinds).canonical
    plan = CpuPlan((4 * edge, 2, 4 * edge), (edge, 2, edge), (2, 1, 0), (2, 1, 0), 1)
    return str(module.build(lower(c, plan, machine), machine))
