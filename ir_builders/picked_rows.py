"""Kernels of rows of every second, third or fourth item of A, forwards or backwards, for `integer_code`.

A vector of B is picked from as many whole ones of A. The last one lies at the end of its row, over the one before, and
is picked from what ends with A's last item: nothing is read that lies outside of the row. Where A goes backwards, what
is read begins where a forward row's would end. Axes are walked, and parameters written, as those of `short_rows`.
"""

from __future__ import annotations

from . import short_rows as short
from .planner_fields import PICKED
from .words import pick

LINE = 64  # bytes of a vector: shorter rows than one and an item are not served


def _picking(name: str, width: int, step: int) -> short.Row:
    most, back = abs(step) - 1, min(0, step * (LINE - width))
    first, last = (0, most) if step > 0 else (most, 0)  # items of those that are read, inside of a row and at its end
    first_of, last_of = back - first * width, back - last * width

    def pick_row(to: int, of: int, _offsets: int, size: int) -> None:
        rest = size - LINE
        for at in range(0, rest, LINE):
            pick(to + at, of + step * at + first_of, width, step, first)
        pick(to + rest, of + step * rest + last_of, width, step, last)

    pick_row.__name__ = f"row_of_{name}"
    return pick_row


KERNELS = tuple(short.kernel(name, 1, _picking(name, *which)) for name, which in PICKED.items())
globals().update((made.__name__, made) for made in KERNELS)  # items_of_1_by_2 and so on
