"""The layout of two arrays as bytes (`ir_builders.layout_fields`): the key by which it is remembered."""

from __future__ import annotations

import struct
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING

from ..ir_builders import planner_fields as fields
from ..ir_builders.layout_fields import MAX_RANK
from ..ir_builders.pool_layout import MAX_PARTICIPANTS, SERIAL_BYTES
from .layouts import layouts

if TYPE_CHECKING:
    from ..operands.operand import Array
    from .scalings import Scaling

MOST_NUMBERS = 4096  # efforts above 1, and their numbers of threads, in layouts


def layout_of(
    of: Array, to: Array, scale: Scaling, threads: int, effort: int, odd: int, permuted: bool = False
) -> bytes:
    """The layout of two arrays of one shape. odd: address bits that are set and should not be; permuted: in place.

    Threads and effort are part of it where plans depend on them.
    """
    kind = scale.number or of.dtype.itemsize
    if odd:
        kind |= odd << fields.ODD_BITS
    if permuted:
        kind |= 1 << fields.PERMUTED_BIT
    if effort != 1 or threads > 1:
        worth = max(1, to.size * (of.dtype.itemsize + to.dtype.itemsize) // SERIAL_BYTES)
        useful = min(threads, worth, MAX_PARTICIPANTS)
        number = useful - 1 if effort == 1 else _number(effort, useful)
        kind |= (effort != 1) << fields.UNSERVED_BIT | number << fields.NUMBER_BITS
    rank = to.ndim
    axes = chain.from_iterable(zip(to.shape, of.strides, to.strides, strict=True))
    return _struct(rank).pack(kind, rank, *axes)


@lru_cache(maxsize=MAX_RANK + 1)
def _struct(rank: int) -> struct.Struct:
    return struct.Struct(f"{2 + 3 * rank}q")


_numbers: dict[tuple[int, int], int] = {}


def _number(effort: int, threads: int) -> int:
    """A number for every effort above 1 and number of threads; none is given anew while a layout may have it."""
    if len(_numbers) > MOST_NUMBERS:
        layouts().clear()
        _numbers.clear()
    return _numbers.setdefault((effort, threads), len(_numbers))
