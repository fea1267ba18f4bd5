"""Ceilings: how fast this machine moves the same bytes without permuting them, by our own emitted kernels."""

from __future__ import annotations

from dataclasses import replace
from enum import Enum

from ttc_llvm.canonical import COPY, Alpha, Axis, Beta, Canonical, Kinds
from ttc_llvm.dtypes import carrier
from ttc_llvm.plan import CpuPlan
from ttc_llvm.target import Target

from .blocks import width

UPDATE = Kinds(Alpha.ANY, Beta.ANY)
TILE_BYTES = 64 << 10  # a task: long runs for the prefetcher, enough of them to balance threads


class Ceiling(Enum):
    """Which yardstick; the value is its name in reports."""

    SAXPY = "SAXPY"  # y <- alpha x + beta y, three streams
    STREAM = "streaming copy"
    COPY = "ordinary copy"


def of(canonical: Canonical) -> Ceiling:
    """The ceiling that a problem is compared with."""
    return Ceiling.SAXPY if canonical.kinds.beta is Beta.ANY else Ceiling.STREAM


def flat(canonical: Canonical, ceiling: Ceiling, target: Target) -> tuple[Canonical, CpuPlan]:
    """One run over as many elements as the problem moves, with its types, and the plan that streams through it."""
    axis = (Axis(canonical.elements, 1, 1),)
    kinds = UPDATE if ceiling is Ceiling.SAXPY else Kinds(Alpha.ONE, Beta.ZERO)
    a, b = canonical.a, canonical.b
    if kinds == COPY and a == b and a.itemsize <= 8:
        a = b = carrier(a.itemsize)
    problem = Canonical(axis, a, b, kinds)
    if kinds == UPDATE and a.real_bits == 0:
        problem = replace(problem, kinds=COPY)
    w = width(problem, target)
    tile = max(4 * w, TILE_BYTES // max(a.itemsize, b.itemsize))
    return problem, CpuPlan((tile,), (4 * w,), (0,), (0,), 1, 0, ceiling is Ceiling.STREAM)
