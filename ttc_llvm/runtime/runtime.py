"""Running kernels: alone in this thread, or in parts with the help of the pool's workers."""

from __future__ import annotations

import atexit
import ctypes
import os
import threading
import time
from functools import lru_cache

from .. import arguments
from ..errors import OptionError
from ..ir_builders.pool_layout import MAX_PARTICIPANTS
from ..lazy_dataclasses import dataclass, field
from ..logs import Log
from . import affinity, shared_words
from .affinity import Affinity, cpu_count
from .pool import NEVER, Call, Pool, Scratch, native

__all__ = ["Call", "num_threads", "placement", "run", "set_affinity", "set_num_threads", "thread_count"]

_log = Log(__name__)
_KERNEL = lru_cache(maxsize=256)(ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 5, ctypes.c_int64, ctypes.c_int64))
"""The function at an address: half a microsecond to make."""


def run(call: Call, threads: int, repeats: int = 1, moved: int = NEVER, whole: bool = False) -> None:
    """Run all tasks of a call on up to `threads` threads, this one included; `repeats` times in native code.

    moved: bytes; where they are few, workers that sleep are not woken. Where the pool is asleep, or busy with another
    thread's call, or threads cannot be had, this thread runs everything. whole: each thread has one part, as more of
    them would take longer together; else several, where workers sleep, of whom some come late.
    """
    if call.tasks < 1:
        return
    parts = min(threads, call.tasks, MAX_PARTICIPANTS)
    if parts < 2 or not _run_shared(call, parts, repeats, moved, whole):
        _run_alone(call, repeats)


def num_threads() -> int:
    """Threads used by default: `set_num_threads`, else OMP_NUM_THREADS, else the CPUs this thread may use."""
    count = _chosen[0] if _chosen else _omp_num_threads() or cpu_count()
    shared_words.note_threads(count, affinity.process_mask() or frozenset())
    return count


def set_num_threads(threads: int) -> None:
    """Fix the default number of threads of this process. OptionError if it is no integer or less than 1."""
    _chosen[:] = [thread_count(threads)]
    shared_words.note_threads(0, frozenset())


def thread_count(threads: int) -> int:
    """A given number of threads, checked: OptionError if it is no integer or less than 1."""
    return int(_COUNT("threads", threads, OptionError))


def set_affinity(wanted: Affinity) -> None:
    """Place workers as wanted from the next call on. OptionError where this platform cannot pin threads."""
    if wanted.policy is not affinity.Policy.NONE and affinity.process_mask() is None:
        raise OptionError(
            f"affinity {wanted} cannot be honoured: this platform cannot pin threads, only none"
        )
    with _shared.lock:
        _shared.retire()
        _shared.affinity = wanted


_AT_ONCE = (False,)  # not to wait for a lock
_COUNT = arguments.between(1)
_chosen: list[int] = []


@lru_cache(maxsize=1)
def _omp_num_threads() -> int | None:
    """The first number of OMP_NUM_THREADS, read once as OpenMP does; None where it is unset or malformed."""
    text = os.environ.get("OMP_NUM_THREADS", "").strip()
    if not text:
        return None
    first = text.partition(",")[0].strip()
    if first.isascii() and first.isdecimal() and int(first[:9]) > 0:
        return int(first[:9])
    _log.warning("OMP_NUM_THREADS=%r is ignored: it does not begin with a positive number", text)
    return None


def placement() -> Affinity:
    """The placement of workers: the last argument of `set_affinity`."""
    return _shared.affinity


def _run_shared(call: Call, parts: int, repeats: int, moved: int, whole: bool) -> bool:
    """Run a call with the pool; False, and nothing has run, where the pool is busy, or closed."""
    shared, taken = _shared, list[bool]()
    try:
        taken.extend(map(shared.lock.acquire, _AT_ONCE))  # one step: whoever interrupts cannot leave it closed
        if taken != [True] or shared.closed:
            return False
        pool = shared.ready(parts)
        if pool.sleeps(parts, moved):
            _run_alone(call, repeats)
        else:
            pool.run(call, parts, repeats, whole)
        pool.called.value = time.perf_counter_ns()
        return True
    finally:
        if taken == [True]:
            shared.lock.release()


class _Local(threading.local):
    """What a thread needs to run kernels alone."""

    def __init__(self) -> None:
        self.scratch = Scratch()


_local = _Local()


def _run_alone(call: Call, repeats: int) -> None:
    kernel, a, b, scalars, params, scratch, tasks = call
    block = _local.scratch.address(scratch) if scratch else 0
    if repeats == 1:
        _KERNEL(kernel)(a, b, scalars, params, block, 0, tasks)
    else:
        native().repeat_call(kernel, a, b, scalars, params, block, 0, tasks, repeats)


@dataclass(slots=True)
class _Shared:
    """The process' one pool, made on first use. lock: held by the thread whose call the pool runs."""

    affinity: Affinity = affinity.NONE
    lock: threading.Lock = field(default_factory=threading.Lock)
    pool: Pool | None = None
    closed: bool = False

    def ready(self, participants: int) -> Pool:
        """The pool, with enough workers; called with the lock held."""
        if self.pool is None:
            self.pool = Pool(self.affinity)
        if len(self.pool.threads) < participants - 1:
            self.pool.grow(participants)
        shared_words.publish(self.pool, self.lock)
        return self.pool

    def retire(self) -> None:
        """End the pool; the next call makes a new one. Called with the lock held."""
        if self.pool is not None:
            shared_words.withdraw()
            self.pool.stop(patience=1.0)
            self.pool = None


_shared = _Shared()


@atexit.register
def _close() -> None:
    """Leave no worker in native code while the interpreter goes down."""
    shared = _shared
    shared.closed = True
    shared_words.withdraw()
    if shared.lock.acquire(timeout=0.1):
        try:
            if shared.pool is not None:
                shared.pool.stop(patience=0.1)
        finally:
            shared.lock.release()


def _forget() -> None:
    """In a forked child: its parent's workers do not exist here, and whoever held the lock may not either."""
    global _shared
    shared_words.withdraw()
    _shared = _Shared(_shared.affinity)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
