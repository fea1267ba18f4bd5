"""Calls of a solution with given scalars: the code, the scalars, and native code in front of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..lazy_dataclasses import dataclass, field
from ..operands.addresses import data_address
from ..operands.operand import Array
from ..problem.problem import Problem
from ..problem.summands import scalars
from ..runtime.executable import Executable, check_runs_here
from .by_strides import ByStrides, left, native_call, served

if TYPE_CHECKING:
    import numpy.typing as npt

OFTEN = 16  # calls that the loading of native code pays for


@dataclass(slots=True)
class Ready:
    """A problem with these scalars as code. scalars: the address of alpha and beta, 0 for none; moves: native code for
    two arrays, once it pays, which does what it can; calls: of the executable by Python."""

    executable: Executable
    problem: Problem
    by_strides: ByStrides
    scalars: int = field(init=False)
    moves: Callable[[Any, Any], bool] = left
    calls: int = 0
    _values: npt.NDArray[Any] | None = field(init=False)
    _served: Callable[[Array, Array, int], None] | None = None
    _native: Executable | None = None  # what native code calls
    _told: bool = False  # whether native code serves all strides: calls have nothing to tell

    def __post_init__(self) -> None:
        self._values = scalars(self.problem)
        self.scalars = 0 if self._values is None else data_address(self._values)

    def run(self, a: int, b: int, threads: int) -> None:
        """Transpose between tensors at these addresses."""
        self.executable.run(a, b, self.scalars, threads)
        self.calls += 1
        if self.calls % OFTEN == 0 and self.executable.direct() is not None:
            self._serve_natively(self.executable)

    def run_strided(self, a: Array, b: Array, threads: int) -> None:
        """Transpose between arrays of one shape, by their strides."""
        if self._served is None:
            check_runs_here(self.executable.target)
            self._served = served(self.problem)
        self._served(a, b, threads)
        if self.moves is left or self._told is not self.by_strides.is_told:
            self._serve_natively(self._native)

    def _serve_natively(self, executable: Executable | None) -> None:
        """Small tensors that are called with again and again, and those that take the kernels of arrays in any case,
        are served by native code; while calls may have something to tell, only those whose loops are the problem's."""
        self._native, self._told = executable, self.by_strides.is_told
        self.moves = native_call(self.problem, self.by_strides, executable, self.scalars)
