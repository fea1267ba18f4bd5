"""Memory with an inaccessible page right before or behind it: a kernel that strays by one byte dies."""

from __future__ import annotations

import ctypes
import mmap
from typing import Any

import numpy as np
import numpy.typing as npt

PAGE = mmap.PAGESIZE
CANARY = 0xA5
_libc = ctypes.CDLL(None, use_errno=True)
_libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]


class Guarded:
    """`nbytes` bytes between two guard pages, flush with the first ("start") or with the last ("end"), or `gap` bytes
    away from it.

    bytes: the memory as an array; address: of its first byte. What lies between it and the guard pages
    is filled with canaries, which `intact` checks.
    """

    def __init__(self, nbytes: int, flush: str = "end", gap: int = 0) -> None:
        room = -(-max(nbytes + gap, 1) // PAGE) * PAGE
        self._map = mmap.mmap(-1, room + 2 * PAGE)
        whole: npt.NDArray[np.uint8] = np.frombuffer(self._map, np.uint8)
        base = whole.ctypes.data
        for guard in (base, base + PAGE + room):
            if _libc.mprotect(guard, PAGE, 0):
                raise OSError(ctypes.get_errno(), "mprotect failed")
        inside: npt.NDArray[np.uint8] = whole[PAGE : PAGE + room]
        inside[:] = CANARY
        first = gap if flush == "start" else room - nbytes - gap
        self.bytes: npt.NDArray[np.uint8] = inside[first : first + nbytes]
        self._around = (inside[:first], inside[first + nbytes :])
        self.address = base + PAGE + first

    def intact(self) -> bool:
        """True while nothing around the memory was written."""
        return all(bool((part == CANARY).all()) for part in self._around)

    def elements(self, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
        """The memory as a flat array of items; its size must fit."""
        return self.bytes.view(dtype)
