"""Layouts of NumPy's arrays, and of tensors at an address, for the table: functions for `integer_code`.

Each returns 1 where the layout's words are there, 0 where the call is left to Python.
"""

from __future__ import annotations

from ttc_llvm.operands import object_fields as objects
from ttc_llvm.operands.addresses import HEAD
from ttc_llvm.problem.dtypes import MAX_ITEMSIZE

from .array_arguments import integer, is_left, type_of
from .array_entry_fields import UNKNOWN, State
from .layout_calls import moved
from .layout_fields import AXES, AXIS_BYTES, EXTENT, KIND, LAYOUT_BYTES, MAX_RANK, RANK, STRIDE_OF, STRIDE_TO
from .words import call, load8, load32, load64, local, store64

LONG = 1 << 31  # extents and strides of new results are no longer, so that products do not overflow


def state_of(home: int) -> int:
    """The address that the ctypes object in a home's slot has behind its head."""
    return load64(load64(home + objects.HOME_STATE) + HEAD)


# --- what is read -----------------------------------------------------------------------------------------


def item_bytes(state: int, dtype: int) -> int:
    """Bytes of items that are moved as they are; 0 where they cannot be."""
    size = load32(dtype + load64(state + State.DTYPE_SIZE))
    if load8(dtype + load64(state + State.DTYPE_FLAGS)) & objects.REFERENCES or size > MAX_ITEMSIZE:
        return 0
    return size


def set_source(layout: int, array: int) -> None:
    """Put an array's shape and strides into a layout, as they are."""
    rank = load32(array + objects.ARRAY_RANK)
    shape, strides = load64(array + objects.ARRAY_SHAPE), load64(array + objects.ARRAY_STRIDES)
    store64(layout + RANK, rank)
    for k in range(rank):
        _set_axis(layout, k, load64(shape + 8 * k), load64(strides + 8 * k))


def permuted_array(state: int, layout: int, array: int, axes: int) -> int:
    """Put an array's shape and strides into a layout, permuted by the object `axes`, which may be 0."""
    shape, strides = load64(array + objects.ARRAY_SHAPE), load64(array + objects.ARRAY_STRIDES)
    return _permuted(state, layout, load32(array + objects.ARRAY_RANK), shape, strides, axes)


def _permuted(state: int, layout: int, rank: int, shape: int, strides: int, axes: int) -> int:
    """The same of words at two addresses. Axes: a tuple, a list, or None, which reverses them."""
    items, seen = 0, 0
    if not is_left(state, axes):
        items = _items(state, axes, rank)
        if items == 0:
            return 0
    store64(layout + RANK, rank)
    for k in range(rank):
        source = rank - 1 - k
        if items != 0:
            source = integer(state, load64(items + 8 * k))
            if source < 0:
                source += rank
            if source < 0 or source >= rank or seen >> source & 1:
                return 0
            seen |= 1 << source
        _set_axis(layout, k, load64(shape + 8 * source), load64(strides + 8 * source))
    return 1


def _items(state: int, axes: int, rank: int) -> int:
    """The address of a tuple's or list's items, if there are so many."""
    kind = type_of(axes)
    if kind == load64(state + State.TUPLE):
        return axes + objects.TUPLE_ITEMS if load64(axes + objects.COUNT) == rank else 0
    if kind == load64(state + State.LIST):
        return load64(axes + objects.LIST_ITEMS) if load64(axes + objects.COUNT) == rank else 0
    return 0


def _set_axis(layout: int, k: int, extent: int, stride: int) -> None:
    store64(layout + AXES + AXIS_BYTES * k + EXTENT, extent)
    store64(layout + AXES + AXIS_BYTES * k + STRIDE_OF, stride)


# --- what is written --------------------------------------------------------------------------------------


def packed(layout: int, size: int, in_f: int) -> int:
    """Put the strides of a new result into a layout, in F order or C order, unless it is empty, or large. size: bytes
    of an element."""
    rank, step = load64(layout + RANK), size
    for k in range(rank):
        axis = layout + AXES + AXIS_BYTES * (k if in_f else rank - 1 - k)
        extent = load64(axis + EXTENT)
        if extent < 1 or extent > LONG or step > LONG:
            return 0
        store64(axis + STRIDE_TO, step)
        step *= extent
    return 1


def set_result(layout: int, out: int) -> int:
    """Put an array's strides into a layout, if it has the shape, and elements."""
    rank, shape, strides = load64(layout + RANK), load64(out + objects.ARRAY_SHAPE), load64(out + objects.ARRAY_STRIDES)
    if load32(out + objects.ARRAY_RANK) != rank:
        return 0
    for k in range(rank):
        axis = layout + AXES + AXIS_BYTES * k
        extent = load64(axis + EXTENT)
        if extent != load64(shape + 8 * k) or extent < 1:
            return 0
        store64(axis + STRIDE_TO, load64(strides + 8 * k))
    return 1


# --- for Python -------------------------------------------------------------------------------------------


def arrays_moved(home: int, args: int, count: int, names: int) -> int:
    """`arrays_moved(of, to, kind, scalars, threads)` for two NumPy arrays of one shape: 0 where the elements have
    moved, else SPENT or UNKNOWN. kind: as in a layout; scalars: the address of alpha and beta."""
    state, layout, outcome = state_of(home), local(LAYOUT_BYTES), UNKNOWN
    of, to = load64(args), load64(args + 8)
    store64(layout + KIND, integer(state, load64(args + 16)))
    set_source(layout, of)
    if set_result(layout, to):
        scalars = integer(state, load64(args + 24))
        a, b = load64(of + objects.ARRAY_DATA), load64(to + objects.ARRAY_DATA)
        outcome = moved(state, layout, a, b, scalars, load64(args + 32))
    return _told(state, outcome)


def memory_moved(home: int, args: int, count: int, names: int) -> int:
    """`memory_moved(a, b, size, shape, strides, axes, threads)`: the same for a tensor at address a, whose axes are
    permuted as it is copied to new memory at address b. size: bytes of an element; shape, strides: tuples, in
    elements."""
    state, layout, outcome = state_of(home), local(LAYOUT_BYTES), UNKNOWN
    extents, steps = local(8 * MAX_RANK), local(8 * MAX_RANK)
    size = integer(state, load64(args + 16))
    rank = _numbers(state, load64(args + 24), extents, 1)
    if rank >= 0 and _numbers(state, load64(args + 32), steps, size) == rank:
        store64(layout + KIND, size)
        if _permuted(state, layout, rank, extents, steps, load64(args + 40)) and packed(layout, size, 0):
            a, b = integer(state, load64(args)), integer(state, load64(args + 8))
            outcome = moved(state, layout, a, b, 0, load64(args + 48))
    return _told(state, outcome)


def _told(state: int, outcome: int) -> int:
    """An outcome as a Python integer; 0 where there is an exception, which Python raises."""
    return 0 if call(load64(state + State.ERROR)) != 0 else call(load64(state + State.NEW_INTEGER), outcome)


def _numbers(state: int, numbers: int, words: int, unit: int) -> int:
    """Write a tuple's integers, times a unit; how many there are, -1 where they are too many."""
    count = call(load64(state + State.TUPLE_LENGTH), numbers)
    if count < 0:
        call(load64(state + State.CLEAR))
    if count > MAX_RANK:
        return -1
    for k in range(count):
        store64(words + 8 * k, unit * integer(state, load64(numbers + objects.TUPLE_ITEMS + 8 * k)))
    return count
