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
from .words import load32, load64, store64


def read_arrays(lists: int) -> int:
    """Read the addresses of arrays from NEXT on, up to the first that is not exactly as it is expected: its number, or
    that of all of them."""
    number = load64(lists + Lists.NEXT)
    while number < load64(lists + Lists.COUNT):
        array = load64(load64(lists + Lists.ITEMS) + 8 * number)
        form = load64(load64(lists + Lists.FORMS) + 8 * number)
        if not _is_expected(lists, array, form):
            return number
        store64(load64(lists + Lists.ADDRESSES) + 8 * number, load64(array + ARRAY_DATA))
        number += 1
    return number


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
