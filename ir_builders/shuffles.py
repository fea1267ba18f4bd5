"""Straight-line programs of two-input shuffles, and what each lane of each value holds."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ttc_llvm.layout import HOLE

Mask = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Shuffle:
    """Value `left`, concatenated with `right`, read through the mask (HOLE = undefined lane)."""

    left: int
    right: int
    mask: Mask


@dataclass(frozen=True, slots=True)
class Network:
    """A straight-line program: values 0..inputs-1 are A's registers, each step appends one value.

    fences: values that code generation takes as they are, without a search for a shorter program behind them."""

    inputs: int
    lanes: int
    steps: tuple[Shuffle, ...]
    outputs: tuple[int, ...]
    fences: frozenset[int] = frozenset()

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
