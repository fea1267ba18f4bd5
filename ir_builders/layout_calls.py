"""Calls of kernels with what the table of layouts has prepared: functions for `integer_code`."""

from __future__ import annotations

from . import layout_fields as fields
from .array_arguments import is_left
from .array_entry_fields import MOVED, SPENT, UNKNOWN, State
from .layout_table import find, prepare
from .planner_fields import ALLOCATE, FREE, NUMBER_BITS, PARAMS_BYTES, PERMUTED_BIT, SERIAL_BYTES
from .pool_layout import PAGE, Shared, scratch_stride
from .result_fields import CHUNK
from .shared_calls import ASLEEP, TOGETHER, ended, has_cpus, joined, planned, submitted, useful_threads
from .words import call, load64, local, store64


def looked_up(state: int, layout: int, threads: int) -> int:
    """The address of the prepared call of a layout, known or new; 0 where Python has to serve it. threads: the object
    that says how many, which becomes a part of the layout. Only calls that several may share pay for a look at the CPUs
    that this thread may use, on which their default number depends: half a microsecond."""
    found = _looked_up(state, layout, threads)
    if found == 0 or load64(found + fields.PARTS) < 2 or not is_left(state, threads):
        return found
    if has_cpus(load64(state + State.SHARED)):
        return found
    store64(layout + fields.KIND, load64(layout + fields.KIND) & (1 << NUMBER_BITS) - 1)
    return _looked_up(state, layout, threads) if done(state, State.COUNT_THREADS, 0) else 0


def _looked_up(state: int, layout: int, threads: int) -> int:
    table, useful = load64(state + State.TABLE), useful_threads(state, layout, threads)
    if useful < 1 and done(state, State.COUNT_THREADS, 0):
        useful = useful_threads(state, layout, threads)
    if useful < 1:
        return 0
    store64(layout + fields.KIND, load64(layout + fields.KIND) | useful - 1 << NUMBER_BITS)
    found = find(table, layout)
    if found == 0:
        found = prepare(table, layout)
        while found < 0 and done(state, State.PROVIDE, -1 - found):
            found = prepare(table, layout)
    return found if found > 0 and load64(found + fields.PARTS) != 0 else 0


def known_still(state: int, layout: int) -> int:
    """The same of a layout that has been looked up, since when others may have changed the table."""
    found = find(load64(state + State.TABLE), layout)
    return found if found != 0 and load64(found + fields.PARTS) != 0 else 0


def done(state: int, function: int, number: int) -> int:
    """1 where a function of Python's has done what a number says; 0 with an exception."""
    arguments = local(8)
    store64(arguments, call(load64(state + State.NEW_INTEGER), number))
    if load64(arguments) == 0:
        return 0
    result = call(load64(state + State.VECTORCALL), load64(state + function), arguments, 1, 0)
    call(load64(state + State.RELEASE), load64(arguments))
    if result == 0:
        return 0
    call(load64(state + State.RELEASE), result)
    return 1


def moved(state: int, layout: int, a: int, b: int, scalars: int, threads: int) -> int:
    """Look a layout up and run it from address a to address b; UNKNOWN where the two might overlap, too, unless it is
    known of the layout that its axes are permuted in place."""
    if a == b:
        store64(layout + fields.KIND, load64(layout + fields.KIND) | 1 << PERMUTED_BIT)
    prepared = looked_up(state, layout, threads)
    if prepared == 0:
        return UNKNOWN
    if a == b:
        return run(state, prepared, a, b, scalars, threads_of(layout))
    return run_apart(state, prepared, a, b, scalars, threads_of(layout))


def threads_of(layout: int) -> int:
    """The number of threads that a layout is for."""
    return 1 + (load64(layout + fields.KIND) >> NUMBER_BITS)


def run_apart(state: int, prepared: int, a: int, b: int, scalars: int, threads: int) -> int:
    """The same of a prepared call."""
    return run(state, prepared, a, b, scalars, threads) if _apart(prepared, a, b) else UNKNOWN


def _apart(prepared: int, a: int, b: int) -> int:
    """1 where no byte between the first and last of one array at these addresses is between those of the other."""
    low_a, end_a = a + load64(prepared + fields.REACH_OF), a + load64(prepared + fields.REACH_OF + 8)
    low_b, end_b = b + load64(prepared + fields.REACH_TO), b + load64(prepared + fields.REACH_TO + 8)
    return end_a <= low_b or end_b <= low_a


def run(state: int, prepared: int, a: int, b: int, scalars: int, threads: int) -> int:
    """Run the kernel from address a to address b on so many threads at most; MOVED, UNKNOWN where addresses are odd, or
    such that Python has to find the kernel, or where workers have to be woken or memory lacks, or SPENT."""
    if a & load64(prepared + fields.ODD_A) | b & load64(prepared + fields.ODD_B):
        return UNKNOWN
    if load64(prepared + fields.LEFT) <= 0:
        return SPENT
    a, b = a + load64(prepared + fields.OFFSET_A), b + load64(prepared + fields.OFFSET_B)
    other = _other_kernel(prepared, a, b)
    if b & load64(prepared + fields.WHOLE_B) or load64(prepared + other + fields.KERNEL) == 0:
        return UNKNOWN
    parts, stride = _parts(prepared, other, threads), scratch_stride(load64(prepared + other + fields.SCRATCH))
    if stride == 0:
        return _run_with(state, prepared, other, a, b, scalars, parts, 0, 0)
    table = load64(state + State.TABLE)
    block = call(load64(table + ALLOCATE), parts * stride + PAGE)
    if block == 0:
        return UNKNOWN
    how = _run_with(state, prepared, other, a, b, scalars, parts, (block + PAGE - 1) & -PAGE, stride)
    call(load64(table + FREE), block)
    return how


def _other_kernel(prepared: int, a: int, b: int) -> int:
    """Bytes from the words of the first kernel to those of the one for such addresses."""
    of_a = fields.KERNEL_BYTES if a & load64(prepared + fields.PLACE_A) else 0
    return of_a + 2 * fields.KERNEL_BYTES if b & load64(prepared + fields.PLACE_B) else of_a


def _run_with(
    state: int, prepared: int, other: int, a: int, b: int, scalars: int, parts: int, scratch: int, stride: int
) -> int:
    """The same with scratch for each part."""
    how = joined(load64(state + State.SHARED), parts, _moved(state, prepared))
    if how == ASLEEP:
        return UNKNOWN
    store64(prepared + fields.LEFT, load64(prepared + fields.LEFT) - load64(prepared + fields.WEIGHT))
    kernel, tasks = load64(prepared + other + fields.KERNEL), load64(prepared + other + fields.TASKS)
    params = load64(prepared + fields.PARAMS)
    if load64(prepared + fields.HELD):
        call(kernel, a, b, scalars, params, scratch, 0, tasks)
        return MOVED
    owner, copied = load64(prepared + fields.OWNER), local(PARAMS_BYTES)
    if owner != 0:
        call(load64(state + State.TAKE), owner)
    elif params != 0:
        for at in range(0, PARAMS_BYTES, 8):
            store64(copied + at, load64(params + at))
        params = copied
    _run_unlocked(state, how, kernel, a, b, scalars, params, scratch, stride, tasks, parts)
    if owner != 0:
        call(load64(state + State.RELEASE), owner)
    return MOVED


def is_ready(state: int, prepared: int, threads: int) -> int:
    """1 unless workers have to be woken for a call."""
    return planned(load64(state + State.SHARED), _parts(prepared, 0, threads), _moved(state, prepared)) != ASLEEP


def _parts(prepared: int, other: int, threads: int) -> int:
    return min(min(load64(prepared + fields.PARTS), threads), load64(prepared + other + fields.TASKS))


def _moved(state: int, prepared: int) -> int:
    return load64(prepared + fields.PARTS) * load64(load64(state + State.TABLE) + SERIAL_BYTES)


def populated(state: int, block: int, size: int, threads: int) -> None:
    """Have the system fill pages of a new block of the memory of results."""
    tasks = (size + CHUNK - 1) // CHUNK
    parts = min(threads, tasks)
    how = joined(load64(state + State.SHARED), parts, size)
    kernel, memory = load64(state + State.POPULATE), load64(state + State.RESULTS)
    _run_unlocked(state, how, kernel, block, size, memory, 0, 0, 0, tasks, parts)


def _run_unlocked(
    state: int, how: int, kernel: int, a: int, b: int, scalars: int, params: int, scratch: int, stride: int,
    tasks: int, parts: int,
) -> None:  # fmt: skip
    """Other threads may run Python code meanwhile, which may forget the layout."""
    shared = load64(state + State.SHARED)
    pool, release = load64(shared + Shared.POOL), load64(shared + Shared.RELEASE)
    thread = call(load64(state + State.UNLOCK))
    if how == TOGETHER:
        submitted(shared, pool, kernel, a, b, scalars, params, scratch, stride, tasks, parts)
    else:
        call(kernel, a, b, scalars, params, scratch, 0, tasks)
    call(load64(state + State.LOCK), thread)
    if parts > 1:
        ended(shared, how, release)
