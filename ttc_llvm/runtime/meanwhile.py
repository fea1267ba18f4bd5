"""Work that a thread of its own does while its caller goes on: LLVM compiles without the interpreter lock.

The thread is no daemon: a process ends when the work is done, and so does a fork begin then.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from .affinity import cpu_count

V = TypeVar("V")
STACK_BYTES = 8 << 20  # as main threads have: LLVM recurses
_begun = dict[threading.Thread, threading.Event]()  # and what they set when their work is over


class Meanwhile(Generic[V]):
    """The outcome of `work()`. Where there is one CPU, or no thread can be had, whoever asks for it does the work.

    work: takes no `locks.CODE`, which those may hold who wait for it; then: what such a thread does next.
    """

    def __init__(self, work: Callable[[], V], then: Callable[[], object] = bool) -> None:
        self._work, self._then = work, then
        self._made = list[V]()
        self._error: BaseException | None = None
        self._is_over = threading.Event()
        if not _begin(self._run, self._is_over):
            self._is_over.set()

    @property
    def is_over(self) -> bool:
        """True where nobody would wait for a thread."""
        return self._is_over.is_set()

    def result(self) -> V:
        """Its outcome, when it is over: what it returned, or raised."""
        self._is_over.wait()
        if self._error is not None:
            raise self._error
        if not self._made:  # by no thread
            self._made.append(self._work())
        return self._made[0]

    def _run(self) -> None:
        try:
            self._made.append(self._work())
        except BaseException as error:  # raised where it is asked for
            self._error = error
        self._is_over.set()
        try:
            if self._made:
                self._then()
        finally:
            _begun.pop(threading.current_thread(), None)


def _begin(run: Callable[[], None], is_over: threading.Event) -> bool:
    """Have a thread run it; False where there is to be none."""
    if cpu_count() < 2:
        return False
    thread = threading.Thread(target=run, name="ttc-compiler", daemon=False)
    _begun[thread] = is_over
    before = threading.stack_size(STACK_BYTES)
    try:
        thread.start()
    except (RuntimeError, MemoryError):  # the system, or the end of the process, admits none
        _begun.pop(thread, None)
        return False
    finally:
        threading.stack_size(before)
    return True


def settle() -> None:
    """Wait until all work is over that nobody needs `locks.CODE` for, as those do who are about to measure."""
    for is_over in (*_begun.values(),):
        is_over.wait()


def _finish() -> None:
    """A child has no other threads: a fork waits for what they are at."""
    for thread in (*_begun,):
        if thread.ident is not None:  # it has been started
            thread.join()


def _forget() -> None:
    """In a child, where one began meanwhile, or a signal's handler has ended the waiting."""
    for is_over in _begun.values():
        is_over.set()
    _begun.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_finish, after_in_child=_forget)
