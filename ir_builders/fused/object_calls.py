"""Calls of a contraction's object, as functions of integers: the job, memory for packed blocks, a part of the work."""

from __future__ import annotations

from ttc_llvm.lowering.division import edge

from ..words import compare_exchange, load64, local, store64
from . import fields as f
from .calls import ADD, SET, TURNED
from .layout import fit
from .macro_kernel import multiply
from .planning import planned

NO_PRODUCT, BETA_ZERO, BETA_ONE, COMPLEX = 1, 2, 4, 8  # what `scale` finds
SLOTS = 8  # blocks of memory that are kept for later calls
STACK = 16 << 10  # bytes on the stack, where blocks of a tile have room
HEAD = 2 * f.LINE  # bytes in front of a block, with its size and what `allocate` returned


def scale(call: int, scalars: int, swapped: int, is_empty: int) -> int:
    """Write the factors of a call; what is special about alpha and beta. See `scalars.add_scale`."""
    raise NotImplementedError


def stated() -> int:
    """The address of the contraction's words (`planning`)."""
    raise NotImplementedError


def facts() -> int:
    """The address of the machine's words (`planning`)."""
    raise NotImplementedError


def own() -> int:
    """The address of the job for the contraction's own extents and strides."""
    raise NotImplementedError


def pool() -> int:
    """The address of `SLOTS` words: blocks that are not in use."""
    raise NotImplementedError


def allocate(size: int) -> int:
    """Memory of C's `malloc`; 0 where there is none."""
    raise NotImplementedError


def release(block: int) -> int:
    """Give it back."""
    raise NotImplementedError


def contract(
    a: int, b: int, c: int, scalars: int, size: int, strides_a: int, strides_b: int, strides_c: int,
    part: int, parts: int, scratch: int, room: int,
) -> int:  # fmt: skip
    """One part of `C <- alpha A B + beta C`. size, strides: of the call, 0 = the contraction's; scratch, room: memory
    of the caller's, or 0."""
    if part < 0 or part >= parts:
        return 0
    job, call = local(f.JOB_BYTES), local(f.CALL_BYTES)
    if size or strides_a or strides_b or strides_c:
        planned(job, stated(), facts(), size, strides_a, strides_b, strides_c)
    else:
        for word in range(f.JOB_BYTES // 8):
            store64(job + 8 * word, load64(own() + 8 * word))
    if load64(job + f.M) == 0 or load64(job + f.N) == 0 or load64(job + f.BATCHES) == 0:
        return 0
    swapped = load64(job + f.SWAPPED)
    found = scale(call, scalars, swapped, load64(job + f.K) == 0)
    if found & NO_PRODUCT:
        if found & BETA_ONE:
            return 0
        store64(job + f.K, 0)
        store64(job + f.K_AXES, 0)
    way = SET if found & BETA_ZERO else ADD
    store64(call + f.CALL_C, c + load64(job + f.SHIFT_C))
    store64(call + f.CALL_WAY, way | TURNED if found & COMPLEX else way)
    if way != SET:
        store64(job + f.STREAMED, 0)
    tasks = load64(job + f.TASKS)
    begin, end = edge(tasks, part, parts), edge(tasks, part + 1, parts)
    if begin < end:
        left, right = a + load64(job + f.SHIFT_A), b + load64(job + f.SHIFT_B)
        run(right if swapped else left, left if swapped else right, call, job, scratch, room, begin, end)
    return 0


def run(left: int, right: int, call: int, job: int, scratch: int, room: int, begin: int, end: int) -> int:
    """The tasks in the caller's memory, or in a block of the pool; on the stack where they need little, or there is no
    memory."""
    needed, kept, stack = load64(job + f.SCRATCH) + f.LINE, 0, local(STACK)
    if scratch == 0 or room < STACK:
        scratch, room = stack, STACK
        if needed > STACK:
            kept = take(needed)
            scratch, room = kept if kept else stack, needed if kept else STACK
    first = (scratch + f.LINE - 1) // f.LINE * f.LINE
    fit(job, room - (first - scratch))
    multiply(left, right, call, job, first, begin, end)
    return give(kept) if kept else 0


def take(size: int) -> int:
    """A block of so many bytes, on a line; 0 where there is no memory."""
    for number in range(SLOTS):
        slot = pool() + 8 * number
        found = load64(slot)
        if found != 0 and compare_exchange(slot, found, 0):
            if load64(found - 8) >= size:
                return found
            release(load64(found - 16))
            break
    raw = allocate(size + HEAD)
    if raw == 0:
        return 0
    block = (raw + HEAD - 1) // f.LINE * f.LINE
    store64(block - 8, size)
    store64(block - 16, raw)
    return block


def give(block: int) -> int:
    """Keep a block for later calls, if there is room."""
    for number in range(SLOTS):
        slot = pool() + 8 * number
        if load64(slot) == 0 and compare_exchange(slot, 0, block):
            return 0
    return release(load64(block - 16))


def forget() -> int:
    """Release all blocks that are not in use."""
    for number in range(SLOTS):
        slot = pool() + 8 * number
        found = load64(slot)
        if found != 0 and compare_exchange(slot, found, 0):
            release(load64(found - 16))
    return 0
