"""Blocks that a multiprocessor holds at a time, by the registers and the shared memory that a nest takes."""

from __future__ import annotations

from ...machine.gpu_target import GpuTarget
from ...problem.kinds import Beta
from .nest import GpuNest, Phase

BATCH = 64  # registers for a thread's share of a tile, which is loaded in batches of so many
NARROW = 3  # registers of an access to less than 4 bytes, its address among them
FIXED = 24  # registers of a thread that do not depend on the tile
SPARE, SPARE_CLAMPED = 8, 40  # registers that an assembler may use beyond, the latter where positions are clamped
GRAIN, PARTS = 8, 4  # registers of a thread that are given out at a time; parts of a multiprocessor with some of them
RESERVED = 1024  # bytes of shared memory that the driver takes for itself


def resident(nest: GpuNest, target: GpuTarget, spare: int = 0) -> int:
    """Blocks that a multiprocessor holds at a time, where a thread takes so many registers more than expected."""
    shared = 0 if nest.shared is None else nest.shared.elements * nest.canonical.a.itemsize
    lanes = -(-nest.threads // target.warp) * target.warp  # whole warps, whatever of them is used
    bounds = (
        target.blocks,
        target.threads // lanes,
        target.shared_total // (shared + RESERVED) if shared else target.blocks,
        target.registers // ((registers(nest) + spare) * lanes),
    )
    return max(1, min(bounds))


def blocks_for_assembler(nest: GpuNest, target: GpuTarget) -> int:
    """Blocks of a multiprocessor for which an assembler is to leave registers. Without being told it splits batches of
    loads, or spills, for more threads at a time than plans count on; 0 = it is not told, where every element has an
    address of its own in shared memory, of which it would compute too many ahead."""
    if any(spread(nest, phase) for phase in nest.phases):
        return 0
    clamped = nest.edge is not None or any(not digit.exact for phase in nest.phases for digit in phase.digits)
    spare = SPARE_CLAMPED if clamped else SPARE
    return max(1, min(resident(nest, target, spare), _granted(nest, target, spare)))


def _granted(nest: GpuNest, target: GpuTarget, spare: int) -> int:
    """Blocks whose threads get these registers, as they are given out: in eights, by each part of a multiprocessor to
    the warps that it runs. An assembler reckons so; ranking needs no such steps."""
    each = (registers(nest) + spare) // GRAIN * GRAIN
    warps = target.registers // PARTS // (each * target.warp) * PARTS
    return warps // -(-nest.threads // target.warp)


def spread(nest: GpuNest, phase: Phase) -> bool:
    """True where every element of a vector has an address of its own in shared memory."""
    return nest.shared is not None and phase.rows == 1 and not nest.shared.holds(phase.run, nest.tile)


def registers(nest: GpuNest) -> int:
    """Registers that a thread is expected to need."""
    return FIXED + min(held(nest), 2 * BATCH)


def held(nest: GpuNest) -> int:
    """Registers that a thread's share of the tile would take, and of B where it is read."""
    phase = nest.full.load or nest.full.store
    size = phase.run.vector * nest.canonical.a.itemsize
    taken = phase.rounds * phase.rows * (size // 4 if size >= 4 else NARROW)
    if nest.canonical.kinds.beta is Beta.ANY:
        taken += nest.full.store.rounds * nest.full.store.run.vector * nest.canonical.b.itemsize // 4
    return taken
