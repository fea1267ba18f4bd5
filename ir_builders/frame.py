"""Parts of C entries beyond a kernel: internal functions, memory on the stack, scalars in memory."""

from __future__ import annotations

from collections.abc import Sequence

from llvmlite import ir

from ttc_llvm.problem.dtypes import DType

from .values import F32, F64, I8, I64, PTR, VOID


def internal(module: ir.Module, signature: ir.FunctionType, name: str, labels: Sequence[str] = ()) -> ir.Function:
    """A function for this module only, never inlined; labels: names of its arguments, all or none."""
    function = _own(module, signature, name, labels)
    function.attributes.add("noinline")
    return function


def words_function(module: ir.Module, name: str, labels: Sequence[str]) -> ir.IRBuilder:
    """A builder at the start of an internal function of words with these names, which returns a word."""
    function = _own(module, ir.FunctionType(I64, [I64] * len(labels)), name, labels)
    return ir.IRBuilder(function.append_basic_block("entry"))


def _own(module: ir.Module, signature: ir.FunctionType, name: str, labels: Sequence[str]) -> ir.Function:
    """A function for this module only."""
    function = ir.Function(module, signature, name)
    function.linkage = "internal"
    function.attributes.add("nounwind")
    if labels:
        for argument, label in zip(function.args, labels, strict=True):
            argument.name = label
    return function


def reserved(b: ir.IRBuilder, size: int, align: int, name: str) -> ir.Value:
    """Bytes on the stack, from the function's start; null where none are needed."""
    if size == 0:
        return ir.Constant(PTR, None)
    with b.goto_entry_block():
        memory = b.alloca(ir.ArrayType(I8, size), name=name)
    memory.align = align
    return opaque(memory)


def opaque(pointer: ir.NamedValue) -> ir.Value:
    """The same value without the pointee type, which llvmlite still attaches and checks."""
    pointer.type = PTR
    return pointer


def real_type(compute: DType) -> ir.Type:
    """The type of a scalar, or of a complex scalar's parts."""
    return F32 if compute.real_bits == 32 else F64


def returned(b: ir.IRBuilder, found: ir.Value) -> None:
    """Return what a call returned."""
    if found.type == VOID:
        b.ret_void()
    else:
        b.ret(found)
