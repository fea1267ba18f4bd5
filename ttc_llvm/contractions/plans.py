"""Plans of both kinds, products by a BLAS and fused ones: their texts, and what they come to."""

from __future__ import annotations

from . import plan as by_blas
from .fused import plan as fused
from .fused.plan import Fused, FusedPlan
from .merged import Merged
from .plan import ContractionPlan, Products

Plan = ContractionPlan | FusedPlan
Applied = Products | Fused
VERSION = f"{by_blas.VERSION} {fused.VERSION}"


def parse(text: str) -> Plan:
    """The inverse of `str(plan)`. PlanError for other texts."""
    if not isinstance(text, str) or text.split()[:1] != [fused.VERSION]:
        return by_blas.parse(text)
    return fused.parse(text)


def check(plan: Plan, merged: Merged) -> Applied:
    """The plan applied to a contraction. PlanError where it does not fit."""
    return fused.check(plan, merged) if isinstance(plan, FusedPlan) else by_blas.check(plan, merged)
