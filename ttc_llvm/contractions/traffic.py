"""The bytes that products of a plan fetch from beyond the caches next to a core, and whether these lie together."""

from __future__ import annotations

from math import prod

from ..lazy_dataclasses import NamedTuple
from ..problem import dtypes
from .gemm import Gemm
from .last_cache import keeps_none
from .merged import A, B, C
from .plan import Products
from .splitting import COLUMNS, DEPTH, STREAMS, Split

ONE, SEVERAL, MANY = range(3)
SCATTERED = 24  # pieces of a matrix whose next ones are elsewhere
NEAR_BYTES = 1 << 20  # of a core's own caches, which keep what inner loops come back to


class Moved(NamedTuple):
    """Bytes of A, B or C, fetched by all products. pieces: that each product finds its share in, with gaps between
    them: ONE, SEVERAL, or MANY, which the processor does not foresee; fewer are many where the next product does not go
    on with them. again: further bytes, which come from the last cache."""

    bytes: int
    pieces: int
    again: int = 0


class Loop(NamedTuple):
    """A loop around products: how often, and the tensors of which it takes the next parts."""

    extent: int
    tensors: tuple[int, ...]


def traffic(products: Products, call: Gemm | None, cut: Split | None) -> tuple[Moved, Moved, Moved]:
    """A, B and C. Inner loops whose parts of all three fit in the caches fetch them once; others anew each time. What
    one product needs stays there, if it fits, while loops go on that leave it as it is."""
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
    stays = sum(parts) <= NEAR_BYTES
    if not loops and stays:
        parts = [0, 0, 0]
    a, b, c = (_moved(products, t, parts[t] * _times(t, loops, stays), sizes) for t in (A, B, C))
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


def _times(tensor: int, loops: list[Loop], stays: bool) -> int:
    """How often a part of a tensor is fetched."""
    last = max((at for at, loop in enumerate(loops) if tensor in loop.tensors), default=-1)
    return prod(loop.extent for loop in (loops[: last + 1] if stays else loops))


def _moved(products: Products, tensor: int, size: int, sizes: tuple[int, int, int]) -> Moved:
    m, n, k = sizes
    rows, columns = ((m, k), (k, n), (m, n))[tensor]
    matrix, once = products.matrices[tensor], min(size, products.merged.bytes[tensor])
    if keeps_none(once):
        once = size
    length, pieces, step = (columns, rows, matrix.rows) if matrix.columns == 1 or columns == 1 else (
        rows, columns, matrix.columns
    )  # fmt: skip
    if pieces == 1 or step <= length:
        return Moved(once, ONE, size - once)
    goes_on = next((inner == length for inner in reversed(matrix.loops) if inner), False)
    is_many = pieces > (STREAMS if goes_on or tensor == C else SCATTERED)
    return Moved(once, MANY if is_many else SEVERAL, size - once)
