"""The position of the micro-tile some iterations ahead: an odometer over the loops around a node.

The distance is split into iterations per loop, innermost first; a loop that runs over its end wraps to
its start and carries into the loop around it, tile loops included. Only addresses depend on it.
"""

from __future__ import annotations

from dataclasses import dataclass

from llvmlite import ir

from .values import I64, Int, add, i64, mul

LEVELS = 4  # loops that the odometer counts through; further out it would hardly ever carry


@dataclass(frozen=True, slots=True)
class Step:
    """A loop around the current node: axis, counter, interval length, step, and the iterations that it makes in a
    whole tile (0 = known at run time only); early: elements by which this iteration has stepped back."""

    axis: int
    counter: ir.Value
    length: Int
    step: int
    trips: int
    early: Int = 0


@dataclass(frozen=True, slots=True)
class Move:
    """The distance to the tile ahead along one axis, in elements."""

    axis: int
    distance: Int


def moves(b: ir.IRBuilder, trail: tuple[Step, ...], distance: int) -> tuple[Move, ...]:
    """The displacement, loop by loop, of the micro-tile `distance` iterations ahead of the current one."""
    found = []
    carry: ir.Value | None = None
    for step in reversed(trail[-LEVELS:]):
        digit = distance % step.trips if step.trips else distance
        distance = distance // step.trips if step.trips else 0
        if digit == 0 and carry is None:
            continue
        forward = add(b, digit * step.step, 0 if carry is None else mul(b, carry, step.step))
        forward = add(b, forward, step.early)
        over = b.icmp_signed(">=", b.add(step.counter, i64(forward)), i64(step.length))
        wrapped = b.sub(i64(forward), i64(_whole(step)))
        found.append(Move(step.axis, b.select(over, wrapped, i64(forward))))
        carry = b.zext(over, I64)
    return tuple(found)


def split(trail: tuple[Step, ...], tile: tuple[int, ...]) -> tuple[tuple[Step, ...], dict[int, Step]]:
    """The loops over tiles, which advance by a tile or more, and by axis those inside one."""
    tiles: list[Step] = []
    inside: dict[int, Step] = {}
    for step in trail:
        if step.step >= tile[step.axis]:
            tiles.append(step)
        else:
            inside[step.axis] = step
    return tuple(tiles), inside


def short(
    b: ir.IRBuilder, trail: tuple[Step, ...], moves: tuple[Move, ...], block: tuple[int, ...]
) -> dict[int, tuple[int, ir.Value]]:
    """Axes along which some blocks are short: how long these are, and whether the one `moves` ahead is one of them."""
    found: dict[int, tuple[int, ir.Value]] = {}
    for k, unit in enumerate(block):
        around = [step for step in trail if step.axis == k]
        extent = around[0].length if around else 0
        if not isinstance(extent, int) or extent % unit == 0:
            continue
        end: Int = unit
        for distance in (*(step.counter for step in around), *(move.distance for move in moves if move.axis == k)):
            end = add(b, end, distance)
        found[k] = (extent % unit, b.icmp_signed(">", i64(end), i64(extent)))
    return found


def _whole(step: Step) -> Int:
    """What brings the loop back to its start."""
    return -(-step.length // step.step) * step.step if isinstance(step.length, int) else step.length
