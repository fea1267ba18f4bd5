"""The blocks of words of the native planner and of the table of layouts, beside those of `layout_fields`."""

from __future__ import annotations

from .layout_fields import CAST_KINDS, PREPARED_BYTES, SCALED_KINDS

# A planner: what machine and program have decided.
BUDGET = 0  # bytes that a layout may move on its family's kernel before one of its own pays
ITEM_BYTES = 8  # longest row that is moved as one item, 0 = none
SERIAL_BYTES = 16  # moved per thread, at least
HELD_BYTES = 24  # less is moved in so short a time that the interpreter lock is kept
FAMILIES = 32  # address of the addresses of families' records, 0 where there is none; FAMILY_COUNT of them
COPY = 40  # address of memcpy, 0 where copies that permute nothing are a family like others
COPY_BYTES, COPY_BYTES_PAST = 48, 56  # addresses of their kernels: see `contiguous_copy`; 0 = none past the caches
CACHED_BYTES = 64  # less is moved between arrays that one core's caches hold
PAST_BYTES = 72  # so much is moved at least by copies that are written past the caches
KEPT_QUARTERS = 5  # quarters of `Target.kept` that copies by memcpy may move: they read no line before they write it
SHORT_ROWS = 80  # addresses of kernels of `short_rows`, by ROW_WIDTHS, then those of longer and of copied rows
ROW_WIDTHS = (2, 4, 8, 16, 32, 64)  # bytes that they move at once
PICKED_ROWS = SHORT_ROWS + 8 * len(ROW_WIDTHS) + 16  # those of `picked_rows`, by widths of items, then steps
PICKED_WIDTHS, PICKED_STEPS = (1, 2, 4, 8, 16), (2, 3, 4, -2, -3, -4)
PICKED = {
    f"items_of_{width}_{'by' if step > 0 else 'back'}_{abs(step)}": (width, step)
    for width in PICKED_WIDTHS
    for step in PICKED_STEPS
}
SINGLE_ITEMS = PICKED_ROWS + 8 * len(PICKED)  # those of items one by one, by PICKED_WIDTHS
GATHERED_ITEMS = SINGLE_ITEMS + 8 * len(PICKED_WIDTHS)  # those of gathered rows, by the same
PLANNER_BYTES = GATHERED_ITEMS + 8 * len(PICKED_WIDTHS)

# What a layout's KIND has above the numbers of `layout_fields`, but for PERMUTED_BIT for Python's own use.
PERMUTED_BIT = 39  # 1: both are one array, whose axes take each other's places
ODD_BITS = 40  # three address bits that are set and should not be: smaller units are moved
UNSERVED_BIT = 43  # 1: no any-size kernel serves it
NUMBER_BITS = 44  # threads less one; where it is not served: a number for effort and threads

# A family's record.
FAMILY_KERNEL = 0  # address, 0 = not there yet
BLOCK = 8  # extents of its micro-tile
GRID = 72  # steps of its task grid, 0 = no loop of the grid
FAMILY_BYTES = 136
FAMILY_WORDS = (FAMILY_BYTES - BLOCK) // 8  # behind the kernel's address

# A family's number is ((type * FORMS + form) * 3 + rank). type: 0 to 4 for moves of 1 to 16 bytes, then kinds of
# arithmetic, then those of conversions; form: as follows, with A's step along its nearest axis; rank: which of RANKS.
ROWS, COLUMNS, ELEMENTS, FORMS = 0, 2, 10, 11
ROW_STEPS, COLUMN_STEPS = (1, -1), (1, -1, 2, -2, 3, -3, 4, -4)
MOVE_TYPES = 5
RANKS = (2, 4, 8)  # axes that a kernel walks; layouts of more have no family
MOST_AXES = RANKS[-1]
RANK_COUNT = len(RANKS)
FAMILY_TYPES = MOVE_TYPES + SCALED_KINDS + CAST_KINDS
FAMILY_COUNT = FAMILY_TYPES * FORMS * RANK_COUNT

# What `plan` returns: PLANNED, 1 + the number of a family whose record or kernel is not there, or why not.
PLANNED = 0
IRREGULAR = -1  # arithmetic on elements that do not lie whole elements apart
OVERLAPS = -2  # elements of B may share memory
MANY_AXES = -3
HEAVY = -4  # one call is worth a kernel of its own
UNSERVED = -5  # by its kind

PARAMS_BYTES = 3 * MOST_AXES * 8

# The table begins with its planner.
BUCKETS = PLANNER_BYTES  # address of chains' first entries, by hash
RING = BUCKETS + 8  # address of all entries' addresses
ROOM = BUCKETS + 16  # length of both, a power of two or 0
COUNT = BUCKETS + 24  # entries
BYTES = BUCKETS + 32  # that they take
OWNED = BUCKETS + 40  # those that have an owner
HAND, OWNED_HAND = BUCKETS + 48, BUCKETS + 56  # where the search for one to evict goes on, in the ring
DEAD = BUCKETS + 64  # first of the entries whose memory and owner are still to be released
MOST, MOST_BYTES, MOST_OWNED = BUCKETS + 72, BUCKETS + 80, BUCKETS + 88  # bounds of COUNT, BYTES and OWNED
ALLOCATE, FREE = BUCKETS + 96, BUCKETS + 104  # functions: malloc, free
TAKE, RELEASE = BUCKETS + 112, BUCKETS + 120  # Py_IncRef, Py_DecRef
NO_OWNER, UNKNOWN = BUCKETS + 128, BUCKETS + 136  # objects that `recall` returns
TABLE_BYTES = BUCKETS + 144

# An entry: its head, the prepared call, the layout, the parameters.
NEXT, HASH, PLACE, USED, SIZE = 0, 8, 16, 24, 32  # PLACE: in the ring; USED: since the hand passed
PREPARED = 40
LAYOUT = PREPARED + PREPARED_BYTES
