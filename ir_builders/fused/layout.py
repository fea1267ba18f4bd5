"""Places in scratch and tasks, from the sizes of a job and its blocks, as functions of integers."""

from __future__ import annotations

from ..words import load64, store64
from . import fields as f
from .axes import last_of

FEW = 64  # columns, beside which packing rows takes long
PACKED, PICKED = 14, 60  # products that take as long as an element that is packed with its neighbours, or by itself
MANY = 32  # turns that threads share well


def settle(job: int) -> int:
    """Lay out scratch, and say which side threads share: the one whose longest part is the shortest."""
    place(job)
    m, n, batches = load64(job + f.M), load64(job + f.N), load64(job + f.BATCHES)
    step_m, step_n = step_of_rows(job), load64(job + f.TILE_N)
    rows, columns = (m + step_m - 1) // step_m, (n + step_n - 1) // step_n
    of_a, of_b = packed(job, f.M_AXES, 8), packed(job, f.N_AXES, 16)
    by_batch = longest(batches, m * n + of_a * m + of_b * n, 0)
    by_rows = longest(rows, batches * step_m * (n + of_a), batches * of_b * n)
    by_columns = longest(columns, batches * step_n * (m + of_b), batches * of_a * m)
    if by_batch <= min(by_rows, by_columns):
        return divide(job, f.BY_BATCH, 1, batches)
    if by_rows <= by_columns:
        return divide(job, f.BY_ROWS, step_m, rows)
    return divide(job, f.BY_COLUMNS, step_n, columns)


def longest(tasks: int, each: int, besides: int) -> int:
    """The time of the longest part, summed up for two parts, for four and so on. each: of a task; besides: of what
    every part does."""
    total, parts = 0, 2
    while parts <= f.PARTS:
        total += (tasks + parts - 1) // parts * each + besides
        parts = 2 * parts
    return total


def packed(job: int, axes: int, word: int) -> int:
    """The time of an element of A or B to be packed. word: of its stride along terms."""
    return PACKED if follow(job, axes, 8) or follow(job, f.K_AXES, word) else PICKED


def follow(job: int, axes: int, word: int) -> int:
    """1 where elements of a tensor follow each other along the last index of a class. word: of its stride."""
    return load64(job + axes) == 0 or load64(last_of(job, axes) + word) == load64(job + f.SIZE)


def step_of_rows(job: int) -> int:
    """Rows of a task: a tile, or whole turns where these are many, as a part of one is packed the slow way."""
    tile, turned = load64(job + f.TILE_M), load64(job + f.TURN_HEIGHT) * load64(job + f.RUN)
    if turned == 0 or turned % tile != 0 or load64(job + f.M) < MANY * turned:
        return tile
    return turned


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
    store64(job + f.SCRATCH, put(job + f.CARRY, end, f.CARRY_BYTES * (1 + held(job))))
    return 0


def held(job: int) -> int:
    """The number of runs of C, a tile of rows and columns each, whose last lines may wait for the next block."""
    m, tiles = load64(job + f.BLOCK_M), load64(job + f.BLOCK_N) // load64(job + f.TILE_N)
    if load64(job + f.STREAMED) == 0 or load64(job + f.M) <= m:
        return 0
    return min(m // load64(job + f.TILE_M) * tiles, f.MOST_HELD)


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
