"""The reference loops for a GPU: one thread per element, numbered in the order of the loops."""

from __future__ import annotations

from llvmlite import ir

from ttc_llvm.lowering.gpu.launch import BLOCK, reference_blocks, reference_parameters
from ttc_llvm.machine.gpu_target import GpuTarget
from ttc_llvm.problem.reference_loops import ReferenceLoops

from ..reference_element import Element
from ..values import I32, I64
from .intrinsics import Machine, machine, scalar


def build(nest: ReferenceLoops, target: GpuTarget, entry: str) -> ir.Module:
    """The kernel `entry` of a nest, to be launched as `reference_launch` says."""
    found = machine(target, entry, BLOCK)
    size_a, size_b = nest.a.itemsize, nest.b.itemsize
    b = found.begun(reference_parameters(nest), (size_a & -size_a, size_b & -size_b))
    a, into, *_ = b.function.args
    number = _number(b, found, nest)
    with b.if_then(b.icmp_unsigned("<", number, ir.Constant(number.type, nest.elements))):
        alpha, beta = (scalar(b.function, name) for name in ("alpha", "beta"))
        element = Element(found.module, b, nest, {"a": a, "b": into}, alpha, beta)
        element.write(*_offsets(b, nest, number))
    b.ret_void()
    return found.module


def _number(b: ir.IRBuilder, machine: Machine, nest: ReferenceLoops) -> ir.Value:
    """The thread's number among all: as narrow as C's would be, since dividing is what a thread does most of."""
    block, thread = machine.block(b, reference_blocks(nest)), machine.thread(b)
    if not nest.fits_int:
        block, thread = b.zext(block, I64), b.zext(thread, I64)
    return b.add(b.mul(block, ir.Constant(block.type, BLOCK)), thread, name="number")


def _offsets(b: ir.IRBuilder, nest: ReferenceLoops, number: ir.Value) -> tuple[ir.Value, ir.Value]:
    """Elements from the first one of A and of B: the number, digit by digit, the innermost loop first."""
    kind, rest = number.type, number
    offsets: list[ir.Value] = [ir.Constant(kind, 0), ir.Constant(kind, 0)]
    for loop in reversed(nest.loops):
        index = rest
        if loop is not nest.loops[0]:
            extent = ir.Constant(kind, loop.extent)
            index, rest = b.urem(rest, extent, name=f"i{loop.number}"), b.udiv(rest, extent)
        for side, stride in enumerate((loop.stride_a, loop.stride_b)):
            offsets[side] = b.add(offsets[side], b.mul(index, ir.Constant(kind, stride)))
    a, into = (b.zext(offset, I64) if kind == I32 else offset for offset in offsets)
    return a, into
