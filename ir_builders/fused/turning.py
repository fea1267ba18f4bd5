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
from .layout import FEW

MORE = 3  # axes that a turn adds at most
TALLEST = 512  # bytes of A that are turned together for each term


def width(job: int) -> int:
    """The rows of the last axis that are turned at a time; 0 where none are."""
    number, group, size = load64(job + f.M_AXES), load64(job + f.GROUP), load64(job + f.SIZE)
    if number < 2 or group < 2 or load64(job + f.N) > FEW or other(job) < 0:
        return 0
    last, terms = row_axis(job, number - 1), load64(job + f.K_AXES)
    of_terms = job + load64(job + f.K_AXES + f.PLACE) + f.AXIS * (terms - 1)
    if load64(last + 8) == size or load64(last + 16) != size or (terms > 0 and load64(of_terms + 8) == size):
        return 0
    return dividing(group, load64(last))


def row_axis(job: int, number: int) -> int:
    """The place of an axis of rows."""
    return job + load64(job + f.M_AXES + f.PLACE) + f.AXIS * number


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
    inner, count = other(job), load64(job + f.M_AXES)
    last = row_axis(job, count - 1)
    height = tallest(job, turn, load64(row_axis(job, inner)))
    room = max(load64(job + f.BLOCK_M) // height, turn)
    most, outer, many = longest(job, last, turn, room), -1, 1
    if most == load64(last):
        outer = following(job, inner, most * load64(job + f.SIZE))
    if outer >= 0:
        many = divisor(load64(row_axis(job, outer)), 1, room // most)
    store64(job + f.TURN_HEIGHT, height)
    store64(job + f.RUN, most * many)
    cut(job, inner, height, outer, many, most)
    step, tile = height * most * many, load64(job + f.TILE_M)
    step = step // common(step, tile) * tile
    if step <= load64(job + f.BLOCK_M):
        store64(job + f.BLOCK_M, load64(job + f.BLOCK_M) // step * step)
    return 0


def are_lines(turn: int, size: int) -> int:
    """1 where rows that are turned at a time fill lines of packed tiles."""
    return turn > 0 and turn * size % f.LINE == 0


def tallest(job: int, turn: int, extent: int) -> int:
    """So many of the other rows are turned together: a register's, or those of a piece; as many times these as a block
    has room for beside whole tiles, where what is packed are lines: others would leave the caches half filled."""
    least, size = dividing(load64(job + f.GROUP), extent), load64(job + f.SIZE)
    most = min(TALLEST // size, load64(job + f.BLOCK_M) // load64(job + f.TILE_M)) if are_lines(turn, size) else least
    found = least
    for rows in range(least, min(extent, most) + 1):
        if rows % least == 0 and extent % rows == 0:
            found = rows
    return found


def longest(job: int, last: int, turn: int, room: int) -> int:
    """So many rows of the last axis follow each other: whole tiles, or an axis of half a tile, where these fit."""
    found, whole, extent, tile = turn, 0, load64(last), load64(job + f.TILE_M)
    for rows in range(turn, min(extent, room) + 1):
        if rows % turn == 0 and extent % rows == 0:
            found = rows
            if rows % tile == 0 or (rows == extent and 2 * rows == tile):
                whole = rows
    return whole if whole else found


def following(job: int, inner: int, run: int) -> int:
    """The number of the axis that goes on in C behind so many bytes, -1 = none."""
    for number in range(load64(job + f.M_AXES) - 1):
        if number != inner and load64(row_axis(job, number) + 16) == run:
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


def cut(job: int, inner: int, height: int, outer: int, many: int, most: int) -> int:
    """Cut axes in two, and put the inside of each behind all others: of `inner`, of `outer`, of the last one."""
    count, made = load64(job + f.M_AXES), 0
    axes = local(f.AXIS * (f.MOST_INDICES + MORE))
    for number in range(count - 1):
        if number != inner and number != outer:
            made += put(axes + f.AXIS * made, row_axis(job, number), load64(row_axis(job, number)), 1)
    if outer >= 0:
        made += put(axes + f.AXIS * made, row_axis(job, outer), load64(row_axis(job, outer)) // many, many)
    last, other_axis = row_axis(job, count - 1), row_axis(job, inner)
    made += put(axes + f.AXIS * made, last, load64(last) // most, most)
    made += put(axes + f.AXIS * made, other_axis, load64(other_axis) // height, height)
    made += put(axes + f.AXIS * made, other_axis, height, 1)
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
