"""Plans whose runs of B go on from tile to tile (`Staging.CARRY`): narrow tiles that walk along rows of A.

A tile is a line or a few of B wide and goes through scratch in L1. Tiles follow each other along rows of A, which the
hardware fetches ahead, over as many rows of B as there are slots; then the next lines of all these rows are written.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from math import prod

from ttc_llvm.canonical import Canonical, static
from ttc_llvm.plan import CpuPlan, Fetch, Staging

from .blocks import cover, fitted, merge

RUNS = (128, 256, 1024)  # bytes of B that a tile writes of each row
WIDTHS = (256, 1024)  # bytes of A that it reads of each row
SLOTS = (512, 2048)  # rows of B that wait at a time
ASKED = ((Fetch.ROWS, 1), (Fetch.BLOCKS, 6))
LONG = 4 << 10  # bytes: runs are hardly longer where threads can share what is beyond
SHARED = 3  # loops that make the task grid, at most


def seeds(canonical: Canonical, block: tuple[int, ...]) -> Iterator[CpuPlan]:
    """A few of every size."""
    for run, width, slots in itertools.product(RUNS, WIDTHS, SLOTS):
        for fetch, distance in ASKED:
            yield plan(canonical, block, (run, width, slots), fetch, distance)


def plan(
    canonical: Canonical, block: tuple[int, ...], sizes: tuple[int, int, int], fetch: Fetch, distance: int
) -> CpuPlan:
    """The plan with runs and widths of about so many bytes and so many slots. Loops, outermost first: those that
    threads share, along B's run, along A's."""
    run, width, slots = sizes
    b = cover(canonical, "b", max(1, run // canonical.b.itemsize))
    a = cover(canonical, "a", max(1, width // canonical.a.itemsize))
    extents, tile = canonical.extents, fitted(canonical, block, merge(a, b))
    along = _along(canonical, tile, set(b), slots)
    panel = tuple(along.get(k, extent) for k, extent in enumerate(extents))
    on = _goes_on(canonical, along)
    shared = [k for k in canonical.along("b") if k not in on and k not in along]
    order = (*shared, *on, *sorted(along, key=lambda k: -abs(static(canonical.axes[k].stride_a))))
    free = sum(tile[k] < extents[k] for k in shared) + sum(size < extents[k] for k, size in along.items())
    return CpuPlan(
        tile,
        block,
        order,
        canonical.along("a"),
        min(SHARED, free),
        distance,
        True,
        Staging.CARRY,
        fetch,
        () if panel == extents else panel,
    )


def _along(canonical: Canonical, tile: tuple[int, ...], run: set[int], slots: int) -> dict[int, int]:
    """The axes that continue A's rows, and how much of each there are slots for."""
    found: dict[int, int] = {}
    for k in canonical.along("a")[::-1]:
        room = slots // prod(found.values())
        if k in run and tile[k] == canonical.extents[k]:
            continue
        if k in run or static(canonical.axes[k].stride_a) == 0 or (found and room < 2 * tile[k]):
            break
        extent = canonical.extents[k]
        found[k] = extent if extent <= room else max(1, room // tile[k]) * tile[k]
        if found[k] < extent:
            break
    return found


def _goes_on(canonical: Canonical, along: dict[int, int]) -> list[int]:
    """The axes along which B's runs go on until they are long, outermost first."""
    found: list[int] = []
    for k in canonical.along("b")[::-1]:
        if k in along or prod(canonical.extents[k] for k in found) * canonical.b.itemsize >= LONG:
            break
        found.insert(0, k)
    return found
