"""Kernels on the host: random problems under random plans against NumPy, between guard pages."""

from __future__ import annotations

import machine
import pytest
import tiers
from case import Case
from hypothesis import given, seed, settings
from machine import Run, check, runnable
from strategies import executions

from ttc_llvm.lowering.plan import CpuPlan, Fetch, Store
from ttc_llvm.problem import dtypes
from ttc_llvm.problem.canonical import Axis
from ttc_llvm.problem.problem import Problem

SLICES, FULL_SLICES, PROBLEMS = 4, 50, 100
PARTS = [pytest.param(n, marks=[] if n < SLICES else [pytest.mark.full]) for n in range(FULL_SLICES)]


@pytest.mark.parametrize("part", PARTS)
def test_random_problems(part: int) -> None:
    """Each part is a fixed list of problems: parts can run in parallel, and every failure comes back."""

    @seed(part)
    @settings(max_examples=min(PROBLEMS, tiers.count(PROBLEMS)), derandomize=False)
    @given(executions(runnable()))
    def every(execution: tuple[Case, Run]) -> None:
        check(*execution)

    every()


def simple(c_rank: int, tile: tuple[int, ...], block: tuple[int, ...], **decisions: object) -> CpuPlan:
    """A plan with the natural loop orders."""
    order = tuple(reversed(range(c_rank)))
    return CpuPlan(tile, block, order, order, **decisions)  # type: ignore[arg-type]


SQUARE = Problem((1, 0), (50, 70), "s")
NAMED: dict[str, tuple[Problem, CpuPlan, str]] = {
    "a remainder behind a block off the vector boundary": (
        Problem((1, 0), (16, 20), "s", ldb=(32, 16)), simple(2, (12, 16), (12, 4), store=Store.ALIGNED), "avx512"),
    "pairs behind a block of three": (
        Problem((1, 0), (16, 5), "z", ldb=(8, 16)), simple(2, (3, 4), (3, 4), store=Store.ALIGNED), "avx2"),
    "masks of blocks beyond 127 bytes": (
        Problem((1, 0), (5, 390), "i8"), simple(2, (200, 2), (200, 2)), "avx512"),
    "masks of blocks beyond 255 bytes": (
        Problem((1, 0), (5, 700), "i8"), simple(2, (300, 2), (300, 2)), "avx512"),
    "masks of blocks beyond 127 floats": (
        Problem((1, 0), (5, 390), "s"), simple(2, (200, 2), (200, 2)), "avx512"),
    "whole streaming tiles": (
        Problem((1, 0), (64, 64), "s"), simple(2, (32, 32), (16, 16), store=Store.ALIGNED), "avx512"),
    "streaming out of a stage": (
        Problem((1, 0), (64, 48), "d"), simple(2, (16, 16), (4, 4), store=Store.COMBINED), "avx2"),
    "rows that find their own boundaries": (
        Problem((0, 2, 1), (37, 9, 11), "s"), simple(3, (37, 4, 4), (16, 1, 1), store=Store.ALIGNED), "avx512"),
    "rows of complex numbers, scaled": (
        Problem((0, 2, 1), (21, 9, 11), "z", alpha=2j), simple(3, (21, 4, 4), (4, 1, 1), store=Store.ALIGNED), "avx2"),
    "rows without masks": (
        Problem((0, 2, 1), (131, 5, 7), "i8"), simple(3, (131, 4, 4), (16, 1, 1), store=Store.ALIGNED), "sse2"),
    "rows of mixed types": (
        Problem((0, 2, 1), (37, 9, 11), "sd", alpha=3),
        simple(3, (16, 4, 4), (8, 1, 1), store=Store.ALIGNED), "avx512"),
    "runs over two axes out of a stage": (
        Problem((2, 1, 0), (7, 11, 13), "s"),
        simple(3, (13, 4, 4), (8, 1, 4), store=Store.COMBINED), "avx512"),
    "rows of another type out of a stage": (
        Problem((1, 0), (33, 71), "ds"), simple(2, (32, 16), (8, 8), store=Store.COMBINED), "avx2"),
    "a stage with remainders on both axes": (
        Problem((1, 0), (37, 41), "c", alpha=2j), simple(2, (12, 16), (4, 4), store=Store.COMBINED), "avx2"),
    "beta = 1 does not stage A": (
        Problem((1, 0), (37, 41), "c", alpha=2j, beta=1), simple(2, (12, 16), (4, 4), store=Store.COMBINED), "avx2"),
    "alpha = 0 does not stage A": (
        Problem((1, 0), (37, 41), "d", alpha=0), simple(1, (64,), (8,), store=Store.COMBINED), "avx512"),
    "prefetch far beyond the end": (
        Problem((1, 0), (33, 35), "d"), simple(2, (8, 8), (4, 4), prefetch=100), "avx2"),
    "bytes in 64 x 64": (Problem((1, 0), (130, 129), "i8"), simple(2, (128, 128), (64, 64)), "avx512"),
    "three floats per pixel": (Problem((1, 0), (3, 1000), "s"), simple(2, (64, 3), (16, 3)), "avx512"),
    "three bytes per pixel": (Problem((1, 2, 0), (3, 31, 33), "i8"), simple(2, (64, 3), (64, 3)), "avx512"),
    "rows of twelve floats": (Problem((1, 0), (12, 75), "s"), simple(2, (64, 12), (16, 12)), "avx512"),
    "into rows of twelve floats": (Problem((1, 0), (75, 12), "s"), simple(2, (12, 64), (12, 16)), "avx512"),
    "rows of fifteen doubles": (Problem((1, 0), (15, 75), "d", beta=1), simple(2, (64, 15), (8, 15)), "avx2"),
    "one element": (Problem((), ()), simple(1, (1,), (1,)), "sse2"),
    "nothing": (Problem((1, 0), (0, 5)), simple(1, (1,), (1,)), "sse2"),
    "items of 48 bytes": (Problem((1, 0), (9, 10), "v48"), simple(3, (6, 8, 8), (6, 1, 1)), "avx2"),
}  # fmt: skip


@pytest.mark.parametrize("name", NAMED)
@pytest.mark.parametrize("flush", ["start", "end"])
def test_named_cases(name: str, flush: str) -> None:
    problem, plan, row = NAMED[name]
    check(Case.of(problem), Run(plan, machine.found(row), 2, flush, flush))


@pytest.mark.parametrize("extent", [190, 200, 327, 328, 399, 400])
@pytest.mark.parametrize("dtype", ["i8", "s"])
def test_masks_of_long_rows_known_at_run_time_only(dtype: str, extent: int) -> None:
    """The last register of a block of 200 has lanes without elements: no length makes them active."""
    case = Case.of(Problem((0,), (extent,), dtype))
    check(case, Run(simple(1, (200,), (200,)), machine.found("avx512"), parametric=True))


@pytest.mark.parametrize("parts", [1, 2, 3, 5, 64])
def test_any_number_of_parts_covers_everything(parts: int) -> None:
    check(Case.of(SQUARE), Run(simple(2, (16, 16), (4, 4), parallel=2), machine.found("sse2"), parts))


def test_broadcast_and_reversed_axes_of_a() -> None:
    t = dtypes.dtype("d")
    axes = (Axis(19, 0, 1), Axis(17, -1, 19), Axis(5, 17, 19 * 17))
    for alpha, beta in ((1.0, 0.0), (2.0, 3.0)):
        case = Case(axes, t, t, alpha, beta)
        check(case, Run(simple(3, (16, 16, 1), (8, 8, 1)), machine.found("avx512")))


@pytest.mark.parametrize("row", ["avx2", "avx512", "sse2"])
@pytest.mark.parametrize("step", [2, 3, 4, -3, 8])
@pytest.mark.parametrize("letter", ["i8", "i16", "s", "d"])
def test_elements_with_gaps_between_them(letter: str, step: int, row: str) -> None:
    """One channel of pixels: loads take what lies between elements, but nothing before the first or after the last."""
    t = dtypes.dtype(letter)
    case = Case((Axis(77, step, 1), Axis(3, 700, 77)), t, t)
    check(case, Run(simple(2, (64, 1), (64, 1)), machine.found(row)))
    check(case, Run(simple(2, (64, 2), (32, 2)), machine.found(row), parametric=True))


@pytest.mark.parametrize("store", [Store.CACHED, Store.ALIGNED, Store.COMBINED])
@pytest.mark.parametrize("signs", [(1, -1, 1), (-1, 1, -1), (-1, 1, 1), (1, -1, -1)])
@pytest.mark.parametrize("letter", ["i8", "i16", "s"])
def test_mirrored_pixels(letter: str, signs: tuple[int, int, int], store: Store) -> None:
    """Rows of pixels of three elements, channels, columns and rows forwards or backwards."""
    t = dtypes.dtype(letter)
    steps = [sign * step for sign, step in zip(signs, (1, 3, 256), strict=True)]
    case = Case(tuple(map(Axis, (3, 64, 5), steps, (1, 3, 192))), t, t)
    for block in ((3, 16, 1), (3, 64, 1), (3, 21, 2)):
        check(case, Run(simple(3, (3, 64, 2), block, store=store), machine.found("avx512")))


@pytest.mark.parametrize("width", [64, 70])
@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("letter", ["i8", "i16", "s"])
def test_mirrored_rows_written_backwards(letter: str, channels: int, width: int) -> None:
    """Rows whose next ones are prefetched, with a remainder or without, on B's lines and off them."""
    t, row = dtypes.dtype(letter), channels * width
    case = Case((Axis(channels, 1, 1), Axis(width, -channels, channels), Axis(5, row, row))[channels == 1 :], t, t)
    tile, block = (channels, width, 1), (channels, 16, 1)
    rank = len(case.placed.canonical.axes)
    plan = simple(rank, tile[-rank:], block[-rank:], store=Store.ALIGNED).changed(fetch=Fetch.ROWS, prefetch=1)
    check(case, Run(plan, machine.found("avx512")))


def reversed_bits(rank: int) -> tuple[Case, CpuPlan]:
    """perm reversed over `rank` axes of extent 2, in blocks of the first and the last three axes."""
    block = tuple(2 if k < 3 or k >= rank - 3 else 1 for k in range(rank))
    order = tuple(reversed(range(rank)))
    plan = CpuPlan(block, block, order, order, 8)
    return Case.of(Problem(order, (2,) * rank, "i8")), plan


def test_rank_16() -> None:
    case, plan = reversed_bits(16)
    check(case, Run(plan, runnable()[0], 3))


def test_rank_26() -> None:
    case, plan = reversed_bits(26)
    assert len(case.placed.canonical.axes) == 26
    check(case, Run(plan, runnable()[0]))
