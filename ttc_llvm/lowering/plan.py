"""A plan: the short tuple of decisions that turns a canonical form into one loop nest."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from functools import lru_cache, wraps
from math import prod
from typing import Any, TypeVar

from .. import arguments
from ..errors import PlanError
from ..lazy_dataclasses import dataclass
from ..problem.canonical import Param, Size
from .plan_text import read, shown, tuple_of

Loops = tuple[tuple[int, int], ...]  # axis and step, outermost first

VERSION = "cpu3"


class Store(Enum):
    """Strategies to write B. A plan decides for one of `DECISIONS`; `writing.resolve` finds the one that serves."""

    CACHED = "cached"  # ordinary stores
    ALIGNED = "aligned"  # non-temporal stores of whole micro-tiles; B has to begin on a vector boundary
    ROWS = "rows"  # non-temporal stores, row by row, each from its own first boundary
    PEELED = "peeled"  # non-temporal stores of micro-tiles that start at B's first cache-line boundary
    BUFFERED = "buffered"  # a tile is gathered in scratch in B's order; its rows leave by non-temporal stores
    COMBINED = "combined"  # the same, and a partial line passes on to the next tile of its chained run of B
    JOINED = "joined"  # as COMBINED without scratch: lines are put together in registers

    __hash__ = object.__hash__  # plans are hashed often, and Enum's own is Python code


DECISIONS = (Store.CACHED, Store.ALIGNED, Store.PEELED, Store.COMBINED)
FALLBACKS = (Store.CACHED, Store.PEELED, Store.BUFFERED, Store.COMBINED)


class Fetch(Enum):
    """The lines that a prefetch loads, the cache, and thereby the unit of its distance."""

    BLOCKS = "blocks"  # the lines of one micro-tile: each from another row of memory
    FAR = "far"  # the same lines, into L2 only: L1 has few buffers for lines in flight
    ROWS = "rows"  # rows of a whole tile, line after line, a share with every micro-tile

    __hash__ = object.__hash__


Of = TypeVar("Of", bound="Plan")
Extents = TypeVar("Extents")
Found = TypeVar("Found")


def _fitting(method: Callable[[Of, Extents], Found]) -> Callable[[Of, Extents], Found]:
    """The method, which raises PlanError for malformed extents, or those of other axes than the plan's."""

    @wraps(method)
    def checked(self: Of, extents: Extents) -> Found:
        try:
            return method(self, extents)
        except (TypeError, ValueError, LookupError, ArithmeticError):
            given = arguments.shown(extents)
            raise PlanError(f"extents {given} are none that the plan {arguments.cut(str(self))} fits") from None

    return checked


@dataclass(frozen=True, slots=True)
class Plan:
    """Decisions that CPU and GPU plans share; every tuple runs over the canonical axes.

    tile: macro-tile extents (1 = not tiled; >= extent = whole axis); block: micro-tile extents, each dividing
    its tile unless the tile spans the axis; order: axes of the loops over tiles, outermost first.
    """

    tile: tuple[int, ...]
    block: tuple[int, ...]
    order: tuple[int, ...]

    @_fitting
    def box(self, extents: tuple[int, ...]) -> tuple[int, ...]:
        """The extents of a whole tile of axes with these extents."""
        return tuple(map(min, self.tile, extents))


@dataclass(frozen=True, slots=True)
class CpuPlan(Plan):
    """A plan for a CPU.

    inner: axes of the loops over micro-tiles inside a tile, outermost first;
    parallel: how many of the outermost tile loops make the task grid that threads share;
    prefetch: distance in micro-tiles or tiles, 0 = none; store: how B is written where beta = 0 (otherwise by ordinary
    stores); fetch: the lines that a prefetch loads; panel: extents of a group of tiles that is finished before the next
    one, so that few pages are in use at a time, () = none; its loops, in the same order, are outside those over tiles;
    fallback: how a B is written that is misaligned for non-temporal stores, None = `fallback.for_misaligned_b` decides.
    """

    inner: tuple[int, ...]
    parallel: int = 1
    prefetch: int = 0
    store: Store = Store.CACHED
    fetch: Fetch = Fetch.BLOCKS
    panel: tuple[int, ...] = ()
    fallback: Store | None = None

    def __post_init__(self) -> None:
        arguments.put(self, _RULES, PlanError, "plan ")

    def __str__(self) -> str:
        decisions = [(name, getattr(self, name)) for name in self.__match_args__]
        return " ".join([VERSION, *(f"{name}={shown(value)}" for name, value in decisions if value is not None)])

    def changed(self, **decisions: Any) -> CpuPlan:
        """The same plan with other decisions, whose values are not checked: for those who derive them from plans that
        are. PlanError for names of none."""
        made: CpuPlan = self._copied()  # type: ignore[attr-defined]
        try:
            for name, value in decisions.items():
                _PUT[name](made, value)
        except KeyError:
            raise PlanError(f"{name!r} is no decision of a plan: the choices are {', '.join(_PUT)}") from None
        return made

    @_fitting
    def loops(self, extents: tuple[Size, ...]) -> Loops:
        """The loops over panels and tiles, outermost first: axis and step. None where one step is the whole axis."""
        return loops(self.tile, self.order, self.panel, extents)

    @_fitting
    def grid(self, extents: tuple[Size, ...]) -> Loops:
        """Those of the loops that threads share."""
        return grid(self.loops(extents), self.parallel)

    @_fitting
    def tasks(self, extents: tuple[int, ...]) -> int:
        """The number of tasks that threads can share: steps of the grid."""
        around = loops(self.tile, self.order, self.panel, extents)
        return prod([-(-extents[k] // step) for k, step in grid(around, self.parallel)])

    @property
    def non_temporal(self) -> bool:
        """True where the plan decides for non-temporal stores, which serve where B is not read."""
        return self.store is not Store.CACHED

    @property
    def ordinary(self) -> CpuPlan:
        """The same plan with ordinary stores, which need no aligned B."""
        return self.changed(store=Store.CACHED, fallback=None)

    @property
    def without_fallback(self) -> CpuPlan:
        """The same plan without a decision for its fallback."""
        return self if self.fallback is None else self.changed(fallback=None)

    @property
    def block_elements(self) -> int:
        """Elements of one micro-tile."""
        return prod(self.block)


# How the value of each decision is read, and what it must be: whether it fits a canonical form is for `plan_checks`.
Decisions = dict[str, tuple[Callable[[str], Any], arguments.Rule]]
AXES, COUNT = (tuple_of, arguments.integers), (int, arguments.integer)
SHAPE: Decisions = {"tile": AXES, "block": AXES, "order": AXES}
_DECISIONS: Decisions = SHAPE | {
    "inner": AXES,
    "parallel": COUNT,
    "prefetch": COUNT,
    "store": (Store, arguments.instance(Store)),
    "fetch": (Fetch, arguments.instance(Fetch)),
    "panel": AXES,
    "fallback": (Store, arguments.optional(arguments.instance(Store))),
}
_READERS = {name: reader for name, (reader, _) in _DECISIONS.items()}
_RULES = {name: rule for name, (_, rule) in _DECISIONS.items()}


@lru_cache(maxsize=1024)
def loops(tile: tuple[int, ...], order: tuple[int, ...], panel: tuple[int, ...], extents: tuple[Size, ...]) -> Loops:
    """`CpuPlan.loops` as a function of all that determines them, cached for planning."""
    tiles = [(k, tile[k]) for k in order if isinstance(extent := extents[k], Param) or tile[k] < extent]
    if not panel:
        return tuple(tiles)
    panels = [(k, panel[k]) for k in order if not spans(panel[k], extents[k])]
    return (*panels, *[loop for loop in tiles if loop not in panels])


_PUT: dict[str, Callable[[CpuPlan, Any], None]] = {name: getattr(CpuPlan, name).__set__ for name in _RULES}
PLAIN = CpuPlan((1,), (1,), (0,), (0,))  # a plan to begin with, or where there is no element to move


def grid(around: Loops, parallel: int) -> Loops:
    """Those of the loops that threads share: the outermost `parallel` of them, one per axis."""
    axes = [k for k, _ in around[:parallel]]
    while len(set(axes)) < len(axes):
        axes.pop()
    return around[: len(axes)]


def parse(text: str) -> CpuPlan:
    """The inverse of `str(plan)`, also for texts of earlier versions; PlanError for others, an unknown decision or a
    malformed value."""
    return CpuPlan(**read(text, VERSION, _READERS, ("fallback",)))


def spans(tile: int, extent: Size) -> bool:
    """True where one tile is known to cover the whole axis."""
    return not isinstance(extent, Param) and tile >= extent
