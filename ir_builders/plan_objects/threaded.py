"""The second object of a library's plans: strong entries that run all parts on OpenMP's threads.

    NAME_plan_execute_omp(plan, A, B, alpha, beta), NAME_group_execute_omp(group, A, B, alpha, beta)

They call the first object's functions, and OpenMP's where it is there, as those of `omp`.
"""

from __future__ import annotations

from llvmlite import ir

from ttc_llvm.machine.target import Target
from ttc_llvm.problem.interface import PLAIN, Symbols

from .. import attributes, omp
from ..entries import seen
from ..frame import internal, reserved
from ..llvmlite_extensions import external
from ..values import I32, PTR, i32

OPERANDS = (PTR,) * 5  # the plan or group, A, B, alpha, beta
CODE_BYTES = 4


def build(name: str, target: Target, symbols: Symbols = PLAIN) -> ir.Module:
    """The module of a library's threaded plan functions. name: what theirs begin with, the prefix included."""
    module = attributes.new_module(target, f"{name}_plan_omp")
    for executed in ("plan", "group"):
        _add(module, f"{name}_{executed}", target, symbols)
    attributes.traceable(module, target)
    return module


def _add(module: ir.Module, stem: str, target: Target, symbols: Symbols) -> None:
    """`STEM_execute_omp`: the highest code that a part returns."""
    made = ir.Function(module, ir.FunctionType(I32, OPERANDS), f"{stem}_execute_omp")
    made.attributes.add("nounwind")
    seen(made, target, symbols)
    b = ir.IRBuilder(made.append_basic_block("entry"))
    with omp.threads(b, target) as most:
        pay = b.call(external(module, f"{stem}_parts", I32, [PTR]), made.args[:1], name="pay")
        parts = b.select(b.icmp_signed("<", most, pay), most, pay)
        with b.if_then(b.icmp_signed(">", parts, i32(1))):
            code = reserved(b, CODE_BYTES, CODE_BYTES, "code")
            b.store(i32(0), code, align=CODE_BYTES)
            omp.fork(b, target, _region(module, stem, target), [*made.args, code], parts)
            b.ret(b.load(code, typ=I32, align=CODE_BYTES))
    b.ret(b.call(external(module, f"{stem}_execute", I32, OPERANDS), made.args))


def _region(module: ir.Module, stem: str, target: Target) -> ir.Function:
    """What every thread runs: its part, whose code it adds to the record."""
    region = internal(module, omp.REGION_TYPE, f"{stem}_execute_omp.region", ("record",))
    b = ir.IRBuilder(region.append_basic_block("entry"))
    (*given, code), numbers = omp.taken(b, target, (*OPERANDS, PTR))
    part = external(module, f"{stem}_execute_part", I32, (*OPERANDS, I32, I32))
    b.atomic_rmw("max", code, b.call(part, [*given, *numbers]), "monotonic")
    b.ret_void()
    return region
