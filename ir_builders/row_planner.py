"""The planner of rows, as functions of integers for `integer_code`: forms that `short_rows` and `picked_rows` move.

These are items of odd sizes, and rows of few elements, whose vectors would mostly be empty; and every second, third or
fourth item of rows, such as real parts.
"""

from __future__ import annotations

from . import canonical_axes as axes
from . import picked_rows as picked
from . import planner_fields as known
from . import short_rows as rows
from .prepared_calls import LEAST_BYTES, steps_of, write_call
from .words import load64, store64

ROW_BYTES, ITEM_BYTES = 128, 16  # that full micro-tiles move in the time that an own kernel gains by a row, or an item
CROSSING, ALONG = 256, 1024  # rows in a tile, where A goes on along another axis than B, or not
TILE_BYTES = 64 << 10  # in a tile, unless its rows are longer
WIDEST = len(known.ROW_WIDTHS) - 1
WIDTHS, STEPS = len(known.PICKED_WIDTHS), len(known.PICKED_STEPS)
LEAST_STEP, MOST_STEP = min(map(abs, known.PICKED_STEPS)), max(known.PICKED_STEPS)
SHORT_SIDE = 4  # fewer rows are not walked innermost
LEAST_GATHERED, LEAST_ROWS = 8, 8  # items of a gathered row, and such rows for which it pays to find where those lie
MOST_REACH = 1 << 31  # bytes between its items, less
COPIED, LONG_COPIED = 2 << 10, 4 << 10  # bytes of rows that memcpy copies faster within one core's caches, and the last


def row_bytes(planner: int, work: int) -> int:
    """Bytes of a row of B of plain moves that have short ones, or few items between those that are moved; else 0."""
    size, form = load64(work + axes.LIST + axes.N) * load64(work + axes.UNIT_A), load64(work + axes.FORM)
    are_rows = load64(work + axes.TYPE) < known.MOVE_TYPES and form == known.ROWS
    served = are_rows and (size <= rows.LONGEST or _are_copied(planner, work, size))
    return size if served or (form == known.ELEMENTS and size > picked.LINE and _is_picked(work)) else 0


def _are_copied(planner: int, work: int, size: int) -> int:
    """1 for rows of B so long that memcpy copies them in the caches, faster than vectors of a kernel do."""
    count, place = load64(work + axes.LENGTH), known.PAST_BYTES if size >= LONG_COPIED else known.CACHED_BYTES
    moved = axes.product(work, 0, count) * load64(work + axes.EACH)
    fits = size >= COPIED and count <= rows.MOST_AXES and load64(work + axes.FORM) == known.ROWS
    return fits and load64(planner + known.COPY) != 0 and moved < load64(planner + place)


def _is_picked(work: int) -> int:
    """1 where rows of B are items of A with few of them between."""
    step, near = abs(load64(work + axes.LIST + axes.A)), load64(work + axes.LIST + axes.B) == 1
    return near and load64(work + axes.TYPE) < WIDTHS and LEAST_STEP <= step <= MOST_STEP


def item_bytes(work: int, params: int) -> int:
    """Bytes of what is from now on a row, where items of plain moves lie apart from each other: of an item, or of those
    along some axes that are one in B, which are written behind the others; else 0."""
    count = load64(work + axes.LENGTH)
    if load64(work + axes.TYPE) >= known.MOVE_TYPES or load64(work + axes.FORM) != known.ELEMENTS:
        return 0
    if count > rows.MOST_AXES:
        return 0
    size, gathered = load64(work + axes.UNIT_A), _gathered_axes(work)
    place = params + rows.AXES + rows.AXIS * max(rows.TILED, count - gathered)
    for k in range(gathered):
        size, place = size * _extent(work, k), _write_axis(place, work, k)
    for k in range(count - gathered):
        at = gathered + k if gathered else count - 1 - k
        of, to = work + axes.LIST + axes.AXIS * at, work + axes.LIST + axes.AXIS * (at + 1 - gathered)
        for word in range(0, axes.AXIS, 8):
            store64(to + word, load64(of + word))
    write_unused(work, 0)
    store64(work + axes.LENGTH, 1 + count - gathered)
    return size


def _gathered_axes(work: int) -> int:
    """The number of B's nearest axes whose items become gathered rows; 0 where these would be few or short."""
    count, items, reach, k = load64(work + axes.LENGTH), 1, 0, 0
    while k < min(count, rows.GATHERED_AXES) and load64(work + axes.LIST + axes.AXIS * k + axes.B) == items:
        if items * _extent(work, k) > rows.MOST_GATHERED:
            break
        items, reach = items * _extent(work, k), reach + (_extent(work, k) - 1) * _stride(work, k)
        k += 1
    few = k < 2 or items < LEAST_GATHERED or axes.product(work, k, count) < LEAST_ROWS
    return 0 if few or reach * load64(work + axes.UNIT_A) >= MOST_REACH else k


def onto_rows(planner: int, work: int, prepared: int, params: int, size: int) -> int:
    """Write the call of a kernel of rows; PLANNED, or why there is none. size: bytes of one in B."""
    _arrange(work, params, size)
    tasks, moved = 1, 2 * size
    for k in range(load64(params + rows.COUNT)):
        n = load64(params + rows.AXES + rows.AXIS * k + rows.N)
        tasks, moved = tasks * steps_of(n, rows.step_of(params, k)), moved * n
    each = ITEM_BYTES * (size // load64(work + axes.UNIT_A)) if _extent(work, 0) == 1 else ROW_BYTES
    kernel, weight = _kernel(work, size), max(LEAST_BYTES, max(moved, moved // (2 * size) * each))
    if _are_copied(planner, work, size):  # for ever: no kernel of the layout's own is faster; and threads pay later
        store64(params + rows.COPY, load64(planner + known.COPY))
        kernel, weight, moved = known.PICKED_ROWS - 8, 0, moved // 2
    if weight >= load64(planner + known.BUDGET):
        return known.HEAVY
    write_call(planner, work, prepared, params, load64(planner + kernel), tasks, moved, weight)
    return known.PLANNED


def _kernel(work: int, size: int) -> int:
    """Where in a planner the kernel's address is."""
    if _extent(work, 0) == 1:
        return (known.GATHERED_ITEMS if _is_gathered(work, size) else known.SINGLE_ITEMS) + 8 * load64(work + axes.TYPE)
    if load64(work + axes.FORM) == known.ELEMENTS:
        step = load64(work + axes.LIST + axes.A)
        place = abs(step) - LEAST_STEP + (step < 0) * (STEPS // 2)
        return known.PICKED_ROWS + 8 * (STEPS * load64(work + axes.TYPE) + place)
    width = 0
    while width < WIDEST and size >= 4 << width:
        width += 1
    return known.SHORT_ROWS + 8 * (width + (size > rows.SHORT))


def _is_gathered(work: int, size: int) -> int:
    return _extent(work, 0) == 1 and size > load64(work + axes.UNIT_A)


def _arrange(work: int, params: int, size: int) -> None:
    """Write the parameters: three axes that are walked in tiles, then the others, the largest strides of B outermost.
    The first two are B's nearest, and A's nearest where that is another; the longest of the others is third where items
    are moved one by one, and the longer one of the first two then first; A's nearest is, where rows are gathered."""
    count, gathered = load64(work + axes.LENGTH), _is_gathered(work, size)
    single = _extent(work, 0) == 1 and not gathered
    for k in range(count, count + rows.TILED):
        write_unused(work, k)
    near, far = 1, _far_axis(work)
    crosses, extent = far < count and _stride(work, far) < _stride(work, near), _extent(work, near)
    tile = CROSSING if crosses else ALONG
    if crosses if gathered else (extent < SHORT_SIDE or single) and extent < _extent(work, far):
        near, far = far, near
    third = _third_axis(work, near, far, single)
    place = _write_axis(_write_axis(_write_axis(params + rows.AXES, work, near), work, far), work, third)
    for k in range(1, count):
        if k != near and k != far and k != third:
            place = _write_axis(place, work, k)
    store64(params + rows.SIZE, size)
    store64(params + rows.COUNT, max(rows.TILED, count - 1))
    tile = min(tile, TILE_BYTES // size)
    store64(params + rows.EDGE, max(1, tile // min(_extent(work, far), rows.FAR_EDGE)))


def _third_axis(work: int, near: int, far: int, longest: int) -> int:
    """B's nearest axis but these two, or the longest; one of one index where there is none."""
    count, found = load64(work + axes.LENGTH), 0
    for k in range(1, count):
        if k != near and k != far and (found == 0 or (longest and _extent(work, k) > _extent(work, found))):
            found = k
    return found if found else max(count, far + 1)


def _far_axis(work: int) -> int:
    """The axis along which rows of A are nearest, if they are nearer than along the first one; else the second."""
    found, least = 2, _stride(work, 1)
    for k in range(2, load64(work + axes.LENGTH)):
        if _stride(work, k) < least:
            found, least = k, _stride(work, k)
    return found


def _extent(work: int, axis: int) -> int:
    return load64(work + axes.LIST + axes.AXIS * axis + axes.N)


def _stride(work: int, axis: int) -> int:
    """A's, without its sign."""
    return abs(load64(work + axes.LIST + axes.AXIS * axis + axes.A))


def _write_axis(at: int, work: int, axis: int) -> int:
    """Write an axis with strides in bytes; the place behind it."""
    of, unit = work + axes.LIST + axes.AXIS * axis, load64(work + axes.UNIT_A)
    store64(at + rows.N, load64(of + axes.N))
    store64(at + rows.A, load64(of + axes.A) * unit)
    store64(at + rows.B, load64(of + axes.B) * unit)
    return at + rows.AXIS


def write_unused(work: int, axis: int) -> None:
    """Write an axis of one index."""
    at = work + axes.LIST + axes.AXIS * axis
    store64(at + axes.N, 1)
    store64(at + axes.A, 0)
    store64(at + axes.B, 0)
