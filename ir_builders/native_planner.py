"""The planner of layouts as functions of integers for `integer_code`: from a layout to the call of an any-size kernel.

`plan` computes the canonical form of two strided arrays, the family of layouts that it belongs to, and the arguments of
the family's kernel. It takes no memory but its stack, knows no Python object and has no address of its own: tables of
layouts, groups, and plan objects of native programs can all be served by it. Blocks of words are described in
`layout_fields` and `planner_fields`.
"""

from __future__ import annotations

from . import canonical_axes as axes
from . import contiguous_copy as copies
from . import layout_fields as fields
from . import planner_fields as known
from .prepared_calls import LEAST_BYTES, steps_of, write_call, write_reach
from .row_planner import item_bytes, onto_rows, row_bytes, write_unused
from .words import load64, local, store64

EDGE = 8  # lanes of a micro-tile's edge: half the code of a wider one, and compiled in a third of the time
MOST_STEP = max(known.COLUMN_STEPS)
LEAST_FILLED = 32  # elements in a micro-tile, on average: with fewer, moving them one by one is as fast

HELD_COPIES = 4  # times as many bytes are copied, where nothing is permuted, in the time that others take to move some
TASK_BYTES = 128 << 10  # of a contiguous copy that threads share, or one makes of more than its caches hold
STEP_BYTES = (*(128,) * len(known.ROW_STEPS), *(512,) * len(known.COLUMN_STEPS), 16)
"""By form: bytes that full micro-tiles move in the time that one micro-tile takes at most, however little is filled."""


def plan(planner: int, layout: int, prepared: int, params: int, checked: int) -> int:
    """Write the prepared call of a layout and its parameters, at most PARAMS_BYTES; PLANNED, or why there is none, in
    which case nothing means anything. checked: elements of the result are known to share no memory."""
    work = local(axes.WORK_BYTES)
    status = laid_out(planner, layout, prepared, work, checked)
    return onto_family(planner, work, prepared, params) if status == known.PLANNED else status


def laid_out(planner: int, layout: int, prepared: int, work: int, checked: int) -> int:
    """Write a layout's canonical form, and what a prepared call says of addresses; PLANNED, or why there is none."""
    status = axes.canonical(layout, work, checked)
    if status != known.PLANNED:
        return status
    units, unit_a, unit_b = load64(work + axes.UNITS), load64(work + axes.UNIT_A), load64(work + axes.UNIT_B)
    write_reach(layout, prepared + fields.REACH_OF, fields.STRIDE_OF, units * unit_a)
    write_reach(layout, prepared + fields.REACH_TO, fields.STRIDE_TO, units * unit_b)
    store64(prepared + fields.ODD_A, min(unit_a, axes.ALIGNED) - 1)
    store64(prepared + fields.ODD_B, min(unit_b, axes.ALIGNED) - 1)
    axes.settle(planner, work)
    return known.PLANNED


def onto_family(planner: int, work: int, prepared: int, params: int) -> int:
    """Write the call of a canonical form's any-size kernel; PLANNED, or why there is none."""
    if load64(work + axes.LENGTH) > known.MOST_AXES:
        return known.MANY_AXES
    if is_contiguous(planner, work):
        return _copied(planner, work, prepared, params)
    _choose_form(work)
    size = row_bytes(planner, work)
    if size == 0:
        size = item_bytes(work, params)
    return onto_rows(planner, work, prepared, params, size) if size else _planned(planner, work, prepared, params)


def is_contiguous(planner: int, work: int) -> int:
    """1 for plain moves that permute nothing and leave nothing out."""
    moves = load64(planner + known.COPY) != 0 and load64(work + axes.TYPE) < known.MOVE_TYPES
    alone = load64(work + axes.LENGTH) == 1 and load64(work + axes.LIST + axes.A) == 1
    return moves and alone and load64(work + axes.LIST + axes.B) == 1


def _copied(planner: int, work: int, prepared: int, params: int) -> int:
    """Write the call of a kernel that copies bytes. It is never replaced: no kernel of the layout's own is faster.
    Moving bytes takes half of the time here that it takes elsewhere: threads pay later; what one moves stays whole."""
    size = load64(work + axes.LIST + axes.N) * load64(work + axes.UNIT_A)
    if load64(planner + known.BUDGET) == 0:
        return known.HEAVY
    near = size < max(load64(planner + known.CACHED_BYTES) // 2, 2 * load64(planner + known.SERIAL_BYTES))
    past = 0 if 2 * size < load64(planner + known.PAST_BYTES) else load64(planner + known.COPY_BYTES_PAST)
    step = max(1, size) if near else TASK_BYTES
    store64(params + copies.SIZE, size)
    store64(params + copies.STEP, step)
    store64(params + copies.COPY, load64(planner + known.COPY))
    kernel = past if past else load64(planner + known.COPY_BYTES)
    write_call(planner, work, prepared, params, kernel, steps_of(size, step), size, 0)
    store64(prepared + fields.HELD, size < HELD_COPIES * load64(planner + known.HELD_BYTES))
    if near:
        store64(prepared + fields.PARTS, 1)
    return known.PLANNED


def _choose_form(work: int) -> None:
    """Along which axes memory is contiguous."""
    near, count = near_axis(work, 1), load64(work + axes.LENGTH)
    if near == count:
        near = near_axis(work, MOST_STEP)
    store64(work + axes.FORM, known.ELEMENTS)
    store64(work + axes.NEAR, 1)
    if near == count or load64(work + axes.LIST + axes.B) != 1:
        return
    other = work + axes.LIST + axes.AXIS * near
    step, backwards = abs(load64(other + axes.A)), load64(other + axes.A) < 0
    n, m = load64(work + axes.LIST + axes.N), load64(other + axes.N)
    if near == 0:
        if step == 1:
            store64(work + axes.FORM, known.ROWS + backwards)
    elif n * m >= LEAST_FILLED * steps_of(n, EDGE) * steps_of(m, EDGE):
        store64(work + axes.FORM, known.COLUMNS + 2 * (step - 1) + backwards)
        store64(work + axes.NEAR, near)


def near_axis(work: int, most: int) -> int:
    """The first axis along which A has steps of 1 to `most` elements; the number of axes where there is none."""
    near = 0
    while near < load64(work + axes.LENGTH):
        if 0 < abs(load64(work + axes.LIST + axes.AXIS * near + axes.A)) <= most:
            return near
        near += 1
    return near


def _planned(planner: int, work: int, prepared: int, params: int) -> int:
    """Write the call of the family's kernel, of which nothing need be there where bytes alone are worth another."""
    count = load64(work + axes.LENGTH)
    moved = axes.product(work, 0, count) * load64(work + axes.EACH)
    if moved >= load64(planner + known.BUDGET):
        return known.HEAVY
    which = (count > 2) + (count > 4)
    number = (load64(work + axes.TYPE) * known.FORMS + load64(work + axes.FORM)) * known.RANK_COUNT + which
    family = load64(load64(planner + known.FAMILIES) + 8 * number)
    if family == 0:
        return 1 + number
    _arrange(work, known.RANKS[which], params)
    tasks, steps = 1, 1
    for slot in range(known.RANKS[which]):
        n, grid = load64(params + 8 * slot), load64(family + known.GRID + 8 * slot)
        steps = steps * steps_of(n, load64(family + known.BLOCK + 8 * slot))
        if grid:
            tasks = tasks * steps_of(n, grid)
    weight = max(LEAST_BYTES, max(moved, steps * STEP_BYTES[load64(work + axes.FORM)]))
    if weight >= load64(planner + known.BUDGET):
        return known.HEAVY
    kernel = load64(family + known.FAMILY_KERNEL)
    write_call(planner, work, prepared, params, kernel, tasks, moved, weight)
    return known.PLANNED if kernel else 1 + number


def _arrange(work: int, rank: int, params: int) -> None:
    """Write the parameters: extents, strides of A, strides of B, as the kernel walks the axes. The contiguous ones
    are innermost, else the two of B's smallest strides; the largest strides are outermost, unused axes between them."""
    count, near = load64(work + axes.LENGTH), load64(work + axes.NEAR)
    _write_axis(params, rank, 0, work + axes.LIST)
    slot = 1
    if count > 1:
        _write_axis(params, rank, 1, work + axes.LIST + axes.AXIS * near)
        slot = 2
    unused = work + axes.LIST + axes.AXIS * count
    write_unused(work, count)
    while slot < rank - max(0, count - 2):
        _write_axis(params, rank, slot, unused)
        slot += 1
    for k in range(1, count):
        if k != near:
            _write_axis(params, rank, slot, work + axes.LIST + axes.AXIS * k)
            slot += 1


def _write_axis(params: int, rank: int, slot: int, axis: int) -> None:
    at = params + 8 * slot
    store64(at, load64(axis + axes.N))
    store64(at + 8 * rank, load64(axis + axes.A))
    store64(at + 16 * rank, load64(axis + axes.B))
