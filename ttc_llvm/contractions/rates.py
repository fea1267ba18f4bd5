"""The speeds of this machine, by which plans of contractions are compared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import gcd, isfinite, prod

from ..errors import PlanError
from ..lazy_dataclasses import dataclass
from ..problem import dtypes
from ..runtime import backend
from .copies import LINE
from .gemm import Gemm, gemm, passes
from .last_cache import AGAIN, share_beyond
from .merged import A, B, C, Merged
from .plan import Products
from .products import outer_products, shared_tasks
from .speeds import LONG, MILLION, SHORT, TURNS, Grid, Sizes, Speed
from .splitting import SIDES, Gains, Split, at_a_time, kind, split
from .traffic import MANY, NEAR_BYTES, traffic

CACHED = 2 / 3  # of what a byte takes that is copied within the last cache, one takes at least that products read there
CACHE_BYTES = 4 << 20  # copies up to this size are in the last cache
LAYOUTS = {("N", "N"): "ik,kj->ij", ("N", "T"): "ki,kj->ij", ("T", "N"): "ik,jk->ij", ("T", "T"): "ki,jk->ij"}
"""Matrices in C order by what BLAS does with its left operand, our B, and its right one, our A."""
PAGE = 4 << 10  # bytes, within which lines fall into the sets of a first cache in turn
ROW_BYTES = 256  # of rows that are copied as rows
WAYS = 4  # of writing a result
PARTS = 7  # lines of text of each way to lay operands: short and long products, rows and columns of both, and gains
Numbers = tuple[float, ...]
CUTS = tuple((*kind, side) for kind in LAYOUTS for side in SIDES)


@dataclass(frozen=True, slots=True)
class Rates:
    """Speeds of one data type.

    products: by how BLAS takes its operands, transposed or not; run: seconds of a plan, or of each of its pieces, but
    for its products; call: of a product of nothing; written: seconds that each byte of a result beyond all caches
    takes, of short products that write it in one piece each, in several and in many, and of long products; the same of
    results whose columns begin on cache lines; read: seconds that each byte of an operand takes which is fetched from
    beyond them, in few pieces, in many, and in strips (`_by_strips`); copied: bytes read and written a second by copies
    in a core's own caches, by small ones of what has left these, and by large ones beyond all caches, of rows that stay
    rows, and of others; start: seconds of a copy of nothing; crowd: of each column of a product's result, at least,
    where these share few sets of the first cache; gains: of cutting long products, and of operands on cache lines.
    """

    products: Mapping[tuple[str, str], Speed]
    run: float
    call: float
    written: tuple[tuple[float, ...], tuple[float, ...]]
    read: tuple[float, float, float]
    copied: tuple[float, float, float, float]
    start: float
    crowd: float
    gains: Gains

    def seconds(self, products: Products, threads: int = 1) -> float:
        """The predicted time of a plan on so many threads."""
        far = share_beyond(products.merged)
        total = products.pieces * (self.run + self._products(products.piece, far, threads))
        return total + sum(self._pass(products, tensor) for tensor in passes(products))

    def _products(self, products: Products, far: float, threads: int) -> float:
        made = gemm(products)
        if made is None:
            one = self.products["N", "N"].seconds(products.sizes)
            return products.repeats * (self.call + one) + self._fetched(products, made, None, products.sizes, far)
        cut = split(made, self.gains, outer_products(products), threads)
        parts, part = 1.0, made
        if cut is not None:
            parts, part = cut.parts + cut.rest / cut.size, cut.part(made, cut.size)
        sizes = part.columns, part.rows, part.depth
        one = self.products[kind(made)].seconds(sizes)
        if prod(sizes) <= MILLION:
            one = max(one / self.gains.on_lines(part), self.crowd * _crowded(part, products.merged.dtype))
        total = products.repeats * parts * (self.call + one) + self._fetched(products, made, cut, sizes, far)
        return total / at_a_time(shared_tasks(products, made, cut, self.gains), threads)

    def _fetched(
        self, products: Products, call: Gemm | None, cut: Split | None, sizes: Sizes, far: float
    ) -> float:
        """What the products take more as their matrices are beyond the caches; long ones fetch them in whole blocks."""
        if not far:
            return 0.0
        a, b, c = traffic(products, call, cut)
        is_long, (few, many, strips) = prod(sizes) > MILLION, self.read
        ways = [few if is_long or x.pieces != MANY else many for x in (a, b)]
        are_added = cut is not None and outer_products(products) < products.repeats
        if call is not None and not is_long and _by_strips(call, sizes, products.merged.dtype, are_added):
            right = A if call.swapped else B
            ways[right] = max(ways[right], strips)
        least = CACHED / self.copied[1]
        read = sum(x.bytes * way + x.again * max(AGAIN * way, least) for x, way in zip((a, b), ways, strict=True))
        written = self.written[call is not None and call.on_lines[C]]
        return far * (read + (c.bytes + AGAIN * c.again) * written[-1 if is_long else c.pieces])

    def copy(self, merged: Merged, tensor: int, order: tuple[int, ...]) -> float:
        """The predicted time of the copy of a whole tensor in this order."""
        size = merged.bytes[tensor]
        return self.start + 2 * size * self._copied(merged, size, _are_rows(merged, tensor, order))

    def at_least(self, merged: Merged, copied: Sequence[bool], repeats: int, threads: int) -> float:
        """The least time of a plan that copies these of A, B and C, whole or in pieces, and calls BLAS so often, on so
        many threads."""
        return self.run + repeats * self.call / threads + self.copies(merged, copied)

    def copies(self, merged: Merged, copied: Sequence[bool]) -> float:
        """The least time of copies of these of A, B and C, whole or in pieces."""
        near, *beyond = self.copied
        byte = 1 / (near if sum(merged.bytes) <= NEAR_BYTES else max(beyond))
        return sum(self.start + 2 * merged.bytes[tensor] * byte for tensor, is_so in enumerate(copied) if is_so)

    def _pass(self, products: Products, tensor: int) -> float:
        """The predicted time of a tensor's copies: those of pieces have one side that is as small."""
        whole, piece = products.merged.bytes[tensor], products.piece.merged.bytes[tensor]
        order = products.plan.copies[tensor]
        are_rows = order is None or _are_rows(products.merged, tensor, order)
        way = self._copied(products.merged, whole, are_rows)
        ways = way + (way if piece == whole else self._copied(products.merged, piece, are_rows))
        return self.start * max(1, whole // max(piece, 1)) + whole * ways

    def _copied(self, merged: Merged, size: int, are_rows: bool) -> float:
        """Seconds of a byte that is read or written by a copy of so many."""
        near, left, rows, others = self.copied
        if sum(merged.bytes) <= NEAR_BYTES:
            return 1 / near
        far = share_beyond(merged) if size > CACHE_BYTES else 0.0
        return (1 - far) / left + far / (rows if are_rows else others)


def _are_rows(merged: Merged, tensor: int, order: tuple[int, ...]) -> bool:
    """True where a copy in this order has the rows of its tensor, and these are of some lines."""
    strides, run = merged.strides[tensor], 1
    for number in reversed(order):
        if strides[number] != run:
            break
        run *= merged.indices[number].extent
    return run * dtypes.dtype(merged.dtype).itemsize >= ROW_BYTES


def _by_strips(call: Gemm, sizes: Sizes, dtype: str, are_added: bool) -> bool:
    """True where a short product goes through its right operand in strips that are narrower than its rows, and comes
    back for each further one: columns are taken by few at a time, while vectors of the left operand are whole lines.

    are_added: products of which this is a part are summed up, so that each finds its right operand elsewhere."""
    (columns, _, depth), size = sizes, dtypes.dtype(dtype).itemsize
    return columns * size > LINE if kind(call)[1] != "N" else are_added and depth * size > ROW_BYTES


def _crowded(call: Gemm, dtype: str) -> int:
    """The columns of a result, if they begin in one or two sets of the first cache, which have no room for so many."""
    step = call.leading[C] * dtypes.dtype(dtype).itemsize
    is_full = step % (PAGE // 2) == 0 and call.columns * gcd(step, PAGE) > backend.host_target().l1
    return call.columns if is_full else 0


# --- as text ----------------------------------------------------------------------------------------------


def to_text(rates: Rates) -> str:
    """Rates as rows of the database have them: lines of numbers."""
    lines: list[Iterable[float]] = []
    for layout, speed in rates.products.items():
        of_lines = *rates.gains.lines[layout], rates.gains.most(layout)
        lines += [speed.short.values(), speed.long.values(), *speed.ragged, of_lines]
    costs = [rates.run, rates.call, rates.start, rates.crowd, *rates.read, *rates.written[0], *rates.written[1]]
    lines += [costs, rates.copied, [rates.gains.cuts[key] for key in CUTS]]
    return "\n".join(" ".join(str(float(value)) for value in line) for line in lines)


def from_text(text: str) -> Rates:
    """The inverse of `to_text`. PlanError for other texts."""
    try:
        *products, costs, copied, cuts = map(_numbers, text.split("\n"))
        parts = {layout: products[PARTS * k : PARTS * (k + 1)] for k, layout in enumerate(LAYOUTS)}
        if len(products) != PARTS * len(parts):
            raise ValueError
        speeds = {layout: _speed(*part[:-1]) for layout, part in parts.items()}
        run, call, start, crowd, few, many, strips, *written = costs
        near, left, rows, others = _positive(copied)
        lines, alone = {}, {}
        for layout, part in parts.items():
            of_left, of_right, alone[layout] = _positive(part[-1])
            lines[layout] = of_left, of_right
        gains = Gains(dict(zip(CUTS, _positive(cuts), strict=True)), lines, alone)
        both = tuple(written[:WAYS]), tuple(written[WAYS:])
        if len(both[1]) != WAYS:
            raise ValueError
        return Rates(speeds, run, call, both, (few, many, strips), (near, left, rows, others), start, crowd, gains)
    except ValueError:
        raise PlanError(f"{text[:60]!r} does not tell the speeds of a machine") from None


def _speed(short: Numbers, long: Numbers, *ragged: Numbers) -> Speed:
    if any(len(side) % TURNS or not side for side in ragged):
        raise ValueError
    return Speed(_corners(SHORT, short), _corners(LONG, long), ragged)


def _corners(grid: Grid, speeds: Numbers) -> dict[Sizes, float]:
    return dict(zip(grid.corners, _positive(speeds), strict=True))


def _numbers(line: str) -> Numbers:
    found = (*map(float, line.split()),)
    if not all(map(isfinite, found)) or min(found, default=0.0) < 0:
        raise ValueError
    return found


def _positive(values: Numbers) -> Numbers:
    if min(values, default=0.0) <= 0:
        raise ValueError
    return values
