"""Hypothesis strategies: GPU plans that fit a canonical form, and cases with them."""

from __future__ import annotations

from math import prod

from case import Case
from hypothesis import assume
from hypothesis import strategies as st
from strategies import cases

from ttc_llvm.errors import PlanError
from ttc_llvm.lowering.gpu.lower import lower, register_block
from ttc_llvm.lowering.gpu.plan import GpuPlan, Shared
from ttc_llvm.lowering.gpu.runs import run_axes, run_of, sides, widest
from ttc_llvm.machine import gpu_target as gpu_target
from ttc_llvm.machine.gpu_target import GpuTarget
from ttc_llvm.problem.canonical import Canonical
from ttc_llvm.problem.kinds import Alpha

TILES = (16, 32, 8, 64, 4, 2, 3, 5, 12, 24, 1)
THREADS = (64, 128, 256, 32, 96, 1)
ROOM = 4096  # bytes of a tile: small blocks run fast where threads are fibres


@st.composite
def gpu_plans(draw: st.DrawFn, c: Canonical, target: GpuTarget) -> GpuPlan:
    """Any plan that fits: tiles along any axes, all widths, with and without shared memory, register blocks, panels."""
    tile = draw(_tiles(c))
    shared = draw(st.sampled_from((Shared.B, Shared.A, Shared.NONE)))
    if c.kinds.alpha is Alpha.ZERO:
        shared = Shared.NONE
    vector = draw(_vectors(c, tile, target, shared))
    block, order = [1] * len(tile), draw(st.permutations(range(len(tile))))
    axis_a, axis_b = register_block(c, GpuPlan(tile, tuple(block), tuple(order), 32, vector))
    simple = run_of(c, tile, "a", vector[0])
    if shared is Shared.B and axis_a != axis_b and simple is not None and len(simple.axes) == 1:
        rows = draw(st.sampled_from((4, 2, 8, 16, 1)))
        if rows > 1 and tile[axis_b] % rows == 0 and rows * vector[0] * c.a.itemsize <= 256:
            block[axis_a], block[axis_b] = vector[0], rows
    panel = draw(st.just(()) | st.tuples(*(st.sampled_from((e, 2 * e, 3 * e)) for e in tile)))
    padding = draw(st.sampled_from((0, 1, vector[1], 3))) if shared is not Shared.NONE else 0
    least = prod(tile) * c.a.itemsize // 256
    threads = draw(st.sampled_from([t for t in THREADS if t >= least] or [256]))
    plan = GpuPlan(tile, tuple(block), tuple(order), threads, vector, shared, padding, panel)
    assume(not _overfull(c, plan, target))
    return plan


def _overfull(c: Canonical, plan: GpuPlan, target: GpuTarget) -> bool:
    """Whether odd extents leave so many threads idle that the others have too much to do."""
    try:
        lower(c, plan, target)
    except PlanError as error:
        if "accesses" in str(error):
            return True
        raise
    return False


@st.composite
def _tiles(draw: st.DrawFn, c: Canonical) -> tuple[int, ...]:
    """Extents along the shortest strides first, until the room is used up."""
    room = ROOM // c.a.itemsize
    tile = [1] * len(c.axes)
    strides_a, strides_b = sides(c, "a"), sides(c, "b")
    for k in sorted(range(len(tile)), key=lambda k: (min(abs(strides_a[k]) or 1 << 62, strides_b[k]), k)):
        bound = min(max(1, c.extents[k]), room // prod(tile))
        tile[k] = min(draw(st.sampled_from((c.extents[k], *TILES))), bound) or 1
    return tuple(tile)


@st.composite
def _vectors(
    draw: st.DrawFn, c: Canonical, tile: tuple[int, ...], target: GpuTarget, shared: Shared
) -> tuple[int, int]:
    limits = [draw(st.sampled_from((16, 16, 8, 4))) // t.itemsize or 1 for t in (c.a, c.b)]
    a, b = (widest(c, tile, side, limit) for side, limit in zip("ab", limits, strict=True))
    if shared is not Shared.NONE:
        return a, b
    a, b = _narrowed(c, tile, "a", a), _narrowed(c, tile, "b", b)
    return (a if run_axes(c, tile, "a")[:1] == run_axes(c, tile, "b")[:1] else 1), b


def _narrowed(c: Canonical, tile: tuple[int, ...], side: str, vector: int) -> int:
    """The longest vector that lies along one axis."""
    run = run_of(c, tile, side, vector)
    return vector if run is None or len(run.axes) <= 1 else _narrowed(c, tile, side, vector // 2)


@st.composite
def gpu_executions(
    draw: st.DrawFn, targets: tuple[str, ...], elements: int = 12_000
) -> tuple[Case, GpuPlan, GpuTarget]:
    """A case, a plan for it, and the GPU that decides what fits."""
    case = draw(cases(elements))
    c = case.placed.canonical
    assume(c.elements > 0)
    target = gpu_target.find(draw(st.sampled_from(targets)))
    return case, draw(gpu_plans(c, target)), target
