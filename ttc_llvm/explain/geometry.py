"""Positions of a tile's elements: its runs of consecutive memory in a tensor, in cache lines; and the plane in which
it is drawn."""

from __future__ import annotations

from itertools import islice, product
from math import prod

from ..lazy_dataclasses import dataclass
from ..lowering.layout import run_axes
from ..lowering.plan import CpuPlan
from ..machine.target import Target
from ..problem.canonical import Canonical, static

COUNTED = 1 << 15  # runs whose lines are counted; many more go on as these do


@dataclass(frozen=True, slots=True)
class Runs:
    """The runs of one tensor's memory that a box of elements touches.

    tensor: A or B; run: bytes of each; count: how many; starts: byte addresses of the first few, the box at
    address 0; line: bytes of a cache line; lines: that all runs touch, counted run by run.
    """

    tensor: str
    run: int
    count: int
    starts: tuple[int, ...]
    line: int
    lines: int

    @property
    def used(self) -> float:
        """The share of the bytes of touched lines that belongs to the box."""
        return self.run * self.count / (self.lines * self.line)


def runs(canonical: Canonical, box: tuple[int, ...], tensor: str, target: Target, most: int) -> Runs:
    """The runs of a box at the first element of tensor `A` or `B`, of which `most` are listed."""
    side = tensor.lower()
    item = canonical.a.itemsize if side == "a" else canonical.b.itemsize
    box = tuple(map(min, box, canonical.extents))
    strides = tuple(static(stride) for stride in canonical.strides(side))
    along = run_axes(box, strides)
    length = prod(box[k] for k in along)
    across = sorted((k for k in range(len(box)) if k not in along and strides[k]), key=lambda k: -abs(strides[k]))
    offsets = [
        sum(i * strides[k] for i, k in zip(index, across, strict=True)) * item
        for index in islice(product(*(range(box[k]) for k in across)), COUNTED)
    ]
    size, count = length * item, prod(box[k] for k in across)
    lines = sum((start + size - 1) // target.line - start // target.line + 1 for start in offsets)
    return Runs(tensor, size, count, tuple(offsets[:most]), target.line, round(lines * count / len(offsets)))


@dataclass(frozen=True, slots=True)
class Plane:
    """The two axes in which a tensor's tiles are drawn. across: the one along which it is contiguous (left to right);
    down: the other tensor's, or the widest of the tile; extents, tile, block: of those two; across_first: which of them
    micro-tiles walk first."""

    tensor: str
    across: int
    down: int
    extents: tuple[int, int]
    tile: tuple[int, int]
    block: tuple[int, int]
    across_first: bool


def planes(canonical: Canonical, plan: CpuPlan) -> tuple[Plane, ...]:
    """A's plane and B's; none where there is a single axis."""
    extents = canonical.extents
    if len(extents) < 2:
        return ()
    first, second = _unit(canonical, "a"), _unit(canonical, "b")
    if first == second:
        rest = [k for k in range(len(extents)) if k != first]
        second = max(rest, key=lambda k: min(plan.tile[k], extents[k]))
        pairs = (("A", first, second), ("B", first, second))
    else:
        pairs = (("A", first, second), ("B", second, first))
    return tuple(_plane(name, k, m, extents, plan) for name, k, m in pairs)


def _plane(name: str, k: int, m: int, extents: tuple[int, ...], plan: CpuPlan) -> Plane:
    tile = tuple(map(min, plan.tile, extents))
    block = tuple(map(min, plan.block, extents))
    first = plan.inner.index(k) > plan.inner.index(m)
    return Plane(name, k, m, (extents[k], extents[m]), (tile[k], tile[m]), (block[k], block[m]), first)


def _unit(canonical: Canonical, side: str) -> int:
    """The axis along which neighbours in memory lie, or the nearest to it."""
    strides = [abs(static(stride)) for stride in canonical.strides(side)]
    return min((k for k in range(len(strides)) if strides[k]), key=strides.__getitem__, default=0)
