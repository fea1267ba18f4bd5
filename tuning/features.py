"""What distinguishes plans of one problem: a few facts per plan, each in one of a few buckets.

The cost model adds up a weight per fact (`weights.py`); `benchmarks/ranking/fit.py` finds the weights. Sizes are
log2 of bytes, clipped. Facts of plans that fetch rows, of those that fetch blocks into L1, and of those that fetch them
into L2 where that was measured (elsewhere they count as blocks), have weights of their own.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log2, prod
from typing import Any

from ttc_llvm.canonical import Beta, Canonical, static
from ttc_llvm.carry import chain
from ttc_llvm.plan import CpuPlan, Fetch, Staging
from ttc_llvm.staging import has_aligned_rows, joins
from ttc_llvm.target import Target

from . import succession, tours
from .blocks import same_unit_axis, unit_axes
from .footprint import Footprint, touched

Fact = tuple[str, int | str]
Part = tuple[str, tuple[Any, ...]]  # a group of facts, and what determines it
Handing = tuple[Any, ...]  # tile, order, panel and parallel of a plan whose runs go on from tile to tile, () of others

FAMILIES = {  # processors with weights of their own, by how LLVM's names for them begin: the first that fits
    "znver5": " on Zen 5",
    "znver": " on Zen",  # 4, by its data
    **dict.fromkeys(("skylake-avx512", "cascadelake", "cooperlake"), " on Skylake"),
}
FEW = -7.0  # log2: translations per line, at least: fewer cost nothing that matters
WASTE = (1.02, 1.1, 1.25, 1.6)  # bounds of the buckets: elements of whole tiles per element of the tensor


@dataclass(frozen=True, slots=True)
class Walked:
    """What successive micro-tiles walk in A and in B. streams: bytes of consecutive memory of each row; flights: lines
    on their way to L1 by the room for them, as `succession.flight`."""

    streams: tuple[int, int]
    flights: tuple[int, int]


def kind(canonical: Canonical) -> str:
    """The class of problems that share their weights."""
    shape = "rows" if same_unit_axis(canonical) else "columns"
    return f"{shape} {'update' if canonical.kinds.beta is Beta.ANY else 'copy'}"


class Features:
    """The facts of plans of one canonical form on one target: call it with a plan.

    What does not depend on the plan is computed once; footprints are remembered by shape.
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
        self.sides = tuple(map(succession.Side, self.strides, self.sizes, self.units))
        aligned = has_aligned_rows(canonical, target.vector_bits // 8)  # else rows have heads and tails
        self.streams = "streaming" if aligned else "ragged"
        self.family = next((text for start, text in FAMILIES.items() if target.cpu.startswith(start)), "")
        self._lines = [prod(self.extents) * size / target.line for size in self.sizes]
        self._footprints: dict[tuple[int, tuple[int, ...]], Footprint] = {}
        self._walked: dict[tuple[Any, ...], Walked] = {}
        self._tours: dict[tuple[tuple[int, ...], ...], tuple[str, tuple[float, ...]]] = {}
        self._crowded: dict[tuple[int, ...], tuple[float, ...]] = {}

    def __call__(self, plan: CpuPlan) -> list[Fact]:
        """The plan's facts."""
        return [fact for part in self.parts(plan) for fact in self.of(part)]

    def of(self, part: Part) -> list[Fact]:
        """A group of facts."""
        find, key = part
        found: list[Fact] = getattr(self, find)(*key)
        return found

    def parts(self, plan: CpuPlan) -> tuple[Part, ...]:
        """The plan's facts in groups: the method that finds a group, and the few decisions that it depends on."""
        fetch = plan.fetch.value if plan.prefetch and (self.target.far or plan.fetch is not Fetch.FAR) else "blocks"
        past = self.streams if plan.staging is not Staging.CARRY else "joined" if self.joined(plan) else "carry"
        of = f"{fetch} {past if plan.streaming else 'stores'}: "
        inner = self._innermost(plan.inner[-1])
        into_l1 = plan.prefetch if fetch == "blocks" else 0
        loops = (plan.tile, plan.order, plan.panel, plan.parallel) if plan.staging is Staging.CARRY else ()
        return (
            ("simple", (of, plan.prefetch, plan.staging.value, inner)),
            ("micro", (of, plan.block)),
            ("shape", (of, inner, plan.tile)),
            ("walk", (of, plan.tile, plan.order, plan.panel)),
            ("steps", (of, plan.block, succession.steps(plan, self.extents), into_l1)),
            ("handed", (of, loops)),
        )

    def joined(self, plan: CpuPlan) -> bool:
        """Whether runs of B go on without scratch."""
        return joins(self.canonical, plan, self.target)

    def simple(self, of: str, distance: int, staging: str, inner: str) -> list[Fact]:
        """Decisions as they are."""
        named = {"mode": "any", "distance": str(distance), "staging": staging, "inner": inner}
        return self._here([(of + name, value) for name, value in named.items()])

    def micro(self, of: str, block: tuple[int, ...]) -> list[Fact]:
        """The micro-tile's sides: its runs of memory, over several axes where extents are small."""
        a, b = (_log2(self.footprint(which, block).run_bytes, 4, 9) for which in (0, 1))
        return [
            (f"{of}block a", a),
            (f"{of}block b", b),
            (f"{of}block", f"{1 << a}x{1 << b}"),
        ]

    def shape(self, of: str, inner: str, tile: tuple[int, ...]) -> list[Fact]:
        """What a tile touches."""
        tile = tuple(map(min, tile, self.extents))
        a, b = self.footprint(0, tile), self.footprint(1, tile)
        size = prod(tile) * max(self.sizes)
        return [
            (f"{of}tile", _log2(size, 10, 21)),
            (f"{of}waste", sum(self.waste(tile) > bound for bound in WASTE)),
            (f"{of}runs", self._runs(tile)),
            (f"{of}run a, {inner} innermost", _log2(a.run_bytes, 6, 12)),
            (f"{of}run b, {inner} innermost", _log2(b.run_bytes, 6, 12)),
            (f"{of}lines a", round(4 * log2(a.lines))),
            (f"{of}lines b", round(4 * log2(b.lines))),
        ]

    def walk(
        self, of: str, tile: tuple[int, ...], order: tuple[int, ...], panel: tuple[int, ...]
    ) -> list[Fact]:
        """How tiles follow each other, and how wide they are beside that way."""
        path, misses = self.tour(tile, order, panel)
        found: list[Fact] = [(f"{of}misses {side}", round(2 * m)) for side, m in zip("ab", misses, strict=True)]
        found.append((f"{of}runs, along {path.partition(' ')[0]}", self._runs(tuple(map(min, tile, self.extents)))))
        return [(f"{of}path", path), (f"{of}panel", "some" if panel else "none"), *self._here(found)]

    def steps(self, of: str, block: tuple[int, ...], steps: tuple[succession.Step, ...], distance: int) -> list[Fact]:
        """How micro-tiles follow each other: the runs of memory that they walk, which hardware fetches by itself, and
        how many of the lines that are on their way to L1 share its sets."""
        walked = self.walked(block, steps, distance)
        a, b = (_log2(stream, 6, 13) for stream in walked.streams)
        flights = walked.flights if distance else ()
        pages = [round(log2(self.footprint(which, block).pages)) for which in (0, 1)]
        found: list[Fact] = [
            (f"{of}stream a", a),
            (f"{of}stream b", b),
            (f"{of}streams", f"{succession.length(a)} {succession.length(b)} {succession.crowd(flights)}"),
            (f"{of}pages a", pages[0]),
            (f"{of}pages b", pages[1]),
        ]
        found += [(f"{of}flight {side}", flight) for side, flight in zip("ab", flights, strict=False)]
        return self._here(found)

    def handed(self, of: str, loops: Handing) -> list[Fact]:
        """How long B's runs are that go on from tile to tile, and how much waits meanwhile."""
        if not loops:
            return []
        run, waiting = self.handing(loops)
        return self._here([(f"{of}run handed on", _log2(run, 6, 13)), (f"{of}waiting", _log2(waiting, 6, 17))])

    def handing(self, loops: Handing) -> tuple[int, int]:
        """Bytes of B's runs that go on from tile to tile along these loops, and of the parts of lines that wait."""
        tile, order, panel, parallel = loops
        plan = CpuPlan(tile, tile, order, order, parallel, streaming=True, staging=Staging.CARRY, panel=panel)
        found = chain(self.canonical, plan, self.target)
        if found is None:
            return self.footprint(1, tile).run_bytes, 0
        return found.run * self.sizes[1], found.buffer.elements * self.sizes[1]

    def _here(self, facts: list[Fact]) -> list[Fact]:
        """These facts, and once more as facts of this family of processors: prefetchers differ."""
        return [*facts, *((name + self.family, bucket) for name, bucket in facts)] if self.family else facts

    def tour(
        self, tile: tuple[int, ...], order: tuple[int, ...], panel: tuple[int, ...]
    ) -> tuple[str, tuple[float, ...]]:
        """Whose memory the innermost loops over tiles walk, and log2 of the misses of translations per line of A and
        of B; remembered."""
        key = (tile, order, panel)
        found = self._tours.get(key)
        if found is None:
            plan = CpuPlan(tile, tile, order, order, panel=panel)
            missed = tours.misses(plan, self.extents, self._pages)
            few = tuple(max(FEW, log2(m / line)) for m, line in zip(missed, self._lines, strict=True))
            found = self._tours[key] = tours.path(plan, self.extents, self.orders), few
        return found

    def walked(self, block: tuple[int, ...], steps: tuple[succession.Step, ...], distance: int) -> Walked:
        """What successive micro-tiles walk, of which so many are asked for ahead; remembered."""
        key = (block, steps, distance)
        if key not in self._walked:
            a, b = self.sides
            streams = [succession.stream(side, block, self.extents, steps) for side in (a, b)]
            flights = [succession.flight(side, block, steps, distance, self.target) for side in (a, b)]
            self._walked[key] = Walked((streams[0], streams[1]), (flights[0], flights[1]))
        return self._walked[key]

    def crowded(self, block: tuple[int, ...]) -> tuple[float, ...]:
        """How much A's and B's lines of a micro-tile crowd one set of L1: `succession.crowding`."""
        found = self._crowded.get(block)
        if found is None:
            crowded = (succession.crowding(side, block, self.target) for side in self.sides)
            found = self._crowded[block] = tuple(crowded)
        return found

    def footprint(self, which: int, box: tuple[int, ...]) -> Footprint:
        """What a box touches in A (0) or B (1)."""
        key = (which, box)
        if key not in self._footprints:
            strides, order = self.strides[which], self.orders[which]
            self._footprints[key] = touched(self.sizes[which], strides, order, self.extents, box, self.target)
        return self._footprints[key]

    def _runs(self, box: tuple[int, ...]) -> str:
        """log2 of the bytes of a box's runs in A and in B."""
        a, b = (_log2(self.footprint(which, box).run_bytes, 6, 9) for which in (0, 1))
        return f"{a} {b}"

    def _innermost(self, axis: int) -> str:
        """Whose runs the innermost loop inside a tile goes along: A's, B's, those of rows that both share, or none."""
        if self.units[0] != self.units[1]:
            return "a" if axis == self.units[0] else "b"
        if axis == self.units[0]:
            return "rows"
        after = [side[1] if len(side) > 1 else axis for side in self.orders]
        return "a" if axis == after[0] else "b" if axis == after[1] else "none"

    def waste(self, box: tuple[int, ...]) -> float:
        """Remainders: elements of whole boxes per element of the tensor."""
        return prod(-(-extent // size) * size / extent for extent, size in zip(self.extents, box, strict=True))

    def _pages(self, box: tuple[int, ...]) -> tuple[float, float]:
        """Pages of A and of B that a box touches."""
        return self.footprint(0, box).pages, self.footprint(1, box).pages


def _log2(size: float, low: int, high: int) -> int:
    return max(low, min(high, int(size).bit_length() - 1))

