"""The speeds of this machine for fused contractions, measured once and kept in the solutions database."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import as_strided

from ...ir_builders.fused.macro_kernel import BEYOND, PAGE
from ...lowering.micro_kernel import MicroKernel, blocks
from ...problem import dtypes
from ...problem.contraction import Contraction, IndexClass
from ...runtime import backend
from ...runtime.once import once
from ...tuning.database.opened import open_database
from ...tuning.database.records import Record, Request
from ..copies import LINE
from ..last_cache import share_beyond, square
from ..merged import C, merge
from ..timing import TOGETHER, usual
from .execution import FusedExecution, micro_kernel, revision
from .job import rows_turned
from .plan import Fused, FusedPlan

KIND = "speeds"  # of rows in the database
REVISION = "speeds4"  # raised when what is measured changes
CACHE_BYTES = 1 << 20  # of what is found in a core's own caches
THIN = 16  # terms of a product whose result is beyond all caches
SHORT, LONG = 32, 256  # terms of a sum
TILES, MORE, MANY = 8, 5, 6  # of rows of a product in the caches, and times as many columns, or rows
CLASSES = IndexClass.M, IndexClass.N, IndexClass.K, IndexClass.BATCH
LEAST = 1e-15  # seconds: differences of times may be negative
ROW, FAR = 1024, 1032  # elements of a row, and from one to the next: no multiple of a page


class FusedRates(NamedTuple):
    """Seconds that parts of a fused contraction take.

    start: of a call; batch: of a further product of a call, beside its tiles; term: of a tile for each term of its
    sums; tile, apart, far: of a tile to be written, of one whose rows do not follow each other in C, and of one of a
    block of so many such rows that their pages are not at hand; packed, turned, picked, fetched: of an element that is
    packed with its neighbours, or turned with them, or by itself, or so from a line that has left the caches since;
    written, scattered, streamed: of a byte of C beyond all caches, through them, so with rows that do not follow each
    other, and past them; read: of a byte of A or B there.
    """

    start: float
    batch: float
    term: float
    tile: float
    apart: float
    far: float
    packed: float
    turned: float
    picked: float
    fetched: float
    written: float
    scattered: float
    streamed: float
    read: float

    def seconds(self, fused: Fused, threads: int) -> float:
        """The predicted time of a plan on so many threads."""
        kernel = micro_kernel(fused.merged.dtype)
        (m, n, k), block = fused.sizes, fused.plan.block
        registers, tiles_n = -(-m // kernel.group), -(-n // kernel.columns)
        tiles_m = -(-m // kernel.rows)
        blocks = -(-k // block[2])
        apart = self.far if min(m, block[0]) > TILES * MANY // 2 * kernel.rows else self.apart
        tile = self.tile + _share_apart(fused, kernel) * max(0.0, apart - self.tile)
        total = tiles_n * (registers / kernel.vectors * k * self.term + tiles_m * blocks * tile)
        total += self._packing(fused, (tiles_m * kernel.rows, tiles_n * kernel.columns))
        total = fused.batches * (total + self.batch) + self._fetched(fused, blocks)
        return self.start + total / min(threads, max(fused.batches, tiles_m, tiles_n))

    def _packing(self, fused: Fused, padded: tuple[int, int]) -> float:
        """Of one product: rows anew for each block of columns."""
        (_, n, k), block = fused.sizes, fused.plan.block
        repeats = -(-n // block[1]), 1
        sides = zip(padded, fused.tensors, repeats, strict=False)
        return sum(extent * k * times * self._element(fused, tensor) for extent, tensor, times in sides)

    def _element(self, fused: Fused, tensor: int) -> float:
        """Of an element of A or B that is packed."""
        if fused.is_packed_by_vectors(tensor):
            return self.packed
        if tensor == fused.tensors[0] and rows_turned(fused, micro_kernel(fused.merged.dtype)):
            return self._turned(fused, tensor)
        plan, strides = fused.plan, fused.strides(tensor)
        side = plan.rows if tensor == fused.tensors[0] else plan.columns
        nearest = min((*side, *plan.terms), key=strides.__getitem__, default=-1)
        inside = side[side.index(nearest) + 1 :] if nearest in side else ()
        lines = fused.merged.extent(inside) * min(fused.sizes[2], plan.block[2])  # until the next element of one
        return self.picked if lines * LINE <= CACHE_BYTES else self.fetched

    def _turned(self, fused: Fused, tensor: int) -> float:
        """Of an element that is turned: where terms follow what is turned together, it is read in order meanwhile, and
        where it is prefetched between tiles."""
        strides, indices, plan = fused.strides(tensor), fused.merged.indices, fused.plan
        run = next(indices[number].extent for number in plan.rows if strides[number] == 1)
        size, last = dtypes.dtype(fused.merged.dtype).itemsize, strides[plan.terms[-1]] if plan.terms else 0
        far = plan.streams and (fused.merged.elements(tensor) + fused.merged.elements(C)) * size >= BEYOND
        if last != run and not (far and min(last, strides[plan.rows[-1]]) * size >= PAGE):
            return self.turned
        return max(0.0, self.turned - self.read * share_beyond(fused.merged) * size)

    def _fetched(self, fused: Fused, blocks: int) -> float:
        size = dtypes.dtype(fused.merged.dtype).itemsize
        a, b, c = (fused.merged.elements(tensor) * size * _lines(fused, tensor, size) for tensor in range(3))
        beyond = share_beyond(fused.merged)
        total = (a + b) * beyond * self.read if a + b > CACHE_BYTES else 0.0
        if c > CACHE_BYTES:
            apart = _share_apart(fused, micro_kernel(fused.merged.dtype))
            through = (1 - apart) * beyond * self.written + apart * self.scattered
            total += c * (self.streamed if fused.plan.streams else blocks * through)
        return total


def _lines(fused: Fused, tensor: int, size: int) -> float:
    """Times as many bytes as a product has of a tensor are in its lines: those of the next product may lie between."""
    strides = fused.strides(tensor)
    nearest = min((strides[number] for number in fused.plan.batches), default=0)
    return min(1 + (LINE - size) / (nearest * size), fused.batches) if nearest else 1.0


def _share_apart(fused: Fused, kernel: MicroKernel) -> float:
    """The share of registers whose rows, or those of their pieces, do not follow each other in C."""
    rows, piece = fused.plan.rows, kernel.piece
    inner = fused.merged.indices[rows[-1]] if rows else None
    if inner is None or inner.strides[C] != 1:
        return 1.0
    return min(1.0, (kernel.group - 1) / inner.extent) if inner.extent % piece else 0.0


@once
def measured(dtype: str) -> FusedRates:
    """The rates of a data type: from the solutions database, or measured, in a fraction of a second, and stored."""
    how = f"{REVISION} {revision(dtype)}"
    request = Request(f"speeds of fused contractions of {dtype}", backend.host_target().key, 1, "hot-ab", "", how, KIND)
    store = open_database(None)
    for _, text in store.native(request, how):
        with suppress(ValueError, TypeError):
            found = FusedRates(*map(float, json.loads(text.decode())))
            if all(0 <= value < 1 for value in found) and found.term > 0:
                return found
    found = _measured(dtype)
    store.keep_native(Record(request, 1, how, objects=(("speeds", json.dumps(found).encode()),)))
    return found


def _measured(dtype: str) -> FusedRates:
    kernel = micro_kernel(dtype)
    m, n = kernel.rows * TILES, kernel.columns * (TILES + 1)  # an odd number, whose rows share few sets of a cache
    size = kernel.dtype.itemsize
    start, several = _product(dtype, (1, 1, 1)), _product(dtype, (1, 1, 1), batches=LONG)
    short, long = (_added(dtype, (m, n, k)) for k in (SHORT, LONG))
    term = (long - short) / (LONG - SHORT)
    tile = max(0.0, short - term * SHORT)
    apart, far = (_added(dtype, (times * m, n, SHORT), turned=True) for times in (1, MANY))
    narrow = m, kernel.columns, LONG
    packed = (_product(dtype, narrow) - start - TILES * long) / (m * LONG)  # its columns count in their tiles
    term -= packed * kernel.columns / TILES
    picked = (_product(dtype, narrow, spread_a=3) - start - TILES * long) / (m * LONG)
    turned, fetched = (
        (_apart(dtype, m - ragged, many) - start) / many - TILES * long
        for ragged, many in ((0, max(TILES, kernel.group)), (1, TILES))
    )
    wide = square(size)
    side, area = -(-wide // kernel.rows), wide * wide
    known = start + side * -(-wide // kernel.columns) * (THIN * term + tile) + 2 * wide * THIN * packed
    written, streamed = (_product(dtype, (wide, wide, THIN), streams=streams) - known for streams in (False, True))
    tall = area // ROW // kernel.rows * kernel.rows
    tiles = tall // kernel.rows * -(-ROW // kernel.columns)
    known = start + tiles * (far - (SHORT - THIN) * term) + (tall + ROW) * THIN * packed
    scattered = _product(dtype, (tall, ROW, THIN), turned=True) - known
    deep = _product(dtype, (wide, kernel.columns, wide))
    read = deep - start - side * (wide * term + tile) - area * packed
    alone = _product(dtype, (1, 1, 1), times=TOGETHER)  # without the clocks, which all single runs above have counted
    found = FusedRates(
        alone, (several - start) / LONG, term, tile, apart - term * SHORT, far - term * SHORT, packed,
        turned / (m * LONG), picked, fetched / (m * LONG), written / (area * size), scattered / (tall * ROW * size),
        streamed / (area * size), read / (area * size),
    )  # fmt: skip
    return FusedRates(*(max(value, LEAST) for value in found))


def _added(dtype: str, sizes: tuple[int, int, int], turned: bool = False) -> float:
    """Seconds of a further tile."""
    m, n, k = sizes
    once, often = (_product(dtype, (m, times * n, k), turned=turned) for times in (1, MORE))
    kernel = micro_kernel(dtype)
    return (often - once) / (m // kernel.rows * (n // kernel.columns) * (MORE - 1))


def _product(
    dtype: str, sizes: tuple[int, int, int], spread_a: int = 1, turned: bool = False, streams: bool = False,
    batches: int = 1, times: int = 1,
) -> float:  # fmt: skip
    """Seconds of a product of k x n, columns, by k x m, rows. spread_a: elements from one to the next in A; turned:
    not rows but columns follow each other in C, and rows are as far from each other as in a larger tensor; times: as in
    `usual`."""
    m, n, k = sizes
    kind = dtypes.to_numpy(dtypes.dtype(dtype))
    result, strides_c = ("bij", (m * FAR, FAR, 1)) if turned else ("bji", (n * m, m, 1))
    extents, strides_a = {"b": batches, "i": m, "j": n, "k": k}, (k * m * spread_a, m * spread_a, spread_a)
    stated = Contraction(f"bki,bkj->{result}", extents, dtype, strides_a, None, strides_c)
    merged = merge(stated)
    numbers = {index.kind.value: (number,) for number, index in enumerate(merged.indices)}
    kernel = micro_kernel(dtype)
    made = blocks(kernel, backend.host_target(), sizes, streams)
    rows, columns, terms, others = (numbers.get(kind.value, ()) for kind in CLASSES)
    plan = FusedPlan(rows, columns, terms, others, (made.rows, made.columns, made.terms), streams)
    run = FusedExecution(stated, Fused(merged, plan), 1).run
    a, b, c = (_laid(stated, name, kind) for name in "abc")
    return usual(lambda: run(a, b, c), times)


def _apart(dtype: str, rows: int, many: int) -> float:
    """Seconds of a narrow product of so many times as many rows, those of which that A has one behind the other are far
    from each other in C: they are turned or, where rows are no multiple of registers, come one by one, from lines that
    leave the caches before their next element is read.
    """
    kernel = micro_kernel(dtype)
    extents = {"u": many, "r": rows, "k": LONG, "j": kernel.columns}
    stated = Contraction("kru,kj->jur", extents, dtype)
    of = {letters: number for number, letters in enumerate(merge(stated).letters)}
    block = kernel.rows * TILES, kernel.columns, LONG
    plan = FusedPlan((of["u"], of["r"]), (of["j"],), (of["k"],), (), block)
    run = FusedExecution(stated, Fused(merge(stated), plan), 1).run
    a, b, c = (_laid(stated, name, dtypes.to_numpy(stated.element)) for name in "abc")
    return usual(lambda: run(a, b, c))


def _laid(stated: Contraction, name: str, kind: np.dtype[Any]) -> Any:
    """Ones that lie as an operand, from a line's start."""
    shape, strides = stated.shape(name), stated.strides(name)
    size = 1 + sum((n - 1) * step for n, step in zip(shape, strides, strict=True))
    memory = np.ones(size + LINE // kind.itemsize, kind)
    memory = memory[-memory.ctypes.data % LINE // kind.itemsize :]
    return as_strided(memory, shape, [step * kind.itemsize for step in strides])
