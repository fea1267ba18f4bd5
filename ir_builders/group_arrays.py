"""The reader of lists of NumPy's arrays as a function for `integer_code`."""

from __future__ import annotations

from ttc_llvm.operands.object_fields import (
    ARRAY_DATA,
    ARRAY_DTYPE,
    ARRAY_FLAGS,
    ARRAY_RANK,
    ARRAY_SHAPE,
    ARRAY_STRIDES,
    TYPE,
)  # fmt: skip

from .group_fields import Lists
from .words import load32, load64, prefetch, store64

AHEAD = 16  # arrays: their objects mostly lie far apart, and are in no cache


def read_arrays(lists: int) -> int:
    """Read the addresses of arrays from NEXT on, up to the first that is not exactly as it is expected: its number, or
    that of all of them."""
    number, items, count = load64(lists + Lists.NEXT), load64(lists + Lists.ITEMS), load64(lists + Lists.COUNT)
    while number < count:
        if number + 2 * AHEAD < count:
            _ask(lists, items + 8 * (number + AHEAD))
        array = load64(items + 8 * number)
        form = load64(load64(lists + Lists.FORMS) + 8 * number)
        if not _is_expected(lists, array, form):
            return number
        store64(load64(lists + Lists.ADDRESSES) + 8 * number, load64(array + ARRAY_DATA))
        number += 1
    return number


def _ask(lists: int, item: int) -> None:
    """Prefetch what is to be read of the array at this place of the list, and of one behind it."""
    prefetch(load64(item + 8 * AHEAD) + ARRAY_DATA)
    prefetch(load64(item + 8 * AHEAD) + ARRAY_FLAGS)
    if load64(load64(item) + TYPE) == load64(lists + Lists.NDARRAY):
        prefetch(load64(load64(item) + ARRAY_SHAPE))


def _is_expected(lists: int, array: int, form: int) -> int:
    """1 for an array of the class and type, with the flags, the shape and the strides that are expected."""
    if load64(array + TYPE) != load64(lists + Lists.NDARRAY) or load64(array + ARRAY_DTYPE) != load64(
        lists + Lists.DTYPE
    ):
        return 0
    flags, rank = load64(lists + Lists.FLAGS), load64(form)
    if load32(array + ARRAY_FLAGS) & flags != flags or load32(array + ARRAY_RANK) != rank:
        return 0
    shape, strides = load64(array + ARRAY_SHAPE), load64(array + ARRAY_STRIDES)
    for k in range(rank):
        extent = load64(form + 8 + 8 * k)
        if load64(shape + 8 * k) != extent:
            return 0
        if extent > 1 and load64(strides + 8 * k) != load64(form + 8 + 8 * (rank + k)):
            return 0
    return 1
