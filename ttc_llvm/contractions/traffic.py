"""The bytes that products of a plan fetch from beyond the caches next to a core, and whether these lie together."""

from __future__ import annotations

from math import prod
from typing import NamedTuple

from ..problem import dtypes
from .gemm import Gemm
from .merged import A, B, C
from .plan import Products
from .splitting import COLUMNS, DEPTH, STREAMS, Split

NEAR_BYTES = 1 << 20  # of a core's own caches, which keep what inner loops come back to


class Moved(NamedTuple):
    """Bytes of A, B or C, fetched by all products. apart: each product finds its share in so many pieces, with gaps
    between them, that the processor does not foresee them."""

    bytes: int
    apart: bool


class Loop(NamedTuple):
    """A loop around products: how often, and the tensors of which it takes the next parts."""

    extent: int
    tensors: tuple[int, ...]


def traffic(products: Products, call: Gemm | None, cut: Split | None) -> tuple[Moved, Moved, Moved]:
    """A, B and C. Inner loops whose parts of all three fit in the caches fetch them once; others anew each time."""
    sizes, loops = _loops(products, call, cut)
    m, n, k = sizes
    itemsize = dtypes.dtype(products.merged.dtype).itemsize
    parts = [size * itemsize for size in (m * k, k * n, m * n)]
    while loops:
        more = [part * loops[-1].extent if t in loops[-1].tensors else part for t, part in enumerate(parts)]
        if sum(more) > NEAR_BYTES:
            break
        parts = more
        loops.pop()
    if not loops and sum(parts) <= NEAR_BYTES:
        parts = [0, 0, 0]
    a, b, c = (_moved(products, t, parts[t], loops, sizes) for t in (A, B, C))
    return a, b, c


def _loops(products: Products, call: Gemm | None, cut: Split | None) -> tuple[tuple[int, int, int], list[Loop]]:
    """The sizes of one product, and the loops around it, outermost first; those of its cut among them."""
    m, n, k = products.sizes
    indices = products.merged.indices
    loops = [Loop(indices[number].extent, indices[number].tensors) for number in products.plan.loops]
    if call is None or cut is None:
        return (m, n, k), loops
    times = cut.parts + bool(cut.rest)
    if cut.side == DEPTH:
        return (m, n, cut.size), [*loops, Loop(times, (A, B))]
    outer = sum(C in loop.tensors for loop in loops)  # those that are summed over come last
    if (cut.side == COLUMNS) == call.swapped:
        return (cut.size, n, k), [*loops[:outer], Loop(times, (A, C)), *loops[outer:]]
    return (m, cut.size, k), [*loops[:outer], Loop(times, (B, C)), *loops[outer:]]


def _moved(products: Products, tensor: int, part: int, loops: list[Loop], sizes: tuple[int, int, int]) -> Moved:
    last = max((at for at, loop in enumerate(loops) if tensor in loop.tensors), default=-1)
    m, n, k = sizes
    rows, columns = ((m, k), (k, n), (m, n))[tensor]
    matrix = products.matrices[tensor]
    if matrix.columns == 1 or columns == 1:
        apart = rows > STREAMS and matrix.rows > columns
    else:
        apart = columns > STREAMS and matrix.columns > rows
    return Moved(part * prod(loop.extent for loop in loops[: last + 1]), apart)
