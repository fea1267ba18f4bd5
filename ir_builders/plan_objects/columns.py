"""Functions for `integer_code`: which variant serves columns of large tensors, where B is not read; -1 where tiles are
gathered."""

from __future__ import annotations

from .. import canonical_axes as axes
from ..words import load64
from . import fields as f
from . import row_order

FEW_LINES = 28  # of a row of B that is written line by line, by as many walks along A as it has lines
FAR_AWAY = 64 << 10  # bytes between rows of A that are better walked along half as often, for pairs of lines
PARTS = 4  # of memory that lines follow each other in
IN_ORDER = 2048  # bytes between rows of A that pieces of rows of B read in order
PIECE = 384  # bytes of the shortest of such pieces
FEWEST_LINES = 4  # of rows of B that follow each other in A, where they are peeled
EDGE = 16  # elements along A of whole micro-tiles
WHOLE = 8  # parts of rows of A of which one, at most, may be too short for them
LONG_RUN = 2048  # bytes of runs of B whose ends, written in part, weigh little
LEAST_RUN = 384  # bytes of the shortest rows of B that go on from row to row in registers
NEAR_RUN = 192  # the same where rows of A are not far away from each other
WIDE, WIDE_RUN = 448, 128  # bytes of A of so many side by side that shorter ones do, and bytes of the shortest
LONE_RUN = 1024  # bytes of the shortest that do not, and are joined to lines in registers nonetheless
LEAST_ROWS = 256  # bytes of A of the fewest that do so side by side
SHORT = 1024  # bytes of rows of A of which several are read in one task


def on_lines(library: int, work: int, near: int) -> int:
    """The variant for rows of B that are whole lines, on lines."""
    return -1 if _is_better_gathered(work, near) else _single_or_pairs(library, work, near)


def off_lines(library: int, work: int, near: int) -> int:
    """The same off lines, where micro-tiles go on from row to row. Long rows are joined: micro-tiles along A then have
    as many rows of B as there are slots."""
    if _row(work) >= LONG_RUN:
        return f.COLUMNS_CHAINED
    few = near == 1 and _row(work) < FEWEST_LINES * load64(library + f.LINE)
    many = near > 1 and load64(work + axes.LENGTH) == f.AXES and second(work, near, SHORT) < 0
    if few or many or _is_better_gathered(work, near):
        return -1
    return f.LINES_PEELED if _single_or_pairs(library, work, near) == f.COLUMNS_LINES else f.ALIGNED_PEELED


def joined(kernels: int, work: int, near: int) -> int:
    """The variant for rows of B that lie in lines anyhow."""
    k, rows = side_by_side(kernels, work, near), row_order.axis(work, near, axes.N) * load64(work + axes.UNIT_A)
    rows = rows * row_order.axis(work, k, axes.N) if k >= 0 else rows
    least = WIDE_RUN if rows >= WIDE else NEAR_RUN if _below(work) < FAR_AWAY else LEAST_RUN
    least = least if chained(kernels, work, near) else LONE_RUN
    return f.COLUMNS_CHAINED if _row(work) >= least and rows >= LEAST_ROWS else -1


def chained(kernels: int, work: int, near: int) -> int:
    """The axes along which joined rows go on from row to row: none where they are long."""
    found, k = row_order.chained(work, near), side_by_side(kernels, work, near)
    return 0 if _row(work) >= LONG_RUN else min(found, k - 1) if k > 0 else found


def side_by_side(kernels: int, work: int, near: int) -> int:
    """The second axis along which joined rows of B lie side by side; -1 where there is none, where slots are too few,
    where runs of B would be short without it, or where the kernel has none."""
    if load64(kernels + f.VARIANT_BYTES * f.COLUMNS_CHAINED + f.GRID + 8 * f.SECOND):
        return -1
    k, run = second(work, near, LEAST_ROWS), load64(work + axes.UNIT_B)
    for inside in range(k):
        run = run * row_order.axis(work, inside, axes.N)
    few = 2 * row_order.axis(work, near, axes.N) > f.SLOTS
    return -1 if few or (run < LONG_RUN and k <= row_order.chained(work, near)) else k


def second(work: int, near: int, short: int) -> int:
    """The axis on which rows of A, of less than so many bytes, follow each other and are read together; -1 = none."""
    n = row_order.axis(work, near, axes.N)
    for k in range(1, load64(work + axes.LENGTH)):
        if n * load64(work + axes.UNIT_A) < short and k != near and row_order.axis(work, k, axes.A) == n:
            return k
    return -1


def _single_or_pairs(library: int, work: int, near: int) -> int:
    """Micro-tiles of single lines serve where rows of A and of B are near each other, but where lines that follow in A
    are a multiple of four, or of eight, apart in B: memory then has few of its parts at work."""
    run, line = _row(work), load64(library + f.LINE)
    away = row_order.axis(work, near, axes.B) * load64(work + axes.UNIT_B)
    spread = away % (PARTS * line * (2 if run % (2 * line) else 1))
    return f.COLUMNS_LINES if run < FEW_LINES * line and _below(work) < FAR_AWAY and spread else f.COLUMNS_ALIGNED


def _is_better_gathered(work: int, near: int) -> int:
    """1 where pieces of rows of B read A in order, or much of A's rows is too short for whole micro-tiles."""
    n = row_order.axis(work, near, axes.N)
    return (_below(work) < IN_ORDER and _row(work) >= PIECE) or n % EDGE * WHOLE > n


def _below(work: int) -> int:
    """Bytes from a row of A to that of the next element of B."""
    return abs(row_order.axis(work, 0, axes.A)) * load64(work + axes.UNIT_A)


def _row(work: int) -> int:
    """Bytes of a row of B."""
    return row_order.axis(work, 0, axes.N) * load64(work + axes.UNIT_B)
