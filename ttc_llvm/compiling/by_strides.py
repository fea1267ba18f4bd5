"""Calls of solutions with arrays that lie otherwise than the problem says, which are read by their strides."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import locks
from ..errors import OrderWarning
from ..operands.operand import Array
from ..problem.layouts import column_major
from ..problem.problem import Problem
from ..problem.readings import Reading
from ..runtime.array_arguments import Storage
from ..runtime.executable import Executable
from ..runtime.user_warnings import warn

KEPT = 64
CUBE = (
    "the axes of an array in C order whose shape reads the same backwards, as a cube's, are the tensor's indices, as in"
    " np.transpose(a, perm); its memory as column-major storage, which gives another result, is a.reshape(-1)"
)
Place = tuple[int, Any]  # an address, or BY_STRIDES, and what keeps that memory
Loops = list[tuple[int, int, int]]  # extents and strides in bytes, of A and of B
_told: set[str] = set()


class ByStrides:
    """The pairs of arrays that a solution was called with, a bounded number: what they are to its problem."""

    __slots__ = ("_a", "_axes_a", "_axes_b", "_b", "_cubes", "_known", "_own")

    def __init__(self, problem: Problem, a: Storage, b: Storage) -> None:
        self._a, self._b = a, b
        axes = problem.axes_a or range(len(problem.perm))
        self._axes_a, self._axes_b = tuple(axes[p] for p in problem.perm), problem.axes_b
        self._known: dict[Any, bool] = {}
        self._own = _own_loops(problem)
        self._cubes = any(t.axes is None and t.shape == t.outer[::-1] for t in (a.tensor, b.tensor))

    @property
    def axes(self) -> tuple[int, ...]:
        """The axis of an array A that is each axis of an array B."""
        places = self._axes_b or range(len(self._axes_a))
        return tuple(axis for _, axis in sorted(zip(places, self._axes_a, strict=True)))

    @property
    def is_told(self) -> bool:
        """True where no call is to tell how cubes are read."""
        return bool(_told) or not self._cubes

    def views(self, a: Place, b: Place) -> tuple[Array, Array, bool]:
        """The arrays of a call, one of which at least is not in place, as arrays of one shape, whose axes are B's
        indices; and whether the loops over them are the problem's own, as those over C-ordered ones that are transposes
        of each other may be. Tells once of the change in what cubes mean."""
        view_a, view_b = self._a.array(*a).transpose(self._axes_a), self._b.array(*b)
        if self._axes_b is not None:
            view_b = view_b.transpose(self._axes_b)
        key = view_a.strides, view_b.strides
        own = self._known.get(key)
        return view_a, view_b, self._judged(key, view_a.shape, a, b) if own is None else own

    def _judged(self, key: tuple[tuple[int, ...], ...], shape: tuple[int, ...], a: Place, b: Place) -> bool:
        own = _loops(shape, *key) == self._own
        if len(self._known) >= KEPT:
            self._known.clear()
        self._known[key] = own
        if not own and Reading.CUBE in (self._a.reading_of(*a), self._b.reading_of(*b)):
            _tell()
        return own


def _loops(shape: tuple[int, ...], strides_a: tuple[int, ...], strides_b: tuple[int, ...]) -> Loops:
    """The loops over two arrays, in any order."""
    return sorted(loop for loop in zip(shape, strides_a, strides_b, strict=True) if loop[0] != 1)


def _own_loops(problem: Problem) -> Loops:
    steps_a, steps_b = column_major(problem.outer_a), column_major(problem.outer_b)
    strides_a = tuple(steps_a[p] * problem.a.itemsize for p in problem.perm)
    return _loops(problem.size_b, strides_a, tuple(step * problem.b.itemsize for step in steps_b))


def native_call(
    problem: Problem, arrays: ByStrides, executable: Executable | None, scalars: int
) -> Callable[[Any, Any], bool]:
    """A native function of two arrays, which does at once what a solution does, or returns False (`for_solutions`)."""
    sides, axes, every = (arrays._a, arrays._b), arrays.axes, arrays.is_told
    call: Callable[[Any, Any], bool] = _transposition().native_call(problem, axes, sides, executable, scalars, every)
    return call


def left(a: Any, b: Any) -> bool:
    """False: Python serves the call."""
    return False


def served(problem: Problem) -> Callable[[Array, Array, int], None]:
    """A function of two views of one shape and a number of threads, which transposes as `ttc_llvm.transpose` does,
    whose package is built on this one. problem: whose scalars are meant."""
    run: Callable[[Array, Array, int], None] = _transposition().served(problem)
    return run


def served_on_device(problem: Problem) -> Callable[[Array, Array, Any, tuple[Any, ...]], None]:
    """The same on a device: a function of two views, the stream, and the arrays as they were read."""
    run: Callable[[Array, Array, Any, tuple[Any, ...]], None] = _transposition().served_on_device(problem)
    return run


def _transposition() -> Any:
    return locks.imported("ttc_llvm.arrays.for_solutions")


def _tell() -> None:
    if not _told:
        _told.add(CUBE)
        warn(CUBE, OrderWarning)
