"""The naive loop nest for a GPU: one thread an element, numbered in the order in which the nest would reach them."""

from __future__ import annotations

from llvmlite import ir

from ttc_llvm.lowering.gpu.launch import Slot
from ttc_llvm.lowering.gpu.naive import BLOCK, blocks, parameters
from ttc_llvm.machine.gpu_target import GpuTarget
from ttc_llvm.problem.naive import Naive

from ..naive_element import Element, Value
from ..values import F32, F64, I32, I64
from .intrinsics import ROWS, Machine

_SLOTS = {Slot.F32: F32, Slot.F64: F64}


def build(nest: Naive, target: GpuTarget, entry: str) -> ir.Module:
    """The kernel `entry` of a nest, to be launched as `gpu.naive.launch` says."""
    module = ir.Module(entry, context=ir.Context())
    module.triple = target.triple
    machine = Machine(ROWS[target.intrinsics], module, BLOCK, 0)
    wanted = parameters(nest)
    kernel = machine.kernel(entry, [_SLOTS.get(p.slot, machine.device) for p in wanted])
    for argument, parameter in zip(kernel.args, wanted, strict=True):
        argument.name = parameter.name
    for argument, t in zip(kernel.args[:2], (nest.a, nest.b), strict=True):
        argument.add_attribute("noalias")
        argument.attributes.align = t.itemsize & -t.itemsize
    b = ir.IRBuilder(kernel.append_basic_block("entry"))
    named = {argument.name: argument for argument in kernel.args}
    alpha, beta = (_scalar(named, name) for name in ("alpha", "beta"))
    number = _number(b, machine, nest)
    with b.if_then(b.icmp_unsigned("<", number, ir.Constant(number.type, nest.elements))):
        element = Element(module, b, nest, {"a": named["A"], "b": named["B"]}, alpha, beta)
        element.write(*_offsets(b, nest, number))
    b.ret_void()
    return module


def _scalar(named: dict[str, ir.Argument], name: str) -> Value:
    return tuple(named[part] for part in (name, f"{name}_imag") if part in named)


def _number(b: ir.IRBuilder, machine: Machine, nest: Naive) -> ir.Value:
    """The thread's number among all: as narrow as C's would be, since dividing is what a thread does most of."""
    block, thread = machine.block(b, blocks(nest)), machine.thread(b)
    if not nest.fits_int:
        block, thread = b.zext(block, I64), b.zext(thread, I64)
    return b.add(b.mul(block, ir.Constant(block.type, BLOCK)), thread, name="number")


def _offsets(b: ir.IRBuilder, nest: Naive, number: ir.Value) -> tuple[ir.Value, ir.Value]:
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
