"""The words of a job, one contraction as `macro_kernel.multiply` reads it, by their offsets in bytes."""

from __future__ import annotations

# Rows, columns and terms of the sums: of the whole, of a block that is packed at a time, and of a tile.
M, N, K, BLOCK_M, BLOCK_N, BLOCK_K, TILE_M, TILE_N = range(0, 64, 8)
# Rows of a register; bytes of an element; the boundary of vectors where C may be written past the caches, or 0; the
# side that tasks are of, and what one of them has of it.
GROUP, SIZE, STREAMED, SIDE, STEP = range(64, 104, 8)
# Places in scratch: packed blocks, a tile, the offsets of rows, columns and terms, a flag of each tile of rows and of
# columns, and lines of C that are not whole yet (`STARTS` ...).
PANELS_A, PANELS_B, TILE, ROWS_A, ROWS_C, COLUMNS_B, COLUMNS_C, TERMS_A, TERMS_B, FLAGS, ACROSS, CARRY = range(
    104, 200, 8
)
# Batches; the number of axes of each class, and so far behind it their place in the job: extents, and strides in bytes
# in each of their tensors, outermost first.
BATCHES, BATCH_AXES, M_AXES, N_AXES, K_AXES = range(200, 240, 8)
PLACE = 32
# Bytes of scratch, and of a tile in it; the number of tasks; bytes from each tensor's start to where it is walked from;
# whether rows are B's; of rows that are turned as they are packed (`turning`), how many are at a time, 0 = none are,
# beside how many others, which follow each other in A, and how many of each follow each other in C; bytes of the second
# cache beside which its sets begin anew.
SCRATCH, TILE_BYTES, TASKS, SHIFT_A, SHIFT_B, SHIFT_C, SWAPPED, TURN, TURN_HEIGHT, RUN, WAY, AXES = range(272, 368, 8)
AXIS, BATCH_AXIS = 24, 32  # bytes of an axis of two tensors, and of three
MOST_AXES = 64
MOST_PLACES = 1024  # that rows are packed to at a time
MOST_COLUMNS = 8  # of a tile
LINE = 64
PAGE = 4 << 10  # bytes within which processors prefetch by themselves what follows
BEYOND = 56 << 20  # bytes that a last cache of 32 MiB does not keep
MOST_RUNS = 16  # of rows or columns that are packed together
# The words of a carry: whether a tile begins its lines; whether the next one does not go on, with `BROKEN` where a
# column within the tile does not; the offset in C of the run of rows that would go on, -1 = none, and that of its last
# tile. Behind them are lines, those of columns that are not whole yet.
STARTS, ENDS, NEXT, LAST, PARTIAL = 0, 8, 16, 24, 64
BROKEN = 2
CARRY_BYTES = PARTIAL + LINE * MOST_COLUMNS
MOST_HELD = 512  # runs whose last lines wait for the next block
BY_BATCH, BY_ROWS, BY_COLUMNS = range(3)  # sides
# The words of a call: the address of C; how it is written; the scalars of the first block of terms; those of others,
# which add to C.
CALL_C, CALL_WAY, CALL_FIRST, CALL_LATER = 0, 8, 16, 16 + 96
CALL_BYTES = CALL_LATER + 96
PARTS = 64  # the most threads that the side they share is chosen for
MOST_INDICES = 52
JOB_BYTES = AXES + BATCH_AXIS * (MOST_INDICES + 4)  # of which a turn adds some
