"""Passes through the unit that serves shared memory and the cache: bank conflicts, lines under a warp's accesses."""

from __future__ import annotations

from math import ceil

from ttc_llvm.lowering.gpu.nest import GpuNest, Phase
from ttc_llvm.lowering.gpu.runs import sides
from ttc_llvm.lowering.gpu.trace import accesses, addresses
from ttc_llvm.machine.gpu_target import GpuTarget
from ttc_llvm.problem.kinds import Alpha, Beta

BANKS, BANK = 32, 4  # of shared memory; bytes


def wavefronts(nest: GpuNest, phase: Phase, warp: int) -> float:
    """Passes through shared memory that the accesses of a block take in one phase, bank conflicts included."""
    if nest.shared is None:
        return 0.0
    size, first = nest.canonical.a.itemsize, (0,) * len(phase.digits)
    sampled = range(0, nest.threads, warp)[:2]
    total = 0.0
    for start in sampled:
        lanes = [
            accesses(nest, phase, thread, first) for thread in range(start, min(start + warp, nest.threads))
        ]
        lanes = [lane for lane in lanes if lane]
        for number in range(max(map(len, lanes), default=0)):
            total += _passes([lane[number] for lane in lanes], size)
    return total / len(sampled) * ceil(nest.threads / warp) * phase.rounds


def lines_touched(nest: GpuNest, phase: Phase, target: GpuTarget) -> float:
    """Passes through the cache that a block's accesses to A and B take in one phase: one for every line of a warp's
    access."""
    c, first = nest.canonical, (0,) * len(phase.digits)
    total = 0.0
    for side in _tensors(nest, phase):
        strides, size = sides(c, side), (c.a if side == "a" else c.b).itemsize
        split = side == "a" and nest.shared is None and not _neighbours(phase, strides)
        count = 1 if split else phase.run.vector
        warp = range(min(target.warp, nest.threads))
        found = [addresses(nest, phase, strides, thread, first) for thread in warp]
        together = zip(*filter(None, found), strict=True)  # one access of every lane
        lines = sum(len(_touched(starts, size, count, target.line)) for starts in together)
        total += lines * (phase.run.vector if split else 1)
    passes = total * ceil(nest.threads / target.warp) * phase.rounds
    return passes * (2 if c.kinds.beta is Beta.ANY and phase is nest.full.store else 1)


def _tensors(nest: GpuNest, phase: Phase) -> str:
    if nest.shared is not None:
        return "a" if phase is nest.full.load else "b"
    return "b" if nest.canonical.kinds.alpha is Alpha.ZERO else "ab"


def _neighbours(phase: Phase, strides: tuple[int, ...]) -> bool:
    return phase.run.vector == 1 or strides[phase.run.axes[0]] == 1


def _touched(starts: tuple[int, ...], size: int, count: int, line: int) -> set[int]:
    """The lines under one access of a warp."""
    return {
        byte // line for start in starts for byte in (start * size, (start + count) * size - 1)
    }  # fmt: skip


def _passes(lanes: list[tuple[int, int]], size: int) -> int:
    """Passes of one access of a warp: as many as the fullest bank has different words, in groups of 128 bytes."""
    width = max(1, lanes[0][1] * size // BANK)  # words per lane
    group = max(1, BANKS // width)
    passes = 0
    for start in range(0, len(lanes), group):
        words: set[int] = set()
        for offset, count in lanes[start : start + group]:
            words.update(range(offset * size // BANK, (offset * size + count * size - 1) // BANK + 1))
        banks = [0] * BANKS
        for word in words:
            banks[word % BANKS] += 1
        passes += max(banks)
    return passes
