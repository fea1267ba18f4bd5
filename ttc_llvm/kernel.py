"""Kernels: compiled plans in executable memory, and the bounded cache that owns them."""

from __future__ import annotations

import gc
import os
import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from . import llvm_lock
from . import plan as plans
from .canonical import Canonical
from .lower import lower
from .nest import LoopNest
from .plan import CpuPlan
from .target import Target

if TYPE_CHECKING:
    from .backend import Loaded

NAME = "kernel"
CAPACITY = 256
CODE = 2  # revision of what kernels expect of a caller, scratch above all: stored objects of another are not run

Objects = Mapping[str, bytes]  # object code, by the text of its plan


@dataclass(frozen=True, slots=True)
class Kernel:
    """Executable code of one plan. tasks: size of its task grid, 0 where parameters decide; scratch: bytes per
    thread; alignment: bytes that B's base must be a multiple of (1 = any); code: the object file behind it."""

    address: int
    tasks: int
    scratch: int
    alignment: int
    code: bytes
    loaded: Loaded  # keeps the executable memory alive


def ir_text(canonical: Canonical, plan: CpuPlan, target: Target) -> str:
    """The LLVM IR of a plan's kernel, before optimisation."""
    return _text(lower(canonical, plan, target), target)


def _text(nest: LoopNest, target: Target) -> str:
    with _uncollected():
        return str(_builder().build(nest, target, NAME))


@contextmanager
def _uncollected() -> Iterator[None]:
    """No garbage collection while a module is built: thousands of objects that all live would start several."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@lru_cache(maxsize=1)
def _builder() -> Any:
    with llvm_lock.held():
        from .ir_builders import module
    return module


def build(canonical: Canonical, plan: CpuPlan, target: Target, code: bytes | None = None) -> Kernel:
    """Compile a plan, or link it from its stored object code without running LLVM's optimiser."""
    from . import backend

    nest = lower(canonical, plan, target)
    if code is None:
        code = backend.compile_object(_text(nest, target), target)
    loaded = backend.load(code, (NAME,))
    tasks = 0 if nest.params else nest.tasks
    return Kernel(loaded.address(NAME), tasks, nest.scratch, nest.alignment, code, loaded)


class KernelCache:
    """Least recently used kernels by (canonical form, plan, target); at most `capacity` stay in memory."""

    def __init__(self, capacity: int = CAPACITY) -> None:
        self._capacity = capacity
        self._kernels: OrderedDict[tuple[Canonical, CpuPlan, str], Kernel] = OrderedDict()
        self._lock = threading.Lock()

    def obtain(self, canonical: Canonical, plan: CpuPlan, target: Target, code: bytes | None = None) -> Kernel:
        """The kernel of this plan, compiled (or linked from `code`) if it is not cached."""
        key = (canonical, plan, target.key)
        with self._lock:
            if key in self._kernels:
                self._kernels.move_to_end(key)
                return self._kernels[key]
        kernel = build(canonical, plan, target, code)
        with self._lock:
            self._kernels[key] = kernel
            while len(self._kernels) > self._capacity:
                self._kernels.popitem(last=False)
        return kernel

    def renew_lock(self) -> None:
        """A child forked while another thread held the lock gets a fresh one."""
        self._lock = threading.Lock()


cache = KernelCache()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: cache.renew_lock())


def revision() -> str:
    """What object code has to share with this program to run in it."""
    from . import __version__

    return f"{plans.VERSION} code{CODE} ttc{__version__}"


def versions() -> str:
    """The versions that a stored plan and its object code depend on: another release may build other code."""
    from . import backend

    return f"{revision()} llvm{backend.llvm_version()}"
