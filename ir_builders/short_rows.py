"""Kernels of short rows, items of odd sizes among them, as functions for `integer_code`.

A row of A becomes a row of B by two moves of one width, the largest power of two that a row has room for: from its
beginning and up to its end, so that they may overlap. Longer rows have moves to boundaries of B between these, and the
longest are copied by the C library, which knows what its machine copies fastest within the caches; items of a power of
two are single moves, or rows that are gathered from wherever their items lie in A, by offsets that all rows share: axes
of few items are walked once for them. Three axes are walked in tiles, so that lines of A are read once where its
elements follow each other along another axis than B's.
A task is a tile. Parameters: bytes of a row, the number of other axes, which are three at least, and a tile's edge
along the first; then of each axis its extent, and its strides in bytes; of copied rows behind six axes the address of
memcpy, of gathered ones behind all the axes of a row.
"""

from __future__ import annotations

from collections.abc import Callable

from .planner_fields import PICKED_WIDTHS as ITEM_WIDTHS
from .planner_fields import ROW_WIDTHS
from .words import call, load32, load64, local, move, store32, store64

SIZE, COUNT, EDGE, AXES = 0, 8, 16, 24
N, A, B, AXIS = 0, 8, 16, 24
TILED, FAR_EDGE = 3, 16  # axes of a tile, and its edge along all but the first
MOST_AXES = 7  # beside the row
MOST_GATHERED, GATHERED_AXES = 512, MOST_AXES - TILED  # items and axes of a row, at most
COPY = AXES + AXIS * (MOST_AXES - 1)
SHORT, LONGEST = 2 * ROW_WIDTHS[-1], 8 << 10  # bytes of rows that two moves move, and of any

Rows = Callable[[int, int, int, int, int, int, int], None]
Row = Callable[[int, int, int, int], None]
OF, TO, INDEX = 0, 8, 16  # where a walk is: bytes from A's and B's bases, and its index along each axis
WALK_BYTES = INDEX + 8 * MOST_AXES


def _gathering(width: int) -> Row:
    def gather(to: int, of: int, offsets: int, size: int) -> None:
        whole = size & -4 * width
        for at in range(0, whole, 4 * width):  # as LLVM does not unroll it
            place = offsets + at * 4 // width
            move(to + at, of + load32(place), width)
            move(to + at + width, of + load32(place + 4), width)
            move(to + at + 2 * width, of + load32(place + 8), width)
            move(to + at + 3 * width, of + load32(place + 12), width)
        for at in range(whole, size, width):
            move(to + at, of + load32(offsets + at * 4 // width), width)

    gather.__name__ = f"gather_{width}"
    return gather


def _stepping(width: int) -> Row:
    def move_items(to: int, of: int, axis: int, count: int) -> None:
        near_a, near_b = load64(axis + A), load64(axis + B)
        for _ in range(count >> 2):
            move(to, of, width)
            move(to + near_b, of + near_a, width)
            move(to + 2 * near_b, of + 2 * near_a, width)
            move(to + 3 * near_b, of + 3 * near_a, width)
            of, to = of + 4 * near_a, to + 4 * near_b
        for _ in range(count & 3):
            move(to, of, width)
            of, to = of + near_a, to + near_b

    move_items.__name__ = f"move_items_{width}"
    return move_items


def by_moves(to: int, of: int, offsets: int, size: int) -> None:
    """In place of a function that moves a row of so many bytes to and from an address, by the offsets of its items."""


def kernel(name: str, width: int, move_row: Row = by_moves) -> Rows:
    """A kernel of this name. width: bytes of a move."""
    kind, is_other = name.partition("_")[0], move_row is not by_moves
    is_long, is_copied, is_item, is_gathered = (kind == one for one in ("long", "copied", "single", "gathered"))

    def rows(a: int, b: int, scalars: int, params: int, scratch: int, begin: int, end: int) -> None:
        walk, rest, edge = local(WALK_BYTES), load64(params + SIZE) - width, load64(params + EDGE)
        near, far, third = params + AXES, params + AXES + AXIS, params + AXES + 2 * AXIS
        near_a, near_b, far_a, far_b = load64(near + A), load64(near + B), load64(far + A), load64(far + B)
        offsets = local(4 * MOST_GATHERED if is_gathered else 4)
        if is_gathered:
            write_offsets(offsets, params, width)
        begin_walk(walk, params, begin)
        for _ in range(begin, end):
            tile_of, tile_to = a + load64(walk + OF), b + load64(walk + TO)
            count, lines = min(edge, left(walk, near, 0)), min(FAR_EDGE, left(walk, far, 1))
            for _ in range(min(FAR_EDGE, left(walk, third, 2))):
                row_of, row_to = tile_of, tile_to
                for _ in range(lines):
                    of, to = row_of, row_to
                    if is_item:
                        move_row(to, of, near, count)
                    for _ in range(0 if is_item else count):
                        if is_copied:
                            call(load64(params + COPY), to, of, load64(params + SIZE))
                        elif is_other:
                            move_row(to, of, offsets, rest + width)
                        else:
                            move(to, of, width)
                            if is_long:
                                for at in range(width - (to & width - 1), rest, width):
                                    move(to + at, of + at, width)
                            move(to + rest, of + rest, width)
                        of, to = of + near_a, to + near_b
                    row_of, row_to = row_of + far_a, row_to + far_b
                tile_of, tile_to = tile_of + load64(third + A), tile_to + load64(third + B)
            advance(walk, params)

    rows.__name__ = name
    return rows


KERNELS = (
    *(kernel(f"rows_of_{width}", width) for width in ROW_WIDTHS),
    kernel("long_rows", ROW_WIDTHS[-1]), kernel("copied_rows", 1),
    *(kernel(f"single_{width}", width, _stepping(width)) for width in ITEM_WIDTHS),
    *(kernel(f"gathered_{width}", width, _gathering(width)) for width in ITEM_WIDTHS),
)  # fmt: skip
globals().update((made.__name__, made) for made in KERNELS)  # rows_of_2 and so on, long_rows, copied_rows, single_1 ...


def write_offsets(offsets: int, params: int, width: int) -> None:
    """Write how far a gathered row's items lie from its first one in A, 32 bits each."""
    count, known, axis = load64(params + SIZE) // width, 1, params + AXES + AXIS * load64(params + COUNT)
    store32(offsets, 0)
    while known < count:
        for k in range(known, known * load64(axis + N)):
            store32(offsets + 4 * k, load32(offsets + 4 * (k - known)) + load64(axis + A))
        known, axis = known * load64(axis + N), axis + AXIS


def begin_walk(walk: int, params: int, task: int) -> None:
    """Write where a walk is at a task."""
    of, to, axis = 0, 0, params + AXES
    for k in range(load64(params + COUNT)):
        index = 0
        if task:
            step = step_of(params, k)
            steps = (load64(axis + N) + step - 1) // step
            index, task = task % steps * step, task // steps
            of, to = of + index * load64(axis + A), to + index * load64(axis + B)
        store64(walk + INDEX + 8 * k, index)
        axis += AXIS
    store64(walk + OF, of)
    store64(walk + TO, to)


def left(walk: int, axis: int, number: int) -> int:
    """Indices along an axis from where a walk is."""
    return load64(axis + N) - load64(walk + INDEX + 8 * number)


def step_of(params: int, axis: int) -> int:
    """A tile's edge along an axis."""
    return load64(params + EDGE) if axis == 0 else FAR_EDGE if axis < TILED else 1


def advance(walk: int, params: int) -> None:
    """Go on to the next task; behind the last one is the first."""
    of, to, axis = load64(walk + OF), load64(walk + TO), params + AXES
    for k in range(load64(params + COUNT)):
        index, step = load64(walk + INDEX + 8 * k), step_of(params, k)
        following = index + step if index + step < load64(axis + N) else 0
        of, to = of + (following - index) * load64(axis + A), to + (following - index) * load64(axis + B)
        store64(walk + INDEX + 8 * k, following)
        if following:
            break
        axis += AXIS
    store64(walk + OF, of)
    store64(walk + TO, to)
