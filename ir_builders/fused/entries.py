"""C entry points of a contraction's object.

    name(A, B, C, alpha, beta, strides_a, strides_b, strides_c)     name_any(A, B, C, alpha, beta, size, strides_a, ...)
    name_part(..., part, parts, scratch, scratch_bytes)             name_any_part(...)
    name_release()

All of them store alpha and beta in memory and call one internal function. Outside the module they call C's `malloc` and
`free` alone, and these only where a program has them.
"""

from __future__ import annotations

from collections.abc import Sequence

from llvmlite import ir

from ttc_llvm.lowering.micro_kernel import MicroKernel
from ttc_llvm.machine.target import Target
from ttc_llvm.problem import contraction_interface as interface
from ttc_llvm.problem.contraction import Contraction
from ttc_llvm.problem.contraction_interface import Entry
from ttc_llvm.problem.interface import PLAIN, Symbols

from .. import attributes, cpu_select, integer_code, vector_length
from ..entries import defined, stored
from ..frame import internal
from ..integer_expressions import Function
from ..llvmlite_extensions import prefixed
from ..values import I32, I64, PTR, VOID, i64, table
from . import object_calls
from .build import register_functions
from .scalars import add_scale
from .words_of import Version, contraction_words, machine_words


def build(stated: Contraction, versions: Sequence[Version], symbols: Symbols = PLAIN) -> ir.Module:
    """A module with a contraction's C entries and all behind them. Equal input, equal text.

    versions: as for transpositions, the most demanding machine first, one that all can run last.
    """
    base = versions[-1].target
    module = attributes.new_module(base, symbols.stem(stated))
    _declare_memory(module, base)
    with prefixed(module, f"{symbols.stem(stated)}."):
        run, forget = _runs(module, stated, versions)
    *computing, release = interface.entries(stated, symbols)
    for entry in computing:
        _add(module, entry, run, base)
    b = ir.IRBuilder(defined(module, release, base).append_basic_block("entry"))
    b.call(forget, [])
    b.ret_void()
    attributes.traceable(module, base)
    return module


def _runs(module: ir.Module, stated: Contraction, versions: Sequence[Version]) -> tuple[ir.Function, ir.Function]:
    """The function behind all entries, and the one that releases memory."""
    shared = _shared(module, stated)
    found = [_version(module, stated, version, shared, len(versions) > 1) for version in versions]
    integer_code.add_functions(module, [object_calls.forget], shared)
    (forget,) = (made for made in module.functions if made.name.endswith(".forget"))
    forget.linkage = "internal"
    if len(found) > 1:
        return cpu_select.switches(module, [version.target for version in versions])("run", found), forget
    attributes.length_known(module.functions, versions[0].target)
    return vector_length.guarded_run(module, found[0], versions[0].target), forget


def _shared(module: ir.Module, stated: Contraction) -> dict[Function, ir.Function]:
    """What all versions have in common."""
    kept = ir.GlobalVariable(module, ir.ArrayType(I64, object_calls.SLOTS), "pool")
    kept.initializer, kept.linkage, kept.align = ir.Constant(kept.value_type, None), "internal", 64
    allocate, free = _memory(module)
    words = table(module, I64, contraction_words(stated), "stated", align=8)
    return {
        object_calls.stated: _address(module, words, "stated"),
        object_calls.pool: _address(module, kept, "pool"),
        object_calls.allocate: _of_c(module, "allocate", allocate),
        object_calls.release: _of_c(module, "release", free),
        object_calls.scale: add_scale(module, stated.element, (stated.conjugate_a, stated.conjugate_b)),
    }


def _version(
    module: ir.Module, stated: Contraction, version: Version, shared: dict[Function, ir.Function], is_several: bool
) -> ir.Function:
    """All functions of one version."""
    target, known = version.target, set(module.globals)
    kernel = MicroKernel.of(str(stated.dtype), target)
    with prefixed(module, f"{target.cpu}." if is_several else ""):
        facts = table(module, I64, machine_words(kernel, target), "facts", align=8)
        job = table(module, I64, version.job, "job", align=8)
        given = {
            **shared,
            **register_functions(module, kernel, target),
            object_calls.facts: _address(module, facts, "facts"),
            object_calls.own: _address(module, job, "own"),
        }
        integer_code.add_functions(module, [object_calls.contract], given)
    added = [function for function in module.functions if function.name not in known]
    if is_several:
        attributes.compiled_for(added, target)
    (run,) = (function for function in added if function.name.endswith("contract"))
    run.linkage = "internal"
    run.attributes.add("noinline")
    return run


def _address(module: ir.Module, place: ir.GlobalVariable, name: str) -> ir.Function:
    """A function that returns the address of a global."""
    function = ir.Function(module, ir.FunctionType(I64, []), module.get_unique_name(f"{name}.address"))
    function.linkage = "internal"
    function.attributes.add("alwaysinline")
    b = ir.IRBuilder(function.append_basic_block("entry"))
    b.ret(b.ptrtoint(place, I64))
    return function


def _of_c(module: ir.Module, name: str, external: ir.Function) -> ir.Function:
    """A function of words for `malloc` or `free`, which does nothing and returns 0 where a program lacks it."""
    made = internal(module, ir.FunctionType(I64, [I64]), name, ("given",))
    b = ir.IRBuilder(made.append_basic_block("entry"))
    there, missing = b.append_basic_block("there"), b.append_basic_block("missing")
    b.cbranch(b.icmp_unsigned("!=", b.ptrtoint(external, I64), i64(0)), there, missing)
    b.position_at_end(there)
    (word,), (kind,) = made.args, external.ftype.args
    given = b.inttoptr(word, PTR) if kind == PTR else word if kind == I64 else b.trunc(word, kind)
    found = b.call(external, [given])
    b.ret(b.ptrtoint(found, I64) if found.type == PTR else i64(0))
    b.position_at_end(missing)
    b.ret(i64(0))
    return made


def _declare_memory(module: ir.Module, target: Target) -> None:
    """C's functions of memory, which a program may lack."""
    size = I32 if target.family == "wasm32" else I64
    for name, result, argument in (("malloc", PTR, size), ("free", VOID, PTR)):
        ir.Function(module, ir.FunctionType(result, [argument]), name).linkage = "extern_weak"


def _memory(module: ir.Module) -> list[ir.Function]:
    return [made for made in module.functions if made.name in ("malloc", "free")]


# --- entries --------------------------------------------------------------------------------------------


def _add(module: ir.Module, described: Entry, run: ir.Function, target: Target) -> None:
    entry = defined(module, described, target)
    b = ir.IRBuilder(entry.append_basic_block("entry"))
    given = {argument.name: argument for argument in entry.args}
    scalars = stored(b, described.types[-1], given["alpha"], given["beta"])
    shapes = ("size", *interface.STRIDES)
    words = [_word(b, given[name]) if name in given else i64(0) for name in shapes]
    last = [_word(b, given[name]) if name in given else i64(number) for name, number in _WHOLE]
    tensors = [_word(b, given[name]) for name in ("A", "B", "C")]
    b.call(run, [*tensors, _word(b, scalars), *words, *last])
    b.ret_void()


_WHOLE = (("part", 0), ("parts", 1), ("scratch", 0), ("scratch_bytes", 0))  # where an entry does not take it


def _word(b: ir.IRBuilder, value: ir.Value) -> ir.Value:
    if value.type == PTR:
        return b.ptrtoint(value, I64)
    return value if value.type == I64 else b.sext(value, I64)
