"""The GPU's loop nest: which elements every thread of a block loads, puts into shared memory, and stores.

Blocks walk the tiles; inside a block, a *phase* walks one tile in items (a vector, or a register block of several)
by *digits*: positions of the items along one axis, or along the axes of a run. Some positions of a digit belong to
neighbouring threads, the others come one after the other, unrolled.
"""

from __future__ import annotations

from itertools import pairwise
from math import prod

from ...lazy_dataclasses import dataclass
from ...problem.canonical import Canonical
from .runs import Run


@dataclass(frozen=True, slots=True)
class Digit:
    """Positions of items along the axes, `step` elements apart. threads: positions of neighbouring threads."""

    axes: tuple[int, ...]
    step: int
    count: int
    threads: int

    @property
    def rounds(self) -> int:
        """Positions that one thread takes, one after the other."""
        return -(-self.count // self.threads)

    @property
    def exact(self) -> bool:
        """True where every round is full."""
        return self.count % self.threads == 0

    def __str__(self) -> str:
        axes = "*".join(f"i{k}" for k in self.axes)
        return f"{axes} step {self.step}: {self.threads} threads x {self.rounds}{'' if self.exact else ' clamped'}"


@dataclass(frozen=True, slots=True)
class Phase:
    """A walk of all threads over one tile. run: the vectors of an item; rows: vectors of an item, one after the other
    along `row_axis`; digits: fastest threads first."""

    run: Run
    digits: tuple[Digit, ...]
    row_axis: int = -1
    rows: int = 1

    @property
    def threads(self) -> int:
        """Threads that have something to do."""
        return prod(digit.threads for digit in self.digits)

    @property
    def rounds(self) -> int:
        """Items of one thread."""
        return prod(digit.rounds for digit in self.digits)

    def __str__(self) -> str:
        rows = f" x {self.rows} along i{self.row_axis}" if self.rows > 1 else ""
        return f"vectors of {self.run.vector}{rows}; " + "; ".join(map(str, self.digits))


@dataclass(frozen=True, slots=True)
class BlockBody:
    """The work of a block on a tile. load: how A goes into shared memory, None = directly; store: how B is written;
    remainder_axes: axes along which the tile may be shorter."""

    load: Phase | None
    store: Phase
    remainder_axes: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class SharedTile:
    """A tile in shared memory: strides in elements of A per axis. Along axis `split`, every `group` elements are
    followed by a gap: groups are `outer` elements apart. elements: in all, gaps included."""

    strides: tuple[int, ...]
    split: int
    group: int
    outer: int
    elements: int

    def offset(self, index: tuple[int, ...]) -> int:
        """The position of an element in shared memory."""
        total = sum(
            i * s for k, (i, s) in enumerate(zip(index, self.strides, strict=True)) if k != self.split
        )
        if self.split < 0:
            return total
        group, inside = divmod(index[self.split], self.group)
        return total + group * self.outer + inside * self.strides[self.split]

    def is_linear(self, axes: tuple[int, ...], tile: tuple[int, ...]) -> bool:
        """True where positions along a run of these axes are evenly spaced."""
        spaced = all(self.strides[y] == self.strides[x] * tile[x] for x, y in pairwise(axes))
        return spaced and self.split not in axes

    def holds(self, run: Run, tile: tuple[int, ...]) -> bool:
        """True where the elements of a vector along the run follow each other."""
        return run.vector == 1 or (self.is_linear(run.axes, tile) and self.strides[run.axes[0]] == 1)

    def __str__(self) -> str:
        gap = f" gap every {self.group} along i{self.split}: {self.outer}" if self.split >= 0 else ""
        return f"shared {self.elements} elements, strides {','.join(map(str, self.strides))}{gap}"


@dataclass(frozen=True, slots=True)
class GridLoop:
    """`count` steps of so many elements along an axis, spread over blocks."""

    axis: int
    step: int
    count: int


@dataclass(frozen=True, slots=True)
class GpuNest:
    """A plan applied to a canonical form. loops: over tiles, outermost first; align: elements of A and of B in one
    access, to whose size both addresses must be aligned; edge: the body of remainders, None = there are none."""

    canonical: Canonical
    tile: tuple[int, ...]
    loops: tuple[GridLoop, ...]
    threads: int
    shared: SharedTile | None
    align: tuple[int, int]
    full: BlockBody
    edge: BlockBody | None

    @property
    def grid(self) -> int:
        """Blocks; 0 where there is nothing to do."""
        return prod(loop.count for loop in self.loops) if self.canonical.elements else 0

    @property
    def phases(self) -> tuple[Phase, ...]:
        """Every walk, of full tiles and of remainders."""
        bodies = [body for body in (self.full, self.edge) if body is not None]
        return tuple(phase for body in bodies for phase in (body.load, body.store) if phase is not None)

    @property
    def overshoots(self) -> tuple[int, ...]:
        """Axes along which the last panel has tiles beyond the end."""
        reach = {k: self.tile[k] for k in range(len(self.tile))}
        for loop in self.loops:
            reach[loop.axis] += (loop.count - 1) * loop.step
        return tuple(
            k for k, extent in enumerate(self.canonical.extents) if reach[k] - self.tile[k] >= max(extent, 1)
        )

    def __str__(self) -> str:
        lines = [f"blocks {self.grid}: " + ", ".join(f"i{x.axis} {x.count} x {x.step}" for x in self.loops)]
        lines.append(f"threads {self.threads}, tile {','.join(map(str, self.tile))}")
        if self.shared is not None:
            lines.append(str(self.shared))
        for name, body in (("full", self.full), ("edge", self.edge)):
            if body is not None:
                lines += [f"{name} load: {body.load}"] if body.load else []
                lines.append(f"{name} store: {body.store}")
        return "\n".join(lines)
