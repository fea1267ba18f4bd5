"""One rank's part of a permutation by one Alltoallw: MPI's datatypes bring elements, in A's order of axes, to the rank
that needs them, and one kernel permutes them there.

Where ranks share memory, some libraries copy such messages without waiting as often as an `Exchange` does.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from mpi4py import MPI

from ..lazy_dataclasses import NamedTuple
from ..operands.operand import Array
from . import datatypes
from .bindings import Bindings
from .exchange import Moves
from .messages import Message, Perm, Traffic
from .views import in_a, in_b


class _Types(NamedTuple):
    """Of the elements that go to every rank, and come from it; kept: of A and of the result, of what stays."""

    sent: list[Any]
    received: list[Any]
    kept: list[tuple[Array, Array]]

    def free(self) -> None:
        """Before they are forgotten."""
        for one in (*self.sent, *self.received):
            if one != MPI.BYTE:
                one.Free()


class Redistribution:
    """comm: whose messages are the plan's alone; dtype: A's. Its memory is as large as B's part."""

    def __init__(self, comm: Any, traffic: Traffic, perm: Perm, dtype: np.dtype[Any]) -> None:
        self.comm, self.traffic, self.perm, self.dtype = comm, traffic, perm, dtype
        self.in_order = perm == tuple(range(len(perm)))
        self.counts = [
            [int(peer in {one.peer for one in messages}) for peer in range(comm.size)]
            for messages in (traffic.sends, traffic.receives)
        ]
        self.memory: Array | None = None
        self._types = Bindings(self._views)

    def run(self, a: Array, b: Array, moves: Moves) -> None:
        """B's part from all ranks' parts of A. Collective."""
        to = b if self.in_order and moves.plain else self._memory(b)
        bound = self._types(a, to)
        zeros = [0] * self.comm.size
        for of, into in bound.kept:
            moves.pack(of, into)
        self.comm.Alltoallw(
            [MPI.BOTTOM, (self.counts[0], zeros), bound.sent], [MPI.BOTTOM, (self.counts[1], zeros), bound.received]
        )
        if to is not b:
            moves.unpack(to, b)

    def _memory(self, b: Array) -> Array:
        """For B's elements, in A's order of axes; with B's axes."""
        if self.memory is None:
            in_a_order = [b.shape[self.perm.index(k)] for k in range(len(self.perm))]
            self.memory = np.empty(in_a_order, self.dtype).transpose(self.perm)
        return self.memory

    def _views(self, a: Array, to: Array) -> _Types:
        order = tuple(range(len(self.perm)))

        def types(messages: tuple[Message, ...], view: Any) -> list[Any]:
            found = [MPI.BYTE] * self.comm.size
            for one in messages:
                found[one.peer] = datatypes.committed([view(box) for chunk in one.chunks for box in chunk])
            return found

        def of(box: Any) -> Array:
            return in_a(a, box, order)

        def into(box: Any) -> Array:
            return in_b(to, box, order, self.perm)

        return _Types(
            types(self.traffic.sends, of), types(self.traffic.receives, into),
            [(of(box), into(box)) for box in self.traffic.kept],
        )  # fmt: skip
