"""The length of scalable vector registers, asked at run time: code for a minimum must not run on shorter ones."""

from __future__ import annotations

from llvmlite import ir

from ttc_llvm.machine.target import Target

from .frame import internal, returned
from .llvmlite_extensions import attribute, external
from .values import I64, guarded

# Bits of a vector register in one unit of LLVM's `vscale`, and features of a function that does not know how many
# units there are at least: what it knew would be left out.
_UNITS = {"aarch64": (128, "+sve"), "riscv64": (64, "+v")}
_ALWAYS = 128  # bits, which the instruction sets promise


def guarded_run(module: ir.Module, run: ir.Function, target: Target) -> ir.Function:
    """The same function after a test of the length; where it is too short, the program is stopped by a trap."""
    if not target.scalable or target.vector_bits <= _ALWAYS:
        return run
    made = internal(module, run.ftype, f"{run.name}.long", [argument.name for argument in run.args])
    unit, features = _UNITS[target.family]
    attribute(made, f'"target-features"="{features}"')
    b = ir.IRBuilder(made.append_basic_block("entry"))
    units = b.call(external(module, "llvm.vscale.i64", I64, []), [], name="units")
    with guarded(b, b.icmp_unsigned("<", units, ir.Constant(I64, target.vector_bits // unit)), "short"):
        b.call(external(module, "llvm.trap", ir.VoidType(), []), [])
    returned(b, b.call(run, list(made.args)))
    return made
