"""Sums of permutations of one array, in one pass."""

from __future__ import annotations

from collections.abc import Iterable
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
from ..problem.kinds import Alpha, Kinds
from ..problem.problem import Problem
from ..problem.sums import Walks, from_walks
from ..runtime.executable import Executable
from . import assignment, call
from .checks import check_beta, check_result, permuted
from .overlaps import check_once, share
from .pairs import ALIGNED, LETTERS, Scaling, is_regular, pair_of, scaling
from .public import transpose
from .result_memory import new_like
from .results import base, is_masked

KEPT = 256  # layouts whose code is at hand
Terms = dict[tuple[int, ...], complex]  # alpha by axes


@dataclass(frozen=True, slots=True)
class _Sum:
    """A checked sum into an array."""

    problem: Problem
    terms: Terms
    threads: int


@states_memory
def permute_sum(
    x: Any, terms: Iterable[tuple[complex, Any]], *, out: Any = None, beta: complex = 0, conjugate: bool = False,
    order: call.Order = "C", threads: int | None = None,
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
    known = _listed(terms, given.view)
    if len(known) == 1:
        ((axes, alpha),) = known.items()
        return transpose(x, axes, out=out, alpha=alpha, beta=beta, conjugate=conjugate, order=order, threads=threads)
    if is_masked(given.view) or is_masked(out):
        raise ArrayError("sums of permutations are for plain arrays: x or out is a masked one")
    view, target = base(given.view), None if out is None else _target(given.view, next(iter(known)), out)
    conjugate = flag("conjugate", conjugate, ProblemError) != given.conjugated and not is_real(view.dtype)
    problems = _checked(known, view.dtype, view.dtype if target is None else target.dtype, beta, conjugate)
    alphas = {axes: p.alpha for axes, p in zip(known, problems, strict=True)}
    most = call.threads_for(threads, view)
    wanted = _Sum(problems[0], alphas, most)
    placed = call.order(order)
    if target is not None:
        _add(wanted, view, target)
        return out
    check_beta(beta)
    result = new_like(view.transpose(next(iter(known))), placed, most)
    _add(wanted, view, result)
    return given.handed(result)


def _target(view: Array, axes: tuple[int, ...], out: Any) -> Array:
    """The memory of a given result, which is checked."""
    target = result_place(out, "out")
    if target.on_device:
        raise ArrayError(f"out is a {type(out).__name__} on a device: x is on the host")
    check_result(target.view.shape, view.transpose(axes))
    check_once(target.view)
    if share(view, target.view):
        raise ArrayError("out shares memory with x: a sum of permutations reads x while it writes out")
    if target.written is not None:
        target.written()
    return base(target.view)


def _listed(terms: Any, view: Array) -> Terms:
    """The alphas by axes, in the order in which axes come first; ArrayError where terms differ in shape."""
    found, shape = Terms(), None
    for term in sequence("terms", terms, ArrayError, "pairs of alpha and axes"):
        pair = sequence("terms", term, ArrayError, "pairs of alpha and axes")
        if len(pair) != 2:
            raise ArrayError(f"terms holds {len(pair)} values where a pair of alpha and axes belongs")
        moved = permuted(view, pair[1])
        if shape is not None and moved.shape != shape:
            raise ArrayError(f"terms give the shapes {shape} and {moved.shape}: all terms of a sum give the same one")
        shape = moved.shape
        given = range(view.ndim)[::-1] if pair[1] is None else (pair[1] if np.ndim(pair[1]) else (pair[1],))
        axes = tuple(index(k) % view.ndim for k in given)
        found[axes] = found.get(axes, 0) + number("alpha", pair[0])
    if shape is None:
        raise ArrayError("terms is empty: a sum has one pair of alpha and axes at least")
    return found


def _checked(known: Terms, of: np.dtype[Any], to: np.dtype[Any], beta: complex, conjugate: bool) -> list[Problem]:
    """Problems of no axes, one for each term: they check types and scalars."""
    names = {dtypes.from_numpy(t).name for t in (of, to)}
    if not names <= {*LETTERS}:
        other = of if dtypes.from_numpy(of).name not in LETTERS else to
        raise ProblemError(f"dtype {spelled(other)}: sums are of float32, float64, complex64 and complex128")
    return [Problem((), (), pair_of(of, to), alpha=a, beta=beta, conjugate=conjugate) for a in known.values()]


def _add(wanted: _Sum, x: Array, out: Array) -> None:
    """`out <- sum + beta * out`."""
    if not out.nbytes:
        return
    alphas = [alpha for alpha in wanted.terms.values() if alpha != 0]
    views = [x.transpose(axes) for axes, alpha in wanted.terms.items() if alpha != 0]
    odd = (data_address(x) | data_address(out)) & (min(ALIGNED, x.dtype.alignment) - 1)
    if len(views) < 2 or odd or not (is_regular(x) and is_regular(out)) or not assignment.has_kernels():
        _add_one_by_one(wanted, views, alphas, out)
        return
    p = wanted.problem
    values = np.array([alphas[0], p.beta, *alphas[1:]], dtypes.to_numpy(p.compute))
    kinds = Kinds(Alpha.ANY, Kinds.of(1, p.beta).beta)
    steps = tuple(view.strides for view in views)
    made = _executable(out.shape, steps, out.strides, p.dtype, kinds, p.conjugate, wanted.threads)
    made.run(data_address(x), data_address(out), data_address(values), wanted.threads)


def _add_one_by_one(wanted: _Sum, views: list[Array], alphas: list[complex], out: Array) -> None:
    """Term after term, where no kernel of the sum serves."""
    p, assign = wanted.problem, assignment.engine().assign
    beta = p.beta
    for view, alpha in zip(views, alphas, strict=True):
        assign(view, out, scaling(view.dtype, out.dtype, alpha, beta, p.conjugate), wanted.threads, call.MODEL)
        beta = 1
    if not views:
        assign(out, out, scaling(out.dtype, out.dtype, 0, beta, False), wanted.threads, call.MODEL)


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
