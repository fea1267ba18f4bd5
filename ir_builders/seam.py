"""What llvmlite.ir cannot say, said in one place: shuffles with undefined lanes, and freeze."""

from __future__ import annotations

from collections.abc import Sequence

from llvmlite import ir


class _Shuffle(ir.Instruction):  # llvmlite's own ShuffleVector refuses undefined lanes in its mask
    def __init__(
        self, parent: ir.Block, left: ir.Value, right: ir.Value, mask: str, lanes: int, name: str
    ) -> None:
        super().__init__(
            parent, ir.VectorType(left.type.element, lanes), "shufflevector", [left, right], name=name
        )
        self.mask = f"<{lanes} x i32> <{mask}>"

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
    second = ir.Constant(left.type, ir.Undefined) if right is None else right
    text = ", ".join("i32 poison" if lane is None else f"i32 {lane}" for lane in mask)
    instruction = _Shuffle(b.block, left, second, text, len(mask), name)
    b._insert(instruction)
    return instruction


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
