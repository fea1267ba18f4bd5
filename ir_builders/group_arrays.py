"""The reader of lists of NumPy's arrays as a function for `integer_code`."""

from __future__ import annotations

from ttc_llvm.operands import object_fields as objects

from .group_fields import Lists
from .words import load32, load64, prefetch, store64

NEAR, FAR = 32, 48  # arrays ahead: their objects mostly lie far apart, and are in no cache


def read_arrays(lists: int) -> int:
    """Read the addresses of arrays from NEXT on, up to the first that is not exactly as it is expected: its number, or
    that of all of them."""
    number, items, count = load64(lists + Lists.NEXT), load64(lists + Lists.ITEMS), load64(lists + Lists.COUNT)
    ndarray, dtype, flags = load64(lists + Lists.NDARRAY), load64(lists + Lists.DTYPE), load64(lists + Lists.FLAGS)
    forms, addresses = load64(lists + Lists.FORMS), load64(lists + Lists.ADDRESSES)
    while number < count:
        if number + FAR < count:
            _ask(items + 8 * number, ndarray)
        array = load64(items + 8 * number)
        if not _is_expected(array, load64(forms + 8 * number), ndarray, dtype, flags):
            return number
        store64(addresses + 8 * number, load64(array + objects.ARRAY_DATA))
        number += 1
    return number


def _ask(item: int, ndarray: int) -> None:
    """Prefetch an array's object, and shape and strides of one whose object is there."""
    far, near = load64(item + 8 * FAR), load64(item + 8 * NEAR)
    prefetch(far + objects.ARRAY_DATA)
    prefetch(far + objects.ARRAY_FLAGS)
    if load64(near + objects.TYPE) == ndarray:
        prefetch(load64(near + objects.ARRAY_SHAPE))
        prefetch(load64(near + objects.ARRAY_STRIDES) + 16)


def _is_expected(array: int, form: int, ndarray: int, dtype: int, flags: int) -> int:
    """1 for an array of the class and type, with the flags, the shape and the strides that are expected."""
    rank = load64(form)
    if load64(array + objects.TYPE) != ndarray or load64(array + objects.ARRAY_DTYPE) != dtype:
        return 0
    if load32(array + objects.ARRAY_FLAGS) & flags != flags or load32(array + objects.ARRAY_RANK) != rank:
        return 0
    shape, strides = load64(array + objects.ARRAY_SHAPE), load64(array + objects.ARRAY_STRIDES)
    for k in range(rank):
        extent = load64(form + 8 + 8 * k)
        if load64(shape + 8 * k) != extent:
            return 0
        if extent > 1 and load64(strides + 8 * k) != load64(form + 8 + 8 * (rank + k)):
            return 0
    return 1
