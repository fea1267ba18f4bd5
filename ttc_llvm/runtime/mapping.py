"""Images as running code: memory that is written first and executed then, never both at once."""

from __future__ import annotations

import atexit
import ctypes
import mmap
import os
import weakref
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from .. import locks
from ..errors import CompileError, OutOfMemoryError, TargetError
from .image import CODE, CONSTANTS, Head, interpreter, parsed, up
from .once import once

F = TypeVar("F", bound=Callable[..., Any])
PERF_MAP = "TTC_PERF_MAP"  # set: functions are named for `perf`
MACHINES = {"x86_64": 62, "aarch64": 183}  # ELF's numbers, by the system's names


class Loaded:
    """Machine code in this process; it is unmapped when the last reference to this object goes. facts: those that an
    image carries.

    The memory is an object of C: an interrupt cannot come between letting go of it and its being unmapped.
    """

    __slots__ = ("__weakref__", "_symbols", "facts", "memory")

    def __init__(self, memory: mmap.mmap | None, symbols: dict[str, int], facts: tuple[int, ...]) -> None:
        self.memory, self._symbols, self.facts = memory, symbols, facts
        _alive.add(self)

    def check(self, symbols: Sequence[str]) -> None:
        """CompileError where it lacks one of these functions."""
        if not self._symbols.keys() >= {*symbols}:
            raise CompileError(f"an image has no {', '.join({*symbols} - self._symbols.keys())}")

    def address(self, symbol: str) -> int:
        """The address of a function that it was loaded for. Whoever keeps the address keeps this object, too."""
        return self._symbols[symbol]

    def function(self, symbol: str, prototype: Callable[[int], F]) -> F:
        """Such a function, of a ctypes type; it keeps the code in memory."""
        made = prototype(self.address(symbol))
        made.code = self  # type: ignore[attr-defined]
        return made


_alive: weakref.WeakSet[Loaded] = weakref.WeakSet()


@atexit.register
def _keep() -> None:
    """While the interpreter goes down, threads may still be in code that nobody refers to any more."""
    for loaded in (*_alive,):
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(loaded.memory))


def mapped(code: bytes, title: str = "", symbols: Sequence[str] = ()) -> Loaded:
    """An image in memory of its own, its functions ready to be called. title: what it is, for profilers, "" = nothing
    that stays; symbols: functions that it must have.

    Raises CompileError for an image that is damaged, of another machine or interpreter, or needs what this process
    lacks; TargetError where the system lets nothing run that a process has made; OutOfMemoryError.
    """
    head, body = parsed(code)
    _check(head)
    memory = _allocated(head.total)
    start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    at = 0
    for begin, size in zip(head.starts, head.sizes, strict=True):
        memory[begin : begin + size] = body[at : at + size]
        at += size
    for place, to in head.slots:
        ctypes.c_uint64.from_address(start + place).value = start + to if isinstance(to, int) else _address(to)
    _show(start, head.sizes[CODE])
    for segment, access in ((CODE, mmap.PROT_READ | mmap.PROT_EXEC), (CONSTANTS, mmap.PROT_READ)):
        protect(start + head.starts[segment], up(head.sizes[segment], head.page), access)
    functions = {name: start + at for name, at in head.symbols.items()}
    if title and os.environ.get(PERF_MAP):
        locks.imported(".perf_map", __package__).tell(title, functions, start + head.sizes[CODE])
    loaded = Loaded(memory, functions, head.facts)
    loaded.check(symbols)
    return loaded


def _show(start: int, size: int) -> None:
    """Have processors see new code that fetch instructions past the caches of data: all but x86-64.

    Linux does so, too, where a page is made executable for the first time; the compiler's library promises it.
    """
    flush = _instruction_cache()
    if flush is not None:
        flush(ctypes.c_void_p(start), ctypes.c_void_p(start + size))


@once
def _instruction_cache() -> Callable[..., object] | None:
    if os.uname().machine == "x86_64":
        return None
    try:
        return ctypes.CDLL("libgcc_s.so.1").__clear_cache
    except (OSError, AttributeError):
        return None


def protect(start: int, size: int, access: int) -> None:
    """Change what may be done with pages from now on. TargetError where the system refuses to run what was written."""
    if size and _system().mprotect(ctypes.c_void_p(start), ctypes.c_size_t(size), access):
        refusal = os.strerror(ctypes.get_errno())  # systemd's MemoryDenyWriteExecute, SELinux
        raise TargetError(f"this system lets a process run no code that it makes (mprotect: {refusal}): no kernel runs")


def _check(head: Head) -> None:
    own = MACHINES.get(os.uname().machine)
    if head.machine != own or head.page % mmap.PAGESIZE:
        raise CompileError(f"an image is for machine {head.machine} with pages of {head.page} bytes: this is another")
    if head.python not in ("", interpreter()):
        raise CompileError(f"an image is for {head.python}: this is {interpreter()}")


def _allocated(size: int) -> mmap.mmap:
    try:
        return mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=mmap.PROT_READ | mmap.PROT_WRITE)
    except (OSError, MemoryError):
        raise OutOfMemoryError(f"a kernel takes {size >> 10} KiB, which the system or its limits refuse") from None


def _address(name: str) -> int:
    """The address of a function or variable of this process."""
    for library in (ctypes.pythonapi, _system()):
        try:
            return ctypes.addressof(ctypes.c_char.in_dll(library, name))
        except ValueError:
            continue
    raise CompileError(f"an image needs {name}, which this process lacks")


@once
def _system() -> Any:
    """The C library."""
    return ctypes.CDLL(None, use_errno=True)
