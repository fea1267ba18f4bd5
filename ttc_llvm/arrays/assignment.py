"""The choice of what moves and scales elements: our kernels, or NumPy where none runs."""

from __future__ import annotations

from typing import Any

from .. import locks
from ..errors import CompileError, TargetError
from ..runtime.user_warnings import warn
from .native_entry import is_bound, is_ready

_chosen: Any = None


def engine() -> Any:
    """The module whose `assign` does it, `strided` or `without_kernels`: the latter with one warning per process."""
    return _chosen or _choice()


def mover() -> Any:
    """The engine, or until native code is there `first_moves`, which has its `assign` and `memory_moved`."""
    return _chosen or (engine() if is_ready() else locks.imported(".first_moves", __package__))


def has_kernels() -> bool:
    """True where our kernels run."""
    return engine().__name__.endswith(".strided")  # type: ignore[no-any-return]


def _choice() -> Any:
    global _chosen
    with locks.CODE:
        if _chosen is None:
            why = _hindrance()
            _chosen = locks.imported(".without_kernels" if why else ".strided", __package__)
            if why:
                warn(f"ttc_llvm leaves transpositions to NumPy: {why}", RuntimeWarning)
    return _chosen


def _hindrance() -> str:
    """Why no kernel runs in this process; "" where they do."""
    try:
        if not is_bound():  # where native code runs, kernels do
            locks.imported("..runtime.backend", __package__).host_target()
    except (CompileError, TargetError) as error:
        return str(error)
    return ""
