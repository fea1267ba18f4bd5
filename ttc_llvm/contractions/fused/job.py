"""A fused plan as the words that native code reads: axes, blocks, and the places of all that is in scratch."""

from __future__ import annotations

import numpy as np

from ...ir_builders.fused import fields as f
from ...ir_builders.fused.layout import FEW, settle
from ...ir_builders.fused.turning import MORE, dividing, turn_rows
from ...lazy_dataclasses import NamedTuple
from ...lowering.micro_kernel import MicroKernel
from ...operands.addresses import data_address
from ...problem.contraction import OPERANDS
from ..merged import C
from .packing import whole
from .plan import Fused

ROWS = 2  # the class of rows is the second one: axes may be added to it


def rows_turned(fused: Fused, kernel: MicroKernel) -> int:
    """The rows that are turned at a time as they are packed (`ir_builders.fused.turning`); 0 where none are."""
    rows, left, indices = fused.plan.rows, fused.tensors[0], fused.merged.indices
    if len(rows) < 2 or fused.sizes[1] > FEW or fused.is_packed_by_vectors(left) or kernel.group < 2:
        return 0
    steps, last = fused.strides(left), indices[rows[-1]]
    others = (indices[k].extent for k in rows[:-1] if steps[k] == 1)
    is_turned = last.strides[C] == 1 and any(not n % kernel.piece for n in others)
    return dividing(kernel.group, last.extent) if is_turned else 0


class Turns(NamedTuple):
    """Rows that are turned together: so many that follow each other in A by so many in C. share: of all, those that
    whole turns of their blocks hold."""

    height: int
    run: int
    share: float


def turns(fused: Fused, kernel: MicroKernel) -> Turns | None:
    """The turns of a plan; None where no rows are turned."""
    if not rows_turned(fused, kernel):
        return None
    words = job(fused, kernel)
    height, run, block = (words[field // 8] for field in (f.TURN_HEIGHT, f.RUN, f.BLOCK_M))
    return Turns(height, run, whole(block, height * run))


def job(fused: Fused, kernel: MicroKernel) -> tuple[int, ...]:
    """The words of a plan's job."""
    size = kernel.dtype.itemsize
    block = [
        -(-min(wanted, max(extent, 1)) // tile) * tile
        for wanted, extent, tile in zip(fused.plan.block, fused.sizes, (kernel.rows, kernel.columns, 1), strict=True)
    ]
    streamed = kernel.group * size if fused.plan.streams else 0
    axes, counts, starts = _axes(fused, kernel)
    settled = [0] * ((f.BATCHES - f.SIDE) // 8)
    words = [
        *fused.sizes, *block, kernel.rows, kernel.columns, kernel.group, size, streamed, *settled, fused.batches,
        *counts, *starts, 0, kernel.tile_bytes, 0, *[0] * 3, fused.swapped, 0, 0, 0, kernel.way,
        *axes,
    ]  # fmt: skip
    made = np.array(words, np.int64)
    turn_rows(address := data_address(made))
    settle(address)
    return tuple(map(int, made))


def _axes(fused: Fused, kernel: MicroKernel) -> tuple[list[int], list[int], list[int]]:
    """Extents and strides of each class, how many each has, and where they begin."""
    size, (left, right, c) = kernel.dtype.itemsize, fused.tensors
    plan, indices = fused.plan, fused.merged.indices
    strides = [fused.strides(tensor) for tensor in range(len(OPERANDS))]
    words, counts, starts = list[int](), list[int](), list[int]()
    classes = (
        (plan.batches, (left, right, c)), (plan.rows, (left, c)), (plan.columns, (right, c)),
        (plan.terms, (left, right)),
    )  # fmt: skip
    for group, tensors in classes:
        starts.append(f.AXES + 8 * len(words))
        of_group = [(indices[k].extent, *(strides[tensor][k] * size for tensor in tensors)) for k in group]
        counts.append(len(of_group))
        words += [word for axis in of_group for word in axis]
        if len(counts) == ROWS:
            words += [0] * (MORE * f.AXIS // 8)
    return words, counts, starts
