"""Packers: elements at tabled offsets into panels, a few rows side by side, which micro-kernels read from their start.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product

from llvmlite import ir

from ttc_llvm.lazy_dataclasses import dataclass
from ttc_llvm.lowering.nodes import Micro
from ttc_llvm.lowering.operands import Op, Space, View
from ttc_llvm.machine.target import Target
from ttc_llvm.problem.canonical import Param
from ttc_llvm.problem.dtypes import DType
from ttc_llvm.problem.kinds import Alpha, Beta

from ..carriers import carrier_type
from ..frame import reserved, words_function
from ..llvmlite_extensions import external, vector_type
from ..memory import prefetch, store
from ..micro_tile import MicroTile, Sizes
from ..micro_tile_code import MicroTileCode
from ..scale import load_scalars
from ..values import I1, I64, PTR, at, counted, guarded, i64, splat
from ..vector_loads import load
from .fields import LINE

ARGUMENTS = ("panel", "source", "rows", "terms", "depth")


@dataclass(frozen=True, slots=True)
class Group:
    """Elements that lie side by side in a panel: so many, and the elements from those of one term to the next."""

    dtype: DType
    count: int
    step: int


def add_packer(module: ir.Module, target: Target, group: Group, name: str) -> ir.Function:
    """The function `(panel, source, rows, terms, depth)`, of words and addresses: panel[k, i] = source[rows[i] +
    terms[k]] for the rows of a group and `depth` terms, by offsets in bytes.

    Rows that lie side by side are copied as vectors; where terms do, blocks are transposed in registers, from memory at
    hand where rows are not equally far apart; what is neither is copied element by element.
    """
    b = words_function(module, name, ARGUMENTS)
    _Packer(module, target, group, b).write()
    return b.function


def add_turned_packer(module: ir.Module, target: Target, group: Group, piece: int, name: str) -> ir.Function:
    """The function `(places, source, rows, terms, depth, width, height, first, ahead, later)`: `height` places take
    `width` rows each, for each term from `first` to `depth`: elements that follow each other in the source go to one
    place after the other, rows of a place are equally far apart. width: the group's, or a piece of it; height: a
    multiple of one. places: addresses, those of term 0; ahead: where the offsets of rows are whose lines are
    prefetched, 0 = none are; later: of so many terms behind each.
    """
    b = words_function(module, name, (*ARGUMENTS, "width", "height", "first", "ahead", "later"))
    made = _Packer(module, target, group, b)
    width, height, *then = b.function.args[len(ARGUMENTS) :]
    is_even = b.icmp_signed("==", b.srem(height, i64(group.count)), i64(0))
    for rows, places in product(dict.fromkeys((group.count, piece)), repeat=2):
        wide = b.icmp_signed("==", width, i64(rows))
        high = is_even if places == group.count else b.not_(is_even)
        with guarded(b, b.and_(wide, high), "turn"):
            made.turn(rows, places, height, *then)
    b.ret(i64(0))
    return b.function


def add_run_packer(module: ir.Module, target: Target, group: Group, piece: int, name: str) -> ir.Function:
    """The function `(places, source, rows, terms, depth, width, count, step)`: for each term, so many runs of `width`
    elements that follow each other go to a place each, `step` bytes behind the last term's. width: the group's, or a
    piece of it; rows: offsets of all elements.

    All runs of a term are read before the next term: what follows each other in memory is read so."""
    b = words_function(module, name, (*ARGUMENTS, "width", "count", "step"))
    made = _Packer(module, target, group, b)
    width, count, step = b.function.args[len(ARGUMENTS) :]
    whole, part = b.append_basic_block("whole"), b.append_basic_block("part")
    b.cbranch(b.icmp_signed("==", width, i64(group.count)), whole, part)
    for block, elements in ((whole, group.count), (part, piece)):
        b.position_at_end(block)
        made.run(elements, count, step)
        b.ret(i64(0))
    return b.function


class _Packer:
    """One function."""

    def __init__(self, module: ir.Module, target: Target, group: Group, b: ir.IRBuilder) -> None:
        self._module, self._target, self._group, self._b = module, target, group, b
        self._size = group.dtype.itemsize
        *addresses, self._depth = b.function.args[: len(ARGUMENTS)]
        self._panel, self._source, self._rows, self._terms = (b.inttoptr(word, PTR) for word in addresses)

    def write(self) -> None:
        """The three ways."""
        b, count = self._b, self._group.count
        if count > 1:
            with self._case(self._equally_apart(self._rows, i64(self._size)), "vectors"):
                self._vectors()
            with self._case(b.icmp_signed(">=", self._depth, i64(count)), "blocks"):
                self._blocks()
        self._elements(i64(0))
        b.ret(i64(0))

    def run(self, width: int, count: ir.Value, step: ir.Value) -> None:
        """Runs of so many elements."""
        b, kind = self._b, carrier_type(self._group.dtype, width)
        with counted(b, self._depth, 1, "term") as k:
            start, behind = at(b, self._source, self._term(k)), b.mul(k, step)
            with counted(b, count, 1, "run") as number:
                offset = load(b, at(b, self._rows, b.mul(number, i64(8 * width))), I64, 8)
                place = b.inttoptr(load(b, at(b, self._panel, b.mul(number, i64(8))), I64, 8), PTR)
                store(b, load(b, at(b, start, offset), kind, self._align), at(b, place, behind), self._align)

    def turn(self, width: int, count: int, height: ir.Value, *then: ir.Value) -> None:
        """Blocks of so many rows for so many places, transposed in registers, from memory at hand to their places: all
        of a term before the next term, as they follow each other in memory."""
        b, size, (first_term, ahead, later) = self._b, self._size, then
        first = load(b, self._rows, I64, 8)
        stride = b.sub(load(b, at(b, self._rows, 8), I64, 8), first)
        kept = reserved(b, count * width * size, 64, "kept")
        start, kind = at(b, self._source, first), carrier_type(self._group.dtype, width)
        with counted(b, self._depth, 1, "term", first=first_term) as k:
            with guarded(b, b.icmp_signed("!=", ahead, i64(0)), "ahead"):
                self._fetch(width, stride, height, ahead, b.add(k, later))
            with counted(b, height, count, "block") as first_place:
                block = at(b, at(b, start, self._term(k)), b.mul(first_place, i64(size)))
                self._transposed(block, kept, stride, (width, count), width)
                places, behind = at(b, self._panel, b.mul(first_place, i64(8))), b.mul(k, i64(self._group.step * size))
                for number in range(count):
                    to = at(b, b.inttoptr(load(b, at(b, places, 8 * number), I64, 8), PTR), behind)
                    store(b, load(b, at(b, kept, number * width * size), kind, width * size), to, self._align)

    def _fetch(self, width: int, stride: ir.Value, height: ir.Value, ahead: ir.Value, k: ir.Value) -> None:
        """Prefetch the lines of a term of rows that are as far apart."""
        b = self._b
        start = at(b, at(b, self._source, load(b, b.inttoptr(ahead, PTR), I64, 8)), self._term(k))
        with counted(b, b.add(b.mul(height, i64(self._size)), i64(LINE - 1)), LINE, "line") as line:
            for row in range(width):
                prefetch(self._module, b, at(b, at(b, start, line), b.mul(stride, i64(row))))

    @contextmanager
    def _case(self, condition: ir.Value, name: str) -> Iterator[None]:
        b = self._b
        body, other = b.append_basic_block(name), b.append_basic_block("other")
        b.cbranch(condition, body, other)
        b.position_at_end(body)
        yield
        b.ret(i64(0))
        b.position_at_end(other)

    def _equally_apart(self, offsets: ir.Value, stride: ir.Value) -> ir.Value:
        """True where a group's offsets are so far from one to the next."""
        b, count = self._b, self._group.count
        kind = vector_type(I64, count)
        found = load(b, offsets, kind, 8)
        first = splat(b, load(b, offsets, I64, 8), count)
        wanted = b.add(first, b.mul(splat(b, stride, count), ir.Constant(kind, list(range(count)))))
        every = external(self._module, f"llvm.vector.reduce.and.v{count}i1", I1, [vector_type(I1, count)])
        return b.call(every, [b.icmp_signed("==", found, wanted)])

    def _vectors(self) -> None:
        b, group = self._b, self._group
        kind, start = carrier_type(group.dtype, group.count), at(b, self._source, load(b, self._rows, I64, 8))
        with counted(b, self._depth, 1, "term") as k:
            found = load(b, at(b, start, self._term(k)), kind, self._align)
            store(b, found, self._place(k), self._align)

    def _blocks(self) -> None:
        """Blocks of as many terms as there are rows, the last one up to the end; those whose terms do not lie side by
        side, element by element."""
        b, count, first = self._b, self._group.count, load(self._b, self._rows, I64, 8)
        stride = b.sub(load(b, at(b, self._rows, 8), I64, 8), first)
        are_even, last = self._equally_apart(self._rows, stride), b.sub(self._depth, i64(count))
        kind, width = carrier_type(self._group.dtype, count), count * self._size
        kept = reserved(b, count * width, LINE, "kept")
        with counted(b, b.add(self._depth, i64(count - 1)), count, "block") as term:
            k = b.select(b.icmp_signed("<", term, last), term, last)
            unit = self._equally_apart(at(b, self._terms, b.mul(k, i64(8))), i64(self._size))
            with b.if_else(unit) as (block, other):
                with block:
                    start = at(b, self._source, self._term(k))
                    with guarded(b, b.not_(are_even), "apart"):
                        for row in range(count):
                            at_row = at(b, start, load(b, at(b, self._rows, 8 * row), I64, 8))
                            store(b, load(b, at_row, kind, self._align), at(b, kept, row * width), width)
                    of, step = b.select(are_even, at(b, start, first), kept), b.select(are_even, stride, i64(width))
                    self._transposed(of, self._place(k), step, (count, count), self._group.step)
                with other:
                    self._elements(k, b.add(k, i64(count)))

    def _transposed(
        self, source: ir.Value, panel: ir.Value, stride: ir.Value, extents: tuple[int, int], step: int
    ) -> None:
        b, group = self._b, self._group
        apart = Param(0, "apart")
        node = Micro(
            View(Space.A, group.dtype, (apart, 1)), View(Space.SCRATCH, group.dtype, (1, step)),
            Op(Alpha.ONE, Beta.ZERO, False, group.dtype), extents, (0, 0),
        )  # fmt: skip
        sizes = Sizes({0: b.sdiv(stride, i64(self._size))})
        scalars = {node.op: load_scalars(b, source, node.op)}
        tile = MicroTile.of(node, self._target)
        MicroTileCode(self._module, b, tile, (source, panel), scalars, sizes, {}).emit([])

    def _elements(self, first: ir.Value, limit: ir.Value | None = None) -> None:
        b, group = self._b, self._group
        kind = carrier_type(group.dtype, 1)
        with counted(b, self._depth if limit is None else limit, 1, "term", first=first) as k:
            term, place = self._term(k), self._place(k)
            start = at(b, self._source, term)
            for row in range(group.count):
                offset = load(b, at(b, self._rows, 8 * row), I64, 8)
                store(b, load(b, at(b, start, offset), kind, self._align), at(b, place, row * self._size), self._align)

    @property
    def _align(self) -> int:
        return self._group.dtype.real_bits // 8

    def _term(self, k: ir.Value) -> ir.Value:
        return load(self._b, at(self._b, self._terms, self._b.mul(k, i64(8))), I64, 8)

    def _place(self, k: ir.Value) -> ir.Value:
        return at(self._b, self._panel, self._b.mul(k, i64(self._group.step * self._size)))
