"""Where a shifted micro-tile lies: how far B's first boundary is, and what becomes of the ends of B's rows."""

from __future__ import annotations

from dataclasses import dataclass

from llvmlite import ir

from ttc_llvm.canonical import Axis, static
from ttc_llvm.nest import Shifted

from .box import Box
from .emission import Bend
from .memory import beyond
from .seam import freeze
from .values import I1, I64, Int, i64


@dataclass(frozen=True, slots=True)
class Shift:
    """ahead: elements before B's first boundary; left: of the row, from the shifted micro-tile on; is_head: it is the
    row's first one, and no row comes before; is_tail: it passes the row's end, and for some of its rows none follows;
    away: bytes of A from where it would go on to where it does."""

    node: Shifted
    ahead: ir.Value
    left: ir.Value
    is_head: ir.Value
    is_tail: ir.Value
    away: int

    @classmethod
    def of(cls, b: ir.IRBuilder, node: Shifted, box: Box, axes: tuple[Axis, ...]) -> Shift:
        """Of the micro-tile at this box, whose own place is on a boundary if B's first element is."""
        size, k = node.body.target.dtype.itemsize, node.following
        address = b.ptrtoint(box.ends(node.body)[1], I64)
        ahead = b.udiv(b.and_(b.neg(address), i64(node.grain * size - 1)), i64(size), name="ahead")
        first, extent = box.position(b, 0), static(axes[0].extent)
        left = b.sub(i64(extent), b.add(i64(first), ahead), name="left")
        begins = b.and_(_compared(b, "<=", first, 0), b.icmp_signed(">", ahead, i64(0)))
        ends = b.icmp_signed("<", left, i64(node.body.block[0]))
        away = 0
        if k is not None:
            row = box.position(b, k)
            begins = b.and_(begins, _compared(b, "<=", row, 0))
            ends = b.and_(ends, _compared(b, ">=", row, node.rows - node.body.block[k]))
            away = (static(axes[k].stride_a) - static(axes[0].stride_a) * extent) * node.body.source.dtype.itemsize
        return cls(node, ahead, left, begins, ends, away)

    def bend(self, b: ir.IRBuilder, source: ir.Value) -> Bend | None:
        """Where a micro-tile that begins at this address of A goes on."""
        return None if self.node.following is None else Bend(self.left, freeze(b, beyond(b, source, self.away)))

    def head(self, lengths: tuple[Int, ...]) -> tuple[Int, ...]:
        """The box of what is before the first boundary, in the first row only."""
        k = self.node.following
        inside = lengths if k is None else (*lengths[:k], 1, *lengths[k + 1 :])
        return (self.ahead, *inside[1:])

    def others(self, lengths: tuple[Int, ...]) -> tuple[Int, ...] | None:
        """The box of the same parts of the rows that follow within a micro-tile; None where it is one row thick."""
        k = self.node.following
        rows = 1 if k is None else self.node.body.block[k]
        return None if k is None or rows == 1 else (self.ahead, *lengths[1:k], rows - 1, *lengths[k + 1 :])


def _compared(b: ir.IRBuilder, how: str, value: Int, wanted: int) -> ir.Value:
    if isinstance(value, int):
        return ir.Constant(I1, int({"<=": value <= wanted, ">=": value >= wanted}[how]))
    return b.icmp_signed(how, value, i64(wanted))
