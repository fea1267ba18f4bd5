"""Long products cut into short ones: a BLAS may take small products by kernels that copy no operand first."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from .gemm import Gemm

ROWS, COLUMNS = "rows", "columns"
SMALL = 786_432  # multiplications of a part, at most; OpenBLAS has such kernels up to a million
LEAST = 32  # rows or columns of a part
GAIN = 1.05  # the parts together must be so much faster than the whole
Gains = Mapping[tuple[str, str, str], float]
"""Times as fast as the whole: by how BLAS takes the left and the right operand, and the side that is cut."""
NO_GAINS: Gains = MappingProxyType({})


class Split(NamedTuple):
    """A product in so many parts of `size` rows or columns, and the rest of these, 0 or more."""

    side: str
    size: int
    parts: int
    rest: int

    @property
    def is_rows(self) -> bool:
        """True where the left operand is cut, False where the right one is."""
        return self.side == ROWS


def kind(call: Gemm) -> tuple[str, str]:
    """Both operands as BLAS takes them, transposed or not."""
    left, right = ("N" if letter == "N" else "T" for letter in call.transposed)
    return left, right


def longer_side(rows: int, columns: int, depth: int) -> Split | None:
    """The cut of the longer side of a large product; None where the product is small, or its parts could not be."""
    side, extent, other = (ROWS, rows, columns) if rows > columns else (COLUMNS, columns, rows)
    most = SMALL // max(other * depth, 1)
    if most < LEAST or rows * columns * depth <= 2 * SMALL:
        return None
    size = most - most % LEAST
    return Split(side, size, extent // size, extent % size)


def split(call: Gemm, gains: Gains) -> Split | None:
    """The cut that makes a product faster, where there is one."""
    found = longer_side(call.rows, call.columns, call.depth)
    if found is None or gains.get((*kind(call), found.side), 0.0) < GAIN:
        return None
    return found
