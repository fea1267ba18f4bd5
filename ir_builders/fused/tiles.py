"""Tiles of a block of C through the caches, as functions of integers."""

from __future__ import annotations

from ttc_llvm.lowering.micro_kernel import piece

from ..words import load64, prefetch
from . import fields as f
from .calls import KEEP, PIECES, SET, TURNED, multiply_part, multiply_tile, scatter_tile
from .rows_of_c import IN_A_ROW, IN_PIECES

CLOSE, MANY = 16 << 10, 64  # bytes of a tile's rows that stay in L1, and times as many of a block's columns in L2


def tiles(job: int, c: int, scalars: int, way: int, scratch: int, m: int, n: int, k: int) -> int:
    """All tiles of a block of C, one column of them after the other, or one row."""
    tile_m, tile_n = load64(job + f.TILE_M), load64(job + f.TILE_N)
    by_rows = are_closer_along_columns(job, scratch, m, n, k)
    outer, inner = (n + tile_n - 1) // tile_n, (m + tile_m - 1) // tile_m
    if by_rows:
        outer, inner = inner, outer
    for i in range(outer):
        for j in range(inner):
            tile(job, c, scalars, way, scratch, m, n, k, i if by_rows else j, j if by_rows else i)
    return 0


def are_closer_along_columns(job: int, scratch: int, m: int, n: int, k: int) -> int:
    """1 where the next columns are closer in C than the next rows, and a tile's rows of A stay in L1 meanwhile."""
    rows, columns, size = load64(job + f.TILE_M), load64(job + f.TILE_N), load64(job + f.SIZE)
    if max(rows * MANY, n) * k * size > MANY * CLOSE:
        return 0
    of_rows, of_columns = scratch + load64(job + f.ROWS_C), scratch + load64(job + f.COLUMNS_C)
    return distance(of_columns, n, columns) < distance(of_rows, m, rows)


def distance(offsets: int, count: int, tile: int) -> int:
    """Bytes from a tile to the next along one side; 0 where there is one tile."""
    found = load64(offsets + 8 * tile) - load64(offsets) if count > tile else 0
    return max(found, -found)


def tile(
    job: int, c: int, scalars: int, way: int, scratch: int, m: int, n: int, k: int, row: int, column: int
) -> int:
    """A tile of a block. One of whole registers whose rows, or those of their pieces, follow each other is written at
    once, others from memory."""
    tile_m, tile_n, size = load64(job + f.TILE_M), load64(job + f.TILE_N), load64(job + f.SIZE)
    left_m, left_n, group = m - row * tile_m, n - column * tile_n, load64(job + f.GROUP)
    rows_c = scratch + load64(job + f.ROWS_C) + 8 * tile_m * row
    of_c = scratch + load64(job + f.COLUMNS_C) + 8 * tile_n * column
    panel_a = scratch + load64(job + f.PANELS_A) + tile_m * k * size * row
    panel_b = scratch + load64(job + f.PANELS_B) + tile_n * k * size * column
    kept, found = scratch + load64(job + f.TILE), load64(scratch + load64(job + f.FLAGS) + 8 * row)
    is_whole = left_n >= tile_n and way < TURNED
    is_direct = is_whole and found & IN_A_ROW
    to, how = c if is_direct else kept, way if is_direct else KEEP
    if is_whole and found & IN_PIECES and way == SET:
        is_direct, to, how = 1, c, SET | PIECES
    if not is_direct and load64(job + f.BATCHES) * load64(job + f.M) * load64(job + f.N) * size > MANY * CLOSE:
        fetch(c, rows_c, of_c, min(tile_m, left_m), min(tile_n, left_n), piece(group), size)
    if left_m > tile_m - group:
        multiply_tile(k, panel_a, panel_b, to, rows_c, of_c, scalars, how)
    else:
        multiply_part((left_m + group - 1) // group, k, panel_a, panel_b, to, rows_c, of_c, scalars, how)
    if not is_direct:
        scatter_tile(kept, c, rows_c, of_c, scalars, way, min(tile_m, left_m), min(tile_n, left_n), found)
    return 0


def fetch(c: int, rows: int, columns: int, m: int, n: int, part: int, size: int) -> int:
    """Prefetch the lines of a tile of C whose rows do not follow each other, or end anywhere: where each piece of a
    register begins, and its last row."""
    for column in range(n):
        place, row = c + load64(columns + 8 * column), 0
        while row < m:
            prefetch(place + load64(rows + 8 * row))
            row += part
        prefetch(place + load64(rows + 8 * (m - 1)))
    return 0
