"""The kernel of a launch for many blocks: each block of threads moves one box of one of them, through shared memory.

What it is to do stands in a table (`lowering.gpu.boxes`): one kernel serves tensors of any extents and strides, of up
to so many axes, over which its code is unrolled. No thread branches but around its stores.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from llvmlite import ir

from ttc_llvm.lazy_dataclasses import dataclass
from ttc_llvm.lowering.gpu.boxes import (
    ENTRY_BYTES,
    FOUND_BYTES,
    GROUP,
    ITEMS,
    SHIFT,
    TASK_BYTES,
    THREADS,
    Entry,
    Found,
    Task,
    shared_bytes,
)
from ttc_llvm.lowering.gpu.launch import parameters
from ttc_llvm.lowering.operands import Op
from ttc_llvm.machine.gpu_target import GpuTarget
from ttc_llvm.problem.canonical import Canonical
from ttc_llvm.problem.kinds import Alpha, Beta

from ..carriers import carrier_type
from ..scale import Scalars
from ..values import I8, I32, I64
from . import words
from .body import result
from .intrinsics import Machine, machine, scalar
from .words import Words


def build(canonical: Canonical, axes: int, target: GpuTarget, entry: str) -> ir.Module:
    """The kernel `entry` for blocks of up to so many axes, to be launched as `boxes.launch` says. canonical: types and
    kinds of scalars."""
    found = machine(target, entry, THREADS)
    b = found.begun(parameters(canonical), (8, 8))
    block = _begun(b, found, canonical, axes, target.max_blocks)
    if canonical.kinds.alpha is not Alpha.ZERO:
        block.fill()
        found.barrier(b)
    block.store()
    b.ret_void()
    return found.module


def _begun(b: ir.IRBuilder, machine: Machine, canonical: Canonical, axes: int, most: int) -> _Block:
    """Find the task; one thread for each entry of its layout works out what all threads need of it."""
    table, addresses, *_ = b.function.args
    thread = machine.thread(b)
    storage = machine.tile(b, shared_bytes(canonical, axes))
    task = _at(b, table, b.mul(b.zext(machine.block(b, most), I64), ir.Constant(I64, TASK_BYTES)))
    number, layout, box = (_word(b, task, place) for place in (Task.BLOCK, Task.LAYOUT, Task.BOX))
    with b.if_then(b.icmp_unsigned("<", thread, ir.Constant(I32, 2 * axes))):
        _find(b, _at(b, table, layout), storage, thread, b.trunc(box, I32))
    pair = _at(b, addresses, b.mul(number, ir.Constant(I64, 16)))
    device = ir.PointerType(addrspace=machine.row.device)
    a, into = (b.inttoptr(_word(b, pair, place), device) for place in (0, 8))
    machine.barrier(b)
    order_a, order_b = (
        [_Axis.read(b, storage, number) for number in range(first, first + axes)] for first in (0, axes)
    )  # fmt: skip
    slots = _at(b, storage, 2 * axes * FOUND_BYTES)
    starts = _moved(b, a, order_a), _moved(b, into, order_b)
    return _Block(b, machine, canonical, thread, *starts, slots, order_a, order_b)


def _find(b: ir.IRBuilder, layout: ir.Value, storage: ir.Value, thread: ir.Value, box: ir.Value) -> None:
    """Write what a thread's entry comes to in a box (`Found`)."""
    wide = b.zext(thread, I64)
    entry = _at(b, layout, b.mul(wide, ir.Constant(I64, ENTRY_BYTES)))
    into = _at(b, storage, b.mul(wide, ir.Constant(I64, FOUND_BYTES)))
    places = (Entry.EXTENT, Entry.TILE, Entry.COUNT, Entry.WEIGHT, Entry.STRIDE, Entry.PLACE)
    extent, tile, count, weight, stride, place = (_word(b, entry, at) for at in places)
    index = b.urem(b.udiv(box, b.trunc(weight, I32)), b.trunc(count, I32))
    corner = b.mul(b.zext(index, I64), tile)
    left = b.sub(extent, corner)
    limit = b.trunc(b.select(b.icmp_signed("<", left, tile), left, tile), I32)
    rounded = b.add(limit, ir.Constant(I32, (1 << SHIFT) - 1))
    b.store(stride, _at(b, into, Found.STRIDE), align=8)
    b.store(b.mul(corner, stride), _at(b, into, Found.OFFSET), align=8)
    narrow = {Found.LIMIT: limit, Found.RECIPROCAL: b.udiv(rounded, limit), Found.PLACE: b.trunc(place, I32)}
    for at, value in narrow.items():
        b.store(value, _at(b, into, at), align=4)


@dataclass(frozen=True, slots=True)
class _Axis:
    """What threads know of an axis, as `Found` says."""

    stride: ir.Value
    offset: ir.Value
    limit: ir.Value
    reciprocal: ir.Value
    place: ir.Value

    @classmethod
    def read(cls, b: ir.IRBuilder, storage: ir.Value, number: int) -> _Axis:
        """From shared memory."""
        start = number * FOUND_BYTES
        wide = (b.load(_at(b, storage, start + at), typ=I64, align=8) for at in (Found.STRIDE, Found.OFFSET))
        narrow = (
            b.load(_at(b, storage, start + at), typ=I32, align=4)
            for at in (Found.LIMIT, Found.RECIPROCAL, Found.PLACE)
        )  # fmt: skip
        return cls(*wide, *narrow)


@dataclass(frozen=True, slots=True)
class _Block:
    """A block of threads at work. a, into: addresses of the box's first elements; slots: of shared memory; order_a,
    order_b: its axes, the innermost first."""

    b: ir.IRBuilder
    machine: Machine
    canonical: Canonical
    thread: ir.Value
    a: ir.Value
    into: ir.Value
    slots: ir.Value
    order_a: Sequence[_Axis]
    order_b: Sequence[_Axis]

    def fill(self) -> None:
        """Load A's elements in the order of its memory, all before the first is written to shared memory."""
        b, size = self.b, self.canonical.a.itemsize
        source = Words(size, 1)
        places = [self._place(self._existing(item), self.order_a) for item in range(ITEMS)]
        loaded = [words.load(b, _at(b, self.a, offset), source, size, True, "a") for offset, _ in places]
        for value, (_, slot) in zip(loaded, places, strict=True):
            words.store(b, value, self._slot(slot), size)

    def store(self) -> None:
        """Store B's elements in the order of its memory, all that were read for them before."""
        b, c = self.b, self.canonical
        source, size = Words(c.a.itemsize, 1), c.b.itemsize
        op = Op(c.kinds.alpha, c.kinds.beta, c.conjugate, c.between)
        scalars = Scalars(c.compute, scalar(b.function, "alpha"), scalar(b.function, "beta"))
        places = [self._place(self._existing(item), self.order_b) for item in range(ITEMS)]
        targets = [_at(b, self.into, offset) for offset, _ in places]
        reads_a, reads_old = c.kinds.alpha is not Alpha.ZERO, c.kinds.beta is Beta.ANY
        kind = carrier_type(c.b, 1)
        old = [b.load(target, typ=kind, align=size, name="b") if reads_old else None for target in targets]
        values: list[list[ir.Value] | None] = [None] * ITEMS
        if reads_a:
            values = [words.load(b, self._slot(slot), source, c.a.itemsize, name="s") for _, slot in places]
        results = [result(b, c, op, scalars, *both, 1) for both in zip(values, old, strict=True)]
        self.machine.await_all(b, results, size)
        for item, (target, value) in enumerate(zip(targets, results, strict=True)):
            exists = b.icmp_unsigned("<", self._index(item), self._volume())
            self.machine.store_where(b, exists, value, target, size)

    def _index(self, item: int) -> ir.Value:
        """Which element of the box an item of this thread is."""
        return self.b.add(self.thread, ir.Constant(I32, item * THREADS))

    def _existing(self, item: int) -> ir.Value:
        """The same, the last one instead of those that are not there."""
        index, last = self._index(item), self.b.sub(self._volume(), ir.Constant(I32, 1))
        return self.b.select(self.b.icmp_unsigned("<", index, last), index, last)

    def _volume(self) -> ir.Value:
        return reduce(self.b.mul, (axis.limit for axis in self.order_a))

    def _place(self, index: ir.Value, order: Sequence[_Axis]) -> tuple[ir.Value, ir.Value]:
        """The offset in memory of an element of the box, numbered in this order, and its slot."""
        b, rest = self.b, index
        offset: ir.Value = ir.Constant(I64, 0)
        slot: ir.Value = ir.Constant(I32, 0)
        for axis in order:
            digit = rest
            if axis is not order[-1]:
                rest = b.lshr(b.mul(rest, axis.reciprocal), ir.Constant(I32, SHIFT))
                digit = b.sub(digit, b.mul(rest, axis.limit))
            offset = b.add(offset, b.mul(b.zext(digit, I64), axis.stride))
            slot = b.add(slot, b.mul(digit, axis.place))
        return offset, slot

    def _slot(self, number: ir.Value) -> ir.Value:
        """The address of a slot."""
        b = self.b
        behind = b.add(number, b.udiv(number, ir.Constant(I32, GROUP)))
        return _at(b, self.slots, b.mul(b.zext(behind, I64), ir.Constant(I64, self.canonical.a.itemsize)))


def _moved(b: ir.IRBuilder, start: ir.Value, order: Sequence[_Axis]) -> ir.Value:
    """The address of a box's first element."""
    return _at(b, start, reduce(b.add, (axis.offset for axis in order)))


def _at(b: ir.IRBuilder, start: ir.Value, offset: ir.Value | int) -> ir.Value:
    place = ir.Constant(I64, offset) if isinstance(offset, int) else offset
    return b.gep(start, [place], inbounds=True, source_etype=I8)


def _word(b: ir.IRBuilder, start: ir.Value, offset: int) -> ir.Value:
    """A word of the table, which nothing writes while the kernel runs."""
    found = b.load(_at(b, start, offset), typ=I64, align=8)
    found.set_metadata("invariant.load", b.module.add_metadata([]))
    return found
