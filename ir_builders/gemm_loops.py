"""Loops around calls of BLAS's `gemm`, as functions of integers (see `integer_code`)."""

from __future__ import annotations

from .words import call, load64, local, store64

MOST_LOOPS = 64
# A job's words: gemm's address; the addresses of its arguments that never change; the loops.
GEMM, TRANSPOSED_A, TRANSPOSED_B, ROWS, COLUMNS, DEPTH, ALPHA, LEADING_A, LEADING_B, BETA, ONE, LEADING_C = range(
    0, 96, 8
)
LOOPS, SUMMED, AXES = 96, 104, 112  # loops; those that are summed over, the last ones; extent and strides of each loop
AXIS = 32  # bytes: extent, strides of the left operand, the right one and the result, in bytes


def run_products(left: int, right: int, result: int, job: int, scratch: int, begin: int, end: int) -> int:
    """Call gemm for each value of the loops, in the tasks from begin to end: values of those that are not summed over.
    The first product of those that are summed up takes beta, others 1."""
    loops = load64(job + LOOPS)
    outer = loops - load64(job + SUMMED)
    counters = local(8 * MOST_LOOPS)
    for axis in range(loops):
        store64(counters + 8 * axis, 0)
    rest = begin
    level = outer - 1
    while level >= 0 and rest > 0:
        axis = job + AXES + AXIS * level
        at = rest % load64(axis)
        rest = rest // load64(axis)
        store64(counters + 8 * level, at)
        left += at * load64(axis + 8)
        right += at * load64(axis + 16)
        result += at * load64(axis + 24)
        level -= 1
    task = begin
    fresh = 1
    while task < end:
        call(
            load64(job + GEMM), load64(job + TRANSPOSED_A), load64(job + TRANSPOSED_B), load64(job + ROWS),
            load64(job + COLUMNS), load64(job + DEPTH), load64(job + ALPHA), left, load64(job + LEADING_A), right,
            load64(job + LEADING_B), load64(job + (BETA if fresh else ONE)), result, load64(job + LEADING_C),
        )  # fmt: skip
        level = loops - 1
        while level >= 0:
            axis = job + AXES + AXIS * level
            count = load64(counters + 8 * level) + 1
            if count < load64(axis):
                store64(counters + 8 * level, count)
                left += load64(axis + 8)
                right += load64(axis + 16)
                result += load64(axis + 24)
                break
            store64(counters + 8 * level, 0)
            left -= load64(axis + 8) * (count - 1)
            right -= load64(axis + 16) * (count - 1)
            result -= load64(axis + 24) * (count - 1)
            level -= 1
        fresh = 1 if level < outer else 0
        task += fresh
    return 0
