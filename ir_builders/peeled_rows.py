"""The place of a peeled micro-tile whose extents, and in which order rows of B follow each other, only run time knows.

Which row follows is read from a table, by the number of axes whose last rows the micro-tile has: the carry of an
odometer over B's rows.
"""

from __future__ import annotations

from collections.abc import Iterator

from llvmlite import ir

from ttc_llvm.lazy_dataclasses import dataclass
from ttc_llvm.lowering.nodes import Peeled
from ttc_llvm.lowering.operands import RowOrder

from . import row_order
from .box import Box
from .context import Context
from .llvmlite_extensions import freeze
from .peeled import Continuation, distance_to_boundary, moved_place
from .prefetch.odometer import Move
from .values import I64, Int, at, beyond, guarded, i64, less, minimum, mul

Part = tuple[ir.Value, ir.Value, tuple[Int, ...]]  # of a micro-tile: where it reads and writes, its lengths


@dataclass(frozen=True, slots=True)
class OrderedPeeling:
    """The displacement of a peeled micro-tile, in elements. ahead: before B's first boundary; first: of the row, before
    the micro-tile without peeling; left: of the row, from its peeled start on; at: positions of the micro-tile without
    peeling, by axis."""

    kernel: Context
    node: Peeled
    order: RowOrder
    ahead: ir.Value
    first: Int
    left: ir.Value
    at: dict[int, Int]

    @classmethod
    def of(cls, k: Context, b: ir.IRBuilder, node: Peeled, order: RowOrder, box: Box) -> OrderedPeeling:
        """The displacement at this box. All rows of B lie in lines alike, and are whole lines."""
        ahead = distance_to_boundary(b, node, b.ptrtoint(k.arguments["b"], I64))
        first, places = box.position(b, 0), {axis: box.position(b, axis) for axis in (*order.axes, order.across)}
        left = b.sub(i64(k.sizes(k.axes[0].extent)), b.add(i64(first), ahead), name="left")
        return cls(k, node, order, ahead, first, left, places)

    def is_head(self, b: ir.IRBuilder) -> ir.Value:
        """True for the first micro-tile of a row that follows no other, if elements lie before the first boundary."""
        found = b.and_(b.icmp_signed("<=", i64(self.first), i64(0)), b.icmp_signed(">", self.ahead, i64(0)))
        found = b.and_(found, b.icmp_signed("<=", i64(self.at[self.order.across]), i64(0)))
        k, places = self.kernel, [self.at[axis] for axis in self.order.axes]
        return b.and_(found, self._are_all(b, row_order.start(k.module, b, k.sizes, self.order, places)))

    def head(self, lengths: tuple[Int, ...]) -> tuple[Int, ...]:
        """The lengths of the edge before the first boundary, in the first row only."""
        return (self.ahead, *(1 if k == self.order.across else n for k, n in enumerate(lengths) if k))

    def ends(self, b: ir.IRBuilder) -> ir.Value:
        """True where no row follows the last one of a whole micro-tile that passes the end of its rows."""
        across, block = self.order.across, self.node.body.block
        last = b.sub(i64(self._extent(across)), i64(block[across]))
        found = b.and_(self._passes(b), b.icmp_signed(">=", i64(self.at[across]), last))
        return b.and_(found, self._are_all(b, self._carry(b)))

    def continuation(
        self, b: ir.IRBuilder, source: ir.Value, moves: tuple[Move, ...] = (), stops: ir.Value | None = None
    ) -> Continuation:
        """The continuation of the micro-tile that is `moves` ahead and begins at this address of A. stops: whether no
        row follows its last one."""
        left = b.sub(self.left, i64(moved_place(b, 0, 0, moves)))
        far = self._far(b, source, self._carry(b, moves))
        return Continuation(left, far, None if stops is None else (self.order.across, stops))

    def parts(
        self, b: ir.IRBuilder, source: ir.Value, target: ir.Value, lengths: tuple[Int, ...]
    ) -> Iterator[Part]:
        """The parts of a micro-tile that has fewer rows, the last ones: in its own rows, and in those that follow."""
        across, block = self.order.across, self.node.body.block[0]
        yield source, target, (minimum(b, self.left, block), *lengths[1:])
        carry = self._carry(b)
        rows = b.sub(i64(lengths[across]), b.zext(self._are_all(b, carry), I64))
        with guarded(b, b.and_(self._passes(b), b.icmp_signed(">", rows, i64(0))), "next"):
            size, item = self.node.body.source.dtype.itemsize, self.node.body.target.dtype.itemsize
            step = mul(b, self.kernel.sizes(self.kernel.axes[0].stride_a), size)
            there = beyond(b, self._far(b, source, carry), mul(b, self.left, step))
            some = tuple(rows if k == across else n for k, n in enumerate(lengths))
            yield there, at(b, target, mul(b, self.left, item)), (less(b, block, self.left), *some[1:])

    def _passes(self, b: ir.IRBuilder) -> ir.Value:
        """True where the micro-tile passes the end of its rows."""
        return b.icmp_signed("<", self.left, i64(self.node.body.block[0]))

    def _far(self, b: ir.IRBuilder, source: ir.Value, carry: ir.Value) -> ir.Value:
        slot = at(b, at(b, self.kernel.arguments["params"], 8 * self.order.away), mul(b, carry, 8))
        return freeze(b, beyond(b, source, b.load(slot, typ=I64, align=8)))

    def _carry(self, b: ir.IRBuilder, moves: tuple[Move, ...] = ()) -> ir.Value:
        """The number of the axis along which the next row is."""
        k, order = self.kernel, self.order
        places = [moved_place(b, self.at[axis], axis, moves) for axis in order.axes]
        return row_order.carry(k.module, b, k.sizes, order, k.axes, places)

    def _are_all(self, b: ir.IRBuilder, number: ir.Value) -> ir.Value:
        return row_order.are_all(b, self.kernel.sizes, self.order, number)

    def _extent(self, axis: int) -> Int:
        return self.kernel.sizes(self.kernel.axes[axis].extent)
