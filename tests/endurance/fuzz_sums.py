"""Sums of permutations between guard pages: arrays of any layout, kernels of random plans, emitted entries.

Numbers are small integers, so that the order in which terms are added does not show.
"""

from __future__ import annotations

import itertools
from functools import partial
from math import prod
from random import Random
from typing import Any

import numpy as np
from entry_calls import Call, invoke
from fuzz_arrays import Lain
from fuzz_draw import EXTENTS, LINE, Met, asked
from fuzz_kernels import targets
from guarded_case import Place
from test_entries import compiled, plain_plan

import ttc_llvm
from ttc_llvm.lowering import items
from ttc_llvm.lowering.plan import CpuPlan, Fetch, Store
from ttc_llvm.lowering.plan_checks import check
from ttc_llvm.lowering.writing import resolve
from ttc_llvm.problem import dtypes, interface
from ttc_llvm.problem.canonical import Canonical
from ttc_llvm.problem.layouts import column_major
from ttc_llvm.problem.problem import Problem
from ttc_llvm.problem.summands import scalars as by_term
from ttc_llvm.runtime.executable import Executable
from ttc_llvm.tuning.space import sums
from ttc_llvm.tuning.space.choices import Forced

WAYS = ("array", "kernel", "object")
TYPES = ("s", "d", "c", "z", "sd", "ds", "cz", "zc")
STORES = ("cached", "peeled", "buffered", "joined")
THREADS = (1, 2, 3, 4)
LINED = ("stores=peeled", "stores=joined")  # goals of matrices whose lines are written past the caches
RUNS = 3  # of one kernel
TRIES = 30  # for a plan of a kind
ENTRIES = 6  # calls of one object
WHOLE = 256  # elements of rows that are whole lines and long


def goals() -> tuple[str, ...]:
    """Every feature that rounds are made for."""
    values = {
        "way": WAYS,
        "type": TYPES,
        "terms": range(2, 7),
        "rank": range(2, 7),
        "stores": STORES,
        "beta": ("zero", "any"),
        "alpha": ("zero", "any"),
        "threads": THREADS,
    }
    return tuple(f"{what}={value}" for what, choices in values.items() for value in choices)


def attack(rng: Random, goal: str) -> Met:
    """Add permutations of a tensor, and compare everything that may have been written."""
    kind = goal.partition("=")[0]
    way = asked(goal, "way") or {"stores": "kernel", "threads": "array", "alpha": "object"}.get(kind)
    way = way or rng.choice(("array", "array", "kernel", "kernel", "kernel", "object"))
    problem = drawn(rng, goal)
    met, count = {"array": _array, "kernel": _kernel, "object": _object}[way](rng, goal, problem)
    beta = "zero" if problem.beta == 0 else "any"
    return Met(
        (f"way={way}", f"type={problem.dtype}", f"terms={len(problem.terms)}", f"rank={len(problem.size)}",
         f"beta={beta}", *met), count,
    )  # fmt: skip


def drawn(rng: Random, goal: str) -> Problem:
    """A sum of two terms or more."""
    terms, wished = int(asked(goal, "terms") or rng.choice((2, 2, 3, 4, 5, 6))), int(asked(goal, "rank") or 0)
    rank = wished or rng.choice((2, 3, 3, 4, 5, 6) if terms == 2 else (3, 3, 4, 5, 6))
    rank = 2 if goal in LINED else rank
    perms: list[tuple[int, ...]] = []
    while len(perms) < 2:
        size = (rng.randrange(LINE // 4, 160),) * 2 if goal == "stores=joined" else _size(rng, rank, goal in LINED)
        perms = [
            p for p in itertools.islice(itertools.permutations(range(rank)), 800)
            if all(size[k] == n for k, n in zip(p, size, strict=True))
        ]  # fmt: skip
        perms = perms if len(perms) >= terms or wished or rng.random() < 0.1 else []
    terms = min(terms, len(perms))
    name = asked(goal, "type") or rng.choice(TYPES[:4] if goal in LINED else TYPES)
    is_complex = "c" in name or "z" in name
    factors = [rng.choice((-3, -2, -1, 1, 2, 4)) * rng.choice((1, 1j) if is_complex else (1,)) for _ in range(terms)]
    beta = {"zero": 0, "any": 2}.get(asked(goal, "beta"), rng.choice((0, 0, 1, -2)))
    outer = [tuple(n + rng.choice((0, 0, 0, 1, 5, 8)) for n in size) if rng.random() < 0.3 else None for _ in "ab"]
    if goal in LINED:
        beta, outer = 0, outer if goal == "stores=joined" else [None, None]
    chosen = list(zip(factors, rng.sample(perms, terms), strict=True))
    alpha, conjugate = rng.choice((1, 1, -1, 2)), is_complex and rng.random() < 0.3
    return Problem((), size, name, outer[0], outer[1], alpha, beta, conjugate, terms=chosen)


def _size(rng: Random, rank: int, whole: bool) -> tuple[int, ...]:
    """Extents, some of which are equal."""
    if whole or rng.random() < 0.2:
        edge = rng.choice((WHOLE, WHOLE // 2))
        return (edge, edge, *[1] * (rank - 2)) if rng.random() < 0.7 or rank == 2 else (edge, *[3] * (rank - 1))
    most = max(2, int(6_000 ** (1 / rank)))
    kinds = [min(rng.choice(EXTENTS), most), min(rng.choice(EXTENTS), most)]
    return tuple(rng.choice((kinds[0], kinds[0], kinds[1])) for _ in range(rank))


def _numbers(rng: Random, shape: tuple[int, ...], t: np.dtype[Any]) -> Any:
    made = np.random.default_rng(rng.getrandbits(30)).integers(-9, 10, (2, *shape))
    return (made[0] + 1j * made[1] if t.kind == "c" else made[0]).astype(t)


def wanted(p: Problem, a: Any, b: Any) -> Any:
    """The sum in NumPy; a: by A's indices, b: by B's."""
    x = a.astype("c16" if p.compute.name in "cz" else "f8")
    x = x.conj() if p.conjugate else x
    total = sum(p.alpha * factor * np.transpose(x, perm) for factor, perm in p.terms)
    return total + p.beta * b if p.beta else total


# --- arrays ---------------------------------------------------------------------------------------------


def _array(rng: Random, goal: str, p: Problem) -> tuple[set[str], int]:
    of, to = (np.dtype(dtypes.to_numpy(t)) for t in (p.a, p.b))
    threads = int(asked(goal, "threads") or rng.choice(THREADS))
    x, out = Lain.of(rng, p.size, of, "", False), Lain.of(rng, p.size_b, to, "", False)
    x.array[...], out.array[...] = _numbers(rng, p.size, of), _numbers(rng, p.size_b, to)
    if not p.beta:
        out.array[...] = np.nan
    terms = [(p.alpha * factor, perm) for factor, perm in p.terms]
    result, before, whole = wanted(p, x.array, out.array), x.memory.bytes.copy(), out.memory.bytes.copy()
    told = f": {p} strides {x.array.strides} {out.array.strides} at {out.array.ctypes.data % LINE}, {threads}"
    given: dict[str, Any] = {"beta": p.beta, "conjugate": p.conjugate, "threads": threads}
    assert ttc_llvm.permute_sum(x.array, terms, out=out.array, **given) is out.array
    assert np.array_equal(out.array, result), f"the result is wrong{told}"
    out.within(whole)[...] = out.array
    intact = out.memory.intact() and x.memory.intact() and x.memory.bytes.tobytes() == before.tobytes()
    assert intact and out.memory.bytes.tobytes() == whole.tobytes(), f"other memory was written{told}"
    return {f"threads={threads}"}, 1


# --- tensors of problems ----------------------------------------------------------------------------------


class _Tensors:
    """A and B of a problem between guard pages."""

    def __init__(self, rng: Random, p: Problem) -> None:
        self.problem = p
        sides = (("a", p.size, p.outer_a, p.a), ("b", p.size_b, p.outer_b, p.b))
        self.memories, self.views = [], []
        for side, extents, outer, t in sides:
            dtype, count = np.dtype(dtypes.to_numpy(t)), p.storage(side)
            residue = rng.choice((None, rng.randrange(0, LINE, t.itemsize)))
            memory = Place(rng.choice(("start", "end")), residue).memory(count * t.itemsize)
            flat = memory.bytes.view(dtype)
            flat[...] = _numbers(rng, (count,), dtype)
            steps = tuple(step * t.itemsize for step in column_major(outer))
            self.memories.append(memory)
            self.views.append(np.ndarray(extents, dtype, memory.bytes, 0, steps))

    @property
    def addresses(self) -> tuple[int, int]:
        """Of A and of B."""
        a, b = self.memories
        return a.address, b.address

    def check(self, run: Any, alpha: complex, beta: complex, told: str) -> None:
        """Run a function and compare every byte."""
        a, b = self.views
        if beta == 0:
            b[...] = np.nan
        p = Problem(
            (), self.problem.size, self.problem.dtype, self.problem.lda, self.problem.ldb, alpha, beta,
            self.problem.conjugate, terms=self.problem.terms,
        )  # fmt: skip
        result = wanted(p, a, b) if alpha else beta * b if beta else np.zeros(b.shape)
        if alpha == 0:
            a[...] = np.nan
        before, after = self.memories[0].bytes.copy(), self.memories[1].bytes.copy()
        run()
        assert np.array_equal(b, result), f"the result is wrong: {told}"
        np.ndarray(b.shape, b.dtype, after, 0, b.strides)[...] = b
        assert self.memories[1].bytes.tobytes() == after.tobytes(), f"padding was written: {told}"
        assert self.memories[0].bytes.tobytes() == before.tobytes() and all(m.intact() for m in self.memories), told


def _kernel(rng: Random, goal: str, p: Problem) -> tuple[set[str], int]:
    choices = list(targets().values())
    target = choices[0] if goal in LINED else rng.choice(choices)
    placed = items.placed(p, target)
    plan = _plan(rng, goal, placed.canonical, target)
    made = Executable(placed, plan, target)
    for _ in range(RUNS):
        tensors, threads = _Tensors(rng, p), rng.choice(THREADS)
        values = by_term(p)
        assert values is not None
        told = f"{p} {target} {plan} at {[x % LINE for x in tensors.addresses]}"
        run = partial(made.run, *tensors.addresses, values.ctypes.data, threads)
        tensors.check(run, p.alpha, p.beta, told)
    return {f"stores={resolve(placed.canonical, plan, target).store.value}"}, RUNS


def _plan(rng: Random, goal: str, form: Canonical, target: Any) -> CpuPlan:
    """Any plan of a sum, or one that the model offers."""
    wish = asked(goal, "stores")
    if wish == "joined":
        return _joined(rng, form, target)
    if wish == "peeled" or rng.random() < 0.4:
        forced = Forced(streaming=True) if wish == "peeled" or rng.random() < 0.5 else Forced()
        offered = list(itertools.islice(sums.plans(form, target, rng.choice(THREADS), forced), 12))
        return offered[0] if wish else rng.choice(offered)
    rank = len(form.axes)
    block = tuple(min(rng.choice((1, 2, 4, 8, 16)), n) for n in form.extents)
    while prod(block) > 256:
        block = tuple(max(1, n // 2) for n in block)
    edge = rng.choice((1, 2, 3, 4))
    tile = tuple(n * rng.choice((1, 2, 3, 4)) for n in block) if rng.random() < 0.5 else (16 * edge,) * rank
    if any(one < n and one % part for one, n, part in zip(tile, form.extents, block, strict=True)):
        tile = block
    order, inner = (tuple(rng.sample(range(rank), rank)) for _ in range(2))
    store = Store.COMBINED if wish == "buffered" else Store(wish or rng.choice(("cached", "peeled", "combined")))
    fetch, factor = rng.choice((Fetch.BLOCKS, Fetch.FAR)), rng.choice((0, 0, 1, 2, 3))
    panel = tuple(n * (factor if rng.random() < 0.8 else 2) for n in tile) if factor else ()
    plan = CpuPlan(tile, block, order, inner, rng.randrange(rank + 1), rng.choice((0, 1, 1, 3)), store, fetch, panel)
    return check(plan, form)


def _joined(rng: Random, form: Canonical, target: Any) -> CpuPlan:
    """A plan of a matrix whose registers are joined to lines, where the machine can."""
    for _ in range(TRIES):
        block = tuple(LINE // form.b.itemsize * rng.choice((1, 1, 2)) for _ in form.axes)
        tile = tuple(n * rng.choice((1, 2, 3)) for n in block)
        panel = tuple(n * rng.choice((1, 2, 9)) for n in (tile if rng.random() < 0.4 else (max(tile),) * 2))
        panel = tuple(-(-n // one) * one for n, one in zip(panel, tile, strict=True))
        order, inner = (tuple(rng.sample((0, 1), 2)) for _ in range(2))
        distance, fetch = rng.choice((0, 1, 3, 8)), rng.choice(list(Fetch))
        plan = CpuPlan(tile, block, order, inner, rng.randrange(3), distance, Store.COMBINED, fetch, panel)
        if resolve(form, plan, target).store is Store.JOINED:
            break
    return check(plan, form)


# --- objects ----------------------------------------------------------------------------------------------


def _object(rng: Random, goal: str, p: Problem) -> tuple[set[str], int]:
    target = rng.choice(list(targets().values()))
    loaded = compiled(p, target, plain_plan(p, target))
    found = set()
    for _ in range(ENTRIES):
        zero = goal == "alpha=zero" or rng.random() < 0.2
        alpha = 0 if zero else rng.choice((1, -1, 2))
        entry = rng.choice(interface.entries(p))
        beta = rng.choice((0, 1, 3)) if entry.beta else 0
        call = Call(alpha, beta, parts=rng.randrange(1, 5) * entry.part, through_beta=entry.beta)
        tensors = _Tensors(rng, p)
        run = partial(invoke, loaded.address, p, call, *tensors.addresses)
        tensors.check(run, alpha, beta, f"{p} {target} {entry.name} alpha {alpha} beta {beta}")
        found.add(f"alpha={'zero' if zero else 'any'}")
    return found, ENTRIES
