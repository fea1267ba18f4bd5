"""A contraction as its plans see it: indices by class, merged where they are contiguous in every tensor that has them.

Letters and the order of axes are forgotten; a matrix product is two or three indices whatever its operands' ranks.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from ..lazy_dataclasses import dataclass, field, replace
from ..locks import cached_property
from ..problem import dtypes
from ..problem.contraction import OPERANDS, Contraction, IndexClass

A, B, C = range(len(OPERANDS))
_TENSORS = {IndexClass.BATCH: (A, B, C), IndexClass.M: (A, C), IndexClass.N: (B, C), IndexClass.K: (A, B)}


@dataclass(frozen=True, slots=True)
class Index:
    """An index: its extent, and its strides in A, B and C in elements, 0 in the tensor that lacks it."""

    kind: IndexClass
    extent: int
    strides: tuple[int, int, int]

    @property
    def tensors(self) -> tuple[int, ...]:
        """The tensors that have it, of A, B and C."""
        return _TENSORS[self.kind]

    def __str__(self) -> str:
        strides = ":".join(str(self.strides[tensor]) for tensor in self.tensors)
        return f"{self.kind.value}:{self.extent}:{strides}"


@dataclass(frozen=True)
class Merged:
    """The indices of a contraction, by class and then by descending stride; str() is its part of every key.

    dtype: of all three tensors; conjugate: of A and of B; letters: of the contraction's indices, outermost first, that
    each index is made of; reversed: the letters of those that are walked from their end.
    """

    indices: tuple[Index, ...]
    dtype: str
    conjugate: tuple[bool, bool] = (False, False)
    letters: tuple[str, ...] = field(default=(), compare=False)
    reversed: str = field(default="", compare=False)

    @cached_property
    def of_class(self) -> dict[IndexClass, tuple[int, ...]]:
        """The indices of each class, by number, in the order of `indices`."""
        return {kind: tuple(k for k, x in enumerate(self.indices) if x.kind is kind) for kind in IndexClass}

    def of_tensor(self, tensor: int) -> tuple[int, ...]:
        """The indices of A, B or C, by number, by descending stride."""
        return self._of_tensors[tensor]

    @cached_property
    def _of_tensors(self) -> tuple[tuple[int, ...], ...]:
        every = [[k for k, x in enumerate(self.indices) if t in x.tensors] for t in (A, B, C)]
        return tuple(tuple(sorted(having, key=lambda k: -self.indices[k].strides[t])) for t, having in enumerate(every))

    @cached_property
    def strides(self) -> tuple[tuple[int, ...], ...]:
        """The strides of all indices in A, in B and in C."""
        return tuple(zip(*(index.strides for index in self.indices), strict=True)) or ((),) * len(OPERANDS)

    def extent(self, numbers: Sequence[int]) -> int:
        """The product of the extents of some indices, by number."""
        return prod(self.indices[k].extent for k in numbers)

    def elements(self, tensor: int) -> int:
        """Elements of A, B or C."""
        return self._elements[tensor]

    @cached_property
    def _elements(self) -> tuple[int, ...]:
        return tuple(map(self.extent, self._of_tensors))

    @cached_property
    def bytes(self) -> tuple[int, ...]:
        """Those of A, B and C."""
        itemsize = dtypes.dtype(self.dtype).itemsize
        return tuple(count * itemsize for count in self._elements)

    def __str__(self) -> str:
        marks = "".join(f" conj-{name}" for name, is_set in zip(OPERANDS, self.conjugate, strict=False) if is_set)
        return " ".join([f"{self.dtype}{marks}", *map(str, self.indices)])


def merge(contraction: Contraction) -> Merged:
    """The merged form. Extents of 1 are dropped; an extent of 0 stays. Strides of C, and of A along what is summed, are
    positive: other indices are walked from their end."""
    strides = [dict(zip(contraction.indices(t), contraction.strides(t), strict=True)) for t in OPERANDS]
    found, backwards = [], ""
    for letter, extent in contraction.size:
        steps = tuple(s.get(letter, 0) for s in strides)
        kind = contraction.class_of(letter)
        if steps[A if kind is IndexClass.K else C] < 0:
            steps, backwards = tuple(-s for s in steps), backwards + letter
        if extent != 1:
            found.append((Index(kind, extent, (steps[A], steps[B], steps[C])), letter))
    pairs = [pair for kind in IndexClass for pair in _joined([x for x in found if x[0].kind is kind])]
    indices, letters = tuple(index for index, _ in pairs), tuple(made for _, made in pairs)
    conjugate = (contraction.conjugate_a, contraction.conjugate_b)
    return Merged(indices, str(contraction.dtype), conjugate, letters, backwards)


def _joined(pairs: list[tuple[Index, str]]) -> list[tuple[Index, str]]:
    """Indices of one class, with their letters, by descending stride in the last tensor that has them."""
    found: list[tuple[Index, str]] = []
    for index, letters in sorted(pairs, key=lambda x: [-x[0].strides[tensor] for tensor in reversed(x[0].tensors)]):
        if found and follows(found[-1][0], index, index.tensors):
            outer, before = found.pop()
            index, letters = replace(index, extent=outer.extent * index.extent), before + letters
        found.append((index, letters))
    return found


def follows(outer: Index, inner: Index, tensors: Sequence[int]) -> bool:
    """True where stepping the outer index continues where the inner one ends, in each of these tensors."""
    return all(
        outer.strides[tensor] == inner.extent * inner.strides[tensor] and inner.strides[tensor] > 0
        for tensor in tensors
    )


@dataclass(frozen=True)
class Form:
    """A contraction as its plans see it (`task.Form`)."""

    stated: Contraction
    merged: Merged

    @property
    def elements(self) -> int:
        """Elements of C."""
        return self.merged.elements(C)

    @property
    def bytes_moved(self) -> int:
        """Bytes of A, B and C, those of C twice where it is read."""
        tensors = (A, B, C, C) if self.stated.beta != 0 else (A, B, C)
        return sum(map(self.merged.elements, tensors)) * self.stated.element.itemsize

    def __str__(self) -> str:
        return str(self.merged)
