"""Tiles of C past the caches: which ones, and where they go on from others, as functions of integers."""

from __future__ import annotations

from ..words import load64, store64
from . import fields as f
from .calls import BY_COLUMNS, BY_HALVES, BY_LINES, BY_ROWS, flush_tile, stream_tile
from .packing import innermost

IN_A_ROW, IN_HALVES = 1, 2  # flags of a tile of rows: they follow each other in C; those of each half do
EVEN, JOINED = 1, 2  # of a tile of columns: whole lines from one to each other; each where the run of rows before ends


def inspect_columns(job: int, scratch: int, n: int) -> int:
    """Set the flags of each tile of columns."""
    if load64(job + f.STREAMED) == 0:
        return 0
    tile, run, of_c = load64(job + f.TILE_N), innermost(job, f.M_AXES), scratch + load64(job + f.COLUMNS_C)
    step = run * load64(job + f.SIZE) if run == load64(job + f.TILE_M) or 2 * run == load64(job + f.TILE_M) else 0
    for number in range(n // tile):
        found = EVEN | JOINED if step else EVEN
        for k in range(1, tile):
            if load64(of_c + 8 * k) - load64(of_c + 8 * k - 8) != step:
                found &= EVEN
            if (load64(of_c + 8 * k) - load64(of_c)) % f.LINE != 0:
                found &= JOINED
        store64(scratch + load64(job + f.ACROSS) + 8 * number, found)
        of_c += 8 * tile
    return 0


def way_past(place: int, rows: int, columns: int) -> int:
    """The way to write a tile, by its address and flags; 0 = through the caches."""
    if columns & JOINED:
        return BY_COLUMNS if rows & IN_A_ROW else BY_HALVES if rows & IN_HALVES else 0
    if rows & IN_A_ROW and columns & EVEN:
        return BY_ROWS if place % f.LINE else BY_LINES
    return 0


def streamed(
    job: int, c: int, scalars: int, scratch: int, k: int, a: int, b: int, rows: int, columns: int, how: int
) -> int:
    """A tile whose lines go on with those of the last one, or begin. rows, columns: where its offsets are."""
    carry = scratch + load64(job + f.CARRY)
    store64(carry + f.STARTS, 0)
    store64(carry + f.ENDS, 0)
    if how != BY_LINES:
        last_rows, last_columns = load64(carry + f.LAST_ROWS), load64(carry + f.LAST_COLUMNS)
        if load64(carry + f.HOW) != how or not goes_on(job, last_rows, last_columns, rows, columns, how):
            flush(c, carry)
            store64(carry + f.STARTS, 1)
        next_rows = rows + 8 * load64(job + f.TILE_M) if how == BY_ROWS else rows
        next_columns = columns if how == BY_ROWS else columns + 8 * load64(job + f.TILE_N)
        store64(carry + f.ENDS, not goes_on(job, rows, columns, next_rows, next_columns, how))
        store64(carry + f.HOW, how)
        store64(carry + f.LAST_ROWS, rows)
        store64(carry + f.LAST_COLUMNS, columns)
    return stream_tile(k, a, b, c, rows, columns, scalars, how, carry)


def goes_on(job: int, last_rows: int, last_columns: int, rows: int, columns: int, how: int) -> int:
    """1 where a tile begins where another one ends."""
    if how == BY_ROWS:
        height = load64(job + f.TILE_M) * load64(job + f.SIZE)
        return columns == last_columns and load64(rows) == load64(last_rows) + height
    step = innermost(job, f.M_AXES) * load64(job + f.SIZE)
    return rows == last_rows and load64(columns) == load64(last_columns) + load64(job + f.TILE_N) * step


def flush(c: int, carry: int) -> int:
    """Write what is left of lines that do not go on."""
    how = load64(carry + f.HOW)
    if how:
        flush_tile(c, load64(carry + f.LAST_ROWS), load64(carry + f.LAST_COLUMNS), how, carry)
        store64(carry + f.HOW, 0)
    return 0
