"""Loads of vectors, whole or put together from pieces, and arithmetic fences around them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from llvmlite import ir

from .llvmlite_extensions import external, reference, suffix, vector_type, written


@lru_cache(maxsize=64)
def _fence(vector: ir.VectorType) -> tuple[ir.VectorType, str] | None:
    """The floating-point vector as which values of this type are fenced, and the intrinsic; None for less than 128
    bits."""
    lane = str(vector.element)
    bits = int(vector.count) * {"float": 32, "double": 64}.get(lane, getattr(vector.element, "width", 0))
    if bits < 128:
        return None
    kind = vector if lane in ("float", "double") else vector_type(ir.FloatType(), bits // 32)
    return kind, f"llvm.arithmetic.fence.{suffix(kind)}"


def arithmetic_fence(module: ir.Module, b: ir.IRBuilder, value: ir.Value) -> ir.Value:
    """The same vector, bit for bit, at no cost: code generation does not look behind it for shorter sequences.

    Vectors of less than 128 bits are left alone.
    """
    own, fence = value.type, _fence(value.type)
    if fence is None:
        return value
    kind, name = fence
    external(module, name, kind, [kind])
    same = own is kind or own == kind
    if not same:
        value = written(b, kind, f"bitcast {own} {reference(value)} to {kind}")
    value = written(b, kind, f"call {kind} @{name}({kind} {reference(value)})")
    return value if same else written(b, own, f"bitcast {kind} {reference(value)} to {own}")


def kept_whole(module: ir.Module, b: ir.IRBuilder, value: ir.Value) -> ir.Value:
    """The same vector, which x86's code generation neither takes for halves, whose stores it forgets to be
    non-temporal, nor stores in two parts."""
    return arithmetic_fence(module, b, value) if module.triple.startswith("x86_64") else value


def load(b: ir.IRBuilder, pointer: ir.Value, kind: ir.Type, align: int) -> ir.Value:
    """A value of this type in memory."""
    return written(b, kind, f"load {kind}, ptr {reference(pointer)}, align {align}")


def load_pieces(
    module: ir.Module, b: ir.IRBuilder, pointers: Sequence[ir.Value | None], vector: ir.VectorType, align: int
) -> ir.Value:
    """A vector put together from equally long pieces of memory, at least 128 bits each; undefined where None.

    Each piece but the first is inserted by the instruction that loads it: fences keep LLVM from building halves
    first, whose joining is a shuffle.
    """
    fence = _fence(vector)
    assert fence is not None
    kind, _ = fence
    piece = vector_type(kind.element, int(kind.count) // len(pointers))
    name, types = f"llvm.vector.insert.{suffix(kind)}.{suffix(piece)}", [kind, piece, ir.IntType(64)]
    external(module, name, kind, types)
    whole: ir.Value | None = None
    for position, pointer in enumerate(pointers):
        if pointer is None:
            continue
        part = load(b, pointer, piece, align)
        before = "poison" if whole is None else reference(whole)
        at = f"i64 {position * int(piece.count)}"
        call = f"call {kind} @{name}({kind} {before}, {piece} {reference(part)}, {at})"
        whole = arithmetic_fence(module, b, written(b, kind, call))
    assert whole is not None
    return whole if kind == vector else written(b, vector, f"bitcast {kind} {reference(whole)} to {vector}")
