"""Functions for `integer_code`: whether two strided tensors share memory."""

from __future__ import annotations

from .. import layout_fields as asked
from ..words import load64, local, store64

TRIES = 1000  # steps of the search; where it has found nothing by then, memory may be shared
STEP, LOW, HIGH, REST_LOW, REST_HIGH, TERM = 0, 8, 16, 24, 32, 40  # of a term: see `share`


def share(layout: int, distance: int, size_a: int, size_b: int) -> int:
    """1 where an element of A and one of B share a byte, or where that is too long a question. distance: bytes from
    element 0 of A to element 0 of B.

    Their distance is a sum of multiples of strides, each multiple within bounds. Terms go by falling strides: those
    that are left reach so far only, which leaves few multiples of a long stride to look at.
    """
    terms, tries = local(2 * asked.MAX_RANK * TERM), local(16)
    count = 0
    for k in range(load64(layout + asked.RANK)):
        axis = layout + asked.AXES + asked.AXIS_BYTES * k
        last = load64(axis + asked.EXTENT) - 1
        if last > 0:
            count = _insert(terms, count, load64(axis + asked.STRIDE_TO), last)
            count = _insert(terms, count, -load64(axis + asked.STRIDE_OF), last)
    low, high = 0, 0
    for back in range(count):
        term = terms + TERM * (count - 1 - back)
        store64(term + REST_LOW, low)
        store64(term + REST_HIGH, high)
        low = low + load64(term + LOW) * load64(term + STEP)
        high = high + load64(term + HIGH) * load64(term + STEP)
    store64(tries, TRIES)
    return _meets(terms, terms + TERM * count, distance, size_a, size_b, tries)


def _insert(terms: int, count: int, stride: int, last: int) -> int:
    """Add the multiples 0 to `last` of a stride; the number of terms after that."""
    step, low, high = abs(stride), 0 if stride > 0 else -last, last if stride > 0 else 0
    if step == 0:
        return count
    at = terms + TERM * count
    while at > terms and load64(at - TERM + STEP) < step:
        at = at - TERM
    if at > terms and load64(at - TERM + STEP) == step:
        store64(at - TERM + LOW, load64(at - TERM + LOW) + low)
        store64(at - TERM + HIGH, load64(at - TERM + HIGH) + high)
        return count
    for back in range((terms + TERM * count - at) // 8):
        word = terms + TERM * count - 8 * (back + 1)
        store64(word + TERM, load64(word))
    store64(at + STEP, step)
    store64(at + LOW, low)
    store64(at + HIGH, high)
    return count + 1


def _meets(term: int, end: int, distance: int, size_a: int, size_b: int, tries: int) -> int:
    """1 where the terms from here on can lead from an element of A into one of B, or when no tries are left."""
    if term == end:
        return -size_b < distance and distance < size_a
    step = load64(term + STEP)
    first = -((size_b - 1 + distance + load64(term + REST_HIGH)) // step)
    last = (size_a - 1 - distance - load64(term + REST_LOW)) // step
    for multiple in range(max(first, load64(term + LOW)), min(last, load64(term + HIGH)) + 1):
        store64(tries, load64(tries) - 1)
        if load64(tries) < 0 or _meets(term + TERM, end, distance + multiple * step, size_a, size_b, tries):
            return 1
    return 0
