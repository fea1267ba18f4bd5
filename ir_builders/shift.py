"""The place of a shifted micro-tile: the distance to B's first boundary, and the ends of B's rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from llvmlite import ir

from ttc_llvm.lowering.layout import Register
from ttc_llvm.lowering.nodes import Shifted
from ttc_llvm.problem.canonical import Axis, static

from .ahead import Move
from .box import Box
from .seam import freeze
from .values import I1, I64, Int, add, beyond, i64


@dataclass(frozen=True, slots=True)
class Bend:
    """A micro-tile that goes on in the next row of B: from index `first` along axis 0 on, A's elements lie from `far`
    on as they would from the block's first element. stop: an axis, and whether nothing follows the last row along it.
    """

    first: ir.Value
    far: ir.Value
    stop: tuple[int, ir.Value] | None

    def start(self, b: ir.IRBuilder, near: ir.Value, index: Int) -> ir.Value:
        """From where on, instead of `near`, elements with this index lie."""
        return b.select(b.icmp_signed("<=", self.first, i64(index)), self.far, near)

    def ends(self, block: tuple[int, ...], register: Register) -> ir.Value | None:
        """The condition that a register of B has nothing behind its row; None where something always follows."""
        if self.stop is None or register.start[self.stop[0]] + 1 < block[self.stop[0]]:
            return None
        return self.stop[1]


@dataclass(frozen=True, slots=True)
class Shift:
    """ahead: elements before B's first boundary; first: of the row, before the micro-tile as it would lie on the
    boundary; left: of the row, from where it does lie on; at: the row's place along the axes on which rows follow."""

    node: Shifted
    axes: tuple[Axis, ...]
    ahead: ir.Value
    first: Int
    left: ir.Value
    at: Mapping[int, Int]

    @classmethod
    def of(cls, b: ir.IRBuilder, node: Shifted, box: Box, axes: tuple[Axis, ...]) -> Shift:
        """Of the micro-tile at this box, whose own place is on a boundary if B's first element is."""
        size, first = node.body.target.dtype.itemsize, box.position(b, 0)
        address = b.ptrtoint(box.ends(node.body)[1], I64)
        ahead = b.udiv(b.and_(b.neg(address), i64(node.grain * size - 1)), i64(size), name="ahead")
        left = b.sub(i64(static(axes[0].extent)), b.add(i64(first), ahead), name="left")
        return cls(node, axes, ahead, first, left, {k: box.position(b, k) for k in node.following})

    # --- ends of rows ---

    def is_head(self, b: ir.IRBuilder) -> ir.Value:
        """True for the first micro-tile of a row that follows none, if something is before the first boundary."""
        found = b.and_(_compared(b, "<=", self.first, 0), b.icmp_signed(">", self.ahead, i64(0)))
        for place in self.at.values():
            found = b.and_(found, _compared(b, "<=", place, 0))
        return found

    def is_tail(self, b: ir.IRBuilder) -> ir.Value:
        """True for one that passes the end of a row that is followed by none, or whose last row is."""
        found: ir.Value = b.icmp_signed("<", self.left, i64(self.node.body.block[0]))
        for k in self.node.following:
            found = b.and_(found, self._is_last(b, k, self.at[k]))
        return found

    def head(self, lengths: tuple[Int, ...]) -> tuple[Int, ...]:
        """The box of what is before the first boundary, in the first row only."""
        outermost = self.node.following[-1:]
        return (self.ahead, *(1 if k in outermost else n for k, n in enumerate(lengths) if k))

    def is_left(self, b: ir.IRBuilder) -> ir.Value:
        """True if something is left of the row: at the edge of a ragged axis there may be nothing."""
        if self.node.body.block[0] == self.node.edge.block[0]:
            return ir.Constant(I1, 1)
        return b.icmp_signed(">", self.left, i64(0))

    @property
    def is_thick(self) -> bool:
        """True where all rows of a micro-tile but the last are followed by others of its own."""
        return bool(self.node.following) and self.node.body.block[self.node.following[-1]] > 1

    def _is_last(self, b: ir.IRBuilder, k: int, place: Int) -> ir.Value:
        return _compared(b, ">=", place, static(self.axes[k].extent) - self.node.body.block[k])

    # --- rows that go on ---

    def bend(
        self, b: ir.IRBuilder, source: ir.Value, moves: tuple[Move, ...] = (), tail: ir.Value | None = None
    ) -> Bend | None:
        """The continuation of the micro-tile that is `moves` further and begins at this address of A; tail: whether
        nothing follows its last row."""
        following = self.node.following
        if not following:
            return None
        by_axis = self._away()
        away: Int = by_axis[following[-1]]
        for k in following[-2::-1]:
            last = self._is_last(b, k, _moved(b, self.at[k], k, moves))
            away = b.select(last, i64(away), i64(by_axis[k]))
        distance = _moved(b, 0, 0, moves)
        left = b.sub(self.left, i64(distance)) if moves else self.left
        stop = None if tail is None else (following[-1], tail)
        return Bend(left, freeze(b, beyond(b, source, away)), stop)

    def _away(self) -> dict[int, int]:
        """Bytes of A from where a row would go on to where it does, by the axis along which the next row follows."""
        size, found = self.node.body.source.dtype.itemsize, {}
        back = static(self.axes[0].extent) * static(self.axes[0].stride_a)
        for k in self.node.following:
            step = static(self.axes[k].stride_a)
            found[k] = (step - back) * size
            back += (static(self.axes[k].extent) - 1) * step
        return found


def _moved(b: ir.IRBuilder, place: Int, axis: int, moves: tuple[Move, ...]) -> Int:
    """A place along an axis, so many moves further."""
    for move in moves:
        place = add(b, place, move.distance) if move.axis == axis else place
    return place


def _compared(b: ir.IRBuilder, how: str, value: Int, wanted: int) -> ir.Value:
    if isinstance(value, int):
        return ir.Constant(I1, int(value <= wanted if how == "<=" else value >= wanted))
    return b.icmp_signed(how, value, i64(wanted))
