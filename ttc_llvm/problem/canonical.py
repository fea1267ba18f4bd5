"""The canonical form: axes of (extent, stride in A, stride in B); nothing later knows perm, lda or row-major.

Axes of extent 1 are dropped, axes are flipped so that B's stride is positive, sorted by B's stride, and
neighbours that are contiguous in both tensors are merged (TTC paper, footnote 5, generalised to strides).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod
from typing import TYPE_CHECKING, Any

from .. import locks
from ..errors import ProblemError
from ..lazy_dataclasses import dataclass, replace
from ..locks import cached_property
from . import dtypes
from .dtypes import DType
from .kinds import COPY, Alpha, Beta, Kinds
from .layouts import column_major
from .terms import Term

if TYPE_CHECKING:
    from .problem import Problem


@dataclass(frozen=True, slots=True)
class Param:
    """A value that the kernel reads at run time from slot `index` of its parameter array."""

    index: int
    name: str

    def __str__(self) -> str:
        return self.name


Size = int | Param
LONGEST = 1 << 62  # no extent that is known at run time only is longer


@dataclass(frozen=True, slots=True)
class Axis:
    """One loop of the problem: extent, and strides of A and B in their own elements."""

    extent: Size
    stride_a: Size
    stride_b: Size

    def __str__(self) -> str:
        return f"{self.extent}:{self.stride_a}:{self.stride_b}"


def is_move(kinds: Kinds, a: DType, b: DType, conjugate: bool) -> bool:
    """True for a bit-exact copy, which needs no arithmetic type."""
    return kinds == COPY and a == b and not conjugate


@dataclass(frozen=True)
class Canonical:
    """A problem as plans see it. axes: at least one, by ascending stride in B; str() is its part of every key.
    in_place: A and B are one tensor (`in_place.images`); terms: of a sum of permutations, all but the first (`sums`).

    No slots: planning asks for extents, strides and the hash ten thousand times, so that they are kept.
    """

    axes: tuple[Axis, ...]
    a: DType
    b: DType
    kinds: Kinds
    conjugate: bool = False
    in_place: bool = False
    terms: tuple[Term, ...] = ()

    @property
    def compute(self) -> DType:
        """The type in which alpha, beta and the arithmetic live."""
        return dtypes.compute_type(self.a, self.b)

    @cached_property
    def between(self) -> DType:
        """The type of elements between load and store: that of the arithmetic, without any the wider one of both."""
        if self.kinds == COPY and not self.conjugate:
            return max(self.b, self.a, key=lambda t: t.itemsize)
        return self.compute

    @cached_property
    def widest(self) -> int:
        """Bytes of the longest type that an element has on its way."""
        return max(self.a.itemsize, self.b.itemsize, self.between.itemsize)

    @property
    def is_move(self) -> bool:
        """True for a bit-exact copy."""
        return is_move(self.kinds, self.a, self.b, self.conjugate)

    @cached_property
    def extents(self) -> tuple[int, ...]:
        """Extents as integers; only for canonical forms without parameters."""
        return tuple(static(axis.extent) for axis in self.axes)

    @cached_property
    def bounds(self) -> tuple[int, ...]:
        """The same, with LONGEST where only run time knows an extent."""
        return tuple(LONGEST if isinstance(axis.extent, Param) else axis.extent for axis in self.axes)

    def strides(self, side: str) -> tuple[Size, ...]:
        """Strides of A (`"a"`) or B (`"b"`) in elements."""
        return self._strides[side]

    @cached_property
    def _strides(self) -> dict[str, tuple[Size, ...]]:
        return {"a": tuple(axis.stride_a for axis in self.axes), "b": tuple(axis.stride_b for axis in self.axes)}

    def along(self, side: str) -> tuple[int, ...]:
        """The axes in the order of loops that go along a side's memory, its smallest stride innermost."""
        return self._along[side]

    @cached_property
    def _along(self) -> dict[str, tuple[int, ...]]:
        axes = range(len(self.axes))
        return {
            side: tuple(sorted(axes, key=lambda k: -_length(strides[k], k))) for side, strides in self._strides.items()
        }

    @property
    def elements(self) -> int:
        """Elements moved."""
        return prod(self.extents)

    @property
    def bytes_moved(self) -> int:
        """Bytes of A + bytes of B, B twice where it is read."""
        read_a = self.a.itemsize if self.kinds.alpha is not Alpha.ZERO else 0
        passes = 2 if self.kinds.beta is Beta.ANY and not self.in_place else 1
        return self.elements * (read_a + passes * self.b.itemsize)

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash((self.axes, self.a, self.b, self.kinds, self.conjugate, self.in_place, self.terms))

    def __getstate__(self) -> dict[str, Any]:
        """The fields alone: a hash is of one process only."""
        return {name: getattr(self, name) for name in self.__match_args__}

    def __str__(self) -> str:
        flags = f"{' conj' * self.conjugate}{' in-place' * self.in_place}"
        return f"{self.a}>{self.b} {self.kinds}{flags} " + " ".join(map(str, (*self.axes, *self.terms)))


@dataclass(frozen=True, slots=True)
class Placed:
    """A canonical form and where its element 0 lies: offsets in A's and B's elements from the given bases."""

    canonical: Canonical
    offset_a: int
    offset_b: int


def _length(stride: Size, axis: int) -> int:
    """The length of a step; those that only run time knows are longer, and ascend with the axes."""
    return LONGEST + axis if isinstance(stride, Param) else abs(stride)


def static(size: Size) -> int:
    """The integer behind a size; a Param here is a defect of the caller."""
    if not isinstance(size, Param):
        return size
    raise TypeError(f"{size.name} is known at run time only")


def canonicalise(problem: Problem, kinds: Kinds | None = None) -> Placed:
    """The canonical form of a problem for these kinds (by default those of its own alpha and beta)."""
    wanted = kinds or locks.imported(".summands", __package__).kinds_of(problem)
    if problem.terms and wanted.alpha is not Alpha.ZERO:  # else A is not read
        return locks.imported(".sums", __package__).summed(problem, wanted)  # type: ignore[no-any-return]
    strides_a, strides_b = column_major(problem.outer_a), column_major(problem.outer_b)
    axes = [Axis(problem.size[p], strides_a[p], strides_b[k]) for k, p in enumerate(problem.perm)]
    in_place = problem.inplace and wanted.alpha is not Alpha.ZERO
    return from_axes(axes, problem.a, problem.b, wanted, problem.conjugate, in_place)


def from_axes(
    axes: Iterable[Axis], a: DType, b: DType, kinds: Kinds, conjugate: bool = False, in_place: bool = False
) -> Placed:
    """The canonical form of any strided problem. Offsets move to the element that canonical index 0 means.

    Strides are in elements and may be negative, and zero in A (a broadcast). B must not address one element
    twice: a zero stride of B along an extent above 1 raises ProblemError. in_place: as `in_place.in_place` checks it;
    axes then merge if each still takes the place of one.
    """
    kept = [axis for axis in axes if axis.extent != 1]
    if any(axis.extent == 0 for axis in kept):
        kept = [Axis(0, 1, 1)]  # nothing to move: strides mean nothing
    if kinds.alpha is Alpha.ZERO:  # A is not read: walk it as B is walked, so that everything merges
        kept = [replace(axis, stride_a=axis.stride_b) for axis in kept]
        conjugate = False
    flipped, offset_a, offset_b = _flip(kept)
    ordered = sorted(flipped, key=lambda axis: (static(axis.stride_b), static(axis.stride_a)))
    if is_move(kinds, a, b, conjugate):
        a, b, ordered, factor = _as_moves(a, ordered)
        offset_a, offset_b = offset_a * factor, offset_b * factor
    merged = _merge(ordered)
    if in_place and {(x.extent, x.stride_a) for x in merged} != {(x.extent, x.stride_b) for x in merged}:
        merged = ordered
    form = Canonical(tuple(merged) or (Axis(1, 1, 1),), a, b, kinds, conjugate, in_place)
    return Placed(form, offset_a, offset_b)


def _flip(axes: Sequence[Axis]) -> tuple[list[Axis], int, int]:
    flipped, offset_a, offset_b = [], 0, 0
    for axis in axes:
        extent, sa, sb = static(axis.extent), static(axis.stride_a), static(axis.stride_b)
        if sb == 0 and extent > 1:
            raise ProblemError(f"B has stride 0 along an axis of extent {extent}: its elements would overlap")
        if sb < 0:
            offset_a += (extent - 1) * sa
            offset_b += (extent - 1) * sb
            sa, sb = -sa, -sb
        flipped.append(Axis(extent, sa, sb))
    return flipped, offset_a, offset_b


def _merge(axes: Sequence[Axis]) -> list[Axis]:
    merged: list[Axis] = []
    for axis in axes:
        if merged and _contiguous(merged[-1], axis):
            merged[-1] = replace(merged[-1], extent=static(merged[-1].extent) * static(axis.extent))
        else:
            merged.append(axis)
    return merged


def _contiguous(inner: Axis, outer: Axis) -> bool:
    extent = static(inner.extent)
    pairs = (outer.stride_a, inner.stride_a), (outer.stride_b, inner.stride_b)
    return all(static(far) == extent * static(near) for far, near in pairs)


def _as_moves(t: DType, axes: list[Axis]) -> tuple[DType, DType, list[Axis], int]:
    """A bit-exact copy needs no arithmetic type: items become opaque units, odd sizes one more axis of them."""
    moved = dtypes.unit(t)
    factor = t.itemsize // moved.itemsize
    if factor == 1:
        return moved, moved, axes, 1
    scaled = [Axis(axis.extent, static(axis.stride_a) * factor, static(axis.stride_b) * factor) for axis in axes]
    return moved, moved, [Axis(factor, 1, 1), *scaled], factor
