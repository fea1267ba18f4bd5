"""The locks of this process that a fork takes first: its child has no other threads to open those that they hold.

A thread that needs several takes them in the order in which they stand here, as a fork does. All are reentrant.
"""

from __future__ import annotations

import concurrent.futures.thread  # noqa: F401 - registers for forks, and so does `logging`, which it imports: see below
import os
import sys
from importlib import import_module
from threading import RLock
from typing import Any

CODE = RLock()
"""Held while machine code that threads share is looked for or made (`once`)."""

DATABASE = RLock()
"""Held during a transaction of the solutions database. SQLite's tables of file locks are per process: a child that
inherits them in the middle of a transaction believes for ever that it holds that lock."""

LLVM = RLock()
"""Held while LLVM compiles or links a module, and around imports that a call makes: the locks of LLVM and of Python's
imports would stay closed in a child."""


def imported(name: str, package: str | None = None) -> Any:
    """`importlib.import_module`, for which a fork waits."""
    with LLVM:
        return import_module(name, package)


_ORDER = (CODE, DATABASE, LLVM)
_held: list[Any] = []


def _inner_lock() -> Any:
    """llvmlite's own lock, which also covers what the garbage collector frees; None before its first use."""
    ffi = sys.modules.get("llvmlite.binding.ffi")  # without a lib where another program's import is under way
    return getattr(getattr(ffi, "lib", None), "_lock", None)


def _before_fork() -> None:
    for lock in _ORDER:
        lock.acquire()
    inner = _inner_lock()
    if inner is not None:
        inner.__enter__()
    _held.append(inner)


def _after_fork() -> None:
    """In parent and child alike: the forking thread owns the locks in both."""
    inner = _held.pop()
    if inner is not None:
        inner.__exit__(None, None, None)
    for lock in reversed(_ORDER):
        lock.release()


# What another thread registers while a fork waits here is told of the fork's end only, and opens locks that it never
# took. So whatever registers is loaded with this module, and not by an import that a fork may have to wait for.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork)
