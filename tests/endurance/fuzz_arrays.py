"""`ttc_llvm.transpose` on arrays of every dtype and layout between guard pages, on both sides of a kernel's payback."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from random import Random
from typing import Any

import known_layouts
import layouts
import numpy as np
import reference
from fuzz_draw import LINE, Met, asked, extents, scalars, strides
from guarded_case import Place
from guards import Guarded
from known_layouts import served_by
from layouts import Array

import ttc_llvm
from ttc_llvm.arrays import layouts as tables
from ttc_llvm.arrays import own_kernels, own_plans
from ttc_llvm.problem import dtypes
from ttc_llvm.problem.dtypes import compute_type
from ttc_llvm.tuning.space.choices import Forced

PROBLEMS = 3  # of a round
CALLS = 4  # of one array, the last of which takes the short way
DTYPES = (*layouts.MOVED, "S7", "U3", "M8[D]", "V16", "V37", ">f2", ">U2", "f2,i1", "i8,f4,S5")
NUMBERS = tuple(map(np.dtype, layouts.ARITHMETIC))
PAYBACK = {"own": 0, "family": 1 << 50}
THREADS = (1, 2, 3, 4)


def prepare() -> None:
    """Have small arrays served by threads in this process, as large ones are."""
    for module in (own_kernels, tables):
        vars(module)["SERIAL_BYTES"] = 1 << 10


def goals() -> tuple[str, ...]:
    """Every feature that rounds are made for."""
    values = {
        "dtype": DTYPES,
        "path": (*PAYBACK, "again", "odd", "detour", "streaming"),
        "order": tuple("CFAK"),
        "kinds": ("zero-zero", "zero-any", "one-zero", "any-zero", "any-any"),
        "scaling": ("mixed", "conjugate"),
        "strides": ("backward", "broadcast", "odd"),
        "rank": range(7),
        "threads": THREADS,
    }
    return tuple(f"{what}={value}" for what, choices in values.items() for value in choices)


@dataclass(frozen=True, slots=True)
class Lain:
    """An array between guard pages. low: bytes of its memory before element 0."""

    memory: Guarded
    low: int
    array: Array

    @classmethod
    def of(cls, rng: Random, shape: tuple[int, ...], t: np.dtype[Any], goal: str, broadcast: bool) -> Lain:
        """An array of random bits, or of numbers, in any layout."""
        odd = rng.random() < (0.8 if goal in ("strides=odd", "path=odd", "path=detour") else 0.15)
        unit, gaps = (1, (0, 1, 2, 4, 7)) if odd else (t.itemsize, (0, 0, 0, 1, 4))
        found = strides(rng, shape, broadcast, t.itemsize // unit, gaps)
        steps = tuple(step * unit for step in found)
        spans = [(n - 1) * step for n, step in zip(shape, steps, strict=True)]
        low = -sum(span for span in spans if span < 0)
        size = low + sum(span for span in spans if span > 0) + t.itemsize if prod(shape) else 0
        residue = rng.choice((None, None, rng.randrange(LINE) if odd else rng.randrange(0, LINE, t.alignment)))
        memory = Place(rng.choice(("start", "end")), residue).memory(size)
        memory.bytes[...] = np.frombuffer(rng.randbytes(size), np.uint8)
        array: Array = np.ndarray(shape, t, memory.bytes, low if size else 0, steps)
        if t in NUMBERS and rng.random() < 0.5 and size and not broadcast:
            layouts.soften(array, rng.getrandbits(20))
        return cls(memory, low, array)

    def within(self, whole: Array) -> Array:
        """The array in a copy of its memory."""
        shape, steps = self.array.shape, self.array.strides
        found: Array = np.ndarray(shape, self.array.dtype, whole, self.low if len(whole) else 0, steps)
        return found


def attack(rng: Random, goal: str) -> Met:
    """Transpose some arrays, and compare everything that may have been written."""
    usual = own_plans.SMALL
    try:
        met = [feature for _ in range(PROBLEMS) for feature in _problem(rng, goal)]
    finally:  # the next round may be one in place, where streaming stores are refused
        own_plans.SMALL = usual
    return Met(tuple(met), PROBLEMS)


def _problem(rng: Random, goal: str) -> set[str]:
    scaling = goal.startswith(("kinds", "scaling", "path=detour"))
    types = ("c8", "c16") if goal == "scaling=conjugate" else layouts.ARITHMETIC
    dtype = asked(goal, "dtype") or rng.choice(types if scaling or rng.random() < 0.3 else DTYPES)
    shape = extents(rng, int(asked(goal, "rank") or rng.choice((2, 3, 3, 4, 1, 5, 6, 0))), 4_000)
    path = asked(goal, "path") if asked(goal, "path") in PAYBACK else rng.choice(tuple(PAYBACK))
    if goal == "path=streaming" or (path == "own" and rng.random() < 0.3):
        path, own_plans.SMALL = "own", Forced(streaming=True)
    else:
        own_plans.SMALL = Forced(streaming=False)
    known_layouts.forget(PAYBACK[path])
    x = Lain.of(rng, shape, np.dtype(dtype), goal, broadcast=rng.random() < 0.3 or goal == "strides=broadcast")
    given = tuple(rng.sample(range(len(shape)), len(shape)))
    axes = rng.choice((given, given, given, tuple(k - len(shape) for k in given), None))
    before = x.memory.bytes.tobytes()
    asks_out = goal.startswith(("scaling=mixed", "path=detour", "threads"))
    way = _into if asks_out else _usual if goal == "path=again" else rng.choice((_usual, _new, _into, _into))
    found = {f"dtype={dtype}", f"rank={len(shape)}", *_of_layout(x.array), *way(rng, x, axes, goal)}
    assert x.memory.intact() and x.memory.bytes.tobytes() == before, f"the array was written{_told(x, axes)}"
    return found | set(_paths())


def _usual(rng: Random, x: Lain, axes: Any, goal: str) -> set[str]:
    """Plain calls of one layout, again and again."""
    wanted, found = np.transpose(x.array, axes).copy(), set()
    for _ in range(CALLS):
        found |= {"path=again"} if served_by(x.array, axes) else set()
        _like(ttc_llvm.transpose(x.array, axes), wanted, _told(x, axes))
    return found


def _new(rng: Random, x: Lain, axes: Any, goal: str) -> set[str]:
    """A result of its own, in any order of memory, scaled where the type admits it."""
    order: Any = asked(goal, "order") or rng.choice("CFAK")
    view, t = np.transpose(x.array, axes), dtypes.from_numpy(x.array.dtype)
    alpha, _, conjugate = scalars(rng, t, asked(goal, "kinds"))
    told = f"{_told(x, axes)} order {order} alpha {alpha} conjugate {conjugate}"
    got = ttc_llvm.transpose(x.array, axes, order=order, alpha=alpha, conjugate=conjugate)
    wanted = np.array(reference.combine(view, view, (t, t), alpha, 0, conjugate), x.array.dtype)
    if reference.is_plain(t, t, alpha, 0, conjugate):
        _like(got, view.copy(order), told)
    assert got.strides == view.copy(order).strides, f"the order is wrong{told}"
    _same(got, wanted, t, reference.is_plain(t, t, alpha, 0, conjugate), told)
    return {f"order={order}", *_of_scalars(alpha, 0, conjugate, False)}


def _into(rng: Random, x: Lain, axes: Any, goal: str) -> set[str]:
    """A given result, of the other precision too, whose gaps and neighbours stay as they are."""
    of, to = x.array.dtype, x.array.dtype
    mixed = of in NUMBERS and (goal == "scaling=mixed" or rng.random() < 0.3)
    to = np.dtype(layouts.PARTNER[of.str[1:]]) if mixed else to
    view = np.transpose(x.array, axes)
    out = Lain.of(rng, view.shape, to, goal, broadcast=False)
    types = dtypes.from_numpy(of), dtypes.from_numpy(to)
    alpha, beta, conjugate = scalars(rng, compute_type(*types), asked(goal, "kinds"))
    threads = int(asked(goal, "threads") or rng.choice(THREADS))
    told = f"{_told(x, axes)} out {out.array.strides} {to} alpha {alpha} beta {beta} {conjugate} on {threads}"
    wanted = np.array(reference.combine(view, out.array.copy(), types, alpha, beta, conjugate), to)
    whole = out.memory.bytes.copy()
    scale: dict[str, Any] = {"alpha": alpha, "beta": beta, "conjugate": conjugate}
    got = ttc_llvm.transpose(x.array, axes, out=out.array, threads=threads, **scale)
    assert got is out.array, f"the result is another array{told}"
    _same(got, wanted, types[1], reference.is_plain(*types, alpha, beta, conjugate), told)
    out.within(whole)[...] = got
    assert out.memory.bytes.tobytes() == whole.tobytes() and out.memory.intact(), f"other memory was written{told}"
    return {f"threads={threads}", *_of_scalars(alpha, beta, conjugate, mixed), *_of_layout(out.array)}


def _like(got: Array, wanted: Array, told: str) -> None:
    forms = [(x.shape, x.dtype, x.strides) for x in (got, wanted)]
    assert forms[0] == forms[1], f"the form is wrong{told}"
    assert got.tobytes() == wanted.tobytes(), f"the result is wrong{told}"


def _same(got: Array, wanted: Array, t: dtypes.DType, plain: bool, told: str) -> None:
    assert reference.same(got.flatten(), wanted.flatten(), t, plain), f"the result is wrong{told}"


def _told(x: Lain, axes: Any) -> str:
    a = x.array
    return f": {a.dtype} {a.shape} strides {a.strides} at {a.ctypes.data % LINE} of a line, axes {axes}"


# --- what was there -------------------------------------------------------------------------------------


def _of_layout(x: Array) -> Iterator[str]:
    steps = [step for extent, step in zip(x.shape, x.strides, strict=True) if extent > 1]
    yield from ("strides=backward",) * any(step < 0 for step in steps)
    yield from ("strides=broadcast",) * any(step == 0 for step in steps)
    yield from ("strides=odd",) * any(step % x.dtype.itemsize for step in steps)


def _of_scalars(alpha: complex, beta: complex, conjugate: bool, mixed: bool) -> Iterator[str]:
    first = "zero" if alpha == 0 else "one" if alpha == 1 and beta == 0 else "any"
    yield f"kinds={first}-{'any' if beta else 'zero'}"
    yield from ("scaling=conjugate",) * conjugate
    yield from ("scaling=mixed",) * mixed


def _paths() -> Iterator[str]:
    """What served the layouts of this problem."""
    for served, is_odd, executable in known_layouts.everything():
        yield from ("path=odd",) * is_odd
        yield from ("path=streaming",) * (executable is not None and executable.plan.non_temporal)
        yield f"path={served}"
