"""Calls of solutions with arrays of other strides than their problem's: what `ttc_llvm.transpose` does with such."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import locks
from ..errors import ArrayError
from ..operands.operand import Operand
from ..problem import dtypes
from ..problem.problem import Problem
from ..runtime.array_arguments import OVERLAP
from .checks import overlaps_itself, share
from .pairs import Array, Scaling, scaling
from .strided import assign


def served(problem: Problem) -> Callable[[Array, Array, int], None]:
    """`b <- alpha * a + beta * b`, a function of two arrays of one shape and any strides and of the number of threads,
    by the cost model's plan. problem: of these types and scalars.

    The function raises ArrayError, in the words of solutions, where the arrays overlap or elements of b do.
    """
    scale = _scaling(problem)

    def run(a: Array, b: Array, threads: int) -> None:
        try:
            assign(a, b, scale, threads, 1)
        except ArrayError:
            raise ArrayError(_why(b)) from None

    return run


def served_on_device(problem: Problem) -> Callable[[Array, Array, Any, tuple[Operand, ...]], None]:
    """The same on a device, before it has finished: a function of two arrays, the stream, and of the arrays as they
    were read, whose streams matter."""
    with locks.LLVM:
        from . import gpu

    scale = _scaling(problem)

    def run(a: Array, b: Array, stream: Any, given: tuple[Operand, ...]) -> None:
        if overlaps_itself(b) or share(a, b):
            raise ArrayError(_why(b))
        gpu.launch(a, b, scale, 1, stream, given)

    return run


def _scaling(problem: Problem) -> Scaling:
    of, to = dtypes.to_numpy(problem.a), dtypes.to_numpy(problem.b)
    return scaling(of, to, problem.alpha, problem.beta, problem.conjugate)


def _why(b: Array) -> str:
    if overlaps_itself(b):
        return f"elements of B share memory (strides {b.strides}): which value wins?"
    return OVERLAP
