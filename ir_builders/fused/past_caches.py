"""Tiles of C past the caches: which ones, and where they go on from others, as functions of integers."""

from __future__ import annotations

from ..words import load64, store64
from . import fields as f
from .axes import innermost
from .calls import BY_COLUMNS, BY_HALVES, BY_LINES, BY_ROWS, SET, flush_tile, stream_tile
from .layout import held
from .packing import fetch_turns
from .rows_of_c import IN_A_ROW, IN_HALVES
from .tiles import tile

EVEN, JOINED, BROKEN = 1, 2, 4
"""Of a tile of columns: whole lines from one to each other; each where the run of rows before ends; but for one of
them, which begins elsewhere."""


def inspect_columns(job: int, scratch: int, n: int) -> int:
    """Set the flags of each tile of columns."""
    if load64(job + f.STREAMED) == 0:
        return 0
    tile, run, of_c = load64(job + f.TILE_N), innermost(job, f.M_AXES), scratch + load64(job + f.COLUMNS_C)
    lines = load64(job + f.TILE_M) * load64(job + f.SIZE)
    step = run * load64(job + f.SIZE) if run == load64(job + f.TILE_M) or 2 * run == load64(job + f.TILE_M) else 0
    for number in range(n // tile):
        found, places = EVEN | JOINED if step else EVEN, of_c + 8 * tile * number
        for k in range(1, tile):
            is_apart = load64(places + 8 * k) - load64(places + 8 * k - 8) != step
            is_even = (load64(places + 8 * k) - load64(places)) % f.LINE == 0
            if is_apart and (found & JOINED == 0 or found & BROKEN or not is_even or k * step % lines != 0):
                found &= EVEN
            elif is_apart:
                found |= BROKEN
            if not is_even:
                found &= JOINED | BROKEN
        store64(scratch + load64(job + f.ACROSS) + 8 * number, found)
    return 0


def way_past(place: int, rows: int, columns: int) -> int:
    """The way to write a tile, by its address and flags; 0 = through the caches."""
    if rows & IN_A_ROW and columns & EVEN and place % f.LINE == 0:
        return BY_LINES
    if columns & JOINED:
        return BY_COLUMNS if rows & IN_A_ROW else BY_HALVES if rows & IN_HALVES else 0
    return BY_ROWS if rows & IN_A_ROW and columns & EVEN else 0


def stream_tiles(
    job: int, a: int, c: int, scalars: int, scratch: int, m: int, n: int, k: int, turns: int
) -> int:
    """All tiles of a block of C, one column of them after the other, or one row where lines go on along it; between
    them what so many turns of the next block read is prefetched. What stands here instead of in functions of its own
    takes a tenth of the time of short sums less."""
    tile_m, tile_n, size = load64(job + f.TILE_M), load64(job + f.TILE_N), load64(job + f.SIZE)
    panels_a, panels_b = scratch + load64(job + f.PANELS_A), scratch + load64(job + f.PANELS_B)
    of_rows, of_columns = scratch + load64(job + f.ROWS_C), scratch + load64(job + f.COLUMNS_C)
    flags, across = scratch + load64(job + f.FLAGS), scratch + load64(job + f.ACROSS)
    first, by_rows, most = scratch + load64(job + f.CARRY), (load64(across) & JOINED) != 0, held(job)
    outer, inner, step = (n + tile_n - 1) // tile_n, (m + tile_m - 1) // tile_m, size
    if by_rows:
        outer, inner, step = inner, outer, innermost(job, f.M_AXES) * size
    carry, goes_on, last, last_rows, last_columns, fetched = first, 0, 0, 0, 0, 0
    to_fetch = turns * load64(job + f.RUN) * k
    share = (to_fetch + outer * inner - 1) // (outer * inner)
    for i in range(outer):
        for j in range(inner):
            row, column, how = i if by_rows else j, j if by_rows else i, 0
            rows, columns = of_rows + 8 * tile_m * row, of_columns + 8 * tile_n * column
            if (row + 1) * tile_m <= m and (column + 1) * tile_n <= n:
                place = c + load64(rows) + load64(columns)
                how = way_past(place, load64(flags + 8 * row), load64(across + 8 * column))
            if how == 0:
                tile(job, c, scalars, SET, scratch, m, n, k, row, column)
            if how <= BY_LINES:
                goes_on = 0
            else:
                starts = goes_on == 0 or how != last
                if starts:
                    if last:
                        flush_tile(c, last_rows, last_columns, last, carry)
                    number = i * (load64(job + f.BLOCK_M) // tile_m) + j
                    is_held = how == BY_ROWS and by_rows == 0 and number < most
                    carry = first + f.CARRY_BYTES * (1 + number) if is_held else first
                    starts = begins(c, rows, columns, carry) != 0
                following = columns + 8 * tile_n if by_rows else rows + 8 * tile_m
                ends_at = load64(following - 8) + step
                goes_on = (how == BY_ROWS) != by_rows and j + 1 < inner and load64(following) == ends_at
                last, last_rows, last_columns = how, rows, columns
                store64(carry + f.STARTS, starts)
                is_broken = how != BY_ROWS and (load64(across + 8 * column) & BROKEN) != 0
                store64(carry + f.ENDS, (goes_on == 0 and carry == first) + f.BROKEN * is_broken)
                if goes_on == 0 and carry != first:
                    store64(carry + f.LAST, load64(rows))
                    store64(carry + f.NEXT, ends_at)
                    last = 0
            if how:
                of_a, of_b = panels_a + tile_m * size * k * row, panels_b + tile_n * size * k * column
                stream_tile(k, of_a, of_b, c, rows, columns, scalars, how, carry)
            if fetched < to_fetch:
                fetch_turns(job, a, scratch, fetched, min(fetched + share, to_fetch), k)
                fetched += share
    return flush_tile(c, last_rows, last_columns, last, carry) if last else 0


def hold_none(job: int, scratch: int) -> int:
    """No run's last lines wait."""
    for number in range(1 + held(job)):
        store64(scratch + load64(job + f.CARRY) + f.CARRY_BYTES * number + f.NEXT, -1)
    return 0


def begins(c: int, rows: int, columns: int, carry: int) -> int:
    """0 where the run that waits goes on at these rows, which takes its last lines; else they are written."""
    waits, is_other = load64(carry + f.NEXT) >= 0, load64(carry + f.NEXT) != load64(rows)
    if waits and is_other:
        flush_tile(c, carry + f.LAST, columns, BY_ROWS, carry)
    store64(carry + f.NEXT, -1)
    return is_other


def flush_held(job: int, c: int, scratch: int) -> int:
    """Write the last lines of all runs that no other one went on from."""
    tiles, columns = load64(job + f.BLOCK_M) // load64(job + f.TILE_M), scratch + load64(job + f.COLUMNS_C)
    for number in range(held(job)):
        carry = scratch + load64(job + f.CARRY) + f.CARRY_BYTES * (1 + number)
        if load64(carry + f.NEXT) >= 0:
            flush_tile(c, carry + f.LAST, columns + 8 * load64(job + f.TILE_N) * (number // tiles), BY_ROWS, carry)
    return 0
