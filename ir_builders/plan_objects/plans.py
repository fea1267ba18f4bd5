"""The functions of plan objects, for `integer_code`: create, execute, destroy, and the lookup of a library's entries."""

from __future__ import annotations

from .. import layout_fields as asked
from ..words import call, load32, load64, local, store32, store64
from . import choices, overlaps, shapes
from . import fields as f

ONE = (0, 0x3F800000, 0x3FF0000000000000, 0x3F800000, 0x3FF0000000000000)  # 1 by arithmetic, as bits
IS_ZERO, IS_ONE, IS_OTHER = 0, 1, 2
LONGEST = 1 << 62
BYTES_PER_PART = 64 << 10  # moved: with less, starting a thread takes longer than the work that it takes over


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
    each = f.OUTER_AXES + f.OUTER_BYTES * max(0, rank + 1 - f.AXES)
    calls = f.LAYOUT + asked.AXES + asked.AXIS_BYTES * rank
    plan = call(load64(library + f.ALLOCATE), calls + each * f.KINDS * f.LEVELS)
    if plan == 0:
        return f.MEMORY
    record = load64(found)
    if _write_calls(library, record, layout, plan, plan + calls, each) < 0:
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


def _write_calls(library: int, record: int, layout: int, plan: int, at: int, each: int) -> int:
    """Write the calls of all kinds of alpha and beta; -1 where elements of B may share memory."""
    for kind in range(f.KINDS):
        for level in range(f.LEVELS):
            place = plan + f.CALLS + 8 * (f.LEVELS * kind + level)
            store64(place, 0)
            if load64(record + f.KIND + 8 * kind) and (kind <= f.SCALE or level == choices.ANYWHERE):
                status = choices.choose(library, record, layout, kind, level, at)
                if status < 0:
                    return -1
                if status:
                    store64(place, at)
                    at = at + each
    return 0


def _write_facts(record: int, layout: int, plan: int, own: int, threads: int) -> None:
    size_a, size_b = load64(record + f.SIZE_A), load64(record + f.SIZE_B)
    _write_reach(layout, plan + f.REACH_A, asked.STRIDE_OF, size_a)
    _write_reach(layout, plan + f.REACH_B, asked.STRIDE_TO, size_b)
    elements = 1
    for axis in range(layout + asked.AXES, layout + asked.AXES + asked.AXIS_BYTES * load64(layout + asked.RANK), 24):
        elements = elements * load64(axis + asked.EXTENT)
    pay = elements * (size_a + size_b) // BYTES_PER_PART
    first = load64(plan + f.CALLS + 8 * choices.ANYWHERE)
    most = min(threads, load64(first + f.TASKS) * load64(first + f.OUTER))
    if own:
        most = min(threads, load64(own + f.PROBLEM_PARTS))
    store64(plan + f.OWN, load64(own + f.ENTRY) if own else 0)
    store64(plan + f.PLAN_ARITHMETIC, load64(record + f.ARITHMETIC))
    store64(plan + f.PLAN_PARTS, max(1, min(most, pay)))
    store64(plan + f.EMPTY, elements == 0)
    store64(plan + f.ODD_A, _odd(size_a))
    store64(plan + f.ODD_B, _odd(size_b))


def _odd(size: int) -> int:
    """Address bits that are clear where elements of this size are aligned as C aligns them, to 8 bytes at most."""
    return min(size & -size, 8) - 1


def _write_reach(layout: int, reach: int, side: int, size: int) -> None:
    """Write the lowest byte and the end of one side's elements."""
    low, end = 0, size
    for axis in range(layout + asked.AXES, layout + asked.AXES + asked.AXIS_BYTES * load64(layout + asked.RANK), 24):
        span = max(0, load64(axis + asked.EXTENT) - 1) * load64(axis + side)
        low, end = low + min(span, 0), end + max(span, 0)
    store64(reach, low)
    store64(reach + 8, end)


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


# --- execution ------------------------------------------------------------------------------------------


def execute(plan: int, a: int, b: int, alpha: int, beta: int, part: int, parts_in_all: int) -> int:
    """Run one of several parts of a plan; OK, or what is wrong, and then nothing is run."""
    if plan == 0:
        return f.NULL
    if part < 0 or part >= parts_in_all:
        return f.PART
    if load64(plan + f.EMPTY):
        return f.OK
    arithmetic = load64(plan + f.PLAN_ARITHMETIC)
    if arithmetic == f.NO_SCALARS and (alpha or beta):
        return f.SCALARS
    kind = _kind(arithmetic, alpha, beta)
    reads = kind < f.ZERO
    if b == 0 or (a == 0 and reads):
        return f.NULL
    if b & load64(plan + f.ODD_B) or (a & load64(plan + f.ODD_A) and reads):
        return f.ALIGNMENT
    if reads and _meet(plan, a, b):
        return f.OVERLAP
    if load64(plan + f.OWN):
        call(load64(plan + f.OWN), a, b, alpha, beta, part, parts_in_all)
        return f.OK
    scalars = local(32)
    _write_scalar(arithmetic, alpha, ONE[arithmetic], scalars)
    _write_scalar(arithmetic, beta, 0, scalars + f.PARTS_OF[arithmetic] * f.BYTES_OF[arithmetic])
    _run(_call_for(plan, kind, b), a, b, scalars, part, parts_in_all)
    return f.OK


def _kind(arithmetic: int, alpha: int, beta: int) -> int:
    """The kind of alpha and beta."""
    which_a, which_b = _which(arithmetic, alpha, IS_ONE), _which(arithmetic, beta, IS_ZERO)
    if which_a == IS_ZERO:
        return f.ZERO if which_b == IS_ZERO else f.SCALE_B
    if which_b != IS_ZERO:
        return f.UPDATE
    return f.COPY if which_a == IS_ONE else f.SCALE


def _which(arithmetic: int, scalar: int, absent: int) -> int:
    """Whether a scalar is 0, 1 or another number; absent: which it is where it is NULL."""
    if scalar == 0:
        return absent
    real = _magnitude(arithmetic, scalar)
    if f.PARTS_OF[arithmetic] == 2 and _magnitude(arithmetic, scalar + f.BYTES_OF[arithmetic]) != 0:
        return IS_OTHER
    if real == 0:
        return IS_ZERO
    return IS_ONE if real == ONE[arithmetic] and not _is_negative(arithmetic, scalar) else IS_OTHER


def _magnitude(arithmetic: int, number: int) -> int:
    """The bits of a number but for its sign."""
    if f.BYTES_OF[arithmetic] == 4:
        return load32(number) & 0x7FFFFFFF
    return load64(number) & 0x7FFFFFFFFFFFFFFF


def _is_negative(arithmetic: int, number: int) -> int:
    return (load32(number) if f.BYTES_OF[arithmetic] == 4 else load64(number)) < 0


def _write_scalar(arithmetic: int, scalar: int, absent: int, at: int) -> None:
    """Write a scalar, or the bits of an absent one, for kernels."""
    size = f.BYTES_OF[arithmetic]
    for k in range(f.PARTS_OF[arithmetic]):
        value = absent if k == 0 else 0
        if scalar:
            value = load32(scalar + k * size) if size == 4 else load64(scalar + k * size)
        if size == 4:
            store32(at + k * size, value)
        else:
            store64(at + k * size, value)


def _meet(plan: int, a: int, b: int) -> int:
    """1 where A and B share memory, or may do so."""
    if a + load64(plan + f.REACH_A) >= b + load64(plan + f.REACH_B + 8):
        return 0
    if b + load64(plan + f.REACH_B) >= a + load64(plan + f.REACH_A + 8):
        return 0
    size_a, size_b = _size(plan, f.REACH_A, asked.STRIDE_OF), _size(plan, f.REACH_B, asked.STRIDE_TO)
    return overlaps.share(plan + f.LAYOUT, b - a, size_a, size_b)


def _size(plan: int, reach: int, side: int) -> int:
    """Bytes of an element: what its tensor reaches over beside the strides."""
    found, layout = load64(plan + reach + 8) - load64(plan + reach), plan + f.LAYOUT
    for axis in range(layout + asked.AXES, layout + asked.AXES + asked.AXIS_BYTES * load64(layout + asked.RANK), 24):
        found = found - (load64(axis + asked.EXTENT) - 1) * abs(load64(axis + side))
    return found


def _call_for(plan: int, kind: int, b: int) -> int:
    """The call for a B at this address."""
    found = load64(plan + f.CALLS + 8 * (f.LEVELS * kind + choices.ANYWHERE))
    for level in range(choices.ANYWHERE):
        other = load64(plan + f.CALLS + 8 * (f.LEVELS * kind + level))
        if other:
            if (b + load64(other + f.OFFSET_B)) & load64(other + f.ODD) == 0:
                return other
    return found


def _run(what: int, a: int, b: int, scalars: int, part: int, parts_in_all: int) -> None:
    """Run a part of a call."""
    tasks = load64(what + f.TASKS)
    total = tasks * load64(what + f.OUTER)
    begin, end = _edge(total, part, parts_in_all), _edge(total, part + 1, parts_in_all)
    memory = local(f.SCRATCH + 64)
    scratch = (memory + 63) & -64
    while begin < end:
        around = begin // tasks
        first = begin - around * tasks
        last = min(tasks, first + end - begin)
        of, to = a + load64(what + f.OFFSET_A), b + load64(what + f.OFFSET_B)
        for axis in range(what + f.OUTER_AXES, what + f.OUTER_AXES + f.OUTER_BYTES * load64(what + f.AROUND), 24):
            index = around % load64(axis)
            around = around // load64(axis)
            of, to = of + index * load64(axis + 8), to + index * load64(axis + 16)
        call(load64(what + f.KERNEL), of, to, scalars, what + f.PARAMS, scratch, first, last)
        begin = begin + last - first


def _edge(tasks: int, part: int, parts_in_all: int) -> int:
    """Where a part begins: parts are balanced and contiguous. Split so that no product overflows."""
    each = tasks // parts_in_all
    return each * part + (tasks - each * parts_in_all) * part // parts_in_all
