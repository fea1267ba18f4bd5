"""Lowering: a GPU plan applied to a canonical form."""

from __future__ import annotations

from math import gcd, prod

from ...errors import PlanError
from ...lazy_dataclasses import replace
from ...machine.gpu_target import GpuTarget
from ...problem.canonical import Canonical
from ...problem.kinds import Alpha
from . import plan as gpu_plan
from .nest import BlockBody, Digit, GpuNest, GridLoop, Phase, SharedTile
from .plan import GpuPlan, Shared
from .residency import spread
from .runs import Run, by_stride, run_axes, run_of, sides, widest

MOST_THREADS = 1024  # of a block on every machine
FEW_ACCESSES = 16  # of one thread to one tensor, element by element: beyond, single bytes may spill
LEAST_SHARED = 48 << 10  # bytes of shared memory that a block has on every machine
LEAST_BLOCKS = (1 << 22) - 1  # that a grid may have on every machine


def lower(canonical: Canonical, plan: GpuPlan, target: GpuTarget) -> GpuNest:
    """The nest of a plan; PlanError where the plan does not fit the canonical form or the GPU."""
    gpu_plan.check(plan, canonical, target)
    if canonical.kinds.alpha is Alpha.ZERO and plan.shared is not Shared.NONE:
        raise PlanError(f"plan shared={plan.shared.value} has nothing to put there: alpha = 0 reads no A")
    if not canonical.elements:
        plan = replace(plan, shared=Shared.NONE, vector=(1, 1))
    shared = None if plan.shared is Shared.NONE else _shared_tile(canonical, plan)
    full = _body(canonical, plan, False)
    edge = _body(canonical, plan, True) if _remainders(canonical, plan) else None
    nest = GpuNest(
        canonical, plan.tile, _loops(canonical, plan), plan.threads, shared, plan.vector, full, edge
    )
    used = max(phase.threads for phase in nest.phases)
    threads = min(plan.threads, -(-used // target.warp) * target.warp)
    return _checked(replace(nest, threads=threads), plan, target)


def unaligned(canonical: Canonical, plan: GpuPlan) -> GpuPlan:
    """The plan for tensors whose addresses are multiples of an element and no more: single elements at a time.

    It fits wherever the plan fits. Where each thread would have too many accesses, blocks get more threads; where they
    have all there are, tiles are smaller. Gaps in shared memory are given up where there is no room for them.
    """
    smaller = _few_accesses(canonical, plan)
    threads = max(plan.threads, min(MOST_THREADS, 1 << (prod(smaller.tile) // FEW_ACCESSES).bit_length()))
    single = replace(smaller, threads=threads, vector=(1, 1), block=(1,) * len(plan.tile), padding=0)
    if plan.shared is Shared.NONE or not canonical.elements:
        return single
    room = max(_shared_tile(canonical, plan).elements, LEAST_SHARED // canonical.a.itemsize)
    gaps = replace(single, padding=1)
    return gaps if _shared_tile(canonical, gaps).elements <= room else single


def _few_accesses(c: Canonical, plan: GpuPlan) -> GpuPlan:
    """The plan with tiles of few elements a thread of the largest block; itself where a grid has not so many blocks."""
    tile = list(plan.tile)
    while prod(tile) > FEW_ACCESSES * MOST_THREADS:
        longest = max(range(len(tile)), key=lambda k: tile[k])
        tile[longest] = -(-tile[longest] // 2)
    panel = tuple(p // t * new for p, t, new in zip(plan.panel, plan.tile, tile, strict=False))
    found = replace(plan, tile=tuple(tile), panel=panel)
    return found if prod(loop.count for loop in _loops(c, found)) <= LEAST_BLOCKS else plan


def register_block(canonical: Canonical, plan: GpuPlan) -> tuple[int, int]:
    """The two axes of the register block: where vectors of A and of B lie; -1 for a tile of one element."""
    first = [run_axes(canonical, plan.tile, side)[:1] or (-1,) for side in ("a", "b")]
    return first[0][0], first[1][0]


def _remainders(c: Canonical, plan: GpuPlan) -> tuple[int, ...]:
    return tuple(k for k, (e, t) in enumerate(zip(c.extents, plan.tile, strict=True)) if e % t)


def _loops(c: Canonical, plan: GpuPlan) -> tuple[GridLoop, ...]:
    panel = plan.panel or tuple(max(1, extent) for extent in c.extents)
    outer = [GridLoop(k, panel[k], max(1, -(-c.extents[k] // panel[k]))) for k in plan.order]
    inner = [
        GridLoop(k, plan.tile[k], -(-min(panel[k], max(1, c.extents[k])) // plan.tile[k])) for k in plan.order
    ]
    return tuple(loop for loop in (*outer, *inner) if loop.count > 1)


def _body(c: Canonical, plan: GpuPlan, edge: bool) -> BlockBody:
    remainders = _remainders(c, plan) if edge else ()
    if plan.shared is Shared.NONE:
        return BlockBody(None, _direct(c, plan, edge), remainders)
    return BlockBody(_load(c, plan, edge), _phase(c, plan, "b", _vectors(c, plan, "b", edge)), remainders)


def _vectors(c: Canonical, plan: GpuPlan, side: str, edge: bool) -> Run:
    """Where the plan's vectors of a side lie; in remainders they may be shorter."""
    wanted = plan.vector[side == "b"]
    if edge:
        wanted = widest(c, plan.tile, side, wanted, True)
    found = run_of(c, plan.tile, side, wanted, edge)
    if found is None:
        raise PlanError(
            f"plan vector={wanted} of {side.upper()} does not fit tile {plan.tile}: rows would not be aligned"
        )
    return found


def _load(c: Canonical, plan: GpuPlan, edge: bool) -> Phase:
    run = _vectors(c, plan, "a", edge)
    axis_a, axis_b = register_block(c, plan)
    rows = plan.block[axis_b] if axis_b >= 0 and axis_b != axis_a else 1
    expected = [1] * len(plan.tile)
    if rows > 1:
        expected[axis_a], expected[axis_b] = plan.vector[0], rows
    if list(plan.block) != expected:
        raise PlanError(
            f"plan block={plan.block} is not one vector of A times some of its rows: {tuple(expected)}"
        )
    if rows > 1 and (len(run.axes) > 1 or plan.shared is not Shared.B):
        raise PlanError(f"plan block={plan.block} needs vectors of A along one axis, and shared=b")
    if edge and rows > 1:
        rows = gcd(rows, c.extents[axis_b] % plan.tile[axis_b])
    return _phase(c, plan, "a", run, axis_b if rows > 1 else -1, rows)


def _direct(c: Canonical, plan: GpuPlan, edge: bool) -> Phase:
    """Items are vectors along B's first axis, loaded from A by the same threads."""
    run = _vectors(c, plan, "b", edge)
    if len(run.axes) > 1:
        raise PlanError(
            f"plan vector={plan.vector[1]} of B lies across axes: tiles without shared memory need one axis"
        )
    if set(plan.block) != {1}:
        raise PlanError(f"plan block={plan.block} needs shared memory")
    if not edge and plan.vector[0] > 1 and run.axes != _vectors(c, plan, "a", edge).axes:
        raise PlanError(f"plan vector={plan.vector[0]} of A lies along another axis than that of B")
    return _phase(c, plan, "b", run)


def _phase(c: Canonical, plan: GpuPlan, side: str, run: Run, row_axis: int = -1, rows: int = 1) -> Phase:
    """The digits of a walk in a side's order: its run first, so that neighbouring threads share lines."""
    items: list[tuple[tuple[int, ...], int, int]] = []
    if run.axes:
        length = 1
        for k in run.axes:
            length *= plan.tile[k]
        items.append((run.axes, run.vector, length // run.vector))
    for k in by_stride(plan.tile, sides(c, side)):
        if k not in run.axes:
            step = rows if k == row_axis else 1
            items.append(((k,), step, plan.tile[k] // step))
    room, digits = plan.threads, []
    for axes, step, count in items:
        rounds = -(-count // min(count, room))
        threads = -(-count // rounds)
        digits.append(Digit(axes, step, count, threads))
        room //= threads
    return Phase(run, tuple(digits), row_axis, rows)


def _shared_tile(c: Canonical, plan: GpuPlan) -> SharedTile:
    """Runs of one side first; then the other side's first axis, with a gap after every vector along it."""
    side, other = ("a", "b") if plan.shared is Shared.A else ("b", "a")
    own, across = (_vectors(c, plan, which, False) for which in (side, other))
    run = _unbroken(run_axes(c, plan.tile, side), own.axes, across.axes[:1])
    rest = [k for k in by_stride(plan.tile, sides(c, other)) if k not in run]
    group = across.vector if len(across.axes) == 1 and rest[:1] == list(across.axes) else 1
    strides, step, split, outer = [0] * len(plan.tile), 1, -1, 0
    for k in run:
        strides[k], step = step, step * plan.tile[k]
    for number, k in enumerate(rest):
        strides[k] = step
        if number == 0 and plan.padding:
            split, outer = k, step * group + plan.padding
            step = plan.tile[k] // group * outer
        else:
            step *= plan.tile[k]
    tile = SharedTile(tuple(strides), split, group, outer, 0)
    last = tuple(extent - 1 for extent in plan.tile)
    return replace(tile, elements=tile.offset(last) + 1)


def _unbroken(run: tuple[int, ...], vectors: tuple[int, ...], across: tuple[int, ...]) -> tuple[int, ...]:
    """The part of a run that has no gaps in shared memory: all axes of vectors, and no more than the axes before the
    other side's first one, along which gaps are."""
    stop = next((n for n, k in enumerate(run) if k in across), len(run))
    return run[: max(stop, len(vectors))]


# What a nest asks for (of how much there is, or may be) in words.
_BLOCKS = "needs {} blocks, more than the {} of {}"
_SHARED = "needs {} bytes of shared memory, more than {} of {}"
_HELD = "block has {} bytes, more than {} of a thread's registers"
_ACCESSES = "has {} accesses to a tensor in each thread, more than {}"
_APART = "has {} accesses to single elements of shared memory in each thread, more than {}"


def _checked(nest: GpuNest, plan: GpuPlan, target: GpuTarget) -> GpuNest:
    size = nest.canonical.a.itemsize
    apart = [phase.rounds * phase.run.vector for phase in nest.phases if spread(nest, phase)]
    for found, most, words in (
        (nest.grid, target.max_blocks, _BLOCKS),
        (nest.shared.elements * size if nest.shared else 0, target.shared_bytes, _SHARED),
        (prod(plan.block) * size, gpu_plan.MAX_REGISTER_BYTES, _HELD),
        (max(phase.rounds * phase.rows for phase in nest.phases), gpu_plan.MAX_ACCESSES, _ACCESSES),
        (max(apart, default=0), gpu_plan.MAX_SPREAD, _APART),
    ):
        if found > most:
            raise PlanError(f"plan {words.format(found, most, target)}")
    for count, t in zip(plan.vector, (nest.canonical.a, nest.canonical.b), strict=True):
        if count > 1 and count * t.itemsize > target.vector_bytes:
            raise PlanError(
                f"plan vector={count} of {t} is wider than the {target.vector_bytes} bytes of one access"
            )
    return nest
