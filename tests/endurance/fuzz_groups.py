"""`ttc_llvm.grouped` on blocks of every rank, layout and scalar, each between guard pages of its own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Any

import layouts
import numpy as np
import reference
from fuzz_arrays import DTYPES, NUMBERS, Lain, _of_layout, _of_scalars, _same
from fuzz_draw import Met, asked, extents, scalars
from guarded_case import Place

import ttc_llvm
from ttc_llvm.groups import table
from ttc_llvm.problem import dtypes
from ttc_llvm.problem.dtypes import compute_type

THREADS = (1, 2, 3, 4)
WAYS = ("indexed runs", "kernels of their own", "any-size kernels", "calls of their own", "nothing")
CALLS = 2  # of a plan, the second of which has other memory


def prepare() -> None:
    """Have small groups shared by threads, and blocks moved apart, in this process, as large ones are."""
    vars(table).update(SERIAL_BYTES=1 << 10, TASK_BYTES=1 << 9, LARGE_BYTES=48 << 10, PAST_BYTES=24 << 10)


def goals() -> tuple[str, ...]:
    """Every feature that rounds are made for."""
    values = {
        "dtype": DTYPES,
        "kinds": ("zero-zero", "zero-any", "one-zero", "any-zero", "any-any"),
        "scaling": ("mixed", "conjugate"),
        "strides": ("backward", "broadcast", "odd", "packed"),
        "rank": range(7),
        "threads": THREADS,
        "way": WAYS,
    }
    return tuple(f"{what}={value}" for what, choices in values.items() for value in choices)


@dataclass(slots=True)
class Group:
    """Blocks that go together. axes: of each; alpha, beta, conjugate: of all."""

    types: tuple[Any, Any]
    axes: list[tuple[int, ...]] = field(default_factory=list)
    a: list[Lain] = field(default_factory=list)
    b: list[Lain] = field(default_factory=list)

    @property
    def shapes(self) -> list[tuple[int, ...]]:
        """Of the blocks of A."""
        return [x.array.shape for x in self.a]

    def lists(self) -> tuple[list[Any], list[Any]]:
        """The arrays."""
        return [x.array for x in self.a], [x.array for x in self.b]


def attack(rng: Random, goal: str) -> Met:
    """Transpose a group, twice, and compare everything that may have been written."""
    scaling = goal.startswith(("kinds", "scaling"))
    kinds = ("c8", "c16") if goal == "scaling=conjugate" else layouts.ARITHMETIC
    of = np.dtype(asked(goal, "dtype") or rng.choice(kinds if scaling or rng.random() < 0.4 else DTYPES))
    mixed = of in NUMBERS and (goal == "scaling=mixed" or rng.random() < 0.2)
    to = np.dtype(layouts.PARTNER[of.str[1:]]) if mixed else of
    packed = goal == "strides=packed" or (not goal.startswith("strides") and rng.random() < 0.5)
    group = drawn(rng, of, to, goal, packed)
    compute = compute_type(*map(dtypes.from_numpy, (of, to)))
    drawn_scalars = scalars(rng, compute, asked(goal, "kinds"))
    scale: dict[str, Any] = dict(zip(("alpha", "beta", "conjugate"), drawn_scalars, strict=True))
    threads = int(asked(goal, "threads") or rng.choice(THREADS))
    both = zip(("strides", "out_strides"), map(strides_of, group.lists()), strict=True)
    strides: dict[str, Any] = {} if packed else dict(both)
    given = {} if rng.random() < 0.3 else scale
    effort = 2 if goal == "way=kernels of their own" or rng.random() < 0.02 else 1
    plan = ttc_llvm.grouped(group.shapes, group.axes, (of, to), **strides, threads=threads, effort=effort, **given)
    for _ in range(CALLS):
        called(rng, plan, group, scale)
        group.a, group.b = ([again(rng, x, of_b) for x in side] for side, of_b in ((group.a, False), (group.b, True)))
    features = {*(f"dtype={name}" for name in DTYPES if np.dtype(name) == of), f"threads={threads}"}
    features |= {f"rank={len(shape)}" for shape in group.shapes}
    features |= {f"way={way}" for way in WAYS if f"by {way}" in plan.explain()} | set(_of(group, scale, packed, mixed))
    return Met(tuple(features), CALLS * len(group.a))


def drawn(rng: Random, of: np.dtype[Any], to: np.dtype[Any], goal: str, packed: bool) -> Group:
    """Some blocks, a few of them of equal layouts. packed: C-contiguous."""
    group = Group((of, to))
    for _ in range(rng.choice((1, 2, 5, 9))):
        rank = int(asked(goal, "rank") or rng.choice((2, 3, 4, 3, 4, 5, 6, 1, 0)))
        shape = extents(rng, rank, rng.choice((100, 1000, 8000)))
        axes = tuple(rng.sample(range(rank), rank))
        broadcast = not packed and (goal == "strides=broadcast" or rng.random() < 0.2)
        for _ in range(rng.choice((1, 1, 2))):
            group.axes.append(axes)
            group.a.append(_lain(rng, shape, of, goal, broadcast, packed))
            group.b.append(_lain(rng, tuple(shape[k] for k in axes), to, goal, False, packed))
    return group


def _lain(
    rng: Random, shape: tuple[int, ...], t: np.dtype[Any], goal: str, broadcast: bool, packed: bool
) -> Lain:
    if not packed:
        return Lain.of(rng, shape, t, goal, broadcast)
    size = t.itemsize * int(np.prod(shape))
    memory = Place(rng.choice(("start", "end")), None).memory(size)
    memory.bytes[...] = np.frombuffer(rng.randbytes(size), np.uint8)
    found = Lain(memory, 0, np.ndarray(shape, t, memory.bytes))
    if t in NUMBERS and size and rng.random() < 0.5:
        layouts.soften(found.array, rng.getrandbits(20))
    return found


def again(rng: Random, x: Lain, of_b: bool) -> Lain:
    """The same in other memory."""
    memory = Place(rng.choice(("start", "end"))).memory(len(x.memory.bytes))
    memory.bytes[...] = x.memory.bytes
    return Lain(memory, x.low, Lain(memory, x.low, x.array).within(memory.bytes))


def called(rng: Random, plan: Any, group: Group, scale: dict[str, Any]) -> None:
    """Run the plan, in one of its ways, and compare."""
    types = dtypes.from_numpy(group.types[0]), dtypes.from_numpy(group.types[1])
    before = [x.memory.bytes.tobytes() for x in group.a]
    whole = [x.memory.bytes.copy() for x in group.b]
    list_a, list_b = group.lists()
    wanted = [
        np.array(reference.combine(np.transpose(x, axes), y.copy(), types, *scale.values()), group.types[1])
        for x, y, axes in zip(list_a, list_b, group.axes, strict=True)
    ]
    if rng.random() < 0.5:
        assert plan(list_a, list_b, **scale) is list_b, "the result is another list"
    else:
        addresses = [np.array([x.ctypes.data for x in arrays], np.int64) for arrays in (list_a, list_b)]
        plan.run(*addresses, **scale)
    plain = reference.is_plain(*types, *scale.values())
    for number, (x, y, one) in enumerate(zip(group.a, group.b, wanted, strict=True)):
        told = f" in block {number}: {group.shapes} {group.axes} {plan!r} {scale} {list_a[number].strides}"
        _same(y.array, one, types[1], plain, told)
        y.within(whole[number])[...] = y.array
        is_whole = y.memory.intact() and y.memory.bytes.tobytes() == whole[number].tobytes()
        assert is_whole, f"other memory was written{told}"
        assert x.memory.intact() and x.memory.bytes.tobytes() == before[number], f"A was written{told}"


def strides_of(arrays: list[Any]) -> list[tuple[int, ...]]:
    return [x.strides for x in arrays]


def _of(group: Group, scale: dict[str, Any], packed: bool, mixed: bool) -> Iterator[str]:
    yield from _of_scalars(scale["alpha"], scale["beta"], scale["conjugate"], mixed)
    yield from ("strides=packed",) * packed
    for x in (*group.a, *group.b):
        yield from _of_layout(x.array)
