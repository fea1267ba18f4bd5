"""The blocks of words behind the plan objects of emitted libraries, and the codes of errors. A word has 8 bytes."""

from __future__ import annotations

from .. import layout_fields as layouts
from .. import planner_fields as planners

# What functions return.
OK, NULL, RANK, PERM, SIZE, STRIDES, OVERFLOW, TYPES, THREADS, SCALARS, ALIGNMENT, OVERLAP, PART, MEMORY = range(14)
COUNT, MIXED, SHARED = range(14, 17)
ERRORS = (
    ("OK", "no error"),
    ("NULL", "a pointer is NULL that must not be"),
    ("RANK", "the rank is not one of 0 to 64"),
    ("PERM", "perm is no permutation of the indices"),
    ("SIZE", "an extent is negative"),
    ("STRIDES", "strides lead elements of B to shared memory, or may do so"),
    ("OVERFLOW", "a tensor reaches over more than 2^60 bytes"),
    ("TYPES", "the library has no code for these types"),
    ("THREADS", "the number of threads is not one of 1 to 1024"),
    ("SCALARS", "alpha and beta must be NULL: elements of these types are only moved"),
    ("ALIGNMENT", "A or B is not aligned as its elements are"),
    ("OVERLAP", "A and B share memory, or may do so"),
    ("PART", "the part is not one of 0 to parts - 1"),
    ("MEMORY", "there is no memory left"),
    ("COUNT", "the number of blocks is not one of 0 to 2^31 - 1"),
    ("MIXED", "plans of one group have alpha and beta of different types"),
    ("SHARED", "two blocks of B share memory, or a block of A shares memory with a block of B"),
)
"""By code: the name and the sentence."""

MOST_RANK = layouts.MAX_RANK
MOST_THREADS = 1024
MOST_BLOCKS = (1 << 31) - 1  # of a group
BYTES_PER_PART = 64 << 10  # moved: with less, starting a thread takes longer than the work that it takes over
MOST_BYTES = 1 << 60  # from the first to the last element of a tensor

# --- kernels --------------------------------------------------------------------------------------------

AXES = 6  # that a kernel walks; further ones are walked around it
# Variants of a kernel, by the form of a layout and how B is written.
ELEMENTS, ROWS, ROWS_ALIGNED, ROWS_LONG, ROWS_STREAMED = 0, 1, 2, 3, 4
COLUMNS, COLUMNS_FETCHED, COLUMNS_ALIGNED, COLUMNS_LINES, COLUMNS_CHAINED = 5, 6, 7, 8, 9
ALIGNED_PEELED, LINES_PEELED = 10, 11  # columns.aligned and columns.lines where B begins off a line
VARIANTS = 12
NAMES = ("elements", "rows", "rows.aligned", "rows.long", "rows.streamed", "columns", "columns.fetched",
         "columns.aligned", "columns.lines", "columns.chained", "aligned.peeled", "lines.peeled")  # fmt: skip
FUNCTION, GRID = 0, 8  # of a variant: its address, 0 = there is none; steps of the task grid, 0 = no loop of the grid
VARIANT_BYTES = GRID + 8 * AXES
# A set is all variants for one pair of types and one kind of alpha and beta, one after the other.

# --- the library ----------------------------------------------------------------------------------------

# Kinds of alpha and beta.
COPY, SCALE, UPDATE, ZERO, SCALE_B, KINDS = 0, 1, 2, 3, 4, 5
# The arithmetic of alpha and beta: none, or float, double and their complex pairs.
NO_SCALARS, FLOAT, DOUBLE, COMPLEX_FLOAT, COMPLEX_DOUBLE = 0, 1, 2, 3, 4
PARTS_OF = (0, 1, 1, 2, 2)  # numbers in a scalar
BYTES_OF = (0, 4, 8, 4, 8)  # of one such number

# A pair of types that the library serves.
NAME = 0  # its letters, NAME_BYTES at most, zeros behind them
NAME_BYTES = 16
SIZE_A, SIZE_B, ARITHMETIC = 16, 24, 32
KIND = 40  # by kind of alpha and beta: the kind of a layout (`layout_fields`), 0 = there is none
KERNELS = KIND + 8 * KINDS  # by kind: the set of variants; 0 for moves, which have one for each size of elements
TYPES_BYTES = KERNELS + 8 * KINDS

# A problem of the library.
NEXT, ENTRY, PROBLEM_TYPES, PROBLEM_PARTS, PROBLEM_RANK, PROBLEM_LISTS = 0, 8, 16, 24, 32, 40
# PROBLEM_LISTS: perm, size, strides of A and of B, 4 x rank words

# The library as the functions know it; where planners have ITEM_BYTES, it has it, too.
ITEM_BYTES = planners.ITEM_BYTES
LINE, STREAMED_BYTES = 16, 24  # bytes of a line; bytes of A and B from which on they do not fit the caches
TYPES_COUNT, TYPES_LIST = 32, 40
MOVES = 48  # by the power of two that an element has bytes: the set of variants that move it, 0 = none
BUCKETS, BUCKET_MASK = 88, 96  # first problem by hash, chained by NEXT; buckets less one
ALLOCATE, FREE = 104, 112  # functions: malloc, free
RUN_TILES = 120  # the function that runs tasks of gathered calls, compiled for this machine; 0 = there are none
LIBRARY_BYTES = 128

# --- a plan ---------------------------------------------------------------------------------------------

OWN = 0  # entry of the library for this very problem, 0 = none
PLAN_ARITHMETIC, PLAN_PARTS, EMPTY = 8, 16, 24
ODD_A, ODD_B = 32, 40  # address bits that must be clear
REACH_A, REACH_B = 48, 64  # lowest byte and end, relative to element 0; two words
SURE_A, SURE_B = 80, 96  # the same of bytes that certainly belong to elements: all, or where there are gaps the first's
WEIGHT = 112  # bytes of all elements of A and B
CALLS = 120  # by kind, LEVELS words each: addresses of calls, the best first, 0 = none
LEVELS = 3  # for a B on a line, for one on an element, for any
LAYOUT = CALLS + 8 * KINDS * LEVELS  # the layout, then the calls

# One call.
KERNEL, OFFSET_A, OFFSET_B, ODD, TASKS, OUTER, AROUND = 0, 8, 16, 24, 32, 40, 48
# Of a call whose kernel fills tiles in scratch (`gathered`):
GATHERED, TILES = 56, 64  # the kernel's variant, 0 of other calls; the library's RUN_TILES
RUN, CUT = 72, 80  # bytes of a tile's runs per index of the axis that they are cut along; the place of its extent
CHAINED = 88  # the first loops over tiles, so many, continue runs
NEAR, BESIDE = 96, 104  # places of extents: A's contiguous axis, and one along which its rows may follow each other
ITEM_A = 112  # bytes of an element of A
SIDES = 120  # two along which a tile has several runs: the place of the extent, 0 = none; bytes between, in B, scratch
SIDE_BYTES = 24
STREAMED_LINE = 64  # bytes that one copy past the caches has
PARAMS = SIDES + 2 * SIDE_BYTES
# ODD: bits of B's first byte that must be clear; TASKS of one call of the kernel; OUTER: such calls; AROUND: axes
# around the kernel's, behind the parameters: extent, strides in bytes of A and of B, and where an axis of the kernel is
# divided the extent of a piece, and the place of its extent among the parameters.
ORDER = PARAMS + 8 * 3 * AXES  # of rows of B, as `row_order` writes it
ORDER_SLOT = 3 * AXES  # the first parameter of these
ORDERED = AXES - 2  # axes beside B's contiguous one and A's
SECOND = AXES - 1  # of columns past the caches: the place of an axis along which A goes on from the end of the first
SLOT_STEP = ORDER + 8 * (1 + ORDERED + 1 + ORDERED)  # of columns.chained: elements from an index' slots to the next
OUTER_AXES = SLOT_STEP + 8
PIECE, SLOT, OUTER_BYTES = 24, 32, 40
DIVIDED = 3  # axes that may be
SCRATCH = 128 << 10  # bytes that kernels may use
SLOTS = 1024  # rows of B, at most, whose partial lines a kernel keeps from task to task

# --- a group --------------------------------------------------------------------------------------------

GROUP_COUNT, GROUP_ARITHMETIC, GROUP_PARTS, GROUP_BYTES = 0, 8, 16, 24  # GROUP_BYTES: of blocks that are not divided
GROUP_BLOCKS = 32  # then of each block these:
PLAN, END = 0, 8  # address of its plan; bytes of all blocks up to it, but for those that are divided
BLOCK_BYTES = 16
DIVIDED_BYTES = 1 << 20  # every part runs a share of blocks of so many
LARGEST = (1 << 63) - 1
PAIR_BYTES = 16  # of a block of B among others: its first byte that is certainly written, and its number
NEAR_PAIRS = 128  # that are sorted on the stack
