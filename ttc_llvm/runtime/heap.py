"""A check for memory before LLVM starts: where an allocation of its own fails, it ends the process."""

from __future__ import annotations

import mmap
from collections.abc import Callable

from ..errors import OutOfMemoryError

LIBRARY = 192 << 20  # addresses that llvmlite's library takes
LEAST = 16 << 20  # bytes that code generation takes for a small module
PER_CHARACTER = 32  # bytes that it takes for each character of IR

reserves = list[Callable[[], int]]()
"""Functions that give memory back to the system, and return whether there was any."""


def require(size: int, purpose: str, kept: bool = True) -> None:
    """OutOfMemoryError where the process cannot have `size` bytes more. purpose: what takes them, for the message;
    kept: they are written to, not only a file's that is mapped."""
    if not _can_have(size, kept) and not (any([give() for give in reserves]) and _can_have(size, kept)):
        raise OutOfMemoryError(f"{purpose} takes {size >> 20} MiB, which the system or its limits refuse")


def _can_have(size: int, kept: bool) -> bool:
    flags = getattr(mmap, "MAP_PRIVATE", 0) | getattr(mmap, "MAP_ANONYMOUS", 0)
    if flags:
        try:
            mmap.mmap(-1, size, flags=flags, prot=mmap.PROT_READ | (mmap.PROT_WRITE if kept else 0)).close()
        except (OSError, MemoryError):
            return False
    return True


def require_for(ir_text: str) -> None:
    """OutOfMemoryError where there is no memory to compile a module of this text."""
    require(LEAST + PER_CHARACTER * len(ir_text), "the compilation of a kernel")
