"""Random problems and cases, of all the shapes that kernels treat differently.

A goal is a feature such as `type=zc`; what it names is drawn so, all else at random.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import gcd, prod
from random import Random

import strategies
from case import Case

from ttc_llvm.lowering.plan import FALLBACKS
from ttc_llvm.problem import dtypes
from ttc_llvm.problem.canonical import Axis
from ttc_llvm.problem.dtypes import DType, Kind
from ttc_llvm.problem.problem import Problem

TYPES = (*strategies.NAMES, *(f"v{n}" for n in (5, 6, 7, 10, 15, 16, 32, 37, 48)))
ARITHMETIC = strategies.NAMES[:8]
MIXED = (*TYPES, *ARITHMETIC, *ARITHMETIC)  # half of all problems can be scaled
SMALL = ("i8", "i16", "f16", "s", "d", "c", "i32", "i64")  # of which rows can be items
EXTENTS = (*strategies.EXTENTS[1:], 2, 4, 8, 16, 32, 64, 128)
RANKS = (2, 3, 4, 2, 3, 4, 5, 6, 7, 8, 1, 0)
LINE = 64
# Of problems, for goals that chance hardly reaches.
KINDS = {
    **dict.fromkeys(("stores=peeled", "stores=peeled-on", "stores=off-boundary", "loads=off-lines"), "lines"),
    **dict.fromkeys((f"fallback={store.value}" for store in FALLBACKS), "lines"),
    **dict.fromkeys((f"vector-{side}={count}" for side in "ab" for count in (4, 8, 16)), "lines"),
    **dict.fromkeys((f"items={size}" for size in (2, 4, 8, 16)), "items"),
    "tile=registers": "lines",
    "stores=joined": "rows",
}
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


def problem(rng: Random, goal: str = "", elements: int = 8_000, types: Sequence[str] = MIXED) -> Problem:
    """A problem in the paper's terms: any, one whose rows lie on lines, or one whose rows stay rows."""
    kind = KINDS.get(goal) or rng.choice(("any", "any", "lines", "rows", "items" if types is MIXED else "rows"))
    scaled = asked(goal, "kinds") not in ("", "one-zero")
    scalable = [name for name in types if name in ARITHMETIC or "," in name]
    name = asked(goal, "type") or rng.choice(scalable if scaled else SMALL if kind == "items" else types)
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
    name = name.removesuffix("sat")
    made = Problem(perm, tuple(size), name, outer_a, outer_b, alpha, beta, conjugate, saturate=b.saturates)
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
    plain, (first, _, second) = rng.random() < 0.4, kinds.partition("-")
    alphas = {"zero": (0.0,), "one": (1.0,), "any": (2.5, -1.5, 1.0 if second == "any" else 2.5)}
    betas = {"zero": (0.0,), "any": (1.0, -0.75)}
    alpha = rng.choice(alphas.get(first) or ((1.0,) if plain else strategies.ALPHAS))
    beta = rng.choice(betas.get(second) or ((0.0,) if plain else strategies.BETAS))
    if compute.kind is Kind.REAL or plain:
        return alpha, beta, False
    return alpha * rng.choice(strategies.TURNS), beta * rng.choice(strategies.TURNS), rng.random() < 0.5


def case(rng: Random, goal: str = "", elements: int = 8_000, types: Sequence[str] = MIXED) -> Case:
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
