"""The second object: strong entries that run the parts on OpenMP's threads, for Fortran and dlopen users.

    name_omp(A, B, alpha, lda, ldb), name_any_omp(...), and those with beta; of contractions the two that there are

They call the first object's entries, and where it is there `GOMP_parallel`, `omp_get_max_threads`,
`omp_get_num_threads` and `omp_get_thread_num`, which GNU's, LLVM's and Intel's OpenMP libraries all export. However
many threads there turn out to be, together they run all parts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from llvmlite import ir

from ttc_llvm.machine.target import Target
from ttc_llvm.problem.contraction_interface import AnyEntry, may_thread, parted, serial
from ttc_llvm.problem.interface import Sizes

from . import attributes, extents, wide_shapes
from .entries import declared, defined
from .frame import internal, reserved
from .llvmlite_extensions import external
from .values import F64, I32, I64, NULL, PTR, VOID, at, i32

REGION_TYPE = ir.FunctionType(VOID, [PTR])
SLOT = 8  # bytes per argument in the region's record


def build(name: str, entries: Sequence[AnyEntry], target: Target) -> ir.Module:
    """A module of this name with a problem's threaded entries."""
    module = attributes.new_module(target, name)
    for entry in entries:
        _add(module, entry, target)
    attributes.traceable(module, target)
    return module


def _add(module: ir.Module, entry: AnyEntry, target: Target) -> None:
    function = defined(module, entry, target)
    alone = declared(module, serial(entry))
    b = ir.IRBuilder(function.append_basic_block("entry"))
    if may_thread(entry):
        with threads(b, target) as most:
            parts = _threads(module, b, entry, most)
            with b.if_then(b.icmp_signed(">", parts, i32(1))):
                fork(b, target, _region(module, entry, target), function.args, parts)
                b.ret_void()
    b.call(alone, function.args)
    b.ret_void()


def _openmp(
    module: ir.Module, target: Target, name: str, result: ir.Type, arguments: Sequence[ir.Type] = ()
) -> ir.Function:
    """A function of the OpenMP library, which may be missing where ELF objects are linked."""
    function = external(module, name, result, arguments)
    function.linkage = "extern_weak" if target.is_elf else ""
    return function


def _parallel(module: ir.Module, target: Target) -> ir.Function:
    return _openmp(module, target, "GOMP_parallel", VOID, [PTR, PTR, I32, I32])


@contextmanager
def threads(b: ir.IRBuilder, target: Target) -> Iterator[ir.Value]:
    """A block that runs where there is an OpenMP library, with the most threads that it would use."""
    most = _openmp(b.module, target, "omp_get_max_threads", I32)
    there = [b.icmp_unsigned("!=", b.bitcast(f, PTR), NULL) for f in (_parallel(b.module, target), most)]
    with b.if_then(extents.every(b, there)):
        yield b.call(most, [], name="most")


def fork(b: ir.IRBuilder, target: Target, region: ir.Function, given: Sequence[ir.Value], parts: ir.Value) -> None:
    """Run a region on so many threads. given: what `taken` loads there."""
    record = reserved(b, SLOT * len(given), SLOT, "record")
    for number, value in enumerate(given):
        b.store(value, at(b, record, SLOT * number), align=SLOT)
    b.call(_parallel(b.module, target), [b.bitcast(region, PTR), record, parts, i32(0)])


def taken(b: ir.IRBuilder, target: Target, kinds: Sequence[ir.Type]) -> tuple[list[ir.Value], list[ir.Value]]:
    """In a region: the values of these types that `fork` was given; and this thread's part and the number of parts."""
    places = [at(b, b.function.args[0], SLOT * number) for number in range(len(kinds))]
    given: list[ir.Value] = [b.load(place, typ=kind, align=SLOT) for place, kind in zip(places, kinds, strict=True)]
    names = ("omp_get_thread_num", "omp_get_num_threads")
    return given, [b.call(_openmp(b.module, target, name, I32), []) for name in names]


def _region(module: ir.Module, entry: AnyEntry, target: Target) -> ir.Function:
    """What every thread runs: its part of as many as there are threads."""
    part = declared(module, parted(entry))
    region = internal(module, REGION_TYPE, f"{entry.name}.region", ("record",))
    b = ir.IRBuilder(region.append_basic_block("entry"))
    none = [ir.Constant(argument.type, None) for argument in part.args[len(part.args) - entry.zeros :]]
    given, numbers = taken(b, target, [argument.type for argument in part.args[: -2 - entry.zeros]])
    b.call(part, [*given, *numbers, *none])
    b.ret_void()
    return region


def _threads(module: ir.Module, b: ir.IRBuilder, entry: AnyEntry, most: ir.Value) -> ir.Value:
    """As many threads as OpenMP would use, but no more than pay."""
    if entry.sizes is Sizes.OWN:
        pay: ir.Value = i32(entry.work.most_threads)
        return b.select(b.icmp_signed("<", most, pay), most, pay)
    size: ir.Value = next(x for x in b.function.args if x.name == "size")
    kind = I64 if entry.sizes is Sizes.WIDE else I32
    if entry.sizes is Sizes.WIDE:
        own = wide_shapes.table(module, entry.extents, "size")
        size = b.select(b.icmp_unsigned("==", size, NULL), own, size)
    worth: ir.Value = ir.Constant(F64, entry.work.per_element / entry.work.per_thread)
    for k in range(len(entry.extents)):
        extent = b.load(at(b, size, kind.width // 8 * k), typ=kind, align=kind.width // 8)
        worth = b.fmul(worth, b.sitofp(extent, F64))
    fewer = b.fcmp_ordered("<", worth, b.sitofp(most, F64))
    bounded = b.select(fewer, worth, ir.Constant(F64, 1.0))
    return b.select(fewer, b.fptosi(bounded, I32), most)
