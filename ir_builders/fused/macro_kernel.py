"""The loops around the micro-kernel, as functions of integers (see `integer_code`): blocks that fit in the caches are
packed, and multiplied tile by tile."""

from __future__ import annotations

from ttc_llvm.lowering.micro_kernel import piece

from ..words import fence, load64, local, store64
from . import fields as f
from .calls import ADD, KEEP, PIECES, SET, STREAM, TURNED, multiply_part, multiply_tile, scatter_tile
from .packing import pack_block_of_columns, pack_block_of_rows
from .past_caches import IN_A_ROW, IN_HALVES, JOINED, flush, inspect_columns, streamed, way_past

IN_PIECES = 4  # a flag of a tile of rows beside `IN_A_ROW`: those of each piece of a register follow each other in C
APART = 8  # the flag of its first register, and so on: whose rows do not follow each other

CLOSE, MANY = 16 << 10, 64  # bytes of a tile's rows that stay in L1, and times as many of a block's columns in L2


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
    while first < last:
        m = min(load64(job + f.BLOCK_M), last - first)
        tabulate(job, f.M_AXES, first, m, load64(job + f.TILE_M), of_a, of_c)
        inspect_rows(job, scratch, first, m)
        pack_block_of_rows(job, a, scratch, first, m, k)
        tiles(job, c, scalars, way, scratch, m, n, k)
        first += m
    return 0


def tabulate(job: int, axes: int, first: int, count: int, tile: int, one: int, other: int) -> int:
    """The offsets of a class of indices from `first` on in both tensors, the last ones repeated up to a whole tile.

    axes: the field of the class."""
    number = load64(job + axes)
    start = job + load64(job + axes + f.PLACE)
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


def inspect_rows(job: int, scratch: int, first: int, m: int) -> int:
    """Set the flags of each tile of rows from `first` on. The last one may have whole registers only.

    Rows of the innermost axis follow each other in C where it is that one's: only its ends are looked at."""
    tile, size, group = load64(job + f.TILE_M), load64(job + f.SIZE), load64(job + f.GROUP)
    part, flags, run = piece(group), scratch + load64(job + f.FLAGS), run_in_c(job)
    of_c, edge = scratch + load64(job + f.ROWS_C), run - first % run
    for number in range((m + tile - 1) // tile):
        start = number * tile
        count, found, are_apart, are_cut, in_middle = min(tile, m - start), 0, 0, 0, 1
        while edge < start + count:
            row, step = edge - start, load64(of_c + 8 * edge) - load64(of_c + 8 * edge - 8)
            if row > 0 and step != size:
                found |= APART << row // group if row % group else 0
                are_apart, are_cut = 1, are_cut | row % part
                in_middle &= 2 * row == tile
            edge += run
        if found == 0 and are_apart == 0 and count % group == 0:
            found = IN_A_ROW
        elif are_cut == 0 and count % group == 0:
            found |= IN_PIECES
        if found & IN_PIECES and count == tile and in_middle:
            half = load64(of_c + 8 * (start + tile // 2)) - load64(of_c + 8 * start)
            found |= IN_HALVES if half % f.LINE == 0 else 0
        store64(flags + 8 * number, found)
    return 0


def run_in_c(job: int) -> int:
    """So many rows of the innermost axis follow each other in C, 1 = it is another tensor's."""
    number = load64(job + f.M_AXES)
    last = job + load64(job + f.M_AXES + f.PLACE) + f.AXIS * (number - 1)
    return load64(last) if number > 0 and load64(last + 16) == load64(job + f.SIZE) else 1


def tiles(job: int, c: int, scalars: int, way: int, scratch: int, m: int, n: int, k: int) -> int:
    """All tiles of a block of C, one column of them after the other, or one row."""
    tile_m, tile_n, carry = load64(job + f.TILE_M), load64(job + f.TILE_N), scratch + load64(job + f.CARRY)
    by_rows = are_closer_along_columns(job, scratch, m, n, k)
    if way == STREAM:
        by_rows = load64(scratch + load64(job + f.ACROSS)) & JOINED
        store64(carry + f.HOW, 0)
    outer, inner = (n + tile_n - 1) // tile_n, (m + tile_m - 1) // tile_m
    if by_rows:
        outer, inner = inner, outer
    for i in range(outer):
        for j in range(inner):
            tile(job, c, scalars, way, scratch, m, n, k, i if by_rows else j, j if by_rows else i)
    return flush(c, carry) if way == STREAM else 0


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
    plain = SET if way == STREAM else way
    is_whole = left_n >= tile_n and way < TURNED
    if way == STREAM and is_whole and left_m >= tile_m:
        across = load64(scratch + load64(job + f.ACROSS) + 8 * column)
        past = way_past(c + load64(rows_c) + load64(of_c), found, across)
        if past:
            return streamed(job, c, scalars, scratch, k, panel_a, panel_b, rows_c, of_c, past)
    is_direct = is_whole and found & IN_A_ROW
    to, how = c if is_direct else kept, plain if is_direct else KEEP
    if is_whole and found & IN_PIECES and plain == SET:
        is_direct, to, how = 1, c, SET | PIECES
    if left_m > tile_m - group:
        multiply_tile(k, panel_a, panel_b, to, rows_c, of_c, scalars, how)
    else:
        multiply_part((left_m + group - 1) // group, k, panel_a, panel_b, to, rows_c, of_c, scalars, how)
    if not is_direct:
        scatter_tile(kept, c, rows_c, of_c, scalars, plain, min(tile_m, left_m), min(tile_n, left_n), found)
    return 0
