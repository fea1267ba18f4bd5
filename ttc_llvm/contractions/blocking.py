"""Plans that are done piece by piece (`blocks` runs them)."""

from __future__ import annotations

from math import prod

from ..lazy_dataclasses import replace
from ..problem.contraction import Contraction, IndexClass
from .merged import A, B, C, Merged
from .plan import Products

PIECE_BYTES = 4 << 20  # of a tensor's copy: a share of the last cache
LEAST = 64  # rows or columns of a piece: smaller products are slower
DEPTH = 2  # blocks in each other, at most
RUN_BYTES = 1 << 10  # of the tensor: pieces read or write it in runs of so much, at least


def blocked(contraction: Contraction, products: Products) -> Products | None:
    """The same with blocks, for the copy of C, or for the larger one of A and B; None where none is large."""
    plan, merged = products.plan, products.merged
    large = [t for t in (A, B, C) if plan.copies[t] is not None and merged.bytes[t] > 2 * PIECE_BYTES]
    if not large:
        return None
    tensor = max(large, key=lambda t: (t == C, merged.bytes[t]))
    size = merged.bytes[tensor]
    blocks: list[tuple[int, int]] = []
    for number in _candidates(products, tensor):
        if size <= 2 * PIECE_BYTES or len(blocks) == DEPTH:
            break
        extent, whole = merged.indices[number].extent, inner(contraction, merged, number)
        group = next((group for group in (plan.m, plan.n) if number in group), (number,))
        least = 1 if number in plan.loops else -(-LEAST * extent // merged.extent(group))
        wanted = -(-max(least, extent * PIECE_BYTES // size) // whole) * whole
        run = wanted * merged.indices[number].strides[tensor] * contraction.element.itemsize
        if wanted < extent and run >= RUN_BYTES:
            blocks.append((number, wanted))
            size = size * wanted // extent
    return replace(products, plan=replace(plan, blocks=tuple(blocks))) if blocks else None


def _candidates(products: Products, tensor: int) -> list[int]:
    """Indices of a tensor along which pieces can be made: loops, which come by descending stride in C, then rows and
    columns."""
    plan, indices = products.plan, products.merged.indices
    loops = [number for number in plan.loops if indices[number].kind is not IndexClass.K]
    sides = [group[0] for group in (plan.m, plan.n) if group]
    every = [*loops, *sorted(sides, key=lambda number: -indices[number].strides[tensor])]
    return [number for number in every if tensor in indices[number].tensors]


def inner(contraction: Contraction, merged: Merged, number: int) -> int:
    """The product of the extents of all letters of an index but the outermost: pieces keep these whole."""
    return prod(contraction.extents[letter] for letter in merged.letters[number][1:])
