"""Functions for `integer_code`: which variant of a kernel serves a layout, and how it walks the layout's axes."""

from __future__ import annotations

from .. import canonical_axes as axes
from .. import layout_fields as asked
from .. import planner_fields as known
from ..native_planner import EDGE, LEAST_FILLED
from ..prepared_calls import steps_of
from ..words import load64, local, store64
from . import columns, gathering, row_order
from . import fields as f

LONG_ROW = 512  # bytes of the shortest rows that are written past the caches by themselves, one at a time
ENOUGH_TASKS = 4  # of a thread: whole rows of B are then worth more than equal shares
TASKS_PER_THREAD = 20  # where rows are divided: threads are then at most 5 % apart
LONG_PIECE = 8192  # bytes of the shortest pieces of rows of B: two lines of each are written in part
FEWEST_TASKS = 2  # of a thread: shorter runs of A, where panels have fewer rows, cost more than waiting for others
PIECE_ROWS = 64  # the fewest in a piece of axis 1: whole tiles, and lines of A
ON_LINE, ON_ELEMENT, ANYWHERE = 0, 1, 2  # levels: where B begins
NONE, STATUS = 0, -1


def choose(library: int, types: int, layout: int, kind: int, level: int, threads: int, call: int) -> int:
    """Write the call for a kind of alpha and beta and for a B at such a place: 1; 0 where that has no call of its own,
    -1 where elements of B may share memory. threads: the most that will run it."""
    work = local(axes.WORK_BYTES)
    store64(layout + asked.KIND, load64(types + f.KIND + 8 * kind))
    if axes.canonical(layout, work, 0) != known.PLANNED:
        return STATUS
    axes.settle(library, work)
    kernels = load64(types + f.KERNELS + 8 * kind)
    if kernels == 0:
        kernels = load64(library + f.MOVES + 8 * load64(work + axes.TYPE))
    if kernels == 0:
        return NONE
    near = _near(work)
    variant = _variant(library, work, kernels, near, level)
    if variant < 0 or load64(kernels + variant * f.VARIANT_BYTES) == 0:
        return NONE
    kernel = kernels + variant * f.VARIANT_BYTES
    paying = min(threads, _weight(work) // f.BYTES_PER_PART)
    store64(call + f.ODD, 0)
    if variant != f.ELEMENTS and level == ANYWHERE and _gathers(library, work, kernels, kind):
        filled = kernels + (f.COLUMNS if near else f.ROWS) * f.VARIANT_BYTES
        room = min(f.SCRATCH, _weight(work) // (2 * ENOUGH_TASKS * max(1, paying)))
        if gathering.write(library, filled, work, near, max(room, gathering.LEAST_ROOM), call):
            return 1
    chained = columns.chained(kernels, work, near) if variant == f.COLUMNS_CHAINED else 0
    _write(kernels, work, 0 if variant == f.ELEMENTS else near, variant, chained, call)
    if variant == f.COLUMNS_CHAINED:
        _write_slots(library, kernel, work, call)
    few = load64(call + f.TASKS) * load64(call + f.OUTER) < ENOUGH_TASKS * paying
    if chained and load64(call + f.PARAMS + 8) > f.SLOTS:
        _cut(kernel, work, 1, f.SLOTS // 2, call)
    elif few and paying > 1 and chained == 0 and variant < f.ALIGNED_PEELED:
        line = load64(library + f.LINE)
        least = line * max(1, LONG_PIECE // (line * load64(work + axes.UNIT_B)))
        _divide(kernel, work, 2, 1, TASKS_PER_THREAD * paying, call)
        _divide(kernel, work, 0, least, TASKS_PER_THREAD * paying, call)
        _divide(kernel, work, 1, PIECE_ROWS, FEWEST_TASKS * paying, call)
    size = load64(work + axes.UNIT_B)
    store64(call + f.ODD, (load64(library + f.LINE) if level == ON_LINE else size if level == ON_ELEMENT else 1) - 1)
    return 1


def _near(work: int) -> int:
    """The axis along which A is contiguous, -1 where there is none."""
    for k in range(load64(work + axes.LENGTH)):
        if load64(work + axes.LIST + axes.AXIS * k + axes.A) == 1:
            return k
    return -1


def _weight(work: int) -> int:
    """Bytes of A and B."""
    found = load64(work + axes.EACH)
    for k in range(load64(work + axes.LENGTH)):
        found = found * load64(work + axes.LIST + axes.AXIS * k + axes.N)
    return found


def _variant(library: int, work: int, kernels: int, near: int, level: int) -> int:
    """The variant that serves; -1 where this level has none of its own."""
    head, count = work + axes.LIST, load64(work + axes.LENGTH)
    n, run = load64(head + axes.N), load64(head + axes.N) * load64(work + axes.UNIT_B)
    if near < 0 or load64(head + axes.B) != 1:
        return f.ELEMENTS if level == ANYWHERE else -1
    other = load64(head + axes.AXIS * near + axes.N)
    if near and n * other < LEAST_FILLED * steps_of(n, EDGE) * steps_of(other, EDGE):
        return f.ELEMENTS if level == ANYWHERE else -1
    cached = _weight(work) < load64(library + f.STREAMED_BYTES)
    if level == ANYWHERE:
        return f.ROWS if near == 0 else f.COLUMNS if cached else f.COLUMNS_FETCHED
    if cached:
        return -1
    if level == ON_LINE:
        whole = run >= load64(library + f.LINE) and _is_lined(library, work, count)
        return -1 if not whole else columns.on_lines(library, work, near) if near else _rows_on_lines(run)
    if near == 0:
        return f.ROWS_STREAMED if run >= LONG_ROW else -1
    whole = run % load64(library + f.LINE) == 0 and _is_lined(library, work, count) and row_order.follow(work, near)
    if whole and load64(kernels + f.LINES_PEELED * f.VARIANT_BYTES):
        return columns.off_lines(library, work, near)
    return columns.joined(kernels, work, near)


def _rows_on_lines(run: int) -> int:
    return f.ROWS_LONG if run >= LONG_ROW else f.ROWS_ALIGNED


def _gathers(library: int, work: int, kernels: int, kind: int) -> int:
    """1 where whole lines are put together in scratch, if that has room: of large tensors, where B is not read and
    stores past the caches serve."""
    streams = load64(kernels + f.ROWS_STREAMED * f.VARIANT_BYTES) != 0
    return streams and kind <= f.SCALE and _weight(work) >= load64(library + f.STREAMED_BYTES)


def _is_lined(library: int, work: int, count: int) -> int:
    """1 where all rows of B begin on a line if the first one does."""
    for k in range(1, count):
        if load64(work + axes.LIST + axes.AXIS * k + axes.B) * load64(work + axes.UNIT_B) % load64(library + f.LINE):
            return 0
    return 1


# --- the call -------------------------------------------------------------------------------------------


def _write(kernels: int, work: int, near: int, variant: int, chained: int, call: int) -> None:
    """Write all of a call but ODD: axis 0, the axis along which A is contiguous, those along which the kernel goes on
    from row to row, so many, then the others by ascending stride in A, or in B where columns are written through the
    caches; those that the kernel does not walk are around it."""
    count, order, second = load64(work + axes.LENGTH), local(8 * (asked.MAX_RANK + 1 + f.AXES)), -1
    if variant >= f.COLUMNS_ALIGNED:
        joins = variant == f.COLUMNS_CHAINED
        second = columns.side_by_side(kernels, work, near) if joins else columns.second(work, near, columns.SHORT)
    kernel = kernels + variant * f.VARIANT_BYTES
    for place in range(8, 8 * f.AXES, 8):
        store64(order + place, -1)
    store64(order, 0)
    fixed = 1
    if near:
        store64(order + 8, near)
        fixed = 2
    for k in range(1, chained + 1):
        store64(order + 8 * fixed, k)
        fixed += 1
    length, by_a = fixed, variant != f.COLUMNS and variant != f.COLUMNS_FETCHED
    for k in range(1 + chained, count):
        if k != near and k != second:
            at = length
            while at > fixed and by_a and _a(work, load64(order + 8 * at - 8)) > _a(work, k):
                store64(order + 8 * at, load64(order + 8 * at - 8))
                at -= 1
            store64(order + 8 * at, k)
            length += 1
    if variant >= f.COLUMNS_ALIGNED:
        for at in range(length, f.SECOND, -1):
            store64(order + 8 * at, load64(order + 8 * at - 8))
        store64(order + 8 * f.SECOND, second)
        length += 1
    store64(call + f.GATHERED, 0)
    store64(call + f.KERNEL, load64(kernel + f.FUNCTION))
    store64(call + f.OFFSET_A, load64(work + axes.START_A) * load64(work + axes.UNIT_A))
    store64(call + f.OFFSET_B, load64(work + axes.START_B) * load64(work + axes.UNIT_B))
    _write_params(kernel, work, order, call)
    if variant >= f.COLUMNS_CHAINED:
        row_order.write(work, chained if variant == f.COLUMNS_CHAINED else near - 1, order, call)
    _write_around(work, order, length, call)


def _write_slots(library: int, kernel: int, work: int, call: int) -> None:
    """Write how slots lie along the second axis of rows side by side, and cut it where there are not enough of them."""
    n, many = load64(call + f.PARAMS + 8), load64(call + f.PARAMS + 8 * f.SECOND)
    store64(call + f.SLOT_STEP, n * (load64(library + f.LINE) // load64(work + axes.UNIT_B)))
    if many > 1 and n * many > f.SLOTS:
        _cut(kernel, work, f.SECOND, f.SLOTS // (2 * n), call)


def _a(work: int, k: int) -> int:
    return abs(load64(work + axes.LIST + axes.AXIS * k + axes.A))


def _write_params(kernel: int, work: int, order: int, call: int) -> None:
    """Write the kernel's parameters, extents, strides of A, strides of B, and its number of tasks."""
    tasks = 1
    for slot in range(f.AXES):
        at, n, a, b, k = call + f.PARAMS + 8 * slot, 1, 0, 0, load64(order + 8 * slot)
        if k >= 0:
            axis = work + axes.LIST + axes.AXIS * k
            n, a, b = load64(axis + axes.N), load64(axis + axes.A), load64(axis + axes.B)
        store64(at, n)
        store64(at + 8 * f.AXES, a)
        store64(at + 16 * f.AXES, b)
        step = load64(kernel + f.GRID + 8 * slot)
        if step:
            tasks = tasks * steps_of(n, step)
    store64(call + f.TASKS, tasks)


def _write_around(work: int, order: int, count: int, call: int) -> None:
    """Write the axes around the kernel's, their strides in bytes."""
    outer, at = 1, call + f.OUTER_AXES
    for slot in range(f.AXES, count):
        axis = work + axes.LIST + axes.AXIS * load64(order + 8 * slot)
        store64(at, load64(axis + axes.N))
        store64(at + 8, load64(axis + axes.A) * load64(work + axes.UNIT_A))
        store64(at + 16, load64(axis + axes.B) * load64(work + axes.UNIT_B))
        store64(at + f.PIECE, 0)
        outer, at = outer * load64(axis + axes.N), at + f.OUTER_BYTES
    store64(call + f.OUTER, outer)
    store64(call + f.AROUND, max(0, count - f.AXES))


def _divide(kernel: int, work: int, slot: int, least: int, wanted: int, call: int) -> None:
    """Divide the kernel's axis in this slot where a call has fewer tasks than wanted: into pieces of multiples of
    `least`, which are walked around the kernel. The last one, up to twice as long, is at most a step of the grid."""
    tasks, outer, param = load64(call + f.TASKS), load64(call + f.OUTER), call + f.PARAMS + 8 * slot
    n, grid = load64(param), load64(kernel + f.GRID + 8 * slot)
    if tasks * outer == 0 or tasks * outer >= wanted:
        return
    panels = steps_of(n, grid) if grid else 1
    step = steps_of(steps_of(n, steps_of(wanted * panels, tasks * outer)), least) * least
    if grid:
        step = min(step, grid // 2 // least * least)
    if step and n >= 2 * step:
        _cut(kernel, work, slot, step, call)


def _cut(kernel: int, work: int, slot: int, step: int, call: int) -> None:
    """Cut the kernel's axis in this slot into pieces, which are walked around the kernel; the last one has up to twice
    as much."""
    param, grid = call + f.PARAMS + 8 * slot, load64(kernel + f.GRID + 8 * slot)
    n = load64(param)
    at = call + f.OUTER_AXES + f.OUTER_BYTES * load64(call + f.AROUND)
    store64(at, n // step)
    store64(at + 8, step * load64(param + 8 * f.AXES) * load64(work + axes.UNIT_A))
    store64(at + 16, step * load64(param + 16 * f.AXES) * load64(work + axes.UNIT_B))
    store64(at + f.PIECE, step)
    store64(at + f.SLOT, 8 * slot)
    store64(call + f.AROUND, load64(call + f.AROUND) + 1)
    store64(call + f.TASKS, load64(call + f.TASKS) // (steps_of(n, grid) if grid else 1))
    store64(call + f.OUTER, load64(call + f.OUTER) * (n // step))
