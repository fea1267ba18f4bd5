"""A problem stated by the strides of every index: its indices by ascending stride, its outer sizes."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import ProblemError
from ..lazy_dataclasses import dataclass
from .layouts import column_major, layout, row_major

Integers = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Stated:
    """Fields of a `Problem`."""

    perm: Integers
    size: Integers
    lda: Integers | None
    ldb: Integers | None


def stated(perm: Integers, size: Integers, a: Sequence[int], b: Sequence[int]) -> Stated:
    """The problem of these strides in elements, in A's and in B's index order. perm and size are those of a `Problem`.

    Indices keep their order where it is that of their strides. Raises ProblemError for strides that no outer sizes
    lead to.
    """
    size_b = tuple(size[k] for k in perm)
    (order_a, lda), (order_b, ldb) = _side("a", size, a), _side("b", size_b, b)
    found = tuple(order_a.index(perm[k]) for k in order_b)
    ordered, ordered_b = tuple(size[k] for k in order_a), tuple(size_b[k] for k in order_b)
    return Stated(found, ordered, None if lda == ordered else lda, None if ldb == ordered_b else ldb)


def packed(extents: Integers, outer: Integers | None) -> Integers:
    """The strides of a tensor of these outer sizes; None = no padding."""
    return column_major(extents if outer is None else outer)


def _side(side: str, extents: Integers, strides: Sequence[int]) -> tuple[Integers, Integers]:
    """The order of one side's indices, and their outer sizes."""
    name = f"strides_{side}"
    if len(strides) != len(extents):
        raise ProblemError(f"{name} {_shown(strides)} has {len(strides)} entries, but perm has {len(extents)} indices")
    found = layout(extents[::-1], tuple(strides)[::-1], 1)  # backwards: of several orders, the given one
    if found is None:
        raise ProblemError(
            f"{name} {_shown(strides)} of extents {_shown(extents)} is stated by no outer sizes: the smallest stride"
            " must be 1, and each other a multiple of the one before it that steps over it; generated without"
            f" {name}, the entries with _i64, and the plans of a library, take any strides at run time"
        )
    backwards = row_major(len(extents))
    return tuple(backwards[k] for k in found.axes), found.outer


def _shown(values: Sequence[int]) -> str:
    return ",".join(map(str, values)) or "()"
