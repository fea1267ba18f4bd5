"""The displacement of the micro-tile, or tile, some iterations ahead: an odometer over the enclosing loops.

The distance is split into iterations per loop, innermost first; a loop that runs past its end wraps to its start and
carries into the next outer one, tile loops included. Only addresses depend on it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, reduce

from llvmlite import ir

from ttc_llvm.lazy_dataclasses import dataclass, replace

from ..llvmlite_extensions import reference, written
from ..values import I1, I64, Int, add, chosen, i64, less, mul, spelled, steps

LEVELS = 4  # loops that the odometer counts through; further out it would hardly ever carry
LONGEST_STEP = 1 << 40  # that any extent reaches
TURNS = 2  # of a loop whose trips only run time knows, at most; it may be shorter than the distance


@dataclass(frozen=True, slots=True)
class LoopState:
    """An enclosing loop: axis, counter, interval length, step, and its trips in a whole tile (0 = known at run time
    only); early: elements by which this iteration has stepped back; backwards: from the last chunk to the first; joint:
    A goes on in the next iteration from the end of the loop inside; turn: elements back to the start, where these are
    not whole steps."""

    axis: int
    counter: ir.Value
    length: Int
    step: int
    trips: int
    early: Int = 0
    backwards: bool = False
    joint: bool = False
    turn: ir.Value | None = None

    def around(self, b: ir.IRBuilder, inside: LoopState) -> LoopState:
        """This joint loop and the one inside it as one along the axis of that."""
        length = i64(mul(b, self.length, inside.length))
        counter = i64(add(b, mul(b, self.counter, inside.length), inside.counter))
        alone = b.icmp_signed("==", i64(self.length), i64(1))
        turn = b.select(alone, i64(mul(b, steps(b, length, inside.step), inside.step)), length)
        return LoopState(inside.axis, counter, length, inside.step, 0, turn=turn)


@dataclass(frozen=True, slots=True)
class Move:
    """The displacement along one axis, in elements."""

    axis: int
    distance: Int


def moves(b: ir.IRBuilder, loops: tuple[LoopState, ...], distance: int) -> tuple[Move, ...]:
    """The displacement, loop by loop, to `distance` iterations ahead. loops: outermost first."""
    found = []
    carry: ir.Value | None = None
    most = 0  # that is carried
    for loop in reversed(_joined(b, loops)[-LEVELS:]):
        digit = distance % loop.trips if loop.trips else distance
        distance = distance // loop.trips if loop.trips else 0
        if digit == 0 and carry is None:
            continue
        forward = add(b, digit * loop.step, 0 if carry is None else mul(b, carry, loop.step))
        most = 1 if loop.trips else min(TURNS, digit + most)
        move, carry = _turned(b, loop, add(b, forward, loop.early), most)
        found.append(Move(loop.axis, move))
    return tuple(found)


def _joined(b: ir.IRBuilder, loops: tuple[LoopState, ...]) -> tuple[LoopState, ...]:
    """The loops; where A goes on from one to the next, both as one, and without those that turn once."""
    if not any(loop.joint for loop in loops):
        return loops
    turning = [replace(loop, trips=0) for loop in loops if loop.trips != 1 and loop.step < LONGEST_STEP]
    *others, outside, inside = turning
    return (*others, outside.around(b, inside)) if outside.joint else tuple(turning)


def _turned(b: ir.IRBuilder, loop: LoopState, forward: Int, turns: int) -> tuple[ir.Value, ir.Value]:
    """The move of a loop that goes forward, and the carry: it starts over so many times at most."""
    whole, carries = _rewind(b, loop), list[Int]()
    for _ in range(turns):
        reached = written(b, I64, f"add i64 {reference(loop.counter)}, {spelled(forward)}")
        over = written(b, I1, f"icmp sge i64 {reference(reached)}, {spelled(loop.length)}")
        forward = chosen(b, over, less(b, forward, whole), forward)
        carries.append(written(b, I64, f"zext i1 {reference(over)} to i64"))
    return i64(forward), i64(reduce(partial(add, b), carries))


def displaced(b: ir.IRBuilder, offset: Int, moves: tuple[Move, ...], steps: Callable[[int], Int]) -> Int:
    """The offset in bytes after these moves. steps: bytes from an element to the next along an axis."""
    for move in moves:
        step = steps(move.axis)
        offset = add(b, offset, mul(b, move.distance, step))
    return offset


def by_tile(loops: tuple[LoopState, ...], tile: tuple[int, ...]) -> tuple[tuple[LoopState, ...], dict[int, LoopState]]:
    """The loops over tiles, which advance by a tile or more, and by axis those inside a tile."""
    outside = tuple(loop for loop in loops if loop.step >= tile[loop.axis])
    return outside, {loop.axis: loop for loop in loops if loop.step < tile[loop.axis]}


def remainders(
    b: ir.IRBuilder, loops: tuple[LoopState, ...], moves: tuple[Move, ...], block: tuple[int, ...]
) -> dict[int, tuple[int, ir.Value]]:
    """By axis with a remainder: its length, and whether the block that is `moves` ahead is the remainder."""
    found: dict[int, tuple[int, ir.Value]] = {}
    for k, unit in enumerate(block):
        around = [loop for loop in loops if loop.axis == k]
        extent = around[0].length if around else 0
        if not isinstance(extent, int) or extent % unit == 0:
            continue
        end: Int = unit
        for distance in (*(loop.counter for loop in around), *(move.distance for move in moves if move.axis == k)):
            end = add(b, end, distance)
        found[k] = (extent % unit, b.icmp_signed(">", i64(end), i64(extent)))
    return found


def _rewind(b: ir.IRBuilder, loop: LoopState) -> Int:
    """Elements back to the loop's start: the last step may be shorter, but for loops in a tile that is."""
    if loop.turn is not None:
        return loop.turn
    if loop.step == 1 or (loop.trips and not isinstance(loop.length, int)):
        return loop.length
    return mul(b, steps(b, loop.length, loop.step), loop.step)
