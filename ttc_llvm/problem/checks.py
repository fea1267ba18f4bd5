"""The rules that a problem has to keep."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ..errors import ProblemError
from .dtypes import Kind
from .orbits import shown

if TYPE_CHECKING:
    from .problem import Problem

MAX_RANK = 64


def check_layout(p: Problem) -> None:
    """ProblemError where perm, extents and outer sizes do not fit each other, or memory."""
    _check_shape(p)
    _check_outer(p)
    _check_axes(p)
    _check_bytes(p)


def _check_shape(p: Problem) -> None:
    rank = len(p.perm)
    if rank > MAX_RANK:
        raise ProblemError(f"perm has {rank} indices: at most {MAX_RANK} are supported")
    if sorted(p.perm) != list(range(rank)):
        raise ProblemError(
            f"perm {shown(p.perm)} is not a permutation of 0..{rank - 1}: each index must occur exactly once"
        )
    if len(p.size) != rank:
        raise ProblemError(f"size {shown(p.size)} has {len(p.size)} extents, but perm has {rank} indices")
    for k, extent in enumerate(p.size):
        if extent < 0:
            raise ProblemError(f"size[{k}] = {extent} is negative: extents are 0 or more")


def _check_outer(p: Problem) -> None:
    sides = ("lda", p.lda, p.size, "size[{k}]"), ("ldb", p.ldb, p.size_b, "size[perm[{k}]]")
    for name, outer, extents, meaning in sides:
        if outer is None:
            continue
        if len(outer) != len(extents):
            raise ProblemError(f"{name} {shown(outer)} has {len(outer)} entries, but perm has {len(extents)} indices")
        for k, (got, least) in enumerate(zip(outer, extents, strict=True)):
            if got < least:
                rule = meaning.format(k=k)
                raise ProblemError(
                    f"{name}[{k}] = {got} is less than {rule} = {least}: outer sizes include the extent"
                )


def _check_axes(p: Problem) -> None:
    plain = tuple(range(len(p.perm)))
    for name, axes in (("axes_a", p.axes_a), ("axes_b", p.axes_b)):
        if axes is not None and sorted(axes) != [*plain]:
            raise ProblemError(f"{name} {shown(axes)} is not a permutation of 0..{len(plain) - 1}")
        if axes == plain:
            object.__setattr__(p, name, None)


def _check_bytes(p: Problem) -> None:
    for name, outer, t in (("A", p.outer_a, p.a), ("B", p.outer_b, p.b)):
        if math.prod(max(extent, 1) for extent in outer) * t.itemsize >= 1 << 63:
            raise ProblemError(f"{name} of outer sizes {shown(outer)} exceeds 2^63 - 1 bytes")


def check_arithmetic(p: Problem) -> None:
    """ProblemError for scalars and conjugates that the types do not have."""
    if p.compute.kind is Kind.OPAQUE and (p.alpha != 1 or p.beta != 0):
        scaled = "" if p.a.format is None or p.a != p.b else "; numbers are scaled where they go to another type"
        raise ProblemError(f"data type {p.spelled} admits plain moves only: alpha must be 1 and beta 0{scaled}")
    if p.conjugate and p.compute.kind is not Kind.COMPLEX:
        raise ProblemError(f"conjugate needs a complex data type, not {p.spelled}")
