"""The time that fused plans take, predicted by the speeds of this machine (`measuring`)."""

from __future__ import annotations

from ...ir_builders.fused import fields as f
from ...lazy_dataclasses import NamedTuple
from ...lowering.micro_kernel import MicroKernel
from ...problem import dtypes
from ..copies import LINE
from ..last_cache import AGAIN, keeps_none, share_beyond
from ..merged import C
from .execution import micro_kernel
from .job import Turns, turns
from .packing import goes_on, share_apart, shares_written, together
from .plan import Fused

CACHE_BYTES = 1 << 20  # of what is found in a core's own caches
NEAR, SEVERAL = 8, 24  # tiles of rows of a block whose pages are at hand, and the most that take no longer
BETWEEN = 1 / 3  # of what a tile takes longer beyond all caches it takes in the last one
POWER = 3  # of arithmetic and of stores, which a tile does at a time: the longer of both, or a little more


class FusedRates(NamedTuple):
    """Seconds that parts of a fused contraction take.

    start: of a call; batch: of a further product of a call, beside its tiles; term: of a tile for each term of its
    sums; tile, through, past: of a tile of few terms that is written in the caches, through them, beyond all of which
    it lies, and past them; cut, parted: of one whose rows lie in two runs, in the caches and through them; apart, far:
    how much longer one takes whose rows do not follow each other in C, and one of a block of so many such rows that
    their pages are not at hand; scattered: such a one beyond all caches; packed, transposed, turned, picked, fetched:
    of an element that is packed with its neighbours, with the terms behind it, or turned, or by itself, or so from a
    line that has left the caches since; read: of a byte of A or B beyond all caches.
    """

    start: float
    batch: float
    term: float
    tile: float
    through: float
    past: float
    cut: float
    parted: float
    apart: float
    far: float
    scattered: float
    packed: float
    transposed: float
    turned: float
    picked: float
    fetched: float
    read: float

    def seconds(self, fused: Fused, threads: int) -> float:
        """The predicted time of a plan on so many threads."""
        return sum(self.parts(fused, threads).values())

    def parts(self, fused: Fused, threads: int) -> dict[str, float]:
        """The seconds of each part of a plan's time."""
        kernel = micro_kernel(fused.merged.dtype)
        (m, n, k), batches, turned = fused.sizes, fused.batches, turns(fused, kernel)
        tiles = -(-m // kernel.rows), -(-n // kernel.columns)
        blocks = max(1, -(-k // fused.plan.block[2]))
        arithmetic = tiles[1] * -(-m // kernel.group) / kernel.vectors * k * self.term
        near, beyond = self._written(fused, kernel, arithmetic, tiles, blocks)
        packed = self._packing(fused, kernel, (tiles[0] * kernel.rows, tiles[1] * kernel.columns), turned)
        busy = min(threads, max(1, batches, *tiles))
        share = batches / busy
        return {
            "arithmetic": share * arithmetic, "tiles of C": share * near, "packing of A and B": share * packed,
            "memory beyond the caches": share * beyond + self._read(fused, turned) / busy,
            "calls": self.start + share * self.batch,
        }  # fmt: skip

    def _written(
        self, fused: Fused, kernel: MicroKernel, arithmetic: float, tiles: tuple[int, int], blocks: int
    ) -> tuple[float, float]:
        """How much longer than the arithmetic all tiles of a product take: in the caches, and further beyond them."""
        size, apart, far = kernel.dtype.itemsize, share_apart(fused, kernel), share_beyond(fused.merged)
        is_large = fused.merged.elements(C) * size > CACHE_BYTES
        count = tiles[1] * -(-fused.sizes[0] // kernel.group) / kernel.vectors * blocks
        ways = shares_written(fused, kernel)
        near, long = (
            _both(arithmetic, count * self._least(ways, beyond)) - arithmetic
            for beyond in (0.0, BETWEEN + (1 - BETWEEN) * far if is_large else 0.0)
        )
        is_wide = min(fused.sizes[0], fused.plan.block[0]) > SEVERAL * kernel.rows
        lines = far * _lines(fused, C, size) + _again(fused, size)
        further = lines * max(0.0, self.scattered - self.far) if is_large else 0.0
        each = apart * tiles[0] * tiles[1] * blocks
        near_apart, further = each * (self.far if is_wide else self.apart), each * further
        return (1 - apart) * near + near_apart, (1 - apart) * (long - near) + further

    def _least(self, ways: tuple[float, float, float], beyond: float) -> float:
        """The least seconds of a tile, by the shares of those that are written past the caches, through them in a row
        or in several runs. beyond: the share that is not kept in a core's own caches."""
        past, whole, cut = ways
        through, parted = max(0.0, self.through - self.tile), max(0.0, self.parted - self.cut)
        least = max(self.past, self.tile) if beyond else self.tile
        return past * least + whole * (self.tile + beyond * through) + cut * (self.cut + beyond * parted)

    def _packing(self, fused: Fused, kernel: MicroKernel, padded: tuple[int, int], turned: Turns | None) -> float:
        """Of one product: rows anew for each block of columns."""
        (rows, columns), (_, n, k), block = padded, fused.sizes, fused.plan.block
        left, right, _ = fused.tensors
        each = self._element(fused, left, kernel)
        if turned is not None:
            each = turned.share * self._turned(fused, left) + (1 - turned.share) * each
        return k * (rows * -(-n // block[1]) * each + columns * self._element(fused, right, kernel))

    def _element(self, fused: Fused, tensor: int, kernel: MicroKernel) -> float:
        """Of an element of A or B that is packed."""
        if fused.is_packed_by_vectors(tensor):
            several = together(fused, tensor, kernel)
            return several * (self.packed if goes_on(fused, tensor) else self.transposed) + (1 - several) * self.picked
        return self.picked if _until_next(fused, tensor, kernel) * LINE <= CACHE_BYTES else self.fetched

    def _turned(self, fused: Fused, tensor: int) -> float:
        """Of an element that is turned: where terms follow what is turned together, it is read in order meanwhile, and
        where it is prefetched between tiles."""
        strides, indices, plan = fused.strides(tensor), fused.merged.indices, fused.plan
        run = next(indices[number].extent for number in plan.rows if strides[number] == 1)
        size, last = dtypes.dtype(fused.merged.dtype).itemsize, strides[plan.terms[-1]] if plan.terms else 0
        far = plan.streams and (fused.merged.elements(tensor) + fused.merged.elements(C)) * size >= f.BEYOND
        if last != run and not (far and min(last, strides[plan.rows[-1]]) * size >= f.PAGE):
            return self.turned
        return max(0.0, self.turned - self.read * share_beyond(fused.merged) * size)

    def _read(self, fused: Fused, turned: Turns | None) -> float:
        """Of A and B beyond the caches, of all products. Two turns read the lines that their runs in A share."""
        size, left, merged = dtypes.dtype(fused.merged.dtype).itemsize, fused.tensors[0], fused.merged
        read = sum(merged.elements(tensor) * size * _lines(fused, tensor, size) for tensor in range(2))
        terms = fused.plan.terms
        if turned is not None and not (terms and fused.strides(left)[terms[-1]] == turned.height):
            read += merged.elements(left) / turned.height * (LINE - size)
        return read * share_beyond(merged) * self.read if read > CACHE_BYTES else 0.0


def _until_next(fused: Fused, tensor: int, kernel: MicroKernel) -> int:
    """Lines of A or B that are packed from by single elements between one element of a line and the next. Where these
    are terms, others may come with a later block of terms, behind all rows, or columns, of this one."""
    plan, strides, merged = fused.plan, fused.strides(tensor), fused.merged
    is_left, depth = tensor == fused.tensors[0], min(fused.sizes[2], plan.block[2])
    side = plan.rows if is_left else plan.columns
    nearest = min((*side, *plan.terms), key=strides.__getitem__, default=-1)
    if nearest not in plan.terms:
        return depth * merged.extent(side[side.index(nearest) + 1 :] if nearest in side else ())
    inside = merged.extent(plan.terms[plan.terms.index(nearest) + 1 :])
    of_line = inside * min(merged.indices[nearest].extent, LINE // kernel.dtype.itemsize)
    together = kernel.group if is_left else kernel.columns
    return inside * (together if of_line <= depth else merged.extent(side))


def _both(one: float, other: float) -> float:
    """What two parts of a time come to that pass at once."""
    return float((one**POWER + other**POWER) ** (1 / POWER))


def _lines(fused: Fused, tensor: int, size: int) -> float:
    """Times as many bytes as a product has of a tensor come from beyond all caches: its lines, where those of the next
    product lie between, if the last cache does not keep them."""
    found = _shared(fused, tensor, size)
    return found if keeps_none(_bytes_of_one(fused, tensor, size) * found) else 1.0


def _again(fused: Fused, size: int) -> float:
    """The same of C's lines that come from the last cache for each product again, for what these take of the time."""
    found = _shared(fused, C, size)
    return AGAIN * (found - 1) if _bytes_of_one(fused, C, size) * found > CACHE_BYTES else 0.0


def _bytes_of_one(fused: Fused, tensor: int, size: int) -> float:
    return fused.merged.elements(tensor) * size / max(1, fused.batches)


def _shared(fused: Fused, tensor: int, size: int) -> float:
    """Times as many bytes as a product has of a tensor are in its lines: those of the next product may lie between."""
    strides = fused.strides(tensor)
    nearest = min((strides[number] for number in fused.plan.batches), default=0)
    return min(1 + (LINE - size) / (nearest * size), fused.batches) if nearest else 1.0
