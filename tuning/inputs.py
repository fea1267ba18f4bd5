"""What the cost model's networks see of a plan: the sizes behind its facts as numbers, and decisions as 0 or 1.

Numbers come in the groups of `features.Features.parts`, so that what few decisions determine is computed once. Sizes
are log2: of bytes unless said otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from math import log2, prod

from ttc_llvm.canonical import Beta
from ttc_llvm.plan import CpuPlan, Fetch, Staging

from . import succession
from .features import FAMILIES, Features, Handing, Part

Numbers = tuple[float, ...]

FAMILY = tuple(dict.fromkeys(FAMILIES.values()))
STORES = ("stores", "streaming", "ragged", "carry", "joined")
MODES = tuple(f"{fetch.value} {stores}: " for fetch in Fetch for stores in STORES)
STAGINGS = tuple(staging.value for staging in Staging if staging is not Staging.SHIFT)  # is never searched for
INNER = ("a", "b", "rows", "none")
LONG = 1 << 18  # bytes: longer runs count as this
MANY = 8  # axes: higher ranks, all of which are many small extents, count as this
WALKS = ("a", "b", "both", "other")


class Inputs:
    """The numbers of plans of one problem on one target: those of the problem, followed by those of a plan's parts."""

    def __init__(self, features: Features) -> None:
        self.features = features
        self.problem = self._constants()

    def __call__(self, plan: CpuPlan) -> list[float]:
        """The numbers of one plan, always as many and in the same order."""
        return [*self.problem, *(number for part in self.features.parts(plan) for number in self.of(part))]

    def of(self, part: Part) -> Numbers:
        """A group of numbers."""
        find, key = part
        found: Numbers = getattr(self, find)(*key)
        return found

    def _constants(self) -> Numbers:
        """The machine and the problem: the same for every plan."""
        f, target = self.features, self.features.target
        extents = (f.extents[k] * size for k, size in zip(f.units, f.sizes, strict=True))
        return (
            *one_hot(f.family, FAMILY),
            *(log2(max(1, size)) for size in (target.l1, target.l2, *f.sizes, *extents)),
            float(f.canonical.kinds.beta is Beta.ANY),
            float(f.units[0] == f.units[1]),
            float(f.streams == "streaming"),
            float(min(len(f.extents), MANY)),
        )

    def simple(self, of: str, distance: int, staging: str, inner: str) -> Numbers:
        """Decisions as they are; how far ahead is asked, log2 of micro-tiles."""
        return (log2(1 + distance), *one_hot(of, MODES), *one_hot(staging, STAGINGS), *one_hot(inner, INNER))

    def micro(self, of: str, block: tuple[int, ...]) -> Numbers:
        """The micro-tile: its runs, elements, rows, pages, sets that lines crowd, and what remainders waste."""
        f = self.features
        sides = (f.footprint(which, block).run_bytes for which in (0, 1))
        rows = (len(succession.rows(side, block)) for side in f.sides)
        return (
            *map(log2, (*sides, prod(block), *rows)),
            *(log2(f.footprint(which, block).pages) for which in (0, 1)),
            *f.crowded(block),
            log2(f.waste(block)),
        )

    def shape(self, of: str, inner: str, tile: tuple[int, ...]) -> Numbers:
        """The tile: its size, and what it touches in A and B, runs, lines and pages."""
        f = self.features
        tile = tuple(map(min, tile, f.extents))
        touched = [f.footprint(which, tile) for which in (0, 1)]
        sizes = (size for box in touched for size in (box.run_bytes, box.lines, box.pages))
        return (log2(prod(tile) * max(f.sizes)), *map(log2, sizes), log2(f.waste(tile)))

    def walk(
        self, of: str, tile: tuple[int, ...], order: tuple[int, ...], panel: tuple[int, ...]
    ) -> Numbers:
        """How tiles follow each other."""
        path, misses = self.features.tour(tile, order, panel)
        return (*_path(path), *misses, float(bool(panel)))

    def steps(
        self, of: str, block: tuple[int, ...], steps: tuple[succession.Step, ...], distance: int
    ) -> Numbers:
        """How micro-tiles follow each other: runs, lines on their way, iterations of the two innermost loops."""
        walked = self.features.walked(block, steps, distance)
        trips = [trips for _, _, trips in steps[:2]]
        return (*map(log2, walked.streams), *map(float, walked.flights), *map(log2, (*trips, 1, 1)[:2]))

    def handed(self, of: str, loops: Handing) -> Numbers:
        """Of runs that go on from tile to tile: their bytes, and what waits meanwhile; no bytes where none do."""
        return tuple(log2(max(1, min(size, LONG))) for size in self.features.handing(loops)) if loops else (0.0, 0.0)


@lru_cache(maxsize=1024)
def one_hot(value: str, values: tuple[str, ...]) -> Numbers:
    """1 in the place of a value, 0 elsewhere."""
    return tuple(float(value == one) for one in values)


def _path(path: str) -> Iterator[float]:
    """Of both innermost loops over tiles, whose memory they walk."""
    for loop in (*path.split(), "", "")[:2]:
        yield from one_hot(loop, WALKS)
