"""Families of strided layouts: one any-size kernel serves all of a family, with extents and strides read at run time.

A family knows the types, the kinds of scalars, along which axes memory is contiguous, and the number of axes that its
kernel walks. A layout of fewer axes leaves some of them at extent 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from math import prod

from ..lowering.any_size import Slots
from ..lowering.plan import CpuPlan
from ..machine.target import Target
from ..problem.canonical import Axis, Canonical, Kinds, Param, static
from ..problem.dtypes import DType

RANKS = (2, 4, 8)  # axes that a kernel walks; layouts of more have no family
EDGE = 8  # lanes of a micro-tile's edge: half the code of a wider one, and compiled in a third of the time
EDGE_WITHOUT_MASKS = 4  # every edge is then a chain of ever smaller tiles
ROW_WITHOUT_MASKS = 16
BLOCKS = 4  # micro-tiles along a tile's edge
ROW_BLOCKS = 64
LEAST_FILLED = 24  # elements in a micro-tile, on average: with fewer, moving them one by one is as fast
LEAST_BYTES = 16 << 10  # a call weighs so much at least: what surrounds a small one takes as long
TASK_LOOPS = 4  # a task number is split with one division per loop


class Form(Enum):
    """Along which axes memory is contiguous."""

    ROWS = "rows"  # one axis on both sides: rows are copied
    COLUMNS = "columns"  # one axis of A, another of B: micro-tiles are transposed in registers
    ELEMENTS = "elements"  # not on both sides, or too few: one element at a time


STEP_BYTES = {Form.ROWS: 32, Form.COLUMNS: 512, Form.ELEMENTS: 16}
"""Bytes that full micro-tiles move in the time that one micro-tile takes at most, however little of it is filled."""


@dataclass(frozen=True, slots=True)
class Family:
    """The facts that layouts share which share a kernel. step: A's stride along its contiguous axis, 1 or -1;
    rank: axes of the kernel, one of RANKS."""

    a: DType
    b: DType
    kinds: Kinds
    conjugate: bool
    form: Form
    step: int
    rank: int


def of(canonical: Canonical) -> Family | None:
    """The family of a layout with known extents and strides; None where it has too many axes."""
    axes = canonical.axes
    rank = next((rank for rank in RANKS if len(axes) <= rank), None)
    if rank is None:
        return None
    form, near = _form(canonical)
    step = static(axes[near[-1]].stride_a) if near else 1
    return Family(canonical.a, canonical.b, canonical.kinds, canonical.conjugate, form, step, rank)


def _form(canonical: Canonical) -> tuple[Form, tuple[int, ...]]:
    """The form, and the axes along which memory is contiguous: B's, and A's where it is another."""
    axes = canonical.axes
    unit = next((k for k, axis in enumerate(axes) if abs(static(axis.stride_a)) == 1), None)
    if axes[0].stride_b != 1 or unit is None:
        return Form.ELEMENTS, ()
    if unit == 0:
        return Form.ROWS, (0,)
    extents = (static(axes[0].extent), static(axes[unit].extent))
    tiles = prod(-(-extent // EDGE) for extent in extents)
    return (Form.COLUMNS, (0, unit)) if prod(extents) >= LEAST_FILLED * tiles else (Form.ELEMENTS, ())


def canonical_form(family: Family) -> Canonical:
    """The family's canonical form: every extent is a parameter, and every stride but those along contiguous axes."""
    slots = Slots(family.rank)
    axes = [Axis(slots.extent(k), slots.stride_a(k), slots.stride_b(k)) for k in range(family.rank)]
    if family.form is Form.ROWS:
        axes[0] = Axis(slots.extent(0), family.step, 1)
    if family.form is Form.COLUMNS:
        axes[:2] = [
            Axis(slots.extent(0), slots.stride_a(0), 1),
            Axis(slots.extent(1), family.step, slots.stride_b(1)),
        ]
    return Canonical(tuple(axes), family.a, family.b, family.kinds, family.conjugate)


def plan(family: Family, target: Target) -> CpuPlan:
    """The plan of the family's kernel: contiguous axes innermost, the others one index at a time outside of them."""
    rank, far = family.rank, (1,) * (family.rank - 2)
    order = tuple(reversed(range(rank)))
    lanes, masked = target.lanes(max(family.a.itemsize, family.b.itemsize)), _masked(family, target)
    if family.form is Form.ELEMENTS:
        return CpuPlan((1,) * rank, (1,) * rank, order, order, _outer_loops(rank))
    if family.form is Form.ROWS:
        width = lanes if masked else min(lanes, ROW_WITHOUT_MASKS)
        return CpuPlan((ROW_BLOCKS * width, 1, *far), (width, 1, *far), order, order, _outer_loops(rank))
    edge = min(lanes, EDGE if masked else EDGE_WITHOUT_MASKS)
    tile = (BLOCKS * edge, BLOCKS * edge, *far)
    return CpuPlan(tile, (edge, edge, *far), order, order, min(rank, TASK_LOOPS))


def _masked(family: Family, target: Target) -> bool:
    return all(target.has_masks(t.itemsize) for t in (family.a, family.b))


def _outer_loops(rank: int) -> int:
    """Loops of the task grid where rows may be short: the two innermost loops stay inside a task if there are more."""
    return min(TASK_LOOPS, max(1, rank - 2))


def values(family: Family, canonical: Canonical) -> tuple[int, ...]:
    """The kernel's parameter array for a layout of this family: extents, strides of A, strides of B, in elements."""
    axes = _arranged(family, canonical)
    return (
        *(static(axis.extent) for axis in axes),
        *(static(axis.stride_a) for axis in axes),
        *(static(axis.stride_b) for axis in axes),
    )


def _arranged(family: Family, canonical: Canonical) -> Sequence[Axis]:
    """The layout's axes where the kernel walks them: contiguous ones innermost, the largest strides outermost."""
    near = _form(canonical)[1] or (0,)
    placed = [canonical.axes[k] for k in near]
    far = [axis for k, axis in enumerate(canonical.axes) if k not in near]
    if family.form is not Form.COLUMNS and family.rank > 2 and far:
        placed.append(far.pop(0))  # right around the rows, inside one task
    unused = [Axis(1, 0, 0)] * (family.rank - len(placed) - len(far))
    return [*placed, *unused, *far]


def weight(family: Family, canonical: Canonical, target: Target) -> int:
    """The cost of a call of this layout on the family's kernel, in bytes moved by full micro-tiles."""
    blocks = zip(_arranged(family, canonical), plan(family, target).block, strict=True)
    steps = prod(-(-static(axis.extent) // size) for axis, size in blocks)
    return max(LEAST_BYTES, canonical.bytes_moved, steps * STEP_BYTES[family.form])


def tasks(form: Canonical, plan: CpuPlan, values: Sequence[int]) -> int:
    """Size of the task grid of this family's form and plan for these parameters."""
    extents = tuple(axis.extent for axis in form.axes)
    known = [values[e.index] if isinstance(e, Param) else e for e in extents]
    return prod(-(-known[k] // step) for k, step in plan.grid(extents))
