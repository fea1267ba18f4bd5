"""Elements in a GPU's registers: words of 32 or 64 bits, into which small elements are packed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from llvmlite import ir

from ttc_llvm.lazy_dataclasses import dataclass
from ttc_llvm.lowering.layout import register_layout

from .. import network
from ..llvmlite_extensions import shuffle
from ..values import I32
from .intrinsics import Machine

BYTES = 4  # of a register
FAR = 1 << 20  # a stride behind which no two elements of a register block are neighbours


@dataclass(frozen=True, slots=True)
class Words:
    """The registers of `count` neighbouring elements of so many bytes: words of `bits`, `lanes` elements each
    (0 = an element takes two words)."""

    itemsize: int
    count: int

    @property
    def bits(self) -> int:
        """Of one word: 32 where elements are packed, 64 for 8- and 16-byte elements."""
        if self.itemsize >= 8:
            return 64
        return min(32, 8 * self.itemsize * self.count)

    @property
    def number(self) -> int:
        """Words in all."""
        return 8 * self.itemsize * self.count // self.bits

    @property
    def registers(self) -> int:
        """Registers of 32 bits that all of them take."""
        return max(1, self.number * self.bits // 32)

    @property
    def lanes(self) -> int:
        """Elements in one word; 1 for elements of two words."""
        return max(1, self.bits // (8 * self.itemsize))

    @property
    def type(self) -> ir.IntType:
        """One word."""
        return ir.IntType(self.bits)


def load(
    b: ir.IRBuilder, pointer: ir.Value, words: Words, align: int, invariant: bool = False, name: str = ""
) -> list[ir.Value]:
    """The words at an address of this alignment; invariant: nothing writes there while the kernel runs."""
    if words.number == 1:
        whole = b.load(pointer, typ=words.type, align=align, name=name)
    else:
        whole = b.load(pointer, typ=ir.VectorType(words.type, words.number), align=align, name=name)
    if invariant:
        whole.set_metadata("invariant.load", b.module.add_metadata([]))
    if words.number == 1:
        return [whole]
    return [b.extract_element(whole, ir.Constant(I32, k)) for k in range(words.number)]


def store(b: ir.IRBuilder, found: Sequence[ir.Value], pointer: ir.Value, align: int) -> None:
    """Write words to an address of this alignment."""
    b.store(found[0] if len(found) == 1 else vector(b, found), pointer, align=align)


def vector(b: ir.IRBuilder, found: Sequence[ir.Value]) -> ir.Value:
    """Scalars as a vector."""
    whole: ir.Value = ir.Constant(ir.VectorType(found[0].type, len(found)), ir.Undefined)
    for k, value in enumerate(found):
        whole = b.insert_element(whole, value, ir.Constant(I32, k))
    return whole


def split(b: ir.IRBuilder, found: Sequence[ir.Value], words: Words) -> list[list[ir.Value]]:
    """Words as elements: one word of an element's own size each, two for 16 bytes."""
    if words.itemsize == 16:
        return [list(found[k : k + 2]) for k in range(0, len(found), 2)]
    if words.lanes == 1:
        return [[word] for word in found]
    kind = ir.VectorType(ir.IntType(8 * words.itemsize), words.lanes)
    elements: list[list[ir.Value]] = []
    for word in found:
        packed = b.bitcast(word, kind)
        elements += [[b.extract_element(packed, ir.Constant(I32, k))] for k in range(words.lanes)]
    return elements


def join(
    b: ir.IRBuilder, elements: Sequence[Sequence[ir.Value]], words: Words, machine: Machine
) -> list[ir.Value]:
    """The inverse of `split`."""
    flat = [word for element in elements for word in element]
    if words.lanes == 1:
        return flat
    groups = (flat[k : k + words.lanes] for k in range(0, len(flat), words.lanes))
    if machine.row.permute and words.lanes == BYTES:
        return [_joined(b, group, machine) for group in groups]
    return [b.bitcast(vector(b, group), words.type) for group in groups]


def _joined(b: ir.IRBuilder, found: Sequence[ir.Value], machine: Machine) -> ir.Value:
    """Four bytes as a register, each half by one permutation, and the two by one: LLVM would shift and add."""
    first, second, third, fourth = (b.zext(value, I32) for value in found)
    low, high = (machine.permuted(b, x, y, (0, 4, None, None), 1) for x, y in ((first, second), (third, fourth)))
    return machine.permuted(b, low, high, (0, 1, 4, 5), 1)


def transpose(
    b: ir.IRBuilder, rows: Sequence[Sequence[ir.Value]], source: Words, target: Words, machine: Machine
) -> list[list[ir.Value]]:
    """Rows of words of `source.count` elements as columns: `source.count` of them, of `target.count` elements each.

    Packed elements go through the CPU's shuffle networks, on registers of 32 bits; others only change their names.
    """
    if source.lanes != target.lanes:
        elements = [split(b, row, source) for row in rows]
        columns = [[row[k] for row in elements] for k in range(source.count)]
        return [join(b, column, target, machine) for column in columns]
    if source.lanes == 1:
        per = source.number // source.count
        return [[w for row in rows for w in row[k * per : (k + 1) * per]] for k in range(source.count)]
    found = _network(source.count, target.count, source.lanes)
    permutes = bool(machine.row.permute) and source.bits == I32.width
    kind = I32 if permutes else ir.VectorType(ir.IntType(8 * source.itemsize), source.lanes)
    values = [b.bitcast(word, kind) for row in rows for word in row]
    for step in found.steps:
        mask = [None if lane < 0 else lane for lane in step.mask]
        left, right = values[step.left], values[step.right]
        if permutes:
            values.append(machine.permuted(b, left, right, mask, source.itemsize))
        else:
            values.append(shuffle(b, left, right, mask))
    results = [b.bitcast(values[output], target.type) for output in found.outputs]
    return [results[k : k + target.number] for k in range(0, len(results), target.number)]


@lru_cache(maxsize=64)
def _network(columns: int, rows: int, lanes: int) -> network.Network:
    block = (columns, rows)
    given, wanted = register_layout(block, (1, FAR), lanes), register_layout(block, (FAR, 1), lanes)
    return network.build(block, given, wanted, tuple(range(columns * rows)), lanes)
