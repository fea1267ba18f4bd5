"""The paper's Figure 4 for the real extents: both tensors cut into macro-tiles, and one of these into micro-tiles.

Both are drawn in the plane of the axes along which A and B are contiguous. Equal colours and numbers are equal
elements: a micro-tile leaves its place in A for its place in B.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..lazy_dataclasses import dataclass
from . import geometry
from .drawing import PANEL, label, line, picture, rect, upright
from .geometry import Plane

if TYPE_CHECKING:
    from .explanation import Explanation

LEFT, TOP = 22.0, 46.0
SIDE = 280  # of the largest box in a panel
THINNEST = 0.25  # a shorter side by the longer one
TILES, CELLS = 4, 12  # along an axis; more are named
COLOURED = ("first", "second", "third", "fourth")  # micro-tiles, in the order in which they are permuted
READABLE = 12.0  # units of a cell's sides that leave room for a digit

Pair = tuple[int, int]


@dataclass(frozen=True, slots=True)
class _Box:
    """Elements, across and down, cut into cells. whole: its extents; shown: what of them is drawn."""

    whole: Pair
    cell: Pair
    shown: Pair

    @classmethod
    def of(cls, whole: Pair, cell: Pair, most: int) -> _Box:
        """A box of which at most so many cells a side are drawn."""
        return cls(whole, cell, (min(whole[0], most * cell[0]), min(whole[1], most * cell[1])))

    @property
    def counts(self) -> Pair:
        """Cells across and down, with those that are not drawn."""
        return -(-self.whole[0] // self.cell[0]), -(-self.whole[1] // self.cell[1])

    @property
    def sides(self) -> tuple[float, float]:
        """Of the picture: the longer one fills it, and neither gets too thin."""
        longest = max(self.shown)
        width, height = (SIDE * max(THINNEST, extent / longest) for extent in self.shown)
        return width, height

    def at(self, across: int, down: int) -> tuple[float, float]:
        """Where an element is drawn."""
        width, height = self.sides
        return LEFT + min(across, self.shown[0]) * width / self.shown[0], (
            TOP + min(down, self.shown[1]) * height / self.shown[1]
        )

    def filled(self, across: int, down: int, cell: Pair, name: str) -> str:
        """A rectangle of some elements, as far as they are drawn."""
        x, y = self.at(across, down)
        right, bottom = self.at(across + cell[0], down + cell[1])
        return rect(x, y, right - x, bottom - y, name)

    def lines(self, name: str) -> Iterator[str]:
        """Those between cells."""
        width, height = self.sides
        for cut in range(self.cell[0], self.shown[0], self.cell[0]):
            x, _ = self.at(cut, 0)
            yield line(x, TOP, x, TOP + height, name)
        for cut in range(self.cell[1], self.shown[1], self.cell[1]):
            _, y = self.at(0, cut)
            yield line(LEFT, y, LEFT + width, y, name)

    def rest(self) -> Iterator[str]:
        """What stands for cells that are not drawn."""
        width, height = self.sides
        if self.shown[0] < self.whole[0]:
            yield label(LEFT + width + 6, TOP + 12, "...", name="small")
        if self.shown[1] < self.whole[1]:
            yield label(LEFT, TOP + height + 14, "...", name="small")


def macro(e: Explanation) -> tuple[str, ...]:
    """Macro-tiles of A and of B; none where there is a single axis."""
    found = geometry.planes(e.canonical, e.plan)
    boxes = [_Box.of(plane.extents, plane.tile, TILES) for plane in found]
    return tuple(
        _picture(f"macro-tiles of {plane.tensor}", box, _macro(plane, box))
        for plane, box in zip(found, boxes, strict=True)
    )


def micro(e: Explanation) -> tuple[str, ...]:
    """Micro-tiles of the first macro-tile; none where it is one itself, or where there is a single axis."""
    found = geometry.planes(e.canonical, e.plan)
    if all(plane.tile == plane.block for plane in found):
        return ()
    boxes = [_Box.of(plane.tile, plane.block, CELLS) for plane in found]
    return tuple(
        _picture(f"micro-tiles of {plane.tensor}", box, _micro(plane, box))
        for plane, box in zip(found, boxes, strict=True)
    )


def _picture(words: str, box: _Box, body: Iterator[str]) -> str:
    return picture(PANEL, TOP + box.sides[1] + 20, words, body)


def _macro(plane: Plane, box: _Box) -> Iterator[str]:
    yield label(0, 14, f"{plane.tensor}: {_times(box.counts)} tiles of {_times(plane.tile)}", name="strong")
    yield from _axes(plane, plane.extents)
    yield box.filled(0, 0, box.shown, "plane")
    yield box.filled(0, 0, plane.tile, "tile")
    yield box.filled(0, 0, plane.block, "first")
    yield from box.lines("edge")
    yield from box.rest()


def _micro(plane: Plane, box: _Box) -> Iterator[str]:
    words = f"{plane.tensor}: {_times(box.counts)} micro-tiles of {_times(plane.block)}"
    yield label(0, 14, words, name="strong")
    yield from _axes(plane, plane.tile)
    yield box.filled(0, 0, box.shown, "plane")
    yield box.filled(0, 0, box.shown, "tile")
    places = [(number, *_place(plane, box.counts, number)) for number in range(len(COLOURED))]
    seen = [(n, k, m) for n, k, m in places if k < box.counts[0] and m < box.counts[1]]
    for number, k, m in seen:
        yield box.filled(k * plane.block[0], m * plane.block[1], plane.block, COLOURED[number])
    yield from box.lines("micro")
    for number, k, m in seen:
        yield from _number(box, k * plane.block[0], m * plane.block[1], number + 1)
    yield from box.rest()


def _place(plane: Plane, counts: Pair, number: int) -> Pair:
    """Which cell is permuted as the number-th one."""
    if plane.across_first:
        return number % counts[0], number // counts[0]
    return number // counts[1], number % counts[1]


def _number(box: _Box, across: int, down: int, number: int) -> Iterator[str]:
    x, y = box.at(across, down)
    right, bottom = box.at(across + box.cell[0], down + box.cell[1])
    if right - x >= READABLE and bottom - y >= READABLE:
        yield label((x + right) / 2, (y + bottom) / 2 + 4, str(number), "middle", "small on")


def _axes(plane: Plane, extents: Pair) -> Iterator[str]:
    yield label(LEFT, TOP - 10, f"axis {plane.across}, contiguous: {extents[0]:,} elements", name="small")
    yield upright(14, TOP, f"axis {plane.down}: {extents[1]:,}")


def _times(pair: Pair) -> str:
    return " x ".join(f"{number:,}" for number in pair)
