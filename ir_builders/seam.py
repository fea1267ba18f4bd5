"""What llvmlite.ir cannot say, said in one place: shuffles with undefined lanes, freeze, and fences."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from llvmlite import ir


class _Shuffle(ir.Instruction):  # llvmlite's own ShuffleVector refuses undefined lanes in its mask
    def __init__(
        self, parent: ir.Block, left: ir.Value, right: ir.Value, mask: str, lanes: int, name: str
    ) -> None:
        super().__init__(parent, _vector(left.type.element, lanes), "shufflevector", [left, right], name=name)
        self.mask = mask

    def descr(self, buf: list[str]) -> None:
        """Append the instruction's text, as llvmlite's printer asks for it."""
        left, right = self.operands
        buf.append(
            f"shufflevector {left.type} {left.get_reference()}, {right.type} {right.get_reference()}, {self.mask}\n"
        )


def shuffle(
    b: ir.IRBuilder, left: ir.Value, right: ir.Value | None, mask: Sequence[int | None], name: str = ""
) -> ir.Value:
    """shufflevector; right None = unused; None in the mask = undefined lane."""
    second = _undefined(left.type) if right is None else right
    instruction = _Shuffle(b.block, left, second, _mask(tuple(mask)), len(mask), name)
    b._insert(instruction)
    return instruction


@lru_cache(maxsize=4096)
def _mask(lanes: tuple[int | None, ...]) -> str:
    text = ", ".join(["i32 poison" if lane is None else f"i32 {lane}" for lane in lanes])
    return f"<{len(lanes)} x i32> <{text}>"


@lru_cache(maxsize=256)
def _vector(element: ir.Type, lanes: int) -> ir.VectorType:
    """Types are shared: each keeps its text."""
    return ir.VectorType(element, lanes)


@lru_cache(maxsize=256)
def _undefined(vector: ir.VectorType) -> ir.Constant:
    return ir.Constant(vector, ir.Undefined)


class _Freeze(ir.Instruction):
    def __init__(self, parent: ir.Block, value: ir.Value, name: str) -> None:
        super().__init__(parent, value.type, "freeze", [value], name=name)

    def descr(self, buf: list[str]) -> None:
        """Append the instruction's text, as llvmlite's printer asks for it."""
        (value,) = self.operands
        buf.append(f"freeze {value.type} {value.get_reference()}\n")


def freeze(b: ir.IRBuilder, value: ir.Value, name: str = "") -> ir.Value:
    """The same value, whose origin later passes do not look into."""
    instruction = _Freeze(b.block, value, name)
    b._insert(instruction)
    return instruction


_BITS = {"float": 32, "double": 64}


def fence(module: ir.Module, b: ir.IRBuilder, value: ir.Value) -> ir.Value:
    """The same vector, bit for bit, at no cost: code generation does not look behind it for shorter sequences.

    Vectors of less than 128 bits are left alone.
    """
    lane, count = value.type.element, int(value.type.count)
    bits = count * _BITS.get(str(lane), getattr(lane, "width", 0))
    if bits < 128:
        return value
    kind = value.type if str(lane) in _BITS else ir.VectorType(ir.FloatType(), bits // 32)
    name = f"llvm.arithmetic.fence.v{kind.count}f{bits // int(kind.count)}"
    known = module.globals.get(name) or ir.Function(module, ir.FunctionType(kind, [kind]), name)
    if kind is value.type:
        return b.call(known, [value])
    return b.bitcast(b.call(known, [b.bitcast(value, kind)]), value.type)
