"""Facts of a plan, in groups that few decisions determine: facts in buckets, and the sizes behind them.

The cost model adds up a weight per fact; its networks see the sizes as numbers by name, log2, of bytes unless said
otherwise, and decisions as 0 or 1. Sizes in bytes have their log2, clipped, as buckets.
"""

from __future__ import annotations

import struct
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from math import log2, prod
from typing import Any

import numpy as np

from ttc_llvm.lowering.plan import Loops

from .measures import Measures
from .streams import Steps, crowd, length, rows
from .vocabulary import INNER, MODES, STAGED, WALKS

Fact = tuple[str, int | str]
Facts = tuple[Fact, ...]
Numbers = Mapping[str, float]  # by name, which the networks know them by
Part = tuple[Callable[..., "Group"], tuple[Any, ...]]  # what finds a group, and the decisions that it depends on

WASTE = (1.02, 1.1, 1.25, 1.6)  # bounds of the buckets: elements of whole tiles per element of the tensor
LONG = 1 << 18  # bytes: longer runs count as this

# The numbers of groups, in their order.
TOUCHED = ("run a", "run b", "elements", "rows a", "rows b", "pages a", "pages b", "crowding a", "crowding b", "waste")
MICRO = tuple([f"block {what}" for what in TOUCHED])
SIZES = ("size", "run a", "lines a", "pages a", "run b", "lines b", "pages b", "waste")
SHAPE = tuple([f"tile {what}" for what in SIZES])
PLACES = [f"{what} {one}" for what in ("tiles", "tiles around") for one in WALKS]
WALK = (*PLACES, "misses a", "misses b", "panel")
STEPS = ("stream a", "stream b", "flight a", "flight b", "trips", "trips around")
CHAIN = ("run handed on", "waiting")


class Group:
    """shared: facts that are alike on all processors; own: facts that families of processors differ in; names, values:
    of numbers for networks, the same names whatever the plan; row: the values' bytes in single precision; weighed: the
    facts' weights, by mode."""

    __slots__ = ("names", "own", "row", "shared", "values", "weighed")

    def __init__(self, shared: Facts, own: Facts, names: tuple[str, ...], values: tuple[float, ...]) -> None:
        self.shared, self.own, self.names, self.values = shared, own, names, values
        self.row = struct.pack(f"{len(values)}f", *values)
        self.weighed: dict[str, list[float]] = {}


def named(shared: Facts, own: Facts, numbers: Numbers) -> Group:
    """A group of numbers by name."""
    return Group(shared, own, tuple(numbers), tuple(numbers.values()))


def simple(m: Measures, mode: str, distance: int, staging: str, inner: str) -> Group:
    """Decisions as they are; the prefetch distance as log2 of micro-tiles."""
    own = (("mode", "any"), ("distance", str(distance)), ("staging", staging), ("inner", inner))
    places = {**one_hot("mode", mode, MODES), **one_hot("staging", staging, STAGED), **one_hot("inner", inner, INNER)}
    return named((), own, {"distance": log2(1 + distance), **places})


def micro(m: Measures, block: tuple[int, ...]) -> Group:
    """The micro-tile: its runs, over several axes where extents are small, elements, rows, pages, sets that lines
    crowd, and what remainders waste."""
    a, b = m.footprints(block)
    side_a, side_b = _bucket(a.run_bytes, 4, 9), _bucket(b.run_bytes, 4, 9)
    facts = (("block a", side_a), ("block b", side_b), ("block", f"{1 << side_a}x{1 << side_b}"))
    sizes = a.run_bytes, b.run_bytes, prod(block), *[len(rows(side, block)) for side in m.sides], a.pages, b.pages
    return Group(facts, (), MICRO, (*map(log2, sizes), *m.crowded(block), log2(m.waste(block))))


def shape(m: Measures, inner: str, tile: tuple[int, ...]) -> Group:
    """The tile: its size, and what it touches in A and B, runs, lines and pages."""
    box = tuple(map(min, tile, m.extents))
    (a, b), waste, size = m.footprints(box), m.waste(box), prod(box) * max(m.sizes)
    facts: tuple[Fact, ...] = (
        ("tile", _bucket(size, 10, 21)),
        ("waste", bisect_left(WASTE, waste)),
        ("runs", _runs(m, box)),
        (f"run a, {inner} innermost", _bucket(a.run_bytes, 6, 12)),
        (f"run b, {inner} innermost", _bucket(b.run_bytes, 6, 12)),
        ("lines a", round(4 * log2(a.lines))),
        ("lines b", round(4 * log2(b.lines))),
    )
    sizes = size, a.run_bytes, a.lines, a.pages, b.run_bytes, b.lines, b.pages, waste
    return Group(facts, (), SHAPE, tuple(map(log2, sizes)))


def walk(m: Measures, tile: tuple[int, ...], order: tuple[int, ...], around: Loops, panel: bool) -> Group:
    """The way in which tiles follow each other, and their width beside it."""
    box = tuple(map(min, tile, m.extents))
    path, misses = m.path(tile, order), m.misses(box, around)
    own: tuple[Fact, ...] = (
        ("misses a", round(2 * misses[0])),
        ("misses b", round(2 * misses[1])),
        (f"runs, along {path.partition(' ')[0]}", _runs(m, box)),
    )
    facts = (("path", path), ("panel", "some" if panel else "none"))
    return Group(facts, own, WALK, (*_places(path), *misses, float(panel)))


def steps(m: Measures, block: tuple[int, ...], steps: Steps, streams: Sequence[int], distance: int) -> Group:
    """The way in which micro-tiles follow each other: the runs of memory that they walk, which hardware fetches by
    itself; how many of the lines that are on their way to L1 share its sets; iterations of the two innermost loops.
    streams: of these steps."""
    flights = m.flights(block, steps, distance)
    a, b = _bucket(streams[0], 6, 13), _bucket(streams[1], 6, 13)
    box_a, box_b = m.footprints(block)
    own: tuple[Fact, ...] = (
        ("stream a", a),
        ("stream b", b),
        ("streams", f"{length(a)} {length(b)} {crowd(flights if distance else ())}"),
        ("pages a", round(log2(box_a.pages))),
        ("pages b", round(log2(box_b.pages))),
    )
    if distance:
        own = (*own, ("flight a", flights[0]), ("flight b", flights[1]))
    trips = log2(steps[0][2]) if steps else 0.0, log2(steps[1][2]) if len(steps) > 1 else 0.0
    return Group((), own, STEPS, (log2(streams[0]), log2(streams[1]), *flights, *trips))


def chained(m: Measures, box: tuple[int, ...], around: Loops, parallel: int) -> Group:
    """The length of B's runs that continue from tile to tile, and the bytes of their partial lines."""
    run, waiting = m.chained(box, around, parallel)
    own = (("run handed on", _bucket(run, 6, 13)), ("waiting", _bucket(waiting, 6, 17)))
    return Group((), own, CHAIN, tuple([log2(max(1, min(size, LONG))) for size in (run, waiting)]))


def unchained(m: Measures) -> Group:
    """Of tiles whose runs end with them."""
    return Group((), (), CHAIN, (0.0, 0.0))


@lru_cache(maxsize=1024)
def one_hot(what: str, value: str, values: tuple[str, ...]) -> Numbers:
    """A number for every value that there is: 1 for this one, 0 for the others."""
    return {f"{what} {one}": float(value == one) for one in values}


def columns(groups: Iterable[Group]) -> tuple[str, ...]:
    """The names of a plan's numbers."""
    return tuple(chain.from_iterable([group.names for group in groups]))


def table(plans: Sequence[Iterable[Group]]) -> np.ndarray:
    """The numbers of each plan, a row of its own."""
    found = b"".join([group.row for groups in plans for group in groups])
    return np.frombuffer(found, np.float32).reshape(len(plans), -1)


@lru_cache(maxsize=64)
def _places(path: str) -> tuple[float, ...]:
    """Of both innermost loops over tiles, whose memory they walk."""
    innermost, around = (*path.split(), "", "")[:2]
    return tuple([float(value == one) for value in (innermost, around) for one in WALKS])


def _runs(m: Measures, box: tuple[int, ...]) -> str:
    """log2 of the bytes of a box's runs in A and in B."""
    a, b = m.footprints(box)
    return f"{_bucket(a.run_bytes, 6, 9)} {_bucket(b.run_bytes, 6, 9)}"


def _bucket(size: int, low: int, high: int) -> int:
    found = size.bit_length() - 1
    return low if found < low else high if found > high else found
