"""A planned transposition as machine code, and the shortest way into it from Python."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

from .. import locks
from ..errors import CompileError, TargetError
from ..ir_builders import pool_layout
from ..lazy_dataclasses import dataclass
from ..logs import Log
from ..lowering.plan import CpuPlan, parse
from ..machine.target import Target
from ..problem.canonical import Placed
from . import kernel
from .kept_kernels import Kept
from .kernel import Kernel, Objects
from .once import attribute

_log = Log(__name__)
_ARGUMENTS = (*[ctypes.c_void_p] * 5, ctypes.c_int64, ctypes.c_int64)
_RELEASING = ctypes.CFUNCTYPE(None, *_ARGUMENTS)
_HOLDING = ctypes.PYFUNCTYPE(None, *_ARGUMENTS)

_RUNS, _PLACES, _FOR_A, _FOR_B = "runs", "places", "misaligned A", "misaligned B"  # notes: before names of code
Entry = Callable[[int, int, int, int, int, int, int], None]


@dataclass(frozen=True, slots=True)
class _Body:
    """A kernel and its entry, bound once: making the ctypes function costs as much as calling it.

    alone: this thread may call the entry itself, no scratch is needed."""

    kernel: Kernel
    entry: Entry
    alone: bool


@dataclass(frozen=True, slots=True)
class Direct:
    """A call: what to pass besides the tensors' addresses.

    kernel: what runs, with its scratch; offset_a, offset_b: bytes to add to the tensors' addresses; tasks: size of the
    task grid; held: too short to give the interpreter lock away for; parts: threads that are worth their while;
    places: low bits of A's and of B's address, offsets added: whether any is set decides which kernel runs; and of B's
    those that are clear where only that decides.
    """

    kernel: Kernel
    offset_a: int
    offset_b: int
    tasks: int
    held: bool
    parts: int
    places: tuple[int, int, int]


def bound(made: Kernel, held: bool) -> Entry:
    """The kernel as a function of Python, which keeps it. held: the interpreter lock is kept during the call."""
    return made.loaded.function(kernel.NAME, _HOLDING if held else _RELEASING)


def check_runs_here(target: Target) -> None:
    """TargetError where this machine lacks a target's instructions."""
    backend = locks.imported(".backend", __package__)
    if not backend.runs_here(target):
        backend.host_target()  # where no kernel runs at all, this says why
        raise TargetError(f"code for target {target} cannot run here: this machine lacks instructions")


class Executable:
    """Runs one plan at any pair of addresses; machine code is made on first use. Safe in several threads.

    placed, plan, target, loads: what runs (`lower`); objects: object code of its plan and of its fallbacks, where it is
    known: linked, not compiled; where they are kept, for this machine, what is compiled is kept, too, and what is
    worked out is noted;
    parts: threads that are worth their while.
    """

    __slots__ = (
        "_alignment", "_for_misaligned_a", "_for_misaligned_b", "_items", "_kept", "_line", "_loads", "_non_temporal",
        "_objects", "_offsets", "_ordinary", "parts", "placed", "plan", "target",
    )  # fmt: skip

    def __init__(
        self,
        placed: Placed,
        plan: CpuPlan,
        target: Target,
        objects: Objects | None = None,
        loads: int = 0,
    ) -> None:
        canonical = placed.canonical
        self.placed, self.plan, self.target, self._loads = placed, plan, target, loads
        self._objects = {} if objects is None else objects
        self._kept = objects if isinstance(objects, Kept) else None
        self.parts = max(1, canonical.bytes_moved // pool_layout.SERIAL_BYTES)
        self._offsets = (placed.offset_a * canonical.a.itemsize, placed.offset_b * canonical.b.itemsize)
        self._alignment, self._items, self._line = self._places()
        self._for_misaligned_b: Executable | None = None
        self._for_misaligned_a: Executable | None = None
        self._ordinary: _Body | None = None
        self._non_temporal: _Body | None = None

    def run(self, a: int, b: int, scalars: int, threads: int) -> None:
        """Transpose from address a to address b, on `threads` threads at most.

        scalars: the address of alpha and beta, 0 for plain moves. The caller keeps all memory alive.
        Raises TargetError where code of the target cannot run on this machine.
        """
        a += self._offsets[0]
        b += self._offsets[1]
        body = self._body_at(a, b)
        made = body.kernel
        if body.alone and (threads < 2 or self.parts < 2):
            body.entry(a, b, scalars, 0, 0, 0, made.tasks)
        else:
            runtime = _runtime()
            call = runtime.Call(made.address, a, b, scalars, 0, made.scratch, made.tasks)
            runtime.run(call, min(threads, self.parts), moved=self.parts * pool_layout.SERIAL_BYTES)

    def _body_at(self, a: int, b: int) -> _Body:
        """The body for these addresses of canonical element 0; which one it is, a few low bits of them decide."""
        odd = b % self._alignment if self._alignment else 1
        if odd and self._items and b % self._items == 0:
            return (self._for_misaligned_b or self._made_for_b())._body_at(a, b)
        if self._line and a % self._line:
            return (self._for_misaligned_a or self._made_for_a())._body_at(a, b)
        return (self._ordinary or self._made(False)) if odd else (self._non_temporal or self._made(True))

    def direct(self) -> Direct | None:
        """The call that `run` makes for small tensors at any address; None where threads, scratch or B's alignment
        matter."""
        return None if self.parts > 1 or self._alignment else self.ordinary()

    def ordinary(self) -> Direct | None:
        """The call without non-temporal stores, which serves any address; None where it needs scratch."""
        body = self._ordinary or self._made(False)
        return self._direct(body, (0, 0, 0)) if body.alone else None

    def direct_at(self, a: int, b: int) -> Direct:
        """The call that `run` makes from address a to address b, and others of such places."""
        body = self._body_at(a + self._offsets[0], b + self._offsets[1])
        line, alignment, item = (max(size - 1, 0) for size in (self._line, self._alignment, self._items))
        return self._direct(body, (line, alignment, item))

    def _direct(self, body: _Body, places: tuple[int, int, int]) -> Direct:
        return Direct(body.kernel, *self._offsets, body.kernel.tasks, self._is_held(), self.parts, places)

    def _is_held(self) -> bool:
        return self.placed.canonical.bytes_moved < pool_layout.HELD_BYTES

    def _made_for_b(self) -> Executable:
        """The code of the fallback plan for a misaligned B."""
        return attribute(self, "_for_misaligned_b", partial(self._other, _FOR_B))

    def _made_for_a(self) -> Executable:
        """The code of the same plan with loads that are fast across lines."""
        return attribute(self, "_for_misaligned_a", partial(self._other, _FOR_A))

    def _other(self, what: str) -> Executable:
        placed = Placed(self.placed.canonical, 0, 0)
        known = self._noted(what)
        if known is None:
            made = getattr(_lowering(), "for_misaligned_a" if what == _FOR_A else "for_misaligned_b")
            found = made(placed.canonical, self.plan, self.target)
            plan, loads = found.plan, found.loads
            self._note(what, f"{loads} {plan}")
        else:
            count, _, text = known.partition(" ")
            plan, loads = parse(text), int(count)
        return Executable(placed, plan, self.target, self._objects, loads)

    def _places(self) -> tuple[int, ...]:
        """Bytes to a multiple of which B's address has to be for streaming stores, 0 = there are none; of an item where
        `_for_misaligned_b` serves, else 0; of a line where `_for_misaligned_a` serves, else 0."""
        known = self._noted(_PLACES)
        if known is not None:
            return tuple(map(int, known.split()))
        lowering, what = _lowering(), (self.placed.canonical, self.target)
        writing = lowering.resolve(what[0], self.plan, self.target)
        alignment, item = writing.alignment if writing.plan.non_temporal else 0, what[0].b.itemsize
        line = self.target.line if not self._loads and lowering.short_loads(*what) else 0
        found = alignment, item if alignment > item else 0, line
        self._note(_PLACES, " ".join(map(str, found)))
        return found

    def _noted(self, what: str) -> str | None:
        """What an earlier process has worked out."""
        known = None if self._kept is None else self._kept.get(f"{what} of {kernel.name_of(self.plan, self._loads)}")
        return None if known is None else known.decode()

    def _note(self, what: str, found: str) -> None:
        if self._kept is not None:
            self._kept.put(f"{what} of {kernel.name_of(self.plan, self._loads)}", found.encode())

    def _made(self, streams: bool) -> _Body:
        """The body with streaming stores or without."""
        return attribute(self, "_non_temporal" if streams else "_ordinary", partial(self._body, streams))

    def _body(self, streams: bool) -> _Body:
        if self._noted(_RUNS) is None:
            check_runs_here(self.target)
            self._note(_RUNS, "")
        made = self._kernel(streams)
        if self._kept is not None:
            self._kept.save()
        return _Body(made, bound(made, self._is_held()), made.scratch == 0)

    def _kernel(self, streams: bool) -> Kernel:
        """Where B is not aligned, the plan without its streaming stores serves."""
        plan = self.plan if streams else self.plan.ordinary
        name, canonical = kernel.name_of(plan, self._loads), self.placed.canonical
        stored = self._objects.get(name)
        if stored is not None:
            try:
                return kernel.cache.obtain(canonical, plan, self.target, stored, self._loads)
            except CompileError as error:
                _log.warning("stored object code is ignored: %s", error)
        made = kernel.cache.obtain(canonical, plan, self.target, None, self._loads)
        if self._kept is not None:
            self._kept.put(name, made.code)
        return made


@lru_cache(maxsize=1)
def _runtime() -> Any:
    """What only plans need that run in parts, or with scratch."""
    return locks.imported(".runtime", __package__)


def _lowering() -> Any:
    """What only plans need of which nothing is noted."""
    return locks.imported("..lowering.fallback", __package__)
