"""The blocks of words of groups: blocks of several shapes that one native call transposes. A word has 8 bytes."""

from __future__ import annotations

from .layout_fields import CALL_BYTES

# What is known of a layout: its prepared call (`layout_fields`), then these. Tables that it points to lie behind it.
STATUS = CALL_BYTES  # PLANNED, or the planner's reason why there is no kernel (`planner_fields`), or EMPTY
LAYOUT = STATUS + 8  # address
BLOCKS = STATUS + 16  # so many have this layout
MOVED = STATUS + 24  # bytes that one of them moves
PAST = STATUS + 32  # bytes of a contiguous block of B that may be written past the caches; 0 where it is none
OWN = STATUS + 40  # 1: the kernel is the layout's own
RUNS = STATUS + 48  # 1: it is one of indexed runs, whose tables lie behind the record
SOLID = STATUS + 56  # 1: between the first byte of a block of A and its end all are its own
RECORD_BYTES = STATUS + 64
FETCHED_BYTES = 1 << 10  # so many of a record and the tables behind it are asked for before its block is moved

EMPTY = 1  # there is nothing to be moved

# Parameters of kernels of indexed runs (`indexed_runs`).
RUN, INNER, OUTER = 0, 8, 16  # elements of a run; addresses of offsets of its elements, and of pairs for each run
RUN_PARAMS_BYTES = 24
PADDING = 16  # elements to whose multiple the first table is filled up
UNITS = {1: "runs_of_1", 2: "runs_of_2", 4: "runs_of_4", 8: "runs_of_8", 16: "runs_of_16"}
"""Kernels by the bytes of their items, a power of two."""


class Planning:
    """Offsets of what the planner of groups reads, and of how far it is."""

    PLANNER = 0  # address of the native planner's words
    COUNT = 8  # blocks
    LAYOUTS = 16  # address of the addresses of their layouts
    RECORDS = 24  # address of the addresses of what is known of each: the result
    SLOTS, MASK = 32, 40  # address of records' addresses by hash, 0 = none; one less than their number, a power of two
    AT, END = 48, 56  # of the memory that is free for records
    NEXT = 64  # the first block that has no record yet
    KERNELS = 72  # addresses of kernels of indexed runs, by UNITS; 0 = none


PLANNING_BYTES = Planning.KERNELS + 8 * len(UNITS)
MORE_MEMORY = -1  # what the planner of groups returns where AT is too near END


class Walk:
    """Offsets of the parameters of the walk over blocks."""

    RECORDS = 0  # address of the addresses of records, in the order of the walk
    ORDER = 8  # address of the numbers of blocks in that order
    BOUNDS = 16  # address of pairs: the step of the walk, and the kernel's task, at which a task of the walk begins
    COPY = 24  # address of memcpy where blocks are written past the caches, else 0


class Check:
    """Offsets of what the check of addresses reads, and of what it finds."""

    COUNT = 0  # blocks
    RECORDS = 8  # address of the addresses of their records
    A, B = 16, 24  # addresses of the blocks' addresses
    ORDER_A, ORDER_B = 32, 40  # addresses of their numbers by first byte
    ODD = 48  # found: address bits that are set and should not be
    FIRST = 56  # found: the number of a block without an address
    INTERLEAVED = 64  # 1: blocks of B are known to lie apart, though not between their first and last bytes


CHECK_BYTES = Check.INTERLEAVED + 8
APART, NO_ADDRESS_A, NO_ADDRESS_B, UNSORTED_A, UNSORTED_B, MEET_B, MEET_A = 0, 1, 2, 3, 4, 5, 6
"""The check finds: all is well; a block without an address; an order that does not hold; two blocks of B, or one of A
and one of B, of which one begins before the other ends."""


class Lists:
    """Offsets of what the reader of lists of arrays reads."""

    ITEMS = 0  # address of the addresses of objects
    COUNT = 8
    NDARRAY, DTYPE = 16, 24  # addresses of the class, and of the elements' type
    FLAGS = 32  # of arrays, which must be set
    FORMS = 40  # address of the addresses of rank, shape, strides of each
    ADDRESSES = 48  # address of the result: the arrays' addresses
    NEXT = 56  # the first array to be read


LISTS_BYTES = Lists.NEXT + 8
