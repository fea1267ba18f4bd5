"""Shuffles of registers that are longer than 128 bits, by a length that only run time knows (AArch64's SVE).

Instructions that interleave whole registers depend on that length. What does not: exchanging neighbouring lanes in
place (TRN), moving groups of 128 bits, and looking every lane up in a table (TBL).
"""

from __future__ import annotations

from collections.abc import Sequence

from llvmlite import ir

from .llvmlite_extensions import external, scalable_type, shuffle, suffix, undefined
from .values import F32, F64, I8, I64

GROUP_BITS = 128
_WIDER: dict[int, ir.Type] = {8: I8, 16: ir.IntType(16), 32: F32, 64: F64}
_INDICES = {8: I8, 16: ir.IntType(16), 32: ir.IntType(32), 64: I64}

Mask = Sequence[int | None]


def permuted(
    module: ir.Module, b: ir.IRBuilder, left: ir.Value, right: ir.Value, mask: Mask, name: str = ""
) -> ir.Value:
    """shufflevector, as few instructions that are right for every length of registers; None = undefined lane."""
    size, lanes = _bits(left.type.element), int(left.type.count)
    if max(lanes, len(mask)) * size <= GROUP_BITS:
        return shuffle(b, left, right, mask, name)
    group = GROUP_BITS // size
    if lanes < group:
        left, right = (shuffle(b, x, None, [*range(lanes), *[None] * (group - lanes)]) for x in (left, right))
        mask = [m if m is None or m < lanes else m - lanes + group for m in mask]
        lanes = group
    paired = _exchanged(b, left, right, mask, size) if len(mask) == lanes else None
    if paired is not None:
        return paired
    groups = _coarser(mask, group) if len(mask) % group == 0 else None
    if groups is not None:
        return _assembled(b, left, right, groups, group)
    return _looked_up(module, b, left, right, mask)


def joined(b: ir.IRBuilder, parts: Sequence[ir.Value | None], part: ir.VectorType) -> ir.Value:
    """Vectors of this type one after the other, a power of two of them; undefined where None."""
    level = [ir.Constant(part, ir.Undefined) if p is None else p for p in parts]
    while len(level) > 1:
        width = int(level[0].type.count)
        level = [shuffle(b, x, y, range(2 * width)) for x, y in zip(level[::2], level[1::2], strict=True)]
    return level[0]


def _bits(element: ir.Type) -> int:
    return {"float": 32, "double": 64}.get(str(element), getattr(element, "width", 0))


def _exchanged(b: ir.IRBuilder, left: ir.Value, right: ir.Value, mask: Mask, size: int) -> ir.Value | None:
    """One TRN, of lanes as wide as the mask moves; None where it does something else."""
    grain = 1
    while grain * size <= 64:
        coarse = _coarser(mask, grain)
        count = len(mask) // grain
        for odd in (0, 1):
            wanted = [i - i % 2 + odd + (count if i % 2 else 0) for i in range(count)]
            if coarse is not None and all(c in (None, w) for c, w in zip(coarse, wanted, strict=True)):
                wide = ir.VectorType(_WIDER[grain * size], count)
                operands = [x if x.type == wide else b.bitcast(x, wide) for x in (left, right)]
                found = shuffle(b, operands[0], operands[1], wanted)
                return found if found.type == left.type else b.bitcast(found, left.type)
        grain *= 2
    return None


def _coarser(mask: Mask, grain: int) -> list[int | None] | None:
    """The mask in units of so many lanes, None in place of a unit without lanes; None where it tears units."""
    found: list[int | None] = []
    for first in range(0, len(mask), grain):
        starts = {m - k for k, m in enumerate(mask[first : first + grain]) if m is not None}
        if len(starts) > 1 or any(start % grain for start in starts):
            return None
        found.append(starts.pop() // grain if starts else None)
    return found


def _assembled(
    b: ir.IRBuilder, left: ir.Value, right: ir.Value, groups: list[int | None], lanes: int
) -> ir.Value:
    count = int(left.type.count) // lanes
    part = ir.VectorType(left.type.element, lanes)

    def group(number: int | None) -> ir.Value | None:
        if number is None:
            return None
        source, first = (left, number) if number < count else (right, number - count)
        if count == 1:
            return source
        return shuffle(b, source, None, range(first * lanes, (first + 1) * lanes))

    return joined(b, [group(number) for number in groups], part)


def _looked_up(module: ir.Module, b: ir.IRBuilder, left: ir.Value, right: ir.Value, mask: Mask) -> ir.Value:
    """A table for the lanes of each operand, and a selection."""
    lanes = int(left.type.count)
    which = [None if m is None else m // lanes for m in mask]
    found = []
    for number, operand in enumerate((left, right)):
        if number in which:
            wanted = [m % lanes if m is not None and w == number else 0 for m, w in zip(mask, which, strict=True)]
            found.append(_table(module, b, operand, wanted))
    if len(found) == 1:
        return found[0]
    chosen = ir.Constant(ir.VectorType(ir.IntType(1), len(mask)), [int(w != 1) for w in which])
    return b.select(chosen, found[0], found[1])


def _table(module: ir.Module, b: ir.IRBuilder, operand: ir.Value, lanes: Sequence[int]) -> ir.Value:
    """The lanes of a register with these numbers, by TBL."""
    element = operand.type.element
    size = _bits(element)
    whole, index = scalable_type(element, GROUP_BITS // size), scalable_type(_INDICES[size], GROUP_BITS // size)
    numbers = ir.Constant(ir.VectorType(_INDICES[size], len(lanes)), list(lanes))
    result = ir.VectorType(element, len(lanes))
    look = external(module, f"llvm.aarch64.sve.tbl.{suffix(whole)}", whole, [whole, index])
    out = external(module, f"llvm.vector.extract.{suffix(result)}.{suffix(whole)}", result, [whole, I64])
    found = b.call(look, [_inserted(module, b, whole, operand), _inserted(module, b, index, numbers)])
    return b.call(out, [found, ir.Constant(I64, 0)])


def _inserted(module: ir.Module, b: ir.IRBuilder, whole: ir.VectorType, part: ir.Value) -> ir.Value:
    """A register that begins with this vector."""
    name = f"llvm.vector.insert.{suffix(whole)}.{suffix(part.type)}"
    into = external(module, name, whole, [whole, part.type, I64])
    return b.call(into, [undefined(whole), part, ir.Constant(I64, 0)])
