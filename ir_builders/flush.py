"""A kernel that writes memory back and drops it from every cache level, line by line, before cold runs.

It has the ABI of every kernel: task t is the t-th block of BLOCK bytes of A.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from llvmlite import ir

from ttc_llvm.machine.target import Target

from .attributes import new_module
from .llvmlite_extensions import encoded, external
from .module import ARGUMENTS
from .values import KERNEL_TYPE, PTR, VOID, at, counted

BLOCK = 1 << 16


def build(target: Target, name: str = "flush") -> ir.Module | None:
    """The module, or None where the machine has no instruction for it (then big buffers have to be swept)."""
    instructions = _INSTRUCTIONS.get(target.family)
    if instructions is None:
        return None
    module = new_module(target)
    drop, finish = instructions(module, target)
    kernel = ir.Function(module, KERNEL_TYPE, name)
    arguments = dict(zip(ARGUMENTS, kernel.args, strict=True))
    b = ir.IRBuilder(kernel.append_basic_block("entry"))
    with counted(b, arguments["end"], 1, "block", first=arguments["begin"]) as block:
        start = at(b, arguments["a"], b.mul(block, ir.Constant(block.type, BLOCK)))
        with counted(b, BLOCK, target.line, "line") as offset:
            b.call(drop, [at(b, start, offset)])
    b.call(finish, [])
    b.ret_void()
    return module


Pair = tuple[ir.Function, ir.Function]  # drops the line at an address; waits until that is done


def _x86(module: ir.Module, target: Target) -> Pair:
    optimised = "+clflushopt" in target.features.split(",")
    which = "llvm.x86.clflushopt" if optimised else "llvm.x86.sse2.clflush"
    return external(module, which, VOID, [PTR]), external(module, "llvm.x86.sse2.mfence", VOID, [])


def _arm(module: ir.Module, _: Target) -> Pair:
    """Linux lets programs do so."""
    drop = encoded(module, ir.FunctionType(VOID, [PTR]), "drop", _ARM_DROP)
    return drop, encoded(module, ir.FunctionType(VOID, []), "finish", _ARM_FINISH)


_ARM_DROP = bytes.fromhex("207e0bd5 c0035fd6")  # dc civac, x0; ret
_ARM_FINISH = bytes.fromhex("9f3f03d5 c0035fd6")  # dsb sy; ret
_INSTRUCTIONS: Mapping[str, Callable[[ir.Module, Target], Pair]] = {"x86": _x86, "aarch64": _arm}
