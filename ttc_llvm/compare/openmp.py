"""Placement of OpenMP's threads: as many as ours, on the CPUs that ours would have."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from ..runtime import affinity, runtime

MOST_THREADS = 1024  # as of our own pool: OpenMP's libraries crash where there are too many
# Workers of LLVM's and Intel's OpenMP poll for 200 ms after their work: others would be measured beside them.
POLLING = {"KMP_BLOCKTIME": "10"}
_PLACE = ctypes.CFUNCTYPE(None, ctypes.c_int)
Places = tuple[int | None, ...]


def poll_briefly() -> None:
    """Tell OpenMP libraries that are loaded from now on, unless the environment says otherwise."""
    for name, value in POLLING.items():
        os.environ.setdefault(name, value)


def places(threads: int) -> Places:
    """The CPU of each OpenMP thread, None = not pinned: as ours, but the calling one as well. OpenMP's threads
    wait for each other; two that meet on one CPU take a time slice each."""
    if threads < 2:
        return (None,)
    return affinity.places(runtime.placement(), threads, affinity.process_mask() or (), _topology())


def place(number: Any, threads: int, where: Places) -> None:
    """Bind OpenMP's workers; thread 0 is whoever calls. number: the library's function of (threads, callback)."""

    def pin(thread: int) -> None:
        cpu = where[thread] if 0 < thread < len(where) else None
        if cpu is not None:
            affinity.pin(cpu)

    number(threads, ctypes.cast(_PLACE(pin), ctypes.c_void_p) if any(cpu is not None for cpu in where) else None)


@contextmanager
def kept(where: Places) -> Iterator[None]:
    """This thread on its place for as long as a reference runs."""
    mask = affinity.process_mask()
    if where[0] is None or mask is None or not affinity.pin(where[0]):
        yield
        return
    try:
        yield
    finally:
        os.sched_setaffinity(0, mask)


_topology = lru_cache(maxsize=1)(affinity.read_topology)
