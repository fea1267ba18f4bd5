"""The bit network: each stage exchanges one lane bit with one register bit, at one shuffle per register."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from ttc_llvm.lowering.layout import HOLE, RegisterLayout, unflatten

from .shuffles import Mask, Network, Program, fits, padded

Bit = tuple[int, int]  # (axis, bit of its index)


def exchange(
    block: tuple[int, ...], a: RegisterLayout, b: RegisterLayout, wanted: list[Mask], group: int, in_place: bool = False
) -> Network | None:
    """The network from side a to side b, which holds `wanted`; None where the block's indices are not lane bits and
    register bits on both sides. group: lanes in 128 bits; in_place: lanes that stay keep their position."""
    lanes = lane_bits(block, a)
    start = [padded(register.elements, a.lanes) for register in a.registers]
    return None if lanes is None else between(block, lanes, b, start, wanted, group, in_place)


def between(
    block: tuple[int, ...],
    lanes: tuple[Bit, ...],
    b: RegisterLayout,
    start: list[Mask],
    wanted: list[Mask],
    group: int,
    in_place: bool = False,
) -> Network | None:
    """The same from registers with these lane bits, which hold `start`."""
    lanes_b = lane_bits(block, b)
    if lanes_b is None:
        return None
    program = Program(start)
    state = _BitState(block, lanes, program)
    target = list(lanes_b)
    while len(state.lanes) < len(target):
        state.widen(_entering(state.lanes, target))
    for position, bit in enumerate(target):
        if bit not in state.lanes:
            stays = in_place and state.lanes[position] not in target
            places = (position, position) if stays else _places(state.lanes, target, position, width(group))
            state.exchange(bit, *places)
    while len(state.lanes) > len(target):
        if not state.narrow(target):
            return None
    return _finish(program, list(state.values.values()), wanted, b.lanes)


def width(extent: int) -> int:
    """Bits of an index below the extent."""
    return (extent - 1).bit_length()


def lane_bits(block: tuple[int, ...], s: RegisterLayout) -> tuple[Bit, ...] | None:
    """Index bits by lane position, or None where the run is not made of bits."""
    if s.lanes > 1 and not s.run:
        return None
    for k in s.run[:-1]:
        if block[k] & (block[k] - 1):
            return None
    run = [(k, bit) for k in s.run for bit in range(width(block[k]))]
    return tuple(run[: width(s.lanes)])


def filled(block: tuple[int, ...], lanes: Sequence[Bit]) -> list[Mask]:
    """The contents of registers with these lane bits, each for one value of all other bits of the block."""
    others = [bit for bit in every_bit(block) if bit not in lanes]
    found: dict[tuple[int, ...], list[int]] = {}
    for element in range(prod(block)):
        content = found.setdefault(key(element, block, others), [HOLE] * (1 << len(lanes)))
        content[sum(bit << place for place, bit in enumerate(key(element, block, lanes)))] = element
    return [tuple(content) for content in found.values()]


def every_bit(block: tuple[int, ...]) -> list[Bit]:
    """All index bits of a block."""
    return [(k, bit) for k, extent in enumerate(block) for bit in range(width(extent))]


def key(element: int, block: tuple[int, ...], bits: Sequence[Bit]) -> tuple[int, ...]:
    """The values of these bits in an element's index."""
    index = unflatten(element, block)
    return tuple(index[k] >> bit & 1 for k, bit in bits)


def _entering(lanes: list[Bit], target: list[Bit]) -> Bit:
    preferred = target[len(lanes)]
    return preferred if preferred not in lanes else next(bit for bit in target if bit not in lanes)


def _places(lanes: list[Bit], target: list[Bit], position: int, bound: int) -> tuple[int, int]:
    """Where the bit wanted at `position` enters and which position it displaces; bits in between move over.

    Below `bound`, inside 128-bit groups, it enters in place and the highest outgoing bit leaves: an unpack.
    Above, if the whole rest is to change, it enters on top and pushes the others down: a shuffle of groups.
    """
    outgoing = [p for p, bit in enumerate(lanes) if bit not in target]
    if position < bound:
        return position, max([p for p in outgoing if position <= p < bound] or outgoing)
    rest = target[position:]
    if not any(bit in lanes for bit in rest) and outgoing[-1:] == [len(lanes) - 1]:
        lowest = min(p for p in outgoing if p >= bound)
        if len(lanes) - lowest == len(rest):
            return len(lanes) - 1, lowest
    return position, min([p for p in outgoing if p >= position] or [max(outgoing)])


class _BitState:
    """Which index bit each lane position carries, and the values by their remaining bits."""

    def __init__(self, block: tuple[int, ...], lanes: tuple[Bit, ...], program: Program) -> None:
        self.program = program
        self.lanes = list(lanes)
        self.registers = [bit for bit in every_bit(block) if bit not in lanes]
        self.values: dict[tuple[int, ...], int] = {}
        for number, content in enumerate(program.contents):
            element = next(e for e in content if e != HOLE)
            self.values[key(element, block, self.registers)] = number

    def _pairs(self, bit: Bit) -> dict[tuple[int, ...], list[int | None]]:
        """Values that differ in one register bit only, keyed by the other bits."""
        at = self.registers.index(bit)
        pairs: dict[tuple[int, ...], list[int | None]] = {}
        for key, value in self.values.items():
            pairs.setdefault(key[:at] + key[at + 1 :], [None, None])[key[at]] = value
        return pairs

    def _combine(self, pair: list[int | None], sources: list[tuple[int, int]]) -> int:
        """One shuffle: lane m takes lane sources[m][1] of pair[sources[m][0]], a hole where that is absent."""
        present = [v for v in pair if v is not None]
        left, right = present[0], present[-1]
        width = len(self.program.contents[left])
        base = [None if v is None else (0 if v == left else width) for v in pair]
        mask = tuple(HOLE if base[r] is None else (base[r] or 0) + lane for r, lane in sources)
        return self.program.shuffle(left, right, mask)

    def widen(self, bit: Bit) -> None:
        """Join pairs of registers: a register bit becomes the top lane bit."""
        width = 1 << len(self.lanes)
        sources = [divmod(m, width) for m in range(2 * width)]
        self.values = {key: self._combine(pair, sources) for key, pair in self._pairs(bit).items()}
        self.registers.remove(bit)
        self.lanes.append(bit)

    def exchange(self, bit: Bit, enter: int, leave: int) -> None:
        """A register bit enters at one lane position, another leaves, those between move up or down."""
        at = self.registers.index(bit)
        order = [p for p in range(len(self.lanes)) if p != leave]
        order.insert(enter, -1)
        gone = self.lanes[leave]
        sources = [[_source(m, order, leave, j) for m in range(1 << len(self.lanes))] for j in (0, 1)]
        values = {}
        for key, pair in self._pairs(bit).items():
            for j in (0, 1):
                value = self._combine(pair, sources[j])
                if any(e != HOLE for e in self.program.contents[value]):
                    renamed = (*key[:at], j, *key[at:])
                    values[renamed] = value
        self.values = values
        self.registers[at] = gone
        self.lanes = [bit if p == -1 else self.lanes[p] for p in order]

    def narrow(self, target: list[Bit]) -> bool:
        """Split registers into halves along the topmost lane bit, if B does not want it as a lane."""
        if self.lanes[-1] in target:
            return False
        half = 1 << (len(self.lanes) - 1)
        values = {}
        for key, value in self.values.items():
            for j in (0, 1):
                part = self.program.shuffle(value, value, tuple(range(j * half, (j + 1) * half)))
                if any(e != HOLE for e in self.program.contents[part]):
                    longer = (*key, j)
                    values[longer] = part
        self.values = values
        self.registers.append(self.lanes.pop())
        return True


def _source(lane: int, order: list[int], leave: int, j: int) -> tuple[int, int]:
    """(which of the pair, its lane) that ends up in `lane`, in the output whose leaving bit is j."""
    which, old = 0, j << leave
    for position, origin in enumerate(order):
        bit = lane >> position & 1
        if origin == -1:
            which = bit
        else:
            old |= bit << origin
    return which, old


def _finish(program: Program, values: list[int], wanted: list[Mask], lanes: int) -> Network | None:
    """Match values to B's registers; where only the order of lanes differs, fold it into the last shuffle."""
    holders = {e: v for v in values for e in program.contents[v] if e != HOLE}
    outputs = []
    for content in wanted:
        value = holders[next(e for e in content if e != HOLE)]
        have = program.contents[value]
        if len(have) != lanes or any(e != HOLE and e not in have for e in content):
            return None
        outputs.append(value if fits(have, content) else _reorder(program, value, content))
    return program.network(lanes, tuple(outputs))


def _reorder(program: Program, value: int, content: Mask) -> int:
    have = program.contents[value]
    order = tuple(HOLE if e == HOLE else have.index(e) for e in content)
    if value < program.inputs:
        return program.shuffle(value, value, order)
    last = program.steps[value - program.inputs]
    return program.shuffle(last.left, last.right, tuple(HOLE if o == HOLE else last.mask[o] for o in order))
