"""Permutations in place between guard pages: arrays of any layout, kernels of random plans, emitted entries."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import lcm, prod
from random import Random
from typing import Any

import known_layouts
import layouts
import machine
import numpy as np
import reference
from case import Case
from entry_calls import Call, check, every_kind, other_outer
from fuzz_arrays import DTYPES, Lain, _of_scalars
from fuzz_draw import EXTENTS, LINE, Met, asked, scalars
from fuzz_kernels import targets
from machine import Run
from test_entries import compiled, other_sizes, plain_plan

import ttc_llvm
from ttc_llvm.arrays.layouts import PAYBACK_BYTES
from ttc_llvm.errors import ArrayError
from ttc_llvm.lowering.plan import CpuPlan, Fetch
from ttc_llvm.lowering.tile_sizes import alike
from ttc_llvm.problem import dtypes, orbits
from ttc_llvm.problem.canonical import Canonical
from ttc_llvm.problem.problem import Problem

CALLS = 3  # of one array: the first compiles, the others take the short way
RUNS = 3  # of one kernel
ENTRIES = 16  # calls of one object
TYPES = ("s", "d", "c", "z", "i8", "i16", "f16", "i64", "v3", "v5", "v16", "v24")
THREADS = (1, 2, 3, 4)
WAYS = ("array", "kernel", "object")
FIRST = {"dtype": "array", "strides": "array", "threads": "array", "fetch": "kernel", "tiles": "kernel"}


def goals() -> tuple[str, ...]:
    """Every feature that rounds are made for."""
    values = {
        "way": WAYS,
        "dtype": DTYPES,
        "kinds": ("zero-zero", "zero-any", "one-zero", "any-zero", "any-any"),
        "order": (1, 2, 3, 4, 5, 6, 12),
        "rank": range(1, 8),
        "strides": ("odd", "backward"),
        "fetch": ("blocks", "rows"),
        "threads": THREADS,
        "tiles": ("on-lines",),
    }
    return tuple(f"{what}={value}" for what, choices in values.items() for value in choices)


def attack(rng: Random, goal: str) -> Met:
    """Permute tensors in place, and compare everything that may have been written."""
    kind = goal.partition("=")[0]
    way = asked(goal, "way") or FIRST.get(kind)
    way = way or rng.choice(("array", "array", "kernel", "kernel", "kernel", "object"))
    perm, size = shape(rng, goal, 4_000)
    met = {"array": _array, "kernel": _kernel, "object": _object}[way](rng, goal, perm, size)
    moved = [k for k, n in enumerate(size) if n != 1]
    order = orbits.order(perm)
    return Met((f"way={way}", f"rank={len(size)}", f"order={order}", *met[0]), met[1] if moved else 1)


def shape(rng: Random, goal: str, elements: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """A permutation, and extents that it keeps."""
    if asked(goal, "tiles"):  # rows that lie alike on lines, or half of them
        n = 8 * rng.randrange(3, 13)
        places = rng.choice(((1, 0), (1, 0, 2), (1, 2, 0) if n <= 24 else (1, 0)))
        return places, tuple(3 if p == k else n for k, p in enumerate(places))
    wanted = int(asked(goal, "order") or 0)
    while True:
        rank = int(asked(goal, "rank") or rng.choice((2, 2, 3, 3, 4, 5, 6, 7, 1)))
        rank = max(rank, {12: 7, 6: 5}.get(wanted, wanted))
        perm = tuple(rng.sample(range(rank), rank))
        if orbits.order(perm) <= orbits.LONGEST and wanted in (0, orbits.order(perm)):
            break
    size = [1] * rank
    for cycle in rng.sample(orbits.cycles(perm), len(orbits.cycles(perm))):
        most = max(1, int((elements / prod(size)) ** (1 / len(cycle))))
        for k, extent in zip(cycle, [min(rng.choice(EXTENTS), most)] * len(cycle), strict=True):
            size[k] = extent
    return perm, tuple(size)


# --- arrays ---------------------------------------------------------------------------------------------


def _array(rng: Random, goal: str, perm: tuple[int, ...], size: tuple[int, ...]) -> tuple[set[str], int]:
    known_layouts.forget(rng.choice((0, PAYBACK_BYTES)))
    arithmetic = asked(goal, "kinds") or rng.random() < 0.4
    t = np.dtype(asked(goal, "dtype") or rng.choice(layouts.ARITHMETIC if arithmetic else DTYPES))
    x = Lain.of(rng, size, t, goal, broadcast=False)
    item = dtypes.from_numpy(t)
    alpha, beta, conjugate = scalars(rng, item, asked(goal, "kinds"))
    threads = int(asked(goal, "threads") or rng.choice(THREADS))
    scale: dict[str, Any] = {"alpha": alpha, "beta": beta, "conjugate": conjugate}
    steps = [step for n, step in zip(size, x.array.strides, strict=True) if n > 1]
    told = f": {t} {size} strides {x.array.strides} at {x.array.ctypes.data % LINE}, axes {perm}, {scale}, {threads}"
    plain = reference.is_plain(item, item, alpha, beta, conjugate)
    for _ in range(CALLS):
        before, whole = x.array.copy(), x.memory.bytes.copy()
        view = before.transpose(perm)
        wanted = np.array(reference.combine(view, before, (item, item), alpha, beta, conjugate), t)
        try:
            assert ttc_llvm.transpose(x.array, perm, out=x.array, threads=threads, **scale) is x.array
        except ArrayError as error:
            assert "strides must be positive" in str(error) and min(steps) < 0, f"{error}{told}"
            wanted = before
        same = reference.same(x.array.flatten(), wanted.flatten(), item, plain or wanted is before)
        assert same, f"the result is wrong{told}"
        x.within(whole)[...] = x.array
        assert x.memory.bytes.tobytes() == whole.tobytes() and x.memory.intact(), f"other memory was written{told}"
    return {f"dtype={name}" for name in DTYPES if np.dtype(name) == t} | {
        f"threads={threads}", *_of_scalars(alpha, beta, conjugate, False), *_of_steps(steps, t.itemsize),
    }, CALLS  # fmt: skip


def _of_steps(steps: list[int], size: int) -> Iterator[str]:
    yield from ("strides=odd",) * any(step % size for step in steps)
    yield from ("strides=backward",) * any(step < 0 for step in steps)


# --- kernels --------------------------------------------------------------------------------------------


def _stated(rng: Random, goal: str, perm: tuple[int, ...], size: tuple[int, ...]) -> Problem:
    numbers = asked(goal, "kinds") or asked(goal, "tiles") or rng.random() < 0.5
    name = rng.choice(TYPES[:4] if numbers else TYPES)
    alpha, beta, conjugate = scalars(rng, dtypes.parse_pair(name)[0], asked(goal, "kinds"))
    gaps = (0,) if asked(goal, "tiles") else (0, 0, 1, 5)
    outer = tuple(n + rng.choice(gaps) if k < 3 else n for k, n in enumerate(size))
    kept = all(outer[p] == outer[k] for k, p in enumerate(perm))
    return Problem(perm, size, name, outer if kept else None, None, alpha, beta, conjugate, inplace=True)


def _kernel(rng: Random, goal: str, perm: tuple[int, ...], size: tuple[int, ...]) -> tuple[set[str], int]:
    problem, every = _stated(rng, goal, perm, size), list(targets().values())
    lines = bool(asked(goal, "tiles")) or rng.random() < 0.2
    masked = [target for target in every if target.has_masks(problem.a.itemsize)] if lines else []
    target = replace(rng.choice(masked or every), l2=1)  # no tensor fits in
    case = Case.of(problem, rng.getrandbits(30))
    plan = _plan(rng, goal, case.placed.canonical, max(1, LINE // problem.a.itemsize) if lines else 1)
    for _ in range(RUNS):
        shift = rng.choice((0, rng.randrange(max(1, LINE // problem.a.itemsize))))
        run = Run(plan, target, rng.choice(THREADS), "end", rng.choice(("start", "end")), shift=shift)
        machine.check(replace(case, seed=rng.getrandbits(30)), run)
    fetch = {f"fetch={plan.fetch.value}"} if plan.prefetch else set()
    tiles = {"tiles=on-lines"} if " from lines of " in str(machine.nest_of(case, run)) else set()
    return fetch | tiles | set(_of_scalars(problem.alpha, problem.beta, problem.conjugate, False)), 1


def _plan(rng: Random, goal: str, form: Canonical, line: int) -> CpuPlan:
    """Any plan in place; where alpha is 0 it is one for memory of its own, which is all that is read. line: edges of
    tiles along the first two axes are multiples of it."""
    rank = len(form.axes)
    block = tuple(min(rng.choice((1, 2, 4, 8, 16)), max(1, n)) for n in form.extents)
    while prod(block) > 256:
        block = tuple(max(1, n // 2) for n in block)
    tile = tuple(edge * rng.choice((1, 2, 3, 4)) for edge in block)
    tile = tuple(lcm(edge, line) if k < 2 else edge for k, edge in enumerate(tile))
    if form.in_place:
        tile, block = alike(form, tile, block)
    order, inner = (tuple(rng.sample(range(rank), rank)) for _ in range(2))
    fetch = Fetch(asked(goal, "fetch") or rng.choice(("blocks", "rows", "far")))
    distance = 1 if fetch is Fetch.ROWS else rng.choice((1, 2, 4))
    return CpuPlan(tile, block, order, inner, rng.randrange(rank + 1), rng.choice((0, distance, distance)), fetch=fetch)


# --- objects --------------------------------------------------------------------------------------------


def _object(rng: Random, goal: str, perm: tuple[int, ...], size: tuple[int, ...]) -> tuple[set[str], int]:
    own, target = _stated(rng, goal, perm, size), replace(rng.choice(list(targets().values())), l2=1)
    loaded, done = compiled(own, target, plain_plan(own, target)), set()
    for _ in range(ENTRIES):
        seed = rng.getrandbits(20)
        alpha, beta, through_beta = rng.choice(every_kind(own))
        found = [None, *(other for other in other_sizes(own, seed) if prod(other) < 20_000)]
        other = rng.choice(found)
        lda = rng.choice((None, other_outer(other or own.outer_a, rng.choice((0, 1, 5)))))
        flush, residue = rng.choice(("start", "end")), rng.choice((None, own.b.itemsize * rng.randrange(4)))
        call = Call(alpha, beta, lda, None, rng.randrange(5), through_beta, "end", flush, seed, other, residue)
        check(loaded.address, own, replace(call, wide=rng.random() < 0.3))
        done.add((other, lda, alpha, beta))
    return set(), len(done)
