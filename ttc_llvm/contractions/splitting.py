"""Long products cut into short ones: a BLAS may take small products by kernels that copy no operand first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import prod
from types import MappingProxyType

from ..lazy_dataclasses import NamedTuple, replace
from .gemm import Gemm

SIDES = ROWS, COLUMNS, DEPTH = "rows", "columns", "depth"
SMALL = 786_432  # multiplications of a part, at most; OpenBLAS has such kernels up to a million
BY_ONE_THREAD = 1 << 18  # multiplications of a product for which OpenBLAS wakes no threads of its own
LEAST = 32  # rows, columns or terms of a part
STREAMS = 64  # lines of a matrix that the processor reads side by side in time
WRITTEN = 32  # columns of a result that it writes so
FIRST_CACHE = 4096  # elements
GAIN = 1.05  # the parts together must be so much faster than the whole


class Split(NamedTuple):
    """A product in so many parts of `size` rows, columns or terms of its sums, and the rest of these, 0 or more."""

    side: str
    size: int
    parts: int
    rest: int

    def part(self, call: Gemm, size: int) -> Gemm:
        """One of them, of this size."""
        return replace(call, **{self.side: size})  # type: ignore[arg-type]


def kind(call: Gemm) -> tuple[str, str]:
    """Both operands as BLAS takes them, transposed or not."""
    left, right = ("N" if letter == "N" else "T" for letter in call.transposed)
    return left, right


class Gains(NamedTuple):
    """cuts: times as fast as one long product its parts are, by how BLAS takes the left and the right operand, and the
    side that is cut. lines: times as fast as others short products are whose left or right operand is on cache lines.
    alone: multiplications of a product, at most, that the BLAS runs by one thread.
    """

    cuts: Mapping[tuple[str, str, str], float] = MappingProxyType({})
    lines: Mapping[tuple[str, str], tuple[float, float]] = MappingProxyType({})
    alone: Mapping[tuple[str, str], float] = MappingProxyType({})

    def on_lines(self, call: Gemm) -> float:
        """Times as fast as if its operands lay anywhere a short product is."""
        left, right = self.lines.get(kind(call), (1.0, 1.0))
        sides = (left, call.rows, call.on_lines[0]), (right, call.columns, call.on_lines[1])
        return prod(gain for gain, extent, is_so in sides if is_so and extent * call.depth > FIRST_CACHE)

    def of(self, call: Gemm, cut: Split) -> float:
        """Times as fast as the whole the parts of a cut are."""
        return self.cuts.get((*kind(call), cut.side), 0.0) * self.on_lines(cut.part(call, cut.size))

    def most(self, ways: tuple[str, str]) -> float:
        """Multiplications of a product, whose operands are taken so, that the BLAS runs by one thread, at most."""
        return self.alone.get(ways, BY_ONE_THREAD)

    def shared(self, call: Gemm, cut: Split | None, outer: int) -> int:
        """The products, sums of such or parts of them that threads of ours may do in any order; 1 where the BLAS may
        share each among its own. outer: products, or sums of them, that are written to different places."""
        part = call if cut is None else cut.part(call, cut.size)
        if part.rows * part.columns * part.depth > self.most(kind(call)):
            return 1
        return outer * (1 if cut is None or cut.side == DEPTH else cut.parts)


NO_GAINS = Gains()


def is_long(multiplications: int) -> bool:
    """True where a product of so many may be cut."""
    return multiplications > 2 * SMALL


def is_cut_or_shared(multiplications: int, threads: int) -> bool:
    """True where gains tell whether a product of so many is cut, or shared by so many threads of ours."""
    return is_long(multiplications) or (threads > 1 and multiplications > BY_ONE_THREAD)


def cuts(call: Gemm, part: int = SMALL) -> Iterator[Split]:
    """The cuts of a large product, along each side whose parts are neither too large nor too thin, nor lie in pieces of
    too many lines of a matrix. part: multiplications of one, at most."""
    extents = dict(zip(SIDES, (call.rows, call.columns, call.depth), strict=True))
    everything = prod(extents.values())
    for side, extent in extents.items() if is_long(everything) else ():
        most = part * extent // everything
        if most >= LEAST and _is_close(call, side):
            size = most - most % LEAST
            yield Split(side, size, extent // size, extent % size)


def _is_close(call: Gemm, side: str) -> bool:
    """True where a cut of this side goes across few columns of the result, or lines of an operand."""
    left, right = kind(call)
    lines = max(call.rows if left == "T" else 0, call.columns if right == "N" else 0)
    return {ROWS: call.columns <= WRITTEN, COLUMNS: True, DEPTH: lines <= STREAMS}[side]


def split(call: Gemm, gains: Gains, outer: int = 1, threads: int = 1) -> Split | None:
    """The cut that makes a product faster, where there is one. outer: as in `Gains.shared`; threads: of ours, which
    share parts that the BLAS runs by one thread each."""
    found = [
        (gains.of(call, cut) * at_a_time(gains.shared(call, cut, outer), threads), cut)
        for part in {SMALL, *([min(SMALL, int(gains.most(kind(call))))] if threads > 1 else [])}
        for cut in cuts(call, part)
    ]
    gain, cut = max(found, default=(0.0, None))
    return cut if gain >= GAIN else None


def at_a_time(count: int, threads: int) -> float:
    """Tasks that threads do at a time, in the mean."""
    return count / -(-count // threads) if count else 1.0
