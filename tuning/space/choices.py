"""The decisions a plan is made of: what the user may force, and the usual choices for each."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING, SupportsIndex

from ttc_llvm import arguments
from ttc_llvm.errors import OptionError
from ttc_llvm.lazy_dataclasses import dataclass, replace
from ttc_llvm.lowering.peeling import has_aligned_rows
from ttc_llvm.lowering.plan import Fetch, Store
from ttc_llvm.lowering.writing import writes_vectors
from ttc_llvm.machine.target import Target
from ttc_llvm.problem.canonical import Canonical, static
from ttc_llvm.problem.kinds import Alpha, Beta

from .blocks import blocks, same_unit_axis, unit_axes

DISTANCES = {  # of prefetches, by what they load
    Fetch.BLOCKS: (0, 1, 2, 4, 6, 8, 12),
    Fetch.FAR: (0, 2, 4, 6, 8, 12, 16),
    Fetch.ROWS: (1, 2),
}
SILENT = (Fetch.BLOCKS, 0)  # nothing is prefetched
PANELS = (1 << 10, 2 << 10, 4 << 10)  # bytes of a panel's sides
USUAL_DISTANCE = {Fetch.BLOCKS: 6, Fetch.FAR: 8, Fetch.ROWS: 1}
ROWS_ALONE = 512  # bytes: shorter misaligned rows do not pay for non-temporal stores of their own
CACHED = 2  # tensors up to so many times one core's L2 are expected in the caches


@dataclass(frozen=True, slots=True)
class Forced:
    """Decisions that the user took; None = free. blockings: (A, B) tile sides in elements along the stride-1 axes."""

    streaming: bool | None = None
    prefetch: tuple[int, ...] | None = None
    blockings: tuple[tuple[int, int], ...] | None = None
    orders: tuple[tuple[int, ...], ...] | None = None  # of the tile loops, outermost first, canonical axes

    if TYPE_CHECKING:  # what is taken; the fields say what is kept

        def __init__(
            self,
            streaming: bool | None = None,
            prefetch: Iterable[SupportsIndex] | None = None,
            blockings: Iterable[Iterable[SupportsIndex]] | None = None,
            orders: Iterable[Iterable[SupportsIndex]] | None = None,
        ) -> None: ...

    def __post_init__(self) -> None:
        arguments.put(self, _RULES, OptionError, "forced ")

    def __str__(self) -> str:
        fields = {
            "streaming": self.streaming,
            "prefetch": self.prefetch,
            "blockings": self.blockings,
            "orders": self.orders,
        }
        return " ".join(f"{name}={value}" for name, value in fields.items() if value is not None)


_DISTANCES = arguments.each(arguments.between(0), "distances of 0 or more")
_SIDES = arguments.each(arguments.between(1), "positive sides", 2)
_RULES = {
    "streaming": arguments.optional(arguments.flag),
    "prefetch": arguments.optional(_DISTANCES),
    "blockings": arguments.optional(arguments.each(_SIDES, "pairs of sides")),
    "orders": arguments.optional(arguments.each(arguments.integers, "orders of axes")),
}
FREE = Forced()


def settled(forced: Forced, target: Target) -> Forced:
    """The same decisions, and that nothing is prefetched where a machine has no instruction for it."""
    if target.prefetches or forced.prefetch is not None:
        return forced
    return replace(forced, prefetch=(0,))


def block_fetch(canonical: Canonical, target: Target) -> Fetch:
    """The better cache for prefetched lines of a micro-tile: L1, or L2 where the machine's L1 has room for few lines
    in flight, unless A and B share their unit-stride axis: rows are then a few long runs."""
    return Fetch.FAR if target.far and not same_unit_axis(canonical) else Fetch.BLOCKS


def fetches(canonical: Canonical, target: Target) -> tuple[tuple[Fetch, int], ...]:
    """Kinds of prefetches on this machine, each at its usual distance."""
    return tuple((fetch, USUAL_DISTANCE[fetch]) for fetch in (Fetch.ROWS, block_fetch(canonical, target)))


def usual_fetch(canonical: Canonical, target: Target) -> tuple[Fetch, int]:
    """The usual prefetches: none where A and B share their unit-stride axis, because hardware prefetches rows."""
    if same_unit_axis(canonical):
        return SILENT
    fetch = block_fetch(canonical, target)
    return fetch, USUAL_DISTANCE[fetch]


def can_stream(canonical: Canonical) -> bool:
    """True where non-temporal stores can write B: it is not read, and there are runs of it."""
    return canonical.kinds.beta is Beta.ZERO and canonical.axes[0].stride_b == 1


def stores(canonical: Canonical, target: Target) -> tuple[Store, ...]:
    """The strategies by which B may be written, the usual one first.

    Non-temporal stores pay where B does not fit the caches anyway, and need whole vectors: of micro-tiles where every
    row of B starts on a vector boundary once its base does, else of longer runs, put together in scratch.
    """
    size = canonical.elements * (canonical.a.itemsize + canonical.b.itemsize)
    if not target.streams or not can_stream(canonical) or size <= CACHED * target.l2:
        return (Store.CACHED,)
    return (*_non_temporal(canonical, target), Store.CACHED)


def _non_temporal(canonical: Canonical, target: Target) -> tuple[Store, ...]:
    if canonical.kinds.alpha is Alpha.ZERO or not can_stream(canonical):
        return (Store.ALIGNED,)
    if not same_unit_axis(canonical) and writes_vectors(canonical, blocks(canonical, target)[0], target.line):
        return (Store.ALIGNED, Store.COMBINED)
    if has_aligned_rows(canonical, target.vector_bits // 8):
        return (Store.ALIGNED,) if same_unit_axis(canonical) else (Store.ALIGNED, Store.COMBINED)
    row = static(canonical.axes[0].extent) * canonical.b.itemsize
    rows = same_unit_axis(canonical) and row >= ROWS_ALONE
    return (Store.COMBINED, Store.ALIGNED) if rows else (Store.COMBINED,)


def allowed_stores(canonical: Canonical, target: Target, forced: Forced) -> tuple[Store, ...]:
    """Those that the user's decision leaves; never none."""
    if forced.streaming is None:
        return stores(canonical, target)
    return _non_temporal(canonical, target) if forced.streaming else (Store.CACHED,)


def panel(canonical: Canonical, tile: tuple[int, ...], size: int) -> tuple[int, ...]:
    """A panel with sides of about `size` bytes along A's and B's unit axes, one tile along the others; () where the
    axes are hardly longer than that."""
    units = unit_axes(canonical)
    found = list(tile)
    for k, item in zip(units, (canonical.a.itemsize, canonical.b.itemsize), strict=True):
        whole = canonical.extents[k]
        found[k] = max(1, size // item // tile[k]) * tile[k]
        if 2 * found[k] > whole:
            found[k] = max(whole, tile[k])
    if all(found[k] >= canonical.extents[k] for k in units):
        return ()
    return tuple(found)


@lru_cache(maxsize=16)
def tile_orders(canonical: Canonical) -> tuple[tuple[int, ...], ...]:
    """Orders of the tile loops, outermost first: as B is stored, the same with A's unit axis innermost, as A is
    stored, by both strides, by the smaller one, and B's with A's unit axis outermost."""
    axes = range(len(canonical.axes))
    a = [abs(static(s)) for s in canonical.strides("a")]
    b = [abs(static(s)) for s in canonical.strides("b")]
    by_a, by_b = canonical.along("a"), canonical.along("b")
    both = tuple(sorted(axes, key=lambda k: -(a[k] + b[k])))
    least = tuple(sorted(axes, key=lambda k: -min(a[k], b[k])))
    unit, _ = unit_axes(canonical)
    outermost = (unit, *(k for k in by_b if k != unit))
    innermost = (*(k for k in by_b if k != unit), unit)
    return tuple(dict.fromkeys((by_b, innermost, by_a, both, least, outermost)))


@lru_cache(maxsize=16)
def inner_orders(canonical: Canonical) -> tuple[tuple[int, ...], ...]:
    """Orders of the loops inside a tile: B's or A's smallest stride innermost."""
    return tuple(dict.fromkeys((canonical.along("b"), canonical.along("a"))))
