"""C entry points of an object.

    name(A, B, alpha, lda, ldb)             name_beta(A, B, alpha, beta, lda, ldb)
    name_part(..., part, parts)             name_beta_part(..., part, parts)
    name_any(A, B, alpha, size, lda, ldb)   and so on: run-time extents
    name_i64(A, B, alpha, size, strides_a, strides_b)   and so on: the same in 64 bits, with any strides

In place A is B, and has one lda or strides: name(A, alpha, lda), name_i64(A, alpha, size, strides) and so on.

All of them store the scalars in memory and call one of two internal functions, which choose the body. Plain moves
have no scalars, hence no entries with `_beta`. Nothing outside the module is called.
"""

from __future__ import annotations

from collections.abc import Sequence

from llvmlite import ir

from ttc_llvm.lowering.bodies import Version
from ttc_llvm.machine.target import Target
from ttc_llvm.problem import interface
from ttc_llvm.problem.contraction_interface import AnyEntry
from ttc_llvm.problem.dtypes import DType, Kind
from ttc_llvm.problem.interface import IN_PLACE, PLAIN, Entry, Role, Sizes, Symbols
from ttc_llvm.problem.problem import Problem

from . import attributes, cpu_select, selection, vector_length
from .carriers import parts_per_element
from .frame import real_type, reserved
from .llvmlite_extensions import prefixed, visible
from .selection import Runs
from .values import I32, I64, NULL, PTR, at, i32


def build(problem: Problem, versions: Sequence[Version], symbols: Symbols = PLAIN) -> ir.Module:
    """A module with the problem's C entries and all bodies behind them. Equal input, equal text.

    versions: the code of one machine; or of several, among which a call chooses, the most demanding first and one
    that needs no feature last.
    """
    module = attributes.new_module(versions[-1].target, symbols.stem(problem))
    with prefixed(module, f"{symbols.stem(problem)}."):  # tools such as perf show the names of local functions, too
        runs = _runs(module, problem, versions)
    for entry in interface.entries(problem, symbols):
        _add(module, entry, runs.wide if entry.sizes is Sizes.WIDE else runs.plain, versions[-1].target)
    attributes.traceable(module, versions[-1].target)
    return module


def _runs(module: ir.Module, problem: Problem, versions: Sequence[Version]) -> Runs:
    if len(versions) > 1:
        return cpu_select.add_runs(module, problem, versions)
    (only,) = versions
    runs = selection.add_runs(module, problem, only.bodies, only.target)
    attributes.length_known(module.functions, only.target)
    return Runs(*(vector_length.guarded_run(module, run, only.target) for run in (runs.plain, runs.wide)))


def declared(module: ir.Module, described: AnyEntry) -> ir.Function:
    """The entry's function, without a body; complex scalars come by pointer."""
    known = module.globals.get(described.name)
    if isinstance(known, ir.Function):
        return known
    types = [_type(described.types[-1], p.role) for p in described.parameters]
    entry = ir.Function(module, ir.FunctionType(ir.VoidType(), types), described.name)
    entry.attributes.add("nounwind")
    for parameter, argument in zip(described.parameters, entry.args, strict=True):
        argument.name = parameter.name
    return entry


def defined(module: ir.Module, described: AnyEntry, target: Target) -> ir.Function:
    """The entry's function, to be given a body. Callers in the library it is linked into reach this one.

    ELF would look up its name in all libraries of a process; Mach-O and WebAssembly bind calls within an image.
    """
    entry = declared(module, described)
    seen(entry, target, described.symbols)
    return entry


def seen(function: ir.Function, target: Target, symbols: Symbols) -> None:
    """Give a function that an object defines the visibility that is asked for."""
    if symbols.hidden:
        visible(function, "hidden")
    elif target.is_elf:
        visible(function, "protected")


def _add(module: ir.Module, described: Entry, run: ir.Function, target: Target) -> None:
    compute, entry = described.problem.compute, defined(module, described, target)
    given: dict[str, ir.Value] = {argument.name: argument for argument in entry.args}
    if described.problem.inplace:
        given |= {name: given[same] for name, same in IN_PLACE.items() if same in given}
    b = ir.IRBuilder(entry.append_basic_block("entry"))
    scalars = stored(b, compute, given.get("alpha"), given.get("beta"))
    wide = described.sizes is Sizes.WIDE
    sizes = [given.get(label, NULL) for label in (selection.WIDE_CALL if wide else selection.CALL)[3:6]]
    which = [given.get("part", i32(0)), given.get("parts", i32(1))]
    b.call(run, [given["A"], given["B"], scalars, *sizes, *which])
    b.ret_void()


_WORDS = {Role.NUMBER: I32, Role.BYTES: I64}


def _type(compute: DType, role: Role) -> ir.Type:
    if role in _WORDS:
        return _WORDS[role]
    return real_type(compute) if role is Role.SCALAR and compute.kind is Kind.REAL else PTR


def stored(b: ir.IRBuilder, compute: DType, alpha: ir.Value | None, beta: ir.Value | None) -> ir.Value:
    """alpha's parts, then beta's, in memory; an absent beta is 0. Complex scalars come by pointer."""
    if alpha is None:
        return NULL
    part, parts = real_type(compute), parts_per_element(compute)
    size = compute.real_bits // 8
    memory = reserved(b, 2 * parts * size, 16, "scalars")
    for number, scalar in enumerate((alpha, beta)):
        for k in range(parts):
            value = ir.Constant(part, 0.0) if scalar is None else scalar
            if parts > 1 and scalar is not None:
                value = b.load(at(b, scalar, k * size), typ=part, align=size)
            b.store(value, at(b, memory, (number * parts + k) * size), align=size)
    return memory
