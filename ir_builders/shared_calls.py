"""Calls of kernels that several threads share, from the native entries of arrays: functions for `integer_code`.

Python makes the pool of workers, adds to it, and keeps them off the CPU of their caller (`runtime.runtime`). The
interpreter lock is held until `submitted` runs.
"""

from __future__ import annotations

from . import pool_layout as pools
from .array_arguments import integer, is_left
from .array_entry_fields import State
from .layout_fields import AXES, AXIS_BYTES, EXTENT, FIRST_SCALED_KIND, KIND, RANK
from .layout_kinds import bytes_of, bytes_to
from .planner_fields import ODD_BITS, SERIAL_BYTES
from .pool_layout import Shared
from .words import call, call32, load8, load64, local, store64

ALONE, TOGETHER, ASLEEP = 0, 1, 2
"""How a call runs: on this thread, with others, or as Python says, which prepares them."""
MONOTONIC = 1  # the clock of the C library that `time.perf_counter` reads


def useful_threads(state: int, layout: int, thing: int) -> int:
    """Threads that are worth their while, of those that an argument allows; 0 where Python has to count them."""
    worth = _worth(state, layout)
    if worth < 2:
        return 1
    shared = load64(state + State.SHARED)
    most = load64(shared + Shared.THREADS) if is_left(state, thing) else integer(state, thing)
    return min(min(worth, most), pools.MAX_PARTICIPANTS)


def is_small(state: int, layout: int) -> int:
    """1 where one thread suffices."""
    return _worth(state, layout) < 2


def _worth(state: int, layout: int) -> int:
    return _moved(layout) // load64(load64(state + State.TABLE) + SERIAL_BYTES)


def _moved(layout: int) -> int:
    """Bytes of both arrays."""
    kind = load64(layout + KIND)
    if kind < FIRST_SCALED_KIND:
        return elements(layout) * 2 * kind
    kind = (kind & (1 << ODD_BITS) - 1) - FIRST_SCALED_KIND
    return elements(layout) * (bytes_of(kind) + bytes_to(kind))


def elements(layout: int) -> int:
    """The number of elements of an array of this layout."""
    count = 1
    for k in range(load64(layout + RANK)):
        count *= load64(layout + AXES + AXIS_BYTES * k + EXTENT)
    return count


def has_cpus(shared: int) -> int:
    """1 while the CPUs that this thread may use are those with which `num_threads` has said how many threads."""
    mask, ask = local(pools.MASK_BYTES), load64(shared + Shared.GET_MASK)
    for at in range(0, pools.MASK_BYTES, 8):
        store64(mask + at, 0)
    if ask == 0 or call32(ask, 0, pools.MASK_BYTES, mask) < 0:
        return 0
    for at in range(0, pools.MASK_BYTES, 8):
        if load64(mask + at) != load64(shared + Shared.MASK + at):
            return 0
    return 1


def joined(shared: int, parts: int, moved: int) -> int:
    """The way in which a call of so many parts is to run. TOGETHER: the caller has the pool until it calls `ended`."""
    how = planned(shared, parts, moved)
    if how != TOGETHER:
        return how
    found = call(load64(shared + Shared.CALL), load64(shared + Shared.ACQUIRE), load64(shared + Shared.AT_ONCE))
    if found == 0:
        call(load64(shared + Shared.CLEAR))
        return ASLEEP
    call(load64(shared + Shared.DROP), found)
    return TOGETHER if found == load64(shared + Shared.TRUE) else ALONE


def planned(shared: int, parts: int, moved: int) -> int:
    """The same, before anybody has the pool."""
    pool = load64(shared + Shared.POOL)
    if parts < 2:
        return ALONE
    if pool == 0 or load64(shared + Shared.PARTICIPANTS) < parts:
        return ASLEEP
    if not _any_parked(pool, parts):
        return TOGETHER
    time, least = now(shared), load64(shared + Shared.WAKING)
    idle = time - load64(pool + pools.CALLED)
    if idle >= load64(shared + Shared.BURST):
        store64(pool + pools.BEGUN, time)
    if idle < pools.LATELY:
        least = least >> 1
    if time - load64(pool + pools.BEGUN) < pools.LASTING and moved < least:
        return ALONE
    return TOGETHER if _off_this_cpu(shared, parts) else ASLEEP


def _off_this_cpu(shared: int, parts: int) -> int:
    """1 where sleeping workers may be woken at once, which would not come where this thread runs."""
    kept = load64(shared + Shared.KEPT_OFF)
    if kept <= 0:
        return kept == pools.ANYWHERE
    return load64(shared + Shared.KEPT) >= parts and kept == 1 + call32(load64(shared + Shared.GET_CPU))


def _any_parked(pool: int, parts: int) -> int:
    for worker in range(1, parts):
        if load8(pool + pools.STATES + worker) == pools.PARKED:
            return 1
    return 0


def submitted(
    shared: int, pool: int, kernel: int, a: int, b: int, scalars: int, params: int, scratch: int, stride: int,
    tasks: int, parts: int,
) -> None:  # fmt: skip
    """Run a call. What no worker takes in time, the caller runs."""
    call(load64(shared + Shared.SUBMIT), pool, kernel, a, b, scalars, params, scratch, stride, tasks, parts, 1)


def ended(shared: int, how: int, release: int) -> None:
    """A call of several parts has ended. release: of the lock that `joined` took."""
    pool = load64(shared + Shared.POOL)
    if pool != 0:
        store64(pool + pools.CALLED, now(shared))
    if how != TOGETHER:
        return
    found = call(load64(shared + Shared.CALL), release, 0)
    if found == 0:
        call(load64(shared + Shared.CLEAR))
    else:
        call(load64(shared + Shared.DROP), found)


def now(shared: int) -> int:
    """Nanoseconds of `time.perf_counter`."""
    time = local(16)
    call32(load64(shared + Shared.CLOCK), MONOTONIC, time)
    return load64(time) * 1000000000 + load64(time + 8)
