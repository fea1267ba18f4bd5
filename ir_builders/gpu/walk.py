"""Positions of a phase's items.

Positions of threads are decoded once; rounds of one thread differ by constants, which end up inside the accesses. Where
the last round is not full or the tile is a remainder, positions to be loaded are clamped to the last one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from math import prod

from llvmlite import ir

from ttc_llvm.lowering.gpu import trace as gpu_trace
from ttc_llvm.lowering.gpu.nest import Digit, Phase, SharedTile
from ttc_llvm.lowering.gpu.trace import Round

from ..values import I32
from .sums import Arithmetic, Sum


class Walk:
    """A phase as one thread walks it. limits: i32 lengths of the tile along remainder axes."""

    def __init__(
        self, b: ir.IRBuilder, phase: Phase, thread: ir.Value, threads: int, tile: tuple[int, ...],
        limits: Mapping[int, ir.Value],
    ) -> None:  # fmt: skip
        self.b, self.phase, self.tile = b, phase, tile
        self.sums = Arithmetic(b)
        self.idle = phase.threads < threads
        self.thread = thread
        self._limits = [self._limit(digit, limits) for digit in phase.digits]
        self._threads = self._decoded(thread)
        self._known_left: dict[tuple[int, tuple[tuple[int, int], ...]], ir.Value] = {}

    @property
    def own_addresses(self) -> bool:
        """True where loads from memory need addresses of their own: clamped positions differ by more than constants."""
        return self.own_slots or any(limit is not None for limit in self._limits)

    @property
    def own_slots(self) -> bool:
        """True where accesses to shared memory do. Remainders need none: a whole tile has room there."""
        return not all(digit.exact for digit in self.phase.digits)

    def rounds(self) -> Iterator[Round]:
        """Every item of the thread, the last digit's rounds slowest."""
        return gpu_trace.rounds(self.phase)

    def _existing(self, number: int, turn: Round) -> Sum:
        """The position of a round along a digit, at most the last one of this tile."""
        limit = self._limits[number]
        return self._slot(number, turn) if limit is None else self.sums.clamped(self._raw(number, turn), limit)

    def _slot(self, number: int, turn: Round) -> Sum:
        """The same, at most the last one of a whole tile."""
        raw = self._raw(number, turn)
        if self._is_full(number, turn):
            return raw
        return self.sums.clamped(raw, ir.Constant(I32, self.phase.digits[number].count))

    def _is_full(self, number: int, turn: Round) -> bool:
        """True where all threads have a position of a whole tile in this round."""
        digit = self.phase.digits[number]
        return digit.exact or turn[number] + 1 < digit.rounds

    def exists(self, turn: Round) -> ir.Value | None:
        """The condition that a round's item lies in the tile and belongs to this thread; None = always.

        One comparison with a constant per round: the other operand is the same for many rounds.
        """
        limited = [limit is not None for limit in self._limits]
        bounded = [number for number in range(len(turn)) if limited[number] or not self._is_full(number, turn)]
        if not bounded:
            return self._is_busy() if self.idle else None
        most = max(bounded, key=lambda number: self.phase.digits[number].rounds)
        others = tuple((number, turn[number]) for number in bounded if number != most)
        return self._reaches(self._left(most, others), most, turn[most])

    def _is_busy(self) -> ir.Value:
        return self.b.icmp_unsigned("<", self.thread, ir.Constant(I32, self.phase.threads))

    def _reaches(self, left: ir.Value, number: int, turn: int) -> ir.Value:
        start = ir.Constant(I32, turn * self.phase.digits[number].threads)
        return self.b.icmp_signed(">", left, start)

    def _left(self, number: int, others: tuple[tuple[int, int], ...]) -> ir.Value:
        """Positions of a digit from the thread's own on; none where other digits, or the thread, have no item."""
        key = (number, others)
        if key not in self._known_left:
            limit, mine = self._limits[number], self._threads[number]
            left = ir.Constant(I32, self.phase.digits[number].count) if limit is None else limit
            if mine is not None:
                left = self.b.sub(left, mine, flags=("nsw",))
            conditions = [self._reaches(self._left(other, ()), other, turn) for other, turn in others]
            for condition in conditions or ([self._is_busy()] if self.idle else []):
                left = self.b.select(condition, left, ir.Constant(I32, 0))
            self._known_left[key] = left
        return self._known_left[key]

    def load_offset(self, turn: Round, strides: tuple[int, ...], sums: Arithmetic) -> Sum:
        """The offset at which a round's item starts in a tensor of these strides, along whose runs its vectors lie; the
        last item of the tile for rounds beyond: it may be loaded always."""
        return self._offset(turn, strides, sums, self._existing)

    def store_offset(self, turn: Round, strides: tuple[int, ...], sums: Arithmetic) -> Sum:
        """The same where the item is stored, if it `exists`: rounds differ by constants."""
        return self._offset(turn, strides, sums, self._raw)

    def _offset(
        self, turn: Round, strides: tuple[int, ...], sums: Arithmetic, position: Callable[[int, Round], Sum]
    ) -> Sum:
        total = Sum()
        for number, digit in enumerate(self.phase.digits):
            found = sums.widened(position(number, turn))
            total += sums.times(found, digit.step * strides[digit.axes[0]])
        return total

    def shared(self, turn: Round, tile: SharedTile, inside: int = 0) -> Sum:
        """The position of an item, or of the element `inside` its vector, in shared memory."""
        total = Sum()
        for number, digit in enumerate(self.phase.digits):
            along = digit.axes == self.phase.run.axes
            total += self._placed(self._slot(number, turn), inside if along else 0, digit, tile)
        return total

    def _placed(self, position: Sum, inside: int, digit: Digit, tile: SharedTile) -> Sum:
        """The part of an offset in shared memory that comes from one digit."""
        first, *others = digit.axes
        if tile.is_linear(digit.axes, self.tile):
            return self.sums.times(position, digit.step * tile.strides[first]).plus(
                inside * tile.strides[first]
            )
        if not others and digit.step % tile.group == 0:  # whole groups
            groups = self.sums.times(position, digit.step // tile.group * tile.outer)
            return groups.plus(inside // tile.group * tile.outer + inside % tile.group * tile.strides[first])
        start = self.sums.times(position, digit.step)
        if not others:  # a vector lies inside a group
            return self._along(start, first, tile).plus(inside * tile.strides[first])
        total, rest = Sum(), start.plus(inside)
        for k in digit.axes[:-1]:
            rest, index = self.sums.divided(rest, self.tile[k])
            total += self._along(index, k, tile)
        return total + self._along(rest, digit.axes[-1], tile)

    def _along(self, index: Sum, k: int, tile: SharedTile) -> Sum:
        if k != tile.split:
            return self.sums.times(index, tile.strides[k])
        group, inside = self.sums.divided(index, tile.group)
        return self.sums.times(group, tile.outer) + self.sums.times(inside, tile.strides[k])

    def _raw(self, number: int, turn: Round) -> Sum:
        digit, mine = self.phase.digits[number], self._threads[number]
        return Sum(() if mine is None else (mine,), turn[number] * digit.threads)

    def _decoded(self, thread: ir.Value) -> list[ir.Value | None]:
        """Which position of each digit is the thread's own; None where threads do not differ."""
        last = max((k for k, digit in enumerate(self.phase.digits) if digit.threads > 1), default=-1)
        found: list[ir.Value | None] = []
        rest = thread
        for number, digit in enumerate(self.phase.digits):
            count = ir.Constant(I32, digit.threads)
            if digit.threads == 1:
                found.append(None)
            elif number == last:
                found.append(self._last(rest, count))
            else:
                found.append(self.b.urem(rest, count))
                rest = self.b.udiv(rest, count)
        return found

    def _last(self, rest: ir.Value, count: ir.Constant) -> ir.Value:
        """Threads without work of their own repeat that of the last one, whose lines are on their way anyhow."""
        if not self.idle:
            return rest
        inside = self.b.icmp_unsigned("<", rest, count)
        return self.b.select(inside, rest, ir.Constant(I32, int(count.constant) - 1))

    def _limit(self, digit: Digit, limits: Mapping[int, ir.Value]) -> ir.Value | None:
        """Positions of a digit in this tile, where they are known at run time only."""
        last = digit.axes[-1]
        if last not in limits:
            return None
        inner = prod(self.tile[k] for k in digit.axes[:-1])
        length = self.b.mul(limits[last], ir.Constant(I32, inner)) if inner > 1 else limits[last]
        return self.b.udiv(length, ir.Constant(I32, digit.step))
