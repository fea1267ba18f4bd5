"""A kernel that writes memory back and drops it from every cache level, line by line, before cold runs.

It has the ABI of every kernel: task t is the t-th block of BLOCK bytes of A.
"""

from __future__ import annotations

from llvmlite import ir

from ttc_llvm.machine.target import Target

from .llvmlite_extensions import external
from .module import ARGUMENTS, new_module
from .values import KERNEL_TYPE, PTR, at, counted

BLOCK = 1 << 16


def build(target: Target, name: str = "flush") -> ir.Module | None:
    """The module, or None where the machine has no instruction for it (then big buffers have to be swept)."""
    if not target.triple.startswith("x86_64"):
        return None
    module = new_module(target)
    kernel = ir.Function(module, KERNEL_TYPE, name)
    arguments = dict(zip(ARGUMENTS, kernel.args, strict=True))
    b = ir.IRBuilder(kernel.append_basic_block("entry"))
    optimised = "+clflushopt" in target.features.split(",")
    which = "llvm.x86.clflushopt" if optimised else "llvm.x86.sse2.clflush"
    line = external(module, which, ir.VoidType(), [PTR])
    with counted(b, arguments["end"], 1, "block", first=arguments["begin"]) as block:
        start = at(b, arguments["a"], b.mul(block, ir.Constant(block.type, BLOCK)))
        with counted(b, BLOCK, target.line, "line") as offset:
            b.call(line, [at(b, start, offset)])
    b.call(external(module, "llvm.x86.sse2.mfence", ir.VoidType(), []), [])
    b.ret_void()
    return module
