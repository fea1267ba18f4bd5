"""The choice of what moves and scales elements: our kernels, or NumPy where none runs."""

from __future__ import annotations

import sys
import warnings
from typing import Any

from .. import locks
from ..errors import CompileError, TargetError
from ..runtime import backend

_PACKAGE = __name__.partition(".")[0] + "."
_chosen: Any = None


def engine() -> Any:
    """The module whose `assign` does it, `strided` or `without_kernels`: the latter with one warning per process."""
    return _chosen or _choice()


def _choice() -> Any:
    global _chosen
    with locks.CODE:
        if _chosen is None:
            why = _hindrance()
            _chosen = locks.imported(".without_kernels" if why else ".strided", __package__)
            if why:
                warnings.warn(f"ttc_llvm leaves transpositions to NumPy: {why}", RuntimeWarning, _depth())
    return _chosen


def _depth() -> int:
    """Calls between the warning and the user's program, which it is shown at."""
    frame, depth = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(_PACKAGE):
        frame, depth = frame.f_back, depth + 1
    return depth


def _hindrance() -> str:
    """Why no kernel runs in this process; "" where they do."""
    try:
        backend.host_target()
    except (CompileError, TargetError) as error:
        return str(error)
    return ""
