"""The locks of this process that a fork takes first: its child has no other threads to open those that they hold.

A thread that needs several takes them in the order in which they stand here, as a fork does. All are reentrant.
"""

from __future__ import annotations

import atexit
import gc
import os
import sys
from _thread import RLock  # without `threading`, which takes longer to load than this package
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property as _cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any

CODE = RLock()
"""Held while machine code that threads share is looked for or made (`once`)."""

DATABASE = RLock()
"""Held during a transaction of the solutions database. SQLite's tables of file locks are per process: a child that
inherits them in the middle of a transaction believes for ever that it holds that lock."""

LLVM = RLock()
"""Held while LLVM is loaded, and while it compiles or links a module: its locks would stay closed in a child."""

IMPORTS = RLock()
"""Held around imports that a call makes, and while IR is built: so would the locks of Python's imports."""


@contextmanager
def uncollected() -> Iterator[None]:
    """No garbage collection: imports and the building of IR make thousands of objects that all live, for which several
    would start. Forks wait: their children would never collect any."""
    with IMPORTS:
        enabled = gc.isenabled()
        try:
            gc.disable()
            yield
        finally:
            if enabled:
                gc.enable()


def imported(name: str, package: str | None = None) -> Any:
    """`importlib.import_module`, for which a fork waits. An interrupt that strikes it is raised as it is."""
    if not name.startswith((".", "ttc_llvm")) and name not in sys.stdlib_module_names:
        import_module("logging")  # which other packages load, and which registers for forks: see below
    with uncollected():
        try:
            return import_module(name, package)
        except RuntimeError as error:  # Python up to 3.11 wraps whatever strikes in a `__set_name__`
            if isinstance(error.__cause__, KeyboardInterrupt):
                raise error.__cause__ from None
            raise


if TYPE_CHECKING:
    from functools import cached_property as cached_property
else:

    class cached_property(_cached_property):
        """The same without the lock of all objects of a class that Python 3.11's holds while it makes a value, which no
        fork can take: two threads may each make an equal value."""

        def __get__(self, owner: Any, cls: Any = None) -> Any:
            if owner is None:
                return self
            values = owner.__dict__
            if self.attrname not in values:
                values[self.attrname] = self.func(owner)
            return values[self.attrname]


PATIENCE = 5.0  # seconds that the end of the process waits for each, longer than modules take
_ORDER = (CODE, DATABASE, LLVM, IMPORTS)
_held: list[list[Any]] = []


def _inner_lock() -> Any:
    """llvmlite's own lock, which also covers what the garbage collector frees; None before its first use."""
    ffi = sys.modules.get("llvmlite.binding.ffi")  # without a lib where another program's import is under way
    lock = getattr(getattr(getattr(ffi, "lib", None), "_lock", None), "_lock", None)
    return lock if hasattr(lock, "_is_owned") else None


def _before_fork() -> None:
    """A signal whose handler raises while this waits does not end it: Python forks all the same."""
    taken, raised = list[Any](), list[BaseException]()
    _held.append(taken)
    for lock in _ORDER:
        _take(lock, taken, raised)
    _take(_inner_lock(), taken, raised)  # asked for last: whoever held ours may have loaded llvmlite
    if raised:  # Python shows it, and goes on
        raise raised[0]


def _take(lock: Any, taken: list[Any], raised: list[BaseException]) -> None:
    if lock is None or lock._is_owned():
        return
    taken.append(lock)
    while not lock._is_owned():
        try:
            lock.acquire()
        except BaseException as error:
            raised.append(error)


def _after_fork() -> None:
    """In parent and child alike: the forking thread owns the locks in both."""
    for lock in reversed(_held.pop()):
        lock.release()


@atexit.register
def _at_exit() -> None:
    """Daemon threads make no code from here on: LLVM's own variables are about to be destroyed."""
    for lock in _ORDER:
        lock.acquire(timeout=PATIENCE)


# What another thread registers while a fork waits here is told of the fork's end only, and opens locks that it never
# took. So whatever registers is loaded before an import that a fork may have to wait for.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork)
