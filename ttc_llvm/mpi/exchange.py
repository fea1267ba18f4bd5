"""One rank's messages of a permutation: while chunks are on their way, our kernels pack and unpack others.

A chunk whose elements lie in long runs, in the order in which it is sent, goes by a datatype: MPI packs it piece by
piece through buffers that stay in the caches. Others are packed by a kernel into a buffer of the plan's.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from mpi4py import MPI

from ..lazy_dataclasses import NamedTuple
from ..operands.operand import Array
from . import datatypes
from .bindings import Bindings
from .messages import Message, Perm, Traffic
from .views import in_a, in_b

DEPTH = 2  # chunks of one message that are on their way at once
LONG = 4096  # bytes of runs that MPI copies about as fast as a kernel
Move = Callable[[Array, Array], Any]  # of elements, from one array into another of its shape


class Moves(NamedTuple):
    """Copies of elements in a call. pack: unchanged; unpack: into B, scaled; plain: unpacking changes nothing."""

    pack: Move
    unpack: Move
    plain: bool


class _Chunk(NamedTuple):
    """views: its elements, in a rank's part of A or of B; type: a datatype of them, None = a kernel moves them."""

    views: list[Array]
    type: Any


class _Bound(NamedTuple):
    """A rank's elements in two arrays. chunks: of each message; kept: of A and of B, of what stays on the rank."""

    sent: list[list[_Chunk]]
    received: list[list[_Chunk]]
    kept: list[tuple[Array, Array]]

    def free(self) -> None:
        """Before it is forgotten."""
        for chunk in (chunk for message in (*self.sent, *self.received) for chunk in message if chunk.type):
            chunk.type.Free()


class _Slot:
    """A buffer for one chunk at a time."""

    def __init__(self, dtype: np.dtype[Any]) -> None:
        self.dtype = dtype
        self.memory = np.empty(0, np.uint8)
        self.chunk = _Chunk([], None)

    def arrays(self) -> tuple[list[Array], Array]:
        """The chunk's elements, packed: an array for each of its views, and the memory of all."""
        total = sum(view.size for view in self.chunk.views) * self.dtype.itemsize
        if total > self.memory.size:
            self.memory = np.empty(total, np.uint8)
        found, at = list[Array](), 0
        for view in self.chunk.views:
            found.append(np.ndarray(view.shape, self.dtype, self.memory.data, at))
            at += found[-1].nbytes
        return found, self.memory[:total]


class _Stream:
    """The chunks of one message, in order. Messages between two ranks arrive in the order in which they were sent: so
    the next chunk takes the slot that is free first."""

    def __init__(self, message: Message, dtype: np.dtype[Any], tag: int) -> None:
        self.peer, self.tag = message.peer, tag
        self.slots = [_Slot(dtype) for _ in message.chunks[:DEPTH]]
        self.left: list[_Chunk] = []

    def start(self, slot: _Slot, comm: Any, moves: Moves) -> Any:
        """A request for the next chunk."""
        if not self.left:
            return MPI.REQUEST_NULL
        slot.chunk = self.left.pop()
        return self.request(slot, comm, moves)

    def request(self, slot: _Slot, comm: Any, moves: Moves) -> Any:
        """A request for the slot's chunk."""
        raise NotImplementedError

    def finish(self, slot: _Slot, moves: Moves) -> None:
        """After the slot's chunk is through."""


class _Sending(_Stream):
    def request(self, slot: _Slot, comm: Any, moves: Moves) -> Any:
        if slot.chunk.type is not None:
            return comm.Isend([MPI.BOTTOM, 1, slot.chunk.type], self.peer, self.tag)
        arrays, memory = slot.arrays()
        for of, to in zip(slot.chunk.views, arrays, strict=True):
            moves.pack(of, to)
        return comm.Isend([memory, MPI.BYTE], self.peer, self.tag)


class _Receiving(_Stream):
    def request(self, slot: _Slot, comm: Any, moves: Moves) -> Any:
        if slot.chunk.type is not None and moves.plain:
            return comm.Irecv([MPI.BOTTOM, 1, slot.chunk.type], self.peer, self.tag)
        return comm.Irecv([slot.arrays()[1], MPI.BYTE], self.peer, self.tag)

    def finish(self, slot: _Slot, moves: Moves) -> None:
        if slot.chunk.type is None or not moves.plain:
            for of, to in zip(slot.arrays()[0], slot.chunk.views, strict=True):
                moves.unpack(of, to)


class Exchange:
    """comm, tag: whose messages are the plan's alone; order: of A's axes on their way; dtype: A's."""

    def __init__(self, comm: Any, tag: int, traffic: Traffic, perm: Perm, order: Perm, dtype: np.dtype[Any]) -> None:
        self.comm, self.traffic, self.perm, self.order = comm, traffic, perm, order
        self.sending = [_Sending(message, dtype, tag) for message in traffic.sends]
        self.receiving = [_Receiving(message, dtype, tag) for message in traffic.receives]
        self._bound = Bindings(self._views)

    def run(self, a: Array, b: Array, moves: Moves) -> None:
        """B's part from all ranks' parts of A. Collective."""
        bound = self._bound(a, b)
        streams: list[_Stream] = [*self.receiving, *self.sending]
        for stream, chunks in zip(streams, [*bound.received, *bound.sent], strict=True):
            stream.left = chunks[::-1]
        running = [(stream, slot) for k in range(DEPTH) for stream in streams for slot in stream.slots[k : k + 1]]
        requests = [stream.start(slot, self.comm, moves) for stream, slot in running]
        for of, to in bound.kept:
            moves.unpack(of, to)
        while (done := MPI.Request.Testsome(requests)) is not None:
            if not done:
                os.sched_yield()  # to a rank on the same CPU, which waiting MPI would keep busy
            for k in done:
                stream, slot = running[k]
                stream.finish(slot, moves)
                requests[k] = stream.start(slot, self.comm, moves)

    def _views(self, a: Array, b: Array) -> _Bound:
        def of(box: Any) -> Array:
            return in_a(a, box, self.order)

        def to(box: Any) -> Array:
            return in_b(b, box, self.order, self.perm)

        return _Bound(
            _chunks(self.traffic.sends, of),
            _chunks(self.traffic.receives, to),
            [(of(box), to(box)) for box in self.traffic.kept],
        )


def _chunks(messages: Sequence[Message], view: Callable[[Any], Array]) -> list[list[_Chunk]]:
    return [[_chunk([view(box) for box in chunk]) for chunk in message.chunks] for message in messages]


def _chunk(views: list[Array]) -> _Chunk:
    long = min(map(datatypes.run_bytes, views)) >= LONG or (len(views) == 1 and views[0].flags.c_contiguous)
    return _Chunk(views, datatypes.committed(views) if long else None)
