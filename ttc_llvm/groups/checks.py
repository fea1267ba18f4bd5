"""The check of a call's addresses: every block has memory, and no result lies where another is, or an array.

Native code compares the first and last bytes of all blocks, in orders that mostly are those of the call before. Only
where these interleave, as the tiles of one matrix do, rows are compared: with a result that is remembered, as blocks
mostly keep their distances.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..errors import ArrayError
from ..ir_builders import group_fields as fields
from ..ir_builders.group_fields import Check
from ..ir_builders.layout_fields import REACH_OF, REACH_TO
from ..operands.addresses import data_address
from . import code
from .blocks import Blocks
from .ragged import Words, block
from .rows import check_rows

if TYPE_CHECKING:
    from .table import Table

_ORDERS = {fields.UNSORTED_A: (Check.A, REACH_OF, Check.ORDER_A), fields.UNSORTED_B: (Check.B, REACH_TO, Check.ORDER_B)}
_WITHOUT = {fields.NO_ADDRESS_A: "A", fields.NO_ADDRESS_B: "B"}


class Checks:
    """The check of one group's calls. Safe in several threads."""

    def __init__(self, blocks: Blocks) -> None:
        self._blocks = blocks
        self._orders = {Check.ORDER_A: np.arange(blocks.total), Check.ORDER_B: np.arange(blocks.total)}
        self._last: tuple[Table, Words, Words, int] | None = None  # what was found to be well
        self._apart: dict[int, Words] = {}  # distances at which rows were found to lie apart, by what was compared

    def odd(self, table: Table, a: Words, b: Words) -> int:
        """The address bits that are set and should not be. ArrayError where blocks do not lie apart. The addresses of
        the call before are well; the arrays a and b are kept."""
        last = self._last
        if last is None or last[0] is not table or not (np.array_equal(a, last[1]) and np.array_equal(b, last[2])):
            self._last = last = table, a, b, self._found(table, a, b)
        return last[3]

    def _found(self, table: Table, a: Words, b: Words) -> int:
        orders = {**self._orders}  # their addresses are read below, while other threads put others in their place
        words = self._words(table, a, b, orders)
        while (status := code.functions()["check_blocks"](data_address(words))) != fields.APART:
            if status in _ORDERS:
                side, reach, order = _ORDERS[status]
                starts = (a if side == Check.A else b) + table.low[reach]
                self._orders[order] = orders[order] = np.argsort(starts, kind="stable")
                words = self._words(table, a, b, orders, int(words[Check.INTERLEAVED // 8]))
                continue
            if status in _WITHOUT:
                first, side_name = int(words[Check.FIRST // 8]), _WITHOUT[status]
                address = int((a if side_name == "A" else b)[first])
                raise ArrayError(f"block {first} of {side_name} has elements, and the address {address}")
            self._check_rows(status, a, b)
            if status == fields.MEET_A:
                break
            words[Check.INTERLEAVED // 8] = 1
        return int(words[Check.ODD // 8])

    def _words(self, table: Table, a: Words, b: Words, orders: dict[int, Words], interleaved: int = 0) -> Words:
        arrays = {Check.RECORDS: table.records, Check.A: a, Check.B: b} | orders
        values = {word: data_address(array) for word, array in arrays.items()}
        return block(
            fields.CHECK_BYTES, values | {Check.COUNT: self._blocks.total, Check.INTERLEAVED: interleaved}
        )

    def _check_rows(self, status: int, a: Words, b: Words) -> None:
        """ArrayError where rows of B have bytes in common, or with rows of A (MEET_A)."""
        places = np.concatenate([a, b]) if status == fields.MEET_A else b
        distances, known = places - places[0], self._apart.get(status)
        if known is not None and np.array_equal(distances, known):
            return
        check_rows(self._blocks, a, b, status == fields.MEET_A)
        self._apart[status] = distances
