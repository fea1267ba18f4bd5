"""Kernels of rows of every second, third or fourth item of A, forwards or backwards, for `integer_code`.

A vector of B is picked from as many whole ones of A. The last one lies at the end of its row, over the one before, and
is picked from what ends with A's last item: nothing is read that lies outside of the row. Where A goes backwards, what
is read begins where a forward row's would end. Axes are walked, and parameters written, as those of `short_rows`.
"""

from __future__ import annotations

from collections.abc import Callable

from . import short_rows as short
from .planner_fields import PICKED
from .words import load64, local, pick

LINE = 64  # bytes of a vector: shorter rows than one and an item are not served


def _kernel(name: str, width: int, step: int) -> Callable[[int, int, int, int, int, int, int], None]:
    most, back = abs(step) - 1, min(0, step * (LINE - width))
    first, last = (0, most) if step > 0 else (most, 0)  # items of those that are read, inside of a row and at its end
    first_of, last_of = back - first * width, back - last * width

    def rows(a: int, b: int, scalars: int, params: int, scratch: int, begin: int, end: int) -> None:
        walk, rest, edge = local(short.WALK_BYTES), load64(params + short.SIZE) - LINE, load64(params + short.EDGE)
        near, far = params + short.AXES, params + short.AXES + short.AXIS
        third = far + short.AXIS
        short.begin_walk(walk, params, begin)
        for _ in range(begin, end):
            tile_of, tile_to = a + load64(walk + short.OF), b + load64(walk + short.TO)
            count, lines = min(edge, short.left(walk, near, 0)), min(short.FAR_EDGE, short.left(walk, far, 1))
            for _ in range(min(short.FAR_EDGE, short.left(walk, third, 2))):
                row_of, row_to = tile_of, tile_to
                for _ in range(lines):
                    of, to = row_of, row_to
                    for _ in range(count):
                        for at in range(0, rest, LINE):
                            pick(to + at, of + step * at + first_of, width, step, first)
                        pick(to + rest, of + step * rest + last_of, width, step, last)
                        of, to = of + load64(near + short.A), to + load64(near + short.B)
                    row_of, row_to = row_of + load64(far + short.A), row_to + load64(far + short.B)
                tile_of, tile_to = tile_of + load64(third + short.A), tile_to + load64(third + short.B)
            short.advance(walk, params)

    rows.__name__ = name
    return rows


KERNELS = tuple(_kernel(name, *which) for name, which in PICKED.items())
globals().update((made.__name__, made) for made in KERNELS)  # items_of_1_by_2 and so on
