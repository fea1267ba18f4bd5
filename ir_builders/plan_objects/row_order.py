"""Functions for `integer_code`: how rows of B follow each other, for kernels that go on from row to row."""

from __future__ import annotations

from .. import canonical_axes as axes
from ..words import load64, store64
from . import fields as f

BEYOND = 32  # the least number of an axis along which rows do not follow each other


def follow(work: int, near: int) -> int:
    """1 where rows of B follow each other up to A's contiguous axis, and the kernel walks all axes before that; and
    rows of A forwards, so that what is loaded beyond the last element of one is memory of A."""
    if load64(work + axes.LIST + axes.A) <= 0 or (near > 1 and load64(work + axes.LENGTH) > f.AXES):
        return 0
    for k in range(1, near + 1):
        if not continues(work, k):
            return 0
    return 1


def chained(work: int, near: int) -> int:
    """The axes, as many as kernels walk, along which rows of B follow each other before A's contiguous one."""
    found = 0
    while found < min(near - 1, f.ORDERED - 1) and continues(work, found + 1):
        found += 1
    return found


def write(work: int, count: int, order: int, call: int) -> None:
    """Write of how many axes rows follow each other, then by place of the kernel the number of an axis among these, and
    by number, and for the axis behind them, bytes of A from the end of a row to the next."""
    store64(call + f.ORDER, count)
    for place in range(f.ORDERED):
        k = load64(order + 8 * (place + 2))
        store64(call + f.ORDER + 8 * (1 + place), k - 1 if 0 < k <= count else BEYOND)
    at, back = call + f.ORDER + 8 * (1 + f.ORDERED), axis(work, 0, axes.N) * axis(work, 0, axes.A)
    for k in range(1, min(count + 2, load64(work + axes.LENGTH))):
        step = axis(work, k, axes.A)
        store64(at + 8 * (k - 1), (step - back) * load64(work + axes.UNIT_A))
        back = back + (axis(work, k, axes.N) - 1) * step


def continues(work: int, k: int) -> int:
    """1 where rows, or runs, of B go on along this axis from the end of the one before."""
    return axis(work, k, axes.B) == axis(work, k - 1, axes.B) * axis(work, k - 1, axes.N)


def axis(work: int, k: int, word: int) -> int:
    """A word of an axis of the canonical form: N, A or B."""
    return load64(work + axes.LIST + axes.AXIS * k + word)
