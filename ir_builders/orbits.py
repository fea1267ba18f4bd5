"""Orbits of tiles: which boxes belong to one, and the box at each of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from llvmlite import ir

from ttc_llvm.lazy_dataclasses import dataclass, replace
from ttc_llvm.lowering.nodes import Orbit, Tour
from ttc_llvm.lowering.operands import Place, Space

from .box import Box
from .micro_tile import Sizes
from .values import I1, I64, Int, add, at, counted, i64, mul

A: Place = (Space.A, 0)
Images = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Walk:
    """The orbit of a box. axes: those that move, in the order of comparison; images: for every axis the one whose
    position it takes, the box itself first."""

    box: Box
    axes: tuple[int, ...]
    images: Images
    place: tuple[Int, ...]

    @classmethod
    def of(cls, b: ir.IRBuilder, node: Orbit | Tour, box: Box) -> Walk:
        """The orbit that begins with this box."""
        images = node.images if isinstance(node, Tour) else _powers(node)
        return cls(box, node.axes, images, tuple(box.position(b, axis) for axis in range(len(images[0]))))

    def is_last(self, b: ir.IRBuilder) -> ir.Value:
        """True where no image of the box comes after it, by the axes in order."""
        found: ir.Value = ir.Constant(I1, 1)
        for number in range(1, len(self.images)):
            found = b.and_(found, b.not_(self._after(b, number)))
        return found

    def is_new(self, b: ir.IRBuilder, number: int) -> ir.Value:
        """True where the image of this number is a tile of its own, and not one of the images before it."""
        found: ir.Value = ir.Constant(I1, 1)
        for before in range(number):
            found = b.and_(found, b.not_(self._equal(b, number, before, len(self.axes))))
        return found

    def image(self, b: ir.IRBuilder, sizes: Sizes, number: int) -> Box:
        """The box at the image of this number. Loops around it walk elsewhere: it has none."""
        image, lengths = self.images[number], self.box.lengths
        return self._box(b, sizes, [self.place[image[k]] for k in self.axes], [lengths[image[k]] for k in self.axes])

    @contextmanager
    def tour(self, b: ir.IRBuilder, sizes: Sizes, panels: bool) -> Iterator[Box]:
        """A loop over the box and its images, each once: its body is emitted for any of them. panels: boxes whose tiles
        look ahead on their own."""
        lengths, fixed = self.box.lengths, {self.box.lengths[k] for k in self.axes}
        constant = len(fixed) == 1 and all(isinstance(n, int) for n in fixed)
        kept = (self.place,) if constant else (self.place, lengths)
        width = len(kept) * len(self.axes) + 1
        with b.goto_entry_block():
            table = b.alloca(I64, i64(width * len(self.images)), name="tour")
        count: ir.Value = i64(0)
        for number, image in enumerate(self.images):
            row = [*(values[image[k]] for values in kept for k in self.axes), self._ahead(b, sizes, image)]
            for place, value in enumerate(row):
                b.store(i64(value), self._slot(b, table, count, width, place))
            count = b.add(count, b.zext(self.is_new(b, number), I64))
        with counted(b, count, 1, "tile") as i:
            row = [b.load(self._slot(b, table, i, width, n), typ=I64) for n in range(width)]
            places, others = row[: len(self.axes)], row[len(self.axes) : -1]
            box = self._box(b, sizes, places, others or [lengths[k] for k in self.axes])
            yield replace(box, ahead=None if panels else {A: row[-1]})

    def _ahead(self, b: ir.IRBuilder, sizes: Sizes, image: tuple[int, ...]) -> Int:
        """Bytes of A from an image of this box to that of the next one."""
        if not self.box.loops:
            return 0
        loop, view = self.box.loops[-1], self.box.views[A]
        moved = image.index(loop.axis)
        return mul(b, loop.step, mul(b, sizes(view.strides[moved]), view.dtype.itemsize))

    def _slot(self, b: ir.IRBuilder, table: ir.Value, row: ir.Value, width: int, place: int) -> ir.Value:
        return at(b, table, add(b, mul(b, row, 8 * width), 8 * place))

    def _box(self, b: ir.IRBuilder, sizes: Sizes, places: Sequence[Int], lengths: Sequence[Int]) -> Box:
        box = self.box
        for k, place, length in zip(self.axes, places, lengths, strict=True):
            box = box.moved(b, sizes, k, add(b, place, mul(b, self.place[k], -1)), length)
        starts = {**dict(enumerate(self.place)), **dict(zip(self.axes, places, strict=True))}
        return replace(box, loops=(), starts=starts)

    def _after(self, b: ir.IRBuilder, number: int) -> ir.Value:
        found: ir.Value = ir.Constant(I1, 0)
        for count, k in enumerate(self.axes):
            later = b.icmp_signed(">", i64(self.place[self.images[number][k]]), i64(self.place[k]))
            found = b.or_(found, b.and_(self._equal(b, number, 0, count), later))
        return found

    def _equal(self, b: ir.IRBuilder, one: int, other: int, count: int) -> ir.Value:
        """True where the first `count` axes that move have the same positions in two images."""
        found: ir.Value = ir.Constant(I1, 1)
        for k in self.axes[:count]:
            first, second = (i64(self.place[self.images[number][k]]) for number in (one, other))
            found = b.and_(found, b.icmp_signed("==", first, second))
        return found


def _powers(node: Orbit) -> Images:
    """The images of an orbit, each that of the one before."""
    origins = [node.image.index(k) for k in range(len(node.image))]
    found = [tuple(range(len(origins)))]
    while len(found) < node.length:
        found.append(tuple(found[-1][k] for k in origins))
    return tuple(found)
