"""A tile as one thread sees it: its place, the alignment of accesses to shared memory, batches of loads in flight."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from math import gcd

from llvmlite import ir

from ttc_llvm.lazy_dataclasses import dataclass
from ttc_llvm.lowering.gpu.nest import GpuNest, SharedTile
from ttc_llvm.lowering.gpu.residency import BATCH
from ttc_llvm.lowering.gpu.runs import sides
from ttc_llvm.lowering.gpu.trace import Round
from ttc_llvm.lowering.operands import Op
from ttc_llvm.problem.canonical import Canonical

from ..scale import Scalars
from ..values import I64
from .intrinsics import Machine
from .sums import Addresses, Arithmetic
from .walk import Walk
from .words import Words

ADDRESS = 4  # registers of an access whose address is its own, which counts where elements are small
ALIGN = 16  # bytes: of the tile in shared memory, and of the widest access


@dataclass(frozen=True, slots=True)
class BlockTile:
    """A tile as one thread sees it. a, b: addresses of its first elements; storage: of shared memory, None =
    there is none."""

    machine: Machine
    nest: GpuNest
    op: Op
    scalars: Scalars
    thread: ir.Value
    a: ir.Value | None
    b: ir.Value
    storage: ir.Value | None

    @property
    def canonical(self) -> Canonical:
        """The problem."""
        return self.nest.canonical

    @property
    def shared(self) -> SharedTile:
        """The tile in shared memory, where there is one."""
        assert self.nest.shared is not None
        return self.nest.shared

    def strides(self, side: str) -> tuple[int, ...]:
        """Bytes from element to element of A or B along every axis."""
        t = self.canonical.a if side == "a" else self.canonical.b
        return tuple(stride * t.itemsize for stride in sides(self.canonical, side))

    def device_place(self, b: ir.IRBuilder, walk: Walk, side: str) -> Addresses:
        """Addresses in A or B. Offsets inside a tile are 32 bits wide where they can be."""
        strides = self.strides(side)
        reach = sum((e - 1) * abs(s) for e, s in zip(self.nest.tile, strides, strict=True))
        base = self.a if side == "a" else self.b
        assert base is not None
        sums = walk.sums if reach < 1 << 31 else Arithmetic(b, I64)
        return Addresses(b, base, sums, any(s < 0 for s in strides))

    def shared_place(self, b: ir.IRBuilder, walk: Walk) -> Addresses:
        """Addresses in shared memory."""
        assert self.storage is not None
        return Addresses(b, self.storage, walk.sums)

    def alignment(self, along: tuple[int, ...], accessed: Words) -> int:
        """Bytes of which every address of such accesses to shared memory, along these axes, is a multiple."""
        steps = [s for k, s in enumerate(self.shared.strides) if k not in along and self.nest.tile[k] > 1]
        if self.shared.split >= 0:
            steps.append(self.shared.outer)
        return gcd(ALIGN, *(accessed.itemsize * step for step in (accessed.count, *steps)))


def batches(turns: Iterator[Round], held: int, own_addresses: bool) -> Iterator[list[Round]]:
    """Rounds whose elements fit into registers together, with their addresses where each has its own."""
    address = ADDRESS if own_addresses else 0
    size = max(1, (BATCH + address) // (held + address))
    while batch := list(islice(turns, size)):
        yield batch
