"""Hypothesis strategies: problems, strided cases, plans and ways to run them."""

from __future__ import annotations

from math import prod
from typing import Any

from case import Case
from hypothesis import strategies as st
from machine import Run

from ttc_llvm.lowering.plan import DECISIONS, FALLBACKS, CpuPlan, Fetch, Store
from ttc_llvm.machine.target import Target
from ttc_llvm.problem import dtypes
from ttc_llvm.problem.canonical import Axis, Canonical
from ttc_llvm.problem.dtypes import DType, Kind
from ttc_llvm.problem.problem import Problem

NAMES = (
    "s",
    "d",
    "c",
    "z",
    "sd",
    "ds",
    "cz",
    "zc",
    "f16",
    "bf16",
    "i8",
    "i16",
    "i32",
    "i64",
    "v3",
    "v12",
    "v24",
    *("u8,s", "f16,s", "s,bf16", "i64,f16", "d,e4m3fn", "s,i8", "i16r,z", "u32,i16"),
)
EXTENTS = (0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 23, 31, 32, 33, 40)
RANKS = (0, 2, 3, 4, 2, 3, 5, 6, 7, 8, 1)  # the most telling first: Hypothesis prefers the front
PADDING = (0, 0, 1, 3, 16)
ALPHAS = (1.0, 0.0, 2.5, -1.5)
BETAS = (0.0, 0.0, 1.0, -0.75)
TURNS = (1, 1j, 1 - 0.5j)
STORES = (Store.CACHED, *DECISIONS)
LOADS = (0, 0, 16, 32)  # bytes


@st.composite
def extents(draw: st.DrawFn, elements: int, ranks: tuple[int, int] = (1, 8)) -> tuple[int, ...]:
    """Ragged extents with a bounded product; zeros are rare, so that most cases do something."""
    rank = draw(st.sampled_from([r for r in RANKS if ranks[0] <= r <= ranks[1]]))
    sizes: list[int] = []
    for _ in range(rank):
        room = elements // max(1, prod(sizes))
        chosen = draw(st.sampled_from(EXTENTS[1:]))
        sizes.append(min(chosen, max(1, room)))
    if rank and draw(st.integers(0, 49)) == 49:
        sizes[draw(st.integers(0, rank - 1))] = 0
    return tuple(draw(st.permutations(sizes)))


@st.composite
def scalars(draw: st.DrawFn, compute: DType) -> tuple[complex, complex, bool]:
    """alpha, beta and conjugation of every kind that the type admits."""
    if compute.kind is Kind.OPAQUE:
        return 1.0, 0.0, False
    alpha, beta = draw(st.sampled_from(ALPHAS)), draw(st.sampled_from(BETAS))
    if compute.kind is Kind.REAL:
        return alpha, beta, False
    turn = draw(st.sampled_from(TURNS)), draw(st.sampled_from(TURNS))
    return alpha * turn[0], beta * turn[1], draw(st.booleans())


@st.composite
def problems(draw: st.DrawFn, elements: int = 12_000, ranks: tuple[int, int] = (1, 8)) -> Problem:
    """Problems in the paper's terms, with and without padding."""
    size = draw(extents(elements, ranks))
    perm = draw(st.permutations(range(len(size))))
    name = draw(st.sampled_from(NAMES))
    alpha, beta, conjugate = draw(scalars(dtypes.compute_type(*dtypes.parse_pair(name))))
    lda = draw(_outer(size))
    ldb = draw(_outer(tuple(size[p] for p in perm)))
    return Problem(tuple(perm), size, name, lda, ldb, alpha, beta, conjugate)


def _outer(inner: tuple[int, ...]) -> st.SearchStrategy[tuple[int, ...] | None]:
    """No outer sizes, or padded ones; at most four axes are padded, or the storage would explode."""
    paddings = st.lists(st.sampled_from(PADDING), min_size=min(4, len(inner)), max_size=min(4, len(inner)))
    return st.none() | paddings.map(
        lambda pads: tuple(e + p for e, p in zip(inner, [*pads, *[0] * len(inner)], strict=False))
    )


@st.composite
def strided(draw: st.DrawFn, elements: int = 12_000) -> Case:
    """General strides: both orders free, gaps, axes that run backwards, and broadcast axes of A."""
    size = draw(extents(elements, (1, 6)))
    a, b = dtypes.parse_pair(draw(st.sampled_from(NAMES)))
    alpha, beta, conjugate = draw(scalars(dtypes.compute_type(a, b)))
    strides_a = draw(_strides(size, broadcast=True))
    strides_b = draw(_strides(size, broadcast=False))
    axes = tuple(Axis(*axis) for axis in zip(size, strides_a, strides_b, strict=True))
    return Case(axes, a, b, alpha, beta, conjugate, draw(st.integers(0, 1 << 30)))


@st.composite
def _strides(draw: st.DrawFn, size: tuple[int, ...], broadcast: bool) -> tuple[int, ...]:
    strides = [0] * len(size)
    step = draw(st.sampled_from((1, 1, 1, 2, 3)))
    for k in draw(st.permutations(range(len(size)))):
        if broadcast and draw(st.integers(0, 7)) == 7:
            continue
        strides[k] = draw(st.sampled_from((1, 1, 1, -1))) * step
        step = step * max(1, size[k]) + draw(st.sampled_from((0, 0, 0, 1, 5)))
    return tuple(strides)


def cases(elements: int = 12_000) -> st.SearchStrategy[Case]:
    """Problems and strided cases, two to one."""
    stated = st.builds(Case.of, problems(elements), st.integers(0, 1 << 30))
    return st.one_of(stated, stated, strided(elements))


@st.composite
def plans(
    draw: st.DrawFn, c: Canonical, target: Target, parametric: bool = False, room: int = 256
) -> CpuPlan:
    """Any plan that fits the canonical form; blocks of at most `room` elements."""
    rank = len(c.axes)
    block = draw(_blocks(c, target, room))
    tile = []
    for size, extent in zip(block, c.extents, strict=True):
        spanning = size if parametric else max(extent, 1) + 5
        tile.append(draw(st.sampled_from((size, 2 * size, 3 * size, spanning))))
    store = draw(st.sampled_from((Store.CACHED, Store.ALIGNED) if parametric else STORES))
    fetch = draw(st.sampled_from(Fetch))
    panel = draw(st.just(()) | st.tuples(*(st.sampled_from((size, 2 * size, 4 * size)) for size in tile)))
    return CpuPlan(
        tuple(tile),
        block,
        tuple(draw(st.permutations(range(rank)))),
        tuple(draw(st.permutations(range(rank)))),
        draw(st.integers(0, rank)),
        draw(st.sampled_from((0, 0, 1, 2, 5))),
        store,
        fetch,
        panel,
        draw(st.sampled_from((None, *FALLBACKS))),
    )


@st.composite
def _blocks(draw: st.DrawFn, c: Canonical, target: Target, room: int) -> tuple[int, ...]:
    """Vector widths along the axes of unit stride, anything along the others, until the room is used up."""
    width = target.lanes(max(c.a.itemsize, c.b.itemsize))
    block = [1] * len(c.axes)
    unit = [k for k, axis in enumerate(c.axes) if axis.stride_b == 1 or axis.stride_a in (1, -1)]
    for k in sorted(range(len(block)), key=lambda k: k not in unit):
        bound = min(max(c.extents[k], 1), room // prod(block))
        if k in unit or draw(st.integers(0, 3)) == 3:
            block[k] = min(draw(st.sampled_from((width, width, width, width, 2, 3, 4, 8, 12))), bound)
    return tuple(block)


@st.composite
def executions(draw: st.DrawFn, targets: tuple[Target, ...], elements: int = 12_000) -> tuple[Case, Run]:
    """A case and one way to run it."""
    case = draw(cases(elements))
    target = draw(st.sampled_from(targets))
    parametric = draw(st.integers(0, 7)) == 7
    plan = draw(plans(case.placed.canonical, target, parametric))
    flush: Any = st.sampled_from(("start", "end"))
    parts, loads = draw(st.integers(1, 3)), draw(st.sampled_from(LOADS))
    return case, Run(plan, target, parts, draw(flush), draw(flush), parametric, loads=loads)
