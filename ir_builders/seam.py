"""What llvmlite.ir cannot say, said in one place: undefined lanes, freeze, fences, inserts, attributes."""

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


class _Written(ir.Instruction):  # a tenth of what an instruction of llvmlite's own takes to be made and printed
    def __init__(self, parent: ir.Block, kind: ir.Type, text: str) -> None:
        super().__init__(parent, kind, "", [], name="")
        self.text = text

    def descr(self, buf: list[str]) -> None:
        """Append the instruction's text, as llvmlite's printer asks for it."""
        buf.append(self.text)


def _written(b: ir.IRBuilder, kind: ir.Type, text: str) -> ir.Value:
    instruction = _Written(b.block, kind, text)
    b._insert(instruction)
    return instruction


def _reference(value: ir.Value) -> str:
    return str(value.get_reference())  # type: ignore[attr-defined]  # every value that has a name has it


@lru_cache(maxsize=64)
def _fenced_as(vector: ir.VectorType) -> ir.VectorType | None:
    """The floating-point vector as which values of this type are fenced; None for less than 128 bits."""
    lane = str(vector.element)
    bits = int(vector.count) * {"float": 32, "double": 64}.get(lane, getattr(vector.element, "width", 0))
    if bits < 128:
        return None
    return vector if lane in ("float", "double") else _vector(ir.FloatType(), bits // 32)


def fence(module: ir.Module, b: ir.IRBuilder, value: ir.Value) -> ir.Value:
    """The same vector, bit for bit, at no cost: code generation does not look behind it for shorter sequences.

    Vectors of less than 128 bits are left alone.
    """
    own, kind = value.type, _fenced_as(value.type)
    if kind is None:
        return value
    name = f"llvm.arithmetic.fence.{_suffix(kind)}"
    if name not in module.globals:
        ir.Function(module, ir.FunctionType(kind, [kind]), name)
    if own != kind:
        value = _written(b, kind, f"bitcast {own} {_reference(value)} to {kind}")
    value = _written(b, kind, f"call {kind} @{name}({kind} {_reference(value)})")
    return value if own == kind else _written(b, own, f"bitcast {kind} {_reference(value)} to {own}")


def load_pieces(
    module: ir.Module, b: ir.IRBuilder, pointers: Sequence[ir.Value | None], vector: ir.VectorType, align: int
) -> ir.Value:
    """A vector put together from equally long pieces of memory, at least 128 bits each; undefined where None.

    Each piece but the first is inserted by the instruction that loads it: fences keep LLVM from building halves
    first, whose joining is a shuffle.
    """
    kind = _fenced_as(vector)
    assert kind is not None
    piece = _vector(kind.element, int(kind.count) // len(pointers))
    name = f"llvm.vector.insert.{_suffix(kind)}.{_suffix(piece)}"
    if name not in module.globals:
        ir.Function(module, ir.FunctionType(kind, [kind, piece, ir.IntType(64)]), name)
    whole: ir.Value | None = None
    for position, pointer in enumerate(pointers):
        if pointer is None:
            continue
        part = _written(b, piece, f"load {piece}, ptr {_reference(pointer)}, align {align}")
        before = "poison" if whole is None else _reference(whole)
        at = f"i64 {position * int(piece.count)}"
        call = f"call {kind} @{name}({kind} {before}, {piece} {_reference(part)}, {at})"
        whole = fence(module, b, _written(b, kind, call))
    assert whole is not None
    return whole if kind == vector else _written(b, vector, f"bitcast {kind} {_reference(whole)} to {vector}")


def attribute(function: ir.Function, key: str, value: str) -> None:
    """Give a function a string attribute."""
    set.add(function.attributes, f'"{key}"="{value}"')  # llvmlite's own `add` knows a list of others


def _suffix(vector: ir.VectorType) -> str:
    """A floating-point vector in an intrinsic's name."""
    return f"v{vector.count}f{32 if str(vector.element) == 'float' else 64}"
