"""Functions for `integer_code`: calls whose tiles are gathered in scratch (`gathered`), of large tensors.

A tile has pieces of runs of B, cut along one axis, and several of them along one or two more, its sides: so that rows
of A are read in long pieces as well.
"""

from __future__ import annotations

from .. import canonical_axes as axes
from .. import layout_fields as asked
from ..prepared_calls import steps_of
from ..words import load64, local, store64
from . import fields as f
from . import row_order

PIECE, PIECE_OF_ROWS = 1024, 2048  # bytes of a piece of a run; the second where elements of rows of A stay together
PADDING = 3 * f.STREAMED_LINE  # bytes between pieces in scratch, at most
MOST_CUT = 3  # axes inside the one that runs are cut along: the kernel walks them all
WHOLE = 16  # elements along A of whole micro-tiles
SHORT = 1024  # bytes of rows of A that a tile has several of
LEAST_ROOM = 8 << 10  # bytes of scratch, where many threads share a tensor

# A tile: axes and steps along them; an axis is -1 where there is none.
NEAR, CUT, STEP, RUN, SIDE, WIDTH, FAR, DEPTH, TOGETHER = 0, 8, 16, 24, 32, 40, 48, 56, 64
# NEAR: A's contiguous axis; RUN: elements of a run inside CUT; SIDE, FAR: the sides; TOGETHER: behind the last axis
# that continues runs.
TILE_BYTES = 72


def write(library: int, kernel: int, work: int, near: int, room: int, call: int) -> int:
    """Write the call of a kernel that fills tiles of `room` bytes at most; 0 where tiles are not gathered.

    near: the axis along which A is contiguous."""
    tile, size = local(TILE_BYTES), load64(work + axes.UNIT_B)
    store64(tile + NEAR, near)
    _cut(work, tile, room)
    step, reach = load64(tile + STEP), load64(tile + RUN) * load64(tile + STEP) * size
    if step == 0 or not _take_sides(work, tile, (room - PADDING) // (reach + PADDING)):
        return 0
    goes_on = step < _n(work, load64(tile + CUT)) or load64(tile + TOGETHER) > load64(tile + CUT) + 1
    if goes_on and reach < f.STREAMED_LINE:  # a run that begins within a line has to go on to the next one
        return 0
    store64(call + f.GATHERED, kernel)
    store64(call + f.TILES, load64(library + f.RUN_TILES))
    store64(call + f.KERNEL, load64(kernel + f.FUNCTION))
    store64(call + f.OFFSET_A, load64(work + axes.START_A) * load64(work + axes.UNIT_A))
    store64(call + f.OFFSET_B, load64(work + axes.START_B) * size)
    store64(call + f.ITEM_A, load64(work + axes.UNIT_A))
    store64(call + f.NEAR, 8 if near else 0)
    store64(call + f.RUN, load64(tile + RUN) * size)
    _write_tile(work, tile, reach, call)
    _write_loops(work, tile, call)
    return 1


def _n(work: int, k: int) -> int:
    return load64(work + axes.LIST + axes.AXIS * k + axes.N)


def _a(work: int, k: int) -> int:
    return load64(work + axes.LIST + axes.AXIS * k + axes.A)


def _b(work: int, k: int) -> int:
    return load64(work + axes.LIST + axes.AXIS * k + axes.B)


# --- the tile -------------------------------------------------------------------------------------------


def _cut(work: int, tile: int, room: int) -> None:
    """Write the axes of a tile's runs: whole ones, and the one that they are cut along. That is A's contiguous one
    where it is next: rows of B are then one run."""
    near, size = load64(tile + NEAR), load64(work + axes.UNIT_B)
    together, cut, run, piece = 1, 0, 1, PIECE if near else PIECE_OF_ROWS
    while together < load64(work + axes.LENGTH) and row_order.continues(work, together):
        together += 1
    while cut < min(together - 1, MOST_CUT) and (cut == 0 or cut != near) and run * _n(work, cut) * size <= piece:
        run = run * _n(work, cut)
        cut += 1
    if cut and cut == near:
        step = _fitting(_n(work, cut), (room - PADDING) // (run * size), WHOLE)
    else:
        step = _fitting(_n(work, cut), max(1, piece // (run * size)), 1)
    store64(tile + CUT, cut)
    store64(tile + STEP, step)
    store64(tile + RUN, run)
    store64(tile + TOGETHER, together)


def _take_sides(work: int, tile: int, rows: int) -> int:
    """Write the sides of a tile that has room for so many pieces of runs; 0 where that is too little."""
    near, cut, width, depth = load64(tile + NEAR), load64(tile + CUT), 1, 1
    side, far = near if near > cut else _next_in_a(work, cut, -1), -1
    if rows < 2 and side != near:
        side = -1
    if side >= 0:
        width = _fitting(_n(work, side), rows, WHOLE if side == near else 1)
        whole = width == _n(work, side) and rows >= 2 * width + 2
        if whole and width * load64(work + axes.UNIT_A) < SHORT:
            far = _next_in_a(work, cut, side)
        if far >= 0:
            depth = _fitting(_n(work, far), rows // (width + 1), 1)
    store64(tile + SIDE, side)
    store64(tile + WIDTH, width)
    store64(tile + FAR, far)
    store64(tile + DEPTH, depth)
    last = min(side if side >= 0 else asked.MAX_RANK + 1, far if far >= 0 else asked.MAX_RANK + 1)
    store64(tile + TOGETHER, min(load64(tile + TOGETHER), last))
    return width > 0


def _fitting(n: int, most: int, unit: int) -> int:
    """A step of at most so many along an axis: equal ones, as far as units are whole; 0 where there is none."""
    if n <= most or most < unit:
        return n if n <= most else 0
    even = steps_of(steps_of(n, steps_of(n, most)), unit) * unit
    return even if even <= most else most // unit * unit


def _next_in_a(work: int, cut: int, but: int) -> int:
    """The axis of the smallest stride in A behind the one that is cut; -1 where there is none."""
    found = -1
    for k in range(cut + 1, load64(work + axes.LENGTH)):
        if k != but and (found < 0 or abs(_a(work, k)) < abs(_a(work, found))):
            found = k
    return found


# --- the kernel's parameters ----------------------------------------------------------------------------


def _write_tile(work: int, tile: int, reach: int, call: int) -> None:
    """Write the kernel's parameters, with whole extents, and the sides. reach: bytes of a piece, at most."""
    near, cut, side, far = load64(tile + NEAR), load64(tile + CUT), load64(tile + SIDE), load64(tile + FAR)
    for slot in range(f.AXES):
        _put(call, slot, 1, 0, 0)
    following, inner = 2 if near else 1, 1
    for k in range(cut + 1):
        slot = 0 if k == 0 else 1 if k == near else following
        following = following + (slot == following)
        _put(call, slot, _n(work, k), _a(work, k), inner)
        store64(call + f.CUT, 8 * slot)
        inner = inner * _n(work, k)
    store64(call + f.BESIDE, 0)
    for word in range(0, 2 * f.SIDE_BYTES, 8):
        store64(call + f.SIDES + word, 0)
    if side >= 0:
        slot = 1 if side == near else following
        following = following + (slot == following)
        reach = load64(tile + WIDTH) * _write_side(work, side, slot, call + f.SIDES, reach + f.STREAMED_LINE, call)
        store64(call + f.BESIDE, 8 * slot if slot > 1 or near == 0 else 0)
    if far >= 0:
        _write_side(work, far, following, call + f.SIDES + f.SIDE_BYTES, reach, call)
        store64(call + f.BESIDE, 8 * following)


def _put(call: int, slot: int, n: int, a: int, b: int) -> None:
    store64(call + f.PARAMS + 8 * slot, n)
    store64(call + f.PARAMS + 8 * (f.AXES + slot), a)
    store64(call + f.PARAMS + 8 * (2 * f.AXES + slot), b)


def _write_side(work: int, k: int, slot: int, at: int, reach: int, call: int) -> int:
    """Write a side whose pieces need so many bytes; returns those from one to the next, which is as far behind a line
    as in B, and so many lines away that pieces lie in all sets of a cache."""
    away, line = _b(work, k) * load64(work + axes.UNIT_B), f.STREAMED_LINE
    apart = reach + (away - reach & line - 1)
    apart = apart if apart & line else apart + line
    _put(call, slot, _n(work, k), _a(work, k), apart // load64(work + axes.UNIT_B))
    store64(at, 8 * slot)
    store64(at + 8, away)
    store64(at + 16, apart)
    return apart


# --- loops over tiles -----------------------------------------------------------------------------------


def _write_loops(work: int, tile: int, call: int) -> None:
    """Write the loops over tiles, those that continue runs first, then along the sides, then others by stride in A."""
    cut, side, far, together = load64(tile + CUT), load64(tile + SIDE), load64(tile + FAR), load64(tile + TOGETHER)
    store64(call + f.AROUND, 0)
    store64(call + f.TASKS, 1)
    store64(call + f.OUTER, 1)
    _loop(work, cut, load64(tile + STEP), load64(call + f.CUT), call)
    for k in range(cut + 1, together):
        _loop(work, k, 1, -1, call)
    store64(call + f.CHAINED, load64(call + f.AROUND))
    if side >= 0:
        _loop(work, side, load64(tile + WIDTH), load64(call + f.SIDES), call)
    if far >= 0:
        _loop(work, far, load64(tile + DEPTH), load64(call + f.SIDES + f.SIDE_BYTES), call)
    order, length = local(8 * (asked.MAX_RANK + 1)), 0
    for k in range(max(cut + 1, together), load64(work + axes.LENGTH)):
        if k != side and k != far:
            at = length
            while at > 0 and abs(_a(work, load64(order + 8 * at - 8))) > abs(_a(work, k)):
                store64(order + 8 * at, load64(order + 8 * at - 8))
                at -= 1
            store64(order + 8 * at, k)
            length += 1
    for at in range(length):
        _loop(work, load64(order + 8 * at), 1, -1, call)


def _loop(work: int, k: int, step: int, slot: int, call: int) -> None:
    """Add a loop over tiles along an axis, around those before. slot: the place of its extent, -1 = none."""
    number = load64(call + f.AROUND)
    at, steps = call + f.OUTER_AXES + f.OUTER_BYTES * number, steps_of(_n(work, k), step)
    store64(at, steps)
    store64(at + 8, step * _a(work, k) * load64(work + axes.UNIT_A))
    store64(at + 16, step * _b(work, k) * load64(work + axes.UNIT_B))
    store64(at + f.PIECE, step if slot >= 0 else 0)
    store64(at + f.SLOT, max(slot, 0))
    store64(call + f.AROUND, number + 1)
    store64(call + f.TASKS, load64(call + f.TASKS) * steps)
