"""The bit network of registers that are put together from pieces of A's rows.

Such registers start with the lane bits above a piece already in place: which row's piece goes where is a matter of
addresses and costs no shuffle. Pieces are 128 bits or longer, as inserts from memory load them.
"""

from __future__ import annotations

from math import inf

from ttc_llvm.lazy_dataclasses import replace
from ttc_llvm.lowering.layout import HOLE, RegisterLayout

from .bits import Bit, between, every_bit, key, lane_bits, width
from .shuffles import Mask, Network, Pieces


def lengths(b: RegisterLayout, shortest: int) -> list[int]:
    """Lanes that a piece of B's registers may have, the longest first."""
    found, piece = [], b.lanes // 2
    while piece >= max(1, shortest):
        found.append(piece)
        piece //= 2
    return found


def stages(block: tuple[int, ...], a: RegisterLayout, b: RegisterLayout, group: int, piece: int) -> int | None:
    """Stages of shuffles after pieces of so many lanes; None where A's rows cannot be loaded so, or are loaded whole
    that way."""
    lanes, wanted = _start(block, a, b, group, piece), lane_bits(block, b)
    return None if lanes is None or wanted is None else len(set(wanted).difference(lanes))


def whole_shuffles(block: tuple[int, ...], a: RegisterLayout, b: RegisterLayout) -> float:
    """Shuffles of the bit network after whole registers of A, where every row exists; infinite where there is none."""
    lanes, wanted = lane_bits(block, a), lane_bits(block, b)
    if lanes is None or wanted is None:
        return inf
    count = max(float(len(a.registers)), len(b.registers) * b.lanes / a.lanes)
    steps, missing = 0.0, len(set(wanted).difference(lanes))
    for _ in range(len(lanes), len(wanted)):  # pairs are joined, then bits exchanged, then halves split
        count, missing = count / 2, missing - 1
        steps += count
    steps += missing * count
    for _ in range(len(wanted), len(lanes)):
        count *= 2
        steps += count
    return steps


def exchange_pieces(
    block: tuple[int, ...],
    a: RegisterLayout,
    b: RegisterLayout,
    wanted: list[Mask],
    group: int,
    piece: int,
    in_place: bool = False,
) -> Network | None:
    """The network from pieces of A's registers of so many lanes to side b, which holds `wanted`; None where that is
    not possible, or pieces are whole registers. group: lanes in 128 bits; in_place: lanes that stay do not move."""
    lanes = _start(block, a, b, group, piece)
    found = None if lanes is None else _assembled(block, a, lanes, piece)
    if lanes is None or found is None:
        return None
    start = [_content(a, pieces, piece) for pieces in found]
    network = between(block, lanes, b, start, wanted, group, in_place)
    return None if network is None else replace(network, pieces=found)


def _start(
    block: tuple[int, ...], a: RegisterLayout, b: RegisterLayout, group: int, piece: int
) -> tuple[Bit, ...] | None:
    """Lane bits of registers as wide as B's: A's own inside a piece; above, those that B wants above 128 bits.

    The lowest of these come first: the missing bits enter on top and push them down, in one shuffle of groups.
    """
    lanes_a, lanes_b, low = lane_bits(block, a), lane_bits(block, b), width(piece)
    if lanes_a is None or lanes_b is None or len(lanes_a) < low or len(lanes_b) <= low:
        return None
    if any(len(register.elements) % piece for register in a.registers):
        return None
    inside = lanes_a[:low]
    high = [bit for bit in lanes_b[width(group) :] if bit not in inside]
    rest = [bit for bit in lanes_a[low:] if bit not in high and bit not in lanes_b]
    found = (*inside, *high, *rest)[: len(lanes_b)]
    return found if len(found) == len(lanes_b) and found != lanes_a else None


def _assembled(
    block: tuple[int, ...], a: RegisterLayout, lanes: tuple[Bit, ...], piece: int
) -> tuple[Pieces, ...] | None:
    """The registers with these lane bits. None where some piece of A's registers holds elements of several
    registers to be."""
    high = lanes[width(piece) :]
    others = [bit for bit in every_bit(block) if bit not in lanes]
    found: dict[tuple[int, ...], list[tuple[int, int] | None]] = {}
    for number, register in enumerate(a.registers):
        for first in range(0, len(register.elements), piece):
            elements = register.elements[first : first + piece]
            places, last = (key(e, block, (*high, *others)) for e in (elements[0], elements[-1]))
            if places != last:
                return None
            place = sum(bit << k for k, bit in enumerate(places[: len(high)]))
            found.setdefault(places[len(high) :], [None] * (1 << len(high)))[place] = (number, first)
    return tuple(map(tuple, found.values()))


def _content(a: RegisterLayout, pieces: Pieces, piece: int) -> Mask:
    empty = (HOLE,) * piece
    parts = (empty if p is None else a.registers[p[0]].elements[p[1] : p[1] + piece] for p in pieces)
    return tuple(element for part in parts for element in part)
