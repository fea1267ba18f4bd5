"""Rows that are turned as they are packed, as functions of integers: in C those of the last axis follow each other, in
A those of another one.

They are taken in blocks of `TURN_HEIGHT` of that one by `TURN` of the last one. Their order becomes: so many of the
other one; so many of an axis that goes on in C where the last one ends; so many of the last one. The latter two are
the `RUN`.
"""

from __future__ import annotations

from ttc_llvm.lowering.micro_kernel import piece

from ..words import load64, local, store64
from . import fields as f
from .axes import axis_of, last_of
from .layout import FEW

MORE = 4  # axes that a turn adds at most
TALLEST = 512  # bytes of A that are turned together for each term


def width(job: int) -> int:
    """The rows of the last axis that are turned at a time; 0 where none are."""
    number, group, size = load64(job + f.M_AXES), load64(job + f.GROUP), load64(job + f.SIZE)
    if number < 2 or group < 2 or load64(job + f.N) > FEW or other(job) < 0:
        return 0
    last, terms = last_of(job, f.M_AXES), load64(job + f.K_AXES)
    of_terms = last_of(job, f.K_AXES)
    if load64(last + 8) == size or load64(last + 16) != size or (terms > 0 and load64(of_terms + 8) == size):
        return 0
    return dividing(group, load64(last))


def row_axis(job: int, number: int) -> int:
    """The place of an axis of rows."""
    return axis_of(job, f.M_AXES, number)


def other(job: int) -> int:
    """The number of the axis whose rows follow each other in A, -1 = none."""
    for number in range(load64(job + f.M_AXES) - 1):
        axis = row_axis(job, number)
        if load64(axis + 8) == load64(job + f.SIZE) and load64(axis) % piece(load64(job + f.GROUP)) == 0:
            return number
    return -1


def dividing(group: int, extent: int) -> int:
    """A register's rows, or those of a piece of one, whichever divides an extent; 0 = neither does."""
    return group if extent % group == 0 else piece(group) if extent % piece(group) == 0 else 0


def turn_rows(job: int) -> int:
    """Put the axes of rows that are turned in order, and make blocks of whole turns."""
    turn = width(job)
    store64(job + f.TURN, turn)
    store64(job + f.TURN_HEIGHT, 0)
    store64(job + f.RUN, 0)
    if turn == 0:
        return 0
    inner, last, size = other(job), last_of(job, f.M_AXES), load64(job + f.SIZE)
    block, tile, rest = load64(job + f.BLOCK_M), load64(job + f.TILE_M), load64(row_axis(job, inner))
    outer = following(job, 16, inner, load64(last) * size)
    second = following(job, 8, outer, rest * size)
    height = tallest(job, inner, second, block // shortest(job, last, outer, turn))
    room = max(block // height, turn)
    most, many = longest(job, last, turn, room), 1
    if most < load64(last):
        outer = -1
    if outer >= 0:
        many = divisor(load64(row_axis(job, outer)), 1, room // most)
    store64(job + f.TURN_HEIGHT, height)
    store64(job + f.RUN, most * many)
    cut(job, inner, height, second if height > rest else -1, outer, many, most)
    step = height * most * many
    step = step // common(step, tile) * tile
    if step <= block:
        store64(job + f.BLOCK_M, block // step * step)
    return 0


def shortest(job: int, last: int, outer: int, turn: int) -> int:
    """So many rows are to follow each other in C at least: a tile or two, or half a one that is whole; a line."""
    extent, tile, found = load64(last), load64(job + f.TILE_M), 0
    many = load64(row_axis(job, outer)) if outer >= 0 else 1
    for rows in range(turn, min(extent * many, 2 * tile) + 1):
        is_whole = extent % rows == 0 if rows <= extent else rows % extent == 0 and many % (rows // extent) == 0
        if found == 0 and rows % turn == 0 and is_whole and (rows % tile == 0 or (2 * rows == tile and outer < 0)):
            found = rows
    for rows in range(turn, extent + 1):
        if found == 0 and rows % turn == 0 and extent % rows == 0 and rows * load64(job + f.SIZE) >= f.LINE:
            found = rows
    return found if found else turn


def tallest(job: int, inner: int, second: int, room: int) -> int:
    """So many of the other rows are turned together: those that a block has room for, of the axis behind it in A too
    where all of it are."""
    extent = load64(row_axis(job, inner))
    most, least = min(TALLEST // load64(job + f.SIZE), room), dividing(load64(job + f.GROUP), extent)
    found = least
    for rows in range(least, min(extent, most) + 1):
        if rows % least == 0 and extent % rows == 0:
            found = rows
    if second < 0 or found < extent:
        return found
    return found * divisor(load64(row_axis(job, second)), 1, most // extent)


def longest(job: int, last: int, turn: int, room: int) -> int:
    """So many rows of the last axis follow each other: whole tiles, or an axis of half a tile, where these fit."""
    found, whole, extent, tile = turn, 0, load64(last), load64(job + f.TILE_M)
    for rows in range(turn, min(extent, room) + 1):
        if rows % turn == 0 and extent % rows == 0:
            found = rows
            if rows % tile == 0 or (rows == extent and 2 * rows == tile):
                whole = rows
    return whole if whole else found


def following(job: int, word: int, taken: int, run: int) -> int:
    """The number of the axis that goes on behind so many bytes in A or C, but for one; -1 = none. word: of its step."""
    for number in range(load64(job + f.M_AXES) - 1):
        if number != taken and load64(row_axis(job, number) + word) == run:
            return number
    return -1


def divisor(extent: int, least: int, most: int) -> int:
    """The largest divisor in these bounds, `least` where there is none."""
    found = least
    for number in range(least, min(extent, most) + 1):
        if extent % number == 0:
            found = number
    return found


def common(x: int, y: int) -> int:
    """The greatest common divisor."""
    while y != 0:
        x, y = y, x % y
    return x


def cut(job: int, inner: int, height: int, second: int, outer: int, many: int, most: int) -> int:
    """Cut axes in two, and put the inside of each behind all others: of `second`, which goes on where `inner` ends, -1
    = it is not cut; of `inner`, of `outer`, of the last one."""
    count, made = load64(job + f.M_AXES), 0
    axes = local(f.AXIS * (f.MOST_INDICES + MORE))
    for number in range(count - 1):
        if number != inner and number != outer and number != second:
            made += put(axes + f.AXIS * made, row_axis(job, number), load64(row_axis(job, number)), 1)
    last, other_axis, times = row_axis(job, count - 1), row_axis(job, inner), 1
    if second >= 0:
        times = height // load64(other_axis)
        made += put(axes + f.AXIS * made, row_axis(job, second), load64(row_axis(job, second)) // times, times)
    if outer >= 0:
        made += put(axes + f.AXIS * made, row_axis(job, outer), load64(row_axis(job, outer)) // many, many)
    made += put(axes + f.AXIS * made, last, load64(last) // most, most)
    made += put(axes + f.AXIS * made, other_axis, load64(other_axis) * times // height, height // times)
    if second >= 0:
        made += put(axes + f.AXIS * made, row_axis(job, second), times, 1)
    made += put(axes + f.AXIS * made, other_axis, height // times, 1)
    if outer >= 0:
        made += put(axes + f.AXIS * made, row_axis(job, outer), many, 1)
    made += put(axes + f.AXIS * made, last, most, 1)
    for word in range(3 * made):
        store64(row_axis(job, 0) + 8 * word, load64(axes + 8 * word))
    store64(job + f.M_AXES, made)
    return 0


def put(to: int, axis: int, extent: int, step: int) -> int:
    """An axis of so many steps along another one; 1."""
    store64(to, extent)
    store64(to + 8, load64(axis + 8) * step)
    store64(to + 16, load64(axis + 16) * step)
    return 1
