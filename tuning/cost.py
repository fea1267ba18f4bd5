"""The cost model: estimated seconds of a plan, from what its tiles touch. Ranks plans; times are only roughly right.

Memory moves in lines; a run of consecutive lines is prefetched by the hardware after a short ramp; a
page that no translation is cached for costs a walk; a line that is only partly used by a tile is
fetched again, unless the next tile finds it still in the cache.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import prod

from ttc_llvm.canonical import Alpha, Beta, Canonical, static
from ttc_llvm.layout import side
from ttc_llvm.plan import CpuPlan, Staging
from ttc_llvm.target import Target


@dataclass(frozen=True, slots=True)
class Weights:
    """Seconds (per core) of the model's events."""

    line: float = 3.2e-9  # one line from or to memory, prefetched
    run: float = 9.0e-9  # the start of a run: latency that no prefetcher hides
    page: float = 12e-9  # a page whose translation is not cached
    operation: float = 0.28e-9  # one vector instruction
    loop: float = 2.0e-9  # one iteration of a micro-tile loop
    conflict: float = 1.5e-9  # a line that finds its cache set full
    allocate: float = 1.0  # an ordinary store also reads its line first


@dataclass(frozen=True, slots=True)
class Footprint:
    """What one tile touches in one tensor: runs of consecutive memory, their length, lines and pages."""

    runs: int
    run_bytes: int
    lines: float
    pages: float


def estimate(canonical: Canonical, plan: CpuPlan, target: Target, threads: int, weights: Weights = Weights()) -> float:
    """Seconds that the plan is expected to take on this target with so many threads."""
    tile = tuple(min(t, e) for t, e in zip(plan.tile, canonical.extents, strict=True))
    tiles = prod(-(-e // max(t, 1)) for e, t in zip(canonical.extents, tile, strict=True))
    per_tile = 0.0
    for which, t, passes in _sides(canonical, plan):
        per_tile += passes * _memory(_footprint(canonical, plan, tile, which, t, target), weights)
    compute = canonical.elements / max(1, prod(plan.block)) * _micro(canonical, plan, target, weights)
    memory = tiles * per_tile
    return (max(memory, compute) + 0.3 * min(memory, compute)) / _balance(canonical, plan, threads)


def _sides(canonical: Canonical, plan: CpuPlan) -> list[tuple[str, int, float]]:
    """(tensor, item size, passes over its lines): reads of A, reads and writes of B."""
    sides = []
    if canonical.kinds.alpha is not Alpha.ZERO:
        sides.append(("a", canonical.a.itemsize, 1.0))
    writes = 1.2 if plan.streaming else 2.0
    sides.append(("b", canonical.b.itemsize, 2.0 if canonical.kinds.beta is Beta.ANY else writes))
    return sides


def _footprint(
    canonical: Canonical, plan: CpuPlan, tile: tuple[int, ...], which: str, size: int, target: Target
) -> Footprint:
    strides = [abs(static(s)) * size for s in canonical.strides(which)]
    order = sorted(range(len(tile)), key=lambda k: strides[k])
    run, rows = size, 1
    pages = 1.0
    for k in order:
        if tile[k] == 1 or strides[k] == 0:
            continue
        if rows == 1 and strides[k] <= run:
            run += (tile[k] - 1) * strides[k]
            continue
        rows *= tile[k]
        pages *= min(tile[k], max(1.0, tile[k] * strides[k] / target.page))
    last = plan.order[-1] if plan.order else 0
    continued = strides[last] * tile[last] == run * 1 or (rows == 1 and strides[last] <= run)
    lines = run / target.line + (0.0 if run % target.line == 0 else 0.25 if continued else 0.8)
    pages += rows * max(0.0, run / target.page - 1)
    return Footprint(rows, run, rows * lines, pages)


def _memory(f: Footprint, w: Weights) -> float:
    ramp = min(1.0, 4096 / max(f.run_bytes, 64))
    return f.lines * w.line + f.runs * w.run * min(1.0, ramp) + f.pages * w.page


@lru_cache(maxsize=4096)
def _micro_operations(canonical: Canonical, block: tuple[int, ...], target: Target) -> int:
    w = target.lanes(max(canonical.a.itemsize, canonical.b.itemsize))
    a = side(block, canonical.strides("a"), w)
    b = side(block, canonical.strides("b"), w)
    moves = len(a.registers) + len(b.registers)
    stages = max(1, (min(a.lanes, len(a.registers)) - 1).bit_length())
    shuffles = 0 if a.run[:1] == b.run[:1] and a.run else max(len(a.registers), len(b.registers)) * stages
    return moves + shuffles


def _micro(canonical: Canonical, plan: CpuPlan, target: Target, w: Weights) -> float:
    operations = _micro_operations(canonical, plan.block, target)
    if canonical.kinds.beta is Beta.ANY:
        operations += operations // 2
    factor = 1.6 if plan.staging is not Staging.NONE else 1.0
    return w.loop + factor * operations * w.operation


def _balance(canonical: Canonical, plan: CpuPlan, threads: int) -> float:
    """Threads that really share the work: tasks come in whole tiles."""
    tasks = 1
    for k in plan.order[: plan.parallel]:
        tasks *= -(-canonical.extents[k] // max(1, plan.tile[k]))
    if tasks <= 1:
        return 1.0
    used = min(threads, tasks)
    return tasks / -(-tasks // used)
