"""The canonical form of two strided arrays, as functions of integers for `integer_code`.

They compute what `problem.canonical.from_axes` and `lowering.items.as_items` do, from a layout into a block of words,
the *work*. Its elements are as small as moves need, and strides are counted in them.
"""

from __future__ import annotations

from . import layout_fields as asked
from . import layout_kinds as kinds
from . import planner_fields as known
from .words import load64, store64

UNIT_A, UNIT_B = 0, 8  # bytes of an element
UNITS = 16  # elements in one item of the arrays
TYPE = 24  # number of types and kinds in families
EACH = 32  # bytes moved per element
WALKS_B = 40  # 1: A is not read, and walked as B is
START_A, START_B = 48, 56  # elements from the given bases to canonical index 0
LENGTH = 64  # axes
FORM, NEAR = 72, 80  # of the family; the axis that its kernel walks inside all others but the first
LIST = 88  # the axes by stride in B: extent, strides in elements
N, A, B, AXIS = 0, 8, 16, 24
WORK_BYTES = LIST + (asked.MAX_RANK + 1) * AXIS  # items of several units have an axis of their own

ALIGNED = 8  # bytes to whose multiples kernels expect elements to be aligned, at most
LARGEST_ITEM = 16
MOVES = -1  # the TYPE of plain moves until their units are known


def canonical(layout: int, work: int, checked: int) -> int:
    """Write the canonical form; PLANNED, or why there is none. checked: elements of B are known to share no memory."""
    status = _elements(layout, work)
    if status != known.PLANNED:
        return status
    store64(work + LENGTH, 0)
    store64(work + START_A, 0)
    store64(work + START_B, 0)
    if _is_empty(layout):
        _insert(work, 0, 1, 1)
        return known.PLANNED
    if load64(work + UNITS) != 1:
        _insert(work, load64(work + UNITS), 1, 1)
    for axis in range(layout + asked.AXES, end(layout), asked.AXIS_BYTES):
        if load64(axis + asked.EXTENT) != 1:
            _flipped(work, load64(axis + asked.EXTENT), load64(axis + asked.STRIDE_OF), load64(axis + asked.STRIDE_TO))
    if not checked and _may_overlap(work):
        return known.OVERLAPS
    _merge(work)
    return known.PLANNED


def settle(planner: int, work: int) -> None:
    """Make items of the rows of plain moves where they have the size of one; see that there are an axis and a type."""
    if load64(work + TYPE) == MOVES:
        _as_items(work, load64(planner + known.ITEM_BYTES))
        store64(work + TYPE, _log2(load64(work + UNIT_A)))
        store64(work + EACH, 2 * load64(work + UNIT_A))
    if load64(work + LENGTH) == 0:
        _insert(work, 1, 1, 1)


def product(work: int, first: int, last: int) -> int:
    """Elements along some axes."""
    found = 1
    for axis in range(first, last):
        found *= load64(work + LIST + AXIS * axis + N)
    return found


def end(layout: int) -> int:
    """The first byte behind a layout."""
    return layout + asked.AXES + asked.AXIS_BYTES * load64(layout + asked.RANK)


# --- elements -------------------------------------------------------------------------------------------


def _elements(layout: int, work: int) -> int:
    kind = load64(layout + asked.KIND)
    plain, odd = kind & (1 << known.ODD_BITS) - 1, kind >> known.ODD_BITS & ALIGNED - 1
    unserved = kind >> known.UNSERVED_BIT & 1 or kind >> known.PERMUTED_BIT & 1
    if unserved or load64(layout + asked.RANK) > asked.MAX_RANK or plain == 0:
        return known.UNSERVED
    if plain < asked.FIRST_SCALED_KIND:
        return _moved(layout, work, plain, odd)
    if kinds.type_number(plain - asked.FIRST_SCALED_KIND) >= asked.SCALED_KINDS + asked.CAST_KINDS:
        return known.UNSERVED
    return _scaled(layout, work, plain - asked.FIRST_SCALED_KIND)


def _moved(layout: int, work: int, size: int, odd: int) -> int:
    """Plain moves: whole items, or the largest units whose multiples all distances are."""
    unit = size
    whole = size <= LARGEST_ITEM and size & size - 1 == 0 and not odd
    if not (whole and _is_regular(layout, asked.STRIDE_OF, size) and _is_regular(layout, asked.STRIDE_TO, size)):
        distances = ALIGNED | odd | size | _distances(layout)
        unit = distances & -distances
    store64(work + TYPE, MOVES)
    store64(work + WALKS_B, 0)
    store64(work + UNITS, size // unit)
    store64(work + UNIT_A, unit)
    store64(work + UNIT_B, unit)
    return known.PLANNED


def _scaled(layout: int, work: int, kind: int) -> int:
    """Arithmetic: the elements themselves."""
    size_of, size_to = kinds.bytes_of(kind), kinds.bytes_to(kind)
    if not (_is_regular(layout, asked.STRIDE_OF, size_of) and _is_regular(layout, asked.STRIDE_TO, size_to)):
        return known.IRREGULAR
    is_zero, passes = kinds.is_zero(kind), 1 + kinds.reads_result(kind)
    store64(work + TYPE, known.MOVE_TYPES + kinds.type_number(kind))
    store64(work + WALKS_B, is_zero)
    store64(work + EACH, passes * size_to + (0 if is_zero else size_of))
    store64(work + UNITS, 1)
    store64(work + UNIT_A, size_of)
    store64(work + UNIT_B, size_to)
    return known.PLANNED


def _is_regular(layout: int, side: int, size: int) -> int:
    """1 where all strides that are ever taken are whole elements."""
    for axis in range(layout + asked.AXES, end(layout), asked.AXIS_BYTES):
        if load64(axis + asked.EXTENT) > 1 and load64(axis + side) % size != 0:
            return 0
    return 1


def _distances(layout: int) -> int:
    """All strides that are ever taken, by "or": its lowest bit is the largest power of two that divides them."""
    found = 0
    for axis in range(layout + asked.AXES, end(layout), asked.AXIS_BYTES):
        if load64(axis + asked.EXTENT) > 1:
            found = found | load64(axis + asked.STRIDE_OF) | load64(axis + asked.STRIDE_TO)
    return found


def _is_empty(layout: int) -> int:
    for axis in range(layout + asked.AXES, end(layout), asked.AXIS_BYTES):
        if load64(axis + asked.EXTENT) == 0:
            return 1
    return 0


def _log2(size: int) -> int:
    found = 0
    while size > 1:
        size, found = size >> 1, found + 1
    return found


# --- axes -----------------------------------------------------------------------------------------------


def _flipped(work: int, n: int, stride_of: int, stride_to: int) -> None:
    """Add an axis, strides in bytes, so that its stride in B is positive."""
    b = stride_to // load64(work + UNIT_B)
    a = b if load64(work + WALKS_B) else stride_of // load64(work + UNIT_A)
    if b < 0:
        store64(work + START_A, load64(work + START_A) + (n - 1) * a)
        store64(work + START_B, load64(work + START_B) + (n - 1) * b)
        a, b = -a, -b
    _insert(work, n, a, b)


def _insert(work: int, n: int, a: int, b: int) -> None:
    """Add an axis behind those of smaller strides in B, or of equal ones and no larger strides in A."""
    at = work + LIST + AXIS * load64(work + LENGTH)
    while at > work + LIST:
        before = at - AXIS
        if load64(before + B) < b or (load64(before + B) == b and load64(before + A) <= a):
            break
        _write(at, load64(before + N), load64(before + A), load64(before + B))
        at = before
    _write(at, n, a, b)
    store64(work + LENGTH, load64(work + LENGTH) + 1)


def _write(at: int, n: int, a: int, b: int) -> None:
    store64(at + N, n)
    store64(at + A, a)
    store64(at + B, b)


def _may_overlap(work: int) -> int:
    """1 unless each axis of B steps over all that the axes before it reach."""
    reach = 1
    for at in range(work + LIST, work + LIST + AXIS * load64(work + LENGTH), AXIS):
        if load64(at + B) < reach:
            return 1
        reach = reach + (load64(at + N) - 1) * load64(at + B)
    return 0


def _merge(work: int) -> None:
    """Make one axis of neighbours that are contiguous in both tensors."""
    last = work + LIST - AXIS
    for at in range(work + LIST, work + LIST + AXIS * load64(work + LENGTH), AXIS):
        n, a, b = load64(at + N), load64(at + A), load64(at + B)
        joined = 0
        if last >= work + LIST:
            length = load64(last + N)
            joined = a == length * load64(last + A) and b == length * load64(last + B)
        if joined:
            store64(last + N, load64(last + N) * n)
        else:
            last = last + AXIS
            _write(last, n, a, b)
    store64(work + LENGTH, (last - work - LIST) // AXIS + 1)


# --- rows as items --------------------------------------------------------------------------------------


def _as_items(work: int, most: int) -> None:
    """Take contiguous rows for items where they have the size of one, at most `most` bytes, and all begin at multiples
    of it."""
    count = load64(work + LIST + N)
    if load64(work + LENGTH) == 0 or count < 2 or load64(work + LIST + A) != 1 or load64(work + LIST + B) != 1:
        return
    size = count * load64(work + UNIT_A)
    if size > most or size > LARGEST_ITEM or size & size - 1 or not _are_multiples(work, count):
        return
    length = load64(work + LENGTH) - 1
    for at in range(work + LIST, work + LIST + AXIS * length, AXIS):
        _write(at, load64(at + AXIS + N), load64(at + AXIS + A) // count, load64(at + AXIS + B) // count)
    store64(work + LENGTH, length)
    store64(work + UNIT_A, size)
    store64(work + UNIT_B, size)
    store64(work + START_A, load64(work + START_A) // count)
    store64(work + START_B, load64(work + START_B) // count)


def _are_multiples(work: int, count: int) -> int:
    """1 where all rows but the first begin whole rows from it."""
    if load64(work + START_A) % count or load64(work + START_B) % count:
        return 0
    for at in range(work + LIST + AXIS, work + LIST + AXIS * load64(work + LENGTH), AXIS):
        if load64(at + A) % count or load64(at + B) % count:
            return 0
    return 1
