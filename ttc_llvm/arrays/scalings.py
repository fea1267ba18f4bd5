"""The scaling from one array to another, as kernels take it: loaded by every call, unlike what makes one (`pairs`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..lazy_dataclasses import dataclass
from ..problem.kinds import COPY, Kinds

if TYPE_CHECKING:
    from ..operands.operand import Array
    from ..problem.dtypes import DType


@dataclass(frozen=True, slots=True)
class Scaling:
    """alpha, beta and conjugation as kernels take them. number: of types and kinds in layouts (`scaled_kind`,
    `cast_kind`), 0 where items are moved as they are; address: that of the values; types: A's and B's."""

    number: int
    kinds: Kinds
    values: Array | None = None
    alpha: complex = 1.0
    beta: complex = 0.0
    conjugate: bool = False
    address: int = 0
    types: tuple[DType, DType] | None = None


PLAIN = Scaling(0, COPY)
"""Items are moved as they are."""
