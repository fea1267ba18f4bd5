"""Sums of permutations of one tensor: their canonical form, and the tiles that read the same tiles of A."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from ..lazy_dataclasses import dataclass, replace
from .canonical import Axis, Canonical, Placed, Size, from_axes, static
from .dtypes import DType
from .kinds import Alpha, Kinds
from .layouts import column_major
from .terms import Term

if TYPE_CHECKING:
    from .problem import Problem

LARGEST = 24  # group of permutations whose tiles are visited together


@dataclass(frozen=True, slots=True)
class Walks:
    """One axis of B: extent, stride in B, and the strides of A by which the terms walk along it, in elements."""

    extent: int
    stride_b: int
    strides_a: tuple[int, ...]


def from_walks(axes: Iterable[Walks], a: DType, b: DType, kinds: Kinds, conjugate: bool = False) -> Placed:
    """The canonical form of a sum, which has as many terms as strides of A; of one term it is that of its permutation.

    Raises ProblemError as `from_axes`.
    """
    every = list(axes)
    count = len(every[0].strides_a) if every else 1
    kept = [axis for axis in every if axis.extent != 1] or [Walks(1, 1, (1,) * count)]
    first = from_axes([Axis(x.extent, x.strides_a[0], x.stride_b) for x in kept], a, b, kinds, conjugate)
    if count == 1 or first.canonical.elements == 0:
        return first
    ahead = [_ahead(kept, n) for n in range(count)]
    flipped = sorted(map(_upwards, kept), key=lambda x: (x.stride_b, x.strides_a))
    whole = _form(_merged(flipped), a, b, kinds, conjugate, ahead)
    apart = _form(flipped, a, b, kinds, conjugate, ahead)
    form = apart if not group(whole) and group(apart) else whole
    return Placed(form, ahead[0], first.offset_b)


def summed(problem: Problem, kinds: Kinds) -> Placed:
    """The canonical form of a problem of several terms, which reads A. Its kinds multiply, also by 1."""
    strides_a, strides_b = column_major(problem.outer_a), column_major(problem.outer_b)
    perms = [perm for _, perm in problem.terms]
    axes = [
        Walks(n, strides_b[k], tuple(strides_a[perm[k]] for perm in perms)) for k, n in enumerate(problem.size_b)
    ]
    return from_walks(axes, problem.a, problem.b, Kinds(Alpha.ANY, kinds.beta), problem.conjugate)


def _ahead(axes: Sequence[Walks], n: int) -> int:
    """Elements of A from its base to the element that a term reads for the first one of B."""
    return sum((x.extent - 1) * x.strides_a[n] for x in axes if x.stride_b < 0)


def _upwards(x: Walks) -> Walks:
    return x if x.stride_b > 0 else Walks(x.extent, -x.stride_b, tuple(-s for s in x.strides_a))


def _merged(axes: Sequence[Walks]) -> list[Walks]:
    """Neighbours that are contiguous in B and for every term of A, as one."""
    merged: list[Walks] = []
    for axis in axes:
        last = merged[-1] if merged else None
        if last and _steps(axis) == [last.extent * near for near in _steps(last)]:
            merged[-1] = replace(last, extent=last.extent * axis.extent)
        else:
            merged.append(axis)
    return merged


def _steps(x: Walks) -> list[int]:
    return [x.stride_b, *x.strides_a]


def _form(
    axes: Sequence[Walks], a: DType, b: DType, kinds: Kinds, conjugate: bool, ahead: Sequence[int]
) -> Canonical:
    terms = tuple(
        Term(tuple(x.strides_a[n] for x in axes), ahead[n] - ahead[0]) for n in range(1, len(ahead))
    )
    kept = tuple(Axis(x.extent, x.strides_a[0], x.stride_b) for x in axes)
    return Canonical(kept, a, b, kinds, conjugate, False, terms)


def sources(form: Canonical) -> tuple[tuple[Size, ...], ...]:
    """The strides of A along the axes, term by term."""
    return (form.strides("a"), *(term.strides for term in form.terms))


def single(form: Canonical, n: int) -> Canonical:
    """One term alone, on the axes of the sum."""
    axes = tuple(replace(x, stride_a=s) for x, s in zip(form.axes, sources(form)[n], strict=True))
    return replace(form, axes=axes, terms=())


@lru_cache(maxsize=256)
def group(form: Canonical) -> tuple[tuple[int, ...], ...]:
    """The permutations of positions under which tiles of B read the same tiles of A: image[k] = the axis whose position
    axis k takes. The first one leaves all in place; none where terms read other elements, or there are too many."""
    if any(term.offset for term in form.terms):
        return ()
    places = {(x.extent, static(x.stride_a)): k for k, x in enumerate(form.axes)}
    steps = []
    for term in form.terms:
        found = [places.get((x.extent, s), -1) for x, s in zip(form.axes, term.strides, strict=True)]
        if sorted(found) != [*range(len(found))]:
            return ()
        steps.append(tuple(found))
    return _closure(tuple(range(len(form.axes))), steps)


def _closure(same: tuple[int, ...], steps: Sequence[tuple[int, ...]]) -> tuple[tuple[int, ...], ...]:
    found = [same]
    for image in found:  # which grows
        for step in steps:
            other = tuple(image[k] for k in step)
            if other not in found:
                found.append(other)
        if len(found) > LARGEST:
            return ()
    return tuple(found)


def orbits(images: Sequence[Sequence[int]]) -> tuple[tuple[int, ...], ...]:
    """The axes in groups that take each other's places."""
    return tuple(sorted({tuple(sorted({image[k] for image in images})) for k in range(len(images[0]))}))

