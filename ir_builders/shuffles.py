"""Straight-line programs of two-input shuffles, and the element in each lane of each value."""

from __future__ import annotations

from ttc_llvm.lazy_dataclasses import dataclass, replace
from ttc_llvm.lowering.layout import HOLE

Mask = tuple[int, ...]
# The pieces that make up a register, by position: one of A's registers and the first lane there; None = undefined.
Pieces = tuple[tuple[int, int] | None, ...]


@dataclass(frozen=True, slots=True)
class Shuffle:
    """Value `left`, concatenated with `right`, read through the mask (HOLE = undefined lane)."""

    left: int
    right: int
    mask: Mask


@dataclass(frozen=True, slots=True)
class Network:
    """A straight-line program: values 0..inputs-1 are loaded, each step appends one value.

    fences: values that code generation takes as they are, without a search for a shorter program behind them;
    pieces: those that make up each input; () = the inputs are A's registers."""

    inputs: int
    lanes: int
    steps: tuple[Shuffle, ...]
    outputs: tuple[int, ...]
    fences: frozenset[int] = frozenset()
    pieces: tuple[Pieces, ...] = ()

    @property
    def inserts(self) -> int:
        """Pieces that join others in a register: loads that are inserted, beside the loads that start one."""
        return sum(max(0, sum(piece is not None for piece in pieces) - 1) for pieces in self.pieces)

    @property
    def needs(self) -> tuple[int, ...]:
        """The inputs that each output depends on, as bits."""
        known = [1 << number for number in range(self.inputs)]
        for step in self.steps:
            known.append(known[step.left] | known[step.right])
        return tuple(known[output] for output in self.outputs)

    @property
    def partners(self) -> dict[int, int]:
        """Values that share both operands with one other: computed together, they free two registers."""
        pairs: dict[tuple[int, int], list[int]] = {}
        for number, step in enumerate(self.steps, self.inputs):
            pairs.setdefault((min(step.left, step.right), max(step.left, step.right)), []).append(number)
        return {one: other for pair in pairs.values() if len(pair) == 2 for one, other in (pair, pair[::-1])}


class Program:
    """Steps so far and, per value, which element each lane holds."""

    def __init__(self, contents: list[Mask]) -> None:
        self.contents = list(contents)
        self.inputs = len(contents)
        self.steps: list[Shuffle] = []

    def shuffle(self, left: int, right: int, mask: Mask) -> int:
        """Append a shuffle of two values; returns the number of the new one."""
        both = self.contents[left] + self.contents[right]
        content = tuple(HOLE if m == HOLE else both[m] for m in mask)
        used = tuple(HOLE if c == HOLE else m for c, m in zip(content, mask, strict=True))
        self.steps.append(Shuffle(left, right, used))
        self.contents.append(content)
        return len(self.contents) - 1

    def network(self, lanes: int, outputs: tuple[int, ...]) -> Network:
        """The steps that these outputs need, and no others."""
        return _pruned(Network(self.inputs, lanes, tuple(self.steps), outputs))


def fits(have: Mask, content: Mask) -> bool:
    """True where every lane that matters holds the element wanted there."""
    return all(e in (HOLE, h) for e, h in zip(content, have, strict=True))


def padded(elements: tuple[int, ...], lanes: int) -> Mask:
    """The contents of a register of so many lanes whose first ones hold these elements."""
    return elements + (HOLE,) * (lanes - len(elements))


def _pruned(network: Network) -> Network:
    live = set(network.outputs)
    for number in reversed(range(len(network.steps))):
        if network.inputs + number in live:
            live |= {network.steps[number].left, network.steps[number].right}
    rename = {value: value for value in range(network.inputs)}
    steps: list[Shuffle] = []
    for number, step in enumerate(network.steps):
        if network.inputs + number in live:
            rename[network.inputs + number] = network.inputs + len(steps)
            steps.append(Shuffle(rename[step.left], rename[step.right], step.mask))
    return replace(network, steps=tuple(steps), outputs=tuple(rename[value] for value in network.outputs))
