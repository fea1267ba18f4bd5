"""Facts of a plan, in groups that few decisions determine: facts in buckets, and the sizes behind them.

The cost model adds up a weight per fact; its networks see the sizes as numbers by name, log2, of bytes unless said
otherwise, and decisions as 0 or 1. Sizes in bytes have their log2, clipped, as buckets.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from math import log2, prod
from typing import Any

import numpy as np

from ttc_llvm.lowering.plan import Loops, loops

from .measures import Measures
from .streams import Steps, crowd, length, rows
from .vocabulary import INNER, MODES, STAGED, WALKS

Fact = tuple[str, int | str]
Numbers = Mapping[str, float]  # by name, which the networks know them by
Part = tuple[Callable[..., "Group"], tuple[Any, ...]]  # what finds a group, and the decisions that it depends on

WASTE = (1.02, 1.1, 1.25, 1.6)  # bounds of the buckets: elements of whole tiles per element of the tensor
LONG = 1 << 18  # bytes: longer runs count as this


class Group:
    """shared: facts that are alike on all processors; own: facts that families of processors differ in; numbers: for
    networks, whatever the plan under the same names; row: their bytes in single precision; weighed: the facts'
    weights, by mode."""

    __slots__ = ("numbers", "own", "row", "shared", "weighed")

    def __init__(self, shared: tuple[Fact, ...], own: tuple[Fact, ...], numbers: Numbers) -> None:
        self.shared, self.own, self.numbers = shared, own, numbers
        self.row = struct.pack(f"{len(numbers)}f", *numbers.values())
        self.weighed: dict[str, list[float]] = {}


def simple(m: Measures, mode: str, distance: int, staging: str, inner: str) -> Group:
    """Decisions as they are; the prefetch distance as log2 of micro-tiles."""
    own = (("mode", "any"), ("distance", str(distance)), ("staging", staging), ("inner", inner))
    places = {**one_hot("mode", mode, MODES), **one_hot("staging", staging, STAGED), **one_hot("inner", inner, INNER)}
    return Group((), own, {"distance": log2(1 + distance), **places})


def micro(m: Measures, block: tuple[int, ...]) -> Group:
    """The micro-tile: its runs, over several axes where extents are small, elements, rows, pages, sets that lines
    crowd, and what remainders waste."""
    a, b = m.footprints(block)
    side_a, side_b = _bucket(a.run_bytes, 4, 9), _bucket(b.run_bytes, 4, 9)
    facts = (("block a", side_a), ("block b", side_b), ("block", f"{1 << side_a}x{1 << side_b}"))
    count_a, count_b = (len(rows(side, block)) for side in m.sides)
    crowded = m.crowded(block)
    numbers = {
        "block run a": log2(a.run_bytes),
        "block run b": log2(b.run_bytes),
        "block elements": log2(prod(block)),
        "block rows a": log2(count_a),
        "block rows b": log2(count_b),
        "block pages a": log2(a.pages),
        "block pages b": log2(b.pages),
        "block crowding a": crowded[0],
        "block crowding b": crowded[1],
        "block waste": log2(m.waste(block)),
    }
    return Group(facts, (), numbers)


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
    numbers = {
        "tile size": log2(size),
        "tile run a": log2(a.run_bytes),
        "tile lines a": log2(a.lines),
        "tile pages a": log2(a.pages),
        "tile run b": log2(b.run_bytes),
        "tile lines b": log2(b.lines),
        "tile pages b": log2(b.pages),
        "tile waste": log2(waste),
    }
    return Group(facts, (), numbers)


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
    numbers = {**_places(path), "misses a": misses[0], "misses b": misses[1], "panel": float(bool(panel))}
    return Group(facts, own, numbers)


def steps(m: Measures, block: tuple[int, ...], steps: Steps, distance: int) -> Group:
    """The way in which micro-tiles follow each other: the runs of memory that they walk, which hardware fetches by
    itself; how many of the lines that are on their way to L1 share its sets; iterations of the two innermost loops."""
    streams, flights = m.streams(block, steps), m.flights(block, steps, distance)
    a, b = (_bucket(stream, 6, 13) for stream in streams)
    pages = [round(log2(box.pages)) for box in m.footprints(block)]
    own: tuple[Fact, ...] = (
        ("stream a", a),
        ("stream b", b),
        ("streams", f"{length(a)} {length(b)} {crowd(flights if distance else ())}"),
        ("pages a", pages[0]),
        ("pages b", pages[1]),
    )
    if distance:
        own = (*own, ("flight a", flights[0]), ("flight b", flights[1]))
    trips = [*(trips for _, _, trips in steps[:2]), 1, 1][:2]
    numbers = {
        "stream a": log2(streams[0]),
        "stream b": log2(streams[1]),
        "flight a": float(flights[0]),
        "flight b": float(flights[1]),
        "trips": log2(trips[0]),
        "trips around": log2(trips[1]),
    }
    return Group((), own, numbers)


def chained(m: Measures, box: tuple[int, ...], around: Loops, parallel: int) -> Group:
    """The length of B's runs that continue from tile to tile, and the bytes of their partial lines."""
    run, waiting = m.chained(box, around, parallel)
    own = (("run handed on", _bucket(run, 6, 13)), ("waiting", _bucket(waiting, 6, 17)))
    return Group((), own, _chain_numbers(*(log2(max(1, min(size, LONG))) for size in (run, waiting))))


def unchained(m: Measures) -> Group:
    """Of tiles whose runs end with them."""
    return Group((), (), _chain_numbers(0.0, 0.0))


def _chain_numbers(run: float, waiting: float) -> Numbers:
    return {"run handed on": run, "waiting": waiting}


@lru_cache(maxsize=1024)
def one_hot(what: str, value: str, values: tuple[str, ...]) -> Numbers:
    """A number for every value that there is: 1 for this one, 0 for the others."""
    return {f"{what} {one}": float(value == one) for one in values}


def columns(groups: Iterable[Group]) -> tuple[str, ...]:
    """The names of a plan's numbers."""
    return tuple(chain.from_iterable([group.numbers for group in groups]))


def table(plans: Sequence[Iterable[Group]]) -> np.ndarray:
    """The numbers of each plan, a row of its own."""
    found = b"".join([group.row for groups in plans for group in groups])
    return np.frombuffer(found, np.float32).reshape(len(plans), -1)


@lru_cache(maxsize=64)
def _places(path: str) -> Numbers:
    """Of both innermost loops over tiles, whose memory they walk."""
    innermost, around = (*path.split(), "", "")[:2]
    return {**one_hot("tiles", innermost, WALKS), **one_hot("tiles around", around, WALKS)}


def _runs(m: Measures, box: tuple[int, ...]) -> str:
    """log2 of the bytes of a box's runs in A and in B."""
    a, b = m.footprints(box)
    return f"{_bucket(a.run_bytes, 6, 9)} {_bucket(b.run_bytes, 6, 9)}"


def _bucket(size: int, low: int, high: int) -> int:
    return max(low, min(high, size.bit_length() - 1))
