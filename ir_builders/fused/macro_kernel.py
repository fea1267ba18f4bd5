"""The loops around the micro-kernel, as functions of integers (see `integer_code`): blocks that fit in the caches are
packed, and multiplied tile by tile."""

from __future__ import annotations

from ..words import fence, load64, local, store64
from . import fields as f
from .axes import axis_of, last_of
from .calls import ADD, SET, STREAM, TURNED
from .packing import pack_block_of_columns, pack_block_of_rows
from .past_caches import flush_held, hold_none, inspect_columns, stream_tiles
from .rows_of_c import inspect_rows
from .tiles import tiles
from .turning import crowd

SOME = 4  # lines of a run, of whose first and last one other blocks read the rest
MOST = 64  # lines of a set of the second cache that wait for the next block


def multiply(a: int, b: int, call: int, job: int, scratch: int, begin: int, end: int) -> int:
    """`C <- alpha A B + beta C` in the tasks from begin to end: batches, or rows or columns of all batches."""
    by_batch = load64(job + f.SIDE) == f.BY_BATCH
    for batch in range(begin if by_batch else 0, end if by_batch else load64(job + f.BATCHES)):
        rest, of_a, of_b, of_c = batch, a, b, load64(call + f.CALL_C)
        axis = job + load64(job + f.BATCH_AXES + f.PLACE) + f.BATCH_AXIS * load64(job + f.BATCH_AXES)
        for _ in range(load64(job + f.BATCH_AXES)):
            axis -= f.BATCH_AXIS
            at = rest % load64(axis)
            rest = rest // load64(axis)
            of_a += at * load64(axis + 8)
            of_b += at * load64(axis + 16)
            of_c += at * load64(axis + 24)
        columns(of_a, of_b, of_c, call, job, scratch, begin, end)
    return fence(0) if load64(job + f.STREAMED) else 0


def columns(a: int, b: int, c: int, call: int, job: int, scratch: int, begin: int, end: int) -> int:
    """One batch, by blocks of columns and of terms. The first block of terms sets or scales C, also where
    there are none; others add to it."""
    is_divided, step = load64(job + f.SIDE) == f.BY_COLUMNS, load64(job + f.STEP)
    first = begin * step if is_divided else 0
    last = min(end * step, load64(job + f.N)) if is_divided else load64(job + f.N)
    of_b, of_c = scratch + load64(job + f.COLUMNS_B), scratch + load64(job + f.COLUMNS_C)
    terms_a, terms_b = scratch + load64(job + f.TERMS_A), scratch + load64(job + f.TERMS_B)
    while first < last:
        n = min(load64(job + f.BLOCK_N), last - first)
        tabulate(job, f.N_AXES, first, n, load64(job + f.TILE_N), of_b, of_c)
        inspect_columns(job, scratch, n)
        term, scalars, way = 0, call + f.CALL_FIRST, load64(call + f.CALL_WAY)
        if way == SET and load64(job + f.STREAMED) and load64(job + f.K) <= load64(job + f.BLOCK_K):
            way = STREAM
        is_first = 1
        while is_first or term < load64(job + f.K):
            k = min(load64(job + f.BLOCK_K), load64(job + f.K) - term)
            tabulate(job, f.K_AXES, term, k, 1, terms_a, terms_b)
            store64(terms_a + 8 * k, load64(terms_a + 8 * max(0, k - 1)))  # for prefetches
            pack_block_of_columns(job, b, scratch, first, n, k)
            rows(job, a, c, scalars, way, scratch, begin, end, n, k)
            term, scalars, way, is_first = term + k, call + f.CALL_LATER, ADD | way & TURNED, 0
        first += n
    return 0


def rows(
    job: int, a: int, c: int, scalars: int, way: int, scratch: int, begin: int, end: int, n: int, k: int
) -> int:
    """The packed columns multiplied with all rows, by blocks."""
    is_divided, step = load64(job + f.SIDE) == f.BY_ROWS, load64(job + f.STEP)
    first = begin * step if is_divided else 0
    last = min(end * step, load64(job + f.M)) if is_divided else load64(job + f.M)
    of_a, of_c = scratch + load64(job + f.ROWS_A), scratch + load64(job + f.ROWS_C)
    if way == STREAM:
        hold_none(job, scratch)
    while first < last:
        m = min(load64(job + f.BLOCK_M), last - first)
        tabulate(job, f.M_AXES, first, m, load64(job + f.TILE_M), of_a, of_c)
        inspect_rows(job, scratch, first, m)
        pack_block_of_rows(job, a, scratch, first, m, k)
        if way == STREAM:
            turns = next_turns(job, scratch, first + m, min(load64(job + f.BLOCK_M), last - first - m))
            stream_tiles(job, a, c, scalars, scratch, m, n, k, turns)
        else:
            tiles(job, c, scalars, way, scratch, m, n, k)
        first += m
    return flush_held(job, c, scratch) if way == STREAM else 0


def next_turns(job: int, scratch: int, first: int, m: int) -> int:
    """The number of whole turns that the next m rows begin with, where they are to be prefetched; the places of the
    rows of each that go on in A are noted instead of those that are packed."""
    run, of_a, turns = load64(job + f.RUN), scratch + load64(job + f.ROWS_A), 0
    turned = load64(job + f.TURN_HEIGHT) * run
    if turned == 0 or first % max(turned, 1) != 0 or not are_far(job) or crowd(job, run, load64(job + f.K)) > MOST:
        return 0
    while (turns + 1) * turned <= m:
        start = of_a + 8 * run * turns
        tabulate(job, f.M_AXES, first + turned * turns, run, 1, start, start + 8)  # the next ones lie on those of C
        turns += 1
    return turns


def are_far(job: int) -> int:
    """1 where rows that are turned lie in runs of some lines, pages apart, and A and C in no cache."""
    m, n, k, size = load64(job + f.M), load64(job + f.N), load64(job + f.K), load64(job + f.SIZE)
    if load64(job + f.TURN_HEIGHT) * size < SOME * f.LINE or load64(job + f.BATCHES) * m * (n + k) * size < f.BEYOND:
        return 0
    last, of_terms = last_of(job, f.M_AXES), last_of(job, f.K_AXES)
    return load64(job + f.K_AXES) > 0 and min(load64(of_terms + 8), load64(last + 8)) >= f.PAGE


def tabulate(job: int, axes: int, first: int, count: int, tile: int, one: int, other: int) -> int:
    """The offsets of a class of indices from `first` on in both tensors, the last ones repeated up to a whole tile.

    axes: the field of the class."""
    number = load64(job + axes)
    start = axis_of(job, axes, 0)
    places = local(8 * f.MOST_AXES)
    rest, x, y, level = first, 0, 0, number - 1
    while level >= 0:
        axis = start + f.AXIS * level
        at = rest % load64(axis)
        rest = rest // load64(axis)
        store64(places + 8 * level, at)
        x += at * load64(axis + 8)
        y += at * load64(axis + 16)
        level -= 1
    extent, step_x, step_y, at, k = count, 0, 0, 0, 0
    if number > 0:
        inner = start + f.AXIS * (number - 1)
        extent, step_x, step_y = load64(inner), load64(inner + 8), load64(inner + 16)
        at = load64(places + 8 * (number - 1))
    while k < count:
        end = min(k + extent - at, count)
        while k < end:
            store64(one + 8 * k, x)
            store64(other + 8 * k, y)
            x, y, k = x + step_x, y + step_y, k + 1
        x, y, at = x - step_x * extent, y - step_y * extent, 0
        level = number - 2 if k < count else -1
        while level >= 0:
            axis = start + f.AXIS * level
            outer = load64(places + 8 * level) + 1
            x += load64(axis + 8)
            y += load64(axis + 16)
            store64(places + 8 * level, outer)
            if outer < load64(axis):
                break
            store64(places + 8 * level, 0)
            x -= load64(axis + 8) * outer
            y -= load64(axis + 16) * outer
            level -= 1
    for k in range(count, (count + tile - 1) // tile * tile):
        store64(one + 8 * k, load64(one + 8 * (count - 1)))
        store64(other + 8 * k, load64(other + 8 * (count - 1)))
    return 0
