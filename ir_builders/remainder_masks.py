"""Masks of the elements that exist where a block is a remainder, whose lengths are known at run time only."""

from __future__ import annotations

from functools import lru_cache, reduce

from llvmlite import ir

from ttc_llvm.lazy_dataclasses import dataclass, field
from ttc_llvm.lowering.layout import HOLE, Register, unflatten

from .llvmlite_extensions import reference, vector_type, written
from .values import I1, Int, chosen, i64, minimum, splat


@dataclass(slots=True)
class RemainderMasks:
    """The remainder axes of a block: their lengths, and the masks built so far."""

    block: tuple[int, ...]
    lengths: dict[int, ir.Value]  # axis -> i64
    masks: dict[tuple[tuple[int, ...], int, int], ir.Value] = field(default_factory=dict)
    below: dict[tuple[int, tuple[int, ...]], ir.Value] = field(default_factory=dict)
    exist: dict[tuple[int, int], ir.Value] = field(default_factory=dict)

    def exists(self, b: ir.IRBuilder, k: int, register: Register) -> ir.Value | None:
        """The condition that any of a register's elements lies below an axis' length; None where the first one always
        does."""
        found = (unflatten(element, self.block)[k] for element in register.elements if element != HOLE)
        least = min(found) if k in self.lengths else 0
        if least == 0:
            return None
        if (k, least) not in self.exist:
            self.exist[(k, least)] = b.icmp_unsigned("<", i64(least), self.lengths[k])
        return self.exist[(k, least)]

    def count(self, b: ir.IRBuilder, register: Register) -> Int:
        """The elements of a register along axis 0 that exist."""
        lanes = len(register.elements)
        if 0 not in self.lengths:
            return lanes
        left = b.sub(self.lengths[0], i64(register.start[0]))
        return minimum(b, b.select(b.icmp_signed(">", left, i64(0)), left, i64(0)), lanes)

    def has_row(self, b: ir.IRBuilder, register: Register) -> ir.Value | None:
        """The condition that the row of a register along axis 0 exists; None where it always does."""
        found = (self.exists(b, k, register) for k in self.lengths if k)
        conditions = [one for one in found if one is not None]
        return reduce(b.and_, conditions) if conditions else None

    def inside(self, b: ir.IRBuilder, k: int, register: Register, offset: Int) -> Int:
        """A register's offset along an axis; 0 where all of its elements lie beyond that axis' length. None of its
        lanes is active, but processors take hundreds of cycles to find out where its address is not mapped."""
        exists = None if offset == 0 else self.exists(b, k, register)
        return offset if exists is None else chosen(b, exists, offset, 0)

    def mask(self, b: ir.IRBuilder, register: Register, lanes: int, per_element: int) -> ir.Value:
        """The lanes of a register whose elements exist: every index along a remainder axis below its length."""
        key = (register.elements, lanes, per_element)
        if key not in self.masks:
            self.masks[key] = self._build(b, register, lanes, per_element)
        return self.masks[key]

    def _build(self, b: ir.IRBuilder, register: Register, lanes: int, per_element: int) -> ir.Value:
        indices = [None if e == HOLE else unflatten(e, self.block) for e in register.elements]
        total = lanes * per_element
        bits = 32 if total <= 16 else 8 if max(self.block) < 255 else 16
        lane_type, never = ir.IntType(bits), (1 << bits) - 1
        mask: ir.Value | None = None
        for k in self.lengths:
            column = [never if index is None else index[k] for index in indices for _ in range(per_element)]
            column += [never] * (total - len(column))  # lanes without an element are below no length
            below = self._below(b, k, tuple(column), lane_type)
            mask = below if mask is None else b.and_(mask, below)
        assert mask is not None
        return mask

    def _below(self, b: ir.IRBuilder, k: int, column: tuple[int, ...], lane_type: ir.IntType) -> ir.Value:
        """The lanes whose index along an axis is below its length; rows of a block share most of these."""
        if (k, column) not in self.below:
            length = written(b, lane_type, f"trunc i64 {reference(self.lengths[k])} to {lane_type}")
            bound = splat(b, length, len(column))
            text = f"icmp ult {bound.type} {_listed(lane_type, column)}, {reference(bound)}"
            self.below[(k, column)] = written(b, vector_type(I1, len(column)), text)
        return self.below[(k, column)]


@lru_cache(maxsize=1024)
def _listed(kind: ir.IntType, values: tuple[int, ...]) -> str:
    """A vector of constants in text."""
    return f"<{', '.join([f'{kind} {value}' for value in values])}>"
