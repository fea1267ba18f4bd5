"""Places in scratch and tasks, from the sizes of a job and its blocks, as functions of integers."""

from __future__ import annotations

from ..words import load64, store64
from . import fields as f

FEW = 64  # columns, beside which packing rows takes long


def settle(job: int) -> int:
    """Lay out scratch, and say which side threads share."""
    place(job)
    rows = (load64(job + f.M) + load64(job + f.TILE_M) - 1) // load64(job + f.TILE_M)
    columns = (load64(job + f.N) + load64(job + f.TILE_N) - 1) // load64(job + f.TILE_N)
    batches = load64(job + f.BATCHES)
    if batches >= f.PARTS or batches > max(rows, columns):
        return divide(job, f.BY_BATCH, 1, batches)
    if load64(job + f.M) >= load64(job + f.N):
        return divide(job, f.BY_ROWS, load64(job + f.TILE_M), rows)
    return divide(job, f.BY_COLUMNS, load64(job + f.TILE_N), columns)


def divide(job: int, side: int, step: int, tasks: int) -> int:
    """Threads share this side, in tasks of so much."""
    store64(job + f.SIDE, side)
    store64(job + f.STEP, step)
    store64(job + f.TASKS, tasks)
    return 0


def place(job: int) -> int:
    """Places of packed blocks, a tile and tables, by the order of `PANELS_A` to `CARRY`, and the bytes of all."""
    m, n, k = load64(job + f.BLOCK_M), load64(job + f.BLOCK_N), load64(job + f.BLOCK_K)
    size = load64(job + f.SIZE)
    end = put(job + f.PANELS_A, 0, m * k * size)
    end = put(job + f.PANELS_B, end, n * k * size)
    end = put(job + f.TILE, end, load64(job + f.TILE_BYTES))
    end = put(job + f.ROWS_A, end, 8 * m)
    end = put(job + f.ROWS_C, end, 8 * m)
    end = put(job + f.COLUMNS_B, end, 8 * n)
    end = put(job + f.COLUMNS_C, end, 8 * n)
    end = put(job + f.TERMS_A, end, 8 * k)
    end = put(job + f.TERMS_B, end, 8 * k)
    end = put(job + f.FLAGS, end, 8 * (m // load64(job + f.TILE_M)))
    end = put(job + f.ACROSS, end, 8 * (n // load64(job + f.TILE_N)))
    store64(job + f.SCRATCH, put(job + f.CARRY, end, f.PARTIAL + f.LINE * f.MOST_COLUMNS))
    return 0


def put(word: int, end: int, size: int) -> int:
    """Note a place; the end of it, a line behind, so that the next one is in other sets of the caches."""
    store64(word, end)
    return end + (size + f.LINE - 1) // f.LINE * f.LINE + f.LINE


def fit(job: int, room: int) -> int:
    """Halve blocks until scratch takes no more than so many bytes, which hold a tile at least."""
    tile_m, tile_n = load64(job + f.TILE_M), load64(job + f.TILE_N)
    while load64(job + f.SCRATCH) > room:
        m, n, k = load64(job + f.BLOCK_M), load64(job + f.BLOCK_N), load64(job + f.BLOCK_K)
        if n > tile_n and (n >= m or m <= tile_m):
            store64(job + f.BLOCK_N, (n // 2 + tile_n - 1) // tile_n * tile_n)
        elif m > tile_m:
            store64(job + f.BLOCK_M, (m // 2 + tile_m - 1) // tile_m * tile_m)
        elif k > 1:
            store64(job + f.BLOCK_K, (k + 1) // 2)
        else:
            break
        place(job)
    return 0
