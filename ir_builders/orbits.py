"""Orbits of tiles: which boxes belong to one, and the box at each of them."""

from __future__ import annotations

from llvmlite import ir

from ttc_llvm.lazy_dataclasses import dataclass, replace
from ttc_llvm.lowering.nodes import Orbit

from .box import Box
from .micro_tile import Sizes
from .values import I1, Int, add, i64, mul


@dataclass(frozen=True, slots=True)
class Walk:
    """The orbit of a box. places: the positions of the box and of its images, by axis."""

    node: Orbit
    box: Box
    places: tuple[tuple[Int, ...], ...]

    @classmethod
    def of(cls, b: ir.IRBuilder, node: Orbit, box: Box) -> Walk:
        """The orbit that begins with this box."""
        places = [tuple(box.position(b, axis) for axis in range(len(node.image)))]
        for _ in range(node.length - 1):
            places.append(tuple(places[-1][k] for k in _origins(node)))
        return cls(node, box, tuple(places))

    def is_last(self, b: ir.IRBuilder) -> ir.Value:
        """True where no image of the box comes after it, by the axes in order."""
        found: ir.Value = ir.Constant(I1, 1)
        for image in self.places[1:]:
            found = b.and_(found, b.not_(self._after(b, image)))
        return found

    def is_new(self, b: ir.IRBuilder, number: int) -> ir.Value:
        """True where the image of this number is a tile of its own, and not one of the images before it."""
        found: ir.Value = ir.Constant(I1, 1)
        for image in self.places[1 : number + 1]:
            found = b.and_(found, b.not_(self._equal(b, image, len(self.node.axes))))
        return found

    def image(self, b: ir.IRBuilder, sizes: Sizes, number: int) -> Box:
        """The box at the image of this number. Loops around it walk elsewhere: it has none."""
        box, lengths = self.box, self.box.lengths
        for _ in range(number):
            lengths = tuple(lengths[k] for k in _origins(self.node))
        for k in self.node.axes:
            distance = add(b, self.places[number][k], mul(b, self.places[0][k], -1))
            box = box.moved(b, sizes, k, distance, lengths[k])
        return replace(box, loops=())

    def _after(self, b: ir.IRBuilder, image: tuple[Int, ...]) -> ir.Value:
        found: ir.Value = ir.Constant(I1, 0)
        for number, k in enumerate(self.node.axes):
            later = b.icmp_signed(">", i64(image[k]), i64(self.places[0][k]))
            found = b.or_(found, b.and_(self._equal(b, image, number), later))
        return found

    def _equal(self, b: ir.IRBuilder, image: tuple[Int, ...], count: int) -> ir.Value:
        """True where the first `count` axes that move have the box's own positions."""
        found: ir.Value = ir.Constant(I1, 1)
        for k in self.node.axes[:count]:
            found = b.and_(found, b.icmp_signed("==", i64(image[k]), i64(self.places[0][k])))
        return found


def _origins(node: Orbit) -> list[int]:
    """For every axis the one that takes its place."""
    return [node.image.index(k) for k in range(len(node.image))]
