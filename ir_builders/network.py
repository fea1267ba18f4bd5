"""Shuffle networks: how registers of A become registers of B, as two-input shuffles and nothing else.

Where the block's index bits are lane bits and register bits on both sides, a stage exchanges one lane
bit with one register bit at one shuffle per register: log2(lanes) stages transpose a square. Stages
rotate inside 128-bit groups, as unpack instructions do. Stages that exchange whole groups can be
left to the loads: registers are then put together from pieces of A's rows, by inserts from memory, which do
not wait for the one unit that shuffles. Rows of 3, 5, ... elements that stay are spread to powers of two. Anything else
gathers each register of B from the registers it needs by a tree. All are checked by simulation.
"""

from __future__ import annotations

from functools import lru_cache
from math import inf

from ttc_llvm.lazy_dataclasses import dataclass, replace
from ttc_llvm.lowering.layout import HOLE, RegisterLayout, rows_apart, sparse_axis

from . import pieces
from .bits import between, exchange, filled, lane_bits, width
from .gather import gather
from .padded_rows import spread_rows
from .shuffles import Mask, Network, Pieces, Shuffle, padded

__all__ = ["INSERT", "INSERT_NARROW", "WHOLE", "Loads", "Network", "Pieces", "Shuffle", "build"]

FENCED_STAGE = 2
# Inserting one piece while loading it, in shuffles, measured: in full registers, and in narrower ones of machines that
# have a second unit to shuffle these.
INSERT, INSERT_NARROW = 1.5, 4.0


@dataclass(frozen=True, slots=True)
class Loads:
    """Ways to load A's registers. piece: lanes of the shortest piece that a load inserts, 0 = whole registers
    only; others: vector operations per register of B beside the network, which the units that insert take, too;
    insert: cost of inserting one piece, in shuffles; in_place: pieces have this very length, and stages of the network
    exchange lanes without moving others."""

    piece: int = 0
    others: int = 0
    insert: float = INSERT
    in_place: bool = False


WHOLE = Loads()


@lru_cache(maxsize=256)
def build(
    block: tuple[int, ...],
    a: RegisterLayout,
    b: RegisterLayout,
    sources: tuple[int, ...],
    group: int,
    loads: Loads = WHOLE,
) -> Network:
    """The shortest of the bit network, with registers of A loaded whole or in pieces, and the gathering tree.
    sources: element -> element whose load it takes; group: lanes in 128 bits, inside which stages rotate."""
    wanted = [padded(tuple(sources[e] for e in r.elements), b.lanes) for r in b.registers]
    if loads.piece and not _is_broadcast(sources):
        found = _in_pieces(block, a, b, wanted, group, loads)
        if found is not None:
            return found if loads.in_place else _fenced(found, group)
    return _whole(block, a, b, sources, wanted, group, loads.in_place)


def _in_pieces(
    block: tuple[int, ...], a: RegisterLayout, b: RegisterLayout, wanted: list[Mask], group: int, loads: Loads
) -> Network | None:
    """The network of pieces of the best length, if it beats every network of whole registers."""
    count = len(b.registers)

    def cost(shuffles: float, inserts: int) -> float:
        """Cycles of a machine with one unit that shuffles, and another that shares all other operations with it."""
        return max(shuffles, (shuffles + loads.insert * inserts + loads.others * count) / 2)

    start = [padded(r.elements, a.lanes) for r in a.registers]
    best = cost(min(pieces.whole_shuffles(block, a, b), _least_steps(start, wanted)), 0)
    if loads.in_place:  # a stage of groups of 128 bits is three instructions, and needs registers
        best = inf
    found: int | None = None
    for piece in pieces.lengths(b, loads.piece)[-1:] if loads.in_place else pieces.lengths(b, loads.piece):
        stages = pieces.stages(block, a, b, group, piece)
        if stages is not None:
            price = cost(stages * count, (b.lanes // piece - 1) * count)
            found, best = (piece, price) if price < best else (found, best)
    return None if found is None else pieces.exchange_pieces(block, a, b, wanted, group, found, loads.in_place)


def _whole(
    block: tuple[int, ...],
    a: RegisterLayout,
    b: RegisterLayout,
    sources: tuple[int, ...],
    wanted: list[Mask],
    group: int,
    in_place: bool,
) -> Network:
    start = [padded(r.elements, a.lanes) for r in a.registers]
    bits = None if _is_broadcast(sources) else exchange(block, a, b, wanted, group, in_place)
    if bits is not None and not in_place:
        bits = _fenced(bits, group)
    plain = not in_place and not _is_broadcast(sources)
    if bits is None and plain:
        bits = _without_gaps(block, a, b, wanted, group) or _row_by_row(block, a, b, wanted, group)
    least = _least_steps(start, wanted)
    if bits is not None and len(bits.steps) < least:
        return bits
    spread = spread_rows(block, a, b, group) if plain else None
    if spread is not None and len(spread.steps) < least:
        return _fenced(spread, group)
    tree = gather(start, wanted, a.lanes, b.lanes)
    return tree if bits is None or len(tree.steps) <= len(bits.steps) else bits


def _row_by_row(
    block: tuple[int, ...], a: RegisterLayout, b: RegisterLayout, wanted: list[Mask], group: int
) -> Network | None:
    """The bit network to rows of B that begin in registers of their own, from which a tree collects those that hold
    rows without gaps; None where rows are shorter than half a register, or bits on neither side."""
    apart = rows_apart(block, b)
    if apart.lanes != b.lanes:
        return None
    rows = [padded(register.elements, apart.lanes) for register in apart.registers]
    found = exchange(block, a, apart, rows, group) or _without_gaps(block, a, apart, rows, group)
    if found is None:
        return None
    return _fenced(_followed(found, gather(rows, wanted, apart.lanes, b.lanes)), group)


def _without_gaps(
    block: tuple[int, ...], a: RegisterLayout, b: RegisterLayout, wanted: list[Mask], group: int
) -> Network | None:
    """The bit network from registers that a tree collects from those of A that have gaps; None where A's have none, or
    where B's runs are not made of bits. What is left of their lanes holds B's topmost bits, which stay there."""
    axis, lanes_b = sparse_axis(block, a), lane_bits(block, b)
    if axis is None or lanes_b is None:
        return None
    own = [(axis, bit) for bit in range(width(block[axis]))][: len(lanes_b)]
    others = [bit for bit in lanes_b if bit[0] != axis]
    lanes = (*own, *others[len(others) - min(len(others), len(lanes_b) - len(own)) :])
    dense = filled(block, lanes)
    tree = gather([padded(register.elements, a.lanes) for register in a.registers], dense, a.lanes, 1 << len(lanes))
    found = between(block, lanes, b, dense, wanted, group)
    return None if found is None else _fenced(_followed(tree, found), group)


def _followed(first: Network, then: Network) -> Network:
    """One network whose outputs are the inputs of the other."""
    values = first.inputs + len(first.steps)
    place = [*first.outputs, *range(values, values + len(then.steps))]
    steps = [Shuffle(place[step.left], place[step.right], step.mask) for step in then.steps]
    return replace(
        then, inputs=first.inputs, steps=(*first.steps, *steps), outputs=tuple(place[value] for value in then.outputs)
    )


def _least_steps(start: list[Mask], wanted: list[Mask]) -> int:
    """Steps of a gathering tree, at least: one less than the registers that each register of B collects from."""
    where = {e: v for v, content in enumerate(start) for e in content}
    return sum(len({where[e] for e in content if e != HOLE}) - 1 for content in wanted)


def _fenced(network: Network, group: int) -> Network:
    """Fences two stages or more after A's registers, outputs left out.

    LLVM looks through all paths of shuffles for a shorter program, for half of the compile time. It finds some in
    trees, in registers of 128 bits and in the first two stages, but none after them.
    """
    if network.lanes <= group:
        return network
    depth = [int(bool(network.pieces))] * network.inputs
    for step in network.steps:
        depth.append(1 + max(depth[step.left], depth[step.right]))
    late = frozenset(value for value, stages in enumerate(depth) if stages >= FENCED_STAGE)
    return replace(network, fences=late.difference(network.outputs))


def _is_broadcast(sources: tuple[int, ...]) -> bool:
    return any(source != element for element, source in enumerate(sources))
