"""A native entry for two NumPy arrays: the addresses of their elements are read without Python code.

`doorway(X, Y, call*)`: X and Y are NumPy arrays (the objects), call is an array of i64 as `FIELDS` has it. It runs all
tasks of a kernel without scalars from X's elements to Y's and returns 0; where one of their addresses has a bit that
must be clear, it returns 1 and has done nothing.
"""

from __future__ import annotations

from llvmlite import ir

from ttc_llvm.machine.target import Target

from .module import new_module
from .values import I32, I64, KERNEL_TYPE, PTR, at, i32, i64

FIELDS = ("kernel", "offset_a", "offset_b", "params", "tasks", "odd_a", "odd_b")


def build(target: Target, data: int, name: str) -> ir.Module:
    """The module of `doorway`. data: bytes from an array object's start to the pointer to its element 0."""
    module = new_module(target)
    function = ir.Function(module, ir.FunctionType(I32, [PTR] * 3), name)
    function.attributes.add("nounwind")
    for argument, label in zip(function.args, ("x", "y", "call"), strict=True):
        argument.name = label
    x, y, call = function.args
    b = ir.IRBuilder(function.append_basic_block("entry"))
    field: dict[str, ir.Value] = {
        name: b.load(at(b, call, 8 * k), typ=I64, align=8, name=name) for k, name in enumerate(FIELDS)
    }
    source, sink = (b.load(at(b, array, data), typ=PTR, align=8) for array in (x, y))
    odd_a = b.and_(b.ptrtoint(source, I64), field["odd_a"])
    odd_b = b.and_(b.ptrtoint(sink, I64), field["odd_b"])
    with b.if_then(b.icmp_unsigned("!=", b.or_(odd_a, odd_b), i64(0))):
        b.ret(i32(1))
    _run(b, field, at(b, source, field["offset_a"]), at(b, sink, field["offset_b"]))
    b.ret(i32(0))
    return module


def _run(b: ir.IRBuilder, field: dict[str, ir.Value], source: ir.Value, sink: ir.Value) -> None:
    null = ir.Constant(PTR, None)
    kernel = b.inttoptr(field["kernel"], KERNEL_TYPE.as_pointer())
    params = b.inttoptr(field["params"], PTR)
    b.call(kernel, [source, sink, null, params, null, i64(0), field["tasks"]])
