"""Conversions of every pair of types between guard pages: kernels of random plans, and `ttc_llvm.transpose`."""

from __future__ import annotations

from random import Random
from typing import Any

import fuzz_kernels
import numpy as np
import reference
from fuzz_arrays import THREADS, Lain, _of_layout, _same
from fuzz_draw import Met, asked, extents, scalars

import ttc_llvm
from ttc_llvm.operands.types import named
from ttc_llvm.problem import dtypes
from ttc_llvm.problem.dtypes import NUMBERS, SWAPPED, DType, compute_type, converts, dtype
from ttc_llvm.problem.type_names import SHORT

SOURCES = tuple(NUMBERS)
TARGETS = tuple(name for t in NUMBERS.values() if t.name not in SWAPPED for name in (t.name, f"{t.name}sat"))
CALLS = 3  # of a round that goes through `transpose`
OF_KERNELS = ("kinds", "stores", "edges", "target", "micro")


def goals() -> tuple[str, ...]:
    """Every feature that rounds are made for."""
    kernels = [goal for goal in fuzz_kernels.goals() if goal.startswith(OF_KERNELS)]
    results = ("result=new", "result=into", "strides=backward", "strides=broadcast", "strides=odd")
    return (*(f"from={name}" for name in SOURCES), *(f"to={name}" for name in TARGETS), *results, *kernels)


def attack(rng: Random, goal: str) -> Met:
    """Convert by one kernel, or some arrays, and compare everything that may have been written."""
    of, to = _pair(rng, goal)
    pair = {f"from={of}", f"to={to}"}
    arrays = not (dtypes.is_foreign(dtype(of)) and dtype(of).swapped)  # of which there is no dtype
    asks = goal.startswith(("result", "strides")) or (not goal.startswith(OF_KERNELS) and rng.random() < 0.5)
    if asks and arrays:
        return Met(tuple(pair | {found for _ in range(CALLS) for found in _transposed(rng, of, to, goal)}), CALLS)
    met = fuzz_kernels.attack(rng, goal if goal.startswith(OF_KERNELS) else "", (f"{of},{to}",))
    return Met((*pair, *(found for found in met.features if found.startswith(OF_KERNELS))), met.problems)


def _pair(rng: Random, goal: str) -> tuple[str, str]:
    """Two types of which one converts to the other."""
    while True:
        of, to = asked(goal, "from") or rng.choice(SOURCES), asked(goal, "to") or rng.choice(TARGETS)
        if of != to.removesuffix("sat") and converts(dtype(of), dtype(to)):
            return of, to


def _transposed(rng: Random, of: str, to: str, goal: str) -> set[str]:
    a, b = dtype(of), dtype(to)
    shape = extents(rng, rng.choice((2, 3, 3, 4, 1, 5, 0)), 4_000)
    x = Lain.of(rng, shape, _numpys(a), goal, broadcast=goal == "strides=broadcast" or rng.random() < 0.2)
    axes = tuple(rng.sample(range(len(shape)), len(shape)))
    alpha, beta, _ = scalars(rng, compute_type(a, b))
    given: dict[str, Any] = {"alpha": alpha, "saturate": b.saturates, "threads": rng.choice(THREADS)}
    told = f": {of} to {to} {shape} strides {x.array.strides} axes {axes} {given} beta {beta}"
    before = x.memory.bytes.tobytes()
    view = np.transpose(x.array, axes)
    if goal == "result=new" or (goal != "result=into" and rng.random() < 0.3):
        got = ttc_llvm.transpose(x.array, axes, dtype=_numpys(b), **given)
        _compare(got, view, got, (a, b), (alpha, 0), told)
        found = {"result=new"}
    else:
        out = Lain.of(rng, view.shape, _numpys(b), goal, broadcast=False)
        whole, old = out.memory.bytes.copy(), out.array.copy()
        got = ttc_llvm.transpose(x.array, axes, dtype=_numpys(b), out=out.array, beta=beta, **given)
        assert got is out.array, f"the result is another array{told}"
        _compare(got, view, old, (a, b), (alpha, beta), told)
        out.within(whole)[...] = got
        intact = out.memory.bytes.tobytes() == whole.tobytes() and out.memory.intact()
        assert intact, f"other memory was written{told}"
        found = {"result=into", *_of_layout(out.array)}
    assert x.memory.intact() and x.memory.bytes.tobytes() == before, f"the array was written{told}"
    return found | {*_of_layout(x.array)}


def _compare(got: Any, x: Any, old: Any, types: tuple[DType, DType], scale: tuple[complex, complex], told: str) -> None:
    a, b = map(dtypes.to_numpy, types)
    wanted = np.array(reference.combine(x.view(a), old.view(b), types, *scale), b)
    _same(got.view(b), wanted, types[1], False, told)


def _numpys(t: DType) -> np.dtype[Any]:
    """As callers have it: NumPy's own type, ml_dtypes', or items of its name."""
    return named(SHORT[t.stored]) if dtypes.is_foreign(t) else dtypes.to_numpy(t)  # type: ignore[return-value]
