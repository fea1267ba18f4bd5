"""Sequences of sequences of integers, as arrays of words."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from ..arguments import integers, sequence
from ..errors import ArrayError
from ..operands.addresses import data_address

Words = npt.NDArray[np.int64]
_MOST = 1 << 62


class Ragged:
    """Rows of integers of any lengths. name: what they are, for messages.

    lengths: of each; given: False for rows that are None, where `missing` says how long they would be.
    """

    def __init__(self, rows: Any, name: str, missing: Words | None = None) -> None:
        found = rows if type(rows) in (list, tuple) else sequence(name, rows, ArrayError, "sequences of integers")
        self.given: Any = np.array([row is not None for row in found], bool) if missing is not None else None
        if missing is not None and len(found) == len(missing):
            found = [(0,) * length if row is None else row for row, length in zip(found, missing.tolist(), strict=True)]
        try:
            lengths, flat = list(map(len, found)), np.array(list(chain.from_iterable(found)))
            plain = flat.dtype.kind == "i" or not flat.size
        except Exception:  # whatever the rows raise
            plain = False
        if not plain:
            checked = [integers(f"{name}[{k}]", row, ArrayError) for k, row in enumerate(found)]
            lengths, flat = list(map(len, checked)), _words(name, list(chain.from_iterable(checked)))
        self.lengths = np.array(lengths, np.int64)
        self._flat: Words = flat.astype(np.int64)
        self._starts = np.cumsum(self.lengths) - self.lengths

    def rows(self, numbers: Words, length: int) -> Words:
        """Some rows, which have this length."""
        if length * len(self.lengths) == len(self._flat) and len(numbers) == len(self.lengths):
            return self._flat.reshape(len(numbers), length)
        found: Words = self._flat[self._starts[numbers, None] + np.arange(length)]
        return found


def block(nbytes: int, values: Mapping[int, int]) -> Words:
    """Words that native code reads, by their offsets in bytes; all others are 0."""
    words = np.zeros(nbytes // 8, np.int64)
    for offset, value in values.items():
        words[offset // 8] = value
    return words


def addresses_of(rows: Words) -> Words:
    """The address of each row."""
    return data_address(rows) + rows.strides[0] * np.arange(len(rows))


def _words(name: str, flat: list[int]) -> Words:
    for value in flat:
        if not -_MOST <= value < _MOST:
            raise ArrayError(f"{name} holds {value}, which no tensor in memory has")
    return np.array(flat, np.int64)
