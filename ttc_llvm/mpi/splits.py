"""Splits of one axis of a tensor over a dimension of a grid: blocks, cyclic blocks, sizes of one's own."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arguments import between, integers, shown
from ..errors import OptionError
from ..lazy_dataclasses import dataclass

Indices = np.ndarray[tuple[Any, ...], np.dtype[np.int64]]  # numpy.typing takes half a millisecond to load
MOST = (1 << 62) - 1  # of an extent


@dataclass(frozen=True, slots=True)
class Block:
    """One contiguous block a part, whose sizes differ by one at most; the first parts have the larger ones."""

    def __str__(self) -> str:
        return "block"


@dataclass(frozen=True, slots=True)
class Cyclic:
    """Blocks of `size` indices, dealt to the parts in turn: ScaLAPACK's block-cyclic distribution from part 0 on."""

    size: int = 1

    def __str__(self) -> str:
        return f"cyclic({self.size})"


@dataclass(frozen=True, slots=True)
class Sizes:
    """One contiguous block a part, of these sizes."""

    sizes: tuple[int, ...]

    def __str__(self) -> str:
        return str(self.sizes)


Split = Block | Cyclic | Sizes
block = Block()
"""One contiguous block a part, whose sizes differ by one at most."""


def cyclic(size: int = 1) -> Cyclic:
    """Blocks of `size` indices, dealt to the parts in turn. Raises OptionError."""
    return Cyclic(between(1, MOST)("size", size, OptionError))


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis as its split places it: `extent` indices in `parts` parts, by `split`."""

    extent: int
    parts: int
    split: Split

    @property
    def period(self) -> int:
        """After so many indices the parts repeat; 0 = they do not."""
        return self.split.size * self.parts if isinstance(self.split, Cyclic) else 0

    def bounds(self) -> Indices:
        """The starts of contiguous blocks, ascending, and the extent behind them; of a contiguous split one more than
        parts, where equal neighbours enclose an empty part."""
        if isinstance(self.split, Cyclic):
            return np.append(np.arange(0, self.extent, self.split.size, dtype=np.int64), self.extent)
        if isinstance(self.split, Sizes):
            return np.cumsum((0, *self.split.sizes), dtype=np.int64)
        base, larger = divmod(self.extent, self.parts)
        part = np.arange(self.parts + 1, dtype=np.int64)
        return part * base + np.minimum(part, larger)

    def located(self, index: Indices) -> tuple[Indices, Indices]:
        """The parts that have these indices, and where: their local indices there."""
        if isinstance(self.split, Cyclic):
            turn, inside = np.divmod(index, self.split.size)
            return turn % self.parts, turn // self.parts * self.split.size + inside
        bounds = self.bounds()
        part = np.searchsorted(bounds, index, side="right") - 1
        return part, index - bounds[part]

    def count(self, part: int) -> int:
        """The number of a part's indices."""
        if isinstance(self.split, Cyclic):
            whole, rest = divmod(self.extent, self.period)
            return whole * self.split.size + min(max(rest - part * self.split.size, 0), self.split.size)
        bounds = self.bounds()
        return int(bounds[part + 1] - bounds[part])

    def indices(self, part: int) -> Indices:
        """A part's indices, ascending: those of its local ones 0, 1, 2 ..."""
        local: Indices = np.arange(self.count(part), dtype=np.int64)
        if isinstance(self.split, Cyclic):
            turn, inside = np.divmod(local, self.split.size)
            return (turn * self.parts + part) * self.split.size + inside
        found: Indices = local + self.bounds()[part]
        return found


def read(name: str, given: Any, extent: int, parts: int) -> Split:
    """A caller's split of an axis: `block`, `cyclic(size)`, or a sequence of sizes, one a part. Raises OptionError."""
    if isinstance(given, (Block, Cyclic)):
        return given
    sizes = given.sizes if isinstance(given, Sizes) else integers(name, given, OptionError)
    if len(sizes) != parts or min(sizes, default=0) < 0 or sum(sizes) != extent:
        raise OptionError(f"{name} {shown(tuple(sizes))} are not {parts} sizes from 0 on that add up to {extent}")
    return Sizes(tuple(sizes))
