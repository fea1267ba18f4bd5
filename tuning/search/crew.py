"""Work that leaves Python's lock alone, as NumPy's does, spread over as many threads as the system grants."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Generic, TypeVar

T = TypeVar("T")
R = TypeVar("R")


class _Crew(Generic[T, R]):
    """Threads that take one item after the other, until there is none, one of them fails, or all are to stop."""

    def __init__(self, work: Callable[[T], R], items: Iterator[T]) -> None:
        self._work, self._items = work, items
        self._lock = threading.Lock()
        self.results: list[R] = []
        self.failed: BaseException | None = None
        self.stopped = False

    def serve(self) -> None:
        """What every thread does; nothing is raised."""
        try:
            for item in iter(self._taken, []):
                self.results.append(self._work(*item))
        except BaseException as error:
            self.stopped, self.failed = True, self.failed or error

    def _taken(self) -> list[T]:
        """The next item, alone in a list; an empty one where nothing is left to do."""
        with self._lock:
            found = [] if self.stopped else list(islice(self._items, 1))
            self.stopped |= not found
        return found


def spread(work: Callable[[T], R], items: Iterable[T], threads: int) -> list[R]:
    """The results of `work(item)` in any order, made on up to `threads` threads, this one included, and no more than
    there are CPUs.

    Where the system starts no more threads, those that there are do everything. What an item raises is raised here,
    when all threads have ended.
    """
    crew = _Crew(work, iter(items))
    started: list[threading.Thread] = []
    try:
        for _ in range(min(threads, _cpus()) - 1):
            thread = threading.Thread(target=crew.serve)
            if crew.stopped or not _starts(thread):
                break
            started.append(thread)
        crew.serve()
    finally:
        crew.stopped = True
        for thread in started:
            thread.join()
    if crew.failed is not None:
        raise crew.failed
    return crew.results


def _cpus() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _starts(thread: threading.Thread) -> bool:
    try:
        thread.start()
    except (RuntimeError, MemoryError):  # too many threads, or no room for one more stack
        return False
    return True
