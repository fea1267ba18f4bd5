"""Plans with chained runs of B (`Store.COMBINED`): narrow tiles that follow each other along rows of A.

A tile is a line or a few of B wide and goes through scratch in L1, or through registers (`Store.JOINED`). Tiles follow
each other along rows of A, which the hardware prefetches, over as many rows of B as there are slots; then the next
lines of all these rows are written.
"""

from __future__ import annotations

from math import prod

from ..lazy_dataclasses import dataclass
from ..machine.target import Target
from ..problem.canonical import Canonical
from .plan import PLAIN, CpuPlan, Fetch, Store
from .tile_sizes import cover, fitted, merge

LONG = 4 << 10  # bytes of a run, after which threads may share the loops outside
SHARED = 3  # loops that make the task grid, at most
TASKS = 8  # at least, even if fewer rows have slots then
PIECES = 32  # tasks into which long runs are cut
ABREAST = 8  # lines of a row, at most, that are joined before what is left of the last one goes to its slot


@dataclass(frozen=True, slots=True)
class _TileOrder:
    """The order of tiles: by axis, the extent that is finished before the next loop outside.

    shared: loops that threads share; along_b: along B's run, outermost first; along_a: along A's rows, as far as there
    are slots, innermost first.
    """

    shared: dict[int, int]
    along_b: dict[int, int]
    along_a: dict[int, int]

    @property
    def grid(self) -> dict[int, int]:
        """Axis and step of the loops that threads can share."""
        return {**self.shared, **self.along_b, **self.along_a}

    def tasks(self, extents: tuple[int, ...]) -> int:
        """The number of tasks that threads can share."""
        return prod(-(-extents[k] // step) for k, step in self.grid.items())


def chained_plan(
    canonical: Canonical, block: tuple[int, ...], sizes: tuple[int, int, int], fetch: Fetch, distance: int
) -> CpuPlan:
    """The plan with chained runs. Loops, outermost first: those that threads share, along B's run, along A's.

    sizes: bytes of B and of A in each of a tile's rows, and number of slots, all approximate.
    """
    run, width, slots = sizes
    b = cover(canonical, "b", max(1, run // canonical.b.itemsize))
    a = cover(canonical, "a", max(1, width // canonical.a.itemsize))
    extents, tile = canonical.extents, fitted(canonical, block, merge(a, b))
    tiles = _tile_order(canonical, tile, set(b), slots)
    while tiles.tasks(extents) < TASKS and slots > prod(tile[k] for k in tiles.along_a):
        slots //= 2
        tiles = _tile_order(canonical, tile, set(b), slots)
    panel = tuple({**tiles.along_b, **tiles.along_a}.get(k, extent) for k, extent in enumerate(extents))
    order = (*tiles.shared, *tiles.along_b, *reversed(tiles.along_a))
    rest = [k for k in range(len(extents)) if k not in order]  # A is broadcast along these
    return PLAIN.changed(
        tile=tile,
        block=block,
        order=(*rest, *order),
        inner=canonical.along("a"),
        parallel=min(SHARED, sum(step < extents[k] for k, step in tiles.grid.items())),
        prefetch=distance,
        store=Store.COMBINED,
        fetch=fetch,
        panel=() if panel == extents else panel,
    )


def line_block(canonical: Canonical, target: Target) -> tuple[int, ...]:
    """A micro-tile that is a line of a row."""
    return (max(1, target.line // canonical.b.itemsize), *[1] * (len(canonical.axes) - 1))


def joined_plan(canonical: Canonical, target: Target, slots: int, fetch: Fetch, distance: int) -> CpuPlan:
    """The plan with chained runs where A and B share the contiguous axis: tiles of a row, in micro-tiles of lines."""
    row = canonical.extents[0] * canonical.b.itemsize
    line, *others = line_block(canonical, target)
    lines = min(ABREAST, row // target.line) or 1
    block = ((1 << lines.bit_length() >> 1) * line, *others)
    return chained_plan(canonical, block, (row, row, slots), fetch, distance)


def _tile_order(canonical: Canonical, tile: tuple[int, ...], run: set[int], slots: int) -> _TileOrder:
    """The order of tiles of these extents. B's run covers its innermost axes up to `LONG` bytes, without A's innermost
    axis outside the run."""
    by_a, extents = [k for k in canonical.along("a")[::-1] if canonical.axes[k].stride_a], canonical.extents
    first = next((k for k in by_a if k not in run), None)
    along_b: dict[int, int] = {}
    length = canonical.b.itemsize
    for k in canonical.along("b")[::-1]:
        if k == first or length >= LONG:
            break
        along_b = {k: extents[k], **along_b}
        length *= extents[k]
    along_a: dict[int, int] = {}
    for k in by_a:
        room = slots // prod(along_a.values())
        if k in run and tile[k] == extents[k]:
            continue
        if k in along_b or (along_a and room < 2 * tile[k]):
            break
        along_a[k] = extents[k] if extents[k] <= room else max(1, room // tile[k]) * tile[k]
        if along_a[k] < extents[k]:
            break
    shared = {k: tile[k] for k in canonical.along("b") if k not in along_b and k not in along_a}
    tiles = _TileOrder(shared, along_b, along_a)
    pieces = min(PIECES // tiles.tasks(extents), length // LONG)
    if pieces > 1:
        outermost = next(iter(along_b))
        along_b[outermost] = -(-extents[outermost] // (pieces * tile[outermost])) * tile[outermost]
    return tiles
