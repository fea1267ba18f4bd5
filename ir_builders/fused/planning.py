"""Contractions of any extents and strides, planned by native code, as functions of integers: the job of a call."""

from __future__ import annotations

from ttc_llvm.lowering.micro_kernel import SHARED, SOME

from ..words import load64, local, store64
from . import fields as f
from .axes import axis_of, innermost, last_of
from .layout import settle
from .turning import MORE, turn_rows, width

# Words of a stated contraction: how many indices it has; where its tensors are described, each by its rank, the
# number of each axis's index, and each axis's own stride. Then class and own extent of every index.
COUNT, TENSOR_A, TENSOR_B, TENSOR_C, INDICES = range(0, 40, 8)
BATCH, M, N, K = range(4)  # classes
# Words of a machine and data type.
TILE_M, TILE_N, GROUP, SIZE, TILE_BYTES, L1, L2, STREAMS, WAY = range(0, 72, 8)
# Words of an index at work: class, extent, strides in elements.
CLASS, EXTENT, STEP_A, STEP_B, STEP_C, ENTRY = range(0, 48, 8)
LARGE, MANY = 8 << 20, 4  # bytes of C that are written past the caches; tiles of rows that follow each other there


def planned(
    job: int, stated: int, facts: int, size: int, strides_a: int, strides_b: int, strides_c: int
) -> int:
    """The job of a call. size, strides: addresses of 64-bit words, or 0: see the header."""
    table, count = local(f.MOST_INDICES * ENTRY), load64(stated + COUNT)
    for number in range(count):
        index = table + ENTRY * number
        of = stated + INDICES + 16 * number
        store64(index + CLASS, load64(of))
        store64(index + EXTENT, max(0, load64(size + 8 * number) if size else load64(of + 8)))
        for tensor in range(3):
            store64(index + STEP_A + 8 * tensor, 0)
    lay(table, stated + load64(stated + TENSOR_A), STEP_A, size, strides_a)
    lay(table, stated + load64(stated + TENSOR_B), STEP_B, size, strides_b)
    lay(table, stated + load64(stated + TENSOR_C), STEP_C, size, strides_c)
    store64(job + f.SIZE, load64(facts + SIZE))
    turn(job, table, count)
    swapped = has_unit(table, count, N, STEP_C) and not has_unit(table, count, M, STEP_C)
    store64(job + f.SWAPPED, swapped)
    store64(job + f.M, extent(table, count, N if swapped else M))
    store64(job + f.N, extent(table, count, M if swapped else N))
    store64(job + f.K, extent(table, count, K))
    store64(job + f.BATCHES, extent(table, count, BATCH))
    if load64(job + f.M) == 0 or load64(job + f.N) == 0 or load64(job + f.BATCHES) == 0:
        return 0
    store64(job + f.GROUP, load64(facts + GROUP))
    axes(job, table, count, swapped)
    block(job, facts, streamed(job, facts))
    turn_rows(job)
    settle(job)
    return 0


def lay(table: int, tensor: int, step: int, size: int, strides: int) -> int:
    """Note the strides of a tensor's indices: given ones, its own, or those of C order where extents are given."""
    rank, inside = load64(tensor), 1
    axis = rank - 1
    while axis >= 0:
        index = table + ENTRY * load64(tensor + 8 + 8 * axis)
        found = inside
        if strides:
            found = load64(strides + 8 * axis)
        elif size == 0:
            found = load64(tensor + 8 + 8 * rank + 8 * axis)
        store64(index + step, found)
        inside = inside * load64(index + EXTENT)
        axis -= 1
    return 0


def turn(job: int, table: int, count: int) -> int:
    """Walk indices from their end, so that strides of C, and of A along what is summed, are positive."""
    for tensor in range(3):
        store64(job + f.SHIFT_A + 8 * tensor, 0)
    for number in range(count):
        index = table + ENTRY * number
        if load64(index + (STEP_A if load64(index + CLASS) == K else STEP_C)) < 0:
            for tensor in range(3):
                step, shift = load64(index + STEP_A + 8 * tensor), job + f.SHIFT_A + 8 * tensor
                store64(index + STEP_A + 8 * tensor, -step)
                store64(shift, load64(shift) + (load64(index + EXTENT) - 1) * step * load64(job + f.SIZE))
    return 0


def has_unit(table: int, count: int, kind: int, step: int) -> int:
    """1 where elements of a tensor follow each other along an index of this class."""
    for number in range(count):
        index = table + ENTRY * number
        if load64(index + CLASS) == kind and load64(index + EXTENT) > 1 and load64(index + step) == 1:
            return 1
    return 0


def extent(table: int, count: int, kind: int) -> int:
    """The product of the extents of a class."""
    total = 1
    for number in range(count):
        index = table + ENTRY * number
        if load64(index + CLASS) == kind:
            total = total * load64(index + EXTENT)
    return total


def axes(job: int, table: int, count: int, swapped: int) -> int:
    """Write the axes of all classes."""
    left, right = STEP_B if swapped else STEP_A, STEP_A if swapped else STEP_B
    by_left = has_unit(table, count, K, left)
    start = write_axes(job, table, count, BATCH, f.BATCH_AXES, f.AXES, left, right, STEP_C)
    start = write_axes(job, table, count, N if swapped else M, f.M_AXES, start, left, STEP_C, 0) + f.AXIS * MORE
    start = write_axes(job, table, count, M if swapped else N, f.N_AXES, start, right, STEP_C, 0)
    if load64(job + f.K) == 0:
        store64(job + f.K_AXES, 0)
        store64(job + f.K_AXES + f.PLACE, start)
    elif by_left:
        write_axes(job, table, count, K, f.K_AXES, start, right, left, 0)
        exchange(job + start, load64(job + f.K_AXES))
    else:
        write_axes(job, table, count, K, f.K_AXES, start, left, right, 0)
    return 0


def exchange(axis: int, count: int) -> int:
    """Both strides of axes the other way round."""
    for _ in range(count):
        first = load64(axis + 8)
        store64(axis + 8, load64(axis + 16))
        store64(axis + 16, first)
        axis += f.AXIS
    return 0


def write_axes(
    job: int, table: int, count: int, kind: int, field: int, start: int, one: int, two: int, three: int
) -> int:
    """Write the indices of a class, outermost first by the last tensor's strides, those that continue one another as
    one; where the next class begins. one, two, three: the tensors that have it, by their words, or 0."""
    taken, made, width = 0, 0, f.BATCH_AXIS if three else f.AXIS
    last, size = three if three else two, load64(job + f.SIZE)
    number = outermost(table, count, kind, last, one, taken)
    while number >= 0:
        taken = taken | 1 << number
        index, axis = table + ENTRY * number, job + start + width * made
        before, length = axis - width, load64(index + EXTENT)
        continues = made > 0 and continued(before + 8, index + one, length, size)
        continues = continues and continued(before + 16, index + two, length, size)
        if three:
            continues = continues and continued(before + 24, index + three, length, size)
        if continues:
            axis, length = before, length * load64(before)
        else:
            made += 1
        store64(axis, length)
        store64(axis + 8, load64(index + one) * size)
        store64(axis + 16, load64(index + two) * size)
        if three:
            store64(axis + 24, load64(index + three) * size)
        number = outermost(table, count, kind, last, one, taken)
    store64(job + field, made)
    store64(job + field + f.PLACE, start)
    return start + width * made


def outermost(table: int, count: int, kind: int, step: int, other: int, taken: int) -> int:
    """The number of the index of a class with the largest stride, by another tensor's among equal ones; -1 = none."""
    found = -1
    for number in range(count):
        index, best = table + ENTRY * number, table + ENTRY * max(found, 0)
        if load64(index + CLASS) == kind and load64(index + EXTENT) != 1 and (taken >> number) & 1 == 0:
            by, least = load64(index + step), load64(best + step)
            is_outer = by > least or (by == least and load64(index + other) > load64(best + other))
            if found < 0 or is_outer:
                found = number
    return found


def continued(outer: int, inner: int, extent: int, size: int) -> int:
    """1 where a step of an axis, in bytes, goes on where an index ends. Both are addresses of strides."""
    step = load64(inner) * size
    return step > 0 and load64(outer) == step * extent


def streamed(job: int, facts: int) -> int:
    """1 where C is large, and made of whole lines: the rule of `contractions.fused.space`, of single indices."""
    number, others = load64(job + f.M_AXES), load64(job + f.N_AXES)
    if load64(facts + STREAMS) == 0 or number == 0:
        return 0
    size, rows, columns = load64(facts + SIZE), axis_of(job, f.M_AXES, 0), axis_of(job, f.N_AXES, 0)
    inner = last_of(job, f.M_AXES)
    if load64(inner + 16) != size or load64(job + f.M) * load64(job + f.N) * load64(job + f.BATCHES) * size < LARGE:
        return 0
    run, last, even = load64(inner), last_of(job, f.N_AXES), are_even(rows, number - 1)
    if others > 0 and 2 * run == load64(facts + TILE_M) and load64(last + 16) == run * size:
        return even and load64(last) > load64(facts + TILE_N)
    return are_even(columns, others) and (even or run >= MANY * load64(facts + TILE_M))


def are_even(axis: int, count: int) -> int:
    """1 where so many axes step over whole lines of C."""
    for number in range(count):
        if load64(axis + f.AXIS * number + 16) % f.LINE != 0:
            return 0
    return 1


def block(job: int, facts: int, streams: int) -> int:
    """Blocks for the caches, by the rules of `lowering.micro_kernel.blocks`."""
    tile_m, tile_n, size = load64(facts + TILE_M), load64(facts + TILE_N), load64(facts + SIZE)
    m, n, k = load64(job + f.M), load64(job + f.N), max(1, load64(job + f.K))
    third, half = load64(facts + L1) // 3 // (size * tile_n), load64(facts + L1) // 2 // (size * tile_n)
    pieces = max(1, (k + third - 1) // third)
    terms = k if k <= half else (k + pieces - 1) // pieces
    near, run = load64(facts + L1) * 3 // 4 // (size * terms), innermost(job, f.M_AXES)
    turn = width(job)
    is_near = streams and turn == 0 and terms == k and near >= max(SOME * tile_m, run)
    most = near if is_near else load64(facts + L2) // (2 if turn else 4) // (size * terms)
    store64(job + f.TILE_M, tile_m)
    store64(job + f.TILE_N, tile_n)
    store64(job + f.TILE_BYTES, load64(facts + TILE_BYTES))
    store64(job + f.WAY, load64(facts + WAY))
    store64(job + f.STREAMED, load64(facts + GROUP) * size if streams and terms == k else 0)
    store64(job + f.BLOCK_M, min(max(1, most // tile_m), (m + tile_m - 1) // tile_m) * tile_m)
    store64(job + f.BLOCK_N, min(max(1, SHARED // (size * terms) // tile_n), (n + tile_n - 1) // tile_n) * tile_n)
    store64(job + f.BLOCK_K, terms)
    return 0
