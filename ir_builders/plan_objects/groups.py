"""The functions of groups of blocks, each with a plan, for `integer_code`: create, check, execute and destroy them.

Blocks are refused where they are known to share memory. What is known are bytes: all of a tensor without gaps, else
those of its first element.
"""

from __future__ import annotations

from ttc_llvm.lowering.division import edge

from ..words import call, load64, local, store64
from . import execution
from . import fields as f


def create_group(library: int, out: int, count: int, plans: int, threads: int) -> int:
    """Write the address of a new group of blocks with these plans to `out`; OK, or what is wrong, and then NULL is
    written."""
    if out == 0:
        return f.NULL
    store64(out, 0)
    if count < 0 or count > f.MOST_BLOCKS:
        return f.COUNT
    if threads < 1 or threads > f.MOST_THREADS:
        return f.THREADS
    status = _refused_plans(plans, count)
    if status != f.OK:
        return status
    group = call(load64(library + f.ALLOCATE), f.GROUP_BLOCKS + f.BLOCK_BYTES * count)
    if group == 0:
        return f.MEMORY
    shared, total = 0, 0
    for k in range(count):
        plan, block = load64(plans + 8 * k), group + f.GROUP_BLOCKS + f.BLOCK_BYTES * k
        weight = load64(plan + f.WEIGHT)
        total += weight
        if weight < f.DIVIDED_BYTES:
            shared += weight
        store64(block + f.PLAN, plan)
        store64(block + f.END, shared)
    store64(group + f.GROUP_COUNT, count)
    store64(group + f.GROUP_ARITHMETIC, load64(load64(plans) + f.PLAN_ARITHMETIC) if count else 0)
    store64(group + f.GROUP_PARTS, max(1, min(threads, total // f.BYTES_PER_PART)))
    store64(group + f.GROUP_BYTES, shared)
    store64(out, group)
    return f.OK


def _refused_plans(plans: int, count: int) -> int:
    """What is wrong with the plans, or OK."""
    if plans == 0 and count:
        return f.NULL
    for k in range(count):
        if load64(plans + 8 * k) == 0:
            return f.NULL
        if load64(load64(plans + 8 * k) + f.PLAN_ARITHMETIC) != load64(load64(plans) + f.PLAN_ARITHMETIC):
            return f.MIXED
    return f.OK


def destroy_group(library: int, group: int) -> None:
    """Free a group."""
    if group:
        call(load64(library + f.FREE), group)


def group_parts(library: int, group: int) -> int:
    """The number of parts that pay, 0 where there is no group."""
    return load64(group + f.GROUP_PARTS) if group else 0


def execute_group(
    library: int, group: int, a: int, b: int, alpha: int, beta: int, part: int, parts_in_all: int
) -> int:
    """Run one of several parts of a group; OK, or what is wrong, and then nothing is run. a, b: lists of addresses."""
    if part < 0 or part >= parts_in_all:
        return f.PART
    status = check_group(library, group, a, b, alpha, beta, 0)
    if status != f.OK:
        return status
    arithmetic, scalars, before = load64(group + f.GROUP_ARITHMETIC), local(execution.SCALARS_BYTES), 0
    kind = execution.kind_of(arithmetic, alpha, beta)
    execution.write_scalars(arithmetic, alpha, beta, scalars)
    total = load64(group + f.GROUP_BYTES)
    first, last = edge(total, part, parts_in_all), edge(total, part + 1, parts_in_all)
    for k in range(load64(group + f.GROUP_COUNT)):
        block = group + f.GROUP_BLOCKS + f.BLOCK_BYTES * k
        plan, end = load64(block + f.PLAN), load64(block + f.END)
        if load64(plan + f.WEIGHT) >= f.DIVIDED_BYTES:
            of, to = _address(a, k), load64(b + 8 * k)
            execution.run(plan, kind, of, to, alpha, beta, scalars, part, parts_in_all)
        elif before >= first and before < last and end > before:
            execution.run(plan, kind, _address(a, k), load64(b + 8 * k), alpha, beta, scalars, 0, 1)
        before = end
    return f.OK


def _address(list_of: int, k: int) -> int:
    """An address of a list, 0 where there is no list."""
    return load64(list_of + 8 * k) if list_of else 0


# --- the check ------------------------------------------------------------------------------------------


def check_group(library: int, group: int, a: int, b: int, alpha: int, beta: int, wrong: int) -> int:
    """The code of what is wrong with a call, or OK. wrong: where the number of the block is written that it is wrong
    with, or -1; 0 = nowhere."""
    if wrong:
        store64(wrong, -1)
    if group == 0:
        return f.NULL
    arithmetic = load64(group + f.GROUP_ARITHMETIC)
    if arithmetic == f.NO_SCALARS and (alpha or beta):
        return f.SCALARS
    reads = execution.kind_of(arithmetic, alpha, beta) < f.ZERO
    if load64(group + f.GROUP_COUNT) and (b == 0 or (a == 0 and reads)):
        return f.NULL
    found = local(16)
    status = _refused_blocks(library, group, a, b, reads, found)
    if wrong and status != f.OK and status != f.MEMORY:
        store64(wrong, load64(found))
    return status


def _refused_blocks(library: int, group: int, a: int, b: int, reads: int, found: int) -> int:
    """What is wrong with the blocks, or OK; to `found` the number of one is written."""
    low_a, end_a, low_b, end_b, ascending, count = f.LARGEST, -f.LARGEST, f.LARGEST, -f.LARGEST, 1, 0
    for k in range(load64(group + f.GROUP_COUNT)):
        plan = load64(group + f.GROUP_BLOCKS + f.BLOCK_BYTES * k + f.PLAN)
        if load64(plan + f.EMPTY) == 0:
            of, to = _address(a, k), load64(b + 8 * k)
            status = execution.refusal(plan, of, to, reads)
            store64(found, k)
            if status != f.OK:
                return status
            ascending = ascending and to + load64(plan + f.SURE_B) >= end_b
            low_b = min(low_b, to + load64(plan + f.SURE_B))
            end_b = max(end_b, to + load64(plan + f.SURE_B + 8))
            low_a, end_a = min(low_a, of + load64(plan + f.SURE_A)), max(end_a, of + load64(plan + f.SURE_A + 8))
            count += 1
    apart = reads == 0 or end_a <= low_b or end_b <= low_a
    if ascending and apart:
        return f.OK
    return _compared(library, group, 0 if apart else a, b, count, found)


def _compared(library: int, group: int, a: int, b: int, count: int, found: int) -> int:
    """SHARED where blocks of B share memory, or blocks of A with them; else OK, or MEMORY. a: 0 = they need not be
    looked at; count: blocks that are not empty."""
    near = local(2 * f.NEAR_PAIRS * f.PAIR_BYTES)
    pairs = near if count <= f.NEAR_PAIRS else call(load64(library + f.ALLOCATE), 2 * count * f.PAIR_BYTES)
    if pairs == 0:
        return f.MEMORY
    at = pairs
    for k in range(load64(group + f.GROUP_COUNT)):
        plan = load64(group + f.GROUP_BLOCKS + f.BLOCK_BYTES * k + f.PLAN)
        if load64(plan + f.EMPTY) == 0:
            store64(at, load64(b + 8 * k) + load64(plan + f.SURE_B))
            store64(at + 8, k)
            at += f.PAIR_BYTES
    sorted_pairs = _sorted(pairs, pairs + count * f.PAIR_BYTES, count)
    status = _neighbours(group, b, sorted_pairs, count, found)
    if status == f.OK and a:
        status = _read_and_written(group, a, b, sorted_pairs, count, found)
    if pairs != near:
        call(load64(library + f.FREE), pairs)
    return status


def _sorted(pairs: int, spare: int, count: int) -> int:
    """The address of the pairs by their first words: `pairs` or `spare`, which is as long."""
    width = 1
    while width < count:
        first = 0
        while first < count:
            middle, last = min(first + width, count), min(first + 2 * width, count)
            _merge(pairs, spare, first, middle, last)
            first = last
        pairs, spare, width = spare, pairs, 2 * width
    return pairs


def _merge(pairs: int, to: int, first: int, middle: int, last: int) -> None:
    """Write two sorted runs as one."""
    left, right = first, middle
    for at in range(first, last):
        takes_left = left < middle
        if left < middle and right < last:
            takes_left = load64(pairs + f.PAIR_BYTES * left) <= load64(pairs + f.PAIR_BYTES * right)
        pair = pairs + f.PAIR_BYTES * (left if takes_left else right)
        store64(to + f.PAIR_BYTES * at, load64(pair))
        store64(to + f.PAIR_BYTES * at + 8, load64(pair + 8))
        left, right = left + takes_left, right + 1 - takes_left


def _end(group: int, b: int, pair: int) -> int:
    """The end of what is certainly written of a pair's block."""
    k = load64(pair + 8)
    return load64(b + 8 * k) + load64(load64(group + f.GROUP_BLOCKS + f.BLOCK_BYTES * k + f.PLAN) + f.SURE_B + 8)


def _neighbours(group: int, b: int, pairs: int, count: int, found: int) -> int:
    for at in range(1, count):
        pair = pairs + f.PAIR_BYTES * at
        if load64(pair) < _end(group, b, pair - f.PAIR_BYTES):
            store64(found, max(load64(pair + 8), load64(pair - f.PAIR_BYTES + 8)))
            return f.SHARED
    return f.OK


def _read_and_written(group: int, a: int, b: int, pairs: int, count: int, found: int) -> int:
    for k in range(load64(group + f.GROUP_COUNT)):
        plan = load64(group + f.GROUP_BLOCKS + f.BLOCK_BYTES * k + f.PLAN)
        low, end = load64(a + 8 * k) + load64(plan + f.SURE_A), load64(a + 8 * k) + load64(plan + f.SURE_A + 8)
        first, last = 0, count  # the pairs before `first` begin before `end`, those from `last` on do not
        while first < last:
            middle = (first + last) // 2
            if load64(pairs + f.PAIR_BYTES * middle) < end:
                first = middle + 1
            else:
                last = middle
        is_block = load64(plan + f.EMPTY) == 0 and first > 0
        if is_block and _end(group, b, pairs + f.PAIR_BYTES * max(0, first - 1)) > low:
            store64(found, k)
            return f.SHARED
    return f.OK
