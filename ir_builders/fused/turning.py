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
TALLEST = 640  # bytes of A that are turned together for each term
ROOM = 2  # blocks may be so many times as large, all of the second cache, where turns fill them then
FULL = 32  # the height of turns whose lines of A, read twice, take as long as a block that fills the cache takes more
SHARE, MOST = 1 << 10, 1 << 60


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
    rest, extent = load64(row_axis(job, inner)), load64(last)
    outer = following(job, 16, inner, extent * size)
    second = following(job, 8, outer, rest * size)
    choose(job, inner, second, outer)
    height, run = load64(job + f.TURN_HEIGHT), load64(job + f.RUN)
    many = max(run // extent, 1)
    cut(job, inner, height, second if height > rest else -1, outer if run >= extent else -1, many, run // many)
    step = evenly(job, height * run)
    if step <= room(job):
        store64(job + f.BLOCK_M, step)
    return 0


def choose(job: int, inner: int, second: int, outer: int) -> int:
    """Set how many of the other rows are turned together, of the axis behind it in A too where all of it are, and how
    many rows follow each other in C: those that cost the least, and of these the fewest."""
    turn, rest, extent = load64(job + f.TURN), load64(row_axis(job, inner)), load64(last_of(job, f.M_AXES))
    high = rest * load64(row_axis(job, second)) if second >= 0 else rest
    long = extent * load64(row_axis(job, outer)) if outer >= 0 else extent
    height, part, least = dividing(load64(job + f.GROUP), rest), piece(load64(job + f.GROUP)), -1
    store64(job + f.TURN_HEIGHT, height)
    store64(job + f.RUN, turn)
    for rows in range(part, min(high, TALLEST // load64(job + f.SIZE)) + 1):
        length = turn if rows % part == 0 and divides(rows, rest, high) else long + 1
        while length <= min(long, room(job) // rows):
            is_whole = length % load64(job + f.TILE_M) == 0 or (length == long and 2 * length == load64(job + f.TILE_M))
            found = cost(job, rows, length, is_whole) if divides(length, extent, long) else MOST
            if found < MOST and (least < 0 or found < least):
                least = found
                store64(job + f.TURN_HEIGHT, rows)
                store64(job + f.RUN, length)
            length += turn
    return 0


def divides(rows: int, extent: int, more: int) -> bool:
    """True where an axis, or it and the one that goes on behind it, are cut into so many rows."""
    return extent % rows == 0 if rows <= extent else rows % extent == 0 and more % rows == 0


def cost(job: int, height: int, run: int, is_whole: bool) -> int:
    """A measure of the time that turns of such rows take more than others: lines of A that two of them read, twice
    where rows are no whole registers; of C that two write, which are read before, where tiles are no whole lines; and
    what blocks leave of the second cache to others. From MOST / 2 on where turns do not fill blocks; MOST where they
    are larger."""
    terms, step = SHARE * load64(job + f.K), evenly(job, height * run)
    found = terms // height * (2 if height % load64(job + f.GROUP) else 1) + terms * step // (FULL * room(job))
    if not is_whole:
        found += 2 * SHARE * load64(job + f.N) // run
    if step <= room(job):
        return found
    return MOST // 2 + found if height * run <= load64(job + f.BLOCK_M) else MOST


def room(job: int) -> int:
    """The rows of a block that turns fill, at most."""
    return ROOM * load64(job + f.BLOCK_M)


def evenly(job: int, rows: int) -> int:
    """The rows of whole tiles and whole turns of so many rows."""
    return rows // common(rows, load64(job + f.TILE_M)) * load64(job + f.TILE_M)


def following(job: int, word: int, taken: int, run: int) -> int:
    """The number of the axis that goes on behind so many bytes in A or C, but for one; -1 = none. word: of its step."""
    for number in range(load64(job + f.M_AXES) - 1):
        if number != taken and load64(row_axis(job, number) + word) == run:
            return number
    return -1


def crowd(job: int, rows: int, terms: int) -> int:
    """So many lines of A fall into each set of the second cache that any of them fall into, of so many rows that are
    turned, which follow each other in C, and of so many terms."""
    last, of_terms, way = load64(last_of(job, f.M_AXES) + 8), 0, load64(job + f.WAY)
    if load64(job + f.K_AXES) > 0:
        of_terms = load64(last_of(job, f.K_AXES) + 8)
    by_rows, by_terms = common(max(last, -last), way), common(max(of_terms, -of_terms), way)
    places = min(min(rows, way // by_rows) * min(terms, way // by_terms), way // common(by_rows, by_terms))
    run = load64(job + f.TURN_HEIGHT) * load64(job + f.SIZE)
    return rows * terms * run // min(way, places * run)


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
