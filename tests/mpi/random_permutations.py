"""Random layouts, permutations, types and scalars against the whole tensor: SEED COUNT, on every rank alike.

Ends with one line of rank 0, "right: COUNT"; an error of any rank ends all.
"""

from __future__ import annotations

import random
import sys
from math import prod
from typing import Any

import numpy as np
from mpi4py import MPI

import ttc_llvm
from ttc_llvm import mpi

COMM = MPI.COMM_WORLD
EXTENTS = (0, 1, 2, 3, 5, 8, 13, 17, 40)
TYPES: tuple[Any, ...] = (
    "f4", "f8", "c8", "c16", ("f4", "f8"), ("c16", "c8"),
    "u1", "i2", "f2", "i8", ">f4", "V3", "M8[s]", [("x", "i2"), ("y", "f8")],
)  # fmt: skip
ARITHMETIC = 6  # of the first so many


def grid(rng: random.Random, ranks: int, dimensions: int) -> tuple[int, ...]:
    """The prime factors of the number of ranks, dealt to the dimensions."""
    found, left, factor = [1] * dimensions, ranks, 2
    while left > 1:
        if left % factor == 0:
            found[rng.randrange(dimensions)] *= factor
            left //= factor
        else:
            factor += 1
    return tuple(found)


def split(rng: random.Random, extent: int, parts: int) -> Any:
    """Blocks, cyclic blocks, or sizes between cuts, some of them 0."""
    cuts = sorted(rng.randint(0, extent) for _ in range(parts - 1))
    sizes = [after - before for before, after in zip([0, *cuts], [*cuts, extent], strict=True)]
    return rng.choice((mpi.block, mpi.cyclic(rng.choice((1, 2, 3, 5))), sizes))


def layout(rng: random.Random, shape: tuple[int, ...]) -> mpi.Layout:
    """Any: dimensions of the grid that split no axis hold copies."""
    dimensions = rng.randint(1, 3)
    places = grid(rng, COMM.size, dimensions)
    split_axes = rng.sample(range(len(shape)), min(len(shape), rng.randint(0, dimensions)))
    axes = dict(zip(split_axes, rng.sample(range(dimensions), len(split_axes)), strict=True))
    splits = {k: split(rng, shape[k], places[at]) for k, at in axes.items()}
    return mpi.Layout(COMM, shape, grid=places, axes=axes, splits=splits)


def elements(seed: int, shape: tuple[int, ...], dtype: np.dtype[Any], numbers: bool) -> Any:
    """Random ones: of any bits where they are moved only."""
    rng = np.random.default_rng(seed)
    if numbers:
        real, imaginary = rng.standard_normal((2, *shape))
        return np.asarray(real + 1j * imaginary if dtype.kind == "c" else real).astype(dtype)[...]
    return np.frombuffer(rng.bytes(prod(shape) * dtype.itemsize), dtype).reshape(shape).copy()


def part(whole: Any, of: mpi.Layout) -> Any:
    """A rank's part of a tensor."""
    return whole[np.ix_(*map(of.indices, range(whole.ndim)))] if whole.ndim else whole


def laid_out(rng: random.Random, x: Any) -> Any:
    """The same elements in C or F order, with gaps or without."""
    gaps, is_c = rng.choice((1, 1, 2)), rng.random() < 0.5
    memory: Any = np.zeros([extent * gaps for extent in (x.shape if is_c else reversed(x.shape))], x.dtype)
    places = (*[slice(None, None, gaps)] * x.ndim, Ellipsis)
    found = (memory if is_c else memory.T)[places]
    found[...] = x
    return found


def same(found: Any, wanted: Any) -> bool:
    """Bit for bit."""
    return bool(found.shape == wanted.shape and found.tobytes() == wanted.tobytes())


def bytes_missing(of: mpi.Layout, perm: list[int], to: mpi.Layout, itemsize: int) -> int:
    """The bytes that this rank's part of B has and its part of A has not: no plan receives less."""
    numbers = np.arange(prod(of.shape)).reshape(of.shape)
    return int(np.setdiff1d(part(numbers.transpose(perm), to), part(numbers, of)).size) * itemsize


def check(seed: int) -> None:
    """One random permutation, called twice, a scatter and a gather."""
    rng = random.Random(seed)
    shape = tuple(rng.choice(EXTENTS) for _ in range(rng.randint(0, 5)))
    while prod(shape) > 200_000:
        shape = shape[:-1]
    perm = rng.sample(range(len(shape)), len(shape))
    of, to = layout(rng, shape), layout(rng, tuple(shape[k] for k in perm))
    kind = rng.randrange(len(TYPES))
    numbers = kind < ARITHMETIC
    given: Any = TYPES[kind]
    types: list[Any] = [np.dtype(one) for one in (given if isinstance(given, tuple) else (given, given))]
    scalars: dict[str, Any] = {"alpha": rng.choice((1, 2, -0.5)), "beta": rng.choice((0, 1, 0.5))} if numbers else {}
    a, b = elements(seed, of.shape, types[0], numbers), elements(-seed & 0xFFFF, to.shape, types[1], numbers)
    wanted = part(ttc_llvm.transpose(a, perm, out=b.copy(), **scalars), to)
    plan = mpi.permute_plan(of, perm, to, tuple(types) if isinstance(given, tuple) else types[0])
    mine = laid_out(rng, part(a, of))
    for _ in range(2):
        into = laid_out(rng, part(b, to))
        assert plan(mine, into, **scalars) is into
        assert same(into, wanted), (seed, plan, given, scalars)
    if not scalars.get("beta"):
        assert same(plan(mine, **scalars), wanted)
    assert plan.bytes_received == bytes_missing(of, perm, to, types[0].itemsize), plan
    assert COMM.allreduce(plan.bytes_sent) == COMM.allreduce(plan.bytes_received)
    root = seed % COMM.size
    whole = of.gather(mine, root)
    assert (whole is not None) == (COMM.rank == root) and (whole is None or same(whole, a))
    assert same(of.scatter(a if COMM.rank == root else None, root), part(a, of))


if __name__ == "__main__":
    first, count = int(sys.argv[1]), int(sys.argv[2])
    for number in range(first, first + count):
        check(number)
    if COMM.rank == 0:
        print(f"right: {count}")
