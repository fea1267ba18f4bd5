"""Graphs of transpositions: one task for each chunk of the result."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate, product
from typing import Any

import dask.array as da
import numpy as np
from dask.base import tokenize
from dask.highlevelgraph import HighLevelGraph

from ..arrays import result_memory
from ..arrays.public import transpose

Chunks = tuple[tuple[int, ...], ...]  # extents along each axis
Axes = tuple[int, ...]
Region = tuple[slice, ...]


def copied(chunk: Any, axes: Axes) -> Any:
    """A chunk, transposed: of any library whose arrays we transpose."""
    return transpose(chunk, axes, threads=1)


def assembled(
    shape: tuple[int, ...], dtype: Any, axes: Axes, chunks: list[Any], regions: list[tuple[Region, Region]]
) -> Any:
    """A chunk of the result: regions of chunks of x, each transposed into its place. dtype: where there are none."""
    result = result_memory.empty(shape, chunks[0].dtype if chunks else dtype, threads=1)
    for chunk, (of, to) in zip(chunks, regions, strict=True):
        place: Any = (*to, Ellipsis)  # without axes, too, a view
        transpose(chunk[of], axes, out=result[place], threads=1)
    return result


def permuted(x: da.Array, axes: Axes) -> da.Array:
    """The array whose chunks are those of x, transposed."""
    inner = tuple(range(x.ndim))
    outer = tuple(axes)
    meta = x._meta.transpose(axes)
    return da.blockwise(copied, outer, x, inner, axes=axes, dtype=x.dtype, meta=meta, name=_name(x, axes))


def rechunked(x: da.Array, axes: Axes, chunks: Chunks) -> da.Array:
    """The transposed array in other chunks."""
    if type(x._meta) is not np.ndarray or x.dtype.hasobject or 0 in x.shape:
        return permuted(x.rechunk(tuple(chunks[axes.index(k)] for k in range(x.ndim))), axes)
    name = _name(x, axes, chunks)
    pieces = [_pieces(x.chunks[k], chunks[j]) for j, k in enumerate(axes)]  # in the result's order of axes
    graph = {}
    for at in product(*(range(len(one)) for one in chunks)):
        shape = tuple(chunks[j][k] for j, k in enumerate(at))
        keys, regions = [], []
        for parts in product(*(pieces[j][k] for j, k in enumerate(at))):
            in_x = [parts[axes.index(k)] for k in range(x.ndim)]
            keys.append((x.name, *(chunk for chunk, _, _ in in_x)))
            regions.append((tuple(of for _, of, _ in in_x), tuple(to for _, _, to in parts)))
        key = (name, *at)
        graph[key] = (assembled, shape, x.dtype, axes, keys, regions)
    return da.Array(HighLevelGraph.from_collections(name, graph, [x]), name, chunks, meta=x._meta.transpose(axes))


def _pieces(of: tuple[int, ...], to: tuple[int, ...]) -> list[list[tuple[int, slice, slice]]]:
    """Along one axis: for each chunk of the result the chunks of x that it meets, and where in x's and in its own."""
    ends = list(accumulate(of))
    found, start = [], 0
    for extent in to:
        inside = []
        at = start
        while at < start + extent:
            k = bisect_right(ends, at)
            stop = min(ends[k], start + extent)
            begin = ends[k] - of[k]
            inside.append((k, slice(at - begin, stop - begin), slice(at - start, stop - start)))
            at = stop
        found.append(inside)
        start += extent
    return found


def _name(*given: Any) -> str:
    return f"ttc-transpose-{tokenize(*given)}"
