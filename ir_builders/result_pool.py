"""Freed blocks, kept for a while so that the next result of their size needs no fresh memory.

Functions for `integer_code`, as `result_blocks`. Blocks lie in slots, each a single word, and are put and taken by
compare-exchange alone: NumPy may free an array in any thread, with the interpreter lock or without, and none may have
to wait for one that a fork has left behind. `HELD` grows before a block is put and falls after it was taken, so it is
never less than what lies in the slots, and a block is put only while `HELD` is within the bound.

A thread of the C library, which Python does not know, unmaps what nobody has taken for two to four seconds. It exists
only while there are freed blocks.
"""

from __future__ import annotations

from . import result_fields as f
from .result_blocks import tag, tagged_size, unmap_block
from .words import (
    call,
    call32,
    compare_exchange,
    fetch_add,
    load64,
    load_atomic,
    local,
    store64,
    store_release,
)

WAIT, WAKE = 128, 129  # of a futex of this process alone
STACK = 512 << 10


def taken(state: int, size: int) -> int:
    """The youngest freed block of this size; 0 where there is none."""
    wanted, left = tag(size), load_atomic(state + f.HELD)
    while left:
        found, youngest, slot = 0, -1, state + f.WORDS
        while left > 0 and slot < state + f.WORDS + 8 * f.SLOTS:
            if load64(slot) & (f.HEAD - 1) == wanted and load64(slot + f.STAMPS - f.WORDS) > youngest:
                found, youngest = slot, load64(slot + f.STAMPS - f.WORDS)
            left, slot = left - tagged_size(load64(slot)), slot + 8
        if found == 0:
            return 0
        block = _claimed(state, found, wanted)
        if block:
            store64(block - f.FRESH, 0)
            return block
        left = load_atomic(state + f.HELD)
    return 0


def _claimed(state: int, slot: int, tag: int) -> int:
    """The block in a slot, which is free from here on; 0 where another thread has changed it."""
    word = load_atomic(slot)
    if word & (f.HEAD - 1) != tag or word == 0 or not compare_exchange(slot, word, 0):
        return 0
    fetch_add(state + f.HELD, -tagged_size(word))
    return word - tag


def kept(state: int, block: int, size: int) -> int:
    """1 where a freed block is in the pool now; older ones go where there is no room for it."""
    if size > load64(state + f.BOUND):
        return 0
    held = fetch_add(state + f.HELD, size) + size
    while held > load64(state + f.BOUND) and _oldest_released(state):
        held = load_atomic(state + f.HELD)
    if held > load64(state + f.BOUND) or not _put(state, block + tag(size)):
        fetch_add(state + f.HELD, -size)
        return 0
    if not _watched(state):
        release(state, f.EVER)
    return 1


def _put(state: int, word: int) -> int:
    """1 where the word is in a slot now, 0 where all are taken."""
    stamp = fetch_add(state + f.CLOCK, 1)
    for slot in range(state + f.WORDS, state + f.WORDS + 8 * f.SLOTS, 8):
        if load64(slot) == 0:
            store64(slot + f.STAMPS - f.WORDS, stamp)
            if compare_exchange(slot, 0, word):
                return 1
    return 0


def _oldest_released(state: int) -> int:
    """1 where a block has gone back to the system."""
    found, oldest = 0, f.EVER
    for slot in range(state + f.WORDS, state + f.WORDS + 8 * f.SLOTS, 8):
        if load64(slot) and load64(slot + f.STAMPS - f.WORDS) < oldest:
            found, oldest = slot, load64(slot + f.STAMPS - f.WORDS)
    return release(state, oldest + 1) if found else 0


def release(state: int, before: int) -> int:
    """Give blocks back to the system that came into the pool before the clock showed this; how many they were."""
    count = 0
    for slot in range(state + f.WORDS, state + f.WORDS + 8 * f.SLOTS, 8):
        word = load64(slot)
        if word and load64(slot + f.STAMPS - f.WORDS) < before:
            block = _claimed(state, slot, word & (f.HEAD - 1))
            if block:
                unmap_block(state, block, tagged_size(word))
                count += 1
    return count


def bound(state: int, most: int) -> None:
    """Set the bytes that freed blocks may take."""
    store_release(state + f.BOUND, most)
    while load_atomic(state + f.HELD) > most and _oldest_released(state):
        pass


# --- the background thread --------------------------------------------------------------------------------------------


def _watched(state: int) -> int:
    """1 where the background thread will see a block that is in the pool now; it is started where there is none."""
    phase = load_atomic(state + f.PHASE)
    if phase != f.NONE or not compare_exchange(state + f.PHASE, f.NONE, f.STARTING):
        return 1  # or it is stopped, by a thread that empties the pool after that
    attributes, handle = local(128), local(16)
    call32(load64(state + f.LIBC["pthread_attr_init"]), attributes)
    call32(load64(state + f.LIBC["pthread_attr_setstacksize"]), attributes, STACK)
    if call32(load64(state + f.LIBC["pthread_create"]), handle, attributes, load64(state + f.ENTRY), state):
        store_release(state + f.PHASE, f.NONE)
        return 0
    return 1


def watch(state: int) -> int:
    """The background thread."""
    every, pause = local(128), local(16)
    for k in range(0, 128, 8):
        store64(every + k, -1)
    call32(load64(state + f.LIBC["pthread_sigmask"]), 0, every, 0)  # signals are for the program's threads
    store64(pause, f.SECONDS)
    store64(pause + 8, 0)
    this = call(load64(state + f.LIBC["pthread_self"]))
    store64(state + f.THREAD, this)
    store_release(state + f.PHASE, f.RUNNING)
    seen = load64(state + f.CLOCK)
    while True:
        call(load64(state + f.LIBC["syscall"]), load64(state + f.FUTEX), state + f.PHASE, WAIT, f.RUNNING, pause, 0, 0)
        if load_atomic(state + f.PHASE) != f.RUNNING:
            return 0
        release(state, seen)
        seen = load_atomic(state + f.CLOCK)
        if _retired(state):
            call32(load64(state + f.LIBC["pthread_detach"]), this)
            return 0


def _retired(state: int) -> int:
    """1 where the thread has nothing to look at; it looks again behind its retreat, as others may count on it."""
    if load_atomic(state + f.HELD) or not compare_exchange(state + f.PHASE, f.RUNNING, f.NONE):
        return 0
    return load_atomic(state + f.HELD) == 0 or not compare_exchange(state + f.PHASE, f.NONE, f.RUNNING)


def stop(state: int) -> None:
    """Empty the pool, and wait until the background thread has ended."""
    while load_atomic(state + f.PHASE) == f.STARTING:
        call32(load64(state + f.LIBC["sched_yield"]))
    if compare_exchange(state + f.PHASE, f.RUNNING, f.STOPPING):
        call(load64(state + f.LIBC["syscall"]), load64(state + f.FUTEX), state + f.PHASE, WAKE, 1, 0, 0, 0)
        call32(load64(state + f.LIBC["pthread_join"]), load64(state + f.THREAD), 0)
        store_release(state + f.PHASE, f.NONE)
    release(state, f.EVER)


def forget(state: int) -> None:
    """In a forked child: there is no background thread, and nobody is about to put or take a block."""
    store_release(state + f.PHASE, f.NONE)
    release(state, f.EVER)
    store_release(state + f.HELD, 0)
