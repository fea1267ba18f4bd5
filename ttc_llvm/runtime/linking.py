"""Machine code in this process: images are mapped, and objects made into images, or linked by LLVM."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from .. import locks
from ..errors import CompileError
from ..tuning.database.packing import is_image
from . import backend, heap
from .mapping import Loaded as Loaded
from .mapping import mapped

if TYPE_CHECKING:
    from llvmlite import binding

LIBRARIES_PER_LINKER = 8


def load(code: bytes, symbols: Sequence[str], title: str = "") -> Loaded:
    """Code of this machine, an image or an object, as functions of this process; nothing is optimised.

    symbols: the functions whose addresses will be asked for; title: what it is, for profilers. Undefined symbols, such
    as memcpy, are looked up in the process. Raises CompileError where the bytes are no code of this machine or lack a
    symbol, TargetError where nothing runs that a process has made.
    """
    ready = code if is_image(code) else image_of(code, symbols)
    return _linked(code, symbols) if ready is None else mapped(ready, title, symbols)


def image_of(code: bytes, symbols: Sequence[str], facts: tuple[int, ...] = ()) -> bytes | None:
    """The image of an object, as `image_linker.linked` makes it."""
    with locks.IMPORTS:
        from . import image_linker
    return image_linker.linked(code, symbols, facts)


class _Linked(Loaded):
    """Machine code that LLVM has linked."""

    __slots__ = ("_held", "_jit", "_library")

    def __init__(self, library: binding.ResourceTracker, jit: binding.LLJIT, symbols: Sequence[str]) -> None:
        super().__init__(None, {symbol: library[symbol] for symbol in symbols}, ())
        self._library, self._jit = library, jit
        self._held = locks.imported(".interrupts", __package__).held  # destructors cannot import

    def __del__(self) -> None:
        """Unmap the code, without being interrupted (see `backend.uninterrupted`); destructors cannot raise."""
        if sys.is_finalizing():  # as llvmlite's own objects do
            return
        with self._held(later=True):
            del self._library, self._jit


@backend.uninterrupted()
def _linked(object_bytes: bytes, symbols: Sequence[str]) -> Loaded:
    builder = backend.llvm().JITLibraryBuilder().add_object_img(object_bytes).add_current_process()
    for symbol in symbols:
        builder.export_symbol(symbol)
    heap.require(heap.LEAST, "the linking of a kernel")
    jit, name = _linker()
    try:
        return _Linked(builder.link(jit, name), jit, symbols)
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
