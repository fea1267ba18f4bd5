"""The footprint of a box of elements in one tensor: runs of memory, lines and pages."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, gcd

from ttc_llvm.lazy_dataclasses import dataclass
from ttc_llvm.machine.target import Target


@dataclass(frozen=True, slots=True)
class Footprint:
    """The footprint of a box of elements in one tensor: bytes of consecutive memory per run, pages, and lines
    per line that is full."""

    run_bytes: int
    pages: float
    lines: float


def touched(
    size: int,
    strides: Sequence[int],
    order: Sequence[int],
    extents: Sequence[int],
    box: Sequence[int],
    target: Target,
) -> Footprint:
    """The footprint of a box in a tensor of elements of so many bytes. strides: in bytes, per axis; order: the axes,
    those of small strides first; extents: of the tensor."""
    run = span = size
    scattered = 1
    aligned = target.line  # bytes that every run's start is a multiple of
    for k in order:
        if strides[k] == 0:
            continue
        if box[k] < extents[k] or strides[k] > run:
            aligned = gcd(aligned, box[k] * strides[k] if strides[k] <= run else strides[k])
        if box[k] == 1:
            continue
        reach = (box[k] - 1) * strides[k]
        run += reach if strides[k] <= run else 0
        if scattered == 1 and strides[k] <= max(span, target.page):
            span += reach
        else:
            scattered *= box[k]
    lines = ceil(run / target.line) if aligned == target.line else (run + target.line - aligned) / target.line
    return Footprint(run, scattered * max(1.0, span / target.page), lines * target.line / run)
