"""MPI datatypes of strided elements: with them the library packs and unpacks by itself, through buffers of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mpi4py import MPI

from ..operands.addresses import data_address
from ..operands.operand import Array


def run_bytes(view: Array) -> int:
    """The bytes of the contiguous runs that an array consists of, in C order."""
    return _merged(view)[0]


def committed(views: Sequence[Array]) -> Any:
    """A datatype of the elements of all these arrays, one behind the other, at their distances from MPI.BOTTOM."""
    types = [_strided(view) for view in views]
    whole = MPI.Datatype.Create_struct([1] * len(types), [*map(data_address, views)], types)
    for one in types:
        one.Free()
    return whole.Commit()


def _strided(view: Array) -> Any:
    """The elements of one array in C order."""
    block, repeats = _merged(view)
    found = MPI.BYTE.Create_contiguous(block)
    for extent, step in repeats:
        inner, found = found, found.Create_hvector(extent, 1, step)
        inner.Free()
    return found


def _merged(view: Array) -> tuple[int, list[tuple[int, int]]]:
    """The bytes of a contiguous run, and extents and strides of what repeats it, from the inside out."""
    block, repeats = view.itemsize, list[tuple[int, int]]()
    for extent, step in zip(reversed(view.shape), reversed(view.strides), strict=True):
        if extent == 1:
            continue
        if not repeats and step == block:
            block *= extent
        elif repeats and step == repeats[-1][0] * repeats[-1][1]:
            repeats[-1] = repeats[-1][0] * extent, repeats[-1][1]
        else:
            repeats.append((extent, step))
    return block, repeats
