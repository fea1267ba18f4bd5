"""Workers that no placement binds are kept off the CPU of the thread that wakes them.

Linux takes the halted CPUs of a virtual machine for busy ones, and may wake a worker on the CPU that runs the caller,
behind which it waits for a millisecond or two, though others have nothing to do.
"""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Callable

from ..lazy_dataclasses import NamedTuple
from .once import once


class Caller(NamedTuple):
    """The CPU that runs a calling thread, the CPUs that it may use, and how many threads it calls where those are more
    than the CPUs, else 0."""

    cpu: int
    cpus: frozenset[int]
    crowd: int


class Mask(NamedTuple):
    """The CPUs of a worker, those it was given last to be kept off one, and the caller for whom that was done."""

    every: frozenset[int]
    given: frozenset[int]
    caller: Caller


class WorkerMasks:
    """The masks that workers were given, by their threads; used by one caller at a time."""

    def __init__(self) -> None:
        self._known: dict[int, Mask] = {}

    def keep_off(self, worker: threading.Thread, caller: Caller) -> None:
        """Take the caller's CPU out of a worker's mask, and give back the one that was taken before. The system is not
        asked again while the caller is the same."""
        thread = worker.native_id
        known = None if thread is None else self._known.get(thread)
        if thread is None or (known is not None and known.caller == caller):
            return
        every, given = frozenset[int](), frozenset[int]() if known is None else known.given
        try:
            mask = frozenset(os.sched_getaffinity(thread))
            every = _every(mask, known, caller.cpus)
            wanted = every if caller.crowd > len(every | caller.cpus) else every - {caller.cpu} or every
            if wanted != mask:
                os.sched_setaffinity(thread, wanted)
                given = wanted
        except OSError:  # the thread may use other CPUs only, or masks must not be set here
            pass
        self._known[thread] = Mask(every, given, caller)


def _every(mask: frozenset[int], known: Mask | None, callers: frozenset[int]) -> frozenset[int]:
    """The CPUs that a worker with this mask may use, those that it was kept off among them.

    A mask that is not the one it was given was set by others. So may be one that is, where the caller has other CPUs
    than before: all threads got this mask, or the whole container got other CPUs. A worker that had the caller's CPUs
    follows it.
    """
    if known is None:
        return mask
    if callers == known.caller.cpus:
        return known.every if mask == known.given else mask
    follows = known.every == known.caller.cpus
    if mask <= known.given and mask <= callers and (follows or mask == callers):
        return callers
    if mask == known.given:
        return known.every
    return (mask & callers or mask) if follows else mask


def caller(participants: int) -> Caller | None:
    """The calling thread, of so many; None where the platform cannot say where it runs, or cannot bind threads."""
    function = _function()
    if function is None:
        return None
    cpus = frozenset(os.sched_getaffinity(0))
    return Caller(function(), cpus, participants if participants > len(cpus) else 0)


@once
def _function() -> Callable[[], int] | None:
    if not hasattr(os, "sched_setaffinity"):
        return None
    try:
        return ctypes.PyDLL(None).sched_getcpu
    except (AttributeError, OSError, TypeError):
        return None
