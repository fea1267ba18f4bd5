"""The footprint of a box of elements in one tensor: runs of memory, lines and pages."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, gcd

from ttc_llvm.lazy_dataclasses import NamedTuple
from ttc_llvm.machine.target import Target


class Footprint(NamedTuple):
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
    line, page = target.line, target.page
    aligned = line  # bytes that every run's start is a multiple of
    for k in order:
        stride, part = strides[k], box[k]
        if stride > run:
            aligned = gcd(aligned, stride)
        elif part < extents[k] and stride:
            aligned = gcd(aligned, part * stride)
        if part == 1 or not stride:
            continue
        reach = (part - 1) * stride
        if stride <= run:
            run += reach
        if scattered == 1 and stride <= max(span, page):
            span += reach
        else:
            scattered *= part
    lines = ceil(run / line) if aligned == line else (run + line - aligned) / line
    return Footprint(run, scattered * max(1.0, span / page), lines * line / run)
