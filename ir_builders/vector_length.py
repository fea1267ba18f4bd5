"""The length of scalable vector registers, asked at run time: code for a minimum must not run on shorter ones."""

from __future__ import annotations

from llvmlite import ir

from ttc_llvm.target import Target

from .frame import internal
from .memory import intrinsic
from .seam import attribute
from .selection import Runs
from .values import I64, guarded

# How many bytes a vector register has: AArch64's SVE, RISC-V's V. LLVM's own `vscale` would be taken for known.
_BYTES = {"aarch64": "cntb $0", "riscv64": "csrr $0, vlenb"}
_ALWAYS = 128  # bits, which the instruction sets promise


def guarded_runs(module: ir.Module, runs: Runs, target: Target) -> Runs:
    """The same functions behind a test of the length; where it is too short, the program is stopped by a trap."""
    if not target.scalable or target.vector_bits <= _ALWAYS:
        return runs
    return Runs(_guarded(module, runs.own, target), _guarded(module, runs.any_size, target))


def _guarded(module: ir.Module, run: ir.Function, target: Target) -> ir.Function:
    made = internal(module, run.function_type, f"{run.name}.long", [argument.name for argument in run.args])
    if target.family == "aarch64":
        attribute(made, '"target-features"="+sve"')
    b = ir.IRBuilder(made.append_basic_block("entry"))
    asm = ir.InlineAsm(ir.FunctionType(I64, []), _BYTES[target.family], "=r", True)
    length = b.call(asm, [], name="bytes")
    with guarded(b, b.icmp_unsigned("<", length, ir.Constant(I64, target.vector_bits // 8)), "short"):
        b.call(intrinsic(module, "llvm.trap", ir.VoidType(), []), [])
    b.call(run, list(made.args))
    b.ret_void()
    return made
