"""Operands of a loop nest's nodes: views of memory, operations, scratch, prefetches, and partial lines."""

from __future__ import annotations

from enum import Enum

from ..lazy_dataclasses import dataclass
from ..problem.canonical import Param, Size
from ..problem.dtypes import DType
from ..problem.kinds import Alpha, Beta


class Space(Enum):
    """The memory that a view's elements are in."""

    A = "a"
    B = "b"
    SCRATCH = "scratch"
    SLOTS = "slots"  # scratch, too: partial lines on their way to the next tile


Place = tuple[Space, int]

@dataclass(frozen=True, slots=True)
class View:
    """A strided window: element strides per axis, relative to the box in which it was opened.

    term: of A, the term of a sum that reads it.
    """

    space: Space
    dtype: DType
    strides: tuple[Size, ...]
    term: int = 0

    @property
    def place(self) -> Place:
        """The memory, and the place there, to which a box has a pointer."""
        return self.space, self.term


@dataclass(frozen=True, slots=True)
class Op:
    """Operations on an element between load and store: convert, conjugate, alpha, beta.

    compute: its type there, that of the arithmetic if there is any; term: of a sum, whose alpha it is.
    """

    alpha: Alpha
    beta: Beta
    conjugate: bool
    compute: DType
    term: int = 0


@dataclass(frozen=True, slots=True)
class Source:
    """A further source of a micro-tile, whose elements are added, times the alpha of `op`."""

    view: View
    op: Op


@dataclass(frozen=True, slots=True)
class Buffer:
    """Scratch of one tile, or the slots of partial lines.

    strides: in elements per axis; elements: in all, padding included; offset: bytes from the start of a thread's
    scratch to the first element.
    """

    space: Space
    dtype: DType
    strides: tuple[Size, ...]
    elements: int
    align: int = 64
    offset: int = 0

    @property
    def bytes(self) -> int:
        """Of all its elements."""
        return self.elements * self.dtype.itemsize

    @property
    def end(self) -> int:
        """Bytes of scratch up to its end, which the caller has to provide, per thread."""
        return self.offset + self.bytes


@dataclass(frozen=True, slots=True)
class Prefetch:
    """The prefetches of a micro-tile.

    distance: in micro-tiles, or in tiles of these extents, whose whole rows the micro-tiles then prefetch in shares;
    far: into L2 only, as rows always are.
    """

    distance: int
    tile: tuple[int, ...] = ()
    far: bool = False

    def __str__(self) -> str:
        return f"{self.distance} tiles" if self.tile else f"{self.distance}{' far' if self.far else ''}"


@dataclass(frozen=True, slots=True)
class PartialLine:
    """The partial line that each row of B passes to the next tile of its run, through a slot.

    dtype: of the slots' elements, as in scratch; run: the axes along which a tile's rows of B run, innermost first;
    loops: axis and step of the loops over tiles that continue a run, outermost first; elements: of a slot, as many as a
    line of B has, or a vector where that is longer.
    """

    dtype: DType
    run: tuple[int, ...]
    loops: tuple[tuple[int, int], ...]
    elements: int

    @property
    def bytes(self) -> int:
        """Of a slot."""
        return self.elements * self.dtype.itemsize


@dataclass(frozen=True, slots=True)
class RowOrder:
    """The order in which rows of B follow each other, as parameters.

    axes: those along which rows may follow each other, but for `across`, along which micro-tiles have several; numbers:
    the place of each of `axes` among those along which rows do, from the innermost on, 32 or more of others; last:
    that of `across`; away: the slot of the first of as many parameters, by this number: bytes of A from the end of a
    row to the beginning of the next.
    """

    axes: tuple[int, ...]
    numbers: tuple[Param, ...]
    across: int
    last: Param
    away: int
