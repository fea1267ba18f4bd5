"""Ceilings: how fast this machine moves the same bytes without permuting them, by our own emitted kernels."""

from __future__ import annotations

from enum import Enum

from ttc_llvm.lazy_dataclasses import replace
from ttc_llvm.lowering.plan import CpuPlan, Store
from ttc_llvm.machine.target import Target
from ttc_llvm.problem.canonical import Axis, Canonical
from ttc_llvm.problem.dtypes import carrier
from ttc_llvm.problem.kinds import COPY, UPDATE, Beta

from .blocks import width

RUN_BYTES = 16 << 10  # long runs for the prefetcher, enough of them to balance threads
STREAMS = 8


class Ceiling(Enum):
    """Yardsticks; the value is its name in reports."""

    SAXPY = "SAXPY"  # y <- alpha x + beta y, three streams
    STREAM = "streaming copy"
    COPY = "ordinary copy"


def of(canonical: Canonical, hot: bool = False) -> Ceiling:
    """The ceiling that a problem is compared with; hot: both tensors are in the caches, which streaming would leave."""
    if canonical.kinds.beta is Beta.ANY and not canonical.in_place:  # there it is read in any case
        return Ceiling.SAXPY
    return Ceiling.COPY if hot else Ceiling.STREAM


def flattened(canonical: Canonical, update: bool) -> Canonical:
    """As many elements of the same types without a permutation. update: y <- alpha x + beta y, else a copy."""
    kinds, (a, b) = UPDATE if update and canonical.compute.real_bits else COPY, (canonical.a, canonical.b)
    if kinds == COPY and a == b and a.itemsize <= 8:
        a = b = carrier(a.itemsize)
    return Canonical((Axis(canonical.elements, 1, 1),), a, b, kinds)


def walks(canonical: Canonical, ceiling: Ceiling, target: Target) -> tuple[tuple[Canonical, CpuPlan], ...]:
    """Copies of as many bytes with the problem's types, without permutation: one run after the other, and STREAMS
    runs side by side, which some machines move much faster. The ceiling is the best of them."""
    store = Store.ALIGNED if ceiling is Ceiling.STREAM else Store.CACHED
    problem = flattened(canonical, update=ceiling is Ceiling.SAXPY)
    w = width(problem, target)
    run = max(4 * w, RUN_BYTES // max(problem.a.itemsize, problem.b.itemsize))
    single = (problem, CpuPlan((STREAMS * run,), (4 * w,), (0,), (0,), 1, 0, store))
    groups = canonical.elements // (STREAMS * run)
    if groups < 2:
        return (single,)
    axes = (Axis(run, 1, 1), Axis(STREAMS, run, run), Axis(groups, STREAMS * run, STREAMS * run))
    plan = CpuPlan((run, STREAMS, 1), (4 * w, 1, 1), (2, 1, 0), (2, 0, 1), 1, 4, store)
    return single, (replace(problem, axes=axes), plan)
