"""The first run of a library, in a process of its own: what crashes or hangs there is left out."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from ..problem.problem import Problem
from ..runtime import children
from . import source
from .builds import ending

LIMIT_SECONDS = 60.0
_CODE = """
import ctypes, mmap, sys
library, *sizes = sys.argv[1:]
blocks = [mmap.mmap(-1, int(size)) for size in sizes]
addresses = [ctypes.c_void_p(ctypes.addressof(ctypes.c_char.from_buffer(block))) for block in blocks]
getattr(ctypes.CDLL(library), {entry!r})(*addresses)
"""


def trouble(library: Path, problem: Problem) -> str:
    """Why a library cannot be run on tensors of this problem, "" where it can."""
    if not sys.executable:
        return ""
    sizes = (*(problem.storage(side) * t.itemsize for side, t in (("a", problem.a), ("b", problem.b))), 64)
    code = _CODE.format(entry=source.RUN)
    command = [sys.executable, "-I", "-S", "-c", code, str(library), *(str(max(1, size)) for size in sizes)]
    try:
        done = children.run(command, timeout=LIMIT_SECONDS)
    except subprocess.TimeoutExpired:
        return f"its code ran for more than {LIMIT_SECONDS:g} s"
    except OSError as error:
        return f"its code cannot be run: {error.strerror or error}"
    if done.returncode == 0:
        return ""
    said = [line.strip() for line in done.stderr.splitlines() if line.strip()]
    return f"its code ended {ending(done.returncode)}" + (f": {said[-1][:200]}" if said else "")
