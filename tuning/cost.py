"""The cost model: estimated seconds of a plan. It ranks plans; its times are only roughly right.

Memory time is the bytes moved at the machine's usual bandwidth, scaled by what the fitted weights say of
the tile's runs, pages, loop order, prefetch and stores; instruction time comes from the operations of a
micro-tile; the longer one counts, and threads share it as evenly as the task grid allows.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import exp, prod

from ttc_llvm.canonical import Alpha, Beta, Canonical, static
from ttc_llvm.layout import side
from ttc_llvm.plan import CpuPlan, Staging
from ttc_llvm.target import Target

from .blocks import same_unit_axis, unit_axes
from .weights import COLUMNS_COPY, COLUMNS_UPDATE, ROWS, Weights, at, near

SECONDS_PER_BYTE = 4.5e-11  # per core, cold, prefetched
CACHED_PER_BYTE = 1.2e-11  # per core, in L2
OPERATION = 0.28e-9  # seconds of one vector instruction
LOOP = 1.5e-9  # seconds of one iteration of a micro-tile loop


@dataclass(frozen=True, slots=True)
class Footprint:
    """What one tile touches in one tensor: bytes of consecutive memory per run, and pages."""

    run_bytes: int
    pages: float


def estimate(canonical: Canonical, plan: CpuPlan, target: Target, threads: int) -> float:
    """Seconds that the plan is expected to take on this target with so many threads."""
    compute = canonical.elements / max(1, prod(plan.block)) * _micro(canonical, plan, target)
    memory = _memory(canonical, plan, target, threads)
    return (max(memory, compute) + 0.2 * min(memory, compute)) / _balance(canonical, plan, threads)


def is_cached(canonical: Canonical, target: Target, threads: int) -> bool:
    """True where both tensors fit the threads' own caches: memory weights and streaming do not apply."""
    size = canonical.elements * (canonical.a.itemsize + canonical.b.itemsize)
    return size <= target.l2 * max(1, threads)


def _memory(canonical: Canonical, plan: CpuPlan, target: Target, threads: int) -> float:
    if is_cached(canonical, target, threads):
        return canonical.bytes_moved * CACHED_PER_BYTE * (4.0 if plan.streaming else 1.0)
    return canonical.bytes_moved * SECONDS_PER_BYTE * exp(_score(canonical, plan, target))


def _weights(canonical: Canonical) -> Weights:
    if same_unit_axis(canonical):
        return ROWS
    return COLUMNS_UPDATE if canonical.kinds.beta is Beta.ANY else COLUMNS_COPY


def _score(canonical: Canonical, plan: CpuPlan, target: Target) -> float:
    """Sum of the fitted effects, in log(time)."""
    w = _weights(canonical)
    tile = tuple(min(t, e) for t, e in zip(plan.tile, canonical.extents, strict=True))
    unit_a, unit_b = unit_axes(canonical)
    innermost = "a" if plan.inner[-1] == unit_a else "b"
    a, b = (_footprint(canonical, tile, which, target.page) for which in ("a", "b"))
    size_a, size_b = canonical.a.itemsize, canonical.b.itemsize
    tile_bytes = prod(tile) * max(size_a, size_b)
    return (
        near(w.prefetch, plan.prefetch)
        + w.last[_last(canonical, plan, unit_a, unit_b)]
        + w.staging[plan.staging.value]
        + (w.streaming if plan.streaming else -w.streaming)
        + at(w.block_a, _log2(plan.block[unit_a] * size_a))
        + at(w.block_b, _log2(plan.block[unit_b] * size_b))
        + at(w.tile, _log2(tile_bytes))
        + at(w.page_a, _log2(tile_bytes / a.pages))
        + at(w.page_b, _log2(tile_bytes / b.pages))
        + at(w.run_a[innermost], _log2(a.run_bytes))
        + at(w.run_b[innermost], _log2(b.run_bytes))
    )


def _log2(size: float) -> int:
    return max(0, int(size).bit_length() - 1)


def _last(canonical: Canonical, plan: CpuPlan, unit_a: int, unit_b: int) -> str:
    """Whose unit axis the innermost loop over tiles walks."""
    loops = [k for k in plan.order if plan.tile[k] < canonical.extents[k]]
    if not loops or loops[-1] not in (unit_a, unit_b):
        return "other"
    return "a" if loops[-1] == unit_a else "b"


@lru_cache(maxsize=4096)
def _footprint(canonical: Canonical, tile: tuple[int, ...], which: str, page: int) -> Footprint:
    size = (canonical.a if which == "a" else canonical.b).itemsize
    strides = [abs(static(s)) * size for s in canonical.strides(which)]
    run, span, scattered = size, size, 1
    for k in sorted(range(len(tile)), key=lambda k: strides[k]):
        if tile[k] == 1 or strides[k] == 0:
            continue
        reach = (tile[k] - 1) * strides[k]
        run += reach if strides[k] <= run else 0
        if scattered == 1 and strides[k] <= max(span, page):
            span += reach
        else:
            scattered *= tile[k]
    return Footprint(run, scattered * max(1.0, span / page))


@lru_cache(maxsize=4096)
def _operations(canonical: Canonical, block: tuple[int, ...], target: Target) -> int:
    """Vector loads, stores and shuffles of one micro-tile."""
    w = target.lanes(max(canonical.a.itemsize, canonical.b.itemsize))
    b = side(block, canonical.strides("b"), w)
    if canonical.kinds.alpha is Alpha.ZERO:
        return 2 * len(b.registers)
    a = side(block, canonical.strides("a"), w)
    same = bool(a.run) and a.run == b.run
    stages = 0 if same else max(1, (max(a.lanes, b.lanes) - 1).bit_length())
    return len(a.registers) + len(b.registers) + stages * max(len(a.registers), len(b.registers))


def _micro(canonical: Canonical, plan: CpuPlan, target: Target) -> float:
    operations = _operations(canonical, plan.block, target)
    factor = 1.6 if plan.staging is not Staging.NONE else 1.0
    return LOOP + factor * operations * OPERATION


def _balance(canonical: Canonical, plan: CpuPlan, threads: int) -> float:
    """Threads that really share the work: tasks come in whole tiles."""
    tasks = prod(-(-canonical.extents[k] // max(1, plan.tile[k])) for k in plan.order[: plan.parallel])
    return tasks / -(-tasks // min(threads, tasks)) if tasks > 1 else 1.0
