"""The order of axes in which messages travel: so that the side that does not transpose copies long runs."""

from __future__ import annotations

from collections.abc import Sequence

from .distribution import Distribution, Places
from .messages import Box, Message, Perm, Traffic, size

RUN = 64  # bytes in whose time a copy begins a new run


def costs(
    traffic: Traffic, a: Distribution, perm: Perm, b: Distribution, rank: int, itemsize: int
) -> tuple[float, float]:
    """Costs of a rank's straight copies, in bytes: of A at the sender, where messages keep A's order of axes, and into
    B at the receiver, where they have B's."""
    in_order = tuple(range(len(perm)))
    extents_b = b.shape_of(rank)
    local_b = tuple(extents_b[perm.index(k)] for k in in_order)
    return (
        sum(_cost(box, in_order, a.shape_of(rank), itemsize) for box in _boxes(traffic.sends)),
        sum(_cost(box, perm, local_b, itemsize) for box in _boxes(traffic.receives)),
    )


def _boxes(messages: Sequence[Message]) -> list[Box]:
    return [box for message in messages for chunk in message.chunks for box in chunk]


def _cost(box: Box, order: Perm, extents: Places, itemsize: int) -> float:
    return size(box) * itemsize * (1 + RUN / (_run(box, order, extents) * itemsize))


def _run(box: Box, order: Perm, extents: Places) -> int:
    """The elements of a contiguous run of the box, in a C-contiguous part of these extents. order: slowest first."""
    run = 1
    for k in reversed(order):
        run *= box[k].extent
        if box[k].extent < extents[k]:
            return run
    return run
