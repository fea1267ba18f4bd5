"""Machine code in this process: object code is linked, and unmapped when nobody keeps it any more."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from ..errors import CompileError
from . import backend, heap, interrupts

if TYPE_CHECKING:
    from llvmlite import binding

F = TypeVar("F", bound=Callable[..., Any])
LIBRARIES_PER_LINKER = 8


class Loaded:
    """Machine code in this process; it is unmapped when the last reference to this object goes."""

    __slots__ = ("__weakref__", "_jit", "_library")

    def __init__(self, library: binding.ResourceTracker, jit: binding.LLJIT) -> None:
        self._library, self._jit = library, jit

    def __del__(self) -> None:
        """Unmap the code, without being interrupted (see `backend.uninterrupted`); destructors cannot raise."""
        if sys.is_finalizing():  # as llvmlite's own objects do
            return
        with interrupts.held(later=True):
            del self._library, self._jit

    def address(self, symbol: str) -> int:
        """The address of a function named in `load`. Whoever keeps the address keeps this object, too."""
        return self._library[symbol]

    def function(self, symbol: str, prototype: Callable[[int], F]) -> F:
        """A function named in `load`, of a ctypes type; it keeps the code in memory."""
        made = prototype(self._library[symbol])
        made.code = self  # type: ignore[attr-defined]
        return made


@backend.uninterrupted()
def load(object_bytes: bytes, symbols: Sequence[str]) -> Loaded:
    """Link an object of this machine into the process, without optimising anything.

    symbols: the functions whose addresses will be asked for. Undefined symbols, such as memcpy, are looked up
    in the process. Raises CompileError where the bytes are no object of this machine or lack a symbol.
    """
    builder = backend.llvm().JITLibraryBuilder().add_object_img(object_bytes).add_current_process()
    for symbol in symbols:
        builder.export_symbol(symbol)
    heap.require(heap.LEAST, "the linking of a kernel")
    jit, name = _linker()
    try:
        return Loaded(builder.link(jit, name), jit)
    except RuntimeError as error:
        raise CompileError(f"object code cannot be linked: {backend.one_line(error)}") from error


_jits: list[tuple[binding.LLJIT, int]] = []


def _linker() -> tuple[binding.LLJIT, str]:
    """A linker and an unused library name; called with the lock held.

    A linker costs 1 ms and 160 KiB and keeps 8 KiB of every library it has ever held. Eight libraries share
    one, and it goes with the last of them: memory is bounded by the kernels that are alive.
    """
    jit, used = _jits.pop() if _jits else (None, LIBRARIES_PER_LINKER)
    if jit is None or used == LIBRARIES_PER_LINKER:
        # JITLink puts code and constants side by side, so that 32-bit offsets between them always reach.
        jit, used = backend.llvm().create_lljit_compiler(use_jit_link=True, suppress_errors=True), 0
    _jits.append((jit, used + 1))
    return jit, f"library{used}"
