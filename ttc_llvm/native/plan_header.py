"""The part of a library's C header that declares its plans."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..ir_builders.plan_objects import fields
from ..ir_builders.plan_objects.served_types import served
from ..problem.problem import Problem
from .whole_file import filled

TEMPLATE = Path(__file__).with_name("plan.h.in")
STACK = 16 << 10  # bytes beside the kernels' scratch


def block(name: str, problems: Sequence[Problem]) -> str:
    """The declarations of plans whose names begin so. problems: the library's, whose types plans take."""
    known = [types.name for types in served(problems)]
    codes = [f"  TTC_PLAN_{name} = {code}" for code, (name, _) in enumerate(fields.ERRORS)]
    values = {
        "NAME": name,
        "TYPES": ", ".join(f'"{name}"' for name in known),
        "STAR": " (the star: A is conjugated)" if any("*" in name for name in known) else "",
        "CODES": "enum {\n" + ",\n".join(codes) + "\n};",
        "STACK": str(fields.SCRATCH + STACK),
    }
    return filled(TEMPLATE, values)
