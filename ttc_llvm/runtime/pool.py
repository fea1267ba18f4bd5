"""Worker threads, and the memory through which they get their jobs.

Workers are daemon threads of Python that spend their lives in native code (`ir_builders.dispatch`) without
the interpreter lock. After a job they poll for the next one for `POLL_SECONDS`, then wait for a semaphore of
the C library: no OpenMP, nothing that other runtimes in the process could collide with. A caller never
waits for a worker that has taken nothing; what no worker takes in time, the caller runs itself.
"""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import locks
from ..ir_builders import pool_layout as layout
from ..lazy_dataclasses import NamedTuple, dataclass
from ..logs import Log
from . import affinity, shared_words, stored_code
from .affinity import Affinity, cpu_count
from .once import once
from .worker_masks import Caller, WorkerMasks, caller

POLL_SECONDS = 150e-6  # how long an idle worker polls before it parks
PATIENCE_SECONDS = 20e-6  # how long a caller polls for others' parts before it offers its CPU
CROWDED_POLLS = 64  # the same for everybody, in polls, where there are more participants than CPUs
NEVER = 1 << 62

_log = Log(__name__)
_ADDRESS, _INT = ctypes.c_void_p, ctypes.c_int64
_NATIVE: dict[str, tuple[Any, tuple[Any, ...]]] = {  # result and arguments of what `dispatch.build` defines
    "work": (None, (_ADDRESS, _INT)),
    "submit": (None, (*[_ADDRESS] * 7, *[_INT] * 4)),
    "wake": (None, (_ADDRESS, _INT)),
    "repeat_call": (None, (*[_ADDRESS] * 6, *[_INT] * 3)),
    "pauses": (None, (_INT,)),
}


class Call(NamedTuple):
    """One run of a kernel. A tuple, not a dataclass: it is built on every call, four times as fast.

    kernel, a, b, scalars, params: addresses; scratch: bytes needed per thread; tasks: size of the task grid.
    Whoever calls keeps what the addresses point to alive.
    """

    kernel: int
    a: int
    b: int
    scalars: int
    params: int
    scratch: int
    tasks: int


@dataclass(slots=True)
class Scratch:
    """A page-aligned block that grows on demand."""

    block: Any = None
    size: int = 0
    start: int = 0

    def address(self, size: int) -> int:
        """The address of at least `size` bytes; 0 for none."""
        if size > self.size:
            self.block, self.start = aligned(size)
            self.size = size
        return self.start if size else 0


def aligned(size: int) -> tuple[Any, int]:
    """A block of zeros, and the address of its first page boundary, behind which `size` bytes follow."""
    block = np.zeros(size + layout.PAGE, np.uint8)
    return block, -(-block.ctypes.data // layout.PAGE) * layout.PAGE


@dataclass(frozen=True, slots=True)
class Native:
    """The dispatcher's entries, and polls per second on this machine."""

    work: Callable[..., None]
    submit: Callable[..., None]
    wake: Callable[..., None]
    repeat_call: Callable[..., None]
    pauses: Callable[..., None]
    rate: float
    address: int  # of `submit`, which native code calls itself


@once
def native() -> Native:
    """The dispatcher, compiled and loaded on first use."""
    code = stored_code.native("workers", str(layout.REVISION), tuple(_NATIVE), _compiled)
    entries: dict[str, Any] = {
        name: code.function(name, ctypes.CFUNCTYPE(result, *arguments))
        for name, (result, arguments) in _NATIVE.items()
    }
    return Native(**entries, rate=_poll_rate(entries["pauses"]), address=code.address("submit"))


def _compiled() -> bytes:
    dispatch, backend = (locks.imported(name, __package__) for name in ("..ir_builders.dispatch", ".backend"))
    target = backend.host_target()
    return bytes(backend.compile_object(str(dispatch.build(target.triple)), target))


def _poll_rate(pauses: Callable[..., None], polls: int = 1000) -> float:
    """Polls per second: a pause takes 10 to 140 cycles, depending on the processor."""

    def seconds() -> float:
        start = time.perf_counter()
        pauses(polls)
        return time.perf_counter() - start

    return polls / max(min(seconds() for _ in range(5)), 1e-9)


def _system_calls() -> dict[str, int]:
    """The C library's functions that offer this CPU to other threads, and wait for semaphores and post them."""
    library = ctypes.CDLL(None)
    names = {"yield": library.sched_yield, "wait": library.sem_wait, "post": library.sem_post}
    return {name: ctypes.cast(function, _ADDRESS).value or 0 for name, function in names.items()}


class Pool:
    """Worker threads and their memory; used by one caller at a time."""

    def __init__(self, placement: Affinity) -> None:
        self.native = native()
        self.placement = placement
        self.stopped = False
        self.threads: list[threading.Thread] = []
        self.scratch = Scratch()
        self.block, self.start = aligned(layout.POOL_BYTES)
        first = self.start - self.block.ctypes.data + layout.STATES
        self.states = memoryview(self.block)[first : first + layout.MAX_PARTICIPANTS]
        self.masks = WorkerMasks()
        self.kept: tuple[Caller, int] | None = None  # off whose CPU so many participants are
        self.called, self.begun = (ctypes.c_int64.from_address(self.start + at) for at in (layout.CALLED, layout.BEGUN))

    def sleeps(self, parts: int, moved: int) -> bool:
        """True where waking workers for a call that moves so many bytes takes longer than it gains, and calls have not
        followed each other at once for a while, as those do that would find them awake."""
        if layout.PARKED not in self.states[1:parts].tobytes():
            return False
        now = time.perf_counter_ns()
        idle = now - self.called.value
        if idle >= layout.BURST_SECONDS * 1e9:
            self.begun.value = now
        least = layout.WAKING_BYTES >> (idle < layout.LATELY)
        return moved < least and now - self.begun.value < layout.LASTING

    def run(self, call: Call, parts: int, repeats: int, whole: bool = False) -> None:
        """Share the parts with all workers that come in time; those that are parked are woken. whole: before the parts
        are made, of which each thread then has one, where no others hold CPUs that workers would wait for."""
        kernel, a, b, scalars, params, scratch, tasks = call
        stride = layout.scratch_stride(scratch)
        block = self.scratch.address(stride * parts)
        if layout.PARKED in self.states[1:parts].tobytes():
            self._keep_off(parts)
            if whole and not locks.imported(".waiting", __package__).others_run():
                self.native.wake(self.start, parts)
        self.native.submit(self.start, kernel, a, b, scalars, params, block, stride, tasks, parts, repeats)

    def grow(self, participants: int) -> None:
        """Start workers until there are enough; where the system allows no more, callers do their parts."""
        places = self._places(participants)
        self._configure(participants)
        for number in range(len(self.threads) + 1, participants):
            semaphore = self.start + layout.LANES + layout.LANE * number + layout.SEMAPHORE
            ctypes.CDLL(None).sem_init(_ADDRESS(semaphore), 0, 0)
            arguments = (self, number, places[number])
            thread = threading.Thread(target=_serve, args=arguments, name=f"ttc-worker-{number}", daemon=True)
            self.threads.append(thread)
            try:
                thread.start()
            except (RuntimeError, MemoryError) as error:
                _log.warning("worker thread %d cannot be started (%s): callers do its parts", number, error)

    def stop(self, patience: float) -> None:
        """End all workers and wait for them, `patience` seconds at most."""
        self.stopped = True
        ctypes.c_int64.from_address(self.start + layout.WORD).value = layout.STOP
        self.native.wake(self.start, len(self.threads) + 1)
        deadline = time.monotonic() + patience
        for thread in self.threads:
            if thread.ident is not None:
                thread.join(max(0.0, deadline - time.monotonic()))

    def _keep_off(self, parts: int) -> None:
        """Keep workers off the CPU of this thread, which is about to wake them."""
        waking = caller(parts) if self.placement == affinity.NONE else None
        if waking is None:
            return
        for worker in self.threads[: parts - 1] if self.kept != (waking, parts) else ():
            self.masks.keep_off(worker, waking)
        self.kept = (waking, parts)
        shared_words.note_kept_off(waking.cpu, parts)

    def _places(self, participants: int) -> tuple[int | None, ...]:
        if self.placement == affinity.NONE:  # the system's files take as long as the first call
            return (None,) * participants
        mask = affinity.process_mask() or frozenset()
        return affinity.places(self.placement, participants, mask, affinity.read_topology())

    def _configure(self, participants: int) -> None:
        rate = self.native.rate
        polls, patience = int(rate * POLL_SECONDS), int(rate * PATIENCE_SECONDS)
        values = {"worker_polls": polls, "worker_yields": NEVER, "submitter_yields": patience}
        if participants > cpu_count():
            values = dict.fromkeys(values, CROWDED_POLLS) | {"worker_polls": 4 * CROWDED_POLLS}
        values |= _system_calls()
        slots = (ctypes.c_int64 * len(values)).from_address(self.start + layout.CONFIG)
        slots[:] = [values[name] for name in layout.CONFIG_FIELDS]


def _serve(pool: Pool, number: int, cpu: int | None) -> None:
    """A worker's life."""
    if cpu is not None and not affinity.pin(cpu):
        _log.warning("worker thread %d cannot be bound to CPU %d", number, cpu)
    pool.native.work(pool.start, number)
