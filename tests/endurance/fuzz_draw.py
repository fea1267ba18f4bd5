"""Random problems, cases and plans, of all the shapes that kernels treat differently.

A goal is a feature such as `type=zc`; what it names is drawn so, all else at random.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from math import gcd, prod
from random import Random
from typing import TypeVar

import strategies
from case import Case

from ttc_llvm import dtypes
from ttc_llvm.canonical import Axis, Canonical
from ttc_llvm.carry_plans import carrying, joined_rows
from ttc_llvm.dtypes import DType, Kind
from ttc_llvm.plan import LOADS, CpuPlan, Fetch, Staging
from ttc_llvm.problem import Problem
from ttc_llvm.staging import overwrites
from ttc_llvm.target import Target
from ttc_llvm.tuning.blocks import blocks
from ttc_llvm.tuning.candidates import starts
from ttc_llvm.tuning.choices import FREE
from ttc_llvm.unaligned import ways

T = TypeVar("T")

TYPES = (*strategies.NAMES, *(f"v{n}" for n in (5, 6, 7, 10, 15, 16, 32, 37, 48)))
SMALL = ("i8", "i16", "f16", "s", "d", "c", "i32", "i64")  # of which rows can be items
EXTENTS = (*strategies.EXTENTS[1:], 2, 4, 8, 16, 32, 64, 128)
RANKS = (2, 3, 4, 2, 3, 4, 5, 6, 7, 8, 1, 0)
LINE = 64
MOST_BYTES = 1 << 20  # of a tensor, padding included


@dataclass(frozen=True, slots=True)
class Met:
    """What a round met. features: what was really there, as often as it was; problems: how many were computed."""

    features: tuple[str, ...]
    problems: int = 1


def asked(goal: str, what: str) -> str:
    """The value that a goal asks for, "" = any."""
    key, _, value = goal.partition("=")
    return value if key == what else ""


# --- problems -------------------------------------------------------------------------------------------


def problem(rng: Random, goal: str = "", elements: int = 8_000, types: Sequence[str] = TYPES) -> Problem:
    """A problem in the paper's terms: any, one whose rows lie on lines, or one whose rows stay rows."""
    kind = HARD[goal][0] if goal in HARD else rng.choice(("any", "any", "lines", "rows", "items"))
    name = asked(goal, "type") or rng.choice(types if kind != "items" else SMALL)
    a, b = dtypes.parse_pair(name)
    rank = int(asked(goal, "rank") or rng.choice(RANKS))
    perm = tuple(rng.sample(range(rank), rank))
    size = list(extents(rng, rank, elements))
    unit = max(1, LINE // gcd(LINE, b.itemsize))
    if kind in ("rows", "items") and rank > 1:
        perm = (0, *(p for p in perm if p))
        size[0] = rng.choice((2, 4, 16, 31, 64, 100, 256)) * max(1, 8 // b.itemsize)
    if kind == "items" and rank > 1:
        size[0] = max(1, int(asked(goal, "items") or rng.choice((2, 4, 8, 16))) // b.itemsize)
    if kind == "lines" and rank > 1:
        size[0] = unit * rng.choice((1, 2, 3)) if rng.random() < 0.5 else size[0]
        size[perm[0]] = unit * rng.choice((1, 2, 3, 5))
    while prod(size) > 4 * elements:
        largest = max((k for k in range(rank) if kind == "any" or k != perm[0]), key=lambda k: size[k])
        size[largest] = -(-size[largest] // 2)
    size_b = tuple(size[p] for p in perm)
    step = {"lines": unit, "items": size[0] if size else 0}.get(kind, 0)
    outer_a, outer_b = _outer(rng, tuple(size), step), _outer(rng, size_b, step)
    kinds = "one-zero" if kind == "items" else asked(goal, "kinds")
    alpha, beta, conjugate = scalars(rng, dtypes.compute_type(a, b), kinds)
    made = Problem(perm, tuple(size), name, outer_a, outer_b, alpha, beta, conjugate)
    small = max(made.storage("a") * a.itemsize, made.storage("b") * b.itemsize) <= MOST_BYTES
    return made if small else problem(rng, goal, elements, types)


def extents(rng: Random, rank: int, elements: int) -> tuple[int, ...]:
    """Ragged extents and powers of two with a bounded product; zeros are rare."""
    sizes: list[int] = []
    for _ in range(rank):
        sizes.append(min(rng.choice(EXTENTS), max(1, elements // prod(sizes))))
    if rank and rng.random() < 0.02:
        sizes[0] = 0
    return tuple(rng.sample(sizes, rank))


def _outer(rng: Random, inner: tuple[int, ...], line: int = 0) -> tuple[int, ...] | None:
    """No outer sizes, or padded ones, few axes only; the first by whole lines, or items, of so many elements."""
    if not inner or rng.random() < 0.5:
        return None
    pads = [rng.choice(strategies.PADDING) if k < 3 else 0 for k in range(len(inner))]
    pads[0] = rng.choice((0, 0, line, 2 * line)) if line else pads[0]
    return tuple(extent + pad for extent, pad in zip(inner, pads, strict=True))


def scalars(rng: Random, compute: DType, kinds: str = "") -> tuple[complex, complex, bool]:
    """alpha, beta and conjugation that the type admits, of these kinds."""
    if compute.kind is Kind.OPAQUE:
        return 1.0, 0.0, False
    plain = rng.random() < 0.4
    alpha = {"zero": 0.0, "one": 1.0}.get(kinds.partition("-")[0], 1.0 if plain else rng.choice(strategies.ALPHAS))
    beta = {"zero": 0.0, "any": rng.choice((1.0, -0.75))}.get(
        kinds.partition("-")[2], 0.0 if plain else rng.choice(strategies.BETAS)
    )
    if compute.kind is Kind.REAL or plain:
        return alpha, beta, False
    return alpha * rng.choice(strategies.TURNS), beta * rng.choice(strategies.TURNS), rng.random() < 0.5


def case(rng: Random, goal: str = "", elements: int = 8_000, types: Sequence[str] = TYPES) -> Case:
    """A problem, or general strides: gaps, axes that run backwards, broadcast axes of A."""
    stated = Case.of(problem(rng, goal, elements, types), rng.getrandbits(30))
    if rng.random() < 0.7 and asked(goal, "strides") == "":
        return stated
    size = tuple(axis.extent for axis in stated.axes if isinstance(axis.extent, int))[:6]
    steps = strides(rng, size, broadcast=True), strides(rng, size, broadcast=False)
    return replace(stated, axes=tuple(Axis(*axis) for axis in zip(size, *steps, strict=True)))


def strides(
    rng: Random, size: Sequence[int], broadcast: bool, step: int = 1, gaps: tuple[int, ...] = (0, 0, 0, 1, 5)
) -> tuple[int, ...]:
    """Any order of the axes, gaps, backward axes; broadcast: axes of stride 0; step: of the first one."""
    found = [0] * len(size)
    step *= rng.choice((1, 1, 1, 2, 3))
    for k in rng.sample(range(len(size)), len(size)):
        if broadcast and rng.random() < 0.125:
            continue
        found[k] = rng.choice((1, 1, 1, -1)) * step
        step = step * max(1, size[k]) + rng.choice(gaps)
    return tuple(found)


# --- plans ----------------------------------------------------------------------------------------------

Maker = Callable[[Random, Canonical, Target], CpuPlan]


def plan(rng: Random, c: Canonical, target: Target, goal: str = "") -> CpuPlan:
    """Any plan: random decisions, one whose runs go on, what runs instead of a streaming one, or a seed of tuning."""
    if goal in HARD and c.elements and (overwrites(c) or goal.startswith("edges")):
        return HARD[goal][1](rng, c, target)
    if not (c.elements and overwrites(c)):
        return rng.choice((free_plan, _seed))(rng, c, target) if c.elements else free_plan(rng, c, target)
    makers: tuple[Maker, ...] = (free_plan, free_plan, _carrying, _joined, _shifting, _way, _seed)
    return rng.choice(makers)(rng, c, target)


def free_plan(rng: Random, c: Canonical, target: Target, parametric: bool = False, room: int = 256) -> CpuPlan:
    """Random decisions that fit the canonical form; blocks of at most `room` elements."""
    rank, block = len(c.axes), _block(rng, c, target, room)
    pairs = list(zip(block, c.extents, strict=True))
    tile = tuple(rng.choice((n, 2 * n, 3 * n, n if parametric else max(extent, 1) + 5)) for n, extent in pairs)
    panel = tuple(rng.choice((n, 2 * n, 4 * n)) for n in tile) if rng.random() < 0.4 else ()
    return CpuPlan(
        tile,
        block,
        tuple(rng.sample(range(rank), rank)),
        tuple(rng.sample(range(rank), rank)),
        rng.randint(0, rank),
        rng.choice((0, 0, 1, 2, 5)),
        rng.random() < 0.5,
        Staging.NONE if parametric else rng.choice((Staging.NONE, *Staging)),
        rng.choice(tuple(Fetch)),
        panel,
        rng.choice((None, Staging.NONE, Staging.B, Staging.CARRY, Staging.SHIFT)),
        rng.choice(LOADS),
    )


def _block(rng: Random, c: Canonical, target: Target, room: int) -> tuple[int, ...]:
    """Vector widths along the axes of unit stride, anything along the others, until the room is used up."""
    if rng.random() < 0.2 and c.elements:
        return rng.choice(blocks(c, target))
    width = target.lanes(max(c.a.itemsize, c.b.itemsize))
    block = [1] * len(c.axes)
    unit = [k for k, axis in enumerate(c.axes) if axis.stride_b == 1 or axis.stride_a in (1, -1)]
    for k in sorted(range(len(block)), key=lambda k: k not in unit):
        bound = min(max(c.extents[k], 1), room // prod(block))
        if k in unit or rng.random() < 0.25:
            block[k] = min(rng.choice((width, width, width, 2, 3, 4, 8, 12)), bound)
    return tuple(block)


def _carrying(rng: Random, c: Canonical, target: Target) -> CpuPlan:
    sizes = rng.choice((64, 128, 512)), rng.choice((64, 256, 512)), rng.choice((8, 64, 512))
    return carrying(c, _block(rng, c, target, 256), sizes, rng.choice(tuple(Fetch)), rng.choice((0, 1, 3)))


def _joined(rng: Random, c: Canonical, target: Target) -> CpuPlan:
    found = joined_rows(c, target, rng.choice((8, 64, 256)), rng.choice(tuple(Fetch)), rng.choice((0, 1, 4)))
    return found if rng.random() < 0.7 else replace(found, panel=(), parallel=0)


def _shifting(rng: Random, c: Canonical, target: Target) -> CpuPlan:
    """Micro-tiles of whole lines of B, across rows of A."""
    block, by_a = [1] * len(c.axes), c.along("a")[-1]
    block[by_a] = min(rng.choice((1, 4, 8, 16)), c.extents[by_a])
    block[0] = max(1, LINE // c.b.itemsize) * rng.choice((1, 1, 2))
    tile = tuple(n * rng.choice((1, 2, 4)) for n in block)
    decided = free_plan(rng, c, target)
    return replace(decided, tile=tile, block=tuple(block), panel=(), streaming=True, staging=Staging.SHIFT)


def _streaming(rng: Random, c: Canonical, target: Target) -> CpuPlan:
    """Micro-tiles that store past the caches, where rows are on boundaries: elsewhere something else must serve."""
    return replace(free_plan(rng, c, target), streaming=True, staging=Staging.NONE)


def _edgy(rng: Random, c: Canonical, target: Target) -> CpuPlan:
    """Micro-tiles over many axes, of which most leave a remainder."""
    edges = [min(max(1, extent - 1), rng.choice((2, 3, 4, 5))) for extent in c.extents[:4]]
    block = (*edges, *(1,) * (len(c.axes) - len(edges)))
    decided = free_plan(rng, c, target)
    tile = tuple(n * rng.choice((1, 2, 8)) for n in block)
    return replace(decided, tile=tile, block=block, panel=(), streaming=False, staging=Staging.NONE)


def _way(rng: Random, c: Canonical, target: Target) -> CpuPlan:
    streaming = replace(free_plan(rng, c, target), streaming=True)
    return rng.choice(list(ways(c, streaming, target))).plan


def _seed(rng: Random, c: Canonical, target: Target) -> CpuPlan:
    found = list(islice(starts(c, target, FREE), 24))
    return rng.choice(found) if found else free_plan(rng, c, target)


# What chance hardly reaches: the kind of problem, and the plans.
HARD: dict[str, tuple[str, Maker]] = {
    "stores=shifted": ("lines", _shifting),
    "stores=shifted-on": ("lines", _shifting),
    "stores=joined": ("rows", _joined),
    "stores=carried": ("any", _carrying),
    **{f"instead={how}": ("lines", _streaming) for how in ("shift", "carry", "b", "none")},
    **{f"items={size}": ("items", free_plan) for size in (2, 4, 8, 16)},
    "loads=off-lines": ("lines", _streaming),
    "stores=off-boundary": ("lines", _streaming),
    **{f"vector-{side}={count}": ("lines", free_plan) for side in "ab" for count in (4, 8, 16)},
    "tile=registers": ("lines", free_plan),
    "edges=mask2": ("any", _edgy),
    "edges=mask3": ("any", _edgy),
    "prefetch=row-next": ("any", _carrying),
    "prefetch=row-ahead": ("any", _carrying),
}
