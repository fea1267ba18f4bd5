"""Calls of solutions with arrays of other strides than their problem's: what `ttc_llvm.transpose` does with such."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from itertools import chain
from typing import Any

from .. import locks
from ..errors import ArrayError
from ..ir_builders.array_entry_fields import BOUND_BYTES, Bound
from ..ir_builders.layout_fields import RANK
from ..operands.operand import Array, Operand
from ..problem.problem import Problem
from ..runtime.array_arguments import OVERLAP, Storage
from ..runtime.executable import Executable
from . import builtin_functions, layout_code
from .layouts import prepared
from .native_entry import native_moves
from .overlaps import is_permuted, overlaps_itself, share
from .pairs import of_problem
from .placing import ALIGNED
from .strided import assign


def served(problem: Problem) -> Callable[[Array, Array, int], None]:
    """`b <- alpha * a + beta * b`, a function of two arrays of one shape and any strides and of the number of threads,
    by the cost model's plan. problem: of these types and scalars.

    The function raises ArrayError, in the words of solutions, where the arrays overlap or elements of b do.
    """
    if problem.terms:
        return locks.imported(".sums", __package__).served(problem)  # type: ignore[no-any-return]
    scale = of_problem(problem)

    def run(a: Array, b: Array, threads: int) -> None:
        if not problem.inplace and is_permuted(a, b):
            raise ArrayError(OVERLAP)
        try:
            assign(a, b, scale, threads, 1)
        except ArrayError as error:
            raise ArrayError(str(error) if problem.inplace else _why(b)) from None

    return run


class _Block(ctypes.Array[ctypes.c_int64]):
    """What native code knows of a solution: the words of `Bound`. kept: what they refer to."""

    _type_, _length_ = ctypes.c_int64, BOUND_BYTES // 8
    kept: tuple[Any, ...]

    def put(self, place: int, *words: int) -> None:
        """Write words from an offset on."""
        self[place // 8 : place // 8 + len(words)] = words


def native_call(
    problem: Problem, axes: tuple[int, ...], sides: tuple[Storage, Storage], executable: Executable | None,
    scalars: int, every: bool,
) -> Callable[[Any, Any], bool]:  # fmt: skip
    """A native function of two arrays, which does at once what a solution does, or returns False.

    problem: whose scalars are meant, and lie at the address `scalars`; axes: the axis of an array A that is each of an
    array B; executable: what serves arrays that lie as the problem says, if that is to be native, too; every: whether
    arrays of other strides are served.
    """
    state = native_moves().state
    if not state:
        return lambda a, b: False
    a, b = sides
    block = _Block()
    block.kept = axes, sides, executable
    other = 0 if problem.terms or not every else of_problem(problem).number or a.dtype.itemsize
    block.put(Bound.STATE, state, id(axes), other, scalars)
    odd_a, odd_b = (min(x.dtype.itemsize, ALIGNED) - 1 for x in sides)
    block.put(Bound.PREPARED, *prepared(executable, ((0, a.bytes), (0, b.bytes)), (odd_a, odd_b)))
    loops = zip(b.tensor.shape, (a.tensor.strides[k] for k in axes), b.tensor.strides, strict=True)
    block.put(Bound.LAYOUT + RANK, len(axes), *chain.from_iterable(loops))
    block.put(Bound.A, *_words(a))
    block.put(Bound.B, *_words(b))
    call: Callable[[Any, Any], bool] = builtin_functions.native(
        "solution_moved", layout_code.entries()["solution_moved"], block
    )
    return call


def served_on_device(problem: Problem) -> Callable[[Array, Array, Any, tuple[Operand, ...]], None]:
    """The same on a device, before it has finished: a function of two arrays, the stream, and of the arrays as they
    were read, whose streams matter."""
    with locks.IMPORTS:
        from . import gpu

    scale = of_problem(problem)

    def run(a: Array, b: Array, stream: Any, given: tuple[Operand, ...]) -> None:
        if overlaps_itself(b) or share(a, b):
            raise ArrayError(_why(b))
        gpu.launch(a, b, scale, 1, stream, given)

    return run


def _words(side: Storage) -> tuple[int, ...]:
    """Those of `Side`."""
    dtype, outer = side.dtype, side.tensor.outer
    orders = side.in_f is not None, side.in_c is not None
    return (id(dtype) if side.exact else 0, dtype.itemsize, *orders, side.tensor.elements, len(outer), *outer)


def _why(b: Array) -> str:
    if overlaps_itself(b):
        return f"elements of B share memory (strides {b.strides}): which value wins?"
    return OVERLAP
