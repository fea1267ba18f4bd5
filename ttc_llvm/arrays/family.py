"""Families of strided layouts: one any-size kernel serves all of a family, with extents and strides read at run time.

A family knows the types, the kinds of scalars, along which axes memory is contiguous, and the number of axes that its
kernel walks. A layout of fewer axes leaves some of them at extent 1.
"""

from __future__ import annotations

from enum import Enum

from ..ir_builders import planner_fields as fields
from ..ir_builders.layout_fields import ARITHMETIC, SCALED_KINDS
from ..ir_builders.native_planner import EDGE
from ..ir_builders.planner_fields import RANKS
from ..lazy_dataclasses import dataclass
from ..lowering.any_size import Slots
from ..lowering.plan import CpuPlan
from ..machine.target import Target
from ..problem import dtypes
from ..problem.canonical import Axis, Canonical
from ..problem.dtypes import DType
from ..problem.kinds import COPY, Alpha, Kinds
from ..runtime import backend, kernel
from . import cast_kinds
from .pairs import ALPHAS, BETAS

EDGE_WITHOUT_MASKS = 4  # every edge is then a chain of ever smaller tiles
ROW_WITHOUT_MASKS = 16
BLOCKS = 4  # micro-tiles along a tile's edge
ROW_BLOCKS = 64
TASK_LOOPS = 4  # a task number is split with one division per loop


class Form(Enum):
    """Along which axes memory is contiguous, or nearly."""

    ROWS = "rows"  # one axis on both sides: rows are copied
    COLUMNS = "columns"  # one axis of B, another of A, with few gaps: micro-tiles are transposed in registers
    ELEMENTS = "elements"  # not on both sides, or too few: one element at a time


_FORMS = (  # by the planner's numbers, with A's steps
    *((Form.ROWS, step) for step in fields.ROW_STEPS),
    *((Form.COLUMNS, step) for step in fields.COLUMN_STEPS),
    (Form.ELEMENTS, 1),
)


@dataclass(frozen=True, slots=True)
class Family:
    """The facts that layouts share which share a kernel. step: A's stride along its nearest axis, 1 or -1 in rows;
    rank: axes of the kernel, one of RANKS."""

    a: DType
    b: DType
    kinds: Kinds
    conjugate: bool
    form: Form
    step: int
    rank: int


def numbered(number: int) -> Family:
    """The family that the native planner means by a number (`ir_builders.planner_fields`)."""
    number, rank = divmod(number, len(RANKS))
    kind, form = divmod(number, fields.FORMS)
    facts = _moves(kind) if kind < fields.MOVE_TYPES else _arithmetic(kind - fields.MOVE_TYPES)
    return Family(*facts, *_FORMS[form], RANKS[rank])


def compiled(number: int) -> bytes:
    """Object code of a family's kernel for this machine."""
    made, target = numbered(number), backend.host_target()
    return backend.compile_object(kernel.ir_text(canonical_form(made), plan(made, target), target), target)


def record(number: int) -> tuple[int, ...]:
    """The words that planners read of a family on this machine, behind the kernel's address (`planner_fields`)."""
    made = numbered(number)
    chosen = plan(made, backend.host_target())
    words = [0] * fields.FAMILY_WORDS
    words[: made.rank] = chosen.block
    for axis, step in chosen.grid(tuple(axis.extent for axis in canonical_form(made).axes)):
        words[(fields.GRID - fields.BLOCK) // 8 + axis] = step
    return tuple(words)


def _moves(power: int) -> tuple[DType, DType, Kinds, bool]:
    item = dtypes.carrier(1 << power)
    return item, item, COPY, False


def _arithmetic(kind: int) -> tuple[DType, DType, Kinds, bool]:
    """What `layout_fields.scaled_kind`, or `cast_kind`, was made of."""
    if kind >= SCALED_KINDS:
        return cast_kinds.numbered(kind - SCALED_KINDS)
    a, b = (dtypes.from_numpy(ARITHMETIC[kind >> shift & 3]) for shift in (0, 2))
    kinds = Kinds(ALPHAS[kind >> 4 & 3], BETAS[kind >> 6 & 1])
    return a, b, kinds, kinds.alpha is not Alpha.ZERO and bool(kind >> 7)


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
    lanes, masked = target.lanes(canonical_form(family).widest), target.has_masks(family.a.itemsize, family.b.itemsize)
    if family.form is Form.ELEMENTS:
        return CpuPlan((1,) * rank, (1,) * rank, order, order, _outer_loops(rank))
    if family.form is Form.ROWS:
        width = lanes if masked else min(lanes, ROW_WITHOUT_MASKS)
        return CpuPlan((ROW_BLOCKS * width, 1, *far), (width, 1, *far), order, order, _outer_loops(rank))
    edge = min(lanes, EDGE if masked else EDGE_WITHOUT_MASKS)
    tile = (BLOCKS * edge, BLOCKS * edge, *far)
    return CpuPlan(tile, (edge, edge, *far), order, order, min(rank, TASK_LOOPS))


def _outer_loops(rank: int) -> int:
    """Loops of the task grid where rows may be short: the two innermost loops stay inside a task if there are more."""
    return min(TASK_LOOPS, max(1, rank - 2))
