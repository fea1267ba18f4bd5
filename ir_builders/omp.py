"""The second object: strong entries that run the parts on OpenMP's threads, for Fortran and dlopen users.

    name_omp(A, B, alpha, lda, ldb), name_any_omp(...), and those with beta

They call the first object's entries and `GOMP_parallel`, `omp_get_max_threads`, `omp_get_num_threads` and
`omp_get_thread_num`, which GNU's, LLVM's and Intel's OpenMP libraries all export. However many threads there turn out
to be, together they run all parts.
"""

from __future__ import annotations

from llvmlite import ir

from ttc_llvm.lazy_dataclasses import replace
from ttc_llvm.machine.target import Target
from ttc_llvm.problem import interface, names
from ttc_llvm.problem.interface import BYTES_PER_THREAD, Entry, Sizes
from ttc_llvm.problem.problem import Problem

from . import attributes, wide_shapes
from .entries import declared, defined
from .frame import internal, reserved
from .llvmlite_extensions import external
from .module import new_module
from .values import F64, I32, I64, NULL, PTR, at, i32

REGION_TYPE = ir.FunctionType(ir.VoidType(), [PTR])
SLOT = 8  # bytes per argument in the region's record


def build(problem: Problem, target: Target) -> ir.Module:
    """A module with the problem's threaded entries."""
    module = new_module(target, f"{names.stem(problem)}_omp")
    for entry in interface.threaded(problem):
        _add(module, entry, target)
    attributes.traceable(module, target)
    return module


def _add(module: ir.Module, entry: Entry, target: Target) -> None:
    function = defined(module, entry, target)
    serial = declared(module, replace(entry, threaded=False))
    b = ir.IRBuilder(function.append_basic_block("entry"))
    if entry.may_thread:
        parts = _threads(module, b, entry, function)
        with b.if_then(b.icmp_signed(">", parts, i32(1))):
            _fork(module, b, entry, function, parts)
            b.ret_void()
    b.call(serial, function.args)
    b.ret_void()


def _fork(module: ir.Module, b: ir.IRBuilder, entry: Entry, function: ir.Function, parts: ir.Value) -> None:
    record = reserved(b, SLOT * len(function.args), SLOT, "record")
    for number, argument in enumerate(function.args):
        b.store(argument, at(b, record, SLOT * number), align=SLOT)
    fork = external(module, "GOMP_parallel", ir.VoidType(), [PTR, PTR, I32, I32])
    region = _region(module, entry, function)
    b.call(fork, [b.bitcast(region, PTR), record, parts, i32(0)])


def _region(module: ir.Module, entry: Entry, function: ir.Function) -> ir.Function:
    """What every thread runs: its part of as many as there are threads."""
    region = internal(module, REGION_TYPE, f"{entry.name}.region", ("record",))
    b = ir.IRBuilder(region.append_basic_block("entry"))
    places = [at(b, region.args[0], SLOT * number) for number in range(len(function.args))]
    given = [b.load(place, typ=x.type, align=SLOT) for place, x in zip(places, function.args, strict=True)]
    which = [b.call(external(module, name, I32), []) for name in ("omp_get_thread_num", "omp_get_num_threads")]
    b.call(declared(module, replace(entry, threaded=False, part=True)), [*given, *which])
    b.ret_void()
    return region


def _threads(module: ir.Module, b: ir.IRBuilder, entry: Entry, function: ir.Function) -> ir.Value:
    """As many threads as OpenMP would use, but no more than pay."""
    most = b.call(external(module, "omp_get_max_threads", I32), [], name="most")
    if entry.sizes is Sizes.OWN:
        pay: ir.Value = i32(entry.most_threads)
        return b.select(b.icmp_signed("<", most, pay), most, pay)
    size: ir.Value = next(x for x in function.args if x.name == "size")
    kind = I64 if entry.sizes is Sizes.WIDE else I32
    if entry.sizes is Sizes.WIDE:
        own = wide_shapes.table(module, entry.problem.size, "size")
        size = b.select(b.icmp_unsigned("==", size, NULL), own, size)
    worth: ir.Value = ir.Constant(F64, entry.bytes_per_element / BYTES_PER_THREAD)
    for k in range(len(entry.problem.size)):
        extent = b.load(at(b, size, kind.width // 8 * k), typ=kind, align=kind.width // 8)
        worth = b.fmul(worth, b.sitofp(extent, F64))
    fewer = b.fcmp_ordered("<", worth, b.sitofp(most, F64))
    bounded = b.select(fewer, worth, ir.Constant(F64, 1.0))
    return b.select(fewer, b.fptosi(bounded, I32), most)
