"""Flags of tiles of rows: which of these follow each other in C, as functions of integers."""

from __future__ import annotations

from ttc_llvm.lowering.micro_kernel import piece

from ..words import load64, store64
from . import fields as f
from .axes import last_of

# Flags of a tile of rows: they follow each other in C; those of each half do, and these are whole lines from each
# other; those of each piece of a register do.
IN_A_ROW, IN_HALVES, IN_PIECES = 1, 2, 4
APART = 8  # the flag of its first register, and so on: whose rows do not follow each other


def inspect_rows(job: int, scratch: int, first: int, m: int) -> int:
    """Set the flags of each tile of rows from `first` on. The last one may have whole registers only.

    Rows of the innermost axis follow each other in C where it is that one's: only its ends are looked at."""
    tile, size, group = load64(job + f.TILE_M), load64(job + f.SIZE), load64(job + f.GROUP)
    part, flags, run = piece(group), scratch + load64(job + f.FLAGS), run_in_c(job)
    of_c, edge = scratch + load64(job + f.ROWS_C), run - first % run
    for number in range((m + tile - 1) // tile):
        start = number * tile
        count, found, are_apart, are_cut, in_middle = min(tile, m - start), 0, 0, 0, 1
        while edge < start + count:
            row, step = edge - start, load64(of_c + 8 * edge) - load64(of_c + 8 * edge - 8)
            if row > 0 and step != size:
                found |= APART << row // group if row % group else 0
                are_apart, are_cut = 1, are_cut | row % part
                in_middle &= 2 * row == tile
            edge += run
        if found == 0 and are_apart == 0 and count % group == 0:
            found = IN_A_ROW
        elif are_cut == 0 and count % group == 0:
            found |= IN_PIECES
        if found & IN_PIECES and count == tile and in_middle:
            half = load64(of_c + 8 * (start + tile // 2)) - load64(of_c + 8 * start)
            found |= IN_HALVES if half % f.LINE == 0 else 0
        store64(flags + 8 * number, found)
    return 0


def run_in_c(job: int) -> int:
    """So many rows of the innermost axis follow each other in C, 1 = it is another tensor's."""
    last = last_of(job, f.M_AXES)
    return load64(last) if load64(job + f.M_AXES) > 0 and load64(last + 16) == load64(job + f.SIZE) else 1
