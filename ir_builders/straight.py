"""A network that permutes nothing: A's registers are stored as they come.

Its kernel reads the same rows of A and writes the same rows of B as the transposition does, so that its time is that of
the memory accesses alone.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import count, cycle, islice

from ttc_llvm.lowering.layout import HOLE, RegisterLayout

from .gather import gather
from .shuffles import Network


@lru_cache(maxsize=64)
def straight(a: RegisterLayout, b: RegisterLayout) -> Network:
    """All elements in the order of A's registers, cut into B's: no shuffle at all where both have the same widths."""
    labels = count()
    read = [tuple(islice(labels, len(register.elements))) for register in a.registers]
    order = cycle(range(next(labels)))  # a broadcast A holds fewer elements than B
    written = [tuple(islice(order, len(register.elements))) for register in b.registers]
    start, wanted = (
        [labels + (HOLE,) * (side.lanes - len(labels)) for labels in contents]
        for side, contents in ((a, read), (b, written))
    )
    return gather(start, wanted, a.lanes, b.lanes)
