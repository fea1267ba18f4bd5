"""One lock around LLVM, which a fork takes first: a child of a fork inside it would find LLVM's own locks closed."""

from __future__ import annotations

import os
import sys
import threading
from contextlib import AbstractContextManager
from typing import Any

_LOCK = threading.RLock()


def held() -> AbstractContextManager[object]:
    """Held while a module is compiled or linked, and around late imports, whose locks are no better; reentrant."""
    return _LOCK


def _inner_lock() -> Any:
    """llvmlite's own lock, which also covers what the garbage collector frees; None before its first use."""
    ffi = sys.modules.get("llvmlite.binding.ffi")  # without a lib where another program's import is under way
    return getattr(getattr(ffi, "lib", None), "_lock", None)


_held: list[Any] = []


def _before_fork() -> None:
    _LOCK.acquire()
    inner = _inner_lock()
    if inner is not None:
        inner.__enter__()
    _held.append(inner)


def _after_fork() -> None:
    """In parent and child alike: the forking thread owns the locks in both."""
    inner = _held.pop()
    if inner is not None:
        inner.__exit__(None, None, None)
    _LOCK.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork)
