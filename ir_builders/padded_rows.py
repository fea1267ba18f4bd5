"""The network of rows that stay rows and whose length is no power of two, such as pixels of three channels.

Rows are spread in A's registers, so that each begins at a power of two; they are then exchanged as whole ones by the
bit network, and are put together again in B's registers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

from ttc_llvm.lowering.layout import HOLE, Register, RegisterLayout, flatten, unflatten

from .bits import exchange
from .gather import gather
from .shuffles import Mask, Network, Shuffle, padded


def spread_rows(block: tuple[int, ...], a: RegisterLayout, b: RegisterLayout, group: int) -> Network | None:
    """The network from A's registers to B's by way of spread rows; None where A and B have no such rows in common."""
    length = block[a.run[0]] if a.run and b.run and a.run[0] == b.run[0] else 1
    if length & (length - 1) == 0 or a.lanes != b.lanes or not len(a.run) == len(b.run) == 2:
        return None
    wide = tuple(1 << (length - 1).bit_length() if k == a.run[0] else extent for k, extent in enumerate(block))
    (start, from_a), (wanted, to_b) = _spread(block, wide, a), _spread(block, wide, b)
    middle = exchange(wide, from_a, to_b, [padded(r.elements, to_b.lanes) for r in to_b.registers], group)
    if middle is None:
        return None
    first = gather([padded(r.elements, a.lanes) for r in a.registers], start, a.lanes, from_a.lanes)
    last = gather(wanted, [padded(r.elements, b.lanes) for r in b.registers], to_b.lanes, b.lanes)
    return _chained(_chained(first, middle), last)


def _spread(block: tuple[int, ...], wide: tuple[int, ...], s: RegisterLayout) -> tuple[list[Mask], RegisterLayout]:
    """The contents of a side's registers once its rows are spread, by elements of the block; and the same registers as
    a layout of the wider block."""
    gap = (HOLE,) * (wide[s.run[0]] - block[s.run[0]])
    contents: list[Mask] = []
    for run in _runs(block, s):
        rows = [run[i : i + block[s.run[0]]] for i in range(0, len(run), block[s.run[0]])]
        spread = tuple(element for row in rows for element in (*row, *gap))
        chunks = (spread[i : i + s.lanes] for i in range(0, len(spread), s.lanes))
        contents += [chunk for chunk in chunks if any(e != HOLE for e in chunk)]
    renumbered = [
        tuple(e if e == HOLE else flatten(unflatten(e, block), wide) for e in content) for content in contents
    ]
    lanes = min(s.lanes, 1 << (max(map(len, contents)) - 1).bit_length())
    registers = tuple(Register(unflatten(content[0], wide), content) for content in renumbered)
    return [padded(content, lanes) for content in contents], RegisterLayout(s.run, lanes, registers)


def _runs(block: tuple[int, ...], s: RegisterLayout) -> Iterator[Sequence[int]]:
    """The elements of each run of memory, register after register."""
    length, run = prod(block[k] for k in s.run), list[int]()
    for register in s.registers:
        run += register.elements
        if len(run) == length:
            yield run
            run = []


def _chained(first: Network, second: Network) -> Network:
    """One network after the other, which begins with the first one's outputs."""
    base = first.inputs + len(first.steps)

    def number(value: int) -> int:
        return first.outputs[value] if value < second.inputs else base + value - second.inputs

    steps = (Shuffle(number(step.left), number(step.right), step.mask) for step in second.steps)
    outputs = tuple(map(number, second.outputs))
    return Network(first.inputs, second.lanes, (*first.steps, *steps), outputs)
