"""The planner of layouts in plain Python: what `ir_builders.native_planner` has to compute."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np

from ttc_llvm.arrays import family, placing
from ttc_llvm.arrays.family import Family, Form
from ttc_llvm.arrays.scalings import PLAIN, Scaling
from ttc_llvm.ir_builders import planner_fields as fields
from ttc_llvm.ir_builders.native_planner import EDGE, LEAST_FILLED, MOST_STEP, TASK_BYTES
from ttc_llvm.ir_builders.picked_rows import LINE
from ttc_llvm.ir_builders.planner_fields import RANKS
from ttc_llvm.ir_builders.pool_layout import HELD_BYTES, SERIAL_BYTES
from ttc_llvm.ir_builders.prepared_calls import LEAST_BYTES
from ttc_llvm.ir_builders.row_planner import (
    ALONG,
    COPIED,
    CROSSING,
    ITEM_BYTES,
    LEAST_GATHERED,
    LEAST_ROWS,
    LONG_COPIED,
    MOST_REACH,
    ROW_BYTES,
    SHORT_SIDE,
    TILE_BYTES,
)
from ttc_llvm.ir_builders.short_rows import (
    FAR_EDGE,
    GATHERED_AXES,
    LONGEST,
    MOST_AXES,
    MOST_GATHERED,
    SHORT,
    TILED,
)
from ttc_llvm.lowering.items import as_items
from ttc_llvm.lowering.plan import CpuPlan
from ttc_llvm.machine.target import Target
from ttc_llvm.problem.canonical import Axis, Canonical, Param, Placed, static

STEP_BYTES = {Form.ROWS: 128, Form.COLUMNS: 512, Form.ELEMENTS: 16}


@dataclass(frozen=True, slots=True)
class Strided:
    """As much of an array as planning asks for."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: np.dtype[Any]


def planned(of: Strided, to: Strided, scale: Scaling, odd: int, target: Target, budget: int) -> tuple[Any, ...] | int:
    """The family, the words of the prepared call behind the kernel's address but for the address of parameters, and
    these; or the reason why there is none."""
    x: Any = of
    y: Any = to
    if scale is not PLAIN and not (placing.is_regular(x) and placing.is_regular(y)):
        return fields.IRREGULAR
    if 0 not in of.shape and _may_overlap(to):
        return fields.OVERLAPS
    if scale is PLAIN:
        unit = placing.unit_of(x, y, odd)
        placed, units = as_items(placing.moves(x, y, unit), target), (unit, unit)
    else:
        placed, units = placing.elements(x, y, scale), (of.dtype.itemsize, to.dtype.itemsize)
    bits = tuple(min(size, placing.ALIGNED) - 1 for size in units)
    if scale is PLAIN and placed.canonical.axes == (Axis(placed.canonical.elements, 1, 1),):
        return *_copied(placed, bits, target, budget), *_reach(of), *_reach(to)
    shared = family_of(placed.canonical)
    if shared is None:
        return fields.MANY_AXES
    if scale is PLAIN:
        size = static(placed.canonical.axes[0].extent) * placed.canonical.b.itemsize
        are_rows = (shared.form, shared.step) == (Form.ROWS, 1)
        copied = are_rows and _are_copied(placed.canonical, size, target)
        if copied or (are_rows and size <= LONGEST) or _is_picked(shared, placed.canonical, size):
            return _short(placed, size, bits, budget, (*_reach(of), *_reach(to)), copied)
        if shared.form is Form.ELEMENTS and len(placed.canonical.axes) <= MOST_AXES:
            row = _gathered(placed.canonical)
            axes = Axis(1, 0, 0), *placed.canonical.axes[len(row) :]
            single = Placed(replace(placed.canonical, axes=axes), placed.offset_a, placed.offset_b)
            size = placed.canonical.b.itemsize * prod(static(axis.extent) for axis in row)
            return _short(single, size, bits, budget, (*_reach(of), *_reach(to)), False, row)
    cost = weight(shared, placed.canonical, target)
    if cost >= budget:
        return fields.HEAVY
    worth = _worth(placed.canonical.bytes_moved)
    return shared, *_call(placed, shared, target), *bits, budget, cost, *worth, *_reach(of), *_reach(to)


def _copied(placed: Placed, bits: tuple[int, ...], target: Target, budget: int) -> tuple[Any, ...]:
    """The same, up to what the arrays reach, where nothing is permuted. In place of the family stands a text."""
    size, unit = placed.canonical.bytes_moved // 2, placed.canonical.b.itemsize
    near = size < max(target.l2 * 5 // 8, 2 * SERIAL_BYTES)
    step = max(1, size) if near else TASK_BYTES
    past = target.streams and 2 * size >= max(target.l2 * 5 // 4, target.kept * 5 // 4)
    name = "copy_bytes_past" if past else "copy_bytes"
    parts = 1 if near else max(1, size // SERIAL_BYTES)
    offsets = placed.offset_a * unit, placed.offset_b * unit
    return name, *offsets, (size, step), -(-size // step), *bits, budget, 0, parts, size < 4 * HELD_BYTES, 0


def _are_copied(canonical: Canonical, size: int, target: Target) -> bool:
    """True for long rows in the caches."""
    own = target.l2 * 5 // 4
    fits = canonical.bytes_moved < (max(own, target.kept * 5 // 4) if size >= LONG_COPIED else own)
    return size >= COPIED and fits and len(canonical.axes) <= MOST_AXES


def _gathered(canonical: Canonical) -> tuple[Axis, ...]:
    """B's nearest axes, whose items are gathered by their offsets in A; none where these would be few."""
    items, found = 1, list[Axis]()
    for axis in canonical.axes[:GATHERED_AXES]:
        if axis.stride_b != items or items * static(axis.extent) > MOST_GATHERED:
            break
        items, found = items * static(axis.extent), [*found, axis]
    reach = sum((static(axis.extent) - 1) * abs(static(axis.stride_a)) for axis in found) * canonical.b.itemsize
    few = len(found) < 2 or items < LEAST_GATHERED or canonical.elements < LEAST_ROWS * items
    return () if few or reach >= MOST_REACH else tuple(found)


def _short(
    placed: Placed, size: int, bits: tuple[int, ...], budget: int, reaches: tuple[int, ...], copied: bool,
    gathered: tuple[Axis, ...] = (),
) -> tuple[Any, ...] | int:  # fmt: skip
    """The same where rows are short: in place of the family stands the kernel's name."""
    unit = placed.canonical.b.itemsize
    axes = [[*map(static, (axis.extent, axis.stride_a, axis.stride_b))] for axis in placed.canonical.axes[1:]]
    axes += [[1, 0, 0] for _ in range(TILED - len(axes))]
    rows = prod(extent for extent, _, _ in axes)
    nearest = min(axes, key=lambda axis: abs(axis[1]) if axis[0] > 1 else fields.FAMILY_COUNT << 40)
    crosses = abs(nearest[1]) < abs(axes[0][1])
    near, far = axes[0], nearest if crosses else axes[1]
    others, single = [axis for axis in axes[1:] if axis is not far], placed.canonical.axes[0].extent == 1
    if crosses if gathered else (near[0] < SHORT_SIDE or single) and near[0] < far[0]:
        near, far = far, near
    third = max(others, key=lambda axis: axis[0]) if single and not gathered else others[0]
    others = [axis for axis in others if axis is not third]
    edge = max(1, min(CROSSING if crosses else ALONG, TILE_BYTES // size) // min(far[0], FAR_EDGE))
    tiles = -(-near[0] // edge) * -(-far[0] // FAR_EDGE) * -(-third[0] // FAR_EDGE)
    tasks = tiles * prod(extent for extent, _, _ in others)
    each = ITEM_BYTES * size // unit if single else ROW_BYTES
    weight = 0 if copied else max(LEAST_BYTES, 2 * rows * size, rows * each)
    if weight >= budget:
        return fields.HEAVY
    row = ([*map(static, (axis.extent, axis.stride_a, axis.stride_b))] for axis in gathered)
    words = (number for n, a, b in (near, far, third, *others, *row) for number in (n, a * unit, b * unit))
    params = (size, len(axes), edge, *words)
    offsets = placed.offset_a * unit, placed.offset_b * unit
    name = "copied_rows" if copied else "long_rows"
    if single:
        name = f"{'gathered' if gathered else 'single'}_{unit}"
    elif abs(static(placed.canonical.axes[0].stride_a)) != 1:
        step = static(placed.canonical.axes[0].stride_a)
        name = next(name for name, which in fields.PICKED.items() if which == (unit, step))
    elif size <= SHORT:
        name = f"rows_of_{max(width for width in fields.ROW_WIDTHS if width <= size)}"
    return name, *offsets, params, tasks, *bits, budget, weight, *_worth(rows * size * (1 if copied else 2)), *reaches


def _is_picked(shared: Family, canonical: Canonical, size: int) -> bool:
    """True for rows of every second, third or fourth item."""
    few = canonical.axes[0].stride_b == 1 and canonical.axes[0].stride_a in fields.PICKED_STEPS
    return few and shared.form is Form.ELEMENTS and size > LINE and canonical.b.itemsize in fields.PICKED_WIDTHS


def _call(placed: Placed, shared: Family, target: Target) -> tuple[Any, ...]:
    canonical, numbers = placed.canonical, values(shared, placed.canonical)
    count = tasks(family.canonical_form(shared), family.plan(shared, target), numbers)
    return placed.offset_a * canonical.a.itemsize, placed.offset_b * canonical.b.itemsize, numbers, count


def _worth(moved: int) -> tuple[int, bool, int]:
    return max(1, moved // SERIAL_BYTES), moved < HELD_BYTES, 0


def _reach(x: Strided) -> tuple[int, int]:
    spans = [max(0, extent - 1) * stride for extent, stride in zip(x.shape, x.strides, strict=True)]
    return sum(s for s in spans if s < 0), sum(s for s in spans if s > 0) + x.dtype.itemsize


def _may_overlap(x: Strided) -> bool:
    reach = x.dtype.itemsize
    for step, extent in sorted((abs(s), n) for s, n in zip(x.strides, x.shape, strict=True) if n > 1):
        if step < reach:
            return True
        reach += (extent - 1) * step
    return False


# --- families -------------------------------------------------------------------------------------------


def family_of(canonical: Canonical) -> Family | None:
    """The family of a layout with known extents and strides; None where it has too many axes."""
    axes = canonical.axes
    rank = next((rank for rank in RANKS if len(axes) <= rank), None)
    if rank is None:
        return None
    form, near = _form(canonical)
    step = static(axes[near[-1]].stride_a) if near else 1
    return Family(canonical.a, canonical.b, canonical.kinds, canonical.conjugate, form, step, rank)


def _form(canonical: Canonical) -> tuple[Form, tuple[int, ...]]:
    """The form, and the axes along which memory is contiguous, or nearly: B's, and A's where it is another."""
    axes = canonical.axes
    steps = [abs(static(axis.stride_a)) for axis in axes]
    near = next((k for k, step in enumerate(steps) if step == 1), None)
    unit = near if near is not None else next((k for k, step in enumerate(steps) if 0 < step <= MOST_STEP), None)
    if axes[0].stride_b != 1 or unit is None:
        return Form.ELEMENTS, ()
    if unit == 0:
        return (Form.ROWS, (0,)) if near == 0 else (Form.ELEMENTS, ())
    extents = (static(axes[0].extent), static(axes[unit].extent))
    tiles = prod(-(-extent // EDGE) for extent in extents)
    return (Form.COLUMNS, (0, unit)) if prod(extents) >= LEAST_FILLED * tiles else (Form.ELEMENTS, ())


def values(shared: Family, canonical: Canonical) -> tuple[int, ...]:
    """The kernel's parameter array for a layout of this family: extents, strides of A, strides of B, in elements."""
    axes = _arranged(shared, canonical)
    return (
        *(static(axis.extent) for axis in axes),
        *(static(axis.stride_a) for axis in axes),
        *(static(axis.stride_b) for axis in axes),
    )


def _arranged(shared: Family, canonical: Canonical) -> Sequence[Axis]:
    """The layout's axes where the kernel walks them: contiguous ones innermost, the largest strides outermost."""
    near = _form(canonical)[1] or (0,)
    placed = [canonical.axes[k] for k in near]
    far = [axis for k, axis in enumerate(canonical.axes) if k not in near]
    if shared.form is not Form.COLUMNS and shared.rank > 2 and far:
        placed.append(far.pop(0))  # right around the rows, inside one task
    unused = [Axis(1, 0, 0)] * (shared.rank - len(placed) - len(far))
    return [*placed, *unused, *far]


def weight(shared: Family, canonical: Canonical, target: Target) -> int:
    """The cost of a call of this layout on the family's kernel, in bytes moved by full micro-tiles."""
    blocks = zip(_arranged(shared, canonical), family.plan(shared, target).block, strict=True)
    steps = prod(-(-static(axis.extent) // size) for axis, size in blocks)
    return max(LEAST_BYTES, canonical.bytes_moved, steps * STEP_BYTES[shared.form])


def tasks(form: Canonical, plan: CpuPlan, values: Sequence[int]) -> int:
    """Size of the task grid of this family's form and plan for these parameters."""
    extents = tuple(axis.extent for axis in form.axes)
    known = [values[e.index] if isinstance(e, Param) else e for e in extents]
    return prod(-(-known[k] // step) for k, step in plan.grid(extents))
