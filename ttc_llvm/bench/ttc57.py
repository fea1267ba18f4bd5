"""The 57 transpositions of the TTC and HPTT papers: 2-D to 6-D, about 200 MiB a tensor in single precision.

Column-major, as `Problem` has it; no two neighbouring indices can be merged.
"""

from __future__ import annotations

_TABLE = """
1,0 7264x7264
1,0 43408x1216
1,0 1216x43408
0,2,1 368x384x384
0,2,1 2144x64x384
0,2,1 368x64x2307
1,0,2 384x384x355
1,0,2 2320x384x59
1,0,2 384x2320x59
2,1,0 384x355x384
2,1,0 2320x59x384
2,1,0 384x59x2320
0,3,2,1 80x96x75x96
0,3,2,1 464x16x75x96
0,3,2,1 80x16x75x582
2,1,3,0 96x75x96x75
2,1,3,0 608x12x96x75
2,1,3,0 96x12x608x75
2,0,3,1 96x75x96x75
2,0,3,1 608x12x96x75
2,0,3,1 96x12x608x75
1,0,3,2 96x96x75x75
1,0,3,2 608x96x12x75
1,0,3,2 96x608x12x75
3,2,1,0 96x75x75x96
3,2,1,0 608x12x75x96
3,2,1,0 96x12x75x608
0,4,2,1,3 32x48x28x28x48
0,4,2,1,3 176x8x28x28x48
0,4,2,1,3 32x8x28x28x298
3,2,1,4,0 48x28x28x48x28
3,2,1,4,0 352x4x28x48x28
3,2,1,4,0 48x4x28x352x28
2,0,4,1,3 48x28x48x28x28
2,0,4,1,3 352x4x48x28x28
2,0,4,1,3 48x4x352x28x28
1,3,0,4,2 48x48x28x28x28
1,3,0,4,2 352x48x4x28x28
1,3,0,4,2 48x352x4x28x28
4,3,2,1,0 48x28x28x28x48
4,3,2,1,0 352x4x28x28x48
4,3,2,1,0 48x4x28x28x352
0,3,2,5,4,1 16x32x15x32x15x15
0,3,2,5,4,1 48x10x15x32x15x15
0,3,2,5,4,1 16x10x15x103x15x15
3,2,0,5,1,4 32x15x15x32x15x15
3,2,0,5,1,4 112x5x15x32x15x15
3,2,0,5,1,4 32x5x15x112x15x15
2,0,4,1,5,3 32x15x32x15x15x15
2,0,4,1,5,3 112x5x32x15x15x15
2,0,4,1,5,3 32x5x112x15x15x15
3,2,5,1,0,4 32x15x15x32x15x15
3,2,5,1,0,4 112x5x15x32x15x15
3,2,5,1,0,4 32x5x15x112x15x15
5,4,3,2,1,0 32x15x15x15x15x32
5,4,3,2,1,0 112x5x15x15x15x32
5,4,3,2,1,0 32x5x15x15x15x112
"""


def _row(line: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    perm, size = line.split()
    return tuple(map(int, perm.split(","))), tuple(map(int, size.split("x")))


SHAPES: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...] = tuple(map(_row, _TABLE.split("\n")[1:-1]))
"""(perm, size) by the number of the case."""

TEN = (0, 4, 8, 9, 13, 20, 24, 36, 41, 54)  # every rank, easy and hard ones


def in_type(number: int, itemsize: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """A case's perm and size, the longest extent adapted to elements of so many bytes."""
    perm, size = SHAPES[number]
    longest = max(range(len(size)), key=lambda k: size[k])
    return perm, tuple(e * 4 // itemsize if k == longest else e for k, e in enumerate(size))
