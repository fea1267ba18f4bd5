"""The functions of plan objects, for `integer_code`: create and destroy plans, and look up a library's entries."""

from __future__ import annotations

from .. import canonical_axes as axes
from .. import layout_fields as asked
from ..prepared_calls import write_reach
from ..words import call, load64, local, store64
from . import choices, shapes
from . import fields as f


def create(
    library: int, out: int, rank: int, perm: int, size: int, strides_a: int, strides_b: int, types: int, threads: int
) -> int:
    """Write the address of a new plan to `out`; OK, or what is wrong, and then NULL is written."""
    if out == 0:
        return f.NULL
    store64(out, 0)
    layout, found = local(asked.LAYOUT_BYTES), local(16)
    status = _described(library, layout, found, rank, perm, size, strides_a, strides_b, types)
    if status != f.OK:
        return status
    if threads < 1 or threads > f.MOST_THREADS:
        return f.THREADS
    each = f.OUTER_AXES + f.OUTER_BYTES * (rank + 1 + f.DIVIDED)
    calls = f.LAYOUT + asked.AXES + asked.AXIS_BYTES * rank
    plan = call(load64(library + f.ALLOCATE), calls + each * f.KINDS * f.LEVELS)
    if plan == 0:
        return f.MEMORY
    record = load64(found)
    if _write_calls(library, record, layout, threads, plan, plan + calls, each) < 0:
        call(load64(library + f.FREE), plan)
        return f.STRIDES
    for word in range(0, asked.AXES + asked.AXIS_BYTES * rank, 8):
        store64(plan + f.LAYOUT + word, load64(layout + word))
    own = shapes.entry_of(library, record, rank, perm, size, strides_a, strides_b)
    _write_facts(record, layout, plan, own, threads)
    store64(out, plan)
    return f.OK


def _described(
    library: int, layout: int, found: int, rank: int, perm: int, size: int, strides_a: int, strides_b: int, types: int
) -> int:
    """Write the layout, and to `found` the record of the types; OK, or what is wrong."""
    if rank < 0 or rank > f.MOST_RANK:
        return f.RANK
    if types == 0 or (rank > 0 and (perm == 0 or size == 0)):
        return f.NULL
    record = shapes.types_of(library, types)
    if record == 0:
        return f.TYPES
    store64(found, record)
    return shapes.describe(record, layout, rank, perm, size, strides_a, strides_b)


def _write_calls(
    library: int, record: int, layout: int, threads: int, plan: int, at: int, each: int
) -> int:
    """Write the calls of all kinds of alpha and beta; -1 where elements of B may share memory."""
    for kind in range(f.KINDS):
        for level in range(f.LEVELS):
            place = plan + f.CALLS + 8 * (f.LEVELS * kind + level)
            store64(place, 0)
            if load64(record + f.KIND + 8 * kind) and (kind <= f.SCALE or level == choices.ANYWHERE):
                status = choices.choose(library, record, layout, kind, level, threads, at)
                if status < 0:
                    return -1
                if status:
                    store64(place, at)
                    at = at + each
    return 0


def _write_facts(record: int, layout: int, plan: int, own: int, threads: int) -> None:
    size_a, size_b = load64(record + f.SIZE_A), load64(record + f.SIZE_B)
    write_reach(layout, plan + f.REACH_A, asked.STRIDE_OF, size_a)
    write_reach(layout, plan + f.REACH_B, asked.STRIDE_TO, size_b)
    elements = 1
    for axis in range(layout + asked.AXES, axes.end(layout), asked.AXIS_BYTES):
        elements = elements * load64(axis + asked.EXTENT)
    _write_sure(plan + f.REACH_A, plan + f.SURE_A, elements, size_a)
    _write_sure(plan + f.REACH_B, plan + f.SURE_B, elements, size_b)
    store64(plan + f.WEIGHT, elements * (size_a + size_b))
    pay = elements * (size_a + size_b) // f.BYTES_PER_PART
    most = threads
    for level in range(f.LEVELS):  # of copies
        one = load64(plan + f.CALLS + 8 * level)
        if one:
            most = min(most, load64(one + f.TASKS) * load64(one + f.OUTER))
    if own:
        most = min(threads, load64(own + f.PROBLEM_PARTS))
    store64(plan + f.OWN, load64(own + f.ENTRY) if own else 0)
    store64(plan + f.PLAN_ARITHMETIC, load64(record + f.ARITHMETIC))
    store64(plan + f.PLAN_PARTS, max(1, min(most, pay)))
    store64(plan + f.EMPTY, elements == 0)
    store64(plan + f.ODD_A, _odd(size_a))
    store64(plan + f.ODD_B, _odd(size_b))


def _write_sure(reach: int, sure: int, elements: int, size: int) -> None:
    """Write which bytes certainly belong to elements."""
    low, end = load64(reach), load64(reach + 8)
    dense = end - low == elements * size
    store64(sure, low if dense else 0)
    store64(sure + 8, end if dense else size)


def _odd(size: int) -> int:
    """Address bits that are clear where elements of this size are aligned as C aligns them, to 8 bytes at most."""
    return min(size & -size, 8) - 1


def destroy(library: int, plan: int) -> None:
    """Free a plan."""
    if plan:
        call(load64(library + f.FREE), plan)


def parts(plan: int) -> int:
    """The number of parts that pay, 0 where there is no plan."""
    return load64(plan + f.PLAN_PARTS) if plan else 0


def lookup(
    library: int, rank: int, perm: int, size: int, strides_a: int, strides_b: int, types: int
) -> int:
    """The entry of the library's problem of this very shape, 0 where there is none."""
    layout, found = local(asked.LAYOUT_BYTES), local(16)
    if _described(library, layout, found, rank, perm, size, strides_a, strides_b, types) != f.OK:
        return 0
    own = shapes.entry_of(library, load64(found), rank, perm, size, strides_a, strides_b)
    return load64(own + f.ENTRY) if own else 0
