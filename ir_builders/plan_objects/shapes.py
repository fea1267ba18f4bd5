"""Functions for `integer_code`: from the arguments of a plan to its layout, or the code of what is wrong with them."""

from __future__ import annotations

from .. import layout_fields as asked
from ..words import load8, load32, load64, store64, wrapped
from . import fields as f

FACTOR = 1_000_003


def types_of(library: int, text: int) -> int:
    """The record of a pair of types by its letters, 0 where the library has none."""
    for record in range(load64(library + f.TYPES_COUNT)):
        at = load64(library + f.TYPES_LIST) + record * f.TYPES_BYTES
        if _is_name(at + f.NAME, text):
            return at
    return 0


def _is_name(name: int, text: int) -> int:
    for k in range(f.NAME_BYTES):
        if load8(name + k) != load8(text + k):
            return 0
        if load8(name + k) == 0:
            return 1
    return load8(text + f.NAME_BYTES) == 0


def describe(types: int, layout: int, rank: int, perm: int, size: int, strides_a: int, strides_b: int) -> int:
    """Write the layout of a transposition, its kind excepted; OK, or what is wrong."""
    seen, total, reach_a, reach_b = 0, 1, 0, 0
    packed = f.MOST_BYTES // max(load64(types + f.SIZE_A), load64(types + f.SIZE_B))
    for k in range(rank):
        index, n = load32(perm + 4 * k), load64(size + 8 * k)
        if index < 0 or index >= rank or seen >> (index & 63) & 1:
            return f.PERM
        seen = seen | 1 << index
        if n < 0:
            return f.SIZE
        if total > packed // max(n, 1):
            return f.OVERFLOW
        total = total * max(n, 1)
    store64(layout + asked.RANK, rank)
    b = 1
    for k in range(rank):
        n = load64(size + 8 * load32(perm + 4 * k))
        a = _stride(size, strides_a, load32(perm + 4 * k))
        step = load64(strides_b + 8 * k) if strides_b else b
        axis = layout + asked.AXES + asked.AXIS_BYTES * k
        reach_a = _reached(reach_a, n, a, load64(types + f.SIZE_A))
        reach_b = _reached(reach_b, n, step, load64(types + f.SIZE_B))
        if reach_a < 0 or reach_b < 0:
            return f.OVERFLOW
        store64(axis + asked.EXTENT, n)
        store64(axis + asked.STRIDE_OF, a * load64(types + f.SIZE_A) if n > 1 else 0)
        store64(axis + asked.STRIDE_TO, step * load64(types + f.SIZE_B) if n > 1 else 0)
        b = b * max(n, 1)
    return f.OK


def _stride(size: int, strides: int, index: int) -> int:
    """The stride of an index of A, by default without padding."""
    if strides:
        return load64(strides + 8 * index)
    step = 1
    for k in range(index):
        step = step * max(load64(size + 8 * k), 1)
    return step


def _reached(before: int, n: int, stride: int, size: int) -> int:
    """The bytes between the first and the last element with one more index; -1 beyond the bound."""
    if n <= 1 or stride == 0:
        return before
    if stride < -f.MOST_BYTES or stride > f.MOST_BYTES:
        return -1
    if (n - 1) > f.MOST_BYTES // size // abs(stride):
        return -1
    reach = before + (n - 1) * abs(stride) * size
    return -1 if reach > f.MOST_BYTES else reach


def hashed(number: int, rank: int, perm: int, size: int) -> int:
    """A number for the number of types, perm (ints) and size."""
    found = number * 31 + rank
    for k in range(rank):
        found = wrapped(wrapped(found * FACTOR ^ load32(perm + 4 * k)) * FACTOR ^ load64(size + 8 * k))
    return found ^ found >> 29


def entry_of(library: int, types: int, rank: int, perm: int, size: int, strides_a: int, strides_b: int) -> int:
    """The record of the library's problem of this very shape, 0 where there is none."""
    number = (types - load64(library + f.TYPES_LIST)) // f.TYPES_BYTES
    bucket = hashed(number, rank, perm, size) & load64(library + f.BUCKET_MASK)
    at = load64(load64(library + f.BUCKETS) + 8 * bucket)
    while at:
        same = load64(at + f.PROBLEM_TYPES) == number and load64(at + f.PROBLEM_RANK) == rank
        if same and _is_shape(at + f.PROBLEM_LISTS, rank, perm, size, strides_a, strides_b):
            return at
        at = load64(at + f.NEXT)
    return 0


def _is_shape(lists: int, rank: int, perm: int, size: int, strides_a: int, strides_b: int) -> int:
    """1 where the lists are those of a problem. Strides mean nothing along an extent of 1."""
    step = 1
    for k in range(rank):
        index = load32(perm + 4 * k)
        n, m = load64(size + 8 * k), load64(size + 8 * index)
        if load64(lists + 8 * k) != index or load64(lists + 8 * (rank + k)) != n:
            return 0
        if n != 1 and load64(lists + 8 * (2 * rank + k)) != _stride(size, strides_a, k):
            return 0
        if m != 1 and load64(lists + 8 * (3 * rank + k)) != (load64(strides_b + 8 * k) if strides_b else step):
            return 0
        step = step * m
    return 1
