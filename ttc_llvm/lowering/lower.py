"""Lowering: a plan applied to a canonical form gives the loop nest. Pure; no LLVM."""

from __future__ import annotations

from collections.abc import Callable

from ..lazy_dataclasses import replace
from ..machine.target import Target
from ..problem.canonical import Canonical, Param
from .nest import LoopNest, trips
from .nodes import Bind, Fence, Loop, Node, OpenSlots, Orbit, Stage, every
from .plan import CpuPlan, Store, spans
from .plan_checks import check
from .stores.buffered import buffered
from .stores.direct import micro_tiles, rows
from .stores.joined import joined
from .stores.orbits import in_orbits, on_lines, task_stride
from .stores.peeled import peeled
from .stores.summed import axes_of_lines, panels, summed
from .writing import Writing, resolve

_TILES: dict[Store, Callable[[Canonical, Writing, Target, int], tuple[Node, ...]]] = {
    Store.CACHED: micro_tiles,
    Store.ALIGNED: micro_tiles,
    Store.ROWS: rows,
    Store.PEELED: peeled,
    Store.BUFFERED: buffered,
    Store.COMBINED: buffered,
    Store.JOINED: joined,
}
_ROW_BY_ROW = (Store.ROWS, Store.ALIGNED)
LONG_ROW = 4 << 10  # bytes: the lines at both ends of shorter rows are better written in order


def lower(canonical: Canonical, plan: CpuPlan, target: Target, loads: int = 0) -> LoopNest:
    """The nest of this plan. Raises PlanError where the plan does not fit the canonical form.

    loads: bytes of the longest load of A, where registers can be put together from several and no mask is needed; 0 =
    a register's. One plan serves every kind of alpha and beta (`resolve`).
    """
    check(plan, canonical)
    if any(axis.extent == 0 for axis in canonical.axes):
        return LoopNest(canonical, (), _params(canonical), 0)
    writing = resolve(canonical, plan, target)
    plan, chain = writing.plan, writing.chain
    tiles = in_orbits if canonical.in_place else summed if canonical.terms else _TILES[writing.store]
    body = tiles(canonical, writing, target, loads)
    lined = dict.fromkeys(axes_of_lines(canonical, plan), writing.grain) if canonical.terms else {}
    grains = lined or on_lines(canonical, plan, target)
    sizes = tuple(axis.extent for axis in canonical.axes)
    tasks = len(plan.grid(sizes))
    around = list(enumerate(plan.loops(sizes)))
    of_panels = sum(not spans(n, extent) for n, extent in zip(plan.panel, sizes, strict=False))
    for number, (k, step) in reversed(around):
        if chain and number == len(around) - chain.inside - 1:
            body = (OpenSlots(chain.buffer, body),)
        if chain and canonical.terms and number == of_panels - 1:
            body = panels(canonical, plan, body)
        bind = Bind.TASK if number < tasks else Bind.SERIAL
        loop = Loop(k, sizes[k], step, bind, body, grain=grains.get(k, 0))
        body = (replace(loop, stride=_stride(canonical, writing, loop)) if bind is Bind.TASK else loop,)
    if plan.non_temporal:
        body = (*body, Fence())
    return LoopNest(canonical, body, _params(canonical), _scratch_bytes(body), writing.alignment)


def _stride(canonical: Canonical, writing: Writing, loop: Loop) -> int:
    """Of a task loop. Long rows that A has backwards are written backwards: hardware then sees A forwards, and it is
    read 1.2 to 1.6 times as fast."""
    row, step = canonical.axes[0], canonical.axes[loop.axis].stride_a
    if not isinstance(loop.extent, int) or not isinstance(row.extent, int) or not isinstance(step, int):
        return task_stride(canonical, writing.plan, loop)
    is_long = row.stride_a == 1 and row.extent * canonical.b.itemsize >= LONG_ROW and writing.plan.prefetch == 0
    goes_back = step < 0 and is_long and writing.store in _ROW_BY_ROW
    return max(1, trips(loop) - 1) if goes_back else task_stride(canonical, writing.plan, loop)


def _params(canonical: Canonical) -> tuple[Param, ...]:
    sizes = {s for axis in canonical.axes for s in (axis.extent, axis.stride_a, axis.stride_b)}
    return tuple(sorted((s for s in sizes if isinstance(s, Param)), key=lambda p: p.index))


def _scratch_bytes(nodes: tuple[Node, ...]) -> int:
    return max((node.buffer.end for node in every(nodes) if isinstance(node, OpenSlots | Stage | Orbit)), default=0)
