"""Parts of tiles of every store strategy: micro-tiles straight from A to B, and rows of B."""

from __future__ import annotations

from ...lazy_dataclasses import replace
from ...machine.target import Target
from ...problem.canonical import Canonical
from ..layout import run_axes
from ..nodes import Bind, Loop, Micro, Node, Row
from ..operands import Op, Prefetch, Space, View
from ..plan import CpuPlan, Fetch, spans
from ..shared_run import mirrored_axis


def views(canonical: Canonical) -> tuple[View, View]:
    """A and B, whole."""
    return (
        View(Space.A, canonical.a, canonical.strides("a")),
        View(Space.B, canonical.b, canonical.strides("b")),
    )


def operation(canonical: Canonical) -> Op:
    """The operation on an element on its way from A to B."""
    return Op(canonical.kinds.alpha, canonical.kinds.beta, canonical.conjugate, canonical.between)


def direct_leaf(canonical: Canonical, plan: CpuPlan, loads: int) -> Micro:
    """The plan's micro-tile, straight from A to B. loads: bytes of the longest load of A, 0 = a register's."""
    source, sink = views(canonical)
    grain = tuple(0 if spans(b, axis.extent) else b for b, axis in zip(plan.block, canonical.axes, strict=True))
    return Micro(
        source, sink, operation(canonical), plan.block, grain,
        prefetch=prefetch_of(plan), non_temporal=plan.non_temporal, loads=loads,
    )  # fmt: skip


def written_backwards(canonical: Canonical, plan: CpuPlan) -> int | None:
    """The axis along which tiles are written from the end past the caches: that of mirrored rows whose next ones are
    prefetched. Hardware then sees A forwards, and it is read 1.1 to 1.3 times as fast."""
    ahead = plan.fetch is Fetch.ROWS and plan.prefetch > 0
    return mirrored_axis(canonical) if ahead and plan.non_temporal else None


def prefetch_of(plan: CpuPlan) -> Prefetch | None:
    """The prefetches of the plan's micro-tiles."""
    if not plan.prefetch:
        return None
    return Prefetch(plan.prefetch, plan.tile if plan.fetch is Fetch.ROWS else (), plan.fetch is not Fetch.BLOCKS)


def has_masks(block: tuple[int, ...], sides: tuple[View, View], target: Target) -> bool:
    """True where masks serve edges: A and B have vector runs and the machine masks of their element sizes."""
    return all(target.has_masks(view.dtype.itemsize) and run_axes(block, view.strides) for view in sides)


def row_loops(canonical: Canonical, plan: CpuPlan, row: Row, order: tuple[int, ...]) -> tuple[Node, ...]:
    """A row, for every row of a tile."""
    around = row_axes(plan, row.axes, order)
    following = row.target.strides[around[-1]] if around else 0
    return each_row(canonical, around, replace(row, following=following if isinstance(following, int) else 0))


def row_axes(plan: CpuPlan, run: tuple[int, ...], order: tuple[int, ...]) -> list[int]:
    """The axes along which a tile has several rows, in this order."""
    return [k for k in order if k not in run and plan.tile[k] > 1]


def each_row(canonical: Canonical, around: list[int], leaf: Node) -> tuple[Node, ...]:
    """Loops over the rows of a tile."""
    body = (leaf,)
    for k in reversed(around):
        body = (Loop(k, canonical.axes[k].extent, 1, Bind.SERIAL, body),)
    return body
