"""Functions for `integer_code`: tiles that are gathered in scratch in B's order, and leave for B in whole lines.

A tile is a piece of one or more contiguous runs of B. In scratch each run begins as many bytes behind a line as it does
in B, so that lines are copied whole, past the caches. The part of a line that a piece ends with is kept in front of the
next piece of its run; only where a run begins or ends, or the tiles of a thread do, lines are written in part.
"""

from __future__ import annotations

from ..prepared_calls import steps_of
from ..words import call, copy_line_past, fence, load64, local, move, prefetch, store64
from . import fields as f

LINE = f.STREAMED_LINE
PARAMS_BYTES = f.ORDER - f.PARAMS
# Of A: the next row, bytes of one, rows left; rows in a turn, of how many turns that many more have one more, how many
# turns, and by how much the last one fell short of one more.
ADDRESS, ROW, LEFT, EACH, MORE, TURNS, OWED = 0, 8, 16, 24, 32, 40, 48
WHEELS = 56
WHEEL_BYTES = 24  # of an odometer: index, extent, bytes between rows of A
AHEAD_BYTES = WHEELS + (f.AXES + 2) * WHEEL_BYTES
ROW_BYTES = 512  # of the longest rows that are fetched at once
NEVER = 1 << 62  # the extent behind the last one
TURN = 1024  # bytes of B that are written before some of A are fetched again
FIRST, LAST = 1, 2  # of the tiles of a run
PLACE_BYTES = 16  # bytes from A and from B to a tile, a word each


def run_tiles(what: int, a: int, b: int, scalars: int, scratch: int, begin: int, end: int) -> None:
    """Run the tasks [begin, end) of a gathered call, a tile each. scratch: on a line."""
    params, following, place, ahead = local(PARAMS_BYTES), local(PARAMS_BYTES), local(PLACE_BYTES), local(AHEAD_BYTES)
    for word in range(0, PARAMS_BYTES, 8):
        store64(params + word, load64(what + f.PARAMS + word))
        store64(following + word, load64(what + f.PARAMS + word))
    state = _locate(what, begin, params, place)
    _look_ahead(what, params, a + load64(place), ahead, 1)
    _fetch(ahead)
    for task in range(begin, end):
        of, to = a + load64(place), b + load64(place + 8)
        begins, ends = state & FIRST or task == begin, state & LAST or task + 1 == end
        filled = scratch + (to & LINE - 1)
        call(load64(what + f.KERNEL), of, filled, scalars, params, 0, 0, _tasks(what, params))
        length = load64(what + f.RUN) * load64(params + load64(what + f.CUT))
        if task + 1 < end:
            state = _locate(what, task + 1, following, place)
            _look_ahead(what, following, a + load64(place), ahead, _runs(what, params) * steps_of(length, TURN))
        else:
            store64(ahead + LEFT, 0)
        _drain(what, params, to, filled, scratch + (to + length & LINE - 1), length, begins, ends, ahead)
        params, following = following, params
    fence(0)


def _runs(what: int, params: int) -> int:
    """The runs of a tile."""
    near, far = load64(what + f.SIDES), load64(what + f.SIDES + f.SIDE_BYTES)
    return (load64(params + near) if near else 1) * (load64(params + far) if far else 1)


def _look_ahead(what: int, params: int, of: int, ahead: int, turns: int) -> None:
    """Write which rows of A are to be fetched for a tile, in so many turns."""
    near, size, rows = load64(what + f.NEAR), load64(what + f.ITEM_A), 1
    row, side = load64(params + near), load64(what + f.BESIDE)
    if load64(params + 8 * f.AXES + side) == row:
        row = row * load64(params + side)
    else:
        side = near
    pieces = steps_of(row * size, ROW_BYTES)
    store64(ahead + ROW, steps_of(steps_of(row * size, pieces), size) * size)
    store64(ahead + ADDRESS, of)
    at = ahead + WHEELS
    if pieces > 1:
        at, rows = _wheel(at, pieces, load64(ahead + ROW)), pieces
    for word in range(0, 8 * f.AXES, 8):
        n = load64(params + word)
        if word != near and word != side and n > 1:
            at, rows = _wheel(at, n, load64(params + 8 * f.AXES + word) * size), rows * n
    _wheel(at, NEVER, 0)
    store64(ahead + LEFT, rows)
    store64(ahead + EACH, rows // turns)
    store64(ahead + MORE, rows % turns)
    store64(ahead + TURNS, turns)
    store64(ahead + OWED, turns // 2)


def _wheel(at: int, n: int, step: int) -> int:
    """Write a wheel; the place of the next one."""
    store64(at, 0)
    store64(at + 8, n)
    store64(at + 16, step)
    return at + WHEEL_BYTES


def _fetch(ahead: int) -> None:
    """Fetch the rows of one turn."""
    count, owed = load64(ahead + EACH), load64(ahead + OWED) + load64(ahead + MORE)
    if owed >= load64(ahead + TURNS):
        count, owed = count + 1, owed - load64(ahead + TURNS)
    store64(ahead + OWED, owed)
    count = min(count, load64(ahead + LEFT))
    size, at = load64(ahead + ROW), load64(ahead + ADDRESS)
    store64(ahead + LEFT, load64(ahead + LEFT) - count)
    index, n, step = load64(ahead + WHEELS), load64(ahead + WHEELS + 8), load64(ahead + WHEELS + 16)
    while count > 0:
        for line in range(at & -LINE, at + size, LINE):
            prefetch(line)
        count -= 1
        index += 1
        at = at + step
        if index == n:
            at = _turned(ahead, at - n * step)
            index = 0
    store64(ahead + WHEELS, index)
    store64(ahead + ADDRESS, at)


def _turned(ahead: int, at: int) -> int:
    """The next row's address where the first wheel is back at its beginning, `at`."""
    wheel, turns = ahead + WHEELS + WHEEL_BYTES, 1
    while turns:
        place = load64(wheel) + 1
        at = at + load64(wheel + 16)
        turns = place == load64(wheel + 8)
        if turns:
            at = at - place * load64(wheel + 16)
            place = 0
        store64(wheel, place)
        wheel = wheel + WHEEL_BYTES
    return at


def _locate(what: int, task: int, params: int, place: int) -> int:
    """Write the place of a tile, in bytes from A and B, and its extents; whether it is the FIRST or the LAST of its
    runs."""
    of, to, state = load64(what + f.OFFSET_A), load64(what + f.OFFSET_B), FIRST | LAST
    axis, chained = what + f.OUTER_AXES, what + f.OUTER_AXES + f.OUTER_BYTES * load64(what + f.CHAINED)
    while axis < what + f.OUTER_AXES + f.OUTER_BYTES * load64(what + f.AROUND):
        steps = load64(axis)
        index = task % steps
        task = task // steps
        of, to = of + index * load64(axis + 8), to + index * load64(axis + 16)
        step, slot = load64(axis + f.PIECE), load64(axis + f.SLOT)
        if step:
            store64(params + slot, min(step, load64(what + f.PARAMS + slot) - index * step))
        if axis < chained:
            state = state & ((FIRST if index == 0 else 0) | (LAST if index == steps - 1 else 0))
        axis = axis + f.OUTER_BYTES
    store64(place, of)
    store64(place + 8, to)
    return state


def _tasks(what: int, params: int) -> int:
    """The tasks of the kernel that fill a tile."""
    found, grid = 1, load64(what + f.GATHERED) + f.GRID
    for word in range(0, 8 * f.AXES, 8):
        if load64(grid + word):
            found = found * steps_of(load64(params + word), load64(grid + word))
    return found


def _drain(
    what: int, params: int, to: int, of: int, kept: int, length: int, begins: int, ends: int, ahead: int
) -> None:
    """Copy the pieces of a tile, of so many bytes. kept: where the next tile has its first byte."""
    near, far = what + f.SIDES, what + f.SIDES + f.SIDE_BYTES
    rows = load64(params + load64(near)) if load64(near) else 1
    for outer in range(load64(params + load64(far)) if load64(far) else 1):
        there, apart = to + outer * load64(far + 8), outer * load64(far + 16)
        for _ in range(rows):
            _leave(there, of + apart, kept + apart, length, begins, ends, ahead)
            there, apart = there + load64(near + 8), apart + load64(near + 16)


def _leave(to: int, of: int, kept: int, length: int, begins: int, ends: int, ahead: int) -> None:
    """Copy a piece of a run that has a line at least, unless it is a whole one."""
    end, behind = to + length, to & LINE - 1
    if begins and behind:
        head = min(LINE - behind, length)
        _part(to, of, head)
        to, of = to + head, of + head
    else:
        to, of = to - behind, of - behind
    while to + LINE <= end:
        if load64(ahead + LEFT):
            _fetch(ahead)
        stop = min(end, to + TURN)
        while to + LINE <= stop:
            copy_line_past(to, of)
            to, of = to + LINE, of + LINE
    if ends:
        _part(to, of, end - to)
    else:
        move(kept & -LINE, of, LINE)


def _part(to: int, of: int, size: int) -> None:
    """Copy part of a line."""
    if size & 32:
        move(to, of, 32)
        to, of = to + 32, of + 32
    if size & 16:
        move(to, of, 16)
        to, of = to + 16, of + 16
    if size & 8:
        move(to, of, 8)
        to, of = to + 8, of + 8
    if size & 4:
        move(to, of, 4)
        to, of = to + 4, of + 4
    if size & 2:
        move(to, of, 2)
        to, of = to + 2, of + 2
    if size & 1:
        move(to, of, 1)
