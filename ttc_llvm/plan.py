"""A plan: the short tuple of decisions that turns a canonical form into one loop nest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from enum import Enum
from functools import lru_cache, wraps
from math import prod
from typing import Any, TypeVar

from . import arguments
from .canonical import Canonical, Param, Size
from .errors import PlanError
from .plan_text import read, shown, tuple_of

Loops = tuple[tuple[int, int], ...]  # axis and step, outermost first

VERSION = "cpu2"
LOADS = (None, 16, 32)  # what a load may be limited to, bytes
MAX_BLOCK = 1 << 13  # elements: 64 x 64 bytes and then some; a micro-tile's code grows with them


class Staging(Enum):
    """Use of a contiguous scratch tile, or another way to write B."""

    NONE = "none"
    A = "a"  # tile rows of A are copied to padded scratch, then permuted from there into B
    B = "b"  # the permuted tile is gathered in scratch in B's order, then written in whole lines
    CARRY = "carry"  # the same, and what a tile leaves of a line waits for the next tile of its run
    SHIFT = "shift"  # nothing does, and micro-tiles begin where B's lines do, wherever B begins

    __hash__ = object.__hash__  # plans are hashed often, and Enum's own is Python code

    @property
    def fills_scratch(self) -> bool:
        """True where tiles go through scratch."""
        return self not in (Staging.NONE, Staging.SHIFT)

    @property
    def gathers(self) -> bool:
        """True where scratch holds a tile as B does."""
        return self in (Staging.B, Staging.CARRY)


class Fetch(Enum):
    """The lines that a prefetch loads, the cache, and thereby the unit of its distance."""

    BLOCKS = "blocks"  # the lines of one micro-tile: each from another row of memory
    FAR = "far"  # the same lines, into L2 only: L1 has few buffers for lines on their way
    ROWS = "rows"  # rows of a whole tile, line after line, its share with every micro-tile

    __hash__ = object.__hash__


Of = TypeVar("Of", bound="Plan")
Extents = TypeVar("Extents")
Found = TypeVar("Found")


def _fitting(method: Callable[[Of, Extents], Found]) -> Callable[[Of, Extents], Found]:
    """The method; PlanError for extents that are none, or not of the plan's axes."""

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
    prefetch: distance in micro-tiles or tiles, 0 = none; streaming: non-temporal stores of whole vectors
    (beta = 0; `lower.alignment` tells what B's base must be a multiple of); staging: what goes through scratch; fetch:
    what a prefetch asks for; panel: extents of a group of tiles that is finished before the next one, so that few
    pages are in use at a time, () = none; its loops, in the same order, are outside those over tiles;
    unaligned: the staging of what runs instead of a streaming plan where B is off the boundary, None = by rule
    (`unaligned.off_boundary`); loads: bytes that a load of A for a micro-tile
    has at most, where registers can be put together from several and no mask is needed; None = any number.
    """

    inner: tuple[int, ...]
    parallel: int = 1
    prefetch: int = 0
    streaming: bool = False
    staging: Staging = Staging.NONE
    fetch: Fetch = Fetch.BLOCKS
    panel: tuple[int, ...] = ()
    unaligned: Staging | None = None
    loads: int | None = None

    def __post_init__(self) -> None:
        arguments.put(self, _RULES, PlanError, "plan ")

    def __str__(self) -> str:
        decisions = [(f.name, getattr(self, f.name)) for f in fields(self)]
        return " ".join([VERSION, *(f"{name}={shown(value)}" for name, value in decisions if value is not None)])

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
        return prod(-(-extents[k] // step) for k, step in self.grid(extents))

    @property
    def ordinary(self) -> CpuPlan:
        """The same plan with ordinary stores, which need no aligned B."""
        return replace(self, streaming=False, unaligned=None)

    @property
    def by_rule(self) -> CpuPlan:
        """The same plan, for which the rule decides what runs off the boundary."""
        return self if self.unaligned is None else replace(self, unaligned=None)

    @property
    def block_elements(self) -> int:
        """Elements of one micro-tile."""
        return prod(self.block)


# Only what every plan has: whether it fits a canonical form is for `check`.
SHAPE = {"tile": arguments.integers, "block": arguments.integers, "order": arguments.integers}
_RULES = SHAPE | {
    "inner": arguments.integers,
    "parallel": arguments.integer,
    "prefetch": arguments.integer,
    "streaming": arguments.flag,
    "staging": arguments.instance(Staging),
    "fetch": arguments.instance(Fetch),
    "panel": arguments.integers,
    "unaligned": arguments.optional(arguments.instance(Staging)),
    "loads": arguments.optional(arguments.integer),
}


@lru_cache(maxsize=1024)
def loops(tile: tuple[int, ...], order: tuple[int, ...], panel: tuple[int, ...], extents: tuple[Size, ...]) -> Loops:
    """`CpuPlan.loops`, of what determines them; remembered, for planning asks several times."""
    panels = [(k, panel[k]) for k in order if not spans(panel[k], extents[k])] if panel else []
    tiles = [(k, tile[k]) for k in order if not spans(tile[k], extents[k])]
    return (*panels, *(loop for loop in tiles if loop not in panels))


def grid(around: Loops, parallel: int) -> Loops:
    """Those of the loops that threads share: the outermost `parallel` of them, one per axis."""
    axes = [k for k, _ in around[:parallel]]
    count = next((i for i, k in enumerate(axes) if k in axes[:i]), len(axes))
    return around[:count]


_READERS: dict[str, Callable[[str], Any]] = {
    "tile": tuple_of,
    "block": tuple_of,
    "order": tuple_of,
    "inner": tuple_of,
    "parallel": int,
    "prefetch": int,
    "streaming": lambda text: bool(("0", "1").index(text)),
    "staging": Staging,
    "fetch": Fetch,
    "panel": tuple_of,
    "unaligned": Staging,
    "loads": int,
}
_OPTIONAL = ("unaligned", "loads")


def parse(text: str) -> CpuPlan:
    """The inverse of `str(plan)`, also for texts of earlier versions; PlanError for others, an unknown decision or a
    malformed value."""
    return CpuPlan(**read(text, VERSION, _READERS, _OPTIONAL))


def check(plan: CpuPlan, canonical: Canonical) -> CpuPlan:
    """The plan itself if it fits this canonical form, else PlanError with the first rule broken."""
    rank = len(canonical.axes)
    for name in ("tile", "block"):
        values = getattr(plan, name)
        if len(values) != rank or min(values) < 1:
            raise PlanError(f"plan {name}={shown(values)} needs {rank} positive extents")
    for name in ("order", "inner"):
        if sorted(getattr(plan, name)) != list(range(rank)):
            raise PlanError(f"plan {name}={shown(getattr(plan, name))} is not a permutation of {rank} axes")
    if len(plan.panel) not in (0, rank):
        raise PlanError(f"plan panel={shown(plan.panel)} needs {rank} extents, or none")
    _check_multiples(plan, canonical, ("tile", "block"))
    _check_multiples(plan, canonical, ("panel", "tile"))
    if plan.block_elements > MAX_BLOCK:
        raise PlanError(
            f"plan block={shown(plan.block)} has {plan.block_elements} elements, more than {MAX_BLOCK}"
        )
    if not 0 <= plan.parallel <= rank:
        raise PlanError(f"plan parallel={plan.parallel} exceeds the {rank} loops")
    if plan.prefetch < 0:
        raise PlanError(f"plan prefetch={plan.prefetch} is negative")
    if plan.unaligned is Staging.A:
        raise PlanError("plan unaligned=a is no way to store: the choices are none, b, carry, shift")
    if plan.loads not in LOADS:
        raise PlanError(f"plan loads={plan.loads} is no length of a load: the choices are 16, 32")
    _check_static(plan, canonical)
    return plan


def _check_multiples(plan: CpuPlan, canonical: Canonical, names: tuple[str, str]) -> None:
    outer, inner = (getattr(plan, name) for name in names)
    for axis, whole, part in zip(canonical.axes, outer, inner, strict=False):
        if not spans(whole, axis.extent) and (whole < 1 or whole % part):
            raise PlanError(f"plan {names[0]} {whole} is not a multiple of its {names[1]} {part}")


def _check_static(plan: CpuPlan, canonical: Canonical) -> None:
    sizes = [size for axis in canonical.axes for size in (axis.extent, axis.stride_a, axis.stride_b)]
    if not any(isinstance(size, Param) for size in sizes):
        return
    if plan.staging is not Staging.NONE:
        raise PlanError(f"plan staging={plan.staging.value} needs extents that are known when compiling")


def spans(tile: int, extent: Size) -> bool:
    """True where one tile is known to cover the whole axis."""
    return not isinstance(extent, Param) and tile >= extent
