"""Facts of a plan, in groups that few decisions determine: facts in buckets, and the sizes behind them.

The cost model adds up a weight per fact (`weights.py`); its networks see the sizes as numbers, log2, of bytes unless
said otherwise, and decisions as 0 or 1. Sizes in bytes have their log2, clipped, as buckets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from math import log2, prod
from typing import Any, NamedTuple

from ttc_llvm.plan import Fetch, Loops, Staging, loops

from . import succession
from .measures import Measures

Fact = tuple[str, int | str]
Numbers = tuple[float, ...]
Part = tuple[Callable[..., "Group"], tuple[Any, ...]]  # what finds a group, and the decisions that it depends on

STORES = ("stores", "streaming", "ragged", "carry", "joined")
MODES = tuple(f"{fetch.value} {stores}: " for fetch in Fetch for stores in STORES)
STAGINGS = tuple(staging.value for staging in Staging if staging is not Staging.SHIFT)  # is never searched for
INNER = ("a", "b", "rows", "none")
WALKS = ("a", "b", "both", "other")
WASTE = (1.02, 1.1, 1.25, 1.6)  # bounds of the buckets: elements of whole tiles per element of the tensor
LONG = 1 << 18  # bytes: longer runs count as this


class Group(NamedTuple):
    """shared: facts that are alike on all processors; own: facts that families of processors differ in; numbers: for
    networks, always as many and in the same order."""

    shared: tuple[Fact, ...]
    own: tuple[Fact, ...]
    numbers: Numbers


def simple(m: Measures, mode: str, distance: int, staging: str, inner: str) -> Group:
    """Decisions as they are; how far ahead is asked, log2 of micro-tiles."""
    own = (("mode", "any"), ("distance", str(distance)), ("staging", staging), ("inner", inner))
    places = (*one_hot(mode, MODES), *one_hot(staging, STAGINGS), *one_hot(inner, INNER))
    return Group((), own, (log2(1 + distance), *places))


def micro(m: Measures, block: tuple[int, ...]) -> Group:
    """The micro-tile: its runs, over several axes where extents are small, elements, rows, pages, sets that lines
    crowd, and what remainders waste."""
    a, b = m.footprints(block)
    side_a, side_b = _bucket(a.run_bytes, 4, 9), _bucket(b.run_bytes, 4, 9)
    facts = (("block a", side_a), ("block b", side_b), ("block", f"{1 << side_a}x{1 << side_b}"))
    rows = [len(succession.rows(side, block)) for side in m.sides]
    sizes = (a.run_bytes, b.run_bytes, prod(block), *rows, a.pages, b.pages)
    return Group(facts, (), (*map(log2, sizes), *m.crowded(block), log2(m.waste(block))))


def shape(m: Measures, inner: str, tile: tuple[int, ...]) -> Group:
    """The tile: its size, and what it touches in A and B, runs, lines and pages."""
    box = tuple(map(min, tile, m.extents))
    (a, b), waste, size = m.footprints(box), m.waste(box), prod(box) * max(m.sizes)
    facts: tuple[Fact, ...] = (
        ("tile", _bucket(size, 10, 21)),
        ("waste", sum([waste > bound for bound in WASTE])),
        ("runs", _runs(m, box)),
        (f"run a, {inner} innermost", _bucket(a.run_bytes, 6, 12)),
        (f"run b, {inner} innermost", _bucket(b.run_bytes, 6, 12)),
        ("lines a", round(4 * log2(a.lines))),
        ("lines b", round(4 * log2(b.lines))),
    )
    sizes = (size, a.run_bytes, a.lines, a.pages, b.run_bytes, b.lines, b.pages, waste)
    return Group(facts, (), tuple(map(log2, sizes)))


def walk(m: Measures, tile: tuple[int, ...], order: tuple[int, ...], panel: tuple[int, ...]) -> Group:
    """The way in which tiles follow each other, and their width beside it."""
    box = tuple(map(min, tile, m.extents))
    path, misses = m.path(tile, order), m.misses(box, loops(tile, order, panel, m.extents))
    own: tuple[Fact, ...] = (
        ("misses a", round(2 * misses[0])),
        ("misses b", round(2 * misses[1])),
        (f"runs, along {path.partition(' ')[0]}", _runs(m, box)),
    )
    facts = (("path", path), ("panel", "some" if panel else "none"))
    return Group(facts, own, (*_places(path), *misses, float(bool(panel))))


def steps(m: Measures, block: tuple[int, ...], steps: succession.Steps, distance: int) -> Group:
    """The way in which micro-tiles follow each other: the runs of memory that they walk, which hardware fetches by
    itself; how many of the lines that are on their way to L1 share its sets; iterations of the two innermost loops."""
    streams, flights = m.streams(block, steps), m.flights(block, steps, distance)
    a, b = (_bucket(stream, 6, 13) for stream in streams)
    crowd = succession.crowd(flights if distance else ())
    pages = [round(log2(box.pages)) for box in m.footprints(block)]
    own: tuple[Fact, ...] = (
        ("stream a", a),
        ("stream b", b),
        ("streams", f"{succession.length(a)} {succession.length(b)} {crowd}"),
        ("pages a", pages[0]),
        ("pages b", pages[1]),
    )
    if distance:
        own = (*own, ("flight a", flights[0]), ("flight b", flights[1]))
    trips = [*(trips for _, _, trips in steps[:2]), 1, 1][:2]
    return Group((), own, (*map(log2, streams), *map(float, flights), *map(log2, trips)))


def handed(m: Measures, box: tuple[int, ...], around: Loops, parallel: int) -> Group:
    """The length of B's runs that continue from tile to tile, and the bytes that wait meanwhile."""
    run, waiting = m.handed(box, around, parallel)
    own = (("run handed on", _bucket(run, 6, 13)), ("waiting", _bucket(waiting, 6, 17)))
    return Group((), own, tuple([log2(max(1, min(size, LONG))) for size in (run, waiting)]))


def alone(m: Measures) -> Group:
    """Of tiles whose runs end with them."""
    return Group((), (), (0.0, 0.0))


@lru_cache(maxsize=1024)
def one_hot(value: str, values: tuple[str, ...]) -> Numbers:
    """1 in the place of a value, 0 elsewhere."""
    return tuple(float(value == one) for one in values)


def _places(path: str) -> Iterator[float]:
    """Of both innermost loops over tiles, whose memory they walk."""
    for loop in (*path.split(), "", "")[:2]:
        yield from one_hot(loop, WALKS)


def _runs(m: Measures, box: tuple[int, ...]) -> str:
    """log2 of the bytes of a box's runs in A and in B."""
    a, b = m.footprints(box)
    return f"{_bucket(a.run_bytes, 6, 9)} {_bucket(b.run_bytes, 6, 9)}"


def _bucket(size: int, low: int, high: int) -> int:
    return max(low, min(high, size.bit_length() - 1))
