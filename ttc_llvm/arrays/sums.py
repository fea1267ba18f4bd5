"""Sums of permutations of one array, in one pass."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from operator import index
from typing import Any

import numpy as np

from .. import locks
from ..arguments import flag, number, sequence
from ..errors import ArrayError, ProblemError, states_memory
from ..lazy_dataclasses import dataclass
from ..operands.addresses import data_address
from ..operands.operand import Array
from ..operands.reading import operand, result_place
from ..operands.types import is_real, spelled
from ..problem import dtypes
from ..problem.kinds import Kinds
from ..problem.problem import Problem
from ..problem.summands import TYPES, TYPES_RULE, kinds_of, scalars
from ..problem.sums import Walks, from_walks
from ..runtime.executable import Executable
from . import assignment, call
from .checks import check_beta, check_result, permuted
from .orders import Order
from .overlaps import check_once, share
from .pairs import pair_of, scaling
from .placing import ALIGNED, is_regular
from .public import transpose
from .result_memory import new_like
from .results import base, is_masked
from .scalings import Scaling

KEPT = 256  # layouts whose code is at hand
PAIRS = "pairs of alpha and axes"


@dataclass(frozen=True, slots=True)
class _Sum:
    """A checked sum into an array. problem: its types, terms and scalars; axes: of x, term by term."""

    problem: Problem
    axes: tuple[tuple[int, ...], ...]
    threads: int


@states_memory
def permute_sum(
    x: Any, terms: Iterable[tuple[complex, Any]], *, out: Any = None, beta: complex = 0, conjugate: bool = False,
    order: Order = "C", threads: int | None = None,
) -> Any:  # fmt: skip
    """The sum of `alpha * np.transpose(x, axes)` over the terms, plus `beta * out`, in one pass over memory.

    x: float32, float64, complex64 or complex128, of any strides and library on the host. terms: pairs (alpha, axes),
    all of which give one shape. The alphas of equal axes add up, and a term whose alpha is 0 reads nothing; one term is
    what `transpose` does. out: of that shape, of any strides, with memory of its own; its dtype is x's, or the one that
    `transpose` takes beside it. It is read only where beta != 0; without it the result is new, and of x's library.
    Terms are added in the wider type, beta * out last, and rounded once into out.
    conjugate, order, threads: as in `transpose`. Plans are those of the cost model.

    Raises ArrayError for arrays and axes that do not fit, ProblemError for scalars.
    """
    given = operand(x, "x")
    if given.on_device:
        raise ArrayError(f"x is a {type(x).__name__} on a device: sums of permutations are for arrays on the host")
    listed, view = _listed(terms, given.view), base(given.view)
    moved = view.transpose(listed[0][1])
    if len({axes for _, axes in listed}) == 1:
        alpha, axes = sum(number("alpha", alpha) for alpha, _ in listed), listed[0][1]
        return transpose(x, axes, out=out, alpha=alpha, beta=beta, conjugate=conjugate, order=order, threads=threads)
    if is_masked(given.view) or is_masked(out):
        raise ArrayError("sums of permutations are for plain arrays: x or out is a masked one")
    target = None if out is None else _target(moved, out)
    conjugate = flag("conjugate", conjugate, ProblemError) != given.conjugated and not is_real(view.dtype)
    problem = _stated(listed, view.dtype, view.dtype if target is None else target.dtype, beta, conjugate)
    wanted = _Sum(problem, _axes(problem), call.threads_for(threads, view))
    placed = call.order(order)
    if target is not None:
        _add(wanted, view, target)
        return out
    check_beta(beta)
    result = new_like(moved, placed, wanted.threads)
    _add(wanted, view, result)
    return given.handed(result)


def _target(moved: Array, out: Any) -> Array:
    """The memory of a given result, which is checked. moved: x, of its shape."""
    target = result_place(out, "out")
    if target.on_device:
        raise ArrayError(f"out is a {type(out).__name__} on a device: x is on the host")
    check_result(target.view.shape, moved)
    check_once(target.view)
    if share(moved, target.view):
        raise ArrayError("out shares memory with x: a sum of permutations reads x while it writes out")
    if target.written is not None:
        target.written()
    return base(target.view)


def _listed(terms: Any, view: Array) -> list[tuple[Any, tuple[int, ...]]]:
    """The terms of a sum, with axes from 0 on; ArrayError where they differ in shape."""
    found: list[tuple[Any, tuple[int, ...]]] = []
    shapes: list[tuple[int, ...]] = []
    for term in sequence("terms", terms, ArrayError, PAIRS):
        pair = sequence("terms", term, ArrayError, PAIRS)
        if len(pair) != 2:
            raise ArrayError(f"terms holds {len(pair)} values where a pair of alpha and axes belongs")
        shapes.append(permuted(view, pair[1]).shape)
        if shapes[-1] != shapes[0]:
            raise ArrayError(f"terms give the shapes {shapes[0]} and {shapes[-1]}: a sum's are all the same")
        given = range(view.ndim)[::-1] if pair[1] is None else (pair[1] if np.ndim(pair[1]) else (pair[1],))
        found.append((pair[0], tuple(index(k) % view.ndim for k in given)))
    if not found:
        raise ArrayError("terms is empty: a sum has one pair of alpha and axes at least")
    return found


def _stated(
    listed: list[tuple[Any, tuple[int, ...]]], of: np.dtype[Any], to: np.dtype[Any], beta: complex, conjugate: bool
) -> Problem:
    """The problem of these types, terms and scalars, which checks them; its indices are axes, its extents 1."""
    other = next((t for t in (of, to) if dtypes.from_numpy(t).name not in TYPES), None)
    if other is not None:
        raise ProblemError(f"dtype {spelled(other)}: {TYPES_RULE}")
    ones = (1,) * len(listed[0][1])
    return Problem(size=ones, dtype=pair_of(of, to), beta=beta, conjugate=conjugate, terms=listed)


def _axes(problem: Problem) -> tuple[tuple[int, ...], ...]:
    """The perms of its terms."""
    return tuple(perm for _, perm in problem.terms) or (problem.perm,)


def served(problem: Problem) -> Callable[[Array, Array, int], None]:
    """The sum of a problem as a function of two arrays of any strides and a number of threads. The axes of the first
    one are in the order of its first term."""
    axes = tuple(tuple(problem.perm.index(k) for k in perm) for perm in _axes(problem))

    def run(a: Array, b: Array, threads: int) -> None:
        if share(a, b):
            raise ArrayError("A and B overlap in memory: a sum of permutations reads A while it writes B")
        check_once(b)
        _add(_Sum(problem, axes, threads), a, b)

    return run


def _add(wanted: _Sum, x: Array, out: Array) -> None:
    """`out <- sum + beta * out`."""
    if not out.nbytes:
        return
    p, values = wanted.problem, scalars(wanted.problem)
    views = [x.transpose(axes) for axes in wanted.axes]
    odd = (data_address(x) | data_address(out)) & (min(ALIGNED, x.dtype.alignment) - 1)
    regular = is_regular(x) and is_regular(out) and assignment.has_kernels()
    if not p.terms or p.alpha == 0 or odd or not regular or values is None:
        _add_one_by_one(wanted, views, out)
        return
    steps = tuple(view.strides for view in views)
    made = _executable(out.shape, steps, out.strides, p.dtype, kinds_of(p), p.conjugate, wanted.threads)
    made.run(data_address(x), data_address(out), data_address(values), wanted.threads)


def _add_one_by_one(wanted: _Sum, views: list[Array], out: Array) -> None:
    """Term after term, where no kernel of the sum serves."""
    p, assign = wanted.problem, assignment.engine().assign
    beta, factors = p.beta, [factor for factor, _ in p.terms] or [1]
    for view, factor in zip(views, factors, strict=True):
        scale = scaling(view.dtype, out.dtype, p.alpha * factor, beta, p.conjugate)
        assign(view, out, scale, wanted.threads, call.MODEL)
        beta = 1


@lru_cache(maxsize=KEPT)
def _executable(
    shape: tuple[int, ...], steps_of: tuple[tuple[int, ...], ...], steps_to: tuple[int, ...], dtype: str, kinds: Kinds,
    conjugate: bool, threads: int,
) -> Executable:  # fmt: skip
    """The code of a layout, compiled by its first run."""
    a, b = dtypes.parse_pair(dtype)
    axes = [
        Walks(n, to // b.itemsize, tuple(of // a.itemsize for of in walks))
        for n, to, walks in zip(shape, steps_to, zip(*steps_of, strict=True), strict=True)
    ]
    placed = from_walks(axes, a, b, kinds, conjugate)
    own_kernels = locks.imported(".own_kernels", __package__)
    made: Executable = own_kernels.planned(placed, Scaling(0, kinds, conjugate=conjugate), threads, call.MODEL)
    return made
