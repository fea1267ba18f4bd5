"""The planner of groups as functions for `integer_code`: from the layouts of blocks to records of how each is moved.

Blocks of one layout share a record. Tensors of few elements are moved by kernels of indexed runs, whose tables are
written here; others by the any-size kernels of their families. Blocks are described in `group_fields`.
"""

from __future__ import annotations

from . import canonical_axes as axes
from . import group_fields as group
from . import layout_fields as fields
from . import planner_fields as known
from .group_fields import Planning
from .layout_table import hashed, is_same
from .native_planner import is_contiguous, laid_out, near_axis, onto_family
from .prepared_calls import write_call
from .words import load32, load64, local, store32, store64

LEAST_RUN = 64  # elements of a run, where B is contiguous so far: what surrounds a shorter one takes as long
MOST_RUN = 2048
MOST_ELEMENTS = 32 << 10  # of a tensor that is moved so
MOST_BYTES = 256 << 10  # of A, which lies in the caches while its elements are gathered
WAYS, WAY_BYTES = 8, 4 << 10  # of caches of the first level
FAR = 1 << 31  # offsets in tables are less
LEAST_PAST = 1 << 10  # bytes of B that may be written past the caches; lines of fewer are not whole
LEAST_SIDES = (12, 12, 16, FAR, FAR)  # by type: extents along which memory is contiguous, from which on the family's
LEAST_ROWS = (8, 12, 20, 40, 64)  # kernel is faster; and where it is the same one on both sides


def plan_blocks(planning: int) -> int:
    """Give every block a record, from NEXT on. The result is 0, 1 + the number of a family whose record or kernel is
    not there, or MORE_MEMORY: when that is provided, the call is to be repeated."""
    number = load64(planning + Planning.NEXT)
    while number < load64(planning + Planning.COUNT):
        layout = load64(load64(planning + Planning.LAYOUTS) + 8 * number)
        slot = _slot(planning, layout)
        if load64(slot) == 0:
            lacks = _new_record(planning, layout, slot)
            if lacks != 0:
                store64(planning + Planning.NEXT, number)
                return lacks
        record = load64(slot)
        store64(record + group.BLOCKS, load64(record + group.BLOCKS) + 1)
        store64(load64(planning + Planning.RECORDS) + 8 * number, record)
        number += 1
    store64(planning + Planning.NEXT, number)
    return 0


def _slot(planning: int, layout: int) -> int:
    """The address where the record of a layout is, or where it belongs."""
    place, mask = hashed(layout), load64(planning + Planning.MASK)
    while True:
        slot = load64(planning + Planning.SLOTS) + 8 * (place & mask)
        if load64(slot) == 0 or is_same(load64(load64(slot) + group.LAYOUT), layout):
            return slot
        place += 1


def _new_record(planning: int, layout: int, slot: int) -> int:
    """Add the record of a layout; 0, or what is lacking."""
    planner, record, work = load64(planning + Planning.PLANNER), load64(planning + Planning.AT), local(axes.WORK_BYTES)
    end = record + group.RECORD_BYTES
    if end + known.PARAMS_BYTES > load64(planning + Planning.END):
        return group.MORE_MEMORY
    _write_no_call(record)
    status = laid_out(planner, layout, record, work, 0)
    if status == known.PLANNED:
        store64(record + group.MOVED, axes.product(work, 0, load64(work + axes.LENGTH)) * load64(work + axes.EACH))
        store64(record + group.SOLID, _is_solid(work))
    if _is_empty(layout):
        status = group.EMPTY
    elif status == known.PLANNED and _is_indexed(planning, work, record):
        size = _table_bytes(work)
        if end + size > load64(planning + Planning.END):
            return group.MORE_MEMORY
        _index(planning, work, record)
        end += size
    elif status == known.PLANNED:
        status = onto_family(planner, work, record, end)
        if status > 0:
            return status
        end += known.PARAMS_BYTES
    store64(record + group.STATUS, status)
    store64(record + group.LAYOUT, layout)
    store64(record + group.BLOCKS, 0)
    store64(planning + Planning.AT, end)
    store64(slot, record)
    return 0


def _write_no_call(record: int) -> None:
    for word in range(0, group.RECORD_BYTES, 8):
        store64(record + word, 0)


def _is_empty(layout: int) -> int:
    """1 where there is nothing to be moved."""
    if load64(layout + fields.KIND) == 0:
        return 1
    for k in range(load64(layout + fields.RANK)):
        if load64(layout + fields.AXES + fields.AXIS_BYTES * k + fields.EXTENT) == 0:
            return 1
    return 0


def _is_solid(work: int) -> int:
    """1 where A has no gaps: some order of its axes is contiguous."""
    elements, total, end = 1, 1, work + axes.LIST + axes.AXIS * load64(work + axes.LENGTH)
    for axis in range(work + axes.LIST, end, axes.AXIS):
        total *= load64(axis + axes.N) if load64(axis + axes.A) else 1
        for one in range(work + axes.LIST, end, axes.AXIS):
            if abs(load64(one + axes.A)) == elements:
                elements *= load64(one + axes.N)
    return elements == total


# --- indexed runs ---------------------------------------------------------------------------------------------


def _is_indexed(planning: int, work: int, record: int) -> int:
    """1 where a kernel of indexed runs is the fastest."""
    if load64(work + axes.TYPE) >= known.MOVE_TYPES or is_contiguous(load64(planning + Planning.PLANNER), work):
        return 0
    total, unit = axes.product(work, 0, load64(work + axes.LENGTH)), load64(work + axes.UNIT_A)
    if _kernel(planning, work) == 0 or total > MOST_ELEMENTS or total * unit > MOST_BYTES:
        return 0
    if load64(work + axes.LIST + axes.B) != 1 or load64(work + axes.LIST + axes.N) > MOST_RUN:
        return 0
    if _fills_registers(work) or _crowds(work, total * unit):
        return 0
    for side in range(fields.REACH_OF, fields.REACH_TO + 16, 8):
        if abs(load64(record + side)) >= FAR:
            return 0
    return 1


def _fills_registers(work: int) -> int:
    """1 where vectors of the any-size kernels are mostly full."""
    near, kind = near_axis(work, 1), load64(work + axes.TYPE)
    if near == 0:
        return load64(work + axes.LIST + axes.N) >= LEAST_ROWS[kind]
    if near == load64(work + axes.LENGTH):
        return 0
    other = load64(work + axes.LIST + axes.AXIS * near + axes.N)
    return min(other, load64(work + axes.LIST + axes.N)) >= LEAST_SIDES[kind]


def _crowds(work: int, size: int) -> int:
    """1 where the elements of a run lie in more lines of one set of a cache than it keeps until these are used up."""
    step = load64(work + axes.LIST + axes.A) * load64(work + axes.UNIT_A)
    apart = min(step & -step, WAY_BYTES)
    return size > WAYS * WAY_BYTES and load64(work + axes.LIST + axes.N) * apart > WAYS * WAY_BYTES


def _kernel(planning: int, work: int) -> int:
    return load64(planning + Planning.KERNELS + 8 * load64(work + axes.TYPE))


def _inner(work: int) -> int:
    """The number of axes that are in a run."""
    count, elements = 1, load64(work + axes.LIST + axes.N)
    while count < load64(work + axes.LENGTH) and elements < LEAST_RUN:
        axis = work + axes.LIST + axes.AXIS * count
        if load64(axis + axes.B) != elements or elements * load64(axis + axes.N) > MOST_RUN:
            break
        elements *= load64(axis + axes.N)
        count += 1
    return count


def _padded(elements: int) -> int:
    return (elements + group.PADDING - 1) // group.PADDING * group.PADDING


def _table_bytes(work: int) -> int:
    """Bytes of parameters and tables."""
    inner, count = _inner(work), load64(work + axes.LENGTH)
    return group.RUN_PARAMS_BYTES + 4 * _padded(axes.product(work, 0, inner)) + 8 * axes.product(work, inner, count)


def _index(planning: int, work: int, record: int) -> None:
    """Write the call, its parameters, and both tables."""
    inner, count = _inner(work), load64(work + axes.LENGTH)
    run, runs = axes.product(work, 0, inner), axes.product(work, inner, count)
    params = record + group.RECORD_BYTES
    offsets = params + group.RUN_PARAMS_BYTES
    pairs = offsets + 4 * _padded(run)
    store64(params + group.RUN, run)
    store64(params + group.INNER, offsets)
    store64(params + group.OUTER, pairs)
    _write_offsets(work, offsets, 4, 0, inner, axes.A)
    for place in range(run, _padded(run)):
        store32(offsets + 4 * place, 0)
    _write_offsets(work, pairs, 8, inner, count, axes.A)
    _write_offsets(work, pairs + 4, 8, inner, count, axes.B)
    planner, moved = load64(planning + Planning.PLANNER), run * runs * load64(work + axes.EACH)
    write_call(planner, work, record, params, _kernel(planning, work), runs, moved, moved)
    store64(record + group.RUNS, 1)
    size = run * runs * load64(work + axes.UNIT_B)
    if size >= LEAST_PAST and _is_packed(work):
        store64(record + group.PAST, size)


def _is_packed(work: int) -> int:
    """1 where B is contiguous, and begins at its element 0."""
    elements = 1
    for axis in range(work + axes.LIST, work + axes.LIST + axes.AXIS * load64(work + axes.LENGTH), axes.AXIS):
        if load64(axis + axes.B) != elements:
            return 0
        elements *= load64(axis + axes.N)
    return load64(work + axes.START_B) == 0


def _write_offsets(work: int, table: int, step: int, first: int, last: int, side: int) -> None:
    """Write the offsets in bytes of all elements along some axes, the first one fastest. step: from one to the next."""
    unit, size = load64(work + axes.UNIT_A), 1
    store32(table, 0)
    for axis in range(work + axes.LIST + axes.AXIS * first, work + axes.LIST + axes.AXIS * last, axes.AXIS):
        stride = load64(axis + side) * unit
        end = size * load64(axis + axes.N)
        for place in range(size, end):
            store32(table + step * place, load32(table + step * (place - size)) + stride)
        size = end
