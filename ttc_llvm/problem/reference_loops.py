"""The naive loop nest, written without planning: the reference of the TTC paper (section 5).

One loop an index, perfectly nested; the order of B's or of A's memory; nothing is merged, blocked or prefetched.
"""

from __future__ import annotations

from enum import Enum
from math import prod

from ..lazy_dataclasses import dataclass
from . import dtypes
from .dtypes import DType
from .kinds import Beta, Kinds
from .layouts import column_major
from .problem import Problem

INT_MAX = (1 << 31) - 1


class Traverse(Enum):
    """The tensors whose memory is walked from end to end."""

    OUTPUT = "output"
    INPUT = "input"


@dataclass(frozen=True, slots=True)
class Index:
    """One loop. number: of A's index; strides in elements."""

    number: int
    extent: int
    stride_a: int
    stride_b: int


@dataclass(frozen=True, slots=True)
class ReferenceLoops:
    """The nest. loops: outermost first, at least one; kinds: of alpha and beta, alpha = 0 counted as any other."""

    loops: tuple[Index, ...]
    a: DType
    b: DType
    kinds: Kinds
    conjugate: bool

    @property
    def compute(self) -> DType:
        """The type of alpha, beta and the arithmetic."""
        return dtypes.compute_type(self.a, self.b)

    @property
    def reads_b(self) -> bool:
        """True where B is read: beta != 0."""
        return self.kinds.beta is Beta.ANY

    @property
    def scales(self) -> bool:
        """True where alpha takes part."""
        return self.kinds != COPY_KINDS

    @property
    def elements(self) -> int:
        """The number of runs of the innermost body."""
        return prod(loop.extent for loop in self.loops)

    @property
    def fits_int(self) -> bool:
        """True where every offset, and one more of every index, is an `int` of C."""
        a, b = (sum(i.extent * i.stride_a for i in self.loops), sum(i.extent * i.stride_b for i in self.loops))
        return max(a, b, self.elements) <= INT_MAX


COPY_KINDS = Kinds.of(1, 0)


def of(problem: Problem, traverse: Traverse = Traverse.OUTPUT) -> ReferenceLoops:
    """The nest of a problem. Traverse.OUTPUT: B's index 0 is the innermost loop, Traverse.INPUT: A's."""
    strides_a, strides_b = column_major(problem.outer_a), column_major(problem.outer_b)
    place = {index: k for k, index in enumerate(problem.perm)}
    inner_first = problem.perm if traverse is Traverse.OUTPUT else range(len(problem.perm))
    loops = tuple(Index(k, problem.size[k], strides_a[k], strides_b[place[k]]) for k in inner_first)
    kinds = Kinds.of(problem.alpha or 1.5, problem.beta)
    return ReferenceLoops(loops[::-1] or (Index(0, 1, 1, 1),), problem.a, problem.b, kinds, problem.conjugate)
