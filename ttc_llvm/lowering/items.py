"""Rows as items: where A and B share the contiguous axis and a row has the size of a machine's item, it is moved as one
such item (pixels, interleaved channels, pairs). A row of four floats is an item of 16 bytes; an axis less is left."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..lazy_dataclasses import replace
from ..machine.target import Target
from ..problem import dtypes
from ..problem.canonical import Axis, Placed, canonicalise, static
from ..problem.kinds import Kinds

if TYPE_CHECKING:
    from ..problem.problem import Problem
    from .plan import CpuPlan


def placed(problem: Problem, target: Target, kinds: Kinds | None = None) -> Placed:
    """The canonical form of a problem as a CPU's plans see it, for these kinds (by default the problem's own)."""
    return as_items(canonicalise(problem, kinds), target)


def as_items(narrow: Placed, target: Target) -> Placed:
    """The same move with items for rows, where all rows begin at multiples of their length from the first; otherwise
    the form as it is."""
    form, count = narrow.canonical, _row_items(narrow, target)
    if count == 1:
        return narrow
    axes = tuple(
        Axis(axis.extent, static(axis.stride_a) // count, static(axis.stride_b) // count) for axis in form.axes[1:]
    )
    item = dtypes.carrier(count * form.a.itemsize)
    wide = replace(form, axes=axes or (Axis(1, 1, 1),), a=item, b=item)
    return Placed(wide, narrow.offset_a // count, narrow.offset_b // count)


def _row_items(narrow: Placed, target: Target) -> int:
    """How many elements make one item: a row's, or 1. Machines that rely on the alignment of items, and arithmetic,
    need the elements themselves."""
    form = narrow.canonical
    row, *others = form.axes
    count = static(row.extent)
    if count < 2 or target.natural or not form.is_move or (row.stride_a, row.stride_b) != (1, 1):
        return 1
    size = count * form.a.itemsize
    steps = [static(step) for axis in others for step in (axis.stride_a, axis.stride_b)]
    steps += (narrow.offset_a, narrow.offset_b)  # rows that run backwards on both sides end at the base
    fits = size in dtypes.NATIVE and 8 * size <= target.vector_bits
    return count if fits and not any(step % count for step in steps) else 1


def as_rows(plan: CpuPlan, count: int) -> CpuPlan:
    """A plan for items of `count` elements as one for rows of so many: the row's axis is the innermost."""
    if count == 1:
        return plan
    return replace(
        plan,
        tile=(count, *plan.tile),
        block=(count, *plan.block),
        order=_with_rows(plan.order),
        inner=_with_rows(plan.inner),
        panel=(count, *plan.panel) if plan.panel else (),
    )


def _with_rows(order: tuple[int, ...]) -> tuple[int, ...]:
    return (*(axis + 1 for axis in order), 0)
