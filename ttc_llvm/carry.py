"""Runs of B that go on from one tile to the next.

A tile ends within a line of B nearly everywhere. What it leaves of that line waits, in a slot for each of its rows,
until the next tile of the same run brings the rest: lines are then written whole, and once. Only loops over tiles that
one thread walks in order can hand a run on.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from .canonical import Canonical, static
from .layout import run_axes
from .nest import Buffer, Carry, Space, View
from .plan import CpuPlan, Staging
from .target import Target


@dataclass(frozen=True, slots=True)
class Chain:
    """How runs go on. run: elements of a whole one; inside: loops over tiles inside of those along which runs go on;
    buffer: the slots, at the start of scratch; carry: what a row needs to know of them."""

    run: int
    inside: int
    buffer: Buffer
    carry: Carry


def chain(canonical: Canonical, plan: CpuPlan, target: Target) -> Chain | None:
    """How the plan's runs go on; None where they do not, or where a tile's are shorter than a line."""
    if plan.staging is not Staging.CARRY or not plan.streaming:
        return None
    extents, strides = canonical.extents, [static(stride) for stride in canonical.strides("b")]
    tile = tuple(map(min, plan.tile, extents))
    run = run_axes(tile, canonical.strides("b"))
    elements, rest = divmod(max(target.line, target.vector_bits // 8), canonical.b.itemsize)
    if rest or not run or strides[run[0]] != 1 or prod(tile[k] for k in run) < elements:
        return None
    loops = plan.loops(extents)
    tasks = len(plan.grid(extents))
    wanted: int | None = run[-1] if tile[run[-1]] < extents[run[-1]] else _next(tile, strides, extents, run[-1])
    found: list[tuple[int, int]] = []
    inside = 0
    for number in reversed(range(tasks, len(loops))):
        axis, step = loops[number]
        if axis != wanted:
            if found:
                break
            inside += 1
            continue
        found.insert(0, (axis, step))
        ends = any(other == axis for other, _ in loops[:number])
        wanted = None if ends else _next(tile, strides, extents, axis)
    if not found:
        return None
    around = dict(loops[: len(loops) - inside])  # the innermost step of each axis
    rows = [1 if k in run else min(around.get(k, extent), extent) for k, extent in enumerate(extents)]
    buffer = _slots(canonical, rows, elements, target.line)
    outer = dict(loops[: len(loops) - inside - len(found)])  # panels that end a run
    whole = prod(min(outer.get(k, extents[k]), extents[k]) for k in {*run, *(k for k, _ in found)})
    return Chain(whole, inside, buffer, Carry(View(Space.CARRY, canonical.a, buffer.strides), tuple(found), elements))


def _slots(canonical: Canonical, rows: list[int], elements: int, line: int) -> Buffer:
    """So many slots per axis, in B's order."""
    strides, step = [0] * len(rows), elements
    for k in sorted(range(len(rows)), key=lambda k: static(canonical.axes[k].stride_b)):
        strides[k] = step
        step *= rows[k]
    unit = max(1, line // canonical.a.itemsize)
    return Buffer(Space.CARRY, canonical.a, tuple(strides), -(-step // unit) * unit, line)


def _next(tile: tuple[int, ...], strides: list[int], extents: tuple[int, ...], axis: int) -> int | None:
    """The axis along which a run goes on that has come to the end of this one; None where the tile has several rows
    along it, or other memory lies between."""
    length = strides[axis] * extents[axis]
    return next((k for k, stride in enumerate(strides) if stride == length and tile[k] == 1 < extents[k]), None)
