"""Calls of solutions with NumPy's arrays: functions for `integer_code`."""

from __future__ import annotations

from ttc_llvm.operands import object_fields as objects

from .array_arguments import type_of
from .array_entry_fields import MOVED, UNKNOWN, Bound, Side, State
from .array_layouts import item_bytes, permuted_array, set_result, state_of
from .layout_calls import moved, run_apart
from .layout_fields import AXES, AXIS_BYTES, EXTENT, KIND, LAYOUT_BYTES, PARTS, RANK, STRIDE_OF, STRIDE_TO
from .shared_calls import is_small
from .words import call, load32, load64, local, store64


def solution_moved(home: int, args: int, count: int, names: int) -> int:
    """`solution_moved(a, b)`: True where B is written; False where nothing has moved, and Python has to see to it."""
    known = state_of(home)
    state, a, b = load64(known + Bound.STATE), load64(args), load64(args + 8)
    fits = _is_of(state, known + Bound.A, a) and _is_of(state, known + Bound.B, b)
    moves = fits and load32(b + objects.ARRAY_FLAGS) & objects.WRITEABLE and _moved(state, known, a, b) == MOVED
    answer = load64(state + State.TRUE) if moves else load64(state + State.FALSE)
    call(load64(state + State.TAKE), answer)
    return answer


def _is_of(state: int, side: int, x: int) -> int:
    """1 for an array of the tensor's type."""
    if type_of(x) != load64(state + State.NDARRAY):
        return 0
    dtype, wanted = load64(x + objects.ARRAY_DTYPE), load64(side + Side.DTYPE)
    return dtype == wanted if wanted != 0 else item_bytes(state, dtype) == load64(side + Side.SIZE)


def _moved(state: int, known: int, a: int, b: int) -> int:
    """Arrays that lie as the problem says take the solution's own kernel, others that of their layout."""
    layout, own = local(LAYOUT_BYTES), known + Bound.LAYOUT
    address_a, address_b = load64(a + objects.ARRAY_DATA), load64(b + objects.ARRAY_DATA)
    scalars = load64(known + Bound.SCALARS)
    if not _is_storage(known + Bound.A, a) or not _is_storage(known + Bound.B, b):
        if not permuted_array(state, layout, a, load64(known + Bound.AXES)) or not set_result(layout, b):
            return UNKNOWN
        if not _has_extents(layout, own):
            return UNKNOWN
        if not _has_loops(layout, own):
            if load64(known + Bound.KIND) == 0:
                return UNKNOWN
            store64(layout + KIND, load64(known + Bound.KIND))
            return moved(state, layout, address_a, address_b, scalars, 0) if is_small(state, layout) else UNKNOWN
    prepared = known + Bound.PREPARED
    return run_apart(state, prepared, address_a, address_b, scalars, 1) if load64(prepared + PARTS) else UNKNOWN


def _is_storage(side: int, x: int) -> int:
    """1 for an array that is the tensor's storage by its shape and order."""
    rank, flags = load32(x + objects.ARRAY_RANK), load32(x + objects.ARRAY_FLAGS)
    shape = load64(x + objects.ARRAY_SHAPE)
    if rank == 1 and flags & objects.C_CONTIGUOUS and load64(shape) >= load64(side + Side.ELEMENTS):
        return 1
    if rank != load64(side + Side.RANK):
        return 0
    if load64(side + Side.IN_F) and flags & objects.F_CONTIGUOUS and _has_shape(side, shape, rank, 0):
        return 1
    return load64(side + Side.IN_C) and flags & objects.C_CONTIGUOUS and _has_shape(side, shape, rank, 1)


def _has_shape(side: int, shape: int, rank: int, reverse: int) -> int:
    for k in range(rank):
        if load64(shape + 8 * k) != load64(side + Side.OUTER + 8 * (rank - 1 - k if reverse else k)):
            return 0
    return 1


def _has_extents(layout: int, own: int) -> int:
    """1 for a layout of these axes, whatever their strides."""
    for k in range(load64(layout + RANK)):
        at = AXES + AXIS_BYTES * k + EXTENT
        if load64(layout + at) != load64(own + at):
            return 0
    return 1


def _has_loops(layout: int, own: int) -> int:
    """1 for a layout whose loops are another's of the same extents, in any order."""
    seen = 0
    for k in range(load64(layout + RANK)):
        axis = layout + AXES + AXIS_BYTES * k
        if load64(axis + EXTENT) > 1:
            place = _place(axis, own, seen)
            if place < 0:
                return 0
            seen |= 1 << place
    return 1


def _place(axis: int, own: int, seen: int) -> int:
    """The number of the axis that is this one, but for those that were seen; -1 where there is none."""
    for k in range(load64(own + RANK)):
        other = own + AXES + AXIS_BYTES * k
        if (
            not seen >> k & 1
            and load64(axis + STRIDE_TO) == load64(other + STRIDE_TO)
            and load64(axis + STRIDE_OF) == load64(other + STRIDE_OF)
            and load64(axis + EXTENT) == load64(other + EXTENT)
        ):
            return k
    return -1
