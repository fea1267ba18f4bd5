"""The place of a peeled micro-tile: the distance to B's first boundary, and the ends of B's rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from llvmlite import ir

from ttc_llvm.lazy_dataclasses import dataclass
from ttc_llvm.lowering.layout import Register
from ttc_llvm.lowering.nodes import Peeled
from ttc_llvm.problem.canonical import Axis, static

from .box import Box
from .llvmlite_extensions import freeze
from .prefetch.odometer import Move
from .values import I1, I64, Int, add, beyond, i64


@dataclass(frozen=True, slots=True)
class Continuation:
    """A peeled micro-tile that continues in the next row of B: elements with index `first` or more along axis 0 are
    addressed in A from `far` instead of the block's first element.

    stop: an axis, and whether the last row along it is followed by none.
    """

    first: ir.Value
    far: ir.Value
    stop: tuple[int, ir.Value] | None

    def base(self, b: ir.IRBuilder, near: ir.Value, index: Int) -> ir.Value:
        """The base from which elements with this index along axis 0 are addressed: `near` or `far`."""
        return b.select(b.icmp_signed("<=", self.first, i64(index)), self.far, near)

    def ends(self, block: tuple[int, ...], register: Register) -> ir.Value | None:
        """The condition that no row follows a register's row of B; None where one always does."""
        if self.stop is None or register.start[self.stop[0]] + 1 < block[self.stop[0]]:
            return None
        return self.stop[1]


class Continues(Protocol):
    """A displacement that tells where peeled micro-tiles continue."""

    def continuation(
        self, b: ir.IRBuilder, source: ir.Value, moves: tuple[Move, ...] = (), stops: ir.Value | None = None
    ) -> Continuation | None:
        """As `Peeling.continuation`."""


@dataclass(frozen=True, slots=True)
class Peeling:
    """The displacement of a peeled micro-tile, in elements. ahead: before B's first boundary; first: of the row, before
    the micro-tile without peeling; left: of the row, from its peeled start on; at: the row's position along the axes
    along which rows follow each other."""

    node: Peeled
    axes: tuple[Axis, ...]
    ahead: ir.Value
    first: Int
    left: ir.Value
    at: Mapping[int, Int]

    @classmethod
    def of(cls, b: ir.IRBuilder, node: Peeled, box: Box, axes: tuple[Axis, ...], start: ir.Value) -> Peeling:
        """The displacement at this box, which is on a boundary if B's first element is, at `start`: found there once
        where all rows lie in lines alike."""
        first = box.position(b, node.axis)
        alike = all(axis.extent == 1 or static(axis.stride_b) % node.grain == 0 for axis in axes[node.axis + 1 :])
        ahead = distance_to_boundary(b, node, b.ptrtoint(start if alike else box.ends(node.body)[1], I64))
        left = b.sub(i64(static(axes[node.axis].extent)), b.add(i64(first), ahead), name="left")
        return cls(node, axes, ahead, first, left, {k: box.position(b, k) for k in node.following})

    # --- ends of rows ---

    def is_head(self, b: ir.IRBuilder) -> ir.Value:
        """True for the first micro-tile of a row that follows no other, if elements lie before the first boundary."""
        found = b.and_(_compared(b, "<=", self.first, 0), b.icmp_signed(">", self.ahead, i64(0)))
        for place in self.at.values():
            found = b.and_(found, _compared(b, "<=", place, 0))
        return found

    def is_tail(self, b: ir.IRBuilder) -> ir.Value:
        """True for a micro-tile that passes the end of a row, or of its last row, that no row follows."""
        found: ir.Value = b.icmp_signed("<", self.left, i64(self.node.body.block[self.node.axis]))
        for k in self.node.following:
            found = b.and_(found, self._is_last(b, k, self.at[k]))
        return found

    def head(self, lengths: tuple[Int, ...]) -> tuple[Int, ...]:
        """The lengths of the edge before the first boundary, in the first row only."""
        outermost = self.node.following[-1:]
        return self.along(self.ahead, tuple(1 if k in outermost else n for k, n in enumerate(lengths)))

    def along(self, length: Int, lengths: tuple[Int, ...]) -> tuple[Int, ...]:
        """These lengths, but for the one along the axis of the displacement."""
        return (*lengths[: self.node.axis], length, *lengths[self.node.axis + 1 :])

    def is_left(self, b: ir.IRBuilder) -> ir.Value:
        """True if elements are left of the row: in the remainder of a row there may be none."""
        axis = self.node.axis
        if self.node.body.block[axis] == self.node.edge.block[axis]:
            return ir.Constant(I1, 1)
        return b.icmp_signed(">", self.left, i64(0))

    @property
    def is_thick(self) -> bool:
        """True where a micro-tile has several rows that follow each other: only its last one can be the last of all."""
        return bool(self.node.following) and self.node.body.block[self.node.following[-1]] > 1

    def _is_last(self, b: ir.IRBuilder, k: int, place: Int) -> ir.Value:
        return _compared(b, ">=", place, static(self.axes[k].extent) - self.node.body.block[k])

    # --- continuation in the next row ---

    def continuation(
        self, b: ir.IRBuilder, source: ir.Value, moves: tuple[Move, ...] = (), stops: ir.Value | None = None
    ) -> Continuation | None:
        """The continuation of the micro-tile that is `moves` ahead and begins at this address of A; None where rows do
        not follow each other. stops: whether no row follows its last one."""
        following = self.node.following
        if not following:
            return None
        by_axis = self._away()
        away: Int = by_axis[following[-1]]
        for k in following[-2::-1]:
            last = self._is_last(b, k, moved_place(b, self.at[k], k, moves))
            away = b.select(last, i64(away), i64(by_axis[k]))
        distance = moved_place(b, 0, 0, moves)
        left = b.sub(self.left, i64(distance)) if moves else self.left
        stop = None if stops is None else (following[-1], stops)
        return Continuation(left, freeze(b, beyond(b, source, away)), stop)

    def _away(self) -> dict[int, int]:
        """Bytes of A from the end of a row to the start of the next, by the axis along which the next row follows."""
        size, found = self.node.body.source.dtype.itemsize, {}
        back = static(self.axes[0].extent) * static(self.axes[0].stride_a)
        for k in self.node.following:
            step = static(self.axes[k].stride_a)
            found[k] = (step - back) * size
            back += (static(self.axes[k].extent) - 1) * step
        return found


def distance_to_boundary(b: ir.IRBuilder, node: Peeled, address: ir.Value) -> ir.Value:
    """Steps along the axis from an address of B to the next boundary. A step that is no power of two reaches it after
    as many as its inverse among the odd numbers says."""
    size = node.body.target.dtype.itemsize
    distance, step = b.and_(b.neg(address), i64(node.grain * size - 1)), node.step * size
    if node.step == 1:
        return b.udiv(distance, i64(step), name="ahead")
    even = step & -step
    count = node.grain * size // even
    turns = b.mul(b.lshr(distance, i64(even.bit_length() - 1)), i64(pow(step // even, -1, count)))
    return b.and_(turns, i64(count - 1), name="ahead")


def moved_place(b: ir.IRBuilder, place: Int, axis: int, moves: tuple[Move, ...]) -> Int:
    """A position along an axis, after these moves."""
    for move in moves:
        place = add(b, place, move.distance) if move.axis == axis else place
    return place


def _compared(b: ir.IRBuilder, how: str, value: Int, wanted: int) -> ir.Value:
    if isinstance(value, int):
        return ir.Constant(I1, int(value <= wanted if how == "<=" else value >= wanted))
    return b.icmp_signed(how, value, i64(wanted))
