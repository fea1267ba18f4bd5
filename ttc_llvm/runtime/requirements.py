"""Requirements on the machine: what is looked at before LLVM is loaded, which would end the process or fail later."""

from __future__ import annotations

import ctypes
import mmap
import os
from collections.abc import Iterator
from contextlib import contextmanager

from ..arguments import reason
from ..errors import CompileError, TargetError, TtcError, os_errors
from ..machine import host


def check() -> None:
    """TargetError where no kernel runs: on other systems and processors, and where made code may not run."""
    why = host.unserved()
    if why is not None:
        raise TargetError(why)
    page = mmap.mmap(-1, mmap.PAGESIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    address = ctypes.c_void_p(ctypes.addressof(ctypes.c_char.from_buffer(page)))
    system = ctypes.CDLL(None, use_errno=True)
    if system.mprotect(address, ctypes.c_size_t(mmap.PAGESIZE), mmap.PROT_READ | mmap.PROT_EXEC):
        refusal = os.strerror(ctypes.get_errno())  # systemd's MemoryDenyWriteExecute, SELinux
        raise TargetError(f"this system lets a process run no code that it makes (mprotect: {refusal}): no kernel runs")


@contextmanager
def importing() -> Iterator[None]:
    """Inside, llvmlite is imported: TargetError where it is missing, broken or of another version, CompileError where
    its library cannot be loaded."""
    try:
        with os_errors("LLVM's library cannot be loaded", CompileError):
            yield
    except (TtcError, MemoryError):
        raise
    except Exception as error:
        raise TargetError(f"LLVM cannot be used here: {reason(error)}") from error
