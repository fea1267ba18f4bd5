"""The table of a launch for many blocks: which box of which block threads move, and how these lie in memory.

All is in bytes from the table's start; a word has 8 bytes. For each block of threads a `Task`, then layouts: for every
axis an `Entry` in the order in which A is read, then one in the order of B. Addresses of the blocks' elements 0 come in
an array of their own, those of A and B in turns.
"""

from __future__ import annotations

from ...problem.canonical import Canonical
from .launch import Launch, parameters

THREADS = 256
ITEMS = 4  # of a thread, all in flight
VOLUME = THREADS * ITEMS  # elements of a box, at most
SIDE = 32  # elements of a box along a run of A, and along one of B, if there are so many
SHIFT = 20  # of reciprocals: VOLUME ** 2 is 1 << SHIFT, up to which quotients are exact
GROUP = 32  # slots of shared memory, of which each has one behind it, for the sake of its banks


class Task:
    """Offsets of what a block of threads reads first."""

    BLOCK = 0  # number
    LAYOUT = 8  # offset
    BOX = 16  # number, those of B's innermost axis first


TASK_BYTES = Task.BOX + 8


class Entry:
    """Offsets of what a layout tells of an axis: extents in elements, strides in bytes."""

    EXTENT = 0
    TILE = 8  # extent of a box
    COUNT = 16  # boxes
    WEIGHT = 24  # boxes in a row along the axes before it
    STRIDE = 32  # of the side in whose order the entry stands
    PLACE = 40  # slots of shared memory from element to element


ENTRY_BYTES = Entry.PLACE + 8


class Found:
    """Offsets of what threads find of an axis in shared memory, once a block of them has begun."""

    STRIDE = 0  # words
    OFFSET = 8  # of the box
    LIMIT = 16  # extent of this box; from here on 4 bytes each
    RECIPROCAL = 20
    PLACE = 24


FOUND_BYTES = 32


def shared_bytes(canonical: Canonical, axes: int) -> int:
    """Bytes of shared memory of a block of threads."""
    return 2 * axes * FOUND_BYTES + (VOLUME + VOLUME // GROUP) * canonical.a.itemsize


def launch(canonical: Canonical, axes: int, tasks: int, entry: str) -> Launch:
    """The launch for so many tasks of blocks with up to so many axes: A and B are the table and the addresses."""
    return Launch(entry, tasks, THREADS, shared_bytes(canonical, axes), parameters(canonical), 8, 8)
