"""The GPU's cost model: seconds that a plan is expected to take, from what it asks of memory, of the issue slots and of
shared memory. It ranks; it does not promise.

Every term is counted from the nest. The constants are those with which the model chooses best among 2,592 plans of 108
problems that were timed on an H200 (2026-11-26), where fits to parts of the problems agree.
"""

from __future__ import annotations

from math import ceil, prod

from ttc_llvm.lazy_dataclasses import dataclass, replace
from ttc_llvm.lowering.gpu.lower import lower
from ttc_llvm.lowering.gpu.nest import BlockBody, GpuNest, Phase
from ttc_llvm.lowering.gpu.plan import GpuPlan
from ttc_llvm.lowering.gpu.residency import BATCH, held, resident
from ttc_llvm.lowering.gpu.runs import beyond, run_axes, sides
from ttc_llvm.lowering.gpu.trace import accesses
from ttc_llvm.machine.gpu_target import SECTOR, GpuTarget
from ttc_llvm.problem.canonical import Canonical
from ttc_llvm.problem.dtypes import Kind
from ttc_llvm.problem.kinds import Alpha, Beta

from .passes import lines_touched, wavefronts

CLOCK = 1.5e9  # Hz
ISSUE = 3.0  # instructions of a warp that a multiprocessor issues per clock, in such kernels
LATENCY = 1150e-9  # seconds until a load from memory arrives, under load
LAUNCH = 3e-6  # seconds
REACH = 0.9  # of the nominal bandwidth that a copy reaches
OVERLAP = 5.0  # exponent: the higher, the better different units work at the same time
SHORT = 15  # bytes: a run costs memory as much as so many more
PARTIAL = 1.6  # how much of a sector that two tiles share is moved beside what is wanted
# bytes that a run costs besides whose tiles share a line of A, or of a B that is read, too
LINE_A, LINE_B_READ = 20, 31
MISSES = 0.06  # how often the rest of a sector is gone from the cache when a later instruction wants it
TOUCHED = 0.5  # passes through the cache of a line that an access touches
FIXED = 40  # instructions of a thread that do not depend on the tile: indices of block and thread
ORDER_OF_A = 1.07  # what it costs that neighbouring blocks are neighbours in A and not in B
# By how much longer a multiprocessor with a single block takes, which loads nothing while it stores, where memory gives
# it so many bytes a second: in proportion to that, and to the blocks.
WAITING, WAITING_AT = 0.11, 36e9
CROWDED = 0.125  # exponent of the share of a tile that a thread holds, in batches of loads
TAIL = 0.25  # of a last, incomplete wave of blocks that is lost
GROUPED = 1.005  # what decoding panels costs
EDGE = 2.0  # how much longer a ragged tile takes than a full one


@dataclass(frozen=True, slots=True)
class Estimate:
    """Seconds, by what they are spent on. access: passes through the unit that serves shared memory and the cache;
    tail: factor of the last wave of blocks."""

    memory: float
    issue: float
    access: float
    tail: float

    @property
    def seconds(self) -> float:
        """The longest of what overlaps, with a little of the others, and what does not overlap."""
        parts = (self.memory, self.issue, self.access)
        return float(sum(part**OVERLAP for part in parts) ** (1 / OVERLAP) * self.tail + LAUNCH)


def estimate(c: Canonical, plan: GpuPlan, target: GpuTarget) -> Estimate:
    """The expected cost of a plan; PlanError where it does not fit."""
    nest = lower(c, plan, target)
    if not nest.grid:
        return Estimate(0, 0, 0, 1)
    found = _without_access(nest, target)
    passes = sum(
        wavefronts(nest, phase, target.warp) + TOUCHED * lines_touched(nest, phase, target)
        for phase in _phases(nest.full)
    )
    cycles = passes * nest.grid * _ragged_work(nest)
    return replace(found, access=cycles / (CLOCK * min(target.multiprocessors, nest.grid)))


def at_least(c: Canonical, plan: GpuPlan, target: GpuTarget) -> float:
    """Seconds expected without a look at the accesses, which takes longest; never more than `cost`."""
    nest = lower(c, plan, target)
    return _without_access(nest, target).seconds if nest.grid else LAUNCH


def _without_access(nest: GpuNest, target: GpuTarget) -> Estimate:
    busy = min(target.multiprocessors, nest.grid)
    blocks = resident(nest, target)
    warps = nest.grid * ceil(nest.threads / target.warp) * _ragged_work(nest)
    return Estimate(
        _memory(nest, target, blocks, busy),
        warps * _instructions(nest, nest.full) / (ISSUE * CLOCK * busy),
        0.0,
        _tail(nest, target, blocks),
    )


def cost(c: Canonical, plan: GpuPlan, target: GpuTarget) -> float:
    """Seconds expected; PlanError where the plan does not fit."""
    return estimate(c, plan, target).seconds


def _phases(body: BlockBody) -> tuple[Phase, ...]:
    return (body.store,) if body.load is None else (body.load, body.store)


def _ragged_work(nest: GpuNest) -> float:
    """Work of all blocks, in that of full tiles: ragged ones take longer, and blocks beyond the end hardly any."""
    full = prod(extent // tile for extent, tile in zip(nest.canonical.extents, nest.tile, strict=True))
    every = _tiles(nest)
    return (full + EDGE * (every - full) + 0.05 * (nest.grid - every)) / nest.grid


def _memory(nest: GpuNest, target: GpuTarget, blocks: int, busy: int) -> float:
    """Seconds in memory: what is moved for the bytes wanted, and whether enough of it is under way."""
    c, moved = nest.canonical, 0.0
    reads = 2 if c.kinds.beta is Beta.ANY else 1
    if c.kinds.alpha is not Alpha.ZERO:
        moved += c.elements * c.a.itemsize * _overhead(nest, "a", target.line, LINE_A) * _scatter(c, nest)
    moved += c.elements * c.b.itemsize * _overhead(nest, "b", target.line, LINE_B_READ if reads == 2 else 0) * reads
    bandwidth = target.bandwidth * 1e9 * REACH * busy / target.multiprocessors
    overlap = 0.7 if nest.shared is not None else 1.0  # while a tile is stored its loads are not under way
    crowded = max(1.0, held(nest) / BATCH / reads) ** CROWDED
    under_way = min(blocks, nest.grid / busy) * prod(nest.tile) * c.a.itemsize * reads * overlap
    needed = bandwidth / busy * LATENCY / 2  # half of the traffic is stores, which nobody waits for
    waits = crowded * _waiting(nest, target, blocks) * max(1.0, needed / under_way) ** 0.7
    return float(waits * _order(nest) * moved / bandwidth)


def _waiting(nest: GpuNest, target: GpuTarget, blocks: int) -> float:
    """How much longer a tile takes since it is loaded before it is stored: other blocks of the multiprocessor load
    meanwhile, if there are any."""
    if nest.shared is None:
        return 1.0
    share = target.bandwidth * 1e9 / target.multiprocessors / WAITING_AT
    return 1 + WAITING * min(max(share, 0.5), 2.0) / blocks


def _order(nest: GpuNest) -> float:
    """What it costs that neighbouring blocks do not complete the lines of B."""
    inner = next((loop.axis for loop in reversed(nest.loops) if loop.count > 1), -1)
    goes_on = {side: next(beyond(nest.canonical, nest.tile, side), inner) for side in "ab"}
    return ORDER_OF_A if goes_on["a"] == inner != goes_on["b"] else 1.0


def _overhead(nest: GpuNest, side: str, line: int, parted: int) -> float:
    """Bytes that memory moves per byte wanted: runs begin and end inside sectors, and each costs an extra. line: bytes
    of one; parted: what it costs, in bytes, that tiles share it."""
    c = nest.canonical
    size = (c.a if side == "a" else c.b).itemsize
    strides = sides(c, side)
    axes = run_axes(c, nest.tile, side)
    if not axes:
        return max(1.0, SECTOR * PARTIAL / size)
    unit = abs(strides[axes[0]]) * size
    if unit == 0:
        return 0.1  # a broadcast is read from the caches
    length = prod(nest.tile[k] for k in axes) * unit
    spilled = 0 if _aligned(c, nest, side, axes, SECTOR) else SECTOR * PARTIAL
    shared = 0 if _aligned(c, nest, side, axes, line) else parted
    useful = length * size / unit
    return (max(length, SECTOR * PARTIAL) + spilled + SHORT + shared) / useful


def _scatter(c: Canonical, nest: GpuNest) -> float:
    """How many times A is loaded where neighbouring threads do not read neighbours: sectors return for their rest."""
    axes, run = nest.full.store.run.axes, run_axes(c, nest.tile, "a")
    if nest.shared is not None or not axes or abs(sides(c, "a")[axes[0]]) <= 1 or axes == run[:1]:
        return 1.0
    return 1 + MISSES * max(0.0, SECTOR / c.a.itemsize - 1)


def _aligned(c: Canonical, nest: GpuNest, side: str, axes: tuple[int, ...], piece: int) -> bool:
    """True where the runs of tiles begin and end with pieces of memory of so many bytes."""
    size, strides = (c.a if side == "a" else c.b).itemsize, sides(c, side)
    steps = [strides[k] * (nest.tile[k] if k in axes else 1) for k, e in enumerate(c.extents) if e > 1]
    inner = axes[:-1]
    return all(step * size % piece == 0 for k, step in enumerate(steps) if k not in inner) if steps else True


def _instructions(nest: GpuNest, body: BlockBody) -> float:
    """Instructions of one thread in a full tile."""
    total = float(FIXED)
    for phase in _phases(body):
        total += 4.0 * len(phase.digits)
        clamped = sum(not digit.exact for digit in phase.digits)
        items = phase.rounds
        total += items * (2 * phase.rows if phase is body.load else 2) + 8.0 * clamped * items**0.5
        total += items * _crossing(nest, phase)
    c = nest.canonical
    if not c.is_move:
        parts = 4 if c.compute.kind is Kind.COMPLEX else 2 if c.kinds.beta is Beta.ANY else 1
        conversions = 2 if c.a != c.b else 0
        total += body.store.rounds * body.store.run.vector * (parts + conversions)
    return total


def _crossing(nest: GpuNest, phase: Phase) -> float:
    """Instructions that take an item to or from shared memory."""
    if nest.shared is None:
        return 1.0
    size = nest.canonical.a.itemsize
    found = accesses(nest, phase, 0, (0,) * len(phase.digits))
    pieces = sum(max(1, count * size // 16) for _, count in found)
    packing = 0.0
    if size < 4 and phase.rows > 1:
        packing = {1: 2, 2: 1}[size] * len(found) * phase.rows * size / 4
    elif size < 4 and len(found) > 1:
        packing = 1.5 * len(found)
    spread = 3.0 * len(found) if len(phase.run.axes) > 1 and len(found) > 1 else 0.0
    return pieces + packing + spread / max(1, phase.rounds)


def _tail(nest: GpuNest, target: GpuTarget, blocks: int) -> float:
    """What the last, incomplete wave of blocks costs; grouping tiles has to show its worth in time."""
    waves = _tiles(nest) / (target.multiprocessors * blocks)
    grouped = (
        GROUPED if _tiles(nest) != nest.grid or len(nest.loops) > len({x.axis for x in nest.loops}) else 1.0
    )
    return grouped * (1.0 if waves <= 1 else 1 + TAIL * (ceil(waves) - waves) / waves)


def _tiles(nest: GpuNest) -> int:
    return prod(-(-extent // tile) for extent, tile in zip(nest.canonical.extents, nest.tile, strict=True))
