"""Footprints in A and in B of boxes of elements and of loops over them: the sizes behind the facts that plans differ
in."""

from __future__ import annotations

from math import log2, prod

from ttc_llvm.lowering.chain import chain_of
from ttc_llvm.lowering.plan import Loops
from ttc_llvm.machine.target import Target
from ttc_llvm.problem.canonical import Canonical, static

from ..space.blocks import unit_axes
from . import tlb
from .footprint import Footprint, touched
from .streams import Side, Steps, ahead, crowding, flight, stream

FEW = -7.0  # log2: translations per line, at least: fewer cost nothing that matters


class Measures:
    """Sizes of what plans of one canonical form touch on one target.

    What does not depend on the plan is computed once; what is needed again, by shape, is remembered.
    """

    def __init__(self, canonical: Canonical, target: Target) -> None:
        self.canonical, self.target = canonical, target
        self.extents = canonical.extents
        self.sizes = (canonical.a.itemsize, canonical.b.itemsize)
        self.strides = tuple(
            tuple(abs(static(s)) * size for s in canonical.strides(which))
            for which, size in zip("ab", self.sizes, strict=True)
        )
        self.orders = tuple(sorted(range(len(side)), key=side.__getitem__) for side in self.strides)
        self.units = unit_axes(canonical)
        self.sides = tuple(map(Side, self.strides, self.sizes, self.units))
        self._tensors = [*zip(self.sizes, self.strides, self.orders, strict=True)]
        self._lines = [prod(self.extents) * size / target.line for size in self.sizes]
        self._footprints: dict[tuple[int, ...], tuple[Footprint, Footprint]] = {}
        self._crowded: dict[tuple[int, ...], tuple[float, ...]] = {}
        self._flights: dict[tuple[tuple[int, ...], Steps, int], list[int]] = {}

    def footprints(self, box: tuple[int, ...]) -> tuple[Footprint, Footprint]:
        """The footprints of a box in A and in B."""
        found = self._footprints.get(box)
        if found is None:
            a, b = [touched(*tensor, self.extents, box, self.target) for tensor in self._tensors]
            found = self._footprints[box] = a, b
        return found

    def waste(self, box: tuple[int, ...]) -> float:
        """Remainders: elements of whole boxes per element of the tensor."""
        return prod([-(-extent // size) * size / extent for extent, size in zip(self.extents, box, strict=True)])

    def crowded(self, block: tuple[int, ...]) -> tuple[float, ...]:
        """The crowding of one set of L1 by A's and B's lines of a micro-tile: `streams.crowding`."""
        found = self._crowded.get(block)
        if found is None:
            crowded = (crowding(side, block, self.target) for side in self.sides)
            found = self._crowded[block] = tuple(crowded)
        return found

    def innermost(self, axis: int) -> str:
        """Whose runs the innermost loop inside a tile goes along: A's, B's, those of rows that both share, or none."""
        if self.units[0] != self.units[1]:
            return "a" if axis == self.units[0] else "b"
        if axis == self.units[0]:
            return "rows"
        after = [side[1] if len(side) > 1 else axis for side in self.orders]
        return "a" if axis == after[0] else "b" if axis == after[1] else "none"

    def path(self, tile: tuple[int, ...], order: tuple[int, ...]) -> str:
        """Whose memory the innermost loops over tiles walk."""
        return tlb.path(tile, order, self.extents, self.orders)

    def misses(self, box: tuple[int, ...], around: Loops) -> tuple[float, ...]:
        """log2 of the misses of translations per line of A and of B, of whole tiles in these loops."""
        missed = tlb.misses(box, around, self.extents, self.footprints)
        return tuple([max(FEW, log2(m / line)) for m, line in zip(missed, self._lines, strict=True)])

    def streams(self, block: tuple[int, ...], steps: Steps) -> list[int]:
        """Bytes of consecutive memory that rows of successive micro-tiles cover in A and in B."""
        return [stream(side, block, self.extents, steps) for side in self.sides]

    def flights(self, block: tuple[int, ...], steps: Steps, distance: int) -> list[int]:
        """Lines of A and of B on their way to L1, per line that its sets have room for: `streams.flight`."""
        key = (block, ahead(steps, distance), distance)
        found = self._flights.get(key)
        if found is None:
            found = self._flights[key] = [flight(side, *key, self.target) for side in self.sides]
        return found

    def chained(self, box: tuple[int, ...], around: Loops, parallel: int) -> tuple[int, int]:
        """Bytes of B's runs that continue from tile to tile along these loops, and of their partial lines."""
        found = chain_of(self.canonical, box, around, parallel, self.target)
        if found is None:
            return self.footprints(box)[1].run_bytes, 0
        return found.run * self.sizes[1], found.buffer.elements * self.sizes[1]
