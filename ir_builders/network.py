"""Shuffle networks: how registers of A become registers of B, as two-input shuffles and nothing else.

Where the block's index bits are lane bits and register bits on both sides, a stage exchanges one lane
bit with one register bit at one shuffle per register: log2(lanes) stages transpose a square. Stages
rotate inside 128-bit groups, which is what unpack instructions do. Anything else (extents 3, 5, ...)
gathers each register of B from the registers it needs by a tree. Both are checked by simulation.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from ttc_llvm.layout import HOLE, Side

from .bits import exchange
from .gather import gather
from .shuffles import Mask, Network, Shuffle

__all__ = ["Network", "Shuffle", "build"]

FENCED_STAGE = 2


@lru_cache(maxsize=256)
def build(block: tuple[int, ...], a: Side, b: Side, sources: tuple[int, ...], group: int) -> Network:
    """The shorter of the bit network and the gathering tree. sources: element -> element whose load it takes;
    group: lanes in 128 bits, inside which stages rotate."""
    wanted = [_padded(tuple(sources[e] for e in r.elements), b.lanes) for r in b.registers]
    start = [_padded(r.elements, a.lanes) for r in a.registers]
    bits = None if _is_broadcast(sources) else exchange(block, a, b, start, wanted, group)
    if bits is not None and len(bits.steps) < _least_steps(start, wanted):
        return _fenced(bits, group)
    tree = gather(start, wanted, a.lanes, b.lanes)
    return tree if bits is None or len(tree.steps) <= len(bits.steps) else _fenced(bits, group)


def _least_steps(start: list[Mask], wanted: list[Mask]) -> int:
    """Steps of a gathering tree, at least: one less than the registers that each register of B collects from."""
    where = {e: v for v, content in enumerate(start) for e in content}
    return sum(len({where[e] for e in content if e != HOLE}) - 1 for content in wanted)


def _fenced(network: Network, group: int) -> Network:
    """Fences two stages or more behind A's registers, outputs left out.

    LLVM looks through all paths of shuffles for a shorter program, for half of the compile time. It finds some in
    trees, in registers of 128 bits and in the first two stages, but none behind them.
    """
    if network.lanes <= group:
        return network
    depth = [0] * network.inputs
    for step in network.steps:
        depth.append(1 + max(depth[step.left], depth[step.right]))
    late = frozenset(value for value, stages in enumerate(depth) if stages >= FENCED_STAGE)
    return replace(network, fences=late.difference(network.outputs))


def _is_broadcast(sources: tuple[int, ...]) -> bool:
    return any(source != element for element, source in enumerate(sources))


def _padded(elements: tuple[int, ...], lanes: int) -> Mask:
    return elements + (HOLE,) * (lanes - len(elements))
