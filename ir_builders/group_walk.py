"""The walk over the blocks of a group, and the check of their addresses, as functions for `integer_code`."""

from __future__ import annotations

from . import group_fields as group
from . import layout_fields as fields
from .contiguous_copy import LINE, copy_past
from .group_fields import Check, Walk
from .words import call, fence, load64, prefetch, store64, touch

LARGEST = (1 << 63) - 1
MOST_AHEAD = 8 << 10  # bytes of a block whose lines are asked for before the one before it is moved


def walk_blocks(a: int, b: int, scalars: int, params: int, scratch: int, begin: int, end: int) -> None:
    """The tasks from `begin` up to `end`, with the ABI of every kernel: of a and b, the addresses of the blocks' own.
    params: `Walk`. A task is a part of the walk: the last tasks of a block's kernel, some blocks, the first tasks of
    another's."""
    bounds = load64(params + Walk.BOUNDS)
    step, task = load64(bounds + 16 * begin), load64(bounds + 16 * begin + 8)
    last, stop = load64(bounds + 16 * end), load64(bounds + 16 * end + 8)
    while step < last:
        record = load64(load64(params + Walk.RECORDS) + 8 * step)
        _run(params, step, a, b, scalars, scratch, task, load64(record + fields.TASKS))
        step, task = step + 1, 0
    if task < stop:
        _run(params, step, a, b, scalars, scratch, task, stop)
    if load64(params + Walk.COPY):
        fence(0)


def _run(params: int, step: int, a: int, b: int, scalars: int, scratch: int, begin: int, end: int) -> None:
    """Some tasks of a block's kernel."""
    record, place = load64(load64(params + Walk.RECORDS) + 8 * step), 8 * load64(load64(params + Walk.ORDER) + 8 * step)
    of, to = load64(a + place), load64(b + place)
    size, copy = load64(record + group.PAST), load64(params + Walk.COPY)
    whole = end - begin == load64(record + fields.TASKS)
    _look_ahead(params, step + 1, a, b)
    if whole:
        _touch_block(of, record, 0 if copy else MOST_AHEAD)
    if copy and size and whole:
        held = scratch + (to & LINE - 1)
        _call(record, of, held, scalars, scratch, begin, end)
        copy_past(held, to, size, copy)
    else:
        _call(record, of, to, scalars, scratch, begin, end)


def _look_ahead(params: int, step: int, a: int, b: int) -> None:
    """Ask for what the next step reads: the tables of its kernel, the record behind it, and the lines of a small block
    that is not written past the caches."""
    record, place = load64(load64(params + Walk.RECORDS) + 8 * step), 8 * load64(load64(params + Walk.ORDER) + 8 * step)
    behind, most = load64(load64(params + Walk.RECORDS) + 8 * step + 8), min(load64(record + group.MOVED), MOST_AHEAD)
    _fetch(behind, behind + group.RECORD_BYTES)
    if load64(record + group.RUNS):
        _fetch(record + group.RECORD_BYTES, record + group.FETCHED_BYTES)
    if load64(params + Walk.COPY) == 0:
        _fetch_block(load64(a + place), record + fields.REACH_OF, most)
        _fetch_block(load64(b + place), record + fields.REACH_TO, most)


def _fetch_block(address: int, reach: int, most: int) -> None:
    """Ask for the lines of a block of A, or B, unless these are more bytes: it has gaps, or is large."""
    first, end = address + load64(reach), address + load64(reach + 8)
    if end - first <= most:
        _fetch(first, end)


def _fetch(first: int, end: int) -> None:
    for place in range(first, end, LINE):
        prefetch(place)


def _touch_block(address: int, record: int, least: int) -> None:
    """Read the lines of a block of A in order, if it has more than so many bytes and no gaps: prefetchers of machines
    foresee that, not how kernels jump about in it."""
    first, end = address + load64(record + fields.REACH_OF), address + load64(record + fields.REACH_OF + 8)
    if load64(record + group.SOLID) and least < end - first:
        for place in range(first, end, LINE):
            touch(place)


def _call(record: int, a: int, b: int, scalars: int, scratch: int, begin: int, end: int) -> None:
    a, b = a + load64(record + fields.OFFSET_A), b + load64(record + fields.OFFSET_B)
    call(load64(record + fields.KERNEL), a, b, scalars, load64(record + fields.PARAMS), scratch, begin, end)


# --- the check of addresses -----------------------------------------------------------------------------------


def check_blocks(check: int) -> int:
    """APART where no block of B reaches into another or into one of A, or what stands in the way. ODD is found."""
    low, end = _seen(check, Check.A, fields.REACH_OF), _end(check, Check.A, fields.REACH_OF)
    if load64(check + Check.FIRST) >= 0:
        return group.NO_ADDRESS_A
    low_b, end_b = _seen(check, Check.B, fields.REACH_TO), _end(check, Check.B, fields.REACH_TO)
    if load64(check + Check.FIRST) >= 0:
        return group.NO_ADDRESS_B
    status = group.APART if load64(check + Check.INTERLEAVED) else _results_apart(check)
    if status != group.APART or end <= low_b or end_b <= low:
        return status
    return group.MEET_A if load64(check + Check.INTERLEAVED) else _both_apart(check)


def _seen(check: int, side: int, reach: int) -> int:
    """The first byte of all blocks; FIRST is a block without an address, or -1."""
    found, odd, places = LARGEST, load64(check + Check.ODD), load64(check + side)
    bits = fields.ODD_A if side == Check.A else fields.ODD_B
    store64(check + Check.FIRST, -1)
    for number in range(load64(check + Check.COUNT)):
        record, place = load64(load64(check + Check.RECORDS) + 8 * number), load64(places + 8 * number)
        if load64(record + group.STATUS) != group.EMPTY:
            if place + load64(record + reach) <= 0:
                store64(check + Check.FIRST, number)
                return 0
            odd |= place & load64(record + bits)
            found = min(found, place + load64(record + reach))
    store64(check + Check.ODD, odd)
    return found


def _end(check: int, side: int, reach: int) -> int:
    """The end of all blocks."""
    found, places = 0, load64(check + side)
    for number in range(load64(check + Check.COUNT)):
        record = load64(load64(check + Check.RECORDS) + 8 * number)
        if load64(record + group.STATUS) != group.EMPTY:
            found = max(found, load64(places + 8 * number) + load64(record + reach + 8))
    return found


def _results_apart(check: int) -> int:
    """Whether each block of B ends before the next one begins."""
    before, end = 0, 0
    for place in range(load64(check + Check.COUNT)):
        number = load64(load64(check + Check.ORDER_B) + 8 * place)
        record = load64(load64(check + Check.RECORDS) + 8 * number)
        if load64(record + group.STATUS) == group.EMPTY:
            continue
        address = load64(load64(check + Check.B) + 8 * number)
        low = address + load64(record + fields.REACH_TO)
        if low < before:
            return group.UNSORTED_B
        if low < end:
            return group.MEET_B
        before, end = low, address + load64(record + fields.REACH_TO + 8)
    return group.APART


def _both_apart(check: int) -> int:
    """Whether no block of A reaches into one of B: the blocks of B lie apart, those of A need not."""
    count, before, at = load64(check + Check.COUNT), 0, 0
    for place in range(count):
        number = load64(load64(check + Check.ORDER_A) + 8 * place)
        record = load64(load64(check + Check.RECORDS) + 8 * number)
        if load64(record + group.STATUS) == group.EMPTY:
            continue
        low = load64(load64(check + Check.A) + 8 * number) + load64(record + fields.REACH_OF)
        end = load64(load64(check + Check.A) + 8 * number) + load64(record + fields.REACH_OF + 8)
        if low < before:
            return group.UNSORTED_A
        before = low
        while at < count and _byte_of_b(check, at, 8) <= low:
            at += 1
        if at < count and _byte_of_b(check, at, 0) < end:
            return group.MEET_A
    return group.APART


def _byte_of_b(check: int, place: int, which: int) -> int:
    """The first byte (0) or the end (8) of the block of B at a place in their order; of an empty one, its address."""
    number = load64(load64(check + Check.ORDER_B) + 8 * place)
    record = load64(load64(check + Check.RECORDS) + 8 * number)
    address = load64(load64(check + Check.B) + 8 * number)
    if load64(record + group.STATUS) == group.EMPTY:
        return 0
    return address + load64(record + fields.REACH_TO + which)
