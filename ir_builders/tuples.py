"""Segments of RISC-V's V in LLVM's text form: tuples of registers have types of their own, which llvmlite.ir lacks."""

from __future__ import annotations

from collections.abc import Sequence

from llvmlite import ir

from .llvmlite_extensions import reference, scalable_type, written
from .values import VOID

_LOG_SIZES = {8: 3, 16: 4, 32: 5, 64: 6}


def _tuple(fields: int) -> str:
    return f'target("riscv.vector.tuple", <vscale x 8 x i8>, {fields})'


def _whole_register(vector: ir.VectorType) -> tuple[ir.VectorType, int]:
    """The scalable type of one register that holds such a vector, and the bits of an element."""
    lane = str(vector.element)
    bits = {"float": 32, "double": 64}.get(lane, getattr(vector.element, "width", 0))
    return scalable_type(vector.element, 64 // bits), bits


def store_segments(
    b: ir.IRBuilder, fields: Sequence[ir.Value], pointer: ir.Value, stride: ir.Value, count: int
) -> None:
    """Lane i of all fields, side by side, to pointer + i * stride bytes, for the first `count` lanes."""
    vector, number = fields[0].type, len(fields)
    whole, bits = _whole_register(vector)
    group, every = _tuple(number), f"i64 {count}, i64 {_LOG_SIZES[bits]}"
    where = f"ptr {reference(pointer)}, i64 {reference(stride)}, {every}"
    if number == 1:
        value = reference(_in_register(b, fields[0], whole))
        written(b, VOID, f"call void @llvm.riscv.vsse({whole} {value}, {where.rpartition(',')[0]})")
        return
    packed = "poison"
    for k, one in enumerate(fields):
        value = reference(_in_register(b, one, whole))
        text = f"call {group} @llvm.riscv.tuple.insert({group} {packed}, {whole} {value}, i32 {k})"
        packed = reference(written(b, whole, text))
    written(b, VOID, f"call void @llvm.riscv.vssseg{number}({group} {packed}, {where})")


def load_segments(
    b: ir.IRBuilder, vector: ir.VectorType, number: int, pointer: ir.Value, stride: ir.Value, count: int
) -> list[ir.Value]:
    """The fields that `store_segments` writes, as vectors of this type, undefined after the first `count` lanes."""
    whole, bits = _whole_register(vector)
    group, size = _tuple(number), f"i64 {_LOG_SIZES[bits]}"
    where = f"ptr {reference(pointer)}, i64 {reference(stride)}, i64 {count}"
    if number == 1:
        return [_out_of(b, written(b, whole, f"call {whole} @llvm.riscv.vlse({whole} poison, {where})"), vector)]
    text = f"call {group} @llvm.riscv.vlsseg{number}({group} poison, {where}, {size})"
    packed = reference(written(b, whole, text))
    found = []
    for k in range(number):
        one = written(b, whole, f"call {whole} @llvm.riscv.tuple.extract({group} {packed}, i32 {k})")
        found.append(_out_of(b, one, vector))
    return found


def _in_register(b: ir.IRBuilder, value: ir.Value, whole: ir.VectorType) -> ir.Value:
    text = f"call {whole} @llvm.vector.insert({whole} poison, {value.type} {reference(value)}, i64 0)"
    return written(b, whole, text)


def _out_of(b: ir.IRBuilder, whole: ir.Value, vector: ir.VectorType) -> ir.Value:
    return written(b, vector, f"call {vector} @llvm.vector.extract({whole.type} {reference(whole)}, i64 0)")
