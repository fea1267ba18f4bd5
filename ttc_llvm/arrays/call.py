"""The options of a call of `transpose`."""

from __future__ import annotations

from typing import Any

from ..arguments import one_of
from ..errors import ArrayError
from ..lazy_dataclasses import NamedTuple
from ..operands.operand import Array
from ..runtime import runtime
from ..tuning import efforts
from .orders import ORDERS

MODEL, C_ORDER, UNSAFE = 1, "C", "unsafe"  # the defaults, which need no check
ALONE_BYTES = 64 << 10  # smaller arrays are not worth a second thread, nor the question how many there are


class Call(NamedTuple):
    """The arguments of `transpose` but the array, as they are given."""

    axes: Any
    out: Any
    alpha: complex
    beta: complex
    conjugate: bool
    order: str
    threads: int | None
    effort: int | str
    stream: Any
    dtype: Any = None
    casting: str = UNSAFE
    saturate: bool = False

    def plans(self) -> int:
        """The checked effort."""
        return 1 if self.effort is MODEL else efforts.effort("effort", self.effort)

    def placed(self) -> str:
        """The checked order, in capitals."""
        return C_ORDER if self.order is C_ORDER else order(self.order)

    def most(self, view: Array) -> int:
        """Threads that may work on an array."""
        return threads_for(self.threads, view)


def order(given: str) -> str:
    """NumPy's letter for an order of axes in memory, in capitals. ArrayError for anything else."""
    return one_of("order", given, ORDERS, ArrayError).upper()


def threads_for(given: int | None, view: Array) -> int:
    """The checked number of threads; by default as many as an array is worth."""
    if given is not None:
        return runtime.thread_count(given)
    return 1 if view.nbytes < ALONE_BYTES else runtime.num_threads()
