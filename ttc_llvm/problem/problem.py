"""The problem: one transposition in the TTC paper's column-major terms."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, SupportsFloat, SupportsIndex

from .. import arguments, locks
from ..errors import ProblemError
from ..lazy_dataclasses import dataclass, replace
from . import checks, dtypes, layouts, type_names
from .dtypes import DType
from .layouts import column_major
from .orbits import check_kept, share_outer
from .scalars import scalar
from .summands import Summand, backwards, check_terms, settle


@dataclass(frozen=True, slots=True)
class Problem:
    """`B[perm(i)] <- alpha * A[i] + beta * B[perm(i)]`, column-major: index 0 of A has stride 1.

    perm: perm[k] = the index of A that is index k of B; left out beside terms.
    size, lda: extents and outer sizes in A's index order; ldb: outer sizes in B's order. None = no padding.
    dtype: `s d c z`, `sd ds cz zc` (A's type, then B's), or a type of plain moves (`f16 bf16 i8..i64 v<bytes>`); also
    as `float32`, `float32,float64`, `>i2`, a NumPy dtype or class (see `type_names.read`). It is kept by its letters.
    Two types of numbers, as `uint8,float32`, are converted, by the rules of docs/casts.md.
    alpha, beta: the defaults of a call; they stay run-time values. A complex 1 does not multiply: inf + 1j stays so.
    What rounds to 0 or 1 in single precision is 0 or 1 where that is the type of the arithmetic, as in C.
    conjugate: conjugate A (complex types only).
    inplace: A and B are one tensor, whose shape and outer sizes the permutation keeps: lda is ldb, too.
    axes_a, axes_b: axes_a[k] = the axis of a caller's array that is index k of A, and so for B; None = axis k.
    `from_arrays` and `row_major` set them; they change how a solution reads arrays, and nothing else.
    saturate: numbers beyond the range of B's type become its nearest number, where types differ.
    terms: of a sum of permutations, B <- alpha * (factor * A permuted + ...) + beta * B: pairs (factor, perm). Factors
    of equal perms add up, those of 0 go; of one that is left, problems are those of its perm. perm is the first one's.

    Raises ProblemError, one sentence, for anything invalid. Source: Springer, Sankaran, Bientinesi 2016, eq. 1.
    """

    perm: tuple[int, ...] = ()
    size: tuple[int, ...] = ()
    dtype: str = "s"
    lda: tuple[int, ...] | None = None
    ldb: tuple[int, ...] | None = None
    alpha: complex = 1.0
    beta: complex = 0.0
    conjugate: bool = False
    axes_a: tuple[int, ...] | None = None
    axes_b: tuple[int, ...] | None = None
    inplace: bool = False
    saturate: bool = False
    terms: tuple[Summand, ...] = ()

    if TYPE_CHECKING:  # what is taken; the fields say what is kept

        def __init__(
            self,
            perm: Iterable[SupportsIndex] = (),
            size: Iterable[SupportsIndex] = (),
            dtype: type_names.TypeLike = "s",
            lda: Iterable[SupportsIndex] | None = None,
            ldb: Iterable[SupportsIndex] | None = None,
            alpha: complex | SupportsFloat = 1.0,
            beta: complex = 0.0,
            conjugate: bool = False,
            axes_a: Iterable[SupportsIndex] | None = None,
            axes_b: Iterable[SupportsIndex] | None = None,
            inplace: bool = False,
            saturate: bool = False,
            terms: Iterable[tuple[complex | SupportsFloat, Iterable[SupportsIndex]]] = (),
        ) -> None: ...

    def __post_init__(self) -> None:
        put = object.__setattr__
        arguments.put(self, _RULES, ProblemError)
        put(self, "dtype", type_names.read(self.dtype))
        settle(self)
        if self.inplace:
            share_outer(self)
        checks.check_layout(self)
        put(self, "alpha", scalar("alpha", self.alpha, self.compute, self.spelled))
        put(self, "beta", scalar("beta", self.beta, self.compute, self.spelled))
        checks.check_arithmetic(self)
        check_terms(self)
        if self.inplace:
            check_kept(self)

    @classmethod
    def from_arrays(
        cls, x: Any, axes: Iterable[SupportsIndex] | None = None, out: Any = None, *,
        alpha: complex | SupportsFloat = 1.0, beta: complex = 0.0, conjugate: bool = False, saturate: bool = False,
    ) -> Problem:  # fmt: skip
        """The problem `out <- alpha * transpose(x, axes) + beta * out` of arrays that lie as these do.

        x, out: of NumPy or another library, whose shapes, strides and types are read and whose elements are not: in C
        or F order, or parts of such arrays, which give lda and ldb. axes: as in `np.transpose`. out: None stands for a
        new array in C order of x's type, x itself for a problem in place. Solutions take arrays of their shapes.

        Raises ArrayError for shapes and axes that do not fit, and for strides that no problem states
        (`ttc_llvm.transpose` takes those), ProblemError for types and scalars.
        """
        f = locks.imported(".of_arrays", __package__).stated(x, axes, out)
        stated = f.perm, f.size, f.dtype, f.lda, f.ldb
        return cls(*stated, alpha, beta, conjugate, f.axes_a, f.axes_b, out is x, saturate)

    @property
    def spelled(self) -> str:
        """The data type as it was given, for messages."""
        return type_names.read(self.dtype).spelled

    def spelled_of(self, side: str) -> str:
        """A's (`"a"`) or B's (`"b"`) data type as it was given."""
        arguments.one_of("side", side, ("a", "b"), ProblemError)
        return type_names.read(self.dtype).sides["ab".index(side)]

    @property
    def a(self) -> DType:
        """A's element type."""
        return dtypes.parse_pair(self.dtype)[0]

    @property
    def b(self) -> DType:
        """B's element type."""
        a, b = dtypes.parse_pair(self.dtype)
        return dtypes.saturating(b) if self.saturate and a != b else b

    @property
    def compute(self) -> DType:
        """The type of alpha, beta and of the arithmetic."""
        return dtypes.compute_type(self.a, self.b)

    @property
    def outer_a(self) -> tuple[int, ...]:
        """Outer sizes of A: lda, or the extents where no lda was given."""
        return self.size if self.lda is None else self.lda

    @property
    def outer_b(self) -> tuple[int, ...]:
        """Outer sizes of B in B's index order: ldb, or the permuted extents."""
        return self.size_b if self.ldb is None else self.ldb

    @property
    def size_b(self) -> tuple[int, ...]:
        """Extents in B's index order."""
        return tuple(self.size[p] for p in self.perm)

    @property
    def row_major(self) -> Problem:
        """The problem that the same numbers state of tensors in C order, where the last index has stride 1.

        It is column-major as every problem: its indices are these backwards. Of such a problem, the one it was made of.
        """
        perm = tuple(len(self.perm) - 1 - p for p in self.perm[::-1])
        lda, ldb = (outer and outer[::-1] for outer in (self.lda, self.ldb))
        axes = None if self.is_row_major else layouts.row_major(len(perm))
        return replace(
            self, perm=perm, size=self.size[::-1], lda=lda, ldb=ldb, axes_a=axes, axes_b=axes,
            terms=backwards(self.terms, len(perm)),
        )  # fmt: skip

    @property
    def is_row_major(self) -> bool:
        """True where the arrays of A and B have the problem's indices backwards, as those in C order do."""
        return self.axes_a == self.axes_b == layouts.row_major(len(self.perm))

    @property
    def elements(self) -> int:
        """Elements moved."""
        return math.prod(self.size)

    def storage(self, side: str) -> int:
        """Elements from the first to the last one of A (`"a"`) or B (`"b"`), padding in between included."""
        arguments.one_of("side", side, ("a", "b"), ProblemError)
        extents, outer = (self.size, self.outer_a) if side == "a" else (self.size_b, self.outer_b)
        if 0 in extents:
            return 0
        return 1 + sum((e - 1) * s for e, s in zip(extents, column_major(outer), strict=True))

    def bytes_moved(self, beta: complex | None = None) -> int:
        """Bytes of A + bytes of B, B twice where beta != 0 and it is not A: the numerator of every bandwidth."""
        given = self.beta if beta is None else arguments.number("beta", beta)
        return self.elements * self.bytes_per_element(given != 0)

    def bytes_per_element(self, reads: bool) -> int:
        """The same of one element. reads: beta is not 0."""
        return self.a.itemsize + (2 if reads and not self.inplace else 1) * self.b.itemsize


_RULES = {
    "perm": arguments.integers,
    "size": arguments.integers,
    "lda": arguments.optional(arguments.integers),
    "ldb": arguments.optional(arguments.integers),
    "conjugate": arguments.flag,
    "saturate": arguments.flag,
    "axes_a": arguments.optional(arguments.integers),
    "axes_b": arguments.optional(arguments.integers),
    "inplace": arguments.flag,
}
