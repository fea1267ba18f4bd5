"""Packing of blocks of A and B, as functions of integers: which rows or columns go together."""

from __future__ import annotations

from ttc_llvm.lowering.micro_kernel import piece

from ..words import load64, local, prefetch_behind, store64
from . import fields as f
from .axes import innermost, last_of
from .calls import pack_columns, pack_rows, pack_runs, pack_turned

FILLED = 16 << 10  # bytes of lines of packed tiles that are filled at a time


def pack_block_of_columns(job: int, b: int, scratch: int, first: int, n: int, k: int) -> int:
    """Pack the columns of a block, a tile or several at a time."""
    tile, group, terms = load64(job + f.TILE_N), load64(job + f.GROUP), scratch + load64(job + f.TERMS_B)
    panel, of_b, size = scratch + load64(job + f.PANELS_B), scratch + load64(job + f.COLUMNS_B), load64(job + f.SIZE)
    column, places, are_runs = 0, local(8 * f.MOST_RUNS), tile == group or tile == piece(group)
    while column < n:
        count = min(run_of(job, f.N_AXES, first + column, n - column) // tile, f.MOST_RUNS) if are_runs else 0
        for number in range(count):
            store64(places + 8 * number, panel + (column + number * tile) * k * size)
        if count > 0:
            pack_runs(places, b, of_b + 8 * column, terms, k, tile, count, tile * size)
        else:
            pack_columns(panel + column * k * size, b, of_b + 8 * column, terms, k)
        column += tile * max(count, 1)
    return 0


def run_of(job: int, axes: int, first: int, most: int) -> int:
    """The number of rows or columns from there on that follow each other in A or B; 0 where they do not."""
    last = last_of(job, axes)
    if load64(job + axes) == 0 or load64(last + 8) != load64(job + f.SIZE):
        return 0
    extent = load64(last)
    return min(extent - first % extent, most)


def pack_block_of_rows(job: int, a: int, scratch: int, first: int, m: int, k: int) -> int:
    """Pack the rows of a block: as many registers at a time as follow each other in A; a register by its pieces; as
    many rows as are turned together; or any register's."""
    tile, group, terms = load64(job + f.TILE_M), load64(job + f.GROUP), scratch + load64(job + f.TERMS_A)
    of_a, turn = scratch + load64(job + f.ROWS_A), load64(job + f.TURN)
    size, part, row, places = load64(job + f.SIZE), piece(group), 0, local(8 * f.MOST_PLACES)
    are_pieces, height = innermost(job, f.M_AXES) % part == 0, load64(job + f.TURN_HEIGHT)
    turned = height * load64(job + f.RUN)
    while row < m:
        run = run_of(job, f.M_AXES, first + row, m - row)
        count = min(run // group, f.MOST_RUNS)
        if count > 0:
            for number in range(count):
                store64(places + 8 * number, place_of_row(job, scratch, row + number * group, k))
            pack_runs(places, a, of_a + 8 * row, terms, k, group, count, tile * size)
            row += group * count
        elif run > 0 and row + group <= m and are_pieces:
            for number in range(group // part):
                store64(places + 8 * number, place_of_row(job, scratch, row + number * part, k))
            pack_runs(places, a, of_a + 8 * row, terms, k, part, group // part, tile * size)
            row += group
        elif turn > 0 and row + turned <= m and (first + row) % max(turned, 1) == 0:
            pack_turn(job, a, scratch, row, k)
            row += turned
        else:
            pack_rows(place_of_row(job, scratch, row, k), a, of_a + 8 * row, terms, k)
            row += group
    while row % tile != 0:
        pack_rows(place_of_row(job, scratch, row, k), a, of_a + 8 * row, terms, k)
        row += group
    return 0


def pack_turn(job: int, a: int, scratch: int, row: int, k: int) -> int:
    """Pack the rows of a turn. Where a line of packed tiles takes several of those that are turned at a time, some
    terms of all of them come before the next terms, so that it is filled while it is in L1."""
    turn, height, run = load64(job + f.TURN), load64(job + f.TURN_HEIGHT), load64(job + f.RUN)
    terms, of_a = scratch + load64(job + f.TERMS_A), scratch + load64(job + f.ROWS_A) + 8 * row
    places, steps = local(8 * f.MOST_PLACES), run // turn
    some = k if turn * load64(job + f.SIZE) >= f.LINE else max(1, FILLED // (height * f.LINE))
    begin = 0
    while begin < steps:
        end = min(begin + f.MOST_PLACES // height, steps)
        for step in range(begin, end):
            for number in range(height):
                place = place_of_row(job, scratch, row + number * run + step * turn, k)
                store64(places + 8 * (height * (step - begin) + number), place)
        term = 0
        while term < k:
            until = min(term + some, k)
            for step in range(begin, end):
                at, is_last = places + 8 * height * (step - begin), step + 1 == end
                following = step if some == k else begin if is_last else step + 1
                later = 1 if some == k else some if is_last else 0
                ahead = 0 if later and some < k and until + some > k else of_a + 8 * turn * following
                pack_turned(at, a, of_a + 8 * turn * step, terms, until, turn, height, term, ahead, later)
            term = until
        begin = end
    return 0


def fetch_turns(job: int, a: int, scratch: int, begin: int, end: int, k: int) -> int:
    """Prefetch lines of A of the turns that `macro_kernel.next_turns` noted, of these numbers: of each turn, all rows
    of a term before the next term."""
    run, of_a, terms = load64(job + f.RUN), scratch + load64(job + f.ROWS_A), scratch + load64(job + f.TERMS_A)
    size = load64(job + f.TURN_HEIGHT) * load64(job + f.SIZE)
    for number in range(begin, end):
        term = number // run
        start = a + load64(of_a + 8 * (term // k * run + number % run)) + load64(terms + 8 * (term % k))
        line = start - start % f.LINE
        while line < start + size:
            prefetch_behind(line)
            line += f.LINE
    return 0


def place_of_row(job: int, scratch: int, row: int, k: int) -> int:
    """The address of a row's first term in packed tiles."""
    tile, size = load64(job + f.TILE_M), load64(job + f.SIZE)
    return scratch + load64(job + f.PANELS_A) + (row // tile * tile * k + row % tile) * size
