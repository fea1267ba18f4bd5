"""Workers that no placement binds are kept off the CPU of the thread that wakes them.

Linux takes the halted CPUs of a virtual machine for busy ones, and may wake a worker on the CPU that runs the caller,
behind which it waits for a millisecond or two, though others have nothing to do.
"""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Callable
from typing import NamedTuple

from .once import once


class Mask(NamedTuple):
    """The CPUs of a worker, and those left to it while it is kept off one of them."""

    cpu: int
    every: frozenset[int]
    left: frozenset[int]


class WorkerMasks:
    """The masks that workers were given, by their threads; used by one caller at a time."""

    def __init__(self) -> None:
        self._known: dict[int, Mask] = {}

    def keep_off(self, worker: threading.Thread, cpu: int) -> None:
        """Take a CPU out of a worker's mask, and give back the one that was taken before."""
        thread = worker.native_id
        known = None if thread is None else self._known.get(thread)
        if thread is None or (known is not None and known.cpu == cpu):
            return
        try:
            mask = frozenset(os.sched_getaffinity(thread))
            every = mask if known is None or mask != known.left else known.every  # others may have changed it
            left = every - {cpu} or every
            if left != mask:
                os.sched_setaffinity(thread, left)
        except OSError:  # the thread has ended, or may use other CPUs only
            return
        self._known[thread] = Mask(cpu, every, left)


def this_cpu() -> int | None:
    """The CPU that runs the calling thread; None where the platform cannot say, or cannot bind threads."""
    function = _function()
    return None if function is None else function()


@once
def _function() -> Callable[[], int] | None:
    if not hasattr(os, "sched_setaffinity"):
        return None
    try:
        return ctypes.PyDLL(None).sched_getcpu
    except (AttributeError, OSError, TypeError):
        return None
